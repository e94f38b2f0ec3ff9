"""When the instances of a trial completed nothing: stalls within its window, and silence to the end of the load."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from plimsoll.analyse.duration_rows import DurationRows
from plimsoll.analyse.histograms import SparseHistogram
from plimsoll.analyse.seen import as_one_replica, seen_by_instance
from plimsoll.analyse.silence import silent_from_s
from plimsoll.analyse.stalls import Stall, find_stalls
from plimsoll.analyse.window import WindowCounts
from plimsoll.record.model import Outcome, TrialRecord


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
        stalls += [replace(one, instance=named) for one in find_stalls(window, service, connections)]
        if (since_s := silent_from_s(window, after, service, connections)) is not None:
            silences.append(Silence(instance=instance, from_s=since_s))
    return Quiet(
        stalls=tuple(stalls),
        stalled_ratio=sum(one.length_s for one in stalls) / (counts.duration_s * max(len(seen), 1)),
        silence=silences[0] if silences else None,
    )
