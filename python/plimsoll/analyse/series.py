"""One trial second by second, for charts: throughput, and the 99th percentile of response time of what ended then.

A point is one interval, or several in a study with so many trials that all their seconds would make its guide too
large to open. The percentile of a point comes from the merged histograms of its intervals, by nearest rank, as in
`durations`: percentiles of single intervals are never joined. What was in flight is no part of it: here a stall shows
in the throughput, and in the percentile of the point in which it ended.
Deliberately not here: what is steady or stalled (`stalls`), and anything over the whole window.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.analyse.duration_rows import DurationRows
from plimsoll.analyse.stalls import Stall
from plimsoll.analyse.trial_model import Stretch, TrialSeries
from plimsoll.analyse.window import WindowCounts
from plimsoll.record.buckets import BUCKET_COUNT, bucket_middle_ns

POINTS_OF_STUDY = 60_000
POINTS_OF_TRIAL = 240
POINTS_OF_TRIAL_MIN = 20
_DIGITS = 4
_SHARE = 0.99
_SHORT_RATIO = 0.5


def points_max(trial_count: int) -> int:
    """How many points each of so many trials may have.

    >>> points_max(12), points_max(1000), points_max(100_000)
    (240, 60, 20)
    """
    return max(POINTS_OF_TRIAL_MIN, min(POINTS_OF_TRIAL, POINTS_OF_STUDY // max(trial_count, 1)))


def series_of(
    tables: tuple[pl.DataFrame, DurationRows | None],
    counts: WindowCounts,
    stalls: tuple[Stall, ...],
    *,
    interval_s: float,
    points: int,
) -> TrialSeries | None:
    """How a trial went, warm-up included.

    Args:
        tables: All of its intervals (`frames.INTERVALS`) and histograms.
        counts: Of its window.
        stalls: That were found in it.
        interval_s: Planned length of an interval, seconds.
        points: At most so many.
    """
    intervals, durations = tables
    places = intervals["interval"].to_numpy().astype(np.int64)
    if places.size == 0:
        return None
    count = 1 + max(int(places.max()), counts.last)
    count -= count > counts.last + 1 and _is_cut_short(intervals, interval_s)
    each = -(-count // points)
    size = -(-count // each)
    is_shown = places < count
    completed = np.bincount(
        places[is_shown] // each, weights=intervals["completed"].to_numpy()[is_shown], minlength=size
    )
    lengths_s = np.full(size, each * interval_s)
    lengths_s[-1] = (count - (size - 1) * each) * interval_s
    return TrialSeries(
        from_s=0.0,
        step_s=each * interval_s,
        throughput_tps=tuple(rounded(completed / lengths_s).tolist()),
        response_ms_p99=p99_ms_of_points(durations, each=each, count=count),
        window_from_s=counts.first * interval_s,
        window_to_s=(counts.last + 1) * interval_s,
        stretches=tuple(Stretch(from_s=one.from_s, to_s=one.to_s, kind="stall") for one in stalls),
    )


def _is_cut_short(intervals: pl.DataFrame, interval_s: float) -> bool:
    """The last interval ended with the load, long before it was full: its rate says nothing."""
    last = intervals.filter(pl.col("interval") == pl.col("interval").max())
    lengths_s = (last["to_s"] - last["from_s"]).to_numpy()
    return float(lengths_s.max()) < _SHORT_RATIO * interval_s


def p99_ms_of_points(
    durations: DurationRows | None, *, each: int, count: int, first: int = 0
) -> tuple[float | None, ...]:
    """The 99th percentile of response time in each point; all points at once, since a study has tens of thousands.

    Args:
        durations: All histograms of a trial.
        each: Intervals of a point.
        count: Intervals of all points.
        first: The first interval of the first point.

    Returns:
        Milliseconds; None where nothing completed, and nothing at all where there are no histograms.
    """
    if durations is None:
        return ()
    is_inside = durations.is_within(first, first + count - 1)
    rows = durations.only((durations.measures == "response") & is_inside & (durations.lengths > 0))
    if rows.lengths.size == 0:
        return ()
    points = np.repeat((rows.intervals - first) // each, rows.lengths)
    keys, counts = points * BUCKET_COUNT + rows.buckets, rows.counts.astype(np.int64)
    if np.any(keys[1:] < keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys, points, counts = keys[order], points[order], counts[order]
    totals = np.bincount(points, weights=counts, minlength=-(-count // each)).astype(np.int64)
    before = np.cumsum(totals) - totals
    ranks = before + np.ceil(totals * _SHARE).astype(np.int64)
    found = np.minimum(np.searchsorted(np.cumsum(counts), ranks), keys.size - 1)
    values = rounded(bucket_middle_ns(keys[found] % BUCKET_COUNT) / 1e6)
    return tuple(value if total else None for value, total in zip(values.tolist(), totals.tolist(), strict=True))


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """To four significant digits."""
    safe = np.where(values > 0, values, 1.0)
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(safe)))
    rounded: NDArray[np.float64] = np.where(values > 0, np.round(np.round(safe * scale) / scale, 9), 0.0)
    return rounded
