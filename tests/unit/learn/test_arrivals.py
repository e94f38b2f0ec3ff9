"""Rates and burstiness of arrivals whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.learn.arrivals import ArrivalCounter, Arrivals


def counted(counts: np.ndarray) -> Arrivals:
    counter = ArrivalCounter()
    seconds = np.repeat(np.arange(counts.size), counts) + 1_700_000_000
    for part in np.array_split(seconds, 3):
        counter.add(part * 1_000_000 + 17, np.ones(part.size))
    found = counter.arrivals()
    assert found is not None
    return found


def test_rates() -> None:
    counts = np.full(600, 10)
    counts[120:180] = 40
    found = counted(counts)
    assert (found.first_unix_s, found.duration_s) == (1_700_000_000, 600)
    assert found.mean_tps == pytest.approx(13)
    assert found.peak_tps() == 40
    assert found.p99_tps() == 40


def test_a_poisson_process_has_dispersion_one() -> None:
    found = counted(np.random.default_rng(1).poisson(50, 3600))
    for window_s in (1, 10, 60):
        assert found.dispersion(window_s) == pytest.approx(1, rel=0.5)


def test_bursts_show_on_their_time_scale() -> None:
    """Rates change every 30 s between 20 and 80: counts in long windows vary more than in short ones."""
    generator = np.random.default_rng(2)
    rates = np.repeat(generator.choice([20, 80], 120), 30)
    found = counted(generator.poisson(rates))
    second, ten = found.dispersion(1), found.dispersion(10)
    assert second is not None
    assert ten is not None
    assert second == pytest.approx(1 + 900 / 50, rel=0.25)
    assert ten > 5 * second


def test_a_short_log_tells_no_dispersion() -> None:
    assert counted(np.full(100, 5)).dispersion(10) is None


def test_a_wrong_clock_fills_no_memory() -> None:
    counter = ArrivalCounter()
    counter.add(np.array([1_000_000, *(1_700_000_000_000_000 + 1_000_000 * np.arange(5))]), np.ones(6))
    found = counter.arrivals()
    assert found is not None
    assert found.duration_s == 5
