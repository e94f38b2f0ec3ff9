"""Sizing by its verdicts: how often a system that is too small is said to fit.

Worlds: repetitions vary by 3 or 10 %, and blocks (a repetition's server start, its hour) by 0, 1 and 3 times that,
shared by all levels of a repetition. Deliberately not here: capacities (`test_sizing_capacities`) and load at target
rates (`test_sizing_rates`).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.cell_model import Cell, Durations
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.throughput import Repeated, mean_throughputs
from plimsoll.record.level import Level, LevelKind
from support.endure import draws, in_endure

DEMAND_TPS = 1000.0
STUDIES = 300
MADE = draws(100, STUDIES)
"""Of 100 at most 5 may be wrong: where 12 are in truth, that is seen in 98 of 100."""


def noisy(mean: float, noise: float, block: float, chance: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Values by level and repetition, shape (levels, repetitions)."""
    blocks = chance.normal(0, noise * block, shape[1])
    return np.asarray(mean * np.exp(chance.normal(0, noise, shape) + blocks))


def study_of(levels: np.ndarray, p99_ms: np.ndarray) -> Analysis:
    """A closed-loop study from throughputs and 99th percentiles, both of shape (levels, repetitions)."""
    means = mean_throughputs([Repeated(tuple(map(float, level)), (None,) * level.size) for level in levels])
    cells = tuple(
        Cell(
            level=Level(connections=2**index),
            throughput_tps=mean.estimate(),
            response_ms=Durations(p99=float(own.mean())),
            repetitions_ms_p99=tuple(map(float, own)),
            completed_count=1000,
        )
        for index, (mean, own) in enumerate(zip(means, p99_ms, strict=True))
    )
    curve = Curve(system="a", workload="w", kind=LevelKind.CLOSED, cells=cells, peak=None)
    return made(curves=(curve,))


def made(**parts: object) -> Analysis:
    """An analysis of one system and workload."""
    return Analysis(
        plimsoll_version="0",
        study="made",
        answer=(),
        limits=(),
        systems=(SystemSummary(name="a"),),
        workloads=(WorkloadSummary(name="w"),),
        **{"curves": (), **parts},  # type: ignore[arg-type]
    )


LEVELS, NOISES, BLOCK_EFFECTS = (1, 4, 7), (0.03, 0.10), (0.0, 1.0, 3.0)


def share_too_small_that_fits(levels_count: int, noise: float, block: float, studies: int = STUDIES) -> float:
    """Of studies of a system that is 2 % too small."""
    chance = np.random.default_rng(1)
    fits = 0
    for _ in range(studies):
        levels = noisy(0.98 * DEMAND_TPS, noise, block, chance, (levels_count, 3))
        fits += size(study_of(levels, np.full(levels.shape, 5.0)), tps=DEMAND_TPS, headroom=0.0).fits
    return fits / studies


def share_too_slow_that_fits(levels_count: int, block: float, studies: int = STUDIES) -> float:
    """Of studies of a system whose response times are 5 % above the objective."""
    chance = np.random.default_rng(2)
    fits = 0
    for _ in range(studies):
        p99_ms = noisy(21.0, 0.10, block, chance, (levels_count, 3))
        fast = noisy(3 * DEMAND_TPS, 0.02, 0.0, chance, (levels_count, 3))
        fits += size(study_of(fast, p99_ms), tps=DEMAND_TPS, headroom=0.0, response_p99_ms=20.0).fits
    return fits / studies


@pytest.mark.parametrize(
    ("levels_count", "noise", "block"),
    [
        (world if 4 not in world and 1.0 not in world[2:] else in_endure(*world))
        for world in product(LEVELS, NOISES, BLOCK_EFFECTS)
    ],
)
def test_a_system_two_percent_too_small_rarely_fits(levels_count: int, noise: float, block: float) -> None:
    assert share_too_small_that_fits(levels_count, noise, block, MADE) <= 0.05


@pytest.mark.parametrize("levels_count", [1, 4])
@pytest.mark.parametrize("block", [0.0, 3.0])
def test_response_times_five_percent_too_long_rarely_meet_an_objective(levels_count: int, block: float) -> None:
    assert share_too_slow_that_fits(levels_count, block, MADE) <= 0.05
