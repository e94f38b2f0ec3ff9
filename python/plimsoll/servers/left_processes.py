"""The processes of an instance, found by what they alone have, and ended when nobody guards them any more.

The guardian puts the instance's directory into the environment of what it starts, and all that this starts inherits it:
a shell that makes the data, the server below that shell, a file system of Plimsoll's own. The kernel hides the
environment of a program with file capabilities from its own user, and clears the death signal that such a program had;
its command line can be read, and names the instance's option file or data.

The standard library only: the guardian, which runs apart, uses this.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

INSTANCE_VARIABLE = "PLIMSOLL_INSTANCE"

_KILL_LIMIT_S, _LOOK_S = 60.0, 0.05


def environment_of(directory: Path) -> dict[str, str]:
    """The environment of what a guardian starts for an instance."""
    return {**os.environ, INSTANCE_VARIABLE: str(directory)}


def end_processes(directory: Path, *, grace_s: float = 0.0) -> bool:
    """Ends all processes of an instance, and those that they start meanwhile.

    Each is signalled through a descriptor that was opened before it was looked at: its number is not another's by then.

    Args:
        directory: The instance's directory, which nobody guards.
        grace_s: How long they may take to end before they are killed.

    Returns:
        Whether there were any.

    Raises:
        OSError: One did not even end by SIGKILL, or may not be signalled.
    """
    with _opened(directory) as found:
        if not found:
            return False
        if grace_s > 0:
            _signal(found, signal.SIGTERM)
            _signal(found, signal.SIGCONT)
            _await(found, grace_s)
    until_s = time.monotonic() + _KILL_LIMIT_S
    while time.monotonic() < until_s:
        with _opened(directory) as found:
            if not found:
                return True
            _signal(found, signal.SIGKILL)
            _await(found, _LOOK_S)
    raise OSError(errno.EBUSY, "a process of it does not end by SIGKILL; its storage may hang", str(directory))


@contextmanager
def _opened(directory: Path) -> Iterator[list[int]]:
    """Descriptors of the processes of an instance."""
    found: list[int] = []
    try:
        for process in Path("/proc").iterdir():
            if process.name.isdecimal() and int(process.name) != os.getpid():
                with contextlib.suppress(OSError):
                    descriptor = os.pidfd_open(int(process.name))
                    found.append(descriptor) if is_process_of(directory, process) else os.close(descriptor)
        yield found
    finally:
        for descriptor in found:
            os.close(descriptor)


def is_process_of(directory: Path, process: Path) -> bool:
    """Whether a process, named by its folder in /proc, belongs to an instance and to this user."""
    place = os.fsencode(directory)
    try:
        if not _is_ours(process):
            return False
        return os.fsencode(INSTANCE_VARIABLE) + b"=" + place in (process / "environ").read_bytes().split(b"\0")
    except PermissionError:
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            return not {b"--defaults-file=" + place + b"/my.cnf", b"--datadir=" + place + b"/data"}.isdisjoint(words)
        return False
    except OSError:  # it has ended
        return False


def _is_ours(process: Path) -> bool:
    """Whether this user may end it, and it has not ended. The owner of its folder is root where it is hidden."""
    facts = dict(line.split(b":", 1) for line in (process / "status").read_bytes().splitlines() if b":" in line)
    is_there = facts[b"State"].split()[0] not in b"ZX"
    return is_there and os.geteuid() in {0, int(facts[b"Uid"].split()[0])}


def _signal(found: list[int], number: signal.Signals) -> None:
    for descriptor in found:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, number)


def _await(found: list[int], limit_s: float) -> None:
    """Waits until all have ended, or the limit has passed."""
    until_s = time.monotonic() + limit_s
    left = list(found)
    while left and (left_s := until_s - time.monotonic()) > 0:
        ended = select.select(left, [], [], left_s)[0]
        left = [one for one in left if one not in ended]
