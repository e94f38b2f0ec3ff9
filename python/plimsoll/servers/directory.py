"""The directory of one managed server: made, marked, locked, copied and removed.

Everything an instance writes is below it, so that removing it removes the instance. Deliberately not here: what the
server does in it (`managed`), and finding directories that others left (`sweep`).
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import HostError, SpecError
from plimsoll.servers.guardian import LOCK, remove_directory, write_marker
from plimsoll.servers.option_file import InstancePaths
from plimsoll.servers.storage import storage_facts

SOCKET_PATH_BYTES_MAX = 107
"""What fits into `sun_path` of a unix socket's address, without its closing zero byte."""

INSTANCE_NAME = re.compile(r"[a-z0-9-]{1,20}-[0-9a-f]{6}")
"""What a directory of an instance is called."""

DATA, TEMPORARY = "data", "tmp"
"""The folders that it has from the beginning."""

_FOREIGN_DATA = ("ibdata1", "mysql.ibd", "aria_log_control", "auto.cnf")
_VOLATILE = frozenset({"tmpfs", "ramfs"})


def default_base_dir() -> Path:
    """Where instances are made unless the study says otherwise: `PLIMSOLL_DATA_DIR`, or a folder below /var/tmp."""
    stated = os.environ.get("PLIMSOLL_DATA_DIR")
    return Path(stated) if stated else Path(f"/var/tmp/plimsoll-{os.geteuid()}")  # noqa: S108  (its owner is checked)


def nearest_existing(folder: Path) -> Path:
    """The folder, or what there is of the way to it: on the same file system as what will be made there."""
    while not folder.exists():
        folder = folder.parent
    return folder


@dataclass(slots=True)
class InstanceDirectory:
    """A directory that this process made, and whose lock it holds.

    Attributes:
        lock_fd: Held as long as this process or the guardian lives, which tells living directories from stale ones.
    """

    path: Path
    lock_fd: int

    @classmethod
    def create(
        cls, base_dir: Path, name: str, *, throwaway: bool = True, allow_tmpfs: bool = False
    ) -> InstanceDirectory:
        """Makes a new directory with mode 0700 below the base, which is made too if need be.

        The lock is taken before the marker is written: whatever has a marker and a free lock is stale, at any instant.

        Args:
            base_dir: Where directories of instances are made.
            name: Of the instance; what of it fits becomes part of the path.
            throwaway: Whether guardian and sweep may remove it.
            allow_tmpfs: Data in memory is wanted, though durability then means nothing.

        Raises:
            HostError: The place cannot be used; the message says why.
            SpecError: The path is too long for a socket.
        """
        _make_base(base_dir)
        _refuse_foreign_link(base_dir)
        base_dir = base_dir.resolve()
        _check_base(base_dir, allow_tmpfs=allow_tmpfs)
        path = base_dir / f"{_short_name(name)}-{secrets.token_hex(3)}"
        directory = cls(path, -1)
        excess = len(os.fsencode(directory.socket)) - SOCKET_PATH_BYTES_MAX
        if excess > 0:
            raise SpecError(f"data_dir: {base_dir} is {excess} bytes too long for the path of a socket; choose another")
        try:
            path.mkdir(mode=0o700)
            directory.lock_fd = os.open(path / LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(directory.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for folder in (directory.data, directory.temporary):
                folder.mkdir(mode=0o700)
            marker = {"made_by": "plimsoll", "format": 1, "name": name, "throwaway": throwaway}
            write_marker(path, marker)
        except OSError as error:
            raise HostError(f"data_dir: {path} cannot be made: {error.strerror}; choose another data_dir") from None
        return directory

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
        return self.path / TEMPORARY

    @property
    def socket(self) -> Path:
        """The server's unix socket."""
        return self.path / "sock"

    @property
    def option_file(self) -> Path:
        """The server's option file."""
        return self.path / "my.cnf"

    @property
    def error_log(self) -> Path:
        """What the server and its initialiser print."""
        return self.path / "error.log"

    def paths(self, port: int) -> InstancePaths:
        """Where a server in this directory keeps its things, and the port on which it listens."""
        return InstancePaths(
            data_dir=self.data,
            socket=self.socket,
            pid_file=self.path / "server.pid",
            temporary_dir=self.temporary,
            port=port,
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


def _short_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:20] or "server"


def _make_base(base_dir: Path) -> None:
    try:
        base_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"data_dir: {base_dir} cannot be made: {error.strerror}; choose another data_dir") from None


def _refuse_foreign_link(base_dir: Path) -> None:
    """Somebody else's symbolic link could lead to a folder whose entries they may exchange."""
    place = base_dir.lstat()
    if stat.S_ISLNK(place.st_mode) and place.st_uid not in {0, os.geteuid()}:
        raise HostError(f"data_dir: {base_dir} is a link of another user ({place.st_uid}); set PLIMSOLL_DATA_DIR")


def _check_base(base_dir: Path, *, allow_tmpfs: bool) -> None:
    """Refuses a base where instances would be unsafe, or data would not be on a disk.

    Below a folder that anybody may write to, somebody else could have made our default base before us.
    """
    place = base_dir.stat()
    if not stat.S_ISDIR(place.st_mode):
        raise HostError(f"data_dir: {base_dir} is no directory; choose another data_dir")
    if not os.access(base_dir, os.W_OK | os.X_OK):
        raise HostError(
            f"data_dir: {base_dir} is not writable for this user; choose another data_dir or change its mode"
        )
    if base_dir.name.startswith("plimsoll-") and place.st_uid != os.geteuid():
        raise HostError(f"data_dir: {base_dir} belongs to another user ({place.st_uid}); set PLIMSOLL_DATA_DIR")
    if any((base_dir / name).exists() for name in _FOREIGN_DATA):
        raise HostError(f"data_dir: {base_dir} is the data directory of another server; name an empty folder")
    file_system = storage_facts(base_dir).file_system
    if file_system in _VOLATILE and not allow_tmpfs:
        raise HostError(
            f"data_dir: {base_dir} is on {file_system}, which is memory: durability would mean nothing; "
            "choose a folder on a disk"
        )
