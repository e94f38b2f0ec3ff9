"""Sections on what becomes of data: "Storage", "Speed against safety" and "Data between trials".

What fio measured, and a commit's flush beside a transaction; classes of durability with their throughput and what a
test of them lost; how data was put back, how it changed, and whether the redo log wrapped. Deliberately not here: how
that is found (`plimsoll.analyse`), and the page of a test of durability (`fault_tests`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from plimsoll.analyse.explain.equivalence_model import DurabilityClass
from plimsoll.analyse.explain.where_model import StorageUse
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.trial.trial_model import DataSummary
from plimsoll.guide.facts import storage_words
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, show_rate, text_column
from plimsoll.record.storage import OperationFigures, StorageMeasurement, StorageRecord
from plimsoll.units import format_bytes, format_duration, format_ms, format_number, format_percent
from plimsoll.wording import counted

_NOTE = (
    "fio measured the storage before the trials, without load by a server. Random and mixed tests use pages of 16 KiB,"
    " the mixed test reads 70 % of the time. Commit is an append of 512 bytes and a flush (fdatasync), one at a time."
    " Times are from the request to its end."
)
_CACHED_NOTE = "{name}: its file system does not allow direct I/O, so reads and writes are those of the page cache."
_DURABLE_FLUSHES = 0.5
"""A transaction that writes and is durable flushes about once, less often with group commit."""


def storage_section(analysis: Analysis) -> Section | None:
    """The whole section; None where no storage was measured."""
    if not analysis.storages:
        return None
    cached = tuple(_CACHED_NOTE.format(name=storage.name) for storage in analysis.storages if not storage.is_direct)
    uses = _uses(analysis.storage_use)
    return Section(
        anchor="storage",
        title="Storage",
        sentences=(*map(_storage_sentence, analysis.storages), *map(use_sentence, analysis.storage_use)),
        tables=(*(storage_table(storage) for storage in analysis.storages), *((uses,) if uses else ())),
        notes=(_NOTE, *cached),
    )


def _storage_sentence(storage_record: StorageRecord) -> str:
    place = storage_words(storage_record.facts)
    before = ", written over before" if storage_record.is_preconditioned else ""
    return (
        f"{storage_record.name}: {place or storage_record.path}; a file of {format_bytes(storage_record.size_bytes)}"
        f"{before}, {storage_record.fio_version}, {storage_record.duration_s:g} s for each test."
    )


def use_sentence(storage_use: StorageUse) -> str:
    """A flush beside a transaction, in words."""
    place = f"{storage_use.workload}, {storage_use.system}"
    level = storage_use.level.label()
    if storage_use.flush_ms is None:
        return f"{place}: data lies on {storage_use.storage}. A commit's flush was not measured there."
    flush, response = format_ms(storage_use.flush_ms), format_ms(storage_use.response_ms)
    if storage_use.flushes is not None and storage_use.flushes < _DURABLE_FLUSHES:
        return (
            f"{place}: a flush takes {flush} on {storage_use.storage}, but there were only"
            f" {format_number(storage_use.flushes)} for each transaction of {response} at {level}."
        )
    count = (
        ""
        if storage_use.flushes is None
        else f" The server flushed {format_number(storage_use.flushes)} times per transaction."
    )
    return (
        f"{place}: a commit's flush is {flush} ({storage_use.storage}) of a {response} transaction at {level}.{count}"
    )


def storage_table(storage_record: StorageRecord) -> Table:
    """What fio measured on one path."""
    columns = (
        text_column("test"),
        Column(heading="queue depth"),
        text_column("operation"),
        Column(heading="per second"),
        Column(heading="MB/s"),
        Column(heading="mean ms"),
        Column(heading="median ms"),
        Column(heading="p99 ms"),
        Column(heading="p99.9 ms"),
    )
    rows = tuple(row for measurement in storage_record.measurements for row in _rows(measurement))
    return Table(caption=f"{storage_record.name}: fio, without a database", columns=columns, rows=rows)


def _rows(storage_measurement: StorageMeasurement) -> Iterator[tuple[Entry, ...]]:
    for operation, figures in (
        ("read", storage_measurement.read),
        ("write", storage_measurement.write),
        ("flush", storage_measurement.flush),
    ):
        if figures is not None:
            yield (
                Entry(storage_measurement.test.value),
                Entry(str(storage_measurement.queue_depth)),
                Entry(operation),
                *_figures(figures),
            )


def _figures(operation_figures: OperationFigures) -> tuple[Entry, ...]:
    moved = format_number(operation_figures.bytes_per_s / 1e6) if operation_figures.bytes_per_s else NOT_KNOWN
    times = (operation_figures.ms_mean, operation_figures.ms_p50, operation_figures.ms_p99, operation_figures.ms_p999)
    return (
        Entry(format_number(operation_figures.per_s)),
        Entry(moved),
        *(Entry(_milliseconds(value)) for value in times),
    )


def _uses(uses: tuple[StorageUse, ...]) -> Table | None:
    """The database's own input and output; None where nothing is known of it."""
    if not uses:
        return None
    columns = (
        text_column("system"),
        text_column("workload"),
        text_column("storage"),
        Column(heading="flushes", group="per transaction, lowest level"),
        Column(heading="KB read", group="per transaction, lowest level"),
        Column(heading="KB written", group="per transaction, lowest level"),
        Column(heading="KB of redo", group="per transaction, lowest level"),
        Column(heading="reads", group="per second, highest throughput"),
        Column(heading="writes", group="per second, highest throughput"),
    )
    rows = tuple(
        (
            Entry(use.system),
            Entry(use.workload),
            Entry(use.storage),
            *(Entry(_number(value)) for value in (use.flushes, use.read_kb, use.written_kb, use.redo_kb)),
            *(Entry(_number(value)) for value in (use.reads_per_s, use.writes_per_s)),
        )
        for use in uses
    )
    return Table(caption="What the databases ask of it", columns=columns, rows=rows)


def _milliseconds(value: float | None) -> str:
    """To the microsecond below a tenth, where devices differ."""
    return NOT_KNOWN if value is None else f"{value:.3f}" if value < 0.1 else format_number(value)


def _number(value: float | None) -> str:
    return NOT_KNOWN if value is None else format_number(value)


_CLASSES_NOTE = (
    "Promise is what may be lost according to the source's settings, if storage obeys flushes. A semi-synchronous"
    " commit is on another machine as well before it is answered, unless the source fell back to asynchronous."
)
_MEASURED_NOTE = (
    "Measured: after how many faults of plimsoll durability something was lost under the same settings; limit is the"
    " upper end of the one-sided 95 % confidence interval of their share. That server was {server}, fault {fault}."
)
_UNMEASURED_NOTE = (
    "Loss was not measured. plimsoll durability --json > STUDY/durability.json measures it, and the guide then shows it"
    " here."
)


def durability_section(analysis: Analysis) -> Section | None:
    """The whole section; None where systems do not differ in durability."""
    classes = analysis.durability_classes
    if not classes:
        return None
    loss = next((durability.measured for durability in classes if durability.measured is not None), None)
    measured = _UNMEASURED_NOTE if loss is None else _MEASURED_NOTE.format(server=loss.server, fault=loss.fault)
    broken = [
        durability for durability in classes if durability.measured is not None and not durability.measured.is_kept
    ]
    return Section(
        anchor="durability",
        title="Speed against safety",
        sentences=tuple(
            f"{durability.system} did not keep what its settings promise: see the table." for durability in broken
        ),
        tables=tuple(
            _table(
                [durability for durability in classes if durability.workload == workload],
                analysis,
                has_losses=loss is not None,
            )
            for workload in dict.fromkeys(durability.workload for durability in classes)
        ),
        notes=(_CLASSES_NOTE, measured),
    )


def _table(classes: list[DurabilityClass], analysis: Analysis, *, has_losses: bool) -> Table:
    unit = next((workload.rate_unit for workload in analysis.workloads if workload.name == classes[0].workload), "tps")
    columns = [
        text_column("system"),
        *(Column(heading=heading) for heading in ("flush at commit", "sync_binlog")),
        *(text_column(heading) for heading in ("doublewrite", "replication")),
        Column(heading=unit),
        text_column("promise"),
    ]
    if has_losses:
        columns += [Column(heading=heading) for heading in ("faults with loss", "limit", "lost ms", "corrupt")]
    rows = tuple(_class_row(durability, unit, has_losses=has_losses) for durability in classes)
    return Table(caption=f"{classes[0].workload}: classes of durability", columns=tuple(columns), rows=rows)


def _class_row(durability_class: DurabilityClass, unit: str, *, has_losses: bool) -> tuple[Entry, ...]:
    shown, loss = show_rate(durability_class.throughput_tps, unit), durability_class.measured
    entries = [
        Entry(durability_class.system),
        Entry(str(durability_class.flush_log_at_trx_commit)),
        Entry("no binary log" if durability_class.sync_binlog is None else str(durability_class.sync_binlog)),
        Entry("on" if durability_class.doublewrite else "off"),
        Entry(durability_class.replication),
        replace(shown, sources=durability_class.trials),
        Entry(durability_class.promise or NOT_KNOWN),
    ]
    if has_losses and loss is None:
        entries += [Entry(NOT_KNOWN)] * 4
    elif loss is not None:
        limit = NOT_KNOWN if loss.loss_ratio_max == 1 else f"< {format_percent(loss.loss_ratio_max)}"
        entries += [
            Entry(f"{loss.faults_with_loss} of {loss.faults}", mark=None if loss.is_kept else "BROKEN"),
            Entry(limit),
            Entry(NOT_KNOWN if loss.lost_ms is None else format_ms(loss.lost_ms)),
            Entry(str(loss.corrupt)),
        ]
    return tuple(entries)


_COLUMNS = (
    text_column("system"),
    text_column("workload"),
    text_column("data before trials"),
    Column(heading="time"),
    Column(heading="other way"),
    Column(heading="rows"),
    Column(heading="size of tables"),
    Column(heading="redo log filled"),
)
_NOTES = (
    "Rows and size of tables: the largest change during a trial. Files grow in steps of up to 4 MiB.",
    "Redo log filled: how often while the server warmed up. From 1 on it wrapped: the server had to write changed pages"
    " at the pace of the load.",
)
_WAYS = {
    "copy": "copied",
    "prepare": "loaded again",
    "fresh": "loaded for the first time",
    "left": "as the last trial left it",
    "hook": "put back by a hook",
}


def data_section(analysis: Analysis) -> Section | None:
    """The whole section; None where nothing is known, as of imports and older recordings."""
    if not analysis.data:
        return None
    table = Table(
        caption="Data before and after trials",
        columns=_COLUMNS,
        rows=tuple(map(_data_row, analysis.data)),
        notes=_NOTES,
    )
    return Section(anchor="data", title="Data between trials", sentences=(), tables=(table,), is_background=True)


def _data_row(data_summary: DataSummary) -> tuple[Entry, ...]:
    turns = (data_summary.redo_turns_min, data_summary.redo_turns_max)
    return (
        Entry(data_summary.system),
        Entry(data_summary.workload),
        Entry(_came_about(data_summary)),
        Entry(NOT_KNOWN if data_summary.reset_s_median is None else format_duration(data_summary.reset_s_median)),
        Entry(NOT_KNOWN if data_summary.other_s_median is None else format_duration(data_summary.other_s_median)),
        Entry(NOT_KNOWN if data_summary.rows_ratio is None else format_percent(data_summary.rows_ratio, signed=True)),
        Entry(NOT_KNOWN if data_summary.bytes_ratio is None else format_percent(data_summary.bytes_ratio, signed=True)),
        Entry(_range(*turns)),
    )


def _came_about(data_summary: DataSummary) -> str:
    """Ways with their numbers of trials, and what of the data shares blocks with the saved copy."""
    is_one_way = len(data_summary.ways) == 1
    trials = {way: "" if is_one_way else f" ({counted(count, 'trial')})" for way, count in data_summary.ways.items()}
    ways = [f"{_WAYS[way]}{of}" for way, of in trials.items()]
    parts = [*(["aged"] if data_summary.is_aged else []), *ways]
    if data_summary.size_bytes is not None:
        shared = (
            f", {format_bytes(data_summary.cloned_bytes)} of it as shared blocks" if data_summary.cloned_bytes else ""
        )
        parts.append(f"{format_bytes(data_summary.size_bytes)}{shared}")
    return ", ".join(parts) or NOT_KNOWN


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return NOT_KNOWN
    texts = dict.fromkeys((f"{low:.2g} ×", f"{high:.2g} ×"))
    return " to ".join(texts)
