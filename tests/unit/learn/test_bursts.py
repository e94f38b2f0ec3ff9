"""Burstiness that is learned makes a load that varies as the log did. The process here is that of the load engine."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.learn.arrivals import Arrivals
from plimsoll.learn.demand import AMPLITUDE_MAX, allan_factor_shown, index_that_shows


def bursty(index: float, rate_tps: float, seconds: int, chance: np.random.Generator) -> Arrivals:
    """Arrivals by second of the engine's process, seconds long: `crates/engine/src/arrivals/bursts.rs`."""
    excess = index - 1
    amplitude = min(np.sqrt(excess / rate_tps), AMPLITUDE_MAX)
    stay_s = max(1.0, excess / (AMPLITUDE_MAX**2 * rate_tps))
    lengths = chance.exponential(stay_s, int(2 * seconds / stay_s) + 100)
    ends = np.cumsum(lengths)
    signs = np.where((np.arange(lengths.size) + chance.integers(2)) % 2 == 0, 1.0, -1.0)
    work = np.concatenate(([0.0], np.cumsum(rate_tps * (1 + amplitude * signs) * lengths)))
    assert ends[-1] > seconds
    expected = np.interp(np.arange(seconds + 1), np.concatenate(([0.0], ends)), work)
    return Arrivals(first_unix_s=0, counts=chance.poisson(np.diff(expected)).astype(float))


def mean_factor(index: float, rate_tps: float, window_s: int, seed: int, hours: int = 30) -> float:
    chance = np.random.default_rng(seed)
    found = [bursty(index, rate_tps, 3600, chance).allan_factor(window_s) for _ in range(hours)]
    return float(np.mean([one for one in found if one is not None]))


@pytest.mark.parametrize("window_s", [1, 10, 60])
@pytest.mark.parametrize(("index", "rate_tps"), [(5.0, 50.0), (40.0, 500.0), (400.0, 100.0)])
def test_the_formula_is_that_of_the_process(index: float, rate_tps: float, window_s: int) -> None:
    """30 hours: the mean of 60 windows an hour has an error of 4 %."""
    shown = allan_factor_shown(index, window_s, rate_tps)
    assert mean_factor(index, rate_tps, window_s, seed=1) == pytest.approx(shown, rel=0.12)


@pytest.mark.parametrize(("index", "rate_tps"), [(2.0, 20.0), (40.0, 500.0), (400.0, 500.0), (100.0, 20.0)])
def test_a_load_with_the_learned_index_shows_the_learned_dispersion(index: float, rate_tps: float) -> None:
    """Within 15 % in the windows of 10 s from which it was learned, whatever hour it was learned from."""
    chance = np.random.default_rng(7)
    for seed in range(5):
        hour = bursty(index, rate_tps, 3600, chance)
        learned = hour.allan_factor(10)
        assert learned is not None
        found = index_that_shows(learned, 10, hour.mean_tps)
        assert found.is_reached
        assert mean_factor(found.index, hour.mean_tps, 10, seed) == pytest.approx(learned, rel=0.15)


def test_the_index_of_a_load_is_found_again_from_an_hour_of_it() -> None:
    chance = np.random.default_rng(3)
    hours = [bursty(40.0, 500.0, 3600, chance) for _ in range(60)]
    found = [index_that_shows(hour.allan_factor(10) or 0.0, 10, hour.mean_tps).index for hour in hours]
    assert np.mean(found) == pytest.approx(40, rel=0.05)
    assert np.std(found) / 40 < 0.15


def test_a_rate_that_rises_over_the_hour_is_no_burst() -> None:
    """A Poisson process of 300 to 700 per second: variance over mean says hundreds, the Allan factor 1."""
    counts = np.random.default_rng(4).poisson(np.linspace(300, 700, 3600)).astype(float)
    found = Arrivals(first_unix_s=0, counts=counts)
    dispersion, factor = found.dispersion(10), found.allan_factor(10)
    assert dispersion is not None
    assert factor is not None
    assert dispersion > 100
    assert factor == pytest.approx(1, abs=0.3)


def test_what_varies_less_than_a_poisson_process_is_one() -> None:
    assert index_that_shows(0.4, 10, 500).index == 1
    assert index_that_shows(1.0, 10, 500).index == 1


def test_more_than_the_engine_can_show_is_told() -> None:
    found = index_that_shows(1e6, 10, 5)
    assert not found.is_reached
    shown = allan_factor_shown(found.index, 10, 5)
    assert shown > allan_factor_shown(found.index * 2, 10, 5)
    assert shown > allan_factor_shown(found.index / 2, 10, 5)
