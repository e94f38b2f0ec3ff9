"""The section "Storage": what fio measured, and a commit's flush beside a transaction.

Deliberately not here: how that is found (`plimsoll.analyse.storage_use`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.storage_model import StorageUse
from plimsoll.guide.facts import storage_words
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.record.storage import OperationFigures, StorageMeasurement, StorageRecord
from plimsoll.units import format_bytes, format_ms, format_number

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
