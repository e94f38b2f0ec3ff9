"""What a server may lose, from its effective variables: a name for each class of durability, and what makes it so.

Power loss stands for everything that takes the memory of the machine: a crash of its kernel or hypervisor as well. What
counts are InnoDB's transactions:

* `innodb_flush_log_at_trx_commit` = 1 (in MariaDB also 3) flushes the redo log at each commit; 2 writes it and flushes
  it once in `innodb_flush_log_at_timeout` seconds; 0 does not even write it, so that a crash of the server alone is
  enough.
* With a binary log, recovery rolls back prepared transactions that the binary log does not have. So `sync_binlog` other
  than 1 loses transactions of the last second too, whatever the redo log does.
* Without a doublewrite buffer, or without any flush, a page that was half written cannot be restored.

Storage that lies about a flush is not seen here (`flush-costs-nothing`), nor are replicas that keep what a server lost.
Sources: the manuals of MySQL 8.4 and MariaDB 10.11 on these variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analyse.model import Durability, SystemSummary, WorkloadSummary
from plimsoll.analyse.prose import listed
from plimsoll.analyse.scale_out import is_read_only

DURABLE = "durable"
DAMAGED = "may be damaged by power loss"

_AT_POWER_LOSS = "at power loss"
_AT_A_CRASH = "when the server crashes"
_WORST_FIRST = (DAMAGED, _AT_A_CRASH, _AT_POWER_LOSS, DURABLE)

_NO_RESTORING = {"OFF", "0", "DETECT_ONLY"}
_NO_FLUSHING = {"NOSYNC", "LITTLESYNC"}
_TRUE = {"ON", "1", "TRUE", "YES"}


def durability_of(variables: Mapping[str, str]) -> Durability | None:
    """The durability of one server; None where its variables do not say.

    Args:
        variables: Its effective global variables, names in lower case.
    """
    at_commit = variables.get("innodb_flush_log_at_trx_commit")
    if at_commit is None:
        return None
    causes = {kind: tuple(found) for kind, found in _causes(variables, at_commit).items() if found}
    every = tuple(cause for kind in _WORST_FIRST for cause in causes.get(kind, ()))
    worst = next((kind for kind in _WORST_FIRST if kind in causes), DURABLE)
    if worst in (DURABLE, DAMAGED):
        return Durability(name=worst, causes=every)
    return Durability(name=f"may lose the last {_seconds(variables)} {worst}", causes=every)


def system_durability(instances: Sequence[Mapping[str, str]]) -> Durability | None:
    """That of the least durable server of a system; None where one does not say, or there is none."""
    found = [durability_of(variables) for variables in instances]
    known = [one for one in found if one is not None]
    return min(known, key=_rank) if known and len(known) == len(found) else None


def durability_answer(systems: Sequence[SystemSummary], workloads: Sequence[WorkloadSummary]) -> Iterator[str]:
    """One sentence where systems under a workload that writes are known to differ in durability."""
    if all(is_read_only(workload) for workload in workloads):
        return
    classes: dict[str, list[SystemSummary]] = {}
    for system in systems:
        if system.durability is not None:
            classes.setdefault(system.durability.name, []).append(system)
    if len(classes) < 2:
        return
    safest_first = sorted(classes.items(), key=lambda one: one[0] != DURABLE)
    described = "; ".join(_described(name, own) for name, own in safest_first)
    yield f"Durability differs: {described}. What a less durable system gains in writes may be paid for with that."


def causing_variables(*found: Durability) -> set[str]:
    """The settings that make any of them less than durable."""
    return {cause.partition(" = ")[0] for one in found for cause in one.causes}


def _described(name: str, systems: Sequence[SystemSummary]) -> str:
    names = listed([system.name for system in systems])
    if name == DURABLE:
        return f"{names} {'is' if len(systems) == 1 else 'are'} {name}"
    causes = dict.fromkeys(cause for system in systems if system.durability for cause in system.durability.causes)
    return f"{names} {name} ({', '.join(causes)})"


def _causes(variables: Mapping[str, str], at_commit: str) -> dict[str, list[str]]:
    """Settings that make a server less than durable, by what they may lead to."""
    damage = [
        _cause(variables, name)
        for name, values in (("innodb_doublewrite", _NO_RESTORING), ("innodb_flush_method", _NO_FLUSHING))
        if variables.get(name, "").upper() in values
    ]
    power = [_cause(variables, "innodb_flush_log_at_trx_commit")] if at_commit == "2" else []
    if variables.get("log_bin", "").upper() in _TRUE and variables.get("sync_binlog", "1") != "1":
        power.append(_cause(variables, "sync_binlog"))
    crash = [_cause(variables, "innodb_flush_log_at_trx_commit")] if at_commit == "0" else []
    return {DAMAGED: damage, _AT_A_CRASH: crash, _AT_POWER_LOSS: power}


def _cause(variables: Mapping[str, str], name: str) -> str:
    return f"{name} = {variables[name]}"


def _seconds(variables: Mapping[str, str]) -> str:
    timeout = variables.get("innodb_flush_log_at_timeout", "1")
    return f"{timeout} seconds" if timeout.isdecimal() and int(timeout) > 1 else "second"


def _rank(one: Durability) -> int:
    return next(index for index, kind in enumerate(_WORST_FIRST) if kind in one.name)
