"""The bytes of a recording's files: how documents and tables are written, and how damage is noticed on reading.

Deliberately not here: folders, names and the order in which files are committed (`store`).
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
from pydantic import ValidationError

from plimsoll.errors import NewerFormatError, RecordError
from plimsoll.record import frames
from plimsoll.record.document import Document, FileMark
from plimsoll.record.files import mark_of_file
from plimsoll.record.model import RECORD_FORMAT_MAX
from plimsoll.regular_file import read_regular

TABLES: Mapping[str, dict[str, pl.DataType]] = {
    "intervals.parquet": frames.INTERVALS,
    "errors.parquet": frames.ERRORS,
    "histograms.parquet": frames.HISTOGRAMS,
    "telemetry.parquet": frames.TELEMETRY,
    "turns.parquet": frames.TURNS,
    "replication.parquet": frames.REPLICATION,
}
"""Columns and types of each table by the name of its file."""

GROUP_ROWS: Mapping[str, int] = {"histograms.parquet": 64}
"""Rows of a row group, which is what a reader takes apart or passes over as a whole: of one measure, or of two."""

DAMAGE_CURE = "Restore the folder from a copy, or remove it and run the study again."
"""What to do about a damaged recording."""

_VERSION_SHOWN_MAX = 40

_Document = TypeVar("_Document", bound=Document)


def document_bytes(document: Document) -> bytes:
    """The document as JSON. What a reader would refuse (a NaN where a number is due) is refused here."""
    content = document.model_dump_json(indent=1).encode() + b"\n"
    type(document).model_validate_json(content)
    return content


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


def mark_of(content: bytes) -> FileMark:
    """Length and digest of a file's bytes."""
    return FileMark(size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def read_document(path: Path, kind: type[_Document], mark: FileMark | None = None) -> _Document:
    """Reads a JSON document.

    Args:
        path: The file.
        kind: What it must be.
        mark: What its bytes must be like; None for the document that holds the marks.

    Raises:
        RecordError: The file is missing, damaged, or not of that kind.
    """
    content = _read_bytes(path, mark)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"{path}: {place}{': ' if place else ''}{first['msg']}. {DAMAGE_CURE}") from error


def read_table(path: Path, mark: FileMark, measures: Collection[str] | None = None) -> pl.DataFrame:
    """Reads the table of the file's name.

    Args:
        path: The file.
        mark: What its bytes must be like.
        measures: Only rows of these; None for all, and for tables without measures. Older files are read whole for it.

    Raises:
        RecordError: The file is missing, damaged, or has other columns or types.
    """
    content = _read_bytes(path, mark)
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


def refuse_newer(path: Path) -> None:
    """Looks at the format's version alone: a newer version may have changed everything else.

    Args:
        path: The recording's `trial.json`.

    Raises:
        NewerFormatError: It is newer than this reader.
        RecordError: It is no document with a version, or its bytes changed.
    """
    content = _read_bytes(path)
    try:
        version = json.loads(content)["record_format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RecordError(f"{path}: is cut short, or no JSON object with a record_format. {DAMAGE_CURE}") from None
    if isinstance(version, int) and version <= RECORD_FORMAT_MAX:
        return
    if _stated_digest(path) not in (None, mark_of(content).sha256):
        raise _changed(path)
    raise NewerFormatError(
        f"{path}: written by a newer Plimsoll: record_format is {repr(version)[:_VERSION_SHOWN_MAX]}, this one reads up"
        f" to {RECORD_FORMAT_MAX}. Upgrade Plimsoll to read it."
    )


def _changed(path: Path) -> RecordError:
    return RecordError(f"{path}: its bytes changed since it was written. {DAMAGE_CURE}")


def unreadable(path: Path, error: OSError) -> RecordError:
    """What is told of a file or folder of a study that the disk does not give."""
    return RecordError(f"{path}: cannot be read: {error.strerror}. Check the disk and the rights.")


def _stated_digest(trial: Path) -> str | None:
    """The digest of `trial.json` that the recording's outcome states; None if it states none."""
    try:
        stated = json.loads(read_regular(trial.with_name("outcome.json")))["files"][trial.name]["sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return str(stated)


def check_bytes(path: Path, mark: FileMark) -> None:
    """Notices any change of a file since it was written.

    Raises:
        RecordError: It changed, is missing, or cannot be read.
    """
    check_size(path, mark)
    try:
        found = mark_of_file(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if found != mark:
        raise _changed(path)


def check_size(path: Path, mark: FileMark) -> None:
    """Notices a missing file or one cut short without reading it.

    Raises:
        RecordError: It is.
    """
    try:
        size_bytes = path.stat().st_size
    except OSError:
        raise RecordError(f"{path}: the file is missing. {DAMAGE_CURE}") from None
    if size_bytes != mark.size_bytes:
        word = "cut short" if size_bytes < mark.size_bytes else "too long"
        raise RecordError(f"{path}: {word}: {size_bytes} bytes, must be {mark.size_bytes}. {DAMAGE_CURE}")


def _read_bytes(path: Path, mark: FileMark | None = None) -> bytes:
    if mark:
        check_size(path, mark)
    try:
        content = read_regular(path)
    except FileNotFoundError:
        hint = "the recording was never finished" if path.name == "outcome.json" else "the file is missing"
        raise RecordError(f"{path}: {hint}. {DAMAGE_CURE}") from None
    except OSError as error:
        raise unreadable(path, error) from error
    if mark and mark_of(content) != mark:
        raise _changed(path)
    return content


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
