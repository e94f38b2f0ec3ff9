"""What happened in the measured window of one trial: counts, throughput second by second, and overload.

Each interval counts with its real length; the last one of a trial may be shorter. Intervals much shorter than the
others count in the totals but not in the series, whose values must be comparable.

When more arrived than could be done, and how long it took to work that off. Only load at a rate has overload. An
interval is overloaded when arrivals were dropped in it, or when more wait at its end than it completed: working them
off would take longer than an interval. The overload lasts from when more than one transaction for each connection
began to wait until no more than that do. Its length is known to one interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.record.model import Outcome, TrialRecord, Window
from plimsoll.stats.variance import Series

if TYPE_CHECKING:
    from plimsoll.analyse.trial.samples import Telemetry

_COUNTED = ("completed", "failed", "dropped", "retries", "rows_returned", "rows_affected")
_SHORT_RATIO = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCounts:
    """Counts over the measured window of one trial, all instances and transaction types together.

    Attributes:
        first: The first interval that counts.
        last: The last one.
        duration_s: Length of the window, seconds.
        rates_tps: Completed transactions per second of each interval of full length, in order.
        statements_of_trial: Statements of the whole trial, warm-up included.
        ended_of_trial: `completed`, `failed` and `dropped` of the whole trial.
    """

    first: int
    last: int
    duration_s: float
    rates_tps: Series = field(repr=False)
    completed: int
    failed: int
    dropped: int
    retries: int
    rows_returned: int
    rows_affected: int
    statements: int
    statements_of_trial: int
    ended_of_trial: dict[str, int] = field(default_factory=dict)

    @property
    def throughput_tps(self) -> float:
        """Completed transactions per second."""
        return self.completed / self.duration_s


def inside(rows: pl.DataFrame, window: Window | None) -> pl.DataFrame:
    """The rows whose interval lies in the window; all rows when there is none."""
    if window is None:
        return rows
    intervals = rows["interval"].to_numpy()
    return rows_where(rows, (intervals >= window.first) & (intervals <= window.last))


def rows_where(rows: pl.DataFrame, wanted: NDArray[np.bool_]) -> pl.DataFrame:
    """The rows that are marked, in their order: a query of polars takes longer than small tables are worth.

    Args:
        rows: Any table.
        wanted: Shape (rows,).
    """
    if wanted.all():
        return rows
    places = np.flatnonzero(wanted)
    if places.size and places[-1] - places[0] == places.size - 1:
        return rows.slice(int(places[0]), places.size)
    return rows[places]


def count_window(
    intervals: pl.DataFrame, measured: pl.DataFrame, window: Window | None, interval_s: float
) -> WindowCounts | None:
    """Adds up the window of one trial.

    An interval without rows is one in which nothing completed: it counts with no transactions and the usual length.

    Args:
        intervals: All of the trial (`frames.INTERVALS`).
        measured: Those of them that lie in the window.
        window: Which count; None for all that have rows.
        interval_s: Planned length of an interval, seconds.

    Returns:
        None when there are no intervals at all.
    """
    indexes = _indexes(measured, window)
    if indexes.size == 0:
        return None
    lengths_s, completed = _by_interval(measured, indexes, interval_s)
    full = lengths_s >= _SHORT_RATIO * float(np.median(lengths_s))
    totals = {name: int(measured[name].sum()) for name in _COUNTED}
    return WindowCounts(
        first=int(indexes[0]),
        last=int(indexes[-1]),
        duration_s=float(lengths_s.sum()),
        rates_tps=completed[full] / lengths_s[full],
        statements=_statements(measured),
        statements_of_trial=_statements(intervals),
        ended_of_trial={name: int(intervals[name].sum()) for name in ("completed", "failed", "dropped")},
        **totals,
    )


def counts_of(trial: TrialRecord, outcome: Outcome, intervals: pl.DataFrame) -> WindowCounts | None:
    """The same of a recording.

    Args:
        trial: What was planned.
        outcome: Its window.
        intervals: All that it has (`frames.INTERVALS`).
    """
    return count_window(intervals, inside(intervals, outcome.window), outcome.window, trial.interval_s)


def throughput_tps(outcome: Outcome, counts: WindowCounts) -> float:
    """Completed transactions per second: as the source of an import states it, else as it was counted."""
    return counts.throughput_tps if outcome.reported is None else outcome.reported.throughput_tps


def _statements(rows: pl.DataFrame) -> int:
    return sum(int(rows[name].sum()) for name in ("reads", "writes", "others"))


def _indexes(measured: pl.DataFrame, window: Window | None) -> NDArray[np.int64]:
    if window is not None:
        return np.arange(window.first, window.last + 1)
    return np.sort(measured["interval"].unique().to_numpy().astype(np.int64))


def _by_interval(measured: pl.DataFrame, indexes: NDArray[np.int64], interval_s: float) -> tuple[Series, Series]:
    place = np.searchsorted(indexes, measured["interval"].to_numpy().astype(np.int64))
    began_s, ended_s = np.full(indexes.size, np.inf), np.full(indexes.size, -np.inf)
    np.minimum.at(began_s, place, measured["from_s"].to_numpy())
    np.maximum.at(ended_s, place, measured["to_s"].to_numpy())
    has_rows = np.isfinite(began_s)
    lengths_s = np.full(indexes.size, interval_s)
    lengths_s[has_rows] = (ended_s - began_s)[has_rows]
    completed = np.zeros(indexes.size)
    np.add.at(completed, place, measured["completed"].to_numpy())
    has_length = lengths_s > 0
    return lengths_s[has_length], completed[has_length]


@dataclass(frozen=True, slots=True)
class IntervalSums:
    """Every interval of a trial that has rows, all drivers, servers and types together; arrays of one shape, in order.

    Attributes:
        intervals: Which they are.
        from_s: When each began, seconds since the load began.
        to_s: When it ended.
        completed: Transactions; so are those that were dropped.
    """

    intervals: NDArray[np.int64]
    from_s: Series
    to_s: Series
    completed: NDArray[np.int64]
    dropped: NDArray[np.int64]


def interval_sums(rows: pl.DataFrame) -> IntervalSums:
    """Adds up the rows of each interval.

    Args:
        rows: Of one trial (`frames.INTERVALS`).
    """
    intervals, place = np.unique(rows["interval"].to_numpy().astype(np.int64), return_inverse=True)
    began_s, ended_s = np.full(intervals.size, np.inf), np.full(intervals.size, -np.inf)
    np.minimum.at(began_s, place, rows["from_s"].to_numpy())
    np.maximum.at(ended_s, place, rows["to_s"].to_numpy())
    counts = [np.zeros(intervals.size, dtype=np.int64) for _ in range(2)]
    for count, name in zip(counts, ("completed", "dropped"), strict=True):
        np.add.at(count, place, rows[name].to_numpy().astype(np.int64))
    return IntervalSums(intervals, began_s, ended_s, *counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalLoad:
    """One interval, all instances together.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end.
        waiting: Transactions that were due at its end and that no connection was free for.
    """

    from_s: float
    to_s: float
    completed: int
    dropped: int
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overload:
    """A stretch of time in which more was wanted than could be done.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end; None when the load ended before it.
        waiting_max: The longest backlog at the end of an interval, transactions.
        dropped: Transactions that were given up.
    """

    from_s: float
    to_s: float | None
    waiting_max: int
    dropped: int

    def recovery_s(self, falls_s: Sequence[float]) -> float | None:
        """From the last time that the target rate fell within the overload until its end, seconds.

        Args:
            falls_s: When the target rate fell, seconds since the load began.

        Returns:
            None where the rate did not fall, or the overload did not end.
        """
        within = [at_s for at_s in falls_s if self.to_s is not None and self.from_s <= at_s < self.to_s]
        return None if self.to_s is None or not within else self.to_s - max(within)


def interval_loads(sums: IntervalSums, telemetry: Telemetry) -> list[IntervalLoad]:
    """Every interval of one trial with what waited at its end; nothing where the recording does not say what waited.

    Args:
        sums: All of the trial.
        telemetry: Of the trial.
    """
    waiting: dict[float, float] = defaultdict(float)
    for samples in telemetry.of("engine", ("backlog_count",)):
        for unix_s, count in zip(samples.unix_s.tolist(), samples.values.tolist(), strict=True):
            waiting[unix_s] += count
    if sums.intervals.size != len(waiting):
        return []
    columns = (sums.from_s.tolist(), sums.to_s.tolist(), sums.completed.tolist(), sums.dropped.tolist())
    return [
        IntervalLoad(from_s=from_s, to_s=to_s, completed=completed, dropped=dropped, waiting=int(wait))
        for from_s, to_s, completed, dropped, (_, wait) in zip(*columns, sorted(waiting.items()), strict=True)
    ]


def overloads(loads: Sequence[IntervalLoad], connections: int) -> tuple[Overload, ...]:
    """Finds the overloads of one trial, in order.

    Args:
        loads: Its intervals in order, without gaps.
        connections: That the load had.
    """
    ended: list[Overload] = []
    stretch: list[IntervalLoad] = []
    for load in loads:
        if load.waiting > connections or load.dropped > 0:
            stretch.append(load)
            continue
        ended.extend(_overload(stretch, load.to_s))
        stretch = []
    return (*ended, *_overload(stretch, None))


def _overload(stretch: Sequence[IntervalLoad], to_s: float | None) -> list[Overload]:
    if not any(load.dropped > 0 or load.waiting > load.completed for load in stretch):
        return []
    return [
        Overload(
            from_s=stretch[0].from_s,
            to_s=to_s,
            waiting_max=max(load.waiting for load in stretch),
            dropped=sum(load.dropped for load in stretch),
        )
    ]
