"""When more arrived than could be done, and how long it took to work that off. Only load at a rate has overload.

An interval is overloaded when arrivals were dropped in it, or when more wait at its end than it completed: working them
off would take longer than an interval. The overload lasts from when more than one transaction for each
connection began to wait until no more than that do. Its length is known to one interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl


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


def interval_loads(intervals: pl.DataFrame, telemetry: pl.DataFrame | None) -> list[IntervalLoad]:
    """Every interval of one trial with what waited at its end.

    Args:
        intervals: All of the trial (`frames.INTERVALS`).
        telemetry: All of the trial (`frames.TELEMETRY`).

    Returns:
        Nothing where the recording does not say what waited.
    """
    if telemetry is None:
        return []
    waits = telemetry.filter((pl.col("source") == "engine") & (pl.col("metric") == "backlog_count"))
    if waits.is_empty():
        return []
    waiting = waits.group_by("unix_s").agg(pl.col("value").sum()).sort("unix_s")["value"].to_list()
    ends = pl.col("to_s").max(), pl.col("completed").sum(), pl.col("dropped").sum()
    rows = intervals.group_by("interval").agg(pl.col("from_s").min(), *ends).sort("interval")
    if rows.height != len(waiting):
        return []
    return [
        IntervalLoad(from_s=from_s, to_s=to_s, completed=completed, dropped=dropped, waiting=int(wait))
        for (_, from_s, to_s, completed, dropped), wait in zip(rows.iter_rows(), waiting, strict=True)
    ]


def overloads(loads: Sequence[IntervalLoad], connections: int) -> tuple[Overload, ...]:
    """Finds the overloads of one trial, in order.

    Args:
        loads: Its intervals in order, without gaps.
        connections: That the load had.
    """
    found: list[Overload] = []
    stretch: list[IntervalLoad] = []
    for load in loads:
        if load.waiting > connections or load.dropped > 0:
            stretch.append(load)
            continue
        found.extend(_overload(stretch, load.to_s))
        stretch = []
    return (*found, *_overload(stretch, None))


def _overload(stretch: Sequence[IntervalLoad], to_s: float | None) -> list[Overload]:
    if not any(one.dropped > 0 or one.waiting > one.completed for one in stretch):
        return []
    return [
        Overload(
            from_s=stretch[0].from_s,
            to_s=to_s,
            waiting_max=max(one.waiting for one in stretch),
            dropped=sum(one.dropped for one in stretch),
        )
    ]
