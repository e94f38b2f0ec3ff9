"""Folders for what a run holds while it lasts, such as literals of a log. The next run removes what a dead owner left.

A folder's owner is the process that holds its lock (`flock` of the folder itself): the kernel frees it when that
process is gone, whatever ended it, and a later process that gets its number has no part in it. A folder is left when
it has such a name and our marker, belongs to this user alone, and nobody holds its lock. One whose making was
interrupted before it had a marker is empty. Everything else is left alone, and links are never followed.

Where a file system has no locks of folders, nothing can be told to be left, so nothing is removed. Deliberately not
here: directories of servers (`servers.directory`), which have a guardian besides.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias, get_args

from plimsoll.interruption import uninterrupted

Kind: TypeAlias = Literal[
    "ab", "bundle", "capacity", "confirm", "device", "ledger", "log", "print", "sim", "ssh", "trial"
]

MARKER = ".plimsoll-private"
_NAME = re.compile(rf"plimsoll-({'|'.join(get_args(Kind))})-[a-z0-9_]{{8}}")
_MARKED = b"Made by Plimsoll, and removed by its next run once nobody holds the lock of this folder.\n"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_UNFINISHED_S = 60.0
"""Making a folder takes less: whoever still makes one is left alone."""
_PAUSES_S = (0.05, 0.2, 1.0)
"""A process of a dead owner may still write into a folder that is being removed, and ends a moment later."""


class PrivateFolder:
    """A folder of mode 0700 that this process owns until `close`, which removes it. As a context it gives its path.

    Attributes:
        path: Where it is.
    """

    def __init__(self, kind: Kind, parent: Path | None = None) -> None:
        """Makes it, and removes what dead owners left beside it.

        Args:
            kind: What it is for; a part of its name.
            parent: Where it is made; None for the system's temporary folder.

        Raises:
            OSError: It cannot be made.
        """
        remove_left((temporary_folder(), *([] if parent is None else [parent])))
        self._lock = -1
        try:
            with uninterrupted():
                self.path = self._made(f"plimsoll-{kind}-", parent)
        except KeyboardInterrupt:
            self.close()
            raise

    def close(self) -> None:
        """Removes it with all that is in it. May be called again."""
        with uninterrupted():
            if self._lock >= 0:
                _removed(self.path)
                os.close(self._lock)
                self._lock = -1

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _made(self, prefix: str, parent: Path | None) -> Path:
        """A locked and marked folder.

        Another run may lock a new folder first: it takes an empty one without a marker for an unfinished one once that
        is old, so where this process was held up meanwhile, the folder is gone and another is made.
        """
        while True:
            path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)).absolute()
            try:
                self._lock = os.open(path, _OPEN)
                with contextlib.suppress(OSError):  # no locks there: then nobody can take it for left either
                    fcntl.flock(self._lock, fcntl.LOCK_EX)
                marker = os.open(MARKER, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=self._lock)
                with os.fdopen(marker, "wb") as file:
                    file.write(_MARKED)
            except OSError as error:
                if self._lock >= 0:
                    os.close(self._lock)
                    self._lock = -1
                if not isinstance(error, FileNotFoundError):
                    _removed(path)
                    raise
            else:
                return path


def temporary_folder() -> Path:
    """The system's own. The first time Python asks for it, it makes a file there and removes it."""
    with uninterrupted():
        return Path(tempfile.gettempdir())


def remove_left(parents: Iterable[Path]) -> tuple[Path, ...]:
    """Removes what dead owners left directly below some folders. What cannot be removed stays for the next run.

    Returns:
        The folders that were removed.
    """
    candidates: dict[Path, None] = {}
    for parent in parents:
        with contextlib.suppress(OSError):
            candidates |= {path: None for path in sorted(parent.resolve().iterdir()) if _NAME.fullmatch(path.name)}
    return tuple(path for path in candidates if _removed_left(path))


def _removed_left(path: Path) -> bool:
    try:
        folder = os.open(path, _OPEN)
    except OSError:
        return False
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        place = os.fstat(folder)
        is_private = place.st_uid == os.geteuid() and stat.S_IMODE(place.st_mode) & 0o077 == 0
        if not (is_private and os.path.samestat(place, path.lstat())):
            return False
        if _is_marked(folder):
            return _removed(path)
        if time.time() - place.st_mtime > _UNFINISHED_S:
            path.rmdir()  # refused where there is anything in it
            return True
    except OSError:
        pass
    finally:
        os.close(folder)
    return False


def _is_marked(folder: int) -> bool:
    try:
        marker = os.stat(MARKER, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(marker.st_mode) and marker.st_uid == os.geteuid()


def _removed(path: Path) -> bool:
    """Removes a folder, its marker last: what an interrupted removal leaves is still known as ours."""
    for pause_s in (*_PAUSES_S, None):
        try:
            _empty(path)
            (path / MARKER).unlink(missing_ok=True)
            path.rmdir()
            return True
        except OSError as error:
            if not path.exists():
                return True
            if error.errno not in {errno.ENOTEMPTY, errno.ENOENT} or pause_s is None:
                return False
            time.sleep(pause_s)
    return False


def _empty(path: Path) -> None:
    """Removes all but the marker. Raises OSError with ENOTEMPTY where something has come meanwhile."""
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        elif entry.name != MARKER:
            Path(entry.path).unlink(missing_ok=True)
    if any(entry.name != MARKER for entry in os.scandir(path)):
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(path))
