"""Removes what a killed Plimsoll and its killed guardian left: stale instances, with their servers if any still run.

A directory is stale when it has our marker, belongs to this user, and nobody holds its lock. One whose making was
interrupted before it had a marker is empty: of those only empty folders and the lock are removed. A directory that an
instance has on another path is as stale as the instance. Everything else is left alone. Deliberately not here: the
removal of living instances (`managed`).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import stat
import tempfile
import time
from pathlib import Path

from plimsoll.private_folder import remove_left
from plimsoll.servers.directory import DATA, INSTANCE_NAME, TEMPORARY
from plimsoll.servers.guardian import (
    LOCK,
    PART_OF,
    PARTIAL_MARKER,
    SERVER_NOTE,
    read_marker,
    remove_directory,
    start_ticks,
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
        end_left_server(whole, grace_s=grace_s)
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


def end_left_server(directory: Path, *, grace_s: float = _TERM_GRACE_S) -> bool:
    """Ends the server that an instance's directory names, if it is still that server.

    Its number may be another process' by now: start time and command line must fit, and the process is signalled
    through a descriptor that was opened before they were compared.

    Args:
        directory: The instance's directory.
        grace_s: How long it may take to end before it is killed.

    Returns:
        Whether there was such a server.

    Raises:
        OSError: It may not be signalled.
    """
    pid, ticks = _noted_server(directory)
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if start_ticks(pid) != ticks or not _serves(pid, directory):
            return False
        _end(descriptor, grace_s)
    finally:
        os.close(descriptor)
    return True


def _end(descriptor: int, grace_s: float) -> None:
    with contextlib.suppress(ProcessLookupError):
        for number, limit_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 60.0)):
            signal.pidfd_send_signal(descriptor, number)
            if select.select([descriptor], [], [], limit_s)[0]:
                return


def _noted_server(directory: Path) -> tuple[int, int]:
    """Number and start time of the server that a directory names; -1, which no process has, when it names none."""
    try:
        note = json.loads((directory / SERVER_NOTE).read_text(encoding="utf-8"))
        return int(note["pid"]), int(note["start_ticks"])
    except (OSError, ValueError, TypeError, KeyError):
        return -1, -1


def _serves(pid: int, directory: Path) -> bool:
    """Whether a process' command line names the option file of this directory."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"--defaults-file=" + os.fsencode(directory / "my.cnf") in words
