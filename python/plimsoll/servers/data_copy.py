"""Copies of a stopped server's folders: saved, restored, and kept for other studies in a folder that the user named.

Blocks are shared where the file system can, and nothing stays in the page cache. A clone (FICLONE,
ioctl_ficlonerange(2)) takes no time, and the first write to each of its blocks allocates a new one. A redo log is
written from its first byte on, in the measured time: its blocks are allocated here and its content is copied.

A folder of kept data has one folder for each instance, with a marker of ours that says what the data is: which server
made it, for which data sets. It is refused where that does not fit, and where another study uses it (flock). What is
kept is written beside the old one and then renamed. Binary logs are not kept: a new server begins new ones.
Deliberately not here: when to copy (`managed`), and what data sets are (the caller describes them).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import HostError
from plimsoll.record.environment import StorageFacts
from plimsoll.servers.directory import InstanceDirectory
from plimsoll.servers.option_file import BINLOG
from plimsoll.servers.storage import measure_flush, storage_facts
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


def save(directory: InstanceDirectory, is_ended: Callable[[], bool] = lambda: False) -> Copied:
    """Keeps a copy of an instance's folders as they are now, each on its own path; `is_ended` as for `replace_tree`.

    Raises:
        HostError: Not enough free space, or a copy failed.
    """
    return sum((replace_tree(live, saved, is_ended) for live, saved in directory.kept_folders.values()), Copied())


def restore(directory: InstanceDirectory, is_ended: Callable[[], bool] = lambda: False) -> Copied:
    """Sets an instance's folders back to what `save` kept; `is_ended` as for `replace_tree`.

    Raises:
        HostError: Nothing was saved, not enough free space, or a copy failed.
    """
    return sum((replace_tree(saved, live, is_ended) for live, saved in directory.kept_folders.values()), Copied())


def seed(
    source: InstanceDirectory,
    replica: InstanceDirectory,
    *,
    from_saved: bool,
    is_ended: Callable[[], bool] = lambda: False,
) -> Copied:
    """Makes a stopped replica's folders a copy of its source's, which is cleanly stopped; `is_ended` as for `save`.

    What names the server stays behind: MySQL's `auto.cnf`. An index of binary logs on a path of their own names each
    file by its whole path. It is written again: else the replica would remove binary logs of the source.

    Args:
        source: Whose data it is.
        replica: What becomes the copy.
        from_saved: The copy that `save` kept is taken.
        is_ended: Whether the copy is wanted no more.

    Raises:
        HostError: Not enough free space, or a copy failed.
    """
    copied = Copied()
    for role, (live, _) in replica.kept_folders.items():
        of_source, saved = source.kept_folders[role]
        copied += replace_tree(saved if from_saved else of_source, live, is_ended)
    (replica.data / "auto.cnf").unlink(missing_ok=True)
    if (binlog_folder := replica.roles.get("binlog")) is not None:
        for index in binlog_folder.glob(f"{BINLOG}.index"):
            names = [Path(line).name for line in index.read_text(encoding="utf-8").splitlines()]
            index.write_text("".join(f"{binlog_folder / name}\n" for name in names), encoding="utf-8")
    return copied


def drop_caches(directory: InstanceDirectory) -> None:
    """Writes out what the page cache holds of an instance's files, and drops it. Other files of the machine stay.

    Raises:
        HostError: A file cannot be read, or the device failed.
    """
    for live, _ in directory.kept_folders.values():
        try:
            make_durable(live)
            leave_page_cache(live)
        except OSError as error:
            raise HostError(f"{live}: cannot be dropped from the page cache: {error}") from None


def storage_of_roles(directory: InstanceDirectory) -> dict[str, StorageFacts]:
    """Where that lies which has a path of its own, by what it is; how long a flush takes where commits wait for one.

    Raises:
        HostError: A folder cannot be written to.
    """
    storages: dict[str, StorageFacts] = {}
    for role, folder in directory.roles.items():
        flush_ms = measure_flush(folder).ms_median if role in {"redo", "binlog"} else None
        storages[role] = storage_facts(folder).model_copy(update={"flush_ms_median": flush_ms})
    return storages


MARKER = "plimsoll-data.json"
LOCK = "lock"
_KEPT = ("data", "redo", "undo")

Identity = Mapping[str, Any]
"""What data is: values that JSON holds. Data fits where all of them are equal."""


@dataclass(slots=True)
class KeptFolder:
    """A folder of kept data that this process holds.

    Attributes:
        path: As the user wrote it.
        key: Of the study file, for messages.
    """

    path: Path
    key: str
    _lock_fd: int = -1

    def hold(self, *, may_make: bool) -> None:
        """Makes sure that nobody else uses the folder until `release`; made if need be.

        Raises:
            HostError: It is in use, is not there, or holds something that Plimsoll did not make.
        """
        if fault := self.fault(may_make=may_make):
            raise HostError(fault)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise HostError(f"{self.key}: {self.path} cannot be used: {error.strerror}; choose another") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise HostError(f"{self.key}: {self.path} is in use by another study; wait until it has ended") from None
        self._lock_fd = descriptor

    def release(self) -> None:
        """Lets others use it."""
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def fault(self, *, may_make: bool) -> str | None:
        """Why the folder cannot be used at all; None when it can."""
        if not self.path.exists():
            return None if may_make else f"{self.key}: {self.path} is not there; keep data with keep_data first"
        if not self.path.is_dir() or self.path.is_symlink():
            return f"{self.key}: {self.path} is not a folder; choose another"
        foreign = [path.name for path in self.path.iterdir() if path.name != LOCK and not _is_ours(path)]
        if foreign:
            return f"{self.key}: {self.path} holds {foreign[0]}, which Plimsoll did not make; choose an empty folder"
        return None

    def differences(self, number: int, wanted: Identity) -> Iterator[str]:
        """Why the data of an instance does not fit, a line for each value that differs."""
        marker = read_marker(self.path / str(number))
        if marker is None:
            yield f"{self.key}: {self.path} holds no data of instance {number}; keep data with keep_data first"
            return
        for name, value in wanted.items():
            if marker.get("identity", {}).get(name) != value:
                kept = marker.get("identity", {}).get(name)
                yield f"{self.key}: {self.path} is other data: {name} is {kept!r} there and {value!r} in this study"

    def take(self, number: int, directory: InstanceDirectory, wanted: Identity) -> Copied:
        """Replaces the files of a stopped instance by a copy of what was kept.

        Raises:
            HostError: The data does not fit, or cannot be copied.
        """
        faults = list(self.differences(number, wanted))
        if faults:
            raise HostError("\n".join(faults))
        kept = self.path / str(number)
        copied = Copied()
        for role, (live, _) in directory.kept_folders.items():
            if role in _KEPT:
                copied += replace_tree(kept / role, live)
        return copied

    def keep(self, number: int, directory: InstanceDirectory, identity: Identity) -> Copied:
        """Keeps the files of a cleanly stopped instance in place of what was kept before.

        Raises:
            HostError: What is there is other data, or the copy failed; then what was kept stays.
        """
        kept, partial = self.path / str(number), self.path / f"{number}.new"
        if kept.exists() and (faults := list(self.differences(number, identity))):
            raise HostError("\n".join(faults))
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(mode=0o700)
            _write_marker(partial, {"made_by": "plimsoll", "format": 1, "identity": {}})
            copied = Copied()
            for role, (live, _) in directory.kept_folders.items():
                if role in _KEPT:
                    copied += replace_tree(live, partial / role)
            about = {"made_by": "plimsoll", "format": 1, "kept_unix_s": time.time(), "identity": dict(identity)}
            _write_marker(partial, about)
            if kept.exists():
                kept.rename(self.path / f"{number}.old")
            partial.rename(kept)
            shutil.rmtree(self.path / f"{number}.old", ignore_errors=True)
        except OSError as error:
            raise HostError(f"{self.key}: {partial}: data cannot be kept: {error}") from None
        return copied


def read_marker(folder: Path) -> dict[str, Any] | None:
    """What the marker of an instance's kept data says; None where there is none of this user."""
    try:
        marker = folder / MARKER
        if folder.is_symlink() or marker.lstat().st_uid != os.geteuid():
            return None
        content = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("made_by") == "plimsoll" else None


def _is_ours(entry: Path) -> bool:
    return entry.name.split(".")[0].isdigit() and read_marker(entry) is not None


def _write_marker(folder: Path, content: dict[str, Any]) -> None:
    """Whole or not at all."""
    partial = folder / f".{MARKER}"
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.rename(folder / MARKER)
