"""Removes what a killed Plimsoll and its killed guardian left: stale instances, with all that runs of them.

A directory is stale when it has our marker, belongs to this user, and nobody holds its lock. One whose making was
interrupted before it had a marker is empty: of those only empty folders and the lock are removed. A directory that an
instance has on another path is as stale as the instance. Everything else is left alone. Deliberately not here: the
removal of living instances (`managed`).
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from pathlib import Path

from plimsoll.private_folder import remove_left
from plimsoll.servers import freezing
from plimsoll.servers.directory import DATA, INSTANCE_NAME, TEMPORARY
from plimsoll.servers.left_processes import end_processes
from plimsoll.servers.marked_directory import (
    LOCK,
    PART_OF,
    PARTIAL_MARKER,
    SERVER_NOTE,
    read_marker,
    remove_directory,
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
    remove_left((Path(tempfile.gettempdir()), base_dir))
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
