"""How often `plimsoll trend` is wrong about histories with a planted truth, and how much it finds.

A history has a study a day. Studies lie 1.5 % apart (standard deviation), their repetitions 2 %. Seeded; bounds of
rates leave room for three standard errors of as many histories as are made, more of them in `make endure`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import mode

import numpy as np
import pytest

from plimsoll.analyse.answers.compare_model import GateOutcome, Metric
from plimsoll.analyse.answers.compare_verdicts import GateRule
from plimsoll.analyse.answers.trend import trend
from plimsoll.analyse.answers.trend_model import TrendAnswer
from plimsoll.stats.level_shifts import ShiftKind, level_shifts
from plimsoll.stats.series import change_points
from support.endure import draws, in_endure, slack
from support.histories import history

STUDIES, BETWEEN, NOISE, REPETITIONS = 60, 0.015, 0.02, 5
HISTORIES = 400
MADE, ANSWERED = draws(100, HISTORIES), draws(50, HISTORIES)
"""How many are tested alone, and how many are answered whole."""

AT_MOST = 0.05 + slack(0.05, MADE)
STEP, STEP_AGE = 0.04, 20
SLOWER = GateRule(Metric.THROUGHPUT, 0.05)

World = Callable[[np.random.Generator, int], np.ndarray]
"""What each study of a history of some length adds to the logarithm of throughput; the noise of its repetitions too."""


def _even(random: np.random.Generator, size: int) -> np.ndarray:
    """The spread between studies and that of five repetitions."""
    return random.normal(0, math.hypot(BETWEEN, NOISE / math.sqrt(REPETITIONS)), size)


def _heavy(random: np.random.Generator, size: int) -> np.ndarray:
    return random.standard_t(3, size) * BETWEEN


def _outliers(random: np.random.Generator, size: int) -> np.ndarray:
    far = random.uniform(0.1, 0.4, size) * random.choice([-1, 1], size)
    return _even(random, size) + np.where(random.random(size) < 0.05, far, 0.0)


def _slowed(random: np.random.Generator, size: int) -> np.ndarray:
    """One study of five is slowed by 5 to 20 %."""
    return _even(random, size) - np.where(random.random(size) < 0.2, random.uniform(0.05, 0.2, size), 0.0)


def _in_steps(random: np.random.Generator, size: int) -> np.ndarray:
    """Such as whole milliseconds: many are equal."""
    return np.round(_even(random, size) / 0.03) * 0.03


def _unlike_repetitions(random: np.random.Generator, size: int) -> np.ndarray:
    """1 to 10 repetitions, which differ by as much as twenty times what studies do."""
    counts = random.integers(1, 11, size)
    return random.normal(0, BETWEEN, size) + random.normal(0, 2 * NOISE, size) / np.sqrt(counts)


def _remembering(correlation: float) -> World:
    def world(random: np.random.Generator, size: int) -> np.ndarray:
        values = _even(random, size)
        for at in range(1, size):
            values[at] = correlation * values[at - 1] + math.sqrt(1 - correlation**2) * values[at]
        return values

    return world


STILL: dict[str, World] = {
    "even noise": _even,
    "heavy tails (Student's t, 3 degrees of freedom)": _heavy,
    "outliers of 10 to 40 % in one study of twenty": _outliers,
    "one study of five slowed by 5 to 20 %": _slowed,
    "1 to 10 repetitions that differ by 4 %": _unlike_repetitions,
    "figures in steps of 3 %, of which many are equal": _in_steps,
    "neighbours correlated by 0.3": _remembering(0.3),
}
REMEMBERING = {"neighbours correlated by 0.6": _remembering(0.6)}


def stepped(world: World, step: float = STEP, age: int = STEP_AGE) -> World:
    """A world whose newest studies are slower."""
    return lambda random, size: world(random, size) - np.where(np.arange(size) >= size - age, step, 0.0)


def drifting(change: float) -> World:
    return lambda random, size: _even(random, size) - change * np.arange(size) / size


def slowed_since(share: float) -> World:
    """In the newest third a share of studies is slowed by 5 to 15 %."""

    def world(random: np.random.Generator, size: int) -> np.ndarray:
        is_slow = (np.arange(size) >= size - size // 3) & (random.random(size) < share)
        return _even(random, size) - np.where(is_slow, random.uniform(0.05, 0.15, size), 0.0)

    return world


def spell(length: int) -> World:
    """Some studies in the middle are 8 % slower."""
    return lambda random, size: (
        _even(random, size)
        - np.where((np.arange(size) >= size // 2) & (np.arange(size) < size // 2 + length), 0.08, 0.0)
    )


def logs(world: World, size: int = STUDIES, count: int = HISTORIES) -> list[np.ndarray]:
    random = np.random.default_rng(91)
    return [world(random, size) for _ in range(count)]


def share_with(world: World, *kinds: ShiftKind, size: int = STUDIES, count: int = HISTORIES) -> float:
    """The share of histories with a shift of such a kind, of any without."""
    wanted = set(kinds or ShiftKind)
    return sum(bool(wanted & kinds_in_it) for kinds_in_it in kinds_of(world, size, count)) / count


@cache
def kinds_of(world: World, size: int, count: int) -> tuple[frozenset[ShiftKind], ...]:
    """Of the shifts of each history."""
    shifts = (level_shifts(values, 0.05).shifts for values in logs(world, size, count))
    return tuple(frozenset(shift.kind for shift in of) for of in shifts)


@cache
def answers(world: World, size: int = STUDIES, count: int = HISTORIES) -> tuple[TrendAnswer, ...]:
    return tuple(trend(history(values), rules=[SLOWER]) for values in logs(world, size, count))


def share_found(world: World, *, size: int = STUDIES, count: int = HISTORIES) -> float:
    """The share of histories whose last shift is a lasting one."""
    shifts = [answer.places[0].shifts for answer in answers(world, size, count)]
    return sum(bool(of) and of[-1].kind is ShiftKind.LASTING for of in shifts) / count


STEPPED = stepped(_even)


def shares_covered(count: int = HISTORIES) -> tuple[float, float]:
    """Of those that are found: how often the interval has the planted step, and the set the study that began it."""
    shifts = [answer.places[0].shifts[-1] for answer in answers(STEPPED, count=count) if answer.places[0].shifts]
    bounds = [shift.change.ratio.bounds for shift in shifts]
    sizes = [of is not None and of.low <= math.exp(-STEP) <= of.high for of in bounds]
    begins = [shift.earliest_index <= STUDIES - STEP_AGE <= shift.latest_index for shift in shifts]
    return float(np.mean(sizes)), float(np.mean(begins))


def gate_shares(world: World, size: int = STUDIES, count: int = HISTORIES) -> dict[GateOutcome, float]:
    outcomes = [answer.gates[0].outcome for answer in answers(world, size, count)]
    return {outcome: outcomes.count(outcome) / count for outcome in GateOutcome}


def share_of_detectable_found(size: int, count: int = HISTORIES) -> float:
    """How often what an even history of a size calls detectable is found where it is planted."""
    return share_with(stepped(_even, *typical_detectable(_even, size, count)), size=size, count=count)


def typical_detectable(world: World, size: int, count: int) -> tuple[float, int]:
    """The median of the detectable steps of a world's histories, as a logarithm, and how many studies old most are."""
    places = [answer.places[0] for answer in answers(world, size, count)]
    stated = [
        (place.detectable_ratio, place.detectable_studies) for place in places if place.detectable_ratio is not None
    ]
    usual = mode(age for _, age in stated)
    return math.log(float(np.median([ratio for ratio, age in stated if age == usual]))), usual


def share_of_detectable_found_after_a_step(count: int = HISTORIES) -> float:
    """The same where the level since an earlier step of 20 % is half of the history: a second step is found there."""
    before = stepped(_even, 0.2, STUDIES // 2)
    again = stepped(before, *typical_detectable(before, STUDIES, count))
    shifts = (level_shifts(values, 0.05).shifts for values in logs(again, count=count))
    return sum(any(shift.begin > STUDIES // 2 + 5 for shift in of) for of in shifts) / count


def pelt_finds(values: np.ndarray) -> bool:
    """The change points of a trial's seconds (`stats.series`), taken for a history; they have to be 5 % apart."""
    return bool(change_points(np.exp(values)))


def e_divisive_finds(values: np.ndarray, random: np.random.Generator, permutations: int = 199) -> bool:
    """Whether E-divisive finds a change: energy distance, permutation test at 5 % (Matteson and James 2014)."""
    statistic = _energy(values)
    above = sum(_energy(random.permutation(values)) >= statistic for _ in range(permutations))
    return bool((1 + above) / (1 + permutations) <= 0.05)


def _energy(values: np.ndarray, shortest: int = 3) -> float:
    """The largest scaled energy distance of the values before and after a place."""
    sums = np.zeros((values.size + 1, values.size + 1))
    sums[1:, 1:] = np.abs(values[:, None] - values).cumsum(axis=0).cumsum(axis=1)
    at = np.arange(shortest, values.size - shortest + 1)
    rest = values.size - at
    left, cross = sums[at, at], sums[at, -1] - sums[at, at]
    right = sums[-1, -1] - left - 2 * cross
    distance = 2 * cross / (at * rest) - left / (at * (at - 1)) - right / (rest * (rest - 1))
    return float((distance * at * rest / values.size).max())


@pytest.mark.parametrize(
    "world", [in_endure(world) if world is _in_steps else world for world in STILL.values()], ids=STILL
)
def test_a_history_without_a_step_has_none_in_19_of_20(world: World) -> None:
    assert share_with(world, count=MADE) <= AT_MOST


@pytest.mark.parametrize("size", [in_endure(10), 20])
def test_nor_has_a_short_one(size: int) -> None:
    assert share_with(_even, size=size, count=MADE) <= AT_MOST


def test_a_step_of_4_percent_is_found_with_its_size_and_its_begin() -> None:
    assert share_found(STEPPED, count=ANSWERED) > 0.95
    sizes, begins = shares_covered(ANSWERED)
    assert sizes > 0.85
    assert begins > 0.85


@pytest.mark.parametrize("share", [in_endure(0.3), 0.5, in_endure(0.7)])
def test_disturbance_on_one_side_is_no_lasting_step(share: float) -> None:
    assert share_with(slowed_since(share), ShiftKind.LASTING, count=MADE) <= AT_MOST


@pytest.mark.parametrize("change", [0.16, in_endure(0.08)])
def test_a_drift_is_no_lasting_step(change: float) -> None:
    world = drifting(change)
    assert share_with(world, ShiftKind.LASTING, count=MADE) <= AT_MOST
    assert share_with(world, ShiftKind.GRADUAL, count=MADE) > 0.85


@pytest.mark.parametrize("size", [30, in_endure(60)])
def test_the_step_that_could_have_been_found_is_found(size: int) -> None:
    assert share_of_detectable_found(size, ANSWERED) > 0.75


@pytest.mark.endure
def test_the_step_that_could_have_been_found_after_an_earlier_one_is_found() -> None:
    assert share_of_detectable_found_after_a_step(ANSWERED) > 0.75


@pytest.mark.parametrize("world", ["even noise", in_endure("one study of five slowed by 5 to 20 %")])
def test_a_history_that_is_still_fails_no_gate(world: str) -> None:
    assert gate_shares(STILL[world], count=ANSWERED)[GateOutcome.FAILED] <= AT_MOST


@pytest.mark.parametrize("age", [in_endure(1), 3, in_endure(4), 5])
def test_newest_studies_that_are_slower_by_the_limit_do_not_pass(age: int) -> None:
    world = stepped(_even, -math.log(0.95), age)
    assert gate_shares(world, 40, count=ANSWERED)[GateOutcome.PASSED] <= 0.05 + slack(0.05, ANSWERED)


@pytest.mark.parametrize("age", [3, in_endure(5)])
def test_newest_studies_that_are_slower_by_twice_the_limit_fail(age: int) -> None:
    assert gate_shares(stepped(_even, -math.log(0.90), age), count=ANSWERED)[GateOutcome.FAILED] > 0.8


def test_the_peers_are_what_they_are_called() -> None:
    """E-divisive finds a large step, and hardly ever one where there is none."""
    random = np.random.default_rng(1)
    assert all(e_divisive_finds(values, random) for values in logs(stepped(_even, 0.1), 30, 5))
    assert sum(e_divisive_finds(values, random) for values in logs(_even, 30, 20)) <= 4
