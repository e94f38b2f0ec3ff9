"""The directory of one managed server: made, marked, locked, copied and removed, also where a killed Plimsoll left it.

Everything an instance writes is below it, so that removing it removes the instance. Where redo log, binary logs, undo
or temporary files have paths of their own, a directory of the same name is made there. Its marker names the instance's
directory, the marker of that one names it, and both are removed together.

A directory is stale when it has our marker, belongs to this user, and nobody holds its lock: it is removed with all
that runs of it. One whose making was interrupted before it had a marker is empty: of those only empty folders and the
lock are removed. Everything else is left alone. Deliberately not here: what the server does in them (`managed`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import HostError, SpecError
from plimsoll.private_folder import remove_left, temporary_folder
from plimsoll.servers import freezing
from plimsoll.servers.marked_directory import (
    ELSEWHERE,
    LOCK,
    PART_OF,
    PARTIAL_MARKER,
    SERVER_NOTE,
    end_processes,
    read_marker,
    remove_directory,
    write_marker,
)
from plimsoll.servers.option_file import InstancePaths
from plimsoll.servers.storage import storage_facts
from plimsoll.spec.paths import Role

SOCKET_PATH_BYTES_MAX = 107
"""What fits into `sun_path` of a unix socket's address, without its closing zero byte."""

INSTANCE_NAME = re.compile(r"[a-z0-9-]{1,20}-[0-9a-f]{6}")
"""What a directory of an instance is called."""

DATA, TEMPORARY, SOCKET = "data", "tmp", "sock"
"""The folders that it has from the beginning, and the server's socket."""

_FOREIGN_DATA = ("ibdata1", "mysql.ibd", "aria_log_control", "auto.cnf", "ib_logfile0", "#innodb_redo", "undo001")
_VOLATILE = frozenset({"tmpfs", "ramfs"})


def default_base_dir() -> Path:
    """Where instances are made unless the study says otherwise: `PLIMSOLL_DATA_DIR`, or a folder below /var/tmp."""
    stated = os.environ.get("PLIMSOLL_DATA_DIR")
    return Path(stated) if stated else Path(f"/var/tmp/plimsoll-{os.geteuid()}")  # noqa: S108  (its owner is checked)


def make_base_dir(base_dir: Path) -> None:
    """Makes a folder below which instances will be, if it is not there.

    Raises:
        HostError: It cannot be made.
    """
    try:
        base_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"data_dir: {base_dir} cannot be created: {error.strerror}; choose another") from None


def nearest_existing(folder: Path) -> Path:
    """The folder, or what there is of the way to it: on the same file system as what will be made there."""
    while not os.path.exists(folder):  # noqa: PTH110  (Path.exists raises where it may not look)
        folder = folder.parent
    return folder


def base_fault(base_dir: Path, key: str, *, allow_tmpfs: bool = False) -> str | None:
    """Why no instance could be made below a folder, which need not exist; None where it could. Changes nothing.

    Args:
        base_dir: As written.
        key: Of the study file, for messages.
        allow_tmpfs: It may be in memory.
    """
    try:
        base_dir.lstat()
        _refuse_unsafe_place(base_dir, key)
        _check_base(base_dir.resolve(), key, allow_tmpfs=allow_tmpfs)
    except HostError as error:
        return str(error)
    except FileNotFoundError:
        above = base_dir.parent
        return base_fault(above, key, allow_tmpfs=allow_tmpfs) if above != base_dir else None
    except OSError as error:
        return f"{key}: {base_dir} cannot be used: {error.strerror}; choose another {key}"
    return None


def socket_fault(base_dir: Path, name: str, key: str = "data_dir") -> str | None:
    """Why a folder is no place for an instance of this name: its path is too long for a socket's address."""
    socket = base_dir.resolve() / _directory_name(name) / SOCKET
    excess = len(os.fsencode(socket)) - SOCKET_PATH_BYTES_MAX
    if excess <= 0:
        return None
    return f"{key}: {base_dir} is {excess} bytes too long for the path of a socket; choose another"


@dataclass(slots=True)
class InstanceDirectory:
    """A directory that this process made, and whose lock it holds.

    Attributes:
        lock_fd: Held as long as this process or the guardian lives, which tells living directories from stale ones.
        roles: Folders of what does not lie with the data, below directories of the same name elsewhere.
    """

    path: Path
    lock_fd: int
    roles: dict[Role, Path] = field(default_factory=dict)

    @classmethod
    def create(
        cls,
        base_dir: Path,
        name: str,
        *,
        throwaway: bool = True,
        allow_tmpfs: bool = False,
        role_bases: Mapping[Role, Path] | None = None,
    ) -> InstanceDirectory:
        """Makes a new directory with mode 0700 below the base, which is made too if need be.

        The lock is taken before the marker is written: whatever has a marker and a free lock is stale, at any instant.

        Args:
            base_dir: Where directories of instances are made.
            name: Of the instance; what of it fits becomes part of the path.
            throwaway: Whether guardian and sweep may remove it.
            allow_tmpfs: Data in memory is wanted, though durability then means nothing.
            role_bases: Where other directories are made, by what goes there.

        Raises:
            HostError: The place cannot be used; the message says why.
            SpecError: The path is too long for a socket.
        """
        base_dir = _checked_base(base_dir, "data_dir", allow_tmpfs=allow_tmpfs)
        bases = {
            role: _checked_base(base, f"{role}_dir", allow_tmpfs=allow_tmpfs or role == "tmp")
            for role, base in (role_bases or {}).items()
        }
        if (fault := socket_fault(base_dir, name)) is not None:
            raise SpecError(fault)
        path = base_dir / _directory_name(name)
        directory = cls(path, -1, {role: base / path.name / role for role, base in bases.items() if base != base_dir})
        try:
            path.mkdir(mode=0o700)
            directory.lock_fd = os.open(path / LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(directory.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for folder in (directory.data, path / TEMPORARY):
                folder.mkdir(mode=0o700)
            marker = {"made_by": "plimsoll", "format": 1, "name": name, "throwaway": throwaway}
            write_marker(path, marker | ({ELSEWHERE: [*map(str, directory.elsewhere)]} if directory.roles else {}))
            for folder in directory.elsewhere:
                folder.mkdir(mode=0o700)
                write_marker(folder, {**marker, PART_OF: str(path)})
            for folder in directory.roles.values():
                folder.mkdir(mode=0o700)
        except OSError as error:
            with contextlib.suppress(HostError):
                directory.remove()
            raise HostError(
                f"{error.filename or path}: cannot be created: {error.strerror}; choose another data_dir"
            ) from None
        return directory

    @property
    def elsewhere(self) -> tuple[Path, ...]:
        """The directories that it has on other paths."""
        return tuple(dict.fromkeys(folder.parent for folder in self.roles.values()))

    @property
    def kept_folders(self) -> dict[str, tuple[Path, Path]]:
        """What a server's state consists of: its folder and where a copy is saved, on the same path, by what it is."""
        apart = {role: folder for role, folder in self.roles.items() if role != "tmp"}
        return {
            "data": (self.data, self.pristine),
            **{role: (folder, folder.parent / f"pristine-{role}") for role, folder in apart.items()},
        }

    @property
    def data(self) -> Path:
        """The server's data directory."""
        return self.path / DATA

    @property
    def pristine(self) -> Path:
        """The saved copy of the data directory."""
        return self.path / "pristine"

    @property
    def temporary(self) -> Path:
        """Where the server puts temporary files."""
        return self.roles.get("tmp", self.path / TEMPORARY)

    @property
    def socket(self) -> Path:
        """The server's unix socket."""
        return self.path / SOCKET

    @property
    def option_file(self) -> Path:
        """The server's option file."""
        return self.path / "my.cnf"

    @property
    def error_log(self) -> Path:
        """What the server and its initialiser print."""
        return self.path / "error.log"

    def paths(self, port: int, address: str = "127.0.0.1") -> InstancePaths:
        """Where a server in this directory keeps its things, and where it listens."""
        return InstancePaths(
            data_dir=self.data,
            socket=self.socket,
            pid_file=self.path / "server.pid",
            temporary_dir=self.temporary,
            port=port,
            address=address,
            redo_dir=self.roles.get("redo"),
            undo_dir=self.roles.get("undo"),
            binlog_dir=self.roles.get("binlog"),
        )

    def close_lock(self) -> None:
        """Gives this process' hold on the lock away; the guardian's remains."""
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1

    def remove(self) -> None:
        """Removes the directory if it is still there.

        Raises:
            HostError: Something in it cannot be removed.
        """
        self.close_lock()
        if not self.path.exists():
            return
        try:
            remove_directory(self.path)
        except OSError as error:
            raise HostError(f"{self.path}: cannot be removed: {error}; remove it by hand") from None


def _directory_name(name: str) -> str:
    """Of what fits of an instance's name, and of chance."""
    short = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:20] or "server"
    return f"{short}-{secrets.token_hex(3)}"


def _checked_base(base_dir: Path, key: str, *, allow_tmpfs: bool) -> Path:
    """A folder in which directories may be made; it is made too if need be.

    Args:
        base_dir: As written.
        key: Of the study file, for messages.
        allow_tmpfs: It may be in memory.

    Raises:
        HostError: It cannot be used.
    """
    try:
        base_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{key}: {base_dir} cannot be created: {error.strerror}; choose another {key}") from None
    _refuse_unsafe_place(base_dir, key)
    base_dir = base_dir.resolve()
    _check_base(base_dir, key, allow_tmpfs=allow_tmpfs)
    return base_dir


def _refuse_unsafe_place(base_dir: Path, key: str) -> None:
    """Refuses a folder whose entries others may exchange, or may lead elsewhere.

    Somebody else's symbolic link could lead anywhere. What a link of this user leads to was perhaps made for others to
    write to: there even the sticky bit does not tell who made what is in it. Any other folder that all may write to
    needs that bit, as /tmp has it.
    """
    place, target = base_dir.lstat(), base_dir.stat()
    is_link = stat.S_ISLNK(place.st_mode)
    if is_link and place.st_uid not in {0, os.geteuid()}:
        raise HostError(f"{key}: {base_dir} is a link of another user ({place.st_uid}); set PLIMSOLL_DATA_DIR")
    by_group = target.st_mode & stat.S_IWGRP and target.st_gid != os.getegid()
    by_all = target.st_mode & stat.S_IWOTH
    is_sticky = target.st_mode & stat.S_ISVTX
    if (is_link and (by_all or by_group)) or (by_all and not is_sticky):
        folder = f"{base_dir} leads to {base_dir.resolve()}, which" if is_link else str(base_dir)
        mode = stat.S_IMODE(target.st_mode)
        raise HostError(
            f"{key}: {folder} may be written by others (mode {mode:04o}); choose another {key}, or chmod it"
        )


def _check_base(base_dir: Path, key: str, *, allow_tmpfs: bool) -> None:
    """Refuses a base where instances would be unsafe, or data would not be on a disk.

    Below a folder that anybody may write to, somebody else could have made our default base before us.
    """
    place = base_dir.stat()
    if not stat.S_ISDIR(place.st_mode):
        raise HostError(f"{key}: {base_dir} is not a directory; choose another {key}")
    if not os.access(base_dir, os.W_OK | os.X_OK):
        raise HostError(f"{key}: {base_dir} is not writable for this user; choose another {key} or change its mode")
    if base_dir.name.startswith("plimsoll-") and place.st_uid != os.geteuid():
        raise HostError(f"{key}: {base_dir} belongs to another user ({place.st_uid}); set PLIMSOLL_DATA_DIR")
    if any((base_dir / name).exists() for name in _FOREIGN_DATA):
        raise HostError(f"{key}: {base_dir} is the data directory of another server; name an empty folder")
    file_system = storage_facts(base_dir).file_system
    if file_system in _VOLATILE and not allow_tmpfs:
        raise HostError(
            f"{key}: {base_dir} is on {file_system}, which is in memory, so nothing there is durable; "
            "choose a folder on a disk"
        )


_TERM_GRACE_S = 5.0
_UNFINISHED_S = 60.0
"""Making a directory takes less: whoever still makes one is left alone."""


def sweep(base_dir: Path, *, grace_s: float = _TERM_GRACE_S) -> tuple[Path, ...]:
    """Ends and removes the stale instances directly below a folder. What cannot be removed stays for the next time.

    Private folders of dead runs are removed there too, and in the system's temporary folder.

    Args:
        base_dir: The folder; it need not exist.
        grace_s: How long a left server may take to end before it is killed.

    Returns:
        The directories of instances that were removed.
    """
    remove_left((temporary_folder(), base_dir))
    try:
        entries = sorted(base_dir.iterdir())
    except OSError:
        return ()
    return tuple(entry for entry in entries if _sweep_one(entry, grace_s))


def _sweep_one(directory: Path, grace_s: float) -> bool:
    marker = read_marker(directory)
    if marker is None:
        return _remove_unfinished(directory)
    if not marker.get("throwaway"):
        return False
    whole = Path(marker.get(PART_OF) or directory)  # the lock of an instance is in its main directory
    if not whole.exists():
        return _removed(directory)
    try:
        lock_fd = os.open(whole / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        freezing.thaw_noted_group(whole / SERVER_NOTE)
        end_processes(whole, grace_s=grace_s)
        return _removed(directory)
    except OSError:
        return False
    finally:
        os.close(lock_fd)


def _removed(directory: Path) -> bool:
    try:
        remove_directory(directory)
    except OSError:
        return False
    return True


def _remove_unfinished(directory: Path) -> bool:
    """Removes a directory that was never marked: it has such a name, has been there for a while, and holds nothing."""
    try:
        place = directory.lstat()
        is_ours = stat.S_ISDIR(place.st_mode) and place.st_uid == os.geteuid()
        is_old = time.time() - place.st_mtime > _UNFINISHED_S
        if not (is_ours and is_old and INSTANCE_NAME.fullmatch(directory.name)):
            return False
        entries = {entry.name for entry in directory.iterdir()}
        if entries - {LOCK, PARTIAL_MARKER, DATA, TEMPORARY}:
            return False
        for folder in entries & {DATA, TEMPORARY}:
            (directory / folder).rmdir()
        for file in entries & {LOCK, PARTIAL_MARKER}:
            (directory / file).unlink()
        directory.rmdir()
    except OSError:
        return False
    return True
