"""From the engine's intervals to the tables of a recording, to what the live display shows, and to the knee of a ramp.

Whether the answers of a running ramp are late by now is the rule of `analyse.study.capacities`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from plimsoll.analyse.study.capacities import knee_at
from plimsoll.analyse.trial.histograms import NOTHING, SparseHistogram, merge, percentile_ms
from plimsoll.drive.merging import SharedInterval
from plimsoll.drive.protocol import GroupInterval, Histogram, Interval, ReplicationInterval
from plimsoll.record import frames
from plimsoll.record.histograms import bucket_of_ns

GROUP_METRICS = {"backlog_count": "transactions", "connected_count": "connections"}

_USED = ("cpu_user", "cpu_system", "run_delay")

ENGINE_METRICS = {**{f"{name}_s_per_s": "s/s" for name in _USED}, **GROUP_METRICS}
"""What the engine's intervals add to telemetry, with units; docs/telemetry.md says the same."""


@dataclass(slots=True)
class IntervalRows:
    """Rows of a recording's tables, gathered while a trial runs until somebody takes them.

    Attributes:
        driver: Name of the machine that drives the load; where several do, each has rows under its own name.
        host: Name of the machine that the instances run on; empty when unknown.
        connected: Connections to sources that were open at the end of the last interval, by instance.
    """

    driver: str
    host: str
    _intervals: list[dict[str, Any]] = field(default_factory=list)
    _errors: list[dict[str, Any]] = field(default_factory=list)
    _histograms: list[dict[str, Any]] = field(default_factory=list)
    _client: list[dict[str, Any]] = field(default_factory=list)
    _turns: list[dict[str, Any]] = field(default_factory=list)
    _replication: list[dict[str, Any]] = field(default_factory=list)
    connected: dict[str, int] = field(default_factory=dict)
    _errors_met: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, interval: Interval, *, began_unix_s: float) -> None:
        """Takes one interval in.

        Args:
            interval: As the engine sent it.
            began_unix_s: When interval 0 began, wall clock.
        """
        parts = interval.parts if isinstance(interval, SharedInterval) else {self.driver: interval}
        for driver, part in parts.items():
            self._add_part(driver, part, unix_s=began_unix_s + interval.to_ns / 1e9)
        sources = [group for group in interval.groups if group.role == "source"]
        self.connected.update({group.instance: group.connected_count for group in sources})

    def _add_part(self, driver: str, interval: Interval, *, unix_s: float) -> None:
        """What one driver did; `unix_s` is the same for all, so that their samples can be added up."""
        for group in interval.groups:
            self._add_group(driver, interval, group)
        length_s = max((interval.to_ns - interval.from_ns) / 1e9, 1e-9)
        at = {"driver": driver, "host": driver, "instance": "", "unix_s": unix_s, "source": "engine"}
        for group in interval.groups:
            if group.role == "source":
                place = {"host": self.host, "instance": group.instance}
                self._client.extend(
                    {**at, **place, "metric": name, "value": float(getattr(group, name))} for name in GROUP_METRICS
                )
        for name, used_ns in zip(
            _USED, (interval.client.user_ns, interval.client.system_ns, interval.run_delay_ns), strict=True
        ):
            if used_ns is not None:
                self._client.append({**at, "metric": f"{name}_s_per_s", "value": used_ns / 1e9 / length_s})

    def _add_group(self, driver: str, interval: Interval, group: GroupInterval) -> None:
        place = {"driver": driver, "host": self.host, "instance": group.instance, "role": group.role}
        key = {**place, "interval": interval.index}
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
        if group.replication is not None:
            self._replication.append({**key, **_replication(group.replication)})

    def add_turn(self, turn: Mapping[str, Any]) -> None:
        """Takes a turn of a duet in, as a row of `frames.TURNS` without its place."""
        self._turns.append({"driver": self.driver, "host": self.host, "instance": "", **turn})

    def take(self) -> dict[str, pl.DataFrame]:
        """The rows since they were last taken, by the file of their table; of telemetry the engine's part."""
        taken = {
            "intervals.parquet": pl.DataFrame(self._intervals, schema=frames.INTERVALS),
            "errors.parquet": pl.DataFrame(self._errors, schema=frames.ERRORS),
            "histograms.parquet": pl.DataFrame(self._histograms, schema=frames.HISTOGRAMS),
            "telemetry.parquet": pl.DataFrame(self._client, schema=frames.TELEMETRY),
        }
        if self._turns:
            taken["turns.parquet"] = pl.DataFrame(self._turns, schema=frames.TURNS)
        if self._replication:
            taken["replication.parquet"] = pl.DataFrame(self._replication, schema=frames.REPLICATION)
        self._intervals, self._errors, self._histograms, self._client = [], [], [], []
        self._turns, self._replication = [], []
        return taken

    def told_errors(self, most: int = 3) -> str:
        """The most frequent errors of the whole trial, as words that follow a message; empty when there were none."""
        errors = [f"{code} ({kind}) {count:,} times" for (kind, code), count in self._errors_met.most_common(most)]
        return f"; errors: {', '.join(errors)}" if errors else ""


def _replication(part: ReplicationInterval) -> dict[str, Any]:
    """Its columns."""
    return {
        "lag_s": None if part.lag_ns is None else part.lag_ns / 1e9,
        "lag_end_s": None if part.lag_end_ns is None else part.lag_end_ns / 1e9,
        "reads": part.reads_count,
        "stale_reads": part.stale_count,
        "waits": part.waits_count,
        "wait_s": part.wait_ns / 1e9,
        "wait_timeouts": part.wait_timeouts_count,
    }


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
    histogram = merged(
        transaction.histograms.get("response")
        for interval in intervals
        for group in interval.groups
        for transaction in group.snapshot.transactions.values()
    )
    return histogram if histogram.total else None


def merged(histograms: Iterable[Histogram | None]) -> SparseHistogram:
    """Histograms of the engine's as one, as the analysis reads them."""
    sparse = [
        SparseHistogram(
            np.asarray(histogram.buckets, dtype=np.int64),
            np.asarray(histogram.counts, dtype=np.int64),
            histogram.sum_ns,
            histogram.max_ns,
        )
        for histogram in histograms
        if histogram is not None and histogram.counts
    ]
    return merge(sparse) or NOTHING


@dataclass(slots=True)
class KneeWatch:
    """Takes in what a ramp's intervals say of late answers.

    Attributes:
        limit_ms: An answer that takes longer is late, milliseconds.
    """

    limit_ms: float
    _ended: list[float] = field(default_factory=list)
    _late: list[float] = field(default_factory=list)
    _waiting: list[float] = field(default_factory=list)

    def reached(self, interval: Interval) -> bool:
        """Whether most answers were late by the end of the next interval."""
        groups = interval.groups
        counts = [transaction.counts for group in groups for transaction in group.snapshot.transactions.values()]
        lost = sum(count.failed + count.dropped for count in counts)
        self._ended.append(lost + sum(count.completed for count in counts))
        self._late.append(lost + self._above(_responses(groups)))
        self._waiting.append(self._above(group.in_flight.get("response") for group in groups))
        return knee_at(np.array(self._ended), np.array(self._late), np.array(self._waiting)) is not None

    def _above(self, histograms: Iterable[Histogram | None]) -> int:
        return merged(histograms).above(int(bucket_of_ns(np.array([round(self.limit_ms * 1e6)]))[0]))


def _responses(groups: Iterable[GroupInterval]) -> Iterable[Histogram | None]:
    return (
        transaction.histograms.get("response")
        for group in groups
        for transaction in group.snapshot.transactions.values()
    )
