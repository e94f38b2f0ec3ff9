"""The weather of machines by its verdicts: calm studies mark nothing, a slow machine is found."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from plimsoll.analyse.study.conditions import TAKEN_MORE, marked, taken
from support.endure import draws, in_endure

FIGURES = 7
ALPHA = 0.05
STUDIES = int(os.environ.get("PLIMSOLL_TEST_STUDIES", draws(150, 300)))
NOISES = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "t3": lambda random, shape: random.standard_t(3, shape),
    "lognormal": lambda random, shape: np.exp(0.5 * random.standard_normal(shape)),
}
"""Of logarithms of times: exponentials of these have tails that are heavier still."""


def marks(values: np.ndarray) -> set[str]:
    """The trials that are marked in a study; shape (figures, trials)."""
    figures = [(str(figure), {str(at): value for at, value in enumerate(row)}) for figure, row in enumerate(values)]
    return set(marked(figures))


TRIALS, COMMON = (6, 12, 24, 40, 100), (0.0, 0.5)


def share_marked(kind: str, trials: int, common: float, count: int) -> float:
    """Of calm studies: those with a mark.

    What the figures of a trial have in common, as a share of their variance, is what a real machine does to all.
    """
    random = np.random.default_rng(trials)
    found = []
    for _ in range(count):
        own, shared = NOISES[kind](random, (FIGURES, trials)), NOISES[kind](random, (1, trials))
        found.append(bool(marks(math.sqrt(1 - common) * own + math.sqrt(common) * shared)))
    return float(np.mean(found))


def share_found(kind: str, trials: int, figures: int, spread: float, slower: float, count: int = 200) -> float:
    """Of trials on a machine that was slower in so many figures.

    Four figures are its processor and memory before and after a trial; with two it was slow at one end only.
    """
    random = np.random.default_rng(3)
    hits = 0
    for _ in range(count):
        values = spread * NOISES[kind](random, (FIGURES, trials))
        values[:figures, 3] += math.log(slower)
        hits += "3" in marks(values)
    return hits / count


@pytest.mark.parametrize("common", COMMON)
@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("trials", [6, in_endure(12), 24, in_endure(40), 100])
def test_calm_studies_mark_a_trial_in_at_most_one_of_twenty(kind: str, trials: int, common: float) -> None:
    """With so much spread the rule of 5 % hides nothing; two standard errors of the simulation are added."""
    share = share_marked(kind, trials, common, STUDIES)
    assert share <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / STUDIES)


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_blocks_of_their_own_speed_are_not_marked(times: float) -> None:
    """A machine that is faster in some quarters of a study than in others is slow in none of its trials."""
    random = np.random.default_rng(8)
    blocks = np.repeat(times * random.standard_normal((STUDIES, FIGURES, 4)), 6, axis=2)
    found = [bool(marks(0.1 * (block + random.standard_normal((FIGURES, 24))))) for block in blocks]
    assert np.mean(found) <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / STUDIES)


@pytest.mark.parametrize(
    ("kind", "trials", "figures", "spread", "slower", "at_least"),
    [
        ("normal", 6, 4, 0.05, 1.5, 0.8), ("normal", 12, 4, 0.05, 1.5, 0.85), ("normal", 24, 4, 0.05, 1.5, 0.95),
        ("normal", 60, 4, 0.05, 1.5, 0.9), ("normal", 100, 4, 0.05, 1.5, 0.85), ("normal", 24, 2, 0.05, 1.5, 0.7),
        ("normal", 60, 2, 0.05, 1.5, 0.7), ("t3", 24, 4, 0.05, 1.5, 0.75), ("t3", 60, 4, 0.05, 1.5, 0.5),
        ("normal", 24, 4, 0.02, 1.15, 0.85), ("t3", 24, 4, 0.02, 1.2, 0.8),
    ],
)  # fmt: skip
def test_a_slow_machine_is_found(
    kind: str, trials: int, figures: int, spread: float, slower: float, at_least: float
) -> None:
    assert share_found(kind, trials, figures, spread, slower) >= at_least


def test_one_figure_counts_when_it_is_far_from_the_others() -> None:
    random = np.random.default_rng(4)
    values = 0.005 * random.standard_normal((FIGURES, 24))
    values[0, 7] += math.log(1.3)
    assert marks(values) == {"7"}


@pytest.mark.parametrize("trials", [3, 6, 24])
@pytest.mark.parametrize("usual", [0.0, 0.02, 0.3])
def test_what_others_took_counts_by_itself(trials: int, usual: float) -> None:
    """Processor time is measured, so that the spread of other trials does not matter: half of them may vary by 4 %."""
    shares = {str(at): usual + 0.04 * (at % 2) for at in range(trials)}
    assert taken([("steal", shares)]) == {}
    shares["1"] = float(np.median(list(shares.values()))) + TAKEN_MORE + 0.06
    found = taken([("steal", shares)])
    assert found.keys() == {"1"}
    assert found["1"][0].ratio > found["1"][0].limit_ratio > 1


def test_a_difference_of_less_than_a_twentieth_is_passed_over() -> None:
    calm = np.zeros((2, 21))
    for slower, expected in ((1.04, set()), (1.06, {"20"})):
        calm[:, 20] = math.log(slower)
        assert marks(calm) == expected
