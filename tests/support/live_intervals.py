"""Intervals as observers of a run get them, with durations of a test's choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from plimsoll.drive.protocol import Counts, Histogram
from plimsoll.record.histograms import bucket_of_ns
from plimsoll.record.level import Level
from plimsoll.record.model import State, Window
from plimsoll.run.live import LiveErrors, LiveInterval, LiveSample, LiveTransactions

ZERO = dict.fromkeys(Counts.model_fields, 0)


def fine_histogram(durations_ns: Sequence[int]) -> Histogram:
    """As the engine counts durations."""
    counted = Counter(bucket_of_ns(np.asarray(durations_ns, dtype=np.int64)).tolist())
    buckets = sorted(counted)
    return Histogram(
        buckets=buckets,
        counts=[counted[bucket] for bucket in buckets],
        sum_ns=sum(durations_ns),
        max_ns=max(durations_ns, default=0),
    )


def live_interval_of(
    durations_ns: Mapping[str, Sequence[int]],
    *,
    index: int = 0,
    system: str = "a",
    level: Level | None = None,
    state: State = State.MEASURE,
    counts: Mapping[str, int] | None = None,
    errors: Sequence[tuple[str, int, int]] = (),
    lag_s: Mapping[str, float] | None = None,
    telemetry: Sequence[LiveSample] = (),
) -> LiveInterval:
    """One second.

    Args:
        durations_ns: Response times of those that completed, by transaction type.
        index: Of the interval.
        system: Whose.
        level: What is offered; 4 connections by default.
        state: Which it belongs to.
        counts: Further counts of each type.
        errors: Class, code and count of each.
        lag_s: Of replicas.
        telemetry: The last samples.
    """
    transactions = {
        name: LiveTransactions(
            counts=Counts(**{**ZERO, "completed": len(durations), **(counts or {})}),
            response=fine_histogram(durations) if durations else None,
        )
        for name, durations in durations_ns.items()
    }
    return LiveInterval(
        trial_id="t", system=system, workload="w", level=level or Level(connections=4), index=index,
        unix_s=1000.0 + index, length_s=1.0, transactions=transactions,
        window=None if state is State.WARM else Window(first=0, last=index),
        errors=tuple(LiveErrors(error_class=kind, code=code, count=count) for kind, code, count in errors),
        connected_count=4, waiting_count=2, in_flight_count=3, in_flight_ms_max=1500.0, client_cores=0.5,
        lag_s=dict(lag_s or {}), telemetry=tuple(telemetry),
    )  # fmt: skip
