"""The weather of machines by its verdicts: calm studies mark nothing, a slow machine is found."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from plimsoll.analyse.weather import marked

FIGURES = 9
ALPHA = 0.05
STUDIES = int(os.environ.get("PLIMSOLL_TEST_STUDIES", "300"))
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


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("trials", [6, 12, 20, 40, 100])
def test_calm_studies_mark_a_trial_in_at_most_one_of_twenty(kind: str, trials: int) -> None:
    """With so much spread the rule of 5 % hides nothing; two standard errors of the simulation are added."""
    random = np.random.default_rng(trials)
    found = np.mean([bool(marks(NOISES[kind](random, (FIGURES, trials)))) for _ in range(STUDIES)])
    assert found <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / STUDIES)


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_blocks_of_their_own_speed_are_not_marked(times: float) -> None:
    """A machine that is faster in some quarters of a study than in others is slow in none of its trials."""
    random = np.random.default_rng(8)
    blocks = np.repeat(times * random.standard_normal((STUDIES, FIGURES, 4)), 6, axis=2)
    found = [bool(marks(0.1 * (one + random.standard_normal((FIGURES, 24))))) for one in blocks]
    assert np.mean(found) <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / STUDIES)


@pytest.mark.parametrize(
    ("kind", "slower", "at_least"), [("normal", 1.15, 0.9), ("normal", 1.4, 1.0), ("t3", 1.15, 0.7), ("t3", 1.2, 0.95)]
)
def test_a_slow_machine_is_found(kind: str, slower: float, at_least: float) -> None:
    """Its processor and memory are slow before and after a trial: four figures, with noise of 2 %."""
    random = np.random.default_rng(3)
    hits = 0
    for _ in range(200):
        values = 0.02 * NOISES[kind](random, (FIGURES, 24))
        values[:4, 7] += math.log(slower)
        hits += "7" in marks(values)
    assert hits / 200 >= at_least


def test_one_figure_counts_when_it_is_far_from_the_others() -> None:
    """Others' processes in one trial, where there are none at other times, are not seen by the reference load."""
    random = np.random.default_rng(4)
    values = 0.005 * random.standard_normal((FIGURES, 24))
    values[0, 7] += math.log(1.3)
    assert marks(values) == {"7"}


def test_a_difference_of_less_than_a_twentieth_is_passed_over() -> None:
    calm = np.zeros((2, 21))
    for slower, expected in ((1.04, set()), (1.06, {"20"})):
        calm[:, 20] = math.log(slower)
        assert marks(calm) == expected
