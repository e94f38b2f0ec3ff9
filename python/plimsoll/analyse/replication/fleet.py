"""What a source with k replicas would carry, by the processor time that transactions cost its servers.

Utilisation law (Denning and Buzen 1978): a server that has C seconds of processor time in each second sustains C over
the demand of a transaction. Every replica carries the whole write stream at its apply cost, beside its part of the
reads; the source carries the writes. So with a share w of transactions that write, of cost W on the source and A on
each replica, and reads of cost R, a source and k replicas with processors of their own sustain

    min(C / (w W), k C / ((1 - w) R + k w A)),

and where they share processors C / ((1 - w) R + w W + k w A). R, W and A are those of the cell with one replica, where
reads, writes and applying are apart (what the cell without replicas needs beyond its reads would be W as well, but as a
small difference of two noisy figures); C is what the cell without replicas used.

Assumptions: costs stay the same with more replicas; the processors are what limits; reads are spread evenly; what
costs replicas no processor time (locks, flushes, one applier thread that is busy all the time) is not seen. Where an
applier has fewer threads than processors the replica saturates earlier: a growing lag says so.

Deliberately not here: what was measured (`scaling`).
"""

from __future__ import annotations

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.replication.fleet_model import FleetCosts
from plimsoll.analyse.replication.levels import servers_of_level
from plimsoll.analyse.replication.model import ServerFigures
from plimsoll.analyse.replication.roles import REPLICA, replicas_of, sources_of
from plimsoll.record.environment import Environment, InstanceFacts


def fleet_costs(without: MeasuredCell, with_one: MeasuredCell) -> FleetCosts | None:
    """The costs of transactions; None where one of them is not known, or the replica served no reads.

    Args:
        without: The best level of the system without replicas.
        with_one: That of the one with one replica.
    """
    known = [one for trial in without.trials if (one := trial.resources.per_s.get("server_cpu_s")) is not None]
    level = servers_of_level(with_one)
    replica = next((one for one in level.servers if one.role == REPLICA), None)
    total_tps = sum(one.throughput_tps for one in level.servers)
    if not known or replica is None or total_tps <= 0 or without.throughput.value_tps <= 0:
        return None
    read_ms, apply_ms = replica.cpu_ms_per_transaction, replica.apply_ms
    write_ratio = min(level.written_tps / total_tps, 1.0)
    if read_ms is None or (apply_ms is None and write_ratio > 0):
        return None
    write_ms = _write_ms(level.servers[0], read_ms, level.written_tps)
    if write_ms is None:
        return None
    cpu_s = sum(known) / len(known)
    environment = with_one.trials[0].environment
    return FleetCosts(
        read_ms=read_ms,
        write_ms=write_ms,
        apply_ms=apply_ms or 0.0,
        write_ratio=write_ratio,
        source_cpu_s=cpu_s,
        replica_cpu_s=cpu_s * _size_ratio(environment),
        is_shared=_is_shared(environment, with_one),
        is_placed=_is_placed(environment, with_one),
    )


def _write_ms(source: ServerFigures, read_ms: float, written_tps: float) -> float | None:
    """Of a write on the source: its processor time without that of the reads that ran there; None where not known."""
    if written_tps <= 0:
        return 0.0
    if source.cpu_s_per_s is None:
        return None
    reads_ms = max(source.throughput_tps - written_tps, 0.0) * read_ms
    return max(source.cpu_s_per_s * 1000 - reads_ms, 0.0) / written_tps


def _hosts(cell: MeasuredCell) -> dict[str, str | None]:
    return {one.instance: one.host for one in cell.trials[0].servers}


def _cpus(one: InstanceFacts) -> frozenset[int] | None:
    return frozenset(one.placement.cpus) if one.placement is not None and one.placement.cpus else None


def _is_shared(environment: Environment, cell: MeasuredCell) -> bool:
    """Whether a replica is on the source's machine and not known to have processors of its own."""
    hosts = _hosts(cell)
    for source in sources_of(environment):
        for replica in replicas_of(environment):
            own, others = _cpus(source), _cpus(replica)
            is_apart = own is not None and others is not None and not own & others
            if hosts.get(source.name) == hosts.get(replica.name) and not is_apart:
                return True
    return False


def _is_placed(environment: Environment, cell: MeasuredCell) -> bool:
    hosts = _hosts(cell)
    is_one_machine = len(set(hosts.values())) == 1
    return not is_one_machine or all(_cpus(one) is not None for one in environment.instances)


def _size_ratio(environment: Environment) -> float:
    """Processors of a replica over those of the source; 1 where either is unknown."""
    own = [one.placement.processors for one in sources_of(environment) if one.placement is not None]
    others = [one.placement.processors for one in replicas_of(environment) if one.placement is not None]
    if not own or not others or not own[0] or not others[0]:
        return 1.0
    return others[0] / own[0]
