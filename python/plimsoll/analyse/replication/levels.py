"""The servers of a system with replicas at one level: its trials together, server by server.

Figures are means of the trials; response times come from merged histograms; counts are sums.
Deliberately not here: one trial (`servers`), and what another replica adds (`scaling`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.durations import durations
from plimsoll.analyse.histograms import merge
from plimsoll.analyse.replication.model import ServerFigures, ServersOfLevel
from plimsoll.analyse.replication.roles import SOURCE
from plimsoll.analyse.replication.servers import ServerTrial


def servers_of_levels(cells: Iterable[MeasuredCell]) -> tuple[ServersOfLevel, ...]:
    """One for each cell of a system with replicas, in their order."""
    return tuple(servers_of_level(one) for one in cells if any(trial.servers for trial in one.trials))


def servers_of_level(cell: MeasuredCell) -> ServersOfLevel:
    """The servers of one cell, whose trials have some."""
    by_name: dict[str, list[ServerTrial]] = {}
    for trial in cell.trials:
        for server in trial.servers:
            by_name.setdefault(server.instance, []).append(server)
    sources = [server for own in by_name.values() for server in own if server.role == SOURCE]
    written_tps = sum(one.written_tps for one in sources) / len(cell.trials)
    servers = (_figures(own, written_tps) for own in by_name.values())
    return ServersOfLevel(
        system=cell.system,
        workload=cell.workload,
        level=cell.level,
        throughput_tps=cell.throughput.estimate(),
        written_tps=written_tps,
        servers=tuple(sorted(servers, key=lambda one: one.role != SOURCE)),
        trials=tuple(one.trial.trial_id for one in cell.trials),
    )


def _figures(own: Sequence[ServerTrial], written_tps: float) -> ServerFigures:
    first = own[0]
    tps = _mean([one.throughput_tps for one in own]) or 0.0
    cpu = _mean([one.cpu_s_per_s for one in own])
    apply_cpu = _mean([one.apply_cpu_s_per_s for one in own])
    applied_tps = _mean([one.applied_tps for one in own])
    is_source = first.role == SOURCE
    applied = None if is_source else applied_tps or written_tps
    served = cpu if is_source else None if cpu is None or apply_cpu is None else max(cpu - apply_cpu, 0.0)
    outages = [length_s for one in own for length_s in one.outages_s]
    responses = [one.response for one in own if one.response is not None]
    seen = {name: sum(one.seen.get(name, 0) for one in own) for name in {name for one in own for name in one.seen}}
    return ServerFigures(
        instance=first.instance,
        role=first.role,
        throughput_tps=tps,
        response_ms=durations(merge(responses)),
        failed_count=sum(one.failed_count for one in own),
        errors_count=sum(one.errors_count for one in own),
        outages_count=len(outages),
        outage_s=max(outages, default=0.0),
        cpu_s_per_s=cpu,
        cpu_ms_per_transaction=served / tps * 1000 if served is not None and tps > 0 else None,
        applied_tps=None if is_source else applied_tps,
        apply_ms=apply_cpu / applied * 1000 if apply_cpu is not None and applied else None,
        lag=tuple(one.lag for one in own if one.lag is not None),
        reads_count=int(seen.get("reads", 0)),
        stale_reads_count=int(seen.get("stale_reads", 0)),
        waits_count=int(seen.get("waits", 0)),
        wait_s=float(seen.get("wait_s", 0.0)),
        wait_timeouts_count=int(seen.get("wait_timeouts", 0)),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None
