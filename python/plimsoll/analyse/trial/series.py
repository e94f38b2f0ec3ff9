"""One trial over time: second by second for charts, and minute by minute to see whether a long one drifted.

One trial second by second, for charts: throughput, and the 99th percentile of response time of what ended then. A
point is one interval, or several in a study with so many trials that all their seconds would make its guide too large
to open. The percentile of a point comes from the merged histograms of its intervals, by nearest rank, as in
`histograms`: percentiles of single intervals are never joined. What was in flight is no part of it: here a stall
shows in the throughput, and in the percentile of the point in which it ended.

Whether throughput and the 99th percentile of response time drifted over a long window, for one trial alone. Steps are
minutes: the percentile of each comes from the merged histograms of its intervals. The slope is that of `stats.series`
(Theil-Sen, Mann-Kendall). Throughput has the state that `steady` found second by second, so the two never contradict
each other. The percentile drifts where a slope as steep has a probability below `DRIFT_CHANCE` without any trend, and
moves it by `P99_RATIO` of its mean: percentiles of minutes vary more than means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.analyse.trial.condition_model import StateKind, SteadyState
from plimsoll.analyse.trial.histograms import DurationRows
from plimsoll.analyse.trial.stalls import Stall
from plimsoll.analyse.trial.steady import DRIFT_CHANCE
from plimsoll.analyse.trial.trial_model import Stretch, Trend, TrialSeries
from plimsoll.analyse.trial.window import WindowCounts
from plimsoll.record.histograms import BUCKET_COUNT, bucket_middle_ns
from plimsoll.stats.series import drift_of
from plimsoll.stats.variance import Series

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
        stretches=tuple(Stretch(from_s=stall.from_s, to_s=stall.to_s, kind="stall") for stall in stalls),
    )


def _is_cut_short(intervals: pl.DataFrame, interval_s: float) -> bool:
    """The last interval ended with the load, long before it was full: its rate says nothing."""
    places = intervals["interval"].to_numpy()
    lengths_s = (intervals["to_s"].to_numpy() - intervals["from_s"].to_numpy())[places == places.max()]
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
    positions = np.minimum(np.searchsorted(np.cumsum(counts), ranks), keys.size - 1)
    values = rounded(bucket_middle_ns(keys[positions] % BUCKET_COUNT) / 1e6)
    return tuple(value if total else None for value, total in zip(values.tolist(), totals.tolist(), strict=True))


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """To four significant digits."""
    safe = np.where(values > 0, values, 1.0)
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(safe)))
    rounded: NDArray[np.float64] = np.where(values > 0, np.round(np.round(safe * scale) / scale, 9), 0.0)
    return rounded


LONG_S = 600.0
"""From this length of the window on; a slope needs ten steps."""

STEP_S = 60.0
STEPS_MAX = 240
P99_RATIO = 0.10


@dataclass(frozen=True, slots=True)
class Steps:
    """A long window in steps; fields as in `LongTrial`."""

    step_s: float
    throughput_tps: tuple[float, ...]
    response_ms_p99: tuple[float | None, ...]
    throughput: Trend
    response: Trend | None


def steps_of(
    counts: WindowCounts, durations: DurationRows | None, steady: SteadyState | None, *, interval_s: float
) -> Steps | None:
    """The steps of a window; None for a short one.

    Args:
        counts: Of the window.
        durations: All histograms of the trial.
        steady: Its state.
        interval_s: Length of an interval, seconds.
    """
    rates = counts.rates_tps
    if steady is None or rates.size * interval_s < LONG_S:
        return None
    minute = max(round(STEP_S / interval_s), 1)
    each = minute * -(-rates.size // (STEPS_MAX * minute))
    size = rates.size // each
    means: Series = rates[: size * each].reshape(size, each).mean(axis=1)
    p99_ms = p99_ms_of_points(durations, each=each, count=size * each, first=counts.first)
    return Steps(
        step_s=each * interval_s,
        throughput_tps=tuple(rounded(means).tolist()),
        response_ms_p99=p99_ms,
        throughput=_throughput(rates, steady),
        response=_response(p99_ms),
    )


def _throughput(rates_tps: Series, steady: SteadyState) -> Trend:
    drift = drift_of(rates_tps)
    return Trend(state=steady.series[0].state, change_ratio=0.0 if drift is None else drift.change_ratio)


def _response(p99_ms: Sequence[float | None]) -> Trend | None:
    known = [value for value in p99_ms if value is not None]
    drift = drift_of(np.asarray(known)) if len(known) == len(p99_ms) else None
    if drift is None:
        return None
    drifts = drift.chance <= DRIFT_CHANCE and abs(drift.change_ratio) >= P99_RATIO
    return Trend(state=StateKind.DRIFTING if drifts else StateKind.STEADY, change_ratio=drift.change_ratio)
