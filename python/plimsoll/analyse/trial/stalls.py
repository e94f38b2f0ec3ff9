"""Stretches of a run in which nothing completed, or nearly nothing, though something was wanted.

Silence is a stall that lasts to the end of the load. `SeenInterval` is what an interval shows of it: what completed,
and how old the oldest transaction was that had not.

An interval is *quiet* when it completed at most 5 % of what the run's own mean makes of its length, and something was
in flight at its end that had lasted for at least half of it, or a connection was lost: where nobody wanted anything,
nothing completes. Older recordings and logs of other tools do not say what was in flight and are judged without it.
Neighbouring quiet intervals are a stretch. It is a *stall* when

* chance does not explain it: if transactions completed independently of each other at the run's mean rate, such a
  stretch would be found in fewer than 1 of 1,000 runs (Poisson, over as many places as the run has intervals). The mean
  includes the stall, which makes the test milder. So single seconds of a workload of a few transactions per second are
  none;
* transactions do not usually take as long: it is more than twice as long as the median service time;
* it is no coincidence of slow transactions. Connections that run them independently of each other are all in one for
  some of the time: the share of their time that is spent in such, to the power of their number. Where that makes 70 %
  of the stretches or more, none is a stall, unless there are fewer than three and hardly more slow transactions than
  they caught. With one connection nothing tells a slow transaction from a stall, and stretches count.

A stretch is known to one interval at either end.

Whether the server had fallen silent when the load ended: connections were open, and nothing came back any more. It is
a stall that lasts to the end of the window, after which nothing completed either, while something never ended. Where
as many never ended as there are connections, all of them hung: then the seconds in which they were waited for after
the window belong to the stall as well, so that it is also seen when it began shortly before the window's end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from plimsoll.analyse.trial.histograms import DurationRows, SparseHistogram
from plimsoll.analyse.trial.instances import replicas_in
from plimsoll.analyse.trial.window import WindowCounts
from plimsoll.record.frames import IN_FLIGHT
from plimsoll.record.model import OutageRecord, Outcome, TrialRecord
from plimsoll.stats.significance import chance_of_at_most

_QUIET_RATIO = 0.05
_CHANCE = 0.001
_USUAL_TIMES = 2.0
_COINCIDENCE_RATIO = 0.7
_CAUGHT_TIMES = 2
_CONNECTIONS_NEEDED, _STRETCHES_NEEDED = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A stretch of a run in which nothing, or nearly nothing, completed.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end.
        completed: Transactions that completed in it all the same.
        instance: That stalled, where a system has several; None where it has one.
    """

    from_s: float
    to_s: float
    completed: int
    instance: str | None = None

    @property
    def length_s(self) -> float:
        """Seconds."""
        return self.to_s - self.from_s


def find_stalls(
    intervals: Sequence[SeenInterval], service: SparseHistogram | None, connections: int
) -> tuple[Stall, ...]:
    """The stalls of one instance, in order.

    Args:
        intervals: In order, without gaps.
        service: Service times of what completed; None where they are not known.
        connections: That the load had.
    """
    length_s = sum(interval.length_s for interval in intervals)
    rate_tps = sum(interval.completed for interval in intervals) / length_s if length_s > 0 else 0.0
    stretches = list(_stretches(intervals, _QUIET_RATIO * rate_tps))
    if _is_coincidence(stretches, service, connections, length_s):
        return ()
    chance = _CHANCE / max(len(intervals), 1)
    return tuple(
        stretch
        for stretch in stretches
        if chance_of_at_most(stretch.completed, rate_tps * stretch.length_s) < chance
        and not _is_usual(stretch.length_s, service)
    )


def _stretches(intervals: Iterable[SeenInterval], quiet_tps: float) -> Iterator[Stall]:
    stretch: Stall | None = None
    for interval in intervals:
        if interval.completed <= quiet_tps * interval.length_s and interval.is_wanted:
            begun = stretch or Stall(from_s=interval.from_s, to_s=interval.from_s, completed=0)
            stretch = replace(begun, to_s=interval.to_s, completed=begun.completed + interval.completed)
        elif stretch is not None:
            yield stretch
            stretch = None
    if stretch is not None:
        yield stretch


def _is_usual(length_s: float, service: SparseHistogram | None) -> bool:
    """Whether most transactions take about as long."""
    if service is None or service.total == 0:
        return False
    median = int(np.searchsorted(np.cumsum(service.counts), service.total / 2))
    return length_s * 1e9 <= _USUAL_TIMES * float(service.middles_ns()[median])


def _is_coincidence(
    stretches: Sequence[Stall], service: SparseHistogram | None, connections: int, length_s: float
) -> bool:
    """Whether connections that run slow transactions independently of each other are all in one as often as that."""
    if service is None or connections < _CONNECTIONS_NEEDED or not stretches:
        return False
    times_s = service.middles_ns() / 1e9
    is_slow = times_s >= min(stretch.length_s for stretch in stretches)
    slow_ratio = min(float(service.counts[is_slow] @ times_s[is_slow]) / (connections * length_s), 1.0)
    is_caught = service.counts[is_slow].sum() <= _CAUGHT_TIMES * connections * len(stretches)
    if is_caught and len(stretches) < _STRETCHES_NEEDED:
        return False
    expected_s = length_s * slow_ratio**connections
    return expected_s >= _COINCIDENCE_RATIO * sum(stretch.length_s for stretch in stretches)


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
    by_interval = _added_up(intervals)
    under_way = _under_way(durations)
    size = max(count, 1 + max((interval for _, interval in by_interval), default=-1))
    seen: dict[str, list[SeenInterval]] = {}
    for instance in sorted({instance for instance, _ in by_interval}):
        for interval in range(size):
            usual = (interval * interval_s, (interval + 1) * interval_s, 0)
            from_s, to_s, completed = by_interval.get((instance, interval), usual)
            oldest_s, in_flight = (None, 0) if under_way is None else under_way.get((instance, interval), (0.0, 0))
            seen.setdefault(instance, []).append(
                SeenInterval(
                    from_s=from_s,
                    to_s=to_s,
                    completed=completed,
                    oldest_s=oldest_s,
                    in_flight=in_flight,
                    is_out=_is_out(outages, instance, from_s, to_s),
                )
            )
    return seen


def _added_up(intervals: pl.DataFrame) -> dict[tuple[str, int], tuple[float, float, int]]:
    """By instance and interval when it began, when it ended, and what completed."""
    by_interval: dict[tuple[str, int], tuple[float, float, int]] = {}
    columns = (intervals[name].to_list() for name in ("instance", "interval", "from_s", "to_s", "completed"))
    for instance, interval, from_s, to_s, completed in zip(*columns, strict=True):
        first_s, last_s, others = by_interval.get((instance, interval), (from_s, to_s, 0))
        by_interval[instance, interval] = min(first_s, from_s), max(last_s, to_s), others + completed
    return by_interval


def as_one_replica(
    intervals: pl.DataFrame, durations: DurationRows | None, outages: Sequence[OutageRecord]
) -> tuple[pl.DataFrame, DurationRows | None, Sequence[OutageRecord]]:
    """All replicas under one name: where one is lost or gets no reads, the others answer them, and nothing stalls."""
    names = replicas_in(intervals)
    if not names:
        return intervals, durations, outages
    renamed = pl.when(pl.col("instance").is_in(list(names))).then(pl.lit(REPLICAS)).otherwise(pl.col("instance"))
    if durations is not None:
        instances = [REPLICAS if instance in names else instance for instance in durations.instances]
        durations = replace(durations, instances=np.array(instances, dtype=object))
    together = [
        outage.model_copy(update={"instance": REPLICAS}) if outage.instance in names else outage for outage in outages
    ]
    return intervals.with_columns(renamed.alias("instance")), durations, together


def _under_way(durations: DurationRows | None) -> dict[tuple[str, int], tuple[float, int]] | None:
    """By instance and interval the oldest of what was in flight at its end, seconds, and how many; None if not kept."""
    if durations is None:
        return None
    ages = durations.only(durations.measures == f"{IN_FLIGHT}response")
    if ages.lengths.size == 0:
        return None
    by_interval: dict[tuple[str, int], tuple[float, int]] = {}
    before = np.cumsum(np.concatenate(([0], ages.counts.astype(np.int64))))
    counted = np.diff(before[np.cumsum(ages.lengths)], prepend=0)
    rows = zip(ages.instances, ages.intervals.tolist(), ages.longest_ns.tolist(), counted.tolist(), strict=True)
    for instance, interval, longest_ns, count in rows:
        oldest_s, others = by_interval.get((instance, interval), (0.0, 0))
        by_interval[instance, interval] = max(oldest_s, longest_ns / 1e9), others + count
    return by_interval


def _is_out(outages: Sequence[OutageRecord], instance: str, from_s: float, to_s: float) -> bool:
    return any(
        outage.instance == instance and outage.from_s < to_s and (outage.to_s is None or outage.to_s > from_s)
        for outage in outages
    )


def silent_from_s(
    window: Sequence[SeenInterval], after: Sequence[SeenInterval], service: SparseHistogram | None, connections: int
) -> float | None:
    """Since when an instance was silent, seconds since the load began; None when it was not.

    Args:
        window: The measured intervals of the instance.
        after: Those that came after them.
        service: Service times of what completed in the window; None where they are not known.
        connections: That the instance had.
    """
    hung = (after or window)[-1].in_flight if window else 0
    if hung == 0 or any(interval.completed for interval in after):
        return None
    series = [*window, *after] if hung >= connections else window
    stalls = find_stalls(series, service, connections)
    return stalls[-1].from_s if stalls and stalls[-1].to_s == series[-1].to_s else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """An instance that answered nothing any more when the load ended.

    Attributes:
        from_s: Since when, seconds since the load began.
    """

    instance: str
    from_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """When nothing completed.

    Attributes:
        stalls: In the measured window, by instance and time.
        stalled_ratio: Their share of the window, 0..1; of several instances the mean.
        silence: Of the first instance that was silent to the end; None when none was.
    """

    stalls: tuple[Stall, ...] = ()
    stalled_ratio: float = 0.0
    silence: Silence | None = None


def quiet_of(
    trial: TrialRecord,
    outcome: Outcome,
    tables: tuple[pl.DataFrame, DurationRows | None],
    service: SparseHistogram | None,
    counts: WindowCounts,
) -> Quiet:
    """Looks for stalls in a trial.

    Args:
        trial: What was planned.
        outcome: What became of it.
        tables: All of its intervals (`frames.INTERVALS`) and histograms.
        service: Service times of the window.
        counts: Of the window.
    """
    rows, durations, outages = as_one_replica(*tables, outcome.outages)
    seen = seen_by_instance(rows, durations, outages, count=counts.last + 1, interval_s=trial.interval_s)
    opened = outcome.connections.opened_count if outcome.connections is not None else trial.level.connections
    connections = max(opened // max(len(seen), 1), 1)
    stalls: list[Stall] = []
    silences: list[Silence] = []
    for instance, intervals in seen.items():
        window, after = intervals[counts.first : counts.last + 1], intervals[counts.last + 1 :]
        named = instance if len(seen) > 1 else None
        stalls += [replace(stall, instance=named) for stall in find_stalls(window, service, connections)]
        if (since_s := silent_from_s(window, after, service, connections)) is not None:
            silences.append(Silence(instance=instance, from_s=since_s))
    return Quiet(
        stalls=tuple(stalls),
        stalled_ratio=sum(stall.length_s for stall in stalls) / (counts.duration_s * max(len(seen), 1)),
        silence=silences[0] if silences else None,
    )
