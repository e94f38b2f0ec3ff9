"""Copies of a stopped server's data directory: shared blocks where the file system can, no trace in the page cache.

Deliberately not here: when to copy (`managed`).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.units import format_bytes

_CHUNK_BYTES = 64 * 2**20


def replace_tree(source: Path, destination: Path) -> None:
    """Makes `destination` a copy of `source`: folders and plain files with their modes, durable when it returns.

    What was in `destination` is removed first. Holes and preallocated ranges stay so, and the copied files leave the
    page cache, so that a trial after a reset meets the same cold cache as the one before.

    Raises:
        HostError: No source, too little space, or an entry that is neither folder nor plain file.
    """
    if not source.is_dir():
        raise HostError(f"{source}: there is no saved data; save it before it is restored")
    _check_space(source, destination)
    try:
        if destination.is_symlink():
            raise HostError(f"{destination}: is a symbolic link; it is left alone")
        if destination.exists():
            shutil.rmtree(destination)
        _copy_tree(source, destination)
        _make_durable(destination)
        for folder in (source, destination):
            _leave_page_cache(folder)
    except OSError as error:
        raise HostError(
            f"{destination}: copying from {source} failed: {error}; free some space and try again"
        ) from None


def tree_bytes(folder: Path) -> int:
    """Size of all plain files below a folder; none when it does not exist."""
    return sum((Path(parent) / name).lstat().st_size for parent, _, names in os.walk(folder) for name in names)


def _check_space(source: Path, destination: Path) -> None:
    wanted = tree_bytes(source)
    usage = os.statvfs(destination.parent)
    free = usage.f_bavail * usage.f_frsize + tree_bytes(destination)
    if wanted > free:
        raise HostError(
            f"{destination.parent}: a copy of the data needs {format_bytes(wanted)}, {format_bytes(free)} are free; "
            "free some space or choose another data_dir"
        )


def _copy_tree(source: Path, destination: Path) -> None:
    destination.mkdir(mode=0o700)
    for entry in os.scandir(source):
        target = destination / entry.name
        if entry.is_dir(follow_symlinks=False):
            _copy_tree(Path(entry.path), target)
        elif entry.is_file(follow_symlinks=False):
            _copy_file(Path(entry.path), target)
        else:
            raise HostError(f"{entry.path}: is neither a folder nor a plain file; such data cannot be saved")
    shutil.copymode(source, destination)


def _copy_file(source: Path, destination: Path) -> None:
    with source.open("rb", buffering=0) as reader, destination.open("xb", buffering=0) as writer:
        facts = os.fstat(reader.fileno())
        os.ftruncate(writer.fileno(), facts.st_size)
        if facts.st_size and facts.st_blocks * 512 >= facts.st_size:
            # A preallocated log must not pay for its blocks during the measurement.
            os.posix_fallocate(writer.fileno(), 0, facts.st_size)
        # Pages in the cache count as data, even those of a preallocated range that read-ahead has just brought in:
        # without these two lines a redo log of gigabytes, nearly all of it never written, would be copied whole.
        os.posix_fadvise(reader.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        ranges = list(_data_ranges(reader.fileno(), facts.st_size))
        for begin, end in ranges:
            _copy_range(reader.fileno(), writer.fileno(), begin, end)
    shutil.copymode(source, destination)


def _make_durable(folder: Path) -> None:
    """Writes out the whole file system below a folder: one flush instead of one for each of a thousand files."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)


def _leave_page_cache(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for name in names:
            with (Path(parent) / name).open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _data_ranges(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Where a file has data: begin and end of each range that is no hole."""
    end = 0
    while end < size:
        try:
            begin = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        end = os.lseek(descriptor, begin, os.SEEK_HOLE)
        yield begin, end


def _copy_range(reader: int, writer: int, begin: int, end: int) -> None:
    """Copies a range; the kernel shares its blocks where the file system can, otherwise it copies them itself."""
    with contextlib.suppress(OSError):
        while begin < end:
            done = os.copy_file_range(reader, writer, min(end - begin, _CHUNK_BYTES), begin, begin)
            if done == 0:
                break
            begin += done
    while begin < end:
        block = os.pread(reader, min(end - begin, 2**20), begin)
        if not block:
            raise OSError(errno.EIO, "the file became shorter while it was copied")
        begin += os.pwrite(writer, block, begin)
