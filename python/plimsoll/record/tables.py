"""The tables of a recording as Parquet: how they are written, and how damage is noticed on reading.

Deliberately not here: what their columns mean (`frames`), and documents (`content`).
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from plimsoll.errors import RecordError
from plimsoll.record import frames
from plimsoll.record.content import DAMAGE_CURE, TABLE_FILES, read_bytes
from plimsoll.record.document import FileMark

TABLES: Mapping[str, dict[str, pl.DataType]] = {
    "intervals.parquet": frames.INTERVALS,
    "errors.parquet": frames.ERRORS,
    "histograms.parquet": frames.HISTOGRAMS,
    "telemetry.parquet": frames.TELEMETRY,
    "turns.parquet": frames.TURNS,
    "replication.parquet": frames.REPLICATION,
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
    try:
        frame = pl.read_parquet(io.BytesIO(content)) if measures is None else _rows_of(content, measures)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise RecordError(f"{path}: is no Parquet table: {error}. {DAMAGE_CURE}") from error
    frame = _with_later_columns(path.name, frame)
    fault = _table_fault(path.name, frame)
    if fault:
        raise RecordError(f"{path}: {fault}. {DAMAGE_CURE}")
    return frame


def _rows_of(content: bytes, measures: Collection[str]) -> pl.DataFrame:
    """Rows of these measures. Rows of a measure stand together, so other row groups are not taken apart."""
    names = pl.read_parquet(io.BytesIO(content), columns=["measure"])["measure"]
    edges = np.flatnonzero(np.diff(names.is_in(list(measures)).to_numpy(), prepend=False, append=False))
    runs = edges.reshape(-1, 2).tolist()
    rows = pl.scan_parquet(io.BytesIO(content))
    if len(runs) > len(measures):  # an older file
        return rows.filter(pl.col("measure").is_in(list(measures))).collect()
    found = [rows.slice(begin, end - begin).collect() for begin, end in runs]
    return pl.concat(found) if found else rows.head(0).collect()


def _with_later_columns(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the columns that its writer did not know yet, without values."""
    later = [column for column in _later(TABLES[name]) if column not in frame.columns]
    if not later:
        return frame
    return frame.with_columns(pl.lit(None, TABLES[name][column]).alias(column) for column in later)


def _later(table: dict[str, pl.DataType]) -> list[str]:
    return [column for column, of in frames.LATER if of is table]


def _table_fault(name: str, frame: pl.DataFrame) -> str | None:
    """What keeps a frame from being the table of that name; None when nothing does."""
    expected, found = TABLES[name], frame.schema
    if found.keys() != expected.keys():
        return f"columns must be {', '.join(expected)}; are {', '.join(found)}"
    wrong = [f"{name} is {found[name]}, must be {kind}" for name, kind in expected.items() if found[name] != kind]
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
