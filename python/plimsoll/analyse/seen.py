"""A trial interval by interval: what completed, and how old the oldest transaction was that had not.

Deliberately not here: what follows from that (`stalls`, `silence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from plimsoll.analyse.duration_rows import DurationRows
from plimsoll.analyse.replication.roles import REPLICA
from plimsoll.record.connections import OutageRecord
from plimsoll.record.frames import IN_FLIGHT

_AGE_RATIO = 0.5

REPLICAS = "replicas"
"""Stands for all replicas of a system."""


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
    durations: DurationRows | None,
    outages: Sequence[OutageRecord],
    *,
    count: int,
    interval_s: float,
) -> dict[str, list[SeenInterval]]:
    """Every interval of a trial by instance, in order and without gaps: one without rows completed nothing.

    Args:
        intervals: All of the trial (`frames.INTERVALS`).
        durations: All histograms of the trial; None where there are none.
        outages: Of the trial.
        count: How many intervals there should be; there may be more.
        interval_s: Usual length of an interval, seconds.
    """
    lengths = pl.col("from_s").min(), pl.col("to_s").max()
    rows = intervals.group_by("instance", "interval").agg(*lengths, pl.col("completed").sum())
    found = {(one["instance"], one["interval"]): one for one in rows.iter_rows(named=True)}
    under_way = _under_way(durations)
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


def as_one_replica(
    intervals: pl.DataFrame, durations: DurationRows | None, outages: Sequence[OutageRecord]
) -> tuple[pl.DataFrame, DurationRows | None, Sequence[OutageRecord]]:
    """All replicas under one name: where one is lost or gets no reads, the others answer them, and nothing stalls."""
    names = set(intervals.filter(pl.col("role") == REPLICA)["instance"].unique())
    if not names:
        return intervals, durations, outages
    renamed = pl.when(pl.col("instance").is_in(list(names))).then(pl.lit(REPLICAS)).otherwise(pl.col("instance"))
    if durations is not None:
        instances = [REPLICAS if one in names else one for one in durations.instances]
        durations = replace(durations, instances=np.array(instances, dtype=object))
    together = [one.model_copy(update={"instance": REPLICAS}) if one.instance in names else one for one in outages]
    return intervals.with_columns(renamed.alias("instance")), durations, together


def _under_way(durations: DurationRows | None) -> dict[tuple[str, int], tuple[float, int]] | None:
    """By instance and interval the oldest of what was in flight at its end, seconds, and how many; None if not kept."""
    if durations is None:
        return None
    ages = durations.only(durations.measures == f"{IN_FLIGHT}response")
    if ages.lengths.size == 0:
        return None
    found: dict[tuple[str, int], tuple[float, int]] = {}
    before = np.cumsum(np.concatenate(([0], ages.counts.astype(np.int64))))
    counted = np.diff(before[np.cumsum(ages.lengths)], prepend=0)
    rows = zip(ages.instances, ages.intervals.tolist(), ages.longest_ns.tolist(), counted.tolist(), strict=True)
    for instance, interval, longest_ns, count in rows:
        oldest_s, others = found.get((instance, interval), (0.0, 0))
        found[instance, interval] = max(oldest_s, longest_ns / 1e9), others + count
    return found


def _is_out(outages: Sequence[OutageRecord], instance: str, from_s: float, to_s: float) -> bool:
    return any(
        one.instance == instance and one.from_s < to_s and (one.to_s is None or one.to_s > from_s) for one in outages
    )
