"""Removes what a killed Plimsoll and its killed guardian left: stale instances, with their servers if any still run.

A directory is stale when it has our marker, belongs to this user, and nobody holds its lock. Everything else is left
alone. Deliberately not here: the removal of living instances (`managed`).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
from pathlib import Path

from plimsoll.servers.guardian import LOCK, SERVER_NOTE, read_marker, remove_directory, start_ticks

_TERM_GRACE_S = 5.0


def sweep(base_dir: Path, *, grace_s: float = _TERM_GRACE_S) -> tuple[Path, ...]:
    """Ends and removes the stale instances directly below a folder. What cannot be removed stays for the next time.

    Args:
        base_dir: The folder; it need not exist.
        grace_s: How long a left server may take to end before it is killed.

    Returns:
        The directories that were removed.
    """
    try:
        entries = sorted(base_dir.iterdir())
    except OSError:
        return ()
    return tuple(entry for entry in entries if _sweep_one(entry, grace_s))


def _sweep_one(directory: Path, grace_s: float) -> bool:
    marker = read_marker(directory)
    if marker is None or not marker.get("throwaway"):
        return False
    try:
        lock_fd = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        end_left_server(directory, grace_s=grace_s)
        remove_directory(directory)
    except OSError:
        return False
    finally:
        os.close(lock_fd)
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
