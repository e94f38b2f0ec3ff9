"""The state of a trial by its verdicts: how often noise passes for something, and how often what was planted is found.

Worlds: independent and autocorrelated noise, and noise whose minutes have means of their own, 1 and 3 times the
residual. Everything is seeded. PLIMSOLL_TEST_STATES=10 (`make endure`) simulates ten times as many trials.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.signal import lfilter

from plimsoll.analyse.trial.condition_model import StateKind
from plimsoll.analyse.trial.steady import INTERVALS_LEAST, half_width_ratio, is_long_enough, steady_state
from plimsoll.stats.cycles import cycle_of

MORE = int(os.environ.get("PLIMSOLL_TEST_STATES", "1"))


def noise(phi: float, size: int, count: int, *, ratio: float = 0.1, seed: int = 3) -> np.ndarray:
    """Steady trials; shape (count * MORE, size)."""
    fresh = np.random.default_rng(seed).standard_normal((count * MORE, size + 200)) * np.sqrt(1 - phi**2)
    return 1000 * (1 + ratio * lfilter([1], [1, -phi], fresh, axis=1)[:, 200:])


def states(trials: np.ndarray) -> list[StateKind]:
    return [steady_state(trial).state for trial in trials]


def share(found: list[StateKind], *kinds: StateKind) -> float:
    return float(np.mean([one in kinds for one in found]))


def share_not_steady(phi: float, size: int, count: int) -> float:
    """Of steady trials."""
    return 1 - share(states(noise(phi, size, count)), StateKind.STEADY)


def drifting(change: float, count: int) -> np.ndarray:
    """Trials of two minutes with noise of 3 % that drift by a share of their mean."""
    return noise(0.3, 120, count, ratio=0.03) * np.linspace(1 - change / 2, 1 + change / 2, 120)


def dipping(size: int, period: int, width: int, depth: float, count: int = 20) -> np.ndarray:
    """Trials that lose a share of their throughput for `width` seconds of each period."""
    trials = noise(0.3, size, count, ratio=0.03)
    begins = np.random.default_rng(4).integers(0, period, trials.shape[0])
    trials[(np.arange(size) - begins[:, None]) % period < width] *= 1 - depth
    return trials


def checkpoints(period: int, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Throughput and checkpoint age: the age rises until a checkpoint takes 30 % of throughput for an eighth of it."""
    random = np.random.default_rng((6, period))
    for begin in random.integers(0, period, count):
        phase = (np.arange(600) + begin) % period / period
        rates = noise(0.0, 600, 1, ratio=0.03, seed=int(begin))[0] * np.where(phase < 0.12, 0.7, 1.0)
        age = 1e8 * (0.2 + np.where(phase < 0.12, 1 - phase / 0.12, (phase - 0.12) / 0.88))
        yield rates, age * (1 + 0.01 * random.standard_normal(600))


def automatic_length(rates: np.ndarray, age: np.ndarray | None) -> int:
    """At how many seconds a trial ends, with or without its checkpoint age."""
    for size in range(INTERVALS_LEAST, 601, 2):
        if is_long_enough(rates[:size], 0.05, {} if age is None else {"x": age[:size]}):
            return size
    return 600


def share_cut_short(period: int, count: int) -> float:
    """Of trials whose InnoDB state is unknown: those that end before two cycles of it."""
    return float(np.mean([automatic_length(rates, None) < 2 * period - 1 for rates, _ in checkpoints(period, count)]))


@pytest.mark.parametrize("phi", [0.0, 0.6, 0.8])
@pytest.mark.parametrize(("size", "count"), [(60, 150), (180, 80)])
def test_noise_is_steady(phi: float, size: int, count: int) -> None:
    """At most 5 % are wrong; two standard errors of the simulation are added."""
    wrong = share_not_steady(phi, size, count)
    assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / (count * MORE))


@pytest.mark.parametrize("phi", [0.0, 0.6])
def test_a_step_is_found_where_it_is(phi: float) -> None:
    trials = noise(phi, 120, 40, ratio=0.03)
    trials[:, 70:] *= 0.85
    found = [steady_state(trial) for trial in trials]
    assert share([one.state for one in found], StateKind.UNSTEADY) >= 0.9
    first = [one.segments[1].from_s for one in found if len(one.segments) == 2]
    assert np.median(np.abs(np.array(first) - 70)) <= 2


def test_an_unfinished_warm_up_is_a_single_early_step() -> None:
    trials = noise(0.3, 120, 30, ratio=0.03)
    trials[:, :25] *= 0.8
    found = [steady_state(trial).warm_up_s for trial in trials]
    assert np.mean([one is not None and abs(one - 25) <= 3 for one in found]) >= 0.9


@pytest.mark.parametrize(("change", "at_least"), [(0.1, 0.75), (0.2, 0.9)])
def test_a_drift_is_found(change: float, at_least: float) -> None:
    found = [steady_state(trial) for trial in drifting(change, 40)]
    assert share([one.state for one in found], StateKind.DRIFTING) >= at_least
    seen = [one.series[0].change_ratio for one in found if one.series[0].change_ratio is not None]
    assert np.mean(seen) == pytest.approx(change, rel=0.15)


@pytest.mark.parametrize("period", [12.0, 17.5, 40.0])
@pytest.mark.parametrize("shape", ["sine", "dips", "saw"])
def test_a_cycle_is_found_with_its_period(period: float, shape: str) -> None:
    trials = noise(0.3, 160, 20, ratio=0.03)
    phase = (np.arange(160) / period + 0.3) % 1
    waves = {"sine": np.sin(2 * np.pi * phase), "dips": -2.0 * (phase < 0.2), "saw": 2 * phase - 1}
    found = [steady_state(trial) for trial in trials * (1 + 0.1 * waves[shape])]
    assert share([one.state for one in found], StateKind.CYCLIC) >= 0.9
    periods = np.array([one.period_s for one in found if one.period_s is not None])
    assert np.mean(np.abs(periods / period - 1) <= 0.1) >= 0.9


@pytest.mark.parametrize(
    ("size", "period", "width", "depth"),
    [(60, 20, 2, 0.2), (60, 20, 4, 0.6), (120, 30, 3, 0.2), (120, 30, 6, 0.2), (160, 30, 6, 0.6), (300, 60, 12, 0.2)],
)
def test_short_dips_that_come_back_are_a_cycle(size: int, period: int, width: int, depth: float) -> None:
    """A sinusoid describes them badly, and steps cost two changes each: three to ten dips in a window."""
    found = [steady_state(trial) for trial in dipping(size, period, width, depth)]
    assert share([one.state for one in found], StateKind.CYCLIC) >= 0.9
    periods = np.array([one.period_s for one in found if one.period_s is not None])
    assert np.mean(np.abs(periods / period - 1) <= 0.05) >= 0.9


@pytest.mark.parametrize("dips", [3, 5, 8])
def test_dips_at_any_time_are_no_cycle(dips: int) -> None:
    trials = noise(0.3, 160, 50, ratio=0.03)
    random = np.random.default_rng(5)
    for trial in trials:
        for begin in random.choice(157, dips, replace=False):
            trial[begin : begin + 3] *= 0.5
    assert share(states(trials), StateKind.CYCLIC) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / len(trials))


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_minutes_with_means_of_their_own_are_not_called_steady(times: float) -> None:
    """Block effects are changes of the mean: at three times the residual they are found, at once only sometimes."""
    trials = noise(0.0, 240, 40, ratio=0.04)
    blocks = np.random.default_rng(5).standard_normal((40 * MORE, 4)) * 0.04 * times
    found = states(trials * np.repeat(1 + blocks, 60, axis=1))
    assert 1 - share(found, StateKind.STEADY) >= (0.9 if times == 3.0 else 0.3)


def test_a_stall_of_three_seconds_is_seldom_a_change_of_the_mean() -> None:
    trials = noise(0.0, 120, 30, ratio=0.05)
    trials[:, 60:63] = 0
    assert share(states(trials), StateKind.STEADY) >= 0.6


@pytest.mark.parametrize("phi", [0.0, 0.6])
def test_an_automatic_trial_ends_with_about_the_coverage_of_a_fixed_one(phi: float) -> None:
    hits, lengths = [], []
    for one in noise(phi, 600, 60, ratio=0.2):
        looks = (size for size in range(INTERVALS_LEAST, 601, 5) if is_long_enough(one[:size], 0.05))
        size = next(looks, 600)
        width = half_width_ratio(one[:size])
        assert width is not None
        lengths.append(size)
        hits.append(abs(one[:size].mean() - 1000) <= width * one[:size].mean())
    assert np.mean(hits) >= 0.85
    assert max(lengths) < 600


def test_an_automatic_trial_cuts_no_cycle() -> None:
    period = 33
    for one in noise(0.0, 400, 10, ratio=0.02) * (1 + 0.1 * np.sin(2 * np.pi * np.arange(400) / period)):
        size = next(size for size in range(1, 401) if is_long_enough(one[:size], 0.05))
        assert size >= 2 * period - 1
        assert min(size % period, period - size % period) <= 3
        assert cycle_of(one[:size]) is not None


def test_an_automatic_trial_sees_two_cycles_of_what_innodb_puts_off() -> None:
    for period in (60, 100):
        for rates, age in checkpoints(period, 6):
            size = automatic_length(rates, age)
            assert size >= 2 * period - 1
            assert min(size % period, period - size % period) <= 2


@pytest.mark.parametrize("spread", [0.1, 0.5])
def test_even_innodb_state_does_not_prolong_a_trial(spread: float) -> None:
    random, ended = np.random.default_rng(7), []
    for rates in noise(0.0, 120, 20, ratio=0.03):
        state = {"x": 1e6 * (1 + spread * random.standard_normal(120)).clip(0.01)}
        looks = range(INTERVALS_LEAST, 121)
        ended.append(next((n for n in looks if is_long_enough(rates[:n], 0.05, {"x": state["x"][:n]})), 121))
    assert np.mean([one <= INTERVALS_LEAST + 15 for one in ended]) >= 0.9
