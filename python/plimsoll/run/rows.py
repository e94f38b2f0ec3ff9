"""From the engine's intervals to the tables of a recording, and to what the live display shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from plimsoll.analyse.durations import percentile_ms
from plimsoll.analyse.histograms import SparseHistogram, merge
from plimsoll.drive.protocol import GroupInterval, Histogram, Interval
from plimsoll.record import frames

GROUP_METRICS = {"backlog_count": "transactions", "connected_count": "connections"}

_USED = ("cpu_user", "cpu_system", "run_delay")

ENGINE_METRICS = {**{f"{name}_s_per_s": "s/s" for name in _USED}, **GROUP_METRICS}
"""What the engine's intervals add to telemetry, with units; docs/telemetry.md says the same."""


@dataclass(slots=True)
class IntervalRows:
    """Rows of a recording's tables, gathered while a trial runs until somebody takes them.

    Attributes:
        driver: Name of the machine that drives the load.
        host: Name of the machine that the instances run on; empty when unknown.
        connected: Connections that were open at the end of the last interval, by instance.
        interval_count: How many intervals were taken in.
    """

    driver: str
    host: str
    _intervals: list[dict[str, Any]] = field(default_factory=list)
    _errors: list[dict[str, Any]] = field(default_factory=list)
    _histograms: list[dict[str, Any]] = field(default_factory=list)
    _client: list[dict[str, Any]] = field(default_factory=list)
    connected: dict[str, int] = field(default_factory=dict)
    interval_count: int = 0
    _errors_met: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, interval: Interval, *, began_unix_s: float) -> None:
        """Takes one interval in.

        Args:
            interval: As the engine sent it.
            began_unix_s: When interval 0 began, wall clock.
        """
        self.interval_count += 1
        for group in interval.groups:
            self._add_group(interval, group)
            self.connected[group.instance] = group.connected_count
        length_s = max((interval.to_ns - interval.from_ns) / 1e9, 1e-9)
        place = {"driver": self.driver, "host": self.driver, "instance": ""}
        at = {**place, "unix_s": began_unix_s + interval.to_ns / 1e9, "source": "engine"}
        for group in interval.groups:
            place = {"host": self.host, "instance": group.instance}
            self._client.extend(
                {**at, **place, "metric": metric, "value": float(getattr(group, metric))} for metric in GROUP_METRICS
            )
        for name, used_ns in zip(
            _USED, (interval.client.user_ns, interval.client.system_ns, interval.run_delay_ns), strict=True
        ):
            if used_ns is not None:
                self._client.append({**at, "metric": f"{name}_s_per_s", "value": used_ns / 1e9 / length_s})

    def _add_group(self, interval: Interval, group: GroupInterval) -> None:
        key = {"driver": self.driver, "host": self.host, "instance": group.instance, "interval": interval.index}
        span = {"from_s": interval.from_ns / 1e9, "to_s": interval.to_ns / 1e9}
        for name, transaction in group.snapshot.transactions.items():
            self._intervals.append({**key, **span, "transaction": name, **transaction.counts.model_dump()})
            self._histograms.extend(
                {**key, "transaction": name, "measure": measure, **_compact(histogram)}
                for measure, histogram in transaction.histograms.items()
            )
        self._histograms.extend(
            {**key, "transaction": "", "measure": f"{frames.IN_FLIGHT}{measure}", **_compact(ages)}
            for measure, ages in group.in_flight.items()
        )
        for e in group.snapshot.errors:
            self._errors.append(
                {**key, "transaction": e.transaction, "class": e.error_class, "code": e.code, "count": e.count}
            )
            self._errors_met[e.error_class, e.code] += e.count

    def take(self) -> dict[str, pl.DataFrame]:
        """The rows since they were last taken, by the file of their table; of telemetry the engine's part."""
        taken = {
            "intervals.parquet": pl.DataFrame(self._intervals, schema=frames.INTERVALS),
            "errors.parquet": pl.DataFrame(self._errors, schema=frames.ERRORS),
            "histograms.parquet": pl.DataFrame(self._histograms, schema=frames.HISTOGRAMS),
            "telemetry.parquet": pl.DataFrame(self._client, schema=frames.TELEMETRY),
        }
        self._intervals, self._errors, self._histograms, self._client = [], [], [], []
        return taken

    def told_errors(self, most: int = 3) -> str:
        """The most frequent errors of the whole trial, as words that follow a message; empty when there were none."""
        told = [f"{code} ({kind}) {count:,} times" for (kind, code), count in self._errors_met.most_common(most)]
        return f"; errors: {', '.join(told)}" if told else ""


def _compact(histogram: Histogram) -> dict[str, Any]:
    """Its columns; arrays take an eighth of the memory of lists."""
    return {
        "buckets": np.asarray(histogram.buckets, dtype=np.uint32),
        "counts": np.asarray(histogram.counts, dtype=np.uint64),
        "sum_ns": histogram.sum_ns,
        "max_ns": histogram.max_ns,
    }


def oldest_in_flight_ms(interval: Interval) -> float | None:
    """How old the oldest transaction in flight at the end of an interval was, milliseconds; None without any."""
    ages = [group.in_flight["response"].max_ns for group in interval.groups if "response" in group.in_flight]
    return max(ages) / 1e6 if ages else None


def response_ms_p99(intervals: Sequence[Interval]) -> float | None:
    """The 99th percentile of response time over all given intervals, milliseconds, as guides define it.

    None when too few completed for one to lie beyond it.
    """
    response = responses(intervals)
    return None if response is None else percentile_ms(response, 0.99)


def responses(intervals: Sequence[Interval]) -> SparseHistogram | None:
    """Response times of all given intervals, instances and types together; None when nothing completed."""
    found = [
        SparseHistogram(
            np.asarray(histogram.buckets, dtype=np.int64),
            np.asarray(histogram.counts, dtype=np.int64),
            histogram.sum_ns,
            histogram.max_ns,
        )
        for interval in intervals
        for group in interval.groups
        for transaction in group.snapshot.transactions.values()
        if (histogram := transaction.histograms.get("response")) is not None and histogram.counts
    ]
    return merge(found)
