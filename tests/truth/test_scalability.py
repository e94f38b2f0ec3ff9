"""Measure the measurer: what is concluded of curves whose law is known, by how often it is right.

Worlds: repetitions that differ as wholes (0, 1 and 3 times the residual), and neighbouring trials that share a minute
(as much), in random order; 3 repetitions. Coverage is counted over 150 studies: its standard error at 95 % is 1.8 %
(over 400 in `make endure`: 1.1 %). Verdicts are counted over 40.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from plimsoll.analyse.explain.scalability import CurveFits, judge, steps_beyond_noise
from plimsoll.analyse.explain.scaling_model import ScalingVerdict
from plimsoll.stats.scaling_laws import Law, fit, levels_of, log_law, misfit_probability, peak_connections
from support.endure import draws, in_endure, slack

CONNECTIONS = np.array([1.0, 2, 4, 8, 16, 32, 64])
STUDIES, COVERED_STUDIES, REPETITIONS = 40, 400, 3
COVERED = draws(150, COVERED_STUDIES)
WORLDS = [(0.0, 0.0), in_endure((1.0, 1.0)), (3.0, 3.0)]


def study(random: np.random.Generator, log_tps: np.ndarray, noise: float, *, block: float, minute: float) -> np.ndarray:
    """Logarithms of throughput, (levels, repetitions)."""
    count = log_tps.size
    table = log_tps[:, None] + noise * random.standard_normal((count, REPETITIONS))
    table = table + noise * block * random.standard_normal(REPETITIONS)
    for repetition in range(REPETITIONS):
        shared = np.repeat(random.standard_normal((count + 1) // 2), 2)[:count]
        table[random.permutation(count), repetition] += noise * minute * shared
    return table


@cache
def judged(shape: tuple[float, float], world: tuple[float, float], noise: float, studies: int) -> list[CurveFits]:
    random = np.random.default_rng(5)
    truth = 7 + log_law(CONNECTIONS, np.array([shape]))[0]
    tables = (study(random, truth, noise, block=world[0], minute=world[1]) for _ in range(studies))
    return [judge(levels_of(table, CONNECTIONS)) for table in tables]


CLEAR, NEAR_THE_LAST_LEVEL = (0.05, 0.002), (0.02, 0.0003)
"""Laws with a peak: contention and coherency of the USL."""


def peaks(
    shape: tuple[float, float], world: tuple[float, float], studies: int = COVERED_STUDIES
) -> tuple[float, float]:
    """Shares of studies of a law: those whose interval has the peak, and those that name one."""
    true_peak = float(peak_connections(np.array([shape]))[0])
    found = judged(shape, world, 0.02, studies)
    covered = sum(one.peak[1] <= true_peak <= one.peak[2] for one in found)
    named = sum(one.verdict is ScalingVerdict.PEAK_INSIDE for one in found)
    return covered / studies, named / studies


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    ("shape", "named_ratio"), [(CLEAR, 0.97), (NEAR_THE_LAST_LEVEL, 0.1)], ids=["clear", "near the last level"]
)
def test_a_peak_lies_within_its_interval(
    shape: tuple[float, float], named_ratio: float, world: tuple[float, float]
) -> None:
    """In all studies, and not only in those that name it."""
    covered, named = peaks(shape, world, COVERED)
    assert named >= named_ratio
    assert 0.95 - slack(0.95, COVERED) <= covered <= 0.99


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    "shape",
    [(0.0, 0.0), in_endure((0.05, 0.0)), (0.3, 0.0), CLEAR],
    ids=["linear", "amdahl", "contended", "usl"],
)
def test_the_band_covers_the_law_at_each_level(shape: tuple[float, float], world: tuple[float, float]) -> None:
    truth = np.exp(7 + log_law(CONNECTIONS, np.array([shape]))[0])
    covered = np.zeros(CONNECTIONS.size)
    for one in judged(shape, world, 0.02, COVERED):
        low, high = one.band(CONNECTIONS)
        covered += (low <= truth) & (truth <= high)
    assert (covered / COVERED).min() >= 0.94 - slack(0.94, COVERED), "seven levels: the least one is lower by chance"
    assert 0.95 - slack(0.95, COVERED) <= covered.mean() / COVERED <= 0.99


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    "shape", [(0.0, 0.0), in_endure((0.05, 0.0)), (0.05, 0.00004)], ids=["linear", "amdahl", "far"]
)
def test_no_peak_is_named_where_none_was_measured(shape: tuple[float, float], world: tuple[float, float]) -> None:
    verdicts = [one.verdict for one in judged(shape, world, 0.02, STUDIES)]
    assert verdicts.count(ScalingVerdict.PEAK_INSIDE) <= 0.05 * STUDIES + 1
    if shape == (0.0, 0.0):
        assert verdicts.count(ScalingVerdict.PEAK_OUTSIDE) >= 0.95 * STUDIES


def test_a_plateau_is_no_law() -> None:
    """Linear up to eight cores, then flat: a closed loop in front of a saturated processor."""
    random = np.random.default_rng(6)
    truth = np.log(np.minimum(CONNECTIONS, 8.0))
    found = [
        judge(levels_of(study(random, truth, 0.01, block=1, minute=0), CONNECTIONS)).verdict for _ in range(STUDIES)
    ]
    assert found.count(ScalingVerdict.DOES_NOT_FIT) >= 0.95 * STUDIES


@pytest.mark.parametrize("world", WORLDS)
def test_superlinear_steps(world: tuple[float, float]) -> None:
    random = np.random.default_rng(7)
    smooth = log_law(CONNECTIONS, np.zeros((1, 2)))[0]  # linear: the hardest not to call superlinear
    stepped = smooth + np.where(CONNECTIONS >= 4, 0.4, 0.0)
    alarms, hits = 0, 0
    for _ in range(2 * STUDIES):
        tables = (study(random, truth, 0.02, block=world[0], minute=world[1]) for truth in (smooth, stepped))
        quiet, loud = (steps_beyond_noise(levels_of(table, CONNECTIONS)) for table in tables)
        alarms += bool(quiet)
        hits += any(index == 1 for index, _, _ in loud)
    assert alarms / (2 * STUDIES) <= 0.08
    assert hits / (2 * STUDIES) >= 0.9


def test_fits_agree_with_scipy_and_lack_of_fit_has_its_level() -> None:
    from scipy.optimize import least_squares

    random = np.random.default_rng(8)
    truth = 7 + log_law(CONNECTIONS, np.array([(0.05, 0.0005)]))[0]
    rejected = 0
    for index in range(200):
        levels = levels_of(study(random, truth, 0.03, block=3, minute=0), CONNECTIONS)
        fitted = fit(levels, Law.USL)
        rejected += (misfit_probability(levels, fitted) or 1.0) < 0.05
        if index < 5:
            other = least_squares(
                lambda p, y=levels.log_tps: y - p[2] - log_law(CONNECTIONS, p[None, :2])[0],
                [0.01, 0.001, 7.0],
                bounds=([0, 0, -50], 50),
                xtol=1e-14,
                ftol=1e-14,
            )
            assert fitted.shape == pytest.approx(tuple(other.x[:2]), rel=1e-3, abs=1e-7)
    assert 0.02 <= rejected / 200 <= 0.08


def test_a_missing_trial_does_no_harm() -> None:
    random = np.random.default_rng(9)
    truth = 7 + log_law(CONNECTIONS, np.array([(0.05, 0.002)]))[0]
    table = study(random, truth, 0.02, block=10, minute=0)
    table[2, 1] = np.nan
    table[6, 0] = np.nan
    assert levels_of(table, CONNECTIONS).log_tps - truth == pytest.approx(
        np.full(7, (levels_of(table, CONNECTIONS).log_tps - truth).mean()), abs=0.06
    )
