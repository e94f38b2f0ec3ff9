"""Folders and files that survive a crash: written whole, flushed to the disk, and digested.

Deliberately not here: which files a recording has, and in which order they are written (`partial`).
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.errors import StorageError
from plimsoll.record.document import FileMark

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
