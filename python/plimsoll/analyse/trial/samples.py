"""The telemetry of one trial within its measured window: samples, rises of counters, and what processors did by second.

What a trial's processors did in each second of its measured window, as far as its recording says. Only of the machine
that runs the servers, and only where there is one such machine: a client elsewhere is not part of it. What several
servers used and waited for is added up. A second in which one of them was not sampled takes the next sample, because
samples of a server with many threads are the mean since the last one.
"""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Samples:
    """What was sampled in the measured window of one trial.

    Attributes:
        rows: The samples, in the order of the recording (`frames.TELEMETRY`).
        sums: One for each place and metric that was sampled at all, in the order of their first samples.
    """

    rows: pl.DataFrame = field(repr=False)
    sums: tuple[MetricSum, ...] = field(repr=False)

    def without_host(self) -> Samples:
        """The same without those of a whole machine, which systems that take turns share."""
        return Samples(self.rows.filter(pl.col("source") != "host"), tuple(o for o in self.sums if o.source != "host"))

    def mean(self, metric: str, source: str | None = None) -> float | None:
        """Mean of the samples of a metric in all places; None where there is none.

        Args:
            metric: Its name.
            source: Only of this source; None for any.
        """
        found = [one for one in self.sums if one.metric == metric and source in (None, one.source)]
        return mean_of_sums(found) if found else None

    def of(self, sources: Collection[str], metrics: Collection[str]) -> pl.DataFrame:
        """The samples of some metrics."""
        return self.rows.filter(pl.col("source").is_in(list(sources)) & pl.col("metric").is_in(list(metrics)))

    def rates(self, sources: Collection[str], metrics: Collection[str]) -> Iterator[CounterRate]:
        """How much counters rose in each second. One that fell was started again, and is left out."""
        risen = (
            self.of(sources, metrics)
            .sort("unix_s")
            .group_by("instance", "metric", maintain_order=True)
            .agg(
                (pl.col("value").last() - pl.col("value").first()).alias("rise"),
                (pl.col("unix_s").last() - pl.col("unix_s").first()).alias("elapsed_s"),
                pl.col("value").diff().min().alias("lowest_step"),
            )
        )
        for instance, metric, rise, elapsed_s, lowest_step in risen.iter_rows():
            if elapsed_s > 0 and (lowest_step or 0.0) >= 0:
                yield CounterRate(instance, metric, rise / elapsed_s)


def samples_of(telemetry: pl.DataFrame | None, measured: pl.DataFrame, account: EngineAccount | None) -> Samples | None:
    """The samples that belong to the measured intervals; None where nothing is known of them.

    Args:
        telemetry: All of the trial (`frames.TELEMETRY`).
        measured: The intervals of its window.
        account: Says when interval 0 began on the wall clock.
    """
    if telemetry is None or account is None or measured.is_empty():
        return None
    first_s, last_s = measured.select(pl.col("from_s").min(), pl.col("to_s").max()).row(0)
    rows = telemetry.filter(
        (pl.col("unix_s") > account.started_unix_s + first_s + LATE_S)
        & (pl.col("unix_s") <= account.started_unix_s + last_s + LATE_S)
    )
    sums = rows.group_by(*_PLACE, maintain_order=True).agg(pl.col("value").sum(), pl.len())
    return Samples(rows, tuple(MetricSum(*row) for row in sums.iter_rows()))


def mean_of_sums(sums: Iterable[MetricSum]) -> float:
    """Mean of all samples together; there must be some."""
    known = list(sums)
    return sum(one.total for one in known) / sum(one.size for one in known)


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
    first, seconds = sides[0], min(one.server_cpu_s.size for one in sides)
    sums = {
        name: np.sum([getattr(one, name)[:seconds] for one in sides], axis=0)
        for name in ("server_cpu_s", "server_wait_s", "client_cpu_s", "client_wait_s")
    }
    return replace(
        first,
        in_service=sum(one.in_service for one in sides),
        throughput_tps=sum(one.throughput_tps for one in sides),
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
    began_unix_s = account.started_unix_s + float(measured["from_s"].min())  # type: ignore[arg-type]  # a float
    servers = samples.of(["process"], _SERVER)
    hosts = servers["host"].unique().to_list()
    if len(hosts) != 1:
        return None
    (host,) = hosts
    engines = samples.of(["engine"], _CLIENT).filter(pl.col("driver") == host)
    machine = samples.of(["host"], _HOST).filter(pl.col("host") == host)
    found = {
        **_by_second(servers, _SERVER, began_unix_s, seconds),
        **_by_second(machine, _HOST, began_unix_s, seconds),
        **_by_second(engines, _CLIENT, began_unix_s, seconds),
    }
    client = {"client_cpu_s", "client_wait_s"} if environment.client.on_server_host or not engines.is_empty() else set()
    if not {"server_cpu_s", "server_wait_s", "idle_ratio", *client} <= found.keys():
        return None
    if takes_turns:
        found = {name: np.full(seconds, np.nanmean(one)) for name, one in found.items()}
    unknown, nothing = np.full(seconds, np.nan), np.zeros(seconds)
    connections = recording.trial.level.connections
    in_service = connections if service is None else service.sum_ns / 1e9 / counts.duration_s
    in_service = (min(in_service, connections) or float(connections)) * min(counts.duration_s / length_s, 1.0)
    return MachineSeconds(
        began_unix_s=began_unix_s,
        host=host,
        cpu_count=cpu_count,
        in_service=in_service,
        throughput_tps=counts.throughput_tps * min(counts.duration_s / length_s, 1.0),
        server_cpu_s=found["server_cpu_s"],
        server_wait_s=found["server_wait_s"],
        client_cpu_s=found.get("client_cpu_s", nothing),
        client_wait_s=found.get("client_wait_s", nothing),
        free_ratio=found["idle_ratio"] + found.get("iowait_ratio", nothing),
        steal_ratio=found.get("steal_ratio", unknown),
        frequency_hz=found.get("frequency_hz", unknown),
    )


def _by_second(rows: pl.DataFrame, names: dict[str, str], began_unix_s: float, seconds: int) -> dict[str, Series]:
    """The sum over places of each metric in each second, and of metrics that are called the same here."""
    found: dict[str, Series] = {}
    at = (pl.col("unix_s") - began_unix_s - LATE_S).ceil().cast(pl.Int64) - 1
    means = (
        rows.with_columns(at.alias("second"))
        .filter(pl.col("second").is_between(0, seconds - 1))
        .group_by("driver", "instance", "metric", "second", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    for (_, _, metric), own in means.partition_by(["driver", "instance", "metric"], as_dict=True).items():
        values = np.full(seconds, np.nan)
        values[own["second"].to_numpy()] = own["value"].to_numpy()
        series = _filled(values)
        name = names[str(metric)]
        found[name] = found[name] + series if name in found else series
    return found


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
    if samples is None or all(one.source != SOURCE for one in samples.sums):
        return {}
    return {(instance, metric): per_s for instance, metric, per_s in samples.rates([SOURCE], [APPLY_CPU, APPLIED])}
