"""Long windows minute by minute: what a step is, and drifts that were planted are found and others are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.trial.condition_model import StateKind
from plimsoll.analyse.trial.histograms import duration_rows
from plimsoll.analyse.trial.series import LONG_S, STEPS_MAX, Steps, steps_of
from plimsoll.analyse.trial.steady import steady_state
from plimsoll.analyse.trial.window import count_window, inside
from plimsoll.guide.content import describe
from plimsoll.guide.marks import Style
from plimsoll.guide.trials import long_trials_section
from plimsoll.record import frames
from plimsoll.record.histograms import bucket_of_ns
from plimsoll.record.model import Window
from plimsoll.record.store import read_study
from support.recordings import PLACE, intervals, write

EACH = 60
"""Seconds of a minute."""


def made(
    rates: np.ndarray, p99_ms: np.ndarray | None = None, *, first: int = 0
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Intervals with these rates; of their response times each hundredth is as given, if it is."""
    rows = intervals(first, rates.size).with_columns(completed=pl.Series(np.round(rates).astype(np.uint64)))
    if p99_ms is None:
        return rows, None
    found = []
    for number in np.flatnonzero(~np.isnan(p99_ms)).tolist():
        slow_ms = p99_ms[number]
        slow, fast = int(bucket_of_ns(np.array([int(slow_ms * 1e6)]))[0]), int(bucket_of_ns(np.array([10**6]))[0])
        spread = {"buckets": [fast, slow], "counts": [97, 3], "sum_ns": 1, "max_ns": int(slow_ms * 1e6)}
        place = {**PLACE, "interval": first + number, "transaction": "t", "measure": "response"}
        found.append({**place, **spread})
    return rows, pl.DataFrame(found, schema=frames.HISTOGRAMS)


def steps(rates: np.ndarray, p99_ms: np.ndarray | None = None, *, first: int = 0) -> Steps | None:
    rows, times = made(rates, p99_ms, first=first)
    window = Window(first=first, last=first + rates.size - 1)
    counts = count_window(rows, inside(rows, window), window, 1.0)
    assert counts is not None
    durations = None if times is None else duration_rows(times)
    return steps_of(counts, durations, steady_state(counts.rates_tps), interval_s=1.0)


def noisy(seconds: int, *, drift: float = 0.0, noise: float = 0.05, seed: int = 1) -> np.ndarray:
    """A mean of 1000 with some noise, and a line through it that changes by a share of it."""
    line = 1 + drift * (np.arange(seconds) / seconds - 0.5)
    return 1000 * line * (1 + noise * np.random.default_rng(seed).standard_normal(seconds))


def test_a_short_window_has_no_steps() -> None:
    assert steps(noisy(int(LONG_S) - 1)) is None
    assert steps(noisy(int(LONG_S))) is not None


def test_a_step_is_a_minute_and_the_window_begins_at_its_first_interval() -> None:
    rates, times = np.repeat(np.arange(100, 112), EACH), np.repeat(np.arange(10, 22), EACH)
    found = steps(rates.astype(float), times.astype(float), first=7)
    assert found is not None
    assert found.step_s == 60
    assert found.throughput_tps == pytest.approx(range(100, 112))
    assert found.response_ms_p99 == pytest.approx(range(10, 22), rel=0.01)


def test_hours_have_longer_steps_and_what_is_left_is_no_step() -> None:
    found = steps(noisy(STEPS_MAX * EACH + 70))
    assert found is not None
    assert (found.step_s, len(found.throughput_tps)) == (120.0, STEPS_MAX // 2)


@pytest.mark.parametrize(("drift", "state"), [(0.0, StateKind.STEADY), (-0.15, StateKind.DRIFTING)])
def test_drift_of_throughput_is_that_of_the_steady_state(drift: float, state: StateKind) -> None:
    found = steps(noisy(1800, drift=drift))
    assert found is not None
    assert found.throughput.state is state
    assert found.throughput.change_ratio == pytest.approx(drift, abs=0.02)
    assert found.response is None


def drifts_of_p99(drift: float, count: int) -> int:
    """In how many made-up half hours a drift of p99 was found."""
    found = 0
    flat = np.full(1800, 1000.0)
    for seed in range(count):
        by_minute = noisy(30, drift=drift, noise=0.08, seed=seed) / 100
        times = np.full(1800, np.nan)  # one second of each minute tells enough
        times[::EACH] = by_minute
        one = steps(flat, times)
        assert one is not None
        assert one.response is not None
        found += one.response.state is StateKind.DRIFTING
    return found


def test_a_drift_of_p99_alone_is_found_and_noise_is_none() -> None:
    assert drifts_of_p99(0.0, 30) == 0
    assert drifts_of_p99(0.4, 10) >= 9


def test_one_long_trial_has_a_curve_and_a_verdict_in_the_guide(tmp_path: Path) -> None:
    rows, times = made(noisy(720), np.repeat(np.linspace(10, 20, 12), EACH))
    assert times is not None
    write(tmp_path, intervals=rows, histograms=times)
    analysis = analyse("s", read_study(tmp_path).recordings)
    (one,) = analysis.long_trials
    assert (one.trial_id, one.window_s, len(one.response_ms_p99)) == ("t1", 720.0, 12)
    section = long_trials_section(analysis)
    assert section is not None
    (sentence,) = section.sentences
    assert "a, w, 4 connections: over 12 min 00 s, throughput did not drift" in sentence
    assert "p99 response time drifted: +6" in sentence
    assert [chart.title for chart in section.charts] == [
        "a, w, 4 connections: throughput by minute",
        "a, w, 4 connections: p99 response time by minute",
    ]
    flat, rising = (chart.draw(Style(width_px=None, height_px=220)).to_dict() for chart in section.charts)
    assert [len(one["layer"]) for one in (flat, rising)] == [2, 3], "only a drift has a line of its own"
    assert section.anchor in {section.anchor for section in describe(analysis).sections}
