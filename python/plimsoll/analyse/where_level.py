"""What a transaction used and waited for at one level: per-second figures of the trials over their throughput.

Response time is divided into what a source says: processor time of the server and of the client, waits of the server's
threads for a processor, waits for row locks, for redo and the binary log, and for pages read from storage. The rest is
unexplained: network, latches, and whatever else nobody counts. Where the performance schema does not say how long files
were waited for, the wait for redo is flushes per transaction times the time of a flush (of the device, else as measured
on the idle directory), and that for reads is pages read times the time of a read. With group commit a transaction waits
for a flush that others caused, so this is a lower bound.

Of systems with replicas, what appliers use and wait for is left out: no transaction waits for it.

Deliberately not here: how parts are made to add up (`where_parts`), which resource limits (`where_time`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.analyse.cell_model import Cell
from plimsoll.analyse.cells import response_of
from plimsoll.analyse.server_summaries import statements_of, waits_of
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.where_model import WhereLevel, WherePart
from plimsoll.analyse.where_parts import parts_of

_PER_TRANSACTION = {
    "page_reads": "page_reads",
    "device_reads": "device_reads",
    "device_writes": "device_writes",
    "device_flushes": "device_flushes",
    "context_switches": "context_switches",
    "row_lock_waits": "row_lock_waits",
    "log_buffer_waits": "log_buffer_waits",
    "log_writes": "log_writes",
}
_KB = {
    "device_written_bytes": "written_kb",
    "redo_bytes": "redo_kb",
    "server_read_bytes": "server_read_kb",
    "server_written_bytes": "server_written_kb",
}


def where_level(cell: Cell, trials: Sequence[TrialSummary]) -> WhereLevel:
    """One level, mean of its trials; each figure over the trials that say it."""
    known = [one for one in trials if one.throughput_tps > 0]
    each = mean_of([_per_transaction(one) for one in known])
    response_ms = cell.response_ms.mean
    measured, is_estimate = _measured(trials)
    within, outside = parts_of(response_ms, measured)
    rest_ms = within.get(WherePart.UNEXPLAINED)
    counted = mean_of(
        [{name: value / one.throughput_tps for name, value in one.resources.summaries.items()} for one in known]
    )
    figures = {name: each[source] for source, name in _PER_TRANSACTION.items() if source in each}
    figures |= {name: each[source] / 1024 for source, name in _KB.items() if source in each}
    if (flushes := _flushes(each)) is not None:
        figures["flushes"] = flushes
    return WhereLevel(
        level=cell.level,
        throughput_tps=cell.throughput_tps.value,
        response_ms=response_ms,
        parts_ms=within,
        outside_ms=outside,
        unexplained_ratio=rest_ms / response_ms if response_ms and rest_ms is not None else None,
        redo_is_estimate=is_estimate,
        client_cpu_ms=measured[WherePart.CLIENT_CPU],
        per_transaction=figures,
        utilisation=mean_of([one.resources.utilisation for one in known]),
        waiters=dict(sorted(mean_of([one.resources.waiters for one in known]).items(), key=lambda one: -one[1])),
        throttled_s_per_s=mean_of([one.resources.per_s for one in known]).get("throttled_s"),
        server_waits=waits_of(counted),
        server_statements=statements_of(counted),
    )


def trial_parts(one: TrialSummary) -> dict[WherePart, float]:
    """The parts of one trial's response time, milliseconds; empty where that is not known."""
    response_ms = response_of(one).mean
    return {} if response_ms is None else parts_of(response_ms, _measured([one])[0]).within


def _measured(trials: Sequence[TrialSummary]) -> tuple[dict[WherePart, float | None], bool]:
    """Milliseconds per transaction that each part took, and whether those for redo are an estimate."""
    known = [one for one in trials if one.throughput_tps > 0]
    each = mean_of([_per_transaction(one) for one in known])
    operation_ms = mean_of([one.resources.operation_ms for one in known])
    redo_ms, is_estimate = _redo_ms(each, operation_ms, trials)
    return {
        WherePart.SERVER_CPU: _served_ms(each),
        WherePart.CLIENT_CPU: _ms(each, "client_cpu_s"),
        WherePart.RUN_QUEUE: _ms(each, "run_delay_s"),
        WherePart.ROW_LOCKS: _ms(each, "row_lock_wait_s"),
        WherePart.REDO: redo_ms,
        WherePart.STORAGE_READS: _reads_ms(each, operation_ms),
    }, is_estimate


def mean_of(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure over those that have it."""
    names = dict.fromkeys(name for one in figures for name in one)
    known = {name: [one[name] for one in figures if name in one] for name in names}
    return {name: sum(values) / len(values) for name, values in known.items()}


def _per_transaction(one: TrialSummary) -> dict[str, float]:
    return {name: value / one.throughput_tps for name, value in one.resources.per_s.items()}


def _ms(each: Mapping[str, float], name: str) -> float | None:
    return each[name] * 1000 if name in each else None


def _served_ms(each: Mapping[str, float]) -> float | None:
    """Processor time of servers without that of appliers, for which no transaction waits."""
    whole_ms = _ms(each, "server_cpu_s")
    return None if whole_ms is None else max(whole_ms - (_ms(each, "apply_cpu_s") or 0.0), 0.0)


def _flushes(each: Mapping[str, float]) -> float | None:
    """Flushes of files that the server asked for; some versions count those of redo apart, others with all."""
    return max((each[name] for name in ("data_flushes", "redo_flushes") if name in each), default=None)


def _redo_ms(
    each: Mapping[str, float], operation_ms: Mapping[str, float], trials: Sequence[TrialSummary]
) -> tuple[float | None, bool]:
    """Milliseconds per transaction, and whether they are an estimate.

    MariaDB from 10.8 on counts no waits for its redo log, while it counts those for the binary log.
    """
    binlog_ms = each.get("binlog_file_wait_s", 0.0) * 1000
    if "redo_file_wait_s" in each:
        return each["redo_file_wait_s"] * 1000 + binlog_ms, False
    flush_ms = operation_ms.get("flush_ms_mean") or _idle_flush_ms(trials)
    flushes = each.get("redo_flushes", _flushes(each))
    return (None, False) if flush_ms is None or flushes is None else (flushes * flush_ms + binlog_ms, True)


def _idle_flush_ms(trials: Sequence[TrialSummary]) -> float | None:
    storages = (instance.storage for one in trials for instance in one.environment.instances)
    known = [one.flush_ms_median for one in storages if one is not None and one.flush_ms_median is not None]
    return max(known, default=None)


def _reads_ms(each: Mapping[str, float], operation_ms: Mapping[str, float]) -> float | None:
    """Pages that a statement had to wait for. Waits for data files hold writes of the background too: not used."""
    if each.get("page_reads") == 0.0:
        return 0.0
    if "page_reads" not in each or "read_ms_mean" not in operation_ms:
        return None
    return each["page_reads"] * operation_ms["read_ms_mean"]
