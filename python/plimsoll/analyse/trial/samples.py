"""The telemetry of one trial within its measured window: samples, rises of counters, and what processors did by second.

What a trial's processors did in each second of its measured window, as far as its recording says. Only of the machine
that runs the servers, and only where there is one such machine: a client elsewhere is not part of it. What several
servers used and waited for is added up. A second in which one of them was not sampled takes the next sample, because
samples of a server with many threads are the mean since the last one.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from plimsoll.analyse.trial.histograms import SparseHistogram
from plimsoll.analyse.trial.window import WindowCounts
from plimsoll.record.model import EngineAccount
from plimsoll.stats.variance import Series

if TYPE_CHECKING:
    from plimsoll.analyse.trial.trial_summary import RecordingLike

LATE_S = 0.5
"""A sample that was taken late still belongs to the second before it."""

_PLACE = ("driver", "host", "instance", "source", "metric")


class MetricSum(NamedTuple):
    """All samples of a metric in one place, added up, and how many there are."""

    driver: str
    host: str
    instance: str
    source: str
    metric: str
    total: float
    size: int


class CounterRate(NamedTuple):
    """How much a counter of one server rose in each second."""

    instance: str
    metric: str
    per_s: float


class MetricSamples(NamedTuple):
    """The samples of a metric in one place, in the order of the recording.

    Attributes:
        unix_s: When they were taken, wall clock, shape (samples,).
        values: Of the same shape.
    """

    driver: str
    host: str
    instance: str
    source: str
    metric: str
    unix_s: Series
    values: Series


@dataclass(frozen=True, slots=True)
class Samples:
    """What was sampled in the measured window of one trial.

    Attributes:
        sums: One for each place and metric that was sampled at all, in the order of their first samples.
        metrics: The samples themselves, in the same order.
    """

    sums: tuple[MetricSum, ...] = field(repr=False)
    metrics: tuple[MetricSamples, ...] = field(repr=False)

    def without_host(self) -> Samples:
        """The same without those of a whole machine, which systems that take turns share."""
        return Samples(
            tuple(metric_sum for metric_sum in self.sums if metric_sum.source != "host"),
            tuple(metric for metric in self.metrics if metric.source != "host"),
        )

    def mean(self, metric: str, source: str | None = None) -> float | None:
        """Mean of the samples of a metric in all places; None where there is none.

        Args:
            metric: Its name.
            source: Only of this source; None for any.
        """
        sums = [
            metric_sum
            for metric_sum in self.sums
            if metric_sum.metric == metric and source in (None, metric_sum.source)
        ]
        return mean_of_sums(sums) if sums else None

    def of(self, sources: Collection[str], metrics: Collection[str]) -> list[MetricSamples]:
        """The samples of some metrics."""
        return [metric for metric in self.metrics if metric.source in sources and metric.metric in metrics]

    def rates(self, sources: Collection[str], metrics: Collection[str] | None = None) -> Iterator[CounterRate]:
        """How much counters rose in each second. One that fell was started again, and is left out.

        Args:
            sources: Only of these.
            metrics: Only these; None for all.
        """
        counters: dict[tuple[str, str], list[MetricSamples]] = defaultdict(list)
        for samples in self.metrics:
            if samples.source in sources and (metrics is None or samples.metric in metrics):
                counters[samples.instance, samples.metric].append(samples)
        for (instance, metric), counter in counters.items():
            unix_s, values = joined(counter)
            elapsed_s = float(unix_s[-1] - unix_s[0])
            if elapsed_s > 0 and np.diff(values).min() >= 0:
                yield CounterRate(instance, metric, float(values[-1] - values[0]) / elapsed_s)


def joined(metrics: Sequence[MetricSamples]) -> tuple[Series, Series]:
    """When samples of several places were taken, and their values, in the order of time."""
    unix_s, values = (np.concatenate([metric[place] for metric in metrics]) for place in (-2, -1))
    order = np.argsort(unix_s, kind="stable")
    return unix_s[order], values[order]


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The rows of `telemetry.parquet`, taken apart once: one query answers all that is asked of a trial.

    Attributes:
        metrics: All of the trial.
        window: Those of the measured window; None where it is not known which belong to it.
    """

    metrics: tuple[MetricSamples, ...] = field(default=(), repr=False)
    window: Samples | None = field(default=None, repr=False)

    def of(self, source: str, metrics: Collection[str]) -> list[MetricSamples]:
        """The samples of some metrics of a source, of the whole trial."""
        return [metric for metric in self.metrics if metric.source == source and metric.metric in metrics]


def telemetry_of(table: pl.DataFrame | None, measured: pl.DataFrame, account: EngineAccount | None) -> Telemetry:
    """Takes the telemetry of a trial apart; nothing where there is none.

    Args:
        table: All of the trial (`frames.TELEMETRY`).
        measured: The intervals of its window.
        account: Says when interval 0 began on the wall clock.
    """
    if table is None:
        return Telemetry()
    is_known = account is not None and not measured.is_empty()
    from_s, to_s = _bounds_unix_s(measured, account) if account is not None and is_known else (np.inf, np.inf)
    is_inside = (pl.col("unix_s") > from_s) & (pl.col("unix_s") <= to_s)
    rows = (
        table.lazy()
        .with_row_index("row")
        .group_by(*_PLACE, maintain_order=True)
        .agg(
            pl.col("value").filter(is_inside).sum().alias("total"),
            is_inside.sum().alias("size"),
            pl.col("row").filter(is_inside).first(),
            pl.col("unix_s", "value"),
        )
        .sort("row", nulls_last=True, maintain_order=True)
        .collect()
    )
    places = rows.select(*_PLACE).rows()
    unix_s, values = (rows[name].explode().to_numpy() for name in ("unix_s", "value"))
    metrics = _apart(places, rows["unix_s"].list.len().to_list(), unix_s, values)
    if not is_known:
        return Telemetry(metrics)
    sizes = rows["size"].to_list()
    sums = [
        MetricSum(*place, *figures) for place, *figures in zip(places, rows["total"], sizes, strict=True) if figures[1]
    ]
    inside = (unix_s > from_s) & (unix_s <= to_s)
    return Telemetry(metrics, Samples(tuple(sums), _apart(places, sizes, unix_s[inside], values[inside])))


def _bounds_unix_s(measured: pl.DataFrame, account: EngineAccount) -> tuple[float, float]:
    """After when, and until when, samples belong to the measured intervals."""
    first_s, last_s = float(measured["from_s"].to_numpy().min()), float(measured["to_s"].to_numpy().max())
    return account.started_unix_s + first_s + LATE_S, account.started_unix_s + last_s + LATE_S


def _apart(
    places: Sequence[tuple[str, str, str, str, str]], sizes: Sequence[int], unix_s: Series, values: Series
) -> tuple[MetricSamples, ...]:
    """Each metric by itself; those of which there are no samples are left out."""
    ends = list(itertools.accumulate(sizes))
    return tuple(
        MetricSamples(*place, unix_s[end - size : end], values[end - size : end])
        for place, size, end in zip(places, sizes, ends, strict=True)
        if size
    )


def samples_of(table: pl.DataFrame | None, measured: pl.DataFrame, account: EngineAccount | None) -> Samples | None:
    """The samples that belong to the measured intervals; None where nothing is known of them. See `telemetry_of`."""
    return telemetry_of(table, measured, account).window


def mean_of_sums(sums: Iterable[MetricSum]) -> float:
    """Mean of all samples together; there must be some."""
    known = list(sums)
    return sum(metric_sum.total for metric_sum in known) / sum(metric_sum.size for metric_sum in known)


_SERVER = {
    "server_cpu_user_s_per_s": "server_cpu_s",
    "server_cpu_system_s_per_s": "server_cpu_s",
    "server_run_delay_s_per_s": "server_wait_s",
}
_CLIENT = {
    "cpu_user_s_per_s": "client_cpu_s",
    "cpu_system_s_per_s": "client_cpu_s",
    "run_delay_s_per_s": "client_wait_s",
}
_HOST = {
    "cpu_idle_ratio": "idle_ratio",
    "cpu_iowait_ratio": "iowait_ratio",
    "cpu_steal_ratio": "steal_ratio",
    "cpu_frequency_hz": "frequency_hz",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSeconds:
    """One trial's machine, second by second; arrays have one value for each, NaN where nobody sampled it.

    Attributes:
        began_unix_s: When the first of these seconds began, wall clock.
        host: Name of the machine.
        cpu_count: Its logical CPUs.
        in_service: Transactions in service at a time, mean of the window, turns of other systems included.
        throughput_tps: Completed transactions per second, the same mean.
        server_cpu_s: Processor time of the servers in each second.
        server_wait_s: Time in which their threads, all together, were ready and waited for a processor.
        client_cpu_s: Processor time of load engines on that machine; 0 without one.
        client_wait_s: What their threads waited; 0 without one.
        free_ratio: Share of time in which CPUs were idle, 0..1.
        steal_ratio: Share that the hypervisor took, 0..1.
        frequency_hz: Mean clock of the CPUs.
    """

    began_unix_s: float
    host: str
    cpu_count: int
    in_service: float
    throughput_tps: float
    server_cpu_s: Series = field(repr=False)
    server_wait_s: Series = field(repr=False)
    client_cpu_s: Series = field(repr=False)
    client_wait_s: Series = field(repr=False)
    free_ratio: Series = field(repr=False)
    steal_ratio: Series = field(repr=False)
    frequency_hz: Series = field(repr=False)

    @property
    def busy_s(self) -> Series:
        """Processor time of all programs together in each second; what was stolen is nobody's."""
        return self.cpu_count * np.clip(1 - self.free_ratio - np.nan_to_num(self.steal_ratio), 0.0, 1.0)

    @property
    def used_s(self) -> Series:
        """Processor time of servers and client in each second."""
        return self.server_cpu_s + self.client_cpu_s

    @property
    def others_s(self) -> Series:
        """Processor time of everything else in each second."""
        return np.maximum(self.busy_s - self.used_s, 0.0)


def machine_of_round(sides: Sequence[MachineSeconds]) -> MachineSeconds:
    """The machine of a round in which systems took turns: what all of them used and waited for."""
    first, seconds = sides[0], min(side.server_cpu_s.size for side in sides)
    sums = {
        name: np.sum([getattr(side, name)[:seconds] for side in sides], axis=0)
        for name in ("server_cpu_s", "server_wait_s", "client_cpu_s", "client_wait_s")
    }
    return replace(
        first,
        in_service=sum(side.in_service for side in sides),
        throughput_tps=sum(side.throughput_tps for side in sides),
        free_ratio=first.free_ratio[:seconds],
        steal_ratio=first.steal_ratio[:seconds],
        frequency_hz=first.frequency_hz[:seconds],
        **sums,
    )


def machine_seconds(
    recording: RecordingLike,
    samples: Samples | None,
    measured: pl.DataFrame,
    counts: WindowCounts,
    service: SparseHistogram | None,
) -> MachineSeconds | None:
    """A trial's machine; None where the recording does not say what servers used, waited for and left idle.

    The systems of a duet take turns on it in each second, and are sampled while they run. So each of its seconds holds
    the mean of the whole window, and `machine_of_round` makes one machine of a round.

    Args:
        recording: Of the trial.
        samples: Of the measured window.
        measured: Its intervals.
        counts: Of it.
        service: Service times of it; None where they were not recorded, and all connections count as busy.
    """
    account, environment = recording.outcome.account, recording.environment
    cpu_count, length_s = environment.host.cpu_threads, counts.duration_s
    if takes_turns := recording.turns() is not None:
        length_s = measured["to_s"].to_numpy().max() - measured["from_s"].to_numpy().min()
    if samples is None or account is None or not cpu_count or (seconds := round(length_s)) < 1:
        return None
    began_unix_s = account.started_unix_s + float(measured["from_s"].to_numpy().min())
    servers = samples.of(["process"], _SERVER)
    hosts = {server.host for server in servers}
    if len(hosts) != 1:
        return None
    (host,) = hosts
    engines = [metric for metric in samples.of(["engine"], _CLIENT) if metric.driver == host]
    machine = [metric for metric in samples.of(["host"], _HOST) if metric.host == host]
    by_name = {
        **_by_second(servers, _SERVER, began_unix_s, seconds),
        **_by_second(machine, _HOST, began_unix_s, seconds),
        **_by_second(engines, _CLIENT, began_unix_s, seconds),
    }
    client = {"client_cpu_s", "client_wait_s"} if environment.client.on_server_host or engines else set()
    if not {"server_cpu_s", "server_wait_s", "idle_ratio", *client} <= by_name.keys():
        return None
    if takes_turns:
        by_name = {name: np.full(seconds, np.nanmean(values)) for name, values in by_name.items()}
    unknown, nothing = np.full(seconds, np.nan), np.zeros(seconds)
    connections, own_share = recording.trial.level.connections, min(counts.duration_s / length_s, 1.0)
    in_service = connections if service is None else service.sum_ns / 1e9 / counts.duration_s
    return MachineSeconds(
        began_unix_s=began_unix_s,
        host=host,
        cpu_count=cpu_count,
        in_service=(min(in_service, connections) or float(connections)) * own_share,
        throughput_tps=counts.throughput_tps * own_share,
        server_cpu_s=by_name["server_cpu_s"],
        server_wait_s=by_name["server_wait_s"],
        client_cpu_s=by_name.get("client_cpu_s", nothing),
        client_wait_s=by_name.get("client_wait_s", nothing),
        free_ratio=by_name["idle_ratio"] + by_name.get("iowait_ratio", nothing),
        steal_ratio=by_name.get("steal_ratio", unknown),
        frequency_hz=by_name.get("frequency_hz", unknown),
    )


def _by_second(
    samples: Iterable[MetricSamples], names: dict[str, str], began_unix_s: float, seconds: int
) -> dict[str, Series]:
    """The sum over places of each metric in each second, and of metrics that are called the same here."""
    places: dict[tuple[str, str, str], list[MetricSamples]] = defaultdict(list)
    for sample in samples:
        places[sample.driver, sample.instance, sample.metric].append(sample)
    by_name: dict[str, Series] = {}
    for (_, _, metric), metrics in places.items():
        unix_s, values = joined(metrics)
        second = np.ceil(unix_s - began_unix_s - LATE_S).astype(np.int64) - 1
        inside = (second >= 0) & (second < seconds)
        if not inside.any():
            continue
        counts = np.bincount(second[inside], minlength=seconds)
        sums = np.bincount(second[inside], weights=values[inside], minlength=seconds)
        series = _filled(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))
        name = names[metric]
        by_name[name] = by_name[name] + series if name in by_name else series
    return by_name


def _filled(values: Series) -> Series:
    """Each unknown value replaced by the next known one."""
    known = np.flatnonzero(~np.isnan(values))
    after = np.searchsorted(known, np.arange(values.size))
    filled = np.full(values.size, np.nan)
    filled[after < known.size] = values[known[after[after < known.size]]]
    return filled


SOURCE = "replication"
"""Of these samples, in the column `source`."""

APPLY_CPU, APPLIED = "replica_apply_cpu_s", "replica_applied_transactions_count"


def replica_rises(samples: Samples | None) -> dict[tuple[str, str], float]:
    """By server and metric; a counter that fell was started again and is left out."""
    if samples is None or all(metric_sum.source != SOURCE for metric_sum in samples.sums):
        return {}
    return {(instance, metric): per_s for instance, metric, per_s in samples.rates([SOURCE], [APPLY_CPU, APPLIED])}
