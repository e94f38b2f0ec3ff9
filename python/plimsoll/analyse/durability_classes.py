"""Speed against safety: what each class of durability sustains, what it promises, and what a test of it lost.

Systems are told apart by what decides whether a commit survives: when the redo log is flushed, whether the binary log
is, whether torn pages can be restored, and whether replicas must have a commit before it is answered. Throughput is
that of the peak, with its interval. What was lost is of another server, which `plimsoll durability` killed: it is held
against a system whose settings are the same. The tests write a binary log, so a system without one is not matched.

A semi-synchronous commit is on another machine too. That protects from the loss of one machine, as long as the source
does not fall back to asynchronous replication; what the source itself keeps is decided by its own settings.

Deliberately not here: what settings mean (`durability`), and testing (`plimsoll.run.durability`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.durability_model import DurabilityClass, MeasuredLoss
from plimsoll.analyse.model import Analysis, SystemSummary
from plimsoll.analyse.read_only import is_read_only
from plimsoll.analyse.replication.roles import sources_of
from plimsoll.record.durability import DurabilityRecord, SettingOutcome
from plimsoll.spec.switches import is_on

_Settings = tuple[int, int | None, bool, str]
"""When the redo log is flushed, the binary log (None for none), doublewrite, replication."""

_TORN = {"OFF", "0", "DETECT_ONLY"}


def with_durability_classes(analysis: Analysis, measured: DurabilityRecord | None) -> Analysis:
    """The analysis with one class for each system and workload that writes, where systems differ in them.

    Args:
        analysis: Of the study.
        measured: What a test of durability found; None where the study's folder has none.
    """
    known = {one.name: settings for one in analysis.systems if (settings := _settings(one)) is not None}
    if len(set(known.values())) < 2:
        return analysis
    writing = [one.name for one in analysis.workloads if not is_read_only(one)]
    found = [
        one
        for workload in writing
        for one in _of_workload([each for each in analysis.curves if each.workload == workload], known, analysis)
    ]
    return analysis.model_copy(update={"durability_classes": tuple(_with_loss(one, measured) for one in found)})


def _of_workload(
    curves: Sequence[Curve], known: Mapping[str, _Settings], analysis: Analysis
) -> Iterator[DurabilityClass]:
    """The safest first, as far as their settings say."""
    by_name = {one.name: one for one in analysis.systems}
    told = [one for one in curves if one.system in known and one.peak is not None]
    for curve in sorted(told, key=lambda one: _rank(known[one.system])):
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


def _with_loss(one: DurabilityClass, measured: DurabilityRecord | None) -> DurabilityClass:
    outcome = next((each for each in measured.settings if _is_of(each, one)), None) if measured is not None else None
    if measured is None or outcome is None:
        return one
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
    return one.model_copy(update={"measured": loss})


def _is_of(outcome: SettingOutcome, one: DurabilityClass) -> bool:
    settings = (outcome.flush_log_at_trx_commit, outcome.sync_binlog, outcome.doublewrite)
    return settings == (one.flush_log_at_trx_commit, one.sync_binlog, one.doublewrite)
