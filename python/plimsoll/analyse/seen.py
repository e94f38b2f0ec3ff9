"""A trial interval by interval: what completed, and how old the oldest transaction was that had not.

Deliberately not here: what follows from that (`stalls`, `silence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from plimsoll.record.connections import OutageRecord
from plimsoll.record.frames import IN_FLIGHT

_AGE_RATIO = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenInterval:
    """What an interval completed.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end.
        oldest_s: How long the oldest transaction that was in flight at its end had lasted; None where that is not
            known.
        in_flight: Transactions that were in flight at its end; 0 where that is not known.
        is_out: A connection was lost and not back for some of it.
    """

    from_s: float
    to_s: float
    completed: int
    oldest_s: float | None = None
    in_flight: int = 0
    is_out: bool = False

    @property
    def length_s(self) -> float:
        """Seconds."""
        return self.to_s - self.from_s

    @property
    def is_wanted(self) -> bool:
        """Whether something was wanted while it lasted, as far as that is known."""
        return self.is_out or self.oldest_s is None or self.oldest_s >= _AGE_RATIO * self.length_s


def seen_by_instance(
    intervals: pl.DataFrame,
    histograms: pl.DataFrame | None,
    outages: Sequence[OutageRecord],
    *,
    count: int,
    interval_s: float,
) -> dict[str, list[SeenInterval]]:
    """Every interval of a trial by instance, in order and without gaps: one without rows completed nothing.

    Args:
        intervals: All of the trial (`frames.INTERVALS`).
        histograms: All of the trial (`frames.HISTOGRAMS`); None where there are none.
        outages: Of the trial.
        count: How many intervals there should be; there may be more.
        interval_s: Usual length of an interval, seconds.
    """
    lengths = pl.col("from_s").min(), pl.col("to_s").max()
    rows = intervals.group_by("instance", "interval").agg(*lengths, pl.col("completed").sum())
    found = {(one["instance"], one["interval"]): one for one in rows.iter_rows(named=True)}
    under_way = _under_way(histograms)
    size = max(count, 1 + max((interval for _, interval in found), default=-1))
    seen: dict[str, list[SeenInterval]] = {}
    for instance in sorted({instance for instance, _ in found}):
        for interval in range(size):
            usual = {"from_s": interval * interval_s, "to_s": (interval + 1) * interval_s, "completed": 0}
            one = found.get((instance, interval), usual)
            oldest_s, in_flight = (None, 0) if under_way is None else under_way.get((instance, interval), (0.0, 0))
            seen.setdefault(instance, []).append(
                SeenInterval(
                    from_s=one["from_s"],
                    to_s=one["to_s"],
                    completed=one["completed"],
                    oldest_s=oldest_s,
                    in_flight=in_flight,
                    is_out=_is_out(outages, instance, one["from_s"], one["to_s"]),
                )
            )
    return seen


def _under_way(histograms: pl.DataFrame | None) -> dict[tuple[str, int], tuple[float, int]] | None:
    """By instance and interval the oldest of what was in flight at its end, seconds, and how many; None if not kept."""
    if histograms is None:
        return None
    ages = histograms.filter(pl.col("measure") == f"{IN_FLIGHT}response")
    if ages.is_empty():
        return None
    counted = pl.col("counts").list.sum().sum()
    rows = ages.group_by("instance", "interval").agg(pl.col("max_ns").max(), counted)
    return {(instance, interval): (max_ns / 1e9, count) for instance, interval, max_ns, count in rows.iter_rows()}


def _is_out(outages: Sequence[OutageRecord], instance: str, from_s: float, to_s: float) -> bool:
    return any(
        one.instance == instance and one.from_s < to_s and (one.to_s is None or one.to_s > from_s) for one in outages
    )
