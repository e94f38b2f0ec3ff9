"""The tables of a recording: columns, types and units, how they are written as Parquet, how damage is noticed.

Every row carries driver, host and instance. `driver` is the machine that drove the load, `host` the machine that a row
is about, `instance` the server's name (empty where a row is about the whole host). `role` is the server's role, source
or replica: a transaction counts with the server that it ran on. Older recordings and imports have no role: all is of
sources. Deliberately not here: documents (`files`).
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from plimsoll.errors import RecordError
from plimsoll.record.document import FileMark
from plimsoll.record.files import DAMAGE_CURE, TABLE_FILES, check_bytes, read_bytes

_PLACE = {"driver": pl.String(), "host": pl.String(), "instance": pl.String()}

_ROLE = {**_PLACE, "role": pl.String()}

INTERVALS: dict[str, pl.DataType] = {
    **_ROLE,
    "interval": pl.UInt32(),  # 0, 1, 2, …
    "from_s": pl.Float64(),  # seconds since interval 0 began
    "to_s": pl.Float64(),
    "transaction": pl.String(),  # name of the transaction type
    "completed": pl.UInt64(),
    "rolled_back": pl.UInt64(),  # of those that completed; null where nobody counted them
    "failed": pl.UInt64(),
    "dropped": pl.UInt64(),
    "retries": pl.UInt64(),
    "reads": pl.UInt64(),
    "writes": pl.UInt64(),
    "others": pl.UInt64(),
    "rows_returned": pl.UInt64(),
    "rows_affected": pl.UInt64(),
}
"""`intervals.parquet`: counts by interval and transaction type."""

ERRORS: dict[str, pl.DataType] = {
    **_ROLE,
    "interval": pl.UInt32(),
    "transaction": pl.String(),  # type that met it; null outside of transactions, and where nobody said
    "class": pl.String(),  # retryable, connection, statement
    "code": pl.UInt16(),  # MySQL's number; 0 when the client noticed it without one
    "count": pl.UInt64(),
}
"""`errors.parquet`: failed statements by interval, transaction type, class and code. No rows when there were none."""

HISTOGRAMS: dict[str, pl.DataType] = {
    **_ROLE,
    "interval": pl.UInt32(),
    "transaction": pl.String(),  # empty for what was in flight: of which type it is, is known when it ends
    "measure": pl.String(),  # response, service, pool_wait, dispatch_delay; in_flight_… of what was in flight
    "buckets": pl.List(pl.UInt32()),  # bucket indexes, rising; layout in `histograms`
    "counts": pl.List(pl.UInt64()),  # one for each bucket
    "sum_ns": pl.UInt64(),
    "max_ns": pl.UInt64(),
}
"""`histograms.parquet`: durations of completed transactions by interval, type and measure. Optional.

Measures that begin with `IN_FLIGHT` are of transactions that were due before the end of the interval and had not ended
then: how long they had lasted. Older recordings have none.
"""

TELEMETRY: dict[str, pl.DataType] = {
    **_PLACE,
    "unix_s": pl.Float64(),  # wall clock, seconds since 1970
    "source": pl.String(),  # host, device, process, server, engine
    "metric": pl.String(),  # name with its unit last
    "value": pl.Float64(),
}
"""`telemetry.parquet`: one row for each sample of each metric."""

REPLICATION: dict[str, pl.DataType] = {
    **_ROLE,  # of the replica
    "interval": pl.UInt32(),
    "lag_s": pl.Float64(),  # the largest within the interval; null where nobody knows
    "lag_end_s": pl.Float64(),  # at its end
    "reads": pl.UInt64(),  # transactions that were sent there because they only read
    "stale_reads": pl.UInt64(),  # those that may have missed the last write of their connection
    "waits": pl.UInt64(),  # for the connection's last write, those that were given up included
    "wait_s": pl.Float64(),  # all together; part of the response times
    "wait_timeouts": pl.UInt64(),  # waits that were given up: the read ran on the source
}
"""`replication.parquet`: lag and reads of each replica by interval. Only of systems with replicas."""

TURNS: dict[str, pl.DataType] = {
    **_PLACE,
    "interval": pl.UInt32(),  # the row of `intervals.parquet` that is the counted part of the turn
    "pair": pl.UInt32(),  # ordinal of the pair of neighbouring turns in its round, the same with the other system
    "position": pl.UInt32(),  # 0 for the first turn of the pair, 1 for the second
    "against": pl.String(),  # the system whose turn the other one of the pair was
    "from_s": pl.Float64(),  # seconds since the load began, as in `intervals.parquet`: transactions begin
    "counted_from_s": pl.Float64(),  # from here they count
    "to_s": pl.Float64(),  # to here they count, and no transaction begins any more
    "drained_s": pl.Float64(),  # the last transaction in flight ended
    "completed": pl.UInt64(),  # within the counted part
    "completed_besides": pl.UInt64(),  # before and after it
    "failed": pl.UInt64(),  # of the whole turn
    "begun": pl.Float64(),  # those that began within the counted part and completed, in the drain as well
    "running_s": pl.Float64(),  # how long a connection ran them: from the end of the one before to the end of the last
}
"""`turns.parquet`: the turns of one system in a duet. Only recordings of duets have it; its instance is empty."""

IN_FLIGHT = "in_flight_"
"""Begins the measures of what was in flight."""

LATER = (
    ("rolled_back", INTERVALS),
    ("transaction", ERRORS),
    *(("role", table) for table in (INTERVALS, ERRORS, HISTOGRAMS)),
    *((name, REPLICATION) for name in ("lag_s", "lag_end_s")),
    *((name, TURNS) for name in ("begun", "running_s")),
)
"""Columns, with their tables, whose values may be missing, and which older recordings do not have."""

TABLES: Mapping[str, dict[str, pl.DataType]] = {
    "intervals.parquet": INTERVALS,
    "errors.parquet": ERRORS,
    "histograms.parquet": HISTOGRAMS,
    "telemetry.parquet": TELEMETRY,
    "turns.parquet": TURNS,
    "replication.parquet": REPLICATION,
}
"""Columns and types of each table by the name of its file."""
assert tuple(TABLES) == TABLE_FILES, "what may be there is what can be read"

GROUP_ROWS: Mapping[str, int] = {"histograms.parquet": 64}
"""Rows of a row group, which is what a reader takes apart or passes over as a whole: of one measure, or of two."""


def table_bytes(name: str, frame: pl.DataFrame) -> bytes:
    """The frame as Parquet. It must be what `read_table` accepts for that name, columns in any order.

    Rows with a measure are sorted by it, and as they were among those of one measure.
    """
    fault = _table_fault(name, frame)
    assert not fault, f"{name}: {fault}"
    rows = frame.select(list(TABLES[name]))
    rows = rows.sort("measure", maintain_order=True) if "measure" in rows.columns else rows
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd", row_group_size=GROUP_ROWS.get(name))
    return buffer.getvalue()


def read_table(path: Path, mark: FileMark, measures: Collection[str] | None = None) -> pl.DataFrame:
    """Reads the table of the file's name.

    Args:
        path: The file.
        mark: What its bytes must be like.
        measures: Only rows of these; None for all, and for tables without measures. Older files are read whole for it.

    Raises:
        RecordError: The file is missing, damaged, or has other columns or types.
    """
    content = read_bytes(path, mark)
    with _reading(path):
        frame = pl.read_parquet(io.BytesIO(content)) if measures is None else _rows_of(content, measures)
    frame = _with_later_columns(path.name, frame)
    fault = _table_fault(path.name, frame)
    if fault:
        raise RecordError(f"{path}: {fault}. {DAMAGE_CURE}")
    return frame


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise RecordError(f"{path}: is no Parquet table: {error}. {DAMAGE_CURE}") from error


def scan_table(path: Path, mark: FileMark) -> pl.LazyFrame:
    """The same to be read piece by piece: a table of hours is never in memory as a whole. Its columns are not checked.

    Raises:
        RecordError: The file is missing, cut short or changed, or is no table.
    """
    check_bytes(path, mark)
    with _reading(path):
        return _with_later_columns(path.name, pl.scan_parquet(path))


def _rows_of(content: bytes, measures: Collection[str]) -> pl.DataFrame:
    """Rows of these measures. Rows of a measure stand together, so other row groups are not taken apart."""
    names = pl.read_parquet(io.BytesIO(content), columns=["measure"])["measure"]
    edges = np.flatnonzero(np.diff(names.is_in(list(measures)).to_numpy(), prepend=False, append=False))
    runs = edges.reshape(-1, 2).tolist()
    rows = pl.scan_parquet(io.BytesIO(content))
    if len(runs) > len(measures):  # an older file
        return rows.filter(pl.col("measure").is_in(list(measures))).collect()
    slices = [rows.slice(begin, end - begin).collect() for begin, end in runs]
    return pl.concat(slices) if slices else rows.head(0).collect()


_Frame = TypeVar("_Frame", pl.DataFrame, pl.LazyFrame)


def _with_later_columns(name: str, frame: _Frame) -> _Frame:
    """The frame with the columns that its writer did not know yet, without values."""
    known = frame.collect_schema().names()
    later = [column for column in _later(TABLES[name]) if column not in known]
    if not later:
        return frame
    return frame.with_columns(pl.lit(None, TABLES[name][column]).alias(column) for column in later)


def _later(table: dict[str, pl.DataType]) -> list[str]:
    return [column for column, of in LATER if of is table]


def _table_fault(name: str, frame: pl.DataFrame) -> str | None:
    """What keeps a frame from being the table of that name; None when nothing does."""
    expected, actual = TABLES[name], frame.schema
    if actual.keys() != expected.keys():
        return f"columns must be {', '.join(expected)}; are {', '.join(actual)}"
    wrong = [f"{name} is {actual[name]}, must be {kind}" for name, kind in expected.items() if actual[name] != kind]
    if wrong:
        return f"wrong types: {'; '.join(wrong)}"
    later = _later(expected)
    nulls = [column for column in expected if column not in later and frame[column].null_count()]
    if nulls:
        return f"values missing in {', '.join(nulls)}"
    alike = pl.col("buckets").list.len() == pl.col("counts").list.len()
    if "buckets" in expected and not frame.select(alike.all()).item():
        return "buckets and counts differ in length"
    return None
