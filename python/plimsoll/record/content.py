"""The bytes of a recording's files: how documents are written, and how damage is noticed on reading.

Deliberately not here: tables (`tables`, which takes longer to import), and folders, names and the order in which files
are committed (`store`).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from plimsoll.errors import NewerFormatError, RecordError
from plimsoll.record.document import Document, FileMark
from plimsoll.record.files import mark_of_file
from plimsoll.record.model import RECORD_FORMAT_MAX
from plimsoll.regular_file import read_regular

TABLE_FILES = (
    "intervals.parquet",
    "errors.parquet",
    "histograms.parquet",
    "telemetry.parquet",
    "turns.parquet",
    "replication.parquet",
)
"""Names of the files that may hold a table."""

DAMAGE_CURE = "Restore the folder from a copy, or remove it and run the study again."
"""What to do about a damaged recording."""

_VERSION_SHOWN_MAX = 40

_Document = TypeVar("_Document", bound=Document)


def document_bytes(document: Document) -> bytes:
    """The document as JSON. What a reader would refuse (a NaN where a number is due) is refused here."""
    content = document.model_dump_json(indent=1).encode() + b"\n"
    type(document).model_validate_json(content)
    return content


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
    content = read_bytes(path, mark)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"{path}: {place}{': ' if place else ''}{first['msg']}. {DAMAGE_CURE}") from error


def refuse_newer(path: Path) -> None:
    """Looks at the format's version alone: a newer version may have changed everything else.

    Args:
        path: The recording's `trial.json`.

    Raises:
        NewerFormatError: It is newer than this reader.
        RecordError: It is no document with a version, or its bytes changed.
    """
    content = read_bytes(path)
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


def read_bytes(path: Path, mark: FileMark | None = None) -> bytes:
    """Reads a file of a recording.

    Raises:
        RecordError: It is missing, cannot be read, or is not as its mark says.
    """
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
