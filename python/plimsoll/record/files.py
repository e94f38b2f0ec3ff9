"""The files of a recording: where they lie, how they are written whole and flushed, how damage is noticed on reading.

Documents are JSON. What hooks left may be anything: only regular files that can be read are kept, and only so many
bytes, because the digest of every file is checked whenever a study is run or analysed. Deliberately not here: tables
(`frames`, which takes longer to import), and the order in which files are committed (`store`, `partial`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from plimsoll.errors import HostError, NewerFormatError, RecordError, StorageError
from plimsoll.record.document import Document, FileMark
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
        current = mark_of_file(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if current != mark:
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


PREFIX = ".partial-"
"""Begins the name of a recording that is being written."""


def recordings_folder(study: Path) -> Path:
    """Where a study's recordings lie."""
    return study / "recordings"


def checked_id(trial_id: str) -> str:
    """A trial's id that can be a folder's name; raises RecordError for others."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", trial_id):
        raise RecordError(f"trial_id: must be 1 to 100 letters, digits, - or _, is {trial_id!r}")
    return trial_id


def partials(study: Path) -> list[Path]:
    """The folders of recordings that are being written, or that a crash left unfinished."""
    return sorted(recordings_folder(study).glob(f"{PREFIX}*"))


_NO_SPACE = "No space left on device"


def make_directory(path: Path) -> None:
    """Makes a folder if need be, not those above it; its name survives a crash."""
    path.mkdir(exist_ok=True)
    sync_directory(path.parent)


def write_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes a file whole or not at all, over an older one if need be.

    Args:
        path: The file.
        content: All of it.
        durable: Waits until the disk has it. While load runs that would disturb what is measured.
    """
    unfinished = partial_of(path)
    with open(unfinished, "wb", opener=_open_own) as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    unfinished.rename(path)


def replace_file(path: Path, content: str | bytes, cure: str) -> None:
    """Writes a small file whole or not at all, over an older one if need be.

    Args:
        path: The file.
        content: All of it; text is written in UTF-8.
        cure: What to do where that fails.

    Raises:
        HostError: It cannot be written.
    """
    try:
        write_file(path, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise HostError(f"{path}: cannot be written: {error.strerror}; {cure}") from None


def partial_of(path: Path) -> Path:
    """Where a file is until it is whole."""
    return path.with_name(f".{path.name}.partial")


def _open_own(path: str, flags: int) -> int:
    """Opens a file of ours for writing: waits for no reader of a pipe, and follows no link to what is not ours."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def sync_file(path: Path) -> None:
    """Waits until the disk has a file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Waits until the disk has the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_directory(path: Path) -> None:
    """Removes a folder with all that is in it, as far as that is possible."""
    shutil.rmtree(path, ignore_errors=True)


def mark_of_file(path: Path) -> FileMark:
    """Length and digest of a file, read piece by piece.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return FileMark(size_bytes=file.tell(), sha256=digest)


@contextmanager
def storing(place: Path) -> Iterator[None]:
    """Turns what a disk refuses into one clear message.

    Raises:
        StorageError: The disk is full, or the folder cannot be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or _NO_SPACE in str(error):
            raise StorageError(
                f"{place}: the disk is full, the recording could not be completed. Free space, then run again."
            ) from error
        reason = error.strerror or str(error)
        raise StorageError(
            f"{place}: cannot be written: {reason}. Check that the folder exists and may be written."
        ) from error


OUTPUT_FOLDER = "hooks"
COLLECTED_FOLDER = "collected"
FOLDERS = (OUTPUT_FOLDER, COLLECTED_FOLDER)

COLLECTED_BYTES_MAX = 256 * 2**20
COLLECTED_FILES_MAX = 1000


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was not kept of what a hook left.

    Attributes:
        unfit: Names of what is no regular file that can be read.
        beyond: Names of files that are too large together, or too many.
    """

    unfit: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


def is_attached(name: str) -> bool:
    """Whether a name that a recording lists is that of a file in these folders, and leads nowhere else."""
    folder, *rest = name.split("/")
    return folder in FOLDERS and bool(rest) and not {"", ".", ".."} & set(rest)


def attached_files(recording: Path) -> list[str]:
    """Names of all files in these folders, relative to the recording, in order."""
    return sorted(name for folder in FOLDERS for name, _ in _entries(recording, recording / folder))


def drop_unfit(recording: Path, bytes_max: int = COLLECTED_BYTES_MAX, files_max: int = COLLECTED_FILES_MAX) -> Dropped:
    """Removes what cannot be kept of the collected files; smaller files are kept first.

    Raises:
        OSError: The disk refused it.
    """
    unfit: list[str] = []
    sizes: list[tuple[int, str]] = []
    for name, status in list(_entries(recording, recording / COLLECTED_FOLDER)):
        if stat.S_ISREG(status.st_mode) and _is_text(name) and os.access(recording / name, os.R_OK):
            sizes.append((status.st_size, name))
        else:
            (recording / name).unlink()
            unfit.append(ascii(name)[1:-1])
    beyond, total = [], 0
    for count, (size, name) in enumerate(sorted(sizes), start=1):
        total += size
        if total > bytes_max or count > files_max:
            (recording / name).unlink()
            beyond.append(name)
    return Dropped(tuple(unfit), tuple(beyond))


def _entries(recording: Path, folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything in a folder and those below it that is no folder itself; a link is an entry, wherever it leads."""
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        for path in (Path(place, name) for name in (*files, *links)):
            yield str(path.relative_to(recording)), path.lstat()


def _is_text(name: str) -> bool:
    """Whether a name can stand in a document: those that are no UTF-8 cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in name)
