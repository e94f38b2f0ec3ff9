"""Measure the measurer: bounds within a run, those of single cells, and drift, on made-up data whose truth is known.

Everything is seeded, so a failure is a change of code and not bad luck. The allowed ranges leave room for the sampling
error of the simulation itself (2,000 studies: standard error 0.5 % at 95 %) and for what the methods promise: never
much below their nominal coverage.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from plimsoll.analyse.study.ratios import log_ratio
from plimsoll.analyse.study.throughput import MeanThroughput, Repeated, mean_throughputs
from plimsoll.stats.series import drift_of
from plimsoll.stats.variance import MeanVariance, variance_of_mean

STUDIES = 2_000
TRUE_TPS = 1_000.0


def autocorrelated(random: np.random.Generator, correlation: float, size: int) -> np.ndarray:
    """A first-order autoregressive series with mean 0 and standard deviation 1."""
    noise = random.standard_normal(size) * np.sqrt(1 - correlation**2)
    noise[0] = random.standard_normal()
    return np.asarray(lfilter([1], [1, -correlation], noise))


def naive_variance(series: np.ndarray) -> MeanVariance:
    """The textbook's: as if every second were independent."""
    return MeanVariance(float(series.var(ddof=1)) / series.size, series.size - 1)


def coverage_within(correlation: float, size: int, variance_of: object) -> float:
    random = np.random.default_rng(7)
    hits = 0
    for _ in range(STUDIES):
        series = autocorrelated(random, correlation, size)
        hits += abs(series.mean()) <= variance_of(series).half_width()
    return hits / STUDIES


@pytest.mark.parametrize(
    ("correlation", "size", "at_least"),
    [(0.0, 60, 0.94), (0.3, 60, 0.93), (0.6, 60, 0.93), (0.8, 60, 0.91), (0.8, 180, 0.92), (0.6, 20, 0.88)],
)
def test_bounds_within_a_run_cover_the_truth(correlation: float, size: int, at_least: float) -> None:
    covered = coverage_within(correlation, size, variance_of_mean)
    assert at_least <= covered <= 0.985


def test_naive_bounds_would_not() -> None:
    assert coverage_within(0.6, 60, naive_variance) < 0.75


def trial(random: np.random.Generator, level_tps: float, *, trial_effect: float, correlation: float) -> np.ndarray:
    """A minute of throughput: the trial's own level, and autocorrelated seconds around it."""
    own_level = level_tps * np.exp(random.normal(0.0, trial_effect))
    return own_level * (1 + 0.05 * autocorrelated(random, correlation, 60))


def cell(
    random: np.random.Generator, count: int, level_tps: float = TRUE_TPS, *, effect: float = 0.03, corr: float = 0.6
) -> Repeated:
    trials = [trial(random, level_tps, trial_effect=effect, correlation=corr) for _ in range(count)]
    variances = [variance_of_mean(one) for one in trials]
    assert all(variance is not None for variance in variances)
    return Repeated(
        tuple(float(one.mean()) for one in trials),
        tuple(
            MeanVariance(variance.variance / series.mean() ** 2, variance.degrees)
            for variance, series in zip(variances, trials, strict=True)
            if variance is not None
        ),
    )


def covers(mean: MeanThroughput, truth_tps: float = TRUE_TPS) -> bool:
    bounds = mean.estimate().bounds
    assert bounds is not None
    return bounds.low <= truth_tps <= bounds.high


def test_three_repetitions_cover_the_truth() -> None:
    random = np.random.default_rng(11)
    covered = np.mean([covers(mean_throughputs([cell(random, 3)])[0]) for _ in range(STUDIES)])
    assert 0.94 <= covered <= 0.98


def test_bounds_from_within_one_run_miss_what_repetitions_differ_by_and_say_so() -> None:
    random = np.random.default_rng(17)
    means = [mean_throughputs([cell(random, 1)])[0] for _ in range(500)]
    assert np.mean([covers(mean) for mean in means]) < 0.85
    assert all("repetitions may differ more" in mean.spread.method for mean in means if mean.spread)


def test_two_repetitions_with_nothing_to_pool_cover_the_truth() -> None:
    random = np.random.default_rng(43)
    means = [mean_throughputs([cell(random, 2)])[0] for _ in range(STUDIES)]
    assert 0.93 <= np.mean([covers(mean) for mean in means]) <= 0.985


@pytest.mark.parametrize("repetitions", [1, 2, 3])
def test_figures_that_are_equal_to_the_last_digit_show_no_spread(repetitions: int) -> None:
    """Rounded figures, or seconds with one transaction each: no bounds without width, and no winner by 0.1 %."""
    within = (variance_of_mean(np.full(10, 1000.0)),) * repetitions
    cells = [Repeated((tps,) * repetitions, within, system=f"{tps}") for tps in (1000.0, 1001.0)]
    means = mean_throughputs(cells)
    assert [mean.estimate().bounds for mean in means] == [None, None]
    assert log_ratio(means[1], means[0]) is None


def test_bounds_are_never_narrower_than_within_the_runs() -> None:
    """Three repetitions that happen to agree to the last digit do not make a noisy minute exact."""
    within = MeanVariance(0.01**2, 20.0)
    mean = mean_throughputs([Repeated((1000.0, 1000.0, 1000.0), (within, within, within))])[0]
    alone = MeanVariance(within.variance / 3, 60.0)
    assert mean.spread is not None
    assert mean.spread.of_mean.half_width() >= alone.half_width()
    assert "widened" in mean.spread.method


def test_a_cell_noisier_than_the_others_stands_on_its_own() -> None:
    random = np.random.default_rng(19)
    calm = [replace(cell(random, 5, effect=0.01, corr=0.0), system=f"s{index}") for index in range(8)]
    wild = Repeated((600.0, 900.0, 1000.0, 1400.0, 1100.0), (None,) * 5, system="wild")
    *calm_means, wild_mean = mean_throughputs([*calm, wild])
    assert wild_mean.spread is not None
    assert wild_mean.spread.method.startswith("t on logarithms, 5 repetitions")
    assert all(mean.spread is not None and mean.spread.of_mean.half_width() < 0.03 for mean in calm_means)


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_noise_is_no_drift(correlation: float) -> None:
    random = np.random.default_rng(37)
    found = [drift_of(1000 * (1 + 0.05 * autocorrelated(random, correlation, 60))) for _ in range(1_000)]
    assert np.mean([one.chance < 0.01 for one in found if one]) <= 0.03


def test_a_planted_drift_is_found() -> None:
    random = np.random.default_rng(41)
    line = np.linspace(0.9, 1.1, 60)
    found = [drift_of(1000 * line * (1 + 0.03 * autocorrelated(random, 0.5, 60))) for _ in range(200)]
    assert np.mean([one.chance < 0.01 for one in found if one]) > 0.95
    assert np.mean([one.change_ratio for one in found if one]) == pytest.approx(0.2, abs=0.01)
