"""Copies of a stopped server's folders: shared blocks where the file system can, no trace in the page cache.

A clone (FICLONE, ioctl_ficlonerange(2)) takes no time, and the first write to each of its blocks allocates a new one. A
redo log is written from its first byte on, in the measured time: its blocks are allocated here and its content is
copied. Deliberately not here: when to copy (`managed`).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.units import format_bytes

_CHUNK_BYTES = 64 * 2**20
_FICLONE = 0x40049409
_CANNOT_CLONE = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.EPERM, errno.ENOSYS})
_REDO = ("ib_logfile", "#ib_redo")
"""How files of a redo log begin, of MariaDB and MySQL before 8.0.30, and of later ones."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy took.

    Attributes:
        size_bytes: Of what was written in all files: holes and ranges that were only reserved do not count.
        cloned_bytes: Of those whose blocks are shared with the source.
        duration_s: Until the copy was durable and had left the page cache.
    """

    size_bytes: int = 0
    cloned_bytes: int = 0
    duration_s: float = 0.0

    def __add__(self, other: Copied) -> Copied:
        """Two copies, one after the other."""
        return Copied(
            self.size_bytes + other.size_bytes,
            self.cloned_bytes + other.cloned_bytes,
            self.duration_s + other.duration_s,
        )


class CopyEndedError(HostError):
    """Somebody wanted a copy no more before it was whole; nothing of it is left."""


def _never() -> bool:
    return False


def replace_tree(source: Path, destination: Path, is_ended: Callable[[], bool] = _never) -> Copied:
    """Makes `destination` a copy of `source`: folders and plain files with their modes, durable when it returns.

    What was in `destination` is removed first, and what a copy that failed left of it. Holes and preallocated ranges
    stay so, and the copied files leave the page cache, so that a trial after a reset meets the same cold cache as the
    one before. Of a copy that fails, or is ended, nothing is left.

    Args:
        source: What is copied.
        destination: What becomes the copy.
        is_ended: Whether the copy is wanted no more; asked for each file and each 64 MiB.

    Raises:
        HostError: No source, too little space, or an entry that is neither folder nor plain file.
        CopyEndedError: It was ended.
    """
    if not source.is_dir():
        raise HostError(f"{source}: there is no saved data to restore")
    began_s = time.perf_counter()
    _check_space(source, destination)
    if destination.is_symlink():
        raise HostError(f"{destination}: is a symbolic link; it was not touched")
    try:
        if destination.exists():
            shutil.rmtree(destination)
        copied = _copy_tree(source, destination, is_ended)
        make_durable(destination)
        for folder in (source, destination):
            leave_page_cache(folder)
    except OSError as error:
        shutil.rmtree(destination, ignore_errors=True)
        raise HostError(
            f"{destination}: copying from {source} failed: {error.strerror or error}; free some space there and run"
            " the same command again"
        ) from None
    except BaseException:
        shutil.rmtree(destination, ignore_errors=True)
        raise
    return Copied(copied.size_bytes, copied.cloned_bytes, time.perf_counter() - began_s)


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


def _copy_tree(source: Path, destination: Path, is_ended: Callable[[], bool]) -> Copied:
    destination.mkdir(mode=0o700)
    copied = Copied()
    for entry in os.scandir(source):
        target = destination / entry.name
        if entry.is_dir(follow_symlinks=False):
            copied += _copy_tree(Path(entry.path), target, is_ended)
        elif entry.is_file(follow_symlinks=False):
            copied += _copy_file(Path(entry.path), target, is_ended)
        else:
            raise HostError(f"{entry.path}: is neither a folder nor a plain file; such data cannot be saved")
    shutil.copymode(source, destination)
    return copied


def _refuse_ended(destination: Path, is_ended: Callable[[], bool]) -> None:
    if is_ended():
        raise CopyEndedError(f"{destination}: the copy was ended before it was whole")


def _copy_file(source: Path, destination: Path, is_ended: Callable[[], bool]) -> Copied:
    _refuse_ended(destination, is_ended)
    is_redo = source.name.startswith(_REDO)
    with source.open("rb", buffering=0) as reader, destination.open("xb", buffering=0) as writer:
        facts = os.fstat(reader.fileno())
        is_cloned = not is_redo and _clone(reader.fileno(), writer.fileno())
        os.ftruncate(writer.fileno(), facts.st_size)
        if not is_cloned and facts.st_size and facts.st_blocks * 512 >= facts.st_size:
            # A preallocated log must not pay for its blocks during the measurement.
            os.posix_fallocate(writer.fileno(), 0, facts.st_size)
        # Pages in the cache count as data, even those of a preallocated range that read-ahead has just brought in:
        # without these two lines a redo log of gigabytes, nearly all of it never written, would be copied whole.
        os.posix_fadvise(reader.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        ranges = [] if is_cloned else list(_data_ranges(reader.fileno(), facts.st_size))
        for begin, end in ranges:
            for at in range(begin, end, _CHUNK_BYTES):
                _refuse_ended(destination, is_ended)
                _copy_range(reader.fileno(), writer.fileno(), at, min(at + _CHUNK_BYTES, end), may_share=not is_redo)
    shutil.copymode(source, destination)
    return Copied(facts.st_size, facts.st_size) if is_cloned else Copied(sum(end - begin for begin, end in ranges))


def _clone(reader: int, writer: int) -> bool:
    """Lets an empty file share the blocks of another one; False where the file system cannot."""
    try:
        fcntl.ioctl(writer, _FICLONE, reader)
    except OSError as error:
        if error.errno in _CANNOT_CLONE:
            return False
        raise
    return True


def make_durable(folder: Path) -> None:
    """Writes out the whole file system below a folder: one flush instead of one for each of a thousand files.

    Raises:
        OSError: It cannot be written.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)


def leave_page_cache(folder: Path) -> None:
    """Drops what the page cache holds of the files below a folder, and nothing else.

    Pages that are not written yet stay: `make_durable` writes them before.

    Raises:
        OSError: A file cannot be opened.
    """
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


def _copy_range(reader: int, writer: int, begin: int, end: int, *, may_share: bool) -> None:
    """Copies a range; where blocks may be shared the kernel does that if it can, otherwise it copies them itself."""
    with contextlib.suppress(OSError):
        while may_share and begin < end:
            done = os.copy_file_range(reader, writer, min(end - begin, _CHUNK_BYTES), begin, begin)
            if done == 0:
                break
            begin += done
    while begin < end:
        block = os.pread(reader, min(end - begin, 2**20), begin)
        if not block:
            raise OSError(errno.EIO, "the file became shorter while it was copied")
        begin += os.pwrite(writer, block, begin)
