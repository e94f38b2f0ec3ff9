"""What a server may lose, from its effective variables, and what each class of durability sustains.

Speed against safety: what a class promises, and what a test of it lost.

Power loss stands for everything that takes the memory of the machine: a crash of its kernel or hypervisor as well.
What counts are InnoDB's transactions:

* `innodb_flush_log_at_trx_commit` = 1 (in MariaDB also 3) flushes the redo log at each commit; 2 writes it and flushes
  it once in `innodb_flush_log_at_timeout` seconds; 0 does not even write it, so that a crash of the server alone is
  enough.
* With a binary log, recovery rolls back prepared transactions that the binary log does not have. So `sync_binlog` other
  than 1 loses transactions of the last second too, whatever the redo log does.
* Without a doublewrite buffer, or without any flush, a page that was half written cannot be restored.
* Without checksums of pages, what storage damaged is read as if it were right.

Storage that lies about a flush is not seen here (`flush-costs-nothing`), nor are replicas that keep what a server
lost. Sources: the manuals of MySQL 8.4 and MariaDB 10.11 on these variables.

Systems are told apart by what decides whether a commit survives: when the redo log is flushed, whether the binary log
is, whether torn pages can be restored, and whether replicas must have a commit before it is answered. Throughput is
that of the peak, with its interval. What was lost is of another server, which `plimsoll durability` killed: it is held
against a system whose settings are the same. The tests write a binary log, so a system without one is not matched.

A semi-synchronous commit is on another machine too. That protects from the loss of one machine, as long as the source
does not fall back to asynchronous replication; what the source itself keeps is decided by its own settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from plimsoll.analyse.explain.equivalence_model import Durability, DurabilityClass, DurabilityKind, MeasuredLoss
from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.workloads import is_read_only
from plimsoll.analyse.trial.instances import sources_of
from plimsoll.record.fault_tests import DurabilityRecord, SettingOutcome
from plimsoll.spec.server_options import is_on
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
    causes = {kind: tuple(cause) for kind, cause in _causes(variables, at_commit).items() if cause}
    worst = next((kind for kind in DurabilityKind if kind in causes), DurabilityKind.DURABLE)
    return Durability(
        kind=worst,
        lost_s=_lost_s(variables) if worst in (DurabilityKind.AT_A_CRASH, DurabilityKind.AT_POWER_LOSS) else None,
        causes=tuple(cause for kind in DurabilityKind for cause in causes.get(kind, ())),
    )


def system_durability(instances: Sequence[Mapping[str, str]]) -> Durability | None:
    """That of the least durable server of a system; None where one does not say, or there is none."""
    known = [durability for durability in map(durability_of, instances) if durability is not None]
    order = list(DurabilityKind)
    return (
        min(known, key=lambda durability: order.index(durability.kind))
        if known and len(known) == len(instances)
        else None
    )


def durability_answer(systems: Sequence[SystemSummary], workloads: Sequence[WorkloadSummary]) -> Iterator[Finding]:
    """One finding where systems under a workload that writes are known to differ in durability."""
    if all(is_read_only(workload) for workload in workloads):
        return
    known = {system.name: system.durability for system in systems if system.durability is not None}
    if len({durability.name for durability in known.values()}) > 1:
        yield make_finding(
            "durability-differs", durability=tuple((system, durability.name) for system, durability in known.items())
        )


def less_durable(durability: Durability | None, other: Durability | None) -> str | None:
    """The class of the first in words where it keeps less than the other; None where it does not, or is unknown."""
    if durability is None or other is None:
        return None
    order = list(DurabilityKind)
    rank, other_rank = order.index(durability.kind), order.index(other.kind)
    is_less = rank < other_rank or (rank == other_rank and (durability.lost_s or 0) > (other.lost_s or 0))
    return durability.name if is_less else None


def less_durable_under(
    systems: Sequence[SystemSummary], workloads: Sequence[WorkloadSummary]
) -> Callable[[str, str, str], str | None]:
    """A function of a workload and two systems: `less_durable` of these where the workload writes, else None."""
    known = {system.name: system.durability for system in systems}
    writing = {workload.name for workload in workloads if not is_read_only(workload)}

    def compared(workload: str, system: str, base: str) -> str | None:
        return less_durable(known.get(system), known.get(base)) if workload in writing else None

    return compared


def causing_variables(*durabilities: Durability) -> set[str]:
    """The settings that make any of them less than durable."""
    return {name for durability in durabilities for name, _ in durability.causes}


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


_Settings = tuple[int, int | None, bool, str]
"""When the redo log is flushed, the binary log (None for none), doublewrite, replication."""

_TORN = {"OFF", "0", "DETECT_ONLY"}


def durability_classes(analysis: Analysis, measured: DurabilityRecord | None) -> tuple[DurabilityClass, ...]:
    """One for each system and workload that writes, where systems differ in them.

    Args:
        analysis: Of the study.
        measured: What a test of durability found; None where the study's folder has none.
    """
    known = {system.name: settings for system in analysis.systems if (settings := _settings(system)) is not None}
    if len(set(known.values())) < 2:
        return ()
    writing = [workload.name for workload in analysis.workloads if not is_read_only(workload)]
    return tuple(
        _with_loss(durability_class, measured)
        for workload in writing
        for durability_class in _of_workload(
            [each for each in analysis.curves if each.workload == workload], known, analysis
        )
    )


def _of_workload(
    curves: Sequence[Curve], known: Mapping[str, _Settings], analysis: Analysis
) -> Iterator[DurabilityClass]:
    """The safest first, as far as their settings say."""
    by_name = {system.name: system for system in analysis.systems}
    comparable = [curve for curve in curves if curve.system in known and curve.peak is not None]
    for curve in sorted(comparable, key=lambda curve: _rank(known[curve.system])):
        flush, sync_binlog, doublewrite, replication = known[curve.system]
        durability = by_name[curve.system].durability
        assert curve.peak is not None, "others are left out"
        yield DurabilityClass(
            system=curve.system,
            workload=curve.workload,
            level=curve.peak.level,
            throughput_tps=curve.peak.throughput_tps,
            flush_log_at_trx_commit=flush,
            sync_binlog=sync_binlog,
            doublewrite=doublewrite,
            replication=replication,
            promise=None if durability is None else durability.name,
            trials=curve.peak_cell.trials if curve.peak_cell is not None else (),
        )


def _rank(settings: _Settings) -> tuple[bool, bool, bool, bool]:
    flush, sync_binlog, doublewrite, replication = settings
    return not doublewrite, flush not in (1, 3), sync_binlog not in (1, None), not replication.startswith("semi")


def _settings(system: SystemSummary) -> _Settings | None:
    """Of its source; None where that does not say."""
    sources = sources_of(system.environment)
    if not sources or not sources[0].variables:
        return None
    variables = sources[0].variables
    flush = variables.get("innodb_flush_log_at_trx_commit", "")
    if not flush.isdigit():
        return None
    is_logged = is_on(variables.get("log_bin", ""))
    sync = variables.get("sync_binlog", "")
    return (
        int(flush),
        int(sync) if is_logged and sync.isdigit() else None,
        variables.get("innodb_doublewrite", "ON").upper() not in _TORN,
        _replication(system),
    )


def _replication(system: SystemSummary) -> str:
    if not system.replicas:
        return "none"
    stated = {
        name.rsplit(".", 1)[-1]: value for name, value in (*system.factors.items(), *system.factor_values.items())
    }
    if stated.get("replication") != "semisync":
        return "asynchronous"
    return f"semi-synchronous, {stated.get('semisync_replicas', '1')}"


def _with_loss(durability_class: DurabilityClass, measured: DurabilityRecord | None) -> DurabilityClass:
    outcome = (
        next((each for each in measured.settings if _is_of(each, durability_class)), None)
        if measured is not None
        else None
    )
    if measured is None or outcome is None:
        return durability_class
    loss = MeasuredLoss(
        fault=measured.fault,
        server=measured.server,
        faults=outcome.faults,
        faults_with_loss=outcome.faults_with_loss,
        loss_ratio_max=outcome.loss_ratio_max,
        acknowledged=outcome.acknowledged,
        lost=outcome.lost,
        lost_ms=outcome.lost_ms,
        corrupt=outcome.corrupt,
        is_kept=outcome.is_kept,
    )
    return durability_class.model_copy(update={"measured": loss})


def _is_of(outcome: SettingOutcome, durability_class: DurabilityClass) -> bool:
    settings = (outcome.flush_log_at_trx_commit, outcome.sync_binlog, outcome.doublewrite)
    return settings == (
        durability_class.flush_log_at_trx_commit,
        durability_class.sync_binlog,
        durability_class.doublewrite,
    )
