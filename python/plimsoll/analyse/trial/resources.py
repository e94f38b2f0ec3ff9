"""What a trial used and waited for in its measured window: processors, devices, network, waits, statements.

Rates and shares are means over the samples of the window. Counters of the server (totals since its start) are the rise
between the first and the last sample of the window over the time between them; one that fell, because the server was
started again, is left out. What no sample says is absent: nothing here is guessed.

How much of the network's links was used, and whether enough of them is known to say that none is full. The kernel
tells the speed of network cards only, and of virtual ones mostly not. The network of a machine is known where the
links with a speed carried at least half of what its busiest interface carried: a bridge or a bond repeats the bytes of
the cards below it, a tunnel most of them. Switches, and limits that a cloud sets below the speed of a link, are not
seen.

What the server's performance schema counted during the measured window: waits by event, statements by kind. Its tables
hold totals since the server's start, so each figure is the rise from the first sample of the window to the last, over
the time between them, all instances together. An event that is not in both (only the longest are recorded), or whose
total fell because the tables were emptied, is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.analyse.explain.where_model import ServerStatement, ServerWait
from plimsoll.analyse.trial.instances import replicas_of
from plimsoll.analyse.trial.processors import own_utilisation, sides_of, utilisation_by_server
from plimsoll.analyse.trial.samples import APPLY_CPU, MetricSamples, MetricSum, Samples, mean_of_sums, replica_rises
from plimsoll.record.environment import Environment

COUNTERS = {
    "innodb_row_lock_time": "row_lock_wait_s",
    "innodb_row_lock_waits": "row_lock_waits",
    "innodb_log_waits": "log_buffer_waits",
    "innodb_os_log_fsyncs": "redo_flushes",
    "innodb_data_fsyncs": "data_flushes",
    "innodb_data_written": "written_bytes",
    "innodb_os_log_written": "redo_bytes",
    "innodb_log_writes": "log_writes",
    "innodb_buffer_pool_reads": "page_reads",
    "binlog_commits": "binlog_commits",
    "wait_redo_file_ms": "redo_file_wait_s",
    "wait_binlog_file_ms": "binlog_file_wait_s",
}
"""Counters of the server, and what their rise in each second is called here."""

_IN_MS = frozenset({"row_lock_wait_s", "redo_file_wait_s", "binlog_file_wait_s"})

MEANS = {
    "server_cpu_user_s_per_s": "server_cpu_s",
    "server_cpu_system_s_per_s": "server_cpu_s",
    "client_cpu_user_s_per_s": "client_cpu_s",
    "client_cpu_system_s_per_s": "client_cpu_s",
    "server_run_delay_s_per_s": "run_delay_s",
    "server_context_switches_per_s": "context_switches",
    "read_per_s": "device_reads",
    "write_per_s": "device_writes",
    "read_bytes_per_s": "device_read_bytes",
    "write_bytes_per_s": "device_written_bytes",
    "flush_per_s": "device_flushes",
    "server_storage_read_bytes_per_s": "server_read_bytes",
    "server_storage_write_bytes_per_s": "server_written_bytes",
    "server_throttled_s_per_s": "throttled_s",
}
"""Metrics that are rates already, and what they add up to."""

_QUOTA = ("server_quota_used_ratio", "server_throttled_periods_ratio")
CPU_QUOTA = "cpu quota"
"""As a resource: the processor time that the control group of a server may use; of several servers the busiest."""

_PER_OPERATION = {"read_ms_mean": "read_per_s", "flush_ms_mean": "flush_per_s"}
_WAITERS = "row_lock_waiters_"
_COUNTING = ("server", "waits")
_SOURCES = ("host", "process", "device", "server", "waits")


@dataclass(frozen=True, slots=True)
class Resources:
    """One trial's use of resources; empty where there is no telemetry.

    Attributes:
        per_s: By the names of `COUNTERS` and `MEANS`, and `apply_cpu_s` of the appliers of replicas: so much in each
            second, all servers together; what the appliers of replicas waited for is not among the counters.
        utilisation: Share of time that each resource was busy, 0..1: `cpu` (all of the host), `busiest cpu`,
            `server cpus` and `client cpus` (those of one side, where it had fewer), `cpus of NAME`, `device NAME`,
            `disk NAME`, `network NAME` and `network NAME of the client` (share of the link's speed), `cpu quota` (of
            the server's control group: the share of it that was used, or that of the periods in which it was used up,
            whichever is more).
        operation_ms: Mean time of one `read_ms_mean` or `flush_ms_mean` at the device.
        waiters: By table: transactions that waited for one of its row locks, mean of the samples.
        summaries: What the performance schema counted in each second.
        is_network_known: A full link would have been seen.
    """

    per_s: dict[str, float] = field(default_factory=dict)
    utilisation: dict[str, float] = field(default_factory=dict)
    operation_ms: dict[str, float] = field(default_factory=dict)
    waiters: dict[str, float] = field(default_factory=dict)
    summaries: dict[str, float] = field(default_factory=dict)
    is_network_known: bool = False


def resources_of(samples: Samples | None, environment: Environment) -> Resources:
    """Reduces the telemetry of one trial.

    Args:
        samples: Of the measured window.
        environment: Says whether client and server share a machine.
    """
    if samples is None:
        return Resources()
    sums: dict[_Key, list[MetricSum]] = defaultdict(list)
    for metric_sum in samples.sums:
        if metric_sum.source in _SOURCES and not is_of_clients_machine(metric_sum, environment):
            sums[metric_sum.source, metric_sum.instance, metric_sum.metric].append(metric_sum)
    means = {key: mean_of_sums(metric_sums) for key, metric_sums in sums.items()}
    replicas = [replica.name for replica in replicas_of(environment)]
    of_transactions = _without_appliers(samples, replicas)
    rates = _rates(means) | _counted(of_transactions, means) | _applied(samples)
    busy = _busy(means)
    by_side = own_utilisation(sides_of(environment), busy, rates.get("server_cpu_s"))
    utilisation = {
        **dict(_utilisation(means)),
        **dict(by_side),
        **dict(utilisation_by_server(environment, busy)),
        **dict(link_utilisation(samples.sums, environment)),
    }
    return Resources(
        per_s=rates,
        utilisation=utilisation,
        operation_ms=_operations(samples, means),
        waiters=_waiters(samples, sums),
        summaries=server_summaries(of_transactions),
        is_network_known=is_network_known(samples.sums, environment),
    )


def _without_appliers(samples: Samples, replicas: Sequence[str]) -> Samples:
    """Without what replicas wait for: that is their appliers' work, of which no transaction's response time is made.

    Pages that replicas read are read for transactions as well, and stay.
    """
    if not replicas:
        return samples
    counted = set(COUNTERS) - {"innodb_buffer_pool_reads"}
    left = (
        metric
        for metric in samples.metrics
        if metric.instance not in replicas or not (metric.metric in counted or metric.metric.startswith("wait_"))
    )
    return replace(samples, metrics=tuple(left))


def _applied(samples: Samples) -> dict[str, float]:
    """Processor time of all appliers in each second."""
    rises = [per_s for (_, metric), per_s in replica_rises(samples).items() if metric == APPLY_CPU]
    return {"apply_cpu_s": sum(rises)} if rises else {}


_Key = tuple[str, str, str]
"""Source, instance, metric."""

Means = Mapping[_Key, float]

_CPU_BUSY = re.compile(r"cpu([0-9]+)_busy_ratio")


def _rates(means: Means) -> dict[str, float]:
    rates: dict[str, float] = {}
    for (source, _, metric), value in means.items():
        if source in ("process", "device") and metric in MEANS:
            rates[MEANS[metric]] = rates.get(MEANS[metric], 0.0) + value
    return rates


def _counted(samples: Samples, means: Means) -> dict[str, float]:
    """Counters of the server: their rise in each second."""
    if not any(source == "server" for source, _, _ in means):
        rates: dict[str, float] = {}
    else:  # a counter that stayed at 0 has no rows
        rates = dict.fromkeys(("row_lock_wait_s", "row_lock_waits", "log_buffer_waits", "page_reads"), 0.0)
    if not any(source in _COUNTING and metric in COUNTERS for source, _, metric in means):
        return rates
    for _, metric, per_s in samples.rates(_COUNTING, COUNTERS):
        name = COUNTERS[metric]
        rates[name] = rates.get(name, 0.0) + per_s / (1000 if name in _IN_MS else 1)
    return rates


def _utilisation(means: Means) -> Iterator[tuple[str, float]]:
    host = {metric: value for (source, _, metric), value in means.items() if source == "host"}
    if "cpu_idle_ratio" in host:
        yield "cpu", max(0.0, 1 - host["cpu_idle_ratio"] - host.get("cpu_iowait_ratio", 0.0))
    if len(cpus := _busy(means)) > 1:
        yield "busiest cpu", max(cpus.values())
    for metric, value in sorted(host.items()):
        if metric.startswith("disk_") and metric.endswith("_busy_ratio"):
            yield f"disk {metric.removeprefix('disk_').removesuffix('_busy_ratio')}", value
    for (source, instance, metric), value in means.items():
        if (source, metric) == ("device", "busy_ratio"):
            yield f"data device of {instance}" if instance else "data device", value
    quotas = [value for (source, _, metric), value in means.items() if source == "process" and metric in _QUOTA]
    if quotas:
        yield CPU_QUOTA, max(quotas)


def _busy(means: Means) -> dict[int, float]:
    """Share of time that each CPU of the host was busy."""
    matches = ((_CPU_BUSY.fullmatch(metric), value) for (_, _, metric), value in means.items() if metric[:3] == "cpu")
    return {int(match[1]): value for match, value in matches if match is not None}


def _operations(samples: Samples, means: Means) -> dict[str, float]:
    """Time of an operation at the device, each second weighed with its operations."""
    operation_ms = {}
    for time, count in _PER_OPERATION.items():
        if not any((source, metric) == ("device", time) for source, _, metric in means):
            continue
        operations = dict(_at(samples.of(["device"], [count])))
        weighed = [(ms, operations[at]) for at, ms in _at(samples.of(["device"], [time])) if at in operations]
        total = sum(number for _, number in weighed)
        if total > 0:
            operation_ms[time] = sum(ms * number for ms, number in weighed) / total
    return operation_ms


def _at(metrics: Iterable[MetricSamples]) -> Iterator[tuple[tuple[str, float], float]]:
    """Each sample with its server and time."""
    for metric in metrics:
        for unix_s, value in zip(metric.unix_s.tolist(), metric.values.tolist(), strict=True):
            yield (metric.instance, unix_s), value


def _waiters(samples: Samples, sums: Mapping[_Key, Sequence[MetricSum]]) -> dict[str, float]:
    """Sums over the samples with waiters, over all samples: in the others nobody waited."""
    totals: dict[str, float] = {}
    for (source, _, metric), metric_sums in sums.items():
        if source == "waits" and metric.startswith(_WAITERS):
            totals[metric] = totals.get(metric, 0.0) + sum(metric_sum.total for metric_sum in metric_sums)
    if not totals:
        return {}
    times = len({at for metric in samples.metrics if metric.source == "waits" for at in metric.unix_s.tolist()})
    largest = sorted(totals.items(), key=lambda item: -item[1])
    return {metric.removeprefix(_WAITERS): total / times for metric, total in largest}


NETWORK = "network "
"""Begins the name of the resource that is a link."""

OF_CLIENT = " of the client"
"""Ends it where the link is that of a client on a machine of its own."""

_CARRIED_RATIO = 0.5
_USED = re.compile(r"network_(.+)_used_ratio")
_BYTES = re.compile(r"network_(.+)_(?:received|sent)_bytes_per_s")


def is_of_clients_machine(metric_sum: MetricSum, environment: Environment) -> bool:
    """Whether a sample is of a machine that only the client has, which says nothing about the server."""
    return (
        metric_sum.source == "host" and metric_sum.host == metric_sum.driver and not environment.client.on_server_host
    )


def link_utilisation(sums: Iterable[MetricSum], environment: Environment) -> Iterator[tuple[str, float]]:
    """How much of each link was used, 0..1; of several drivers the one that used most of it."""
    used: dict[str, float] = {}
    for (is_clients, _), metrics in _by_machine(sums, environment).items():
        for metric, value in metrics.items():
            if match := _USED.fullmatch(metric):
                name = f"{NETWORK}{match[1]}{OF_CLIENT if is_clients else ''}"
                used[name] = max(used.get(name, 0.0), value)
    yield from sorted(used.items())


def is_network_known(sums: Iterable[MetricSum], environment: Environment) -> bool:
    """Whether a full link would have been seen: transactions use none, or the links at both ends have a speed."""
    if environment.client.on_server_host:
        return True
    machines = _by_machine(sums, environment)
    return {is_clients for is_clients, _ in machines} == {True, False} and all(map(_is_known, machines.values()))


_Machine = tuple[bool, str]
"""Whether it is the client's, and its name."""


def _by_machine(sums: Iterable[MetricSum], environment: Environment) -> dict[_Machine, dict[str, float]]:
    """Means of the metrics of the network."""
    grouped: dict[tuple[_Machine, str], list[MetricSum]] = defaultdict(list)
    for metric_sum in sums:
        if metric_sum.source == "host" and metric_sum.metric.startswith("network_"):
            grouped[(is_of_clients_machine(metric_sum, environment), metric_sum.host), metric_sum.metric].append(
                metric_sum
            )
    machines: dict[_Machine, dict[str, float]] = defaultdict(dict)
    for (machine, metric), metric_sums in grouped.items():
        machines[machine][metric] = mean_of_sums(metric_sums)
    return machines


def _is_known(metrics: Mapping[str, float]) -> bool:
    carried: dict[str, float] = defaultdict(float)
    for metric, value in metrics.items():
        if (match := _BYTES.fullmatch(metric)) and match[1] != "lo":
            carried[match[1]] += value
    known = sum(value for name, value in carried.items() if f"network_{name}_used_ratio" in metrics)
    return known > 0 and known >= _CARRIED_RATIO * max(carried.values())


SOURCE = "performance_schema"
WAITS_MAX, STATEMENTS_MAX = 8, 6
_WAIT, _STATEMENT = "wait_", "statement_"


def server_summaries(samples: Samples) -> dict[str, float]:
    """Rises in each second, by metric, all servers together; empty where the performance schema is off."""
    risen: dict[str, float] = defaultdict(float)
    for _, metric, per_s in samples.rates([SOURCE]):
        risen[metric] += per_s
    return dict(sorted(risen.items()))


def waits_of(each: Mapping[str, float]) -> tuple[ServerWait, ...]:
    """Waits, the longest first.

    Args:
        each: The metrics per transaction.
    """
    waits = [
        ServerWait(event=event, count=each[f"{_WAIT}{event}_count"], ms=ms)
        for event, ms in _timed(each, _WAIT)
        if f"{_WAIT}{event}_count" in each and ms > 0
    ]
    return tuple(sorted(waits, key=lambda wait: -wait.ms)[:WAITS_MAX])


def statements_of(each: Mapping[str, float]) -> tuple[ServerStatement, ...]:
    """Statements, those that took longest first. Arguments as for `waits_of`."""
    statements = []
    for kind, ms in _timed(each, _STATEMENT):
        count = each.get(f"{_STATEMENT}{kind}_count", 0.0)
        if count > 0:
            examined = each.get(f"{_STATEMENT}{kind}_rows_examined_count", 0.0)
            statements.append(ServerStatement(kind=kind, count=count, ms=ms, rows_examined=examined))
    return tuple(sorted(statements, key=lambda statement: -statement.ms)[:STATEMENTS_MAX])


def _timed(each: Mapping[str, float], begin: str) -> Iterable[tuple[str, float]]:
    """Events with their time. A statement's time is `statement_X_ms`, the part of it in locks `statement_X_lock_ms`."""
    for metric, value in each.items():
        if metric.startswith(begin) and metric.endswith("_ms") and not metric.endswith("_lock_ms"):
            yield metric.removeprefix(begin).removesuffix("_ms"), value
