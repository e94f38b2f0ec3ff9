"""Studies that stop when their answer is decided: how often they are wrong, and whether they keep their promises.

Each made-up study goes through the functions that stop a real one (`sequential`) and that judge it for its guide
(`sequential`). The formula alone, which is quick, is held against more studies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.study.sequential import (
    CellKey,
    Question,
    anytime_interval,
    decided_after,
    half_widths,
    interim,
    judge_at_any_look,
    judge_values,
    questions,
    values_of_cells,
)
from plimsoll.record.level import REPETITIONS_MIN, Level
from support.endure import draws, in_endure, slack

STUDIES = 4_000
LOOKS = 20
EQUAL_WITHIN = 0.05
WINNERS = (RatioVerdict.FASTER, RatioVerdict.SLOWER)
WORLDS = ("normal", "heavy tails", "outliers", "restarts")

Study = Mapping[CellKey, Mapping[int, float]]
"""Throughput of each cell and repetition."""


def sequences(values: npt.NDArray[np.float64], alpha: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Lower and upper ends after each value, shape (studies, looks)."""
    counts = np.arange(1, values.shape[1] + 1)
    means = np.cumsum(values, axis=1) / counts
    squares = np.cumsum(values**2, axis=1) / counts - means**2
    deviations = np.sqrt(np.maximum(squares, 0) * counts / np.maximum(counts - 1, 1))
    widths = np.array([half_widths(alpha, int(count)) for count in counts])
    with np.errstate(invalid="ignore"):
        half = np.where(np.isfinite(widths), widths * deviations, np.inf)
    return means - half, means + half


def residuals(world: str, random: np.random.Generator, shape: tuple[int, ...], sigma: float) -> npt.NDArray[np.float64]:
    """What each trial is off by, on a scale of natural logarithms."""
    normal = random.normal(0, sigma, shape)
    match world:
        case "heavy tails":
            return np.asarray(sigma * random.standard_t(3, shape))
        case "outliers":
            return np.asarray(normal * np.where(random.random(shape) < 0.05, 5, 1))
        case "restarts":
            return np.asarray(normal + random.normal(0, 3 * sigma, shape))
    return normal


def noise(world: str, random: np.random.Generator) -> npt.NDArray[np.float64]:
    """Log ratios of two equal systems: each a difference of two trials that shared their repetition."""
    trials = residuals(world, random, (2, STUDIES, LOOKS), 0.02)
    return np.asarray(trials[1] - trials[0])


def studies(
    world: str, count: int, *, effects: tuple[float, ...], levels: int = 1, sigma: float = 0.02, seed: int = 15
) -> Iterator[tuple[tuple[Question, ...], Study]]:
    """Studies of a system for each effect, the logarithm of its throughput; the hour is shared within a repetition."""
    random, systems = np.random.default_rng(seed), [f"s{index}" for index in range(len(effects))]
    asked = questions(systems, ["w"], [Level(connections=level + 1) for level in range(levels)])
    for _ in range(count):
        starts = residuals(world, random, (len(systems), 1, LOOKS), sigma)
        logs = residuals(world, random, (len(systems), levels, LOOKS), sigma / 2) + starts
        logs += random.normal(0, 3 * sigma, (1, 1, LOOKS)) + np.array(effects)[:, None, None]
        tps = 1000 * np.exp(logs)
        yield (
            asked,
            {
                CellKey(name, "w", Level(connections=level + 1)): dict(enumerate(map(float, tps[index, level])))
                for index, name in enumerate(systems)
                for level in range(levels)
            },
        )


def verdicts(asked: tuple[Question, ...], study: Study, count: int) -> list[RatioVerdict]:
    """What the guide says of each question after so many repetitions."""
    found = []
    for one in asked:
        cells = [_cell(study[CellKey(str(name), one.workload, one.level)], count) for name in (one.base, one.system)]
        judged = judge_at_any_look(*cells, tests_count=len(asked), equal_within=EQUAL_WITHIN)
        assert judged is not None
        found.append(judged.verdict)
    return found


def _cell(tps: Mapping[int, float], count: int) -> MeasuredCell:
    trials = [
        SimpleNamespace(trial=SimpleNamespace(repetition=index), throughput_tps=value, turns=None)
        for index, value in tps.items()
        if index < count
    ]
    return cast("MeasuredCell", SimpleNamespace(trials=trials, level=Level(connections=1)))


def at_the_stop(asked: tuple[Question, ...], study: Study) -> tuple[int | None, list[RatioVerdict]]:
    """After how many repetitions a study ends decided, and what its guide then says; at its limit otherwise."""
    stopped = decided_after(values_of_cells(asked, study), equal_within=EQUAL_WITHIN)
    return stopped, verdicts(asked, study, stopped or LOOKS)


def share_ever_different(world: str) -> float:
    """Of sequences of equal systems, by the formula alone, at any look."""
    low, high = sequences(noise(world, np.random.default_rng(11)), 0.05)
    assert np.all(np.isinf(high[:, :2])), "two values decide nothing"
    return float(np.mean(np.any((low > 0) | (high < 0), axis=1)))


def share_with_winner(world: str, systems: int, levels: int, count: int) -> float:
    """Of studies of equal systems: those in which any look names one, at any level."""
    wrong = 0
    for asked, study in studies(world, count, effects=(0.0,) * systems, levels=levels):
        looks = range(REPETITIONS_MIN, LOOKS + 1)
        wrong += any(verdict in WINNERS for look in looks for verdict in verdicts(asked, study, look))
    return wrong / count


def share_called_equal(world: str, sigma: float, effect: float, count: int = 400) -> float:
    """Of studies, at their stop, in which one system is above the other by `effect` at two levels."""
    made = studies(world, count, effects=(0.0, effect), levels=2, sigma=sigma)
    return float(np.mean([RatioVerdict.EQUAL in at_the_stop(*study)[1] for study in made]))


@pytest.mark.parametrize("world", ["normal", "heavy tails", "outliers", "restarts"])
def test_equal_systems_are_called_different_at_any_look_in_at_most_5_of_100_studies(world: str) -> None:
    assert share_ever_different(world) <= 0.05


def test_a_t_test_after_each_repetition_would_not_do() -> None:
    values = noise("normal", np.random.default_rng(12))
    counts = np.arange(1, LOOKS + 1)
    means = np.cumsum(values, axis=1) / counts
    deviations = np.array([values[:, :count].std(axis=1, ddof=1) for count in counts[1:]]).T
    t = np.abs(means[:, 1:]) / (deviations / np.sqrt(counts[1:]))
    limits = stats.t.ppf(0.975, counts[1:] - 1)
    assert np.mean(np.any(t > limits, axis=1)) > 0.2


@pytest.mark.parametrize(
    ("systems", "levels", "count"), [in_endure(2, 3, 400), (4, 3, draws(30, 150)), in_endure(8, 2, 150)]
)
def test_of_all_systems_and_levels_together_no_look_names_a_winner_in_95_of_100_studies_of_equal_systems(
    systems: int, levels: int, count: int
) -> None:
    """Of 120 studies, of all worlds, at most 6 may: where one of ten does in truth, that is seen in 96 of 100."""
    wrong = {world: share_with_winner(world, systems, levels, count) for world in WORLDS}
    assert np.mean(list(wrong.values())) <= 0.05, wrong
    assert max(wrong.values()) <= 0.05 + slack(0.05, count), wrong


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("sigma", [0.005, 0.01, 0.02])
def test_at_its_stop_a_study_calls_systems_at_the_margin_equal_in_at_most_5_of_100(world: str, sigma: float) -> None:
    """One is above the other by exactly the margin, or below it, at two levels: "equal" is wrong at each.

    Of 100 studies at most 5 may be wrong: where 12 are in truth, that is seen in 98 of 100.
    """
    for effect in (math.log1p(EQUAL_WITHIN), -math.log1p(EQUAL_WITHIN)):
        wrong = share_called_equal(world, sigma, effect, draws(100, 400))
        assert wrong <= 0.05, wrong


def test_a_study_stops_when_its_guide_has_a_verdict_on_all_and_not_before() -> None:
    for asked, study in studies("normal", 40, effects=(0.0, 0.0, 0.1), levels=2, sigma=0.01):
        stopped, found = at_the_stop(asked, study)
        assert stopped is not None
        assert RatioVerdict.UNRESOLVED not in found
        if stopped > REPETITIONS_MIN:
            assert RatioVerdict.UNRESOLVED in verdicts(asked, study, stopped - 1)


def test_planted_effects_are_found_and_equal_systems_are_called_equal() -> None:
    for effect, verdict, share, soon in (
        (0.0, RatioVerdict.EQUAL, 0.9, 12),
        (math.log(1.05), RatioVerdict.FASTER, 0.8, 12),
        (math.log(1.10), RatioVerdict.FASTER, 0.98, 6),
    ):
        ended = [at_the_stop(*study) for study in studies("normal", 400, effects=(0.0, effect), sigma=0.015)]
        assert np.mean([found == [verdict] for _, found in ended]) >= share
        assert np.mean([stopped for stopped, _ in ended if stopped is not None]) <= soon


def promised(effect: float, sigma: float, tests_count: int, looks: int, studies: int) -> tuple[int, int]:
    """Of studies of one ratio that are open after so many looks: how many name a number, and are decided by then."""
    random, made, kept = np.random.default_rng([looks, tests_count]), 0, 0
    first, *others = (Question("w", Level(connections=index + 1), "b", "a") for index in range(tests_count))
    for _ in range(studies):
        logs = random.normal(effect, sigma, 130)
        decided = {other: {index: 1.0 + index / 1000 for index in range(130)} for other in others}  # found at once
        known = interim({first: dict(enumerate(logs[:looks])), **decided}, equal_within=EQUAL_WITHIN)[0]
        if known.is_decided or known.more is None:
            continue
        made += 1
        by_then = dict(enumerate(logs[: looks + known.more]))
        kept += decided_after({first: by_then, **decided}, equal_within=EQUAL_WITHIN) is not None
    return made, kept


def share_kept(looks: int, studies: int = 300) -> float:
    """Of studies that are open after so many looks: those that are decided within the number that they name."""
    worlds = [(0.07, 0.05), (0.03, 0.05), (0.0, 0.03), (0.10, 0.05), (0.02, 0.01), (0.0, 0.02)]
    counts = np.array([promised(*world, tests_count, looks, studies) for world in worlds for tests_count in (1, 6)])
    return float(counts[:, 1].sum() / counts[:, 0].sum())


@pytest.mark.parametrize(("looks", "least"), [(2, 0.67), in_endure(3, 0.78), in_endure(4, 0.8), (6, 0.8)])
def test_a_study_is_decided_within_the_number_named_in_about_80_of_100(looks: int, least: float) -> None:
    """Two values know little of their spread. Later, what is still open at a look has been unlucky so far."""
    kept = share_kept(looks, draws(100, 300))
    assert least <= kept <= 0.95, kept


@pytest.mark.parametrize("looks", [2, 3, 5])
def test_one_system_is_known_closely_within_the_number_named_in_about_80_of_100(looks: int) -> None:
    asked, random = Question("w", Level(connections=1), "a", None), np.random.default_rng(looks)
    made = kept = 0
    for sigma in (0.02, 0.03, 0.05):
        for _ in range(draws(100, 300)):
            logs = random.normal(7, sigma, 130)
            (known,) = interim({asked: dict(enumerate(logs[:looks]))}, equal_within=EQUAL_WITHIN)
            if known.is_decided or known.more is None:
                continue
            made += 1
            by_then = {asked: dict(enumerate(logs[: looks + known.more]))}
            kept += decided_after(by_then, equal_within=EQUAL_WITHIN) is not None
    assert 0.72 <= kept / made <= 0.95, kept / made


def test_a_single_value_names_no_number() -> None:
    for value in (0.0, 0.5):
        judged = judge_values([value], tests_count=1, equal_within=EQUAL_WITHIN)
        assert judged is not None
        assert judged.repetitions_needed is None


def test_the_interval_of_one_study_is_that_of_the_sequence() -> None:
    values = noise("normal", np.random.default_rng(14))[:1]
    low, high = sequences(values, 0.05)
    for count in (1, 2, 3, 10):
        interval = anytime_interval(list(values[0, :count]), 0.05)
        assert interval.low == pytest.approx(low[0, count - 1])
        assert interval.high == pytest.approx(high[0, count - 1])
