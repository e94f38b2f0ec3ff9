"""Environments that are measured in turn, on made-up data: blocks differ by three times the residual.

Systems that are equal have a winner in at most one of twenty studies, whether a hook switches environments in ABBA
order or somebody switches them by hand. Everything is seeded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from plimsoll.analyse.study.comparison import judge
from plimsoll.analyse.study.curves import compare_peaks
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.study.ratios import blocks_of, log_ratio
from plimsoll.analyse.study.throughput import MeanThroughput, Repeated, mean_throughputs
from plimsoll.plan.order import blocks_in_order
from plimsoll.record.model import State, StateMark, SystemRecord
from plimsoll.spec.study import parse_study
from support.endure import draws, in_endure, slack
from support.recordings import a_trial

STUDIES = draws(120, 1000)
WINNERS = (RatioVerdict.FASTER, RatioVerdict.SLOWER)
NOISE, BLOCK = 0.03, 3.0
LEVELS = 3

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
repetitions = REPETITIONS
switch = SWITCH
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "metal"
target = "mysql://u@a/d"
environment = "metal"
[[system]]
name = "virtual"
target = "mysql://u@b/d"
environment = "virtual"
"""

BY_HOOK = '"hook"\nhooks = { switch = "true" }'


def order(switch: str, repetitions: int) -> list[tuple[int, str]]:
    """Repetition and environment of each block of trials, as a plan has them."""
    spec = parse_study(STUDY.replace("REPETITIONS", str(repetitions)).replace("SWITCH", switch))
    return [(repetition, system.name) for repetition, system in blocks_in_order(spec)]


def blocks(ordered: Sequence[tuple[int, str]]) -> dict[str, list[int]]:
    """The block of each repetition of each environment, as analysis sees it."""
    trials = [
        a_trial(
            f"{name}-{repetition}",
            states=(StateMark(state=State.RESET, began_unix_s=float(second)),),
        ).model_copy(update={"system": SystemRecord(name=name, environment=name)})
        for second, (repetition, name) in enumerate(ordered)
    ]
    found = blocks_of(reversed(trials))
    count = len(ordered) // 2
    return {name: [found[f"{name}-{one}"] for one in range(count)] for name in ("metal", "virtual")}


def study(
    random: np.random.Generator, placed: dict[str, list[int]], *, effect: float = 0.0, is_told: bool = True
) -> dict[str, list[MeanThroughput]]:
    """The means of one study by environment, then by level.

    Args:
        random: Of the noise.
        placed: The block of each repetition.
        effect: Logarithm of the true ratio of the environments.
        is_told: Whether the analysis knows of environments.
    """
    of_block = random.normal(size=100) * NOISE * BLOCK
    cells = [
        Repeated(
            tuple(
                float(np.exp(effect * (name == "virtual") + of_block[block] + random.normal() * NOISE)) * 1000.0
                for block in own
            ),
            (None,) * len(own),
            name if is_told else "alike",
            system=name,
            level=(False, float(level)),
            repetitions=tuple(range(len(own))),
            environment=name if is_told else None,
            blocks=tuple(own) if is_told else (),
        )
        for name, own in placed.items()
        for level in range(LEVELS)
    ]
    means = mean_throughputs(cells)
    return {name: means[at * LEVELS : (at + 1) * LEVELS] for at, name in enumerate(placed)}


def has_winner(means: dict[str, list[MeanThroughput]]) -> bool:
    """Whether any comparison of the two, at levels or at their peaks, names a winner."""
    levels = [{(False, float(at)): one for at, one in enumerate(own)} for own in means.values()]
    tests = [log_ratio(system, base) for base, system in zip(*means.values(), strict=True)]
    tests.append(compare_peaks(*levels).log_ratio)
    return any(one.verdict in WINNERS for one in judge([one for one in tests if one is not None]))


def share_of_winners(count: int, placed: dict[str, list[int]], **how: float) -> float:
    random = np.random.default_rng(7)
    return sum(has_winner(study(random, placed, **how)) for _ in range(count)) / count  # type: ignore[arg-type]


SWITCHED = (
    (BY_HOOK, 3, (2, 2)),
    (BY_HOOK, 4, (3, 2)),
    (BY_HOOK, 8, (5, 4)),
    ('"hand"', 3, (2, 2)),
    ('"hand"', 6, (2, 2)),
    ('"hand"\nblocks = 4', 8, (4, 4)),
)
"""How environments are switched, repetitions, and the blocks of each that this makes."""


@pytest.mark.parametrize(
    ("switch", "repetitions", "counts"),
    [in_endure(*case) if case[:2] in ((BY_HOOK, 4), ('"hand"', 6)) else case for case in SWITCHED],
)
def test_equal_environments_have_a_winner_in_at_most_one_of_twenty_studies(
    switch: str, repetitions: int, counts: tuple[int, int]
) -> None:
    placed = blocks(order(switch, repetitions))
    assert sorted(len(set(own)) for own in placed.values()) == sorted(counts)
    assert len(placed["metal"]) == repetitions
    assert share_of_winners(STUDIES, placed) <= 0.05 + slack(0.05, STUDIES)


def test_the_same_data_compared_by_repetitions_would_name_winners() -> None:
    """What these tests protect from: in two blocks of each, six repetitions pretend to be independent."""
    placed = blocks(order('"hand"', 6))
    assert share_of_winners(100, placed, is_told=False) > 0.15


def test_a_difference_beyond_that_of_blocks_is_found() -> None:
    placed = blocks(order('"hand"\nblocks = 4', 8))
    assert share_of_winners(60, placed, effect=0.4) > 0.8


def test_intervals_of_the_ratio_cover_the_truth() -> None:
    placed, random = blocks(order(BY_HOOK, 6)), np.random.default_rng(3)
    covered = 0
    for _ in range(STUDIES):
        means = study(random, placed, effect=0.1)
        found = log_ratio(means["virtual"][0], means["metal"][0])
        assert found is not None
        low, high = found.log_limits(0.95)
        covered += low <= 0.1 <= high
    assert covered / STUDIES >= 0.95 - slack(0.95, STUDIES)


@pytest.mark.parametrize("repetitions", [1, 2, 5])
def test_a_single_block_of_an_environment_gives_no_interval(repetitions: int) -> None:
    placed = blocks(order('"hand"\nblocks = 1', repetitions))
    means = study(np.random.default_rng(1), placed)
    assert log_ratio(means["virtual"][0], means["metal"][0]) is None


def test_abba_saves_switches_and_by_hand_there_is_always_another_environment_in_between() -> None:
    assert [name[0] for _, name in order(BY_HOOK, 4)] in (list("mvvmmvvm"), list("vmmvvmmv"))
    assert [(one, name[0]) for one, name in order('"hand"', 3)] == [
        (0, "m"), (1, "m"), (0, "v"), (1, "v"), (2, "m"), (2, "v"),
    ]  # fmt: skip
