"""The folder that a run writes into: locked against others, and still where it was.

Deliberately not here: what lies in it (`folder`).
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Self

from plimsoll.errors import HostError, StorageError

LOCK_FILE = ".lock"
_PATIENCE_S = 0.5
"""`is_held` takes the lock for an instant; whoever wants to keep it waits so long."""


class HeldFolder:
    """A folder whose lock this process holds. Use it as a context manager: leaving it gives the lock away.

    A folder that is moved or removed meanwhile must not be made again under its old name: results would be split. Its
    open descriptor tells: it is the folder, whatever it is called by now.
    """

    def __init__(self, path: Path) -> None:
        """Takes the lock; the folder is made if need be.

        Raises:
            HostError: The folder cannot be written, or another process measures into it.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise HostError(f"{path}: cannot be written: {error.strerror}; choose another folder") from None
        try:
            self._lock = os.open(
                LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=self._folder
            )
        except OSError as error:
            os.close(self._folder)
            raise HostError(f"{path}: cannot be written: {error.strerror}; choose another folder") from None
        if not _locked(self._lock, _PATIENCE_S):
            self.close()
            raise HostError(
                f"{path}: another plimsoll process is using this folder; wait for it, or choose another folder"
            )

    def refuse_moved(self) -> None:
        """Makes sure that the folder still is where it was.

        Raises:
            StorageError: It was moved or removed.
        """
        held = os.fstat(self._folder)
        try:
            found = self.path.stat()
        except OSError:
            found = None
        if found is not None and os.path.samestat(held, found):
            return
        if held.st_nlink == 0:
            raise StorageError(
                f"{self.path}: the folder was removed during the run, with everything in it; run the same command again"
                " to start over"
            )
        place = os.readlink(f"/proc/self/fd/{self._folder}")  # noqa: PTH115 - no path, but what the kernel calls it
        raise StorageError(
            f"{self.path}: the folder was moved to {place} during the run. Everything recorded is there: move it back,"
            " or continue with that folder"
        )

    def close(self) -> None:
        """Gives the lock away."""
        os.close(self._lock)
        os.close(self._folder)

    def __enter__(self) -> Self:
        """Nothing to do: it is locked already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Gives the lock away."""
        self.close()


def is_held(path: Path) -> bool:
    """Whether some process measures into a folder now."""
    try:
        lock = os.open(path / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _locked(lock, 0, shared=True)
    finally:
        os.close(lock)


def _locked(lock: int, patience_s: float, *, shared: bool = False) -> bool:
    """Whether the lock could be had within a time."""
    until_s = time.monotonic() + patience_s
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until_s:
                return False
            time.sleep(0.02)
        else:
            return True
