"""What a server may lose, from its effective variables: a name for each class of durability, and what makes it so.

Power loss stands for everything that takes the memory of the machine: a crash of its kernel or hypervisor as well. What
counts are InnoDB's transactions:

* `innodb_flush_log_at_trx_commit` = 1 (in MariaDB also 3) flushes the redo log at each commit; 2 writes it and flushes
  it once in `innodb_flush_log_at_timeout` seconds; 0 does not even write it, so that a crash of the server alone is
  enough.
* With a binary log, recovery rolls back prepared transactions that the binary log does not have. So `sync_binlog` other
  than 1 loses transactions of the last second too, whatever the redo log does.
* Without a doublewrite buffer, or without any flush, a page that was half written cannot be restored.
* Without checksums of pages, what storage damaged is read as if it were right.

Storage that lies about a flush is not seen here (`flush-costs-nothing`), nor are replicas that keep what a server lost.
Sources: the manuals of MySQL 8.4 and MariaDB 10.11 on these variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from plimsoll.analyse.durability_model import Durability, DurabilityKind
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import SystemSummary, WorkloadSummary
from plimsoll.analyse.read_only import is_read_only
from plimsoll.spec.switches import is_on
from plimsoll.units import parse_whole

_NO_RESTORING = {"OFF", "0", "DETECT_ONLY"}
_NO_CHECKSUMS = {"NONE", "STRICT_NONE"}
_NO_FLUSHING = {"NOSYNC", "LITTLESYNC"}

_Cause = tuple[str, str]
"""A setting and its value."""


def durability_of(variables: Mapping[str, str]) -> Durability | None:
    """The durability of one server; None where its variables do not say.

    Args:
        variables: Its effective global variables, names in lower case.
    """
    at_commit = variables.get("innodb_flush_log_at_trx_commit")
    if at_commit is None:
        return None
    causes = {kind: tuple(found) for kind, found in _causes(variables, at_commit).items() if found}
    worst = next((kind for kind in DurabilityKind if kind in causes), DurabilityKind.DURABLE)
    return Durability(
        kind=worst,
        lost_s=_lost_s(variables) if worst in (DurabilityKind.AT_A_CRASH, DurabilityKind.AT_POWER_LOSS) else None,
        causes=tuple(cause for kind in DurabilityKind for cause in causes.get(kind, ())),
    )


def system_durability(instances: Sequence[Mapping[str, str]]) -> Durability | None:
    """That of the least durable server of a system; None where one does not say, or there is none."""
    known = [one for one in map(durability_of, instances) if one is not None]
    order = list(DurabilityKind)
    return min(known, key=lambda one: order.index(one.kind)) if known and len(known) == len(instances) else None


def durability_answer(systems: Sequence[SystemSummary], workloads: Sequence[WorkloadSummary]) -> Iterator[Finding]:
    """One finding where systems under a workload that writes are known to differ in durability."""
    if all(is_read_only(workload) for workload in workloads):
        return
    known = {one.name: one.durability for one in systems if one.durability is not None}
    if len({one.name for one in known.values()}) > 1:
        yield found(
            "durability-differs", durability=tuple((system, durability.name) for system, durability in known.items())
        )


def less_durable(one: Durability | None, other: Durability | None) -> str | None:
    """The class of the first in words where it keeps less than the other; None where it does not, or is unknown."""
    if one is None or other is None:
        return None
    order = list(DurabilityKind)
    rank, other_rank = order.index(one.kind), order.index(other.kind)
    is_less = rank < other_rank or (rank == other_rank and (one.lost_s or 0) > (other.lost_s or 0))
    return one.name if is_less else None


def less_durable_under(
    systems: Sequence[SystemSummary], workloads: Sequence[WorkloadSummary]
) -> Callable[[str, str, str], str | None]:
    """A function of a workload and two systems: `less_durable` of these where the workload writes, else None."""
    known = {one.name: one.durability for one in systems}
    writing = {one.name for one in workloads if not is_read_only(one)}

    def compared(workload: str, system: str, base: str) -> str | None:
        return less_durable(known.get(system), known.get(base)) if workload in writing else None

    return compared


def causing_variables(*causes: Durability) -> set[str]:
    """The settings that make any of them less than durable."""
    return {name for one in causes for name, _ in one.causes}


def _causes(variables: Mapping[str, str], at_commit: str) -> dict[DurabilityKind, list[_Cause]]:
    """Settings that make a server less than durable, by what they may lead to."""
    damage = [
        (name, variables[name])
        for name, values in (("innodb_doublewrite", _NO_RESTORING), ("innodb_flush_method", _NO_FLUSHING))
        if variables.get(name, "").upper() in values
    ]
    commit = ("innodb_flush_log_at_trx_commit", at_commit)
    power = [commit] if at_commit == "2" else []
    if is_on(variables.get("log_bin", "")) and variables.get("sync_binlog", "1") != "1":
        power.append(("sync_binlog", variables["sync_binlog"]))
    return {
        DurabilityKind.DAMAGED: damage,
        DurabilityKind.AT_A_CRASH: [commit] if at_commit == "0" else [],
        DurabilityKind.AT_POWER_LOSS: power,
        DurabilityKind.UNNOTICED: _without_checksums(variables),
    }


def _without_checksums(variables: Mapping[str, str]) -> list[_Cause]:
    """`innodb_checksums` is what MySQL 5.0 to 5.5 call it."""
    named = (("innodb_checksum_algorithm", _NO_CHECKSUMS), ("innodb_checksums", {"OFF", "0"}))
    return [(name, variables[name]) for name, values in named if variables.get(name, "").upper() in values]


def _lost_s(variables: Mapping[str, str]) -> int:
    return max(parse_whole(variables.get("innodb_flush_log_at_timeout", "1")) or 1, 1)
