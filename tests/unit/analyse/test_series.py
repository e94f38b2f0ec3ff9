"""A trial second by second: rates, percentiles of what ended, the window, and how many points there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.trial.histograms import duration_rows
from plimsoll.analyse.trial.series import POINTS_OF_STUDY, points_max, series_of
from plimsoll.analyse.trial.stalls import Stall
from plimsoll.analyse.trial.trial_model import TrialSeries
from plimsoll.analyse.trial.window import count_window, inside
from plimsoll.record import frames
from plimsoll.record.histograms import bucket_of_ns
from plimsoll.record.model import Window
from support.recordings import PLACE, intervals


def histograms(times_ms: dict[int, list[float]]) -> pl.DataFrame:
    """Response times by interval."""
    rows: list[dict[str, Any]] = []
    for interval, own in times_ms.items():
        ns = (np.array(own) * 1e6).astype(np.int64)
        buckets, counts = np.unique(bucket_of_ns(ns), return_counts=True)
        spread = {
            "buckets": buckets.tolist(),
            "counts": counts.tolist(),
            "sum_ns": int(ns.sum()),
            "max_ns": int(ns.max()),
        }
        rows.append({**PLACE, "interval": interval, "transaction": "t", "measure": "response", **spread})
    return pl.DataFrame(rows, schema=frames.HISTOGRAMS)


def series(
    rows: pl.DataFrame,
    times: pl.DataFrame | None = None,
    *,
    window: Window,
    points: int = 240,
    stalls: tuple[Stall, ...] = (),
) -> TrialSeries:
    counts = count_window(rows, inside(rows, window), window, 1.0)
    assert counts is not None
    found = series_of(
        (rows, None if times is None else duration_rows(times)), counts, stalls, interval_s=1.0, points=points
    )
    assert found is not None
    return found


def test_every_second_has_its_rate_and_the_window_its_place() -> None:
    stall = Stall(from_s=4.0, to_s=5.0, completed=0)
    found = series(intervals(0, 10), window=Window(first=3, last=9), stalls=(stall,))
    assert found.throughput_tps == (100.0,) * 10
    assert (found.from_s, found.to_s, found.window_from_s, found.window_to_s) == (0.0, 10.0, 3.0, 10.0)
    assert [(stretch.kind, stretch.from_s) for stretch in found.stretches] == [("stall", 4.0)]
    assert found.response_ms_p99 == ()


def test_seconds_without_rows_completed_nothing() -> None:
    rows = pl.concat([intervals(0, 3), intervals(5, 2)])
    assert series(rows, window=Window(first=0, last=7)).throughput_tps == (100, 100, 100, 0, 0, 100, 100, 0)


def test_points_of_many_seconds_merge_their_histograms() -> None:
    """100 of 1 ms in one second and 3 of 50 ms in the next: the 99th percentile of both is that of neither mean."""
    times = histograms({0: [1.0] * 100, 1: [50.0] * 3, 2: [2.0] * 10})
    each = series(intervals(0, 4), times, window=Window(first=0, last=3))
    assert each.response_ms_p99[:3] == pytest.approx((1.0, 50.0, 2.0), rel=0.002)
    assert each.response_ms_p99[3] is None
    pairs = series(intervals(0, 4), times, window=Window(first=0, last=3), points=2)
    assert pairs.step_s == 2.0
    assert pairs.throughput_tps == (100.0, 100.0)
    assert pairs.response_ms_p99 == pytest.approx((50.0, 2.0), rel=0.002)


def test_percentiles_are_those_of_the_transactions_whatever_the_order_of_rows() -> None:
    random = np.random.default_rng(7)
    own = {second: random.lognormal(1.0, 0.7, 500).tolist() for second in range(6)}
    times = histograms(own).sample(fraction=1.0, shuffle=True, seed=3)
    found = series(intervals(0, 6), times, window=Window(first=0, last=5)).response_ms_p99
    expected = [np.sort(values)[int(np.ceil(0.99 * 500)) - 1] for values in own.values()]
    assert found == pytest.approx(expected, rel=0.002)


def test_an_interval_that_ended_with_the_load_is_no_point() -> None:
    short = intervals(4, 1).with_columns(pl.lit(4.1).alias("to_s"), pl.lit(3).cast(pl.UInt64).alias("completed"))
    found = series(pl.concat([intervals(0, 4), short]), window=Window(first=1, last=3))
    assert found.throughput_tps == (100.0,) * 4


@pytest.mark.parametrize("count", [1, 48, 500, 2000])
def test_a_study_has_a_limit_of_points(count: int) -> None:
    assert count * points_max(count) <= POINTS_OF_STUDY
