"""Sections on what becomes of data: "Storage", "Speed against safety" and "Data between trials".

What fio measured, and a commit's flush beside a transaction; classes of durability with their throughput and what a
test of them lost; how data was put back, how it changed, and whether the redo log wrapped. Deliberately not here: how
that is found (`plimsoll.analyse`), and the page of a test of durability (`fault_tests`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.explain.equivalence_model import DurabilityClass
from plimsoll.analyse.explain.where_model import StorageUse
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.trial.trial_model import DataSummary
from plimsoll.guide.facts import storage_words
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, show_rate
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
    cached = tuple(_CACHED_NOTE.format(name=one.name) for one in analysis.storages if not one.is_direct)
    uses = _uses(analysis.storage_use)
    return Section(
        anchor="storage",
        title="Storage",
        sentences=(*map(_told, analysis.storages), *map(use_sentence, analysis.storage_use)),
        tables=(*(storage_table(one) for one in analysis.storages), *((uses,) if uses else ())),
        notes=(_NOTE, *cached),
    )


def _told(one: StorageRecord) -> str:
    place = storage_words(one.facts)
    before = ", written over before" if one.is_preconditioned else ""
    return (
        f"{one.name}: {place or one.path}; a file of {format_bytes(one.size_bytes)}{before}, {one.fio_version},"
        f" {one.duration_s:g} s for each test."
    )


def use_sentence(one: StorageUse) -> str:
    """A flush beside a transaction, in words."""
    place = f"{one.workload}, {one.system}"
    level = one.level.label()
    if one.flush_ms is None:
        return f"{place}: data lies on {one.storage}. A commit's flush was not measured there."
    flush, response = format_ms(one.flush_ms), format_ms(one.response_ms)
    if one.flushes is not None and one.flushes < _DURABLE_FLUSHES:
        return (
            f"{place}: a flush takes {flush} on {one.storage}, but there were only {format_number(one.flushes)} for"
            f" each transaction of {response} at {level}."
        )
    count = "" if one.flushes is None else f" The server flushed {format_number(one.flushes)} times per transaction."
    return f"{place}: a commit's flush is {flush} ({one.storage}) of a {response} transaction at {level}.{count}"


def storage_table(one: StorageRecord) -> Table:
    """What fio measured on one path."""
    columns = (
        Column(heading="test", numeric=False),
        Column(heading="queue depth"),
        Column(heading="operation", numeric=False),
        Column(heading="per second"),
        Column(heading="MB/s"),
        Column(heading="mean ms"),
        Column(heading="median ms"),
        Column(heading="p99 ms"),
        Column(heading="p99.9 ms"),
    )
    rows = tuple(row for measurement in one.measurements for row in _rows(measurement))
    return Table(caption=f"{one.name}: fio, without a database", columns=columns, rows=rows)


def _rows(one: StorageMeasurement) -> Iterator[tuple[Entry, ...]]:
    for operation, figures in (("read", one.read), ("write", one.write), ("flush", one.flush)):
        if figures is not None:
            yield (Entry(one.test.value), Entry(str(one.queue_depth)), Entry(operation), *_figures(figures))


def _figures(one: OperationFigures) -> tuple[Entry, ...]:
    moved = format_number(one.bytes_per_s / 1e6) if one.bytes_per_s else NOT_KNOWN
    times = (one.ms_mean, one.ms_p50, one.ms_p99, one.ms_p999)
    return (Entry(format_number(one.per_s)), Entry(moved), *(Entry(_milliseconds(value)) for value in times))


def _uses(uses: tuple[StorageUse, ...]) -> Table | None:
    """The database's own input and output; None where nothing is known of it."""
    if not uses:
        return None
    columns = (
        Column(heading="system", numeric=False),
        Column(heading="workload", numeric=False),
        Column(heading="storage", numeric=False),
        Column(heading="flushes", group="per transaction, lowest level"),
        Column(heading="KB read", group="per transaction, lowest level"),
        Column(heading="KB written", group="per transaction, lowest level"),
        Column(heading="KB of redo", group="per transaction, lowest level"),
        Column(heading="reads", group="per second, highest throughput"),
        Column(heading="writes", group="per second, highest throughput"),
    )
    rows = tuple(
        (
            Entry(one.system),
            Entry(one.workload),
            Entry(one.storage),
            *(Entry(_number(value)) for value in (one.flushes, one.read_kb, one.written_kb, one.redo_kb)),
            *(Entry(_number(value)) for value in (one.reads_per_s, one.writes_per_s)),
        )
        for one in uses
    )
    return Table(caption="What the databases ask of it", columns=columns, rows=rows)


def _milliseconds(value: float | None) -> str:
    """To the microsecond below a tenth, where devices differ."""
    return NOT_KNOWN if value is None else f"{value:.3f}" if value < 0.1 else format_number(value)


def _number(value: float | None) -> str:
    return NOT_KNOWN if value is None else format_number(value)


_CLASSES_NOTE = (
    "Promise is what the settings of the source say that may be lost, if storage does as it is told. A semi-synchronous"
    " commit is on another machine as well before it is answered, unless the source fell back to asynchronous."
)
_MEASURED_NOTE = (
    "Measured: after how many faults of plimsoll durability something was lost under the same settings; limit is the"
    " upper end of the one-sided 95 % confidence interval of their share. That server was {server}, fault {fault}."
)
_UNMEASURED_NOTE = (
    "No loss was measured. plimsoll durability --json > STUDY/durability.json measures it, and the guide then shows it"
    " here."
)


def durability_section(analysis: Analysis) -> Section | None:
    """The whole section; None where systems do not differ in durability."""
    found = analysis.durability_classes
    if not found:
        return None
    loss = next((one.measured for one in found if one.measured is not None), None)
    measured = _UNMEASURED_NOTE if loss is None else _MEASURED_NOTE.format(server=loss.server, fault=loss.fault)
    broken = [one for one in found if one.measured is not None and not one.measured.is_kept]
    return Section(
        anchor="durability",
        title="Speed against safety",
        sentences=tuple(f"{one.system} did not keep what its settings promise: see the table." for one in broken),
        tables=tuple(
            _table([one for one in found if one.workload == workload], analysis, has_losses=loss is not None)
            for workload in dict.fromkeys(one.workload for one in found)
        ),
        notes=(_CLASSES_NOTE, measured),
    )


def _table(found: list[DurabilityClass], analysis: Analysis, *, has_losses: bool) -> Table:
    unit = next((one.rate_unit for one in analysis.workloads if one.name == found[0].workload), "tps")
    columns = [
        Column(heading="system", numeric=False),
        *(Column(heading=heading) for heading in ("flush at commit", "sync_binlog")),
        *(Column(heading=heading, numeric=False) for heading in ("doublewrite", "replication")),
        Column(heading=unit),
        Column(heading="promise", numeric=False),
    ]
    if has_losses:
        columns += [Column(heading=heading) for heading in ("faults with loss", "limit", "lost ms", "corrupt")]
    rows = tuple(_class_row(one, unit, has_losses=has_losses) for one in found)
    return Table(caption=f"{found[0].workload}: classes of durability", columns=tuple(columns), rows=rows)


def _class_row(one: DurabilityClass, unit: str, *, has_losses: bool) -> tuple[Entry, ...]:
    shown, loss = show_rate(one.throughput_tps, unit), one.measured
    entries = [
        Entry(one.system),
        Entry(str(one.flush_log_at_trx_commit)),
        Entry("no binary log" if one.sync_binlog is None else str(one.sync_binlog)),
        Entry("on" if one.doublewrite else "off"),
        Entry(one.replication),
        Entry(shown.value, shown.bounds, sources=one.trials),
        Entry(one.promise or NOT_KNOWN),
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
    Column(heading="system", numeric=False),
    Column(heading="workload", numeric=False),
    Column(heading="data before trials", numeric=False),
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


def _data_row(one: DataSummary) -> tuple[Entry, ...]:
    turns = (one.redo_turns_min, one.redo_turns_max)
    return (
        Entry(one.system),
        Entry(one.workload),
        Entry(_came_about(one)),
        Entry(NOT_KNOWN if one.reset_s_median is None else format_duration(one.reset_s_median)),
        Entry(NOT_KNOWN if one.other_s_median is None else format_duration(one.other_s_median)),
        Entry(NOT_KNOWN if one.rows_ratio is None else format_percent(one.rows_ratio, signed=True)),
        Entry(NOT_KNOWN if one.bytes_ratio is None else format_percent(one.bytes_ratio, signed=True)),
        Entry(_range(*turns)),
    )


def _came_about(one: DataSummary) -> str:
    """Ways with their numbers of trials, and what of the data shares blocks with the saved copy."""
    is_one_way = len(one.ways) == 1
    trials = {way: "" if is_one_way else f" ({counted(count, 'trial')})" for way, count in one.ways.items()}
    ways = [f"{_WAYS[way]}{of}" for way, of in trials.items()]
    parts = [*(["aged"] if one.is_aged else []), *ways]
    if one.size_bytes is not None:
        shared = f", {format_bytes(one.cloned_bytes)} of it as shared blocks" if one.cloned_bytes else ""
        parts.append(f"{format_bytes(one.size_bytes)}{shared}")
    return ", ".join(parts) or NOT_KNOWN


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return NOT_KNOWN
    texts = dict.fromkeys((f"{low:.2g} ×", f"{high:.2g} ×"))
    return " to ".join(texts)
