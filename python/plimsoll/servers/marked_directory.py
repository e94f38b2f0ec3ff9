"""The marker of an instance's directory, and the removal of what is so marked, with the processes that still use it.

The marker says that Plimsoll made the directory. The guardian puts the instance's directory into the environment of
what it starts, and all that this starts inherits it: a shell that makes the data, the server below that shell, a file
system of Plimsoll's own. The kernel hides the environment of a program with file capabilities from its own user, and
clears the death signal that such a program had; its command line can be read, and names the instance's option file or
data.

The standard library only: the guardian, which runs apart, uses this.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import shutil
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plimsoll.servers import freezing
from plimsoll.servers.placing import remove_groups

MARKER = "plimsoll-instance.json"
PARTIAL_MARKER = f".{MARKER}"
LOCK, SERVER_NOTE = "lock", "server.json"
ELSEWHERE, PART_OF = "elsewhere", "part_of"


def read_marker(directory: Path) -> dict[str, Any] | None:
    """What the marker of an instance's directory says.

    Returns: None when Plimsoll did not make it for this user: no marker, a symbolic link, another owner.
    """
    try:
        place, marker = directory.lstat(), (directory / MARKER).lstat()
        if not (stat.S_ISDIR(place.st_mode) and stat.S_ISREG(marker.st_mode)):
            return None
        if {place.st_uid, marker.st_uid} != {os.geteuid()}:
            return None
        content = json.loads((directory / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("made_by") == "plimsoll" else None


def remove_directory(directory: Path) -> None:
    """Removes an instance's directory, and nothing else: symbolic links are removed and never followed.

    Processes of it that are left are killed first. Directories on other paths that it names, and that name it, are
    removed before it. The marker goes last, so that what an interrupted removal leaves is still known as ours. What
    somebody else removes too takes another turn: the marker is restored before it.

    Raises:
        OSError: The directory has no marker of ours, something in it cannot be removed, or a process of it does not
            end.
    """
    if (marker := read_marker(directory)) is None:
        raise OSError(f"{directory} has no marker of Plimsoll; it was not touched")
    for part in map(Path, marker.get(ELSEWHERE, ())):
        if (read_marker(part) or {}).get(PART_OF) == str(directory):
            remove_directory(part)
    end_processes(directory)
    freezing.remove_noted_group(directory / SERVER_NOTE)
    remove_groups(directory)
    for pause_s in (0.05, 0.2, 1.0, None):
        try:
            _remove_content(directory)
            (directory / LOCK).unlink(missing_ok=True)
            (directory / MARKER).unlink(missing_ok=True)
            directory.rmdir()
            return
        except OSError as error:
            if not directory.exists():
                return
            if read_marker(directory) is None:
                write_marker(directory, marker)
            if error.errno not in {errno.ENOTEMPTY, errno.ENOENT} or pause_s is None:
                raise
            time.sleep(pause_s)


def write_marker(directory: Path, content: dict[str, Any]) -> None:
    """Marks a directory as made by Plimsoll, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    partial = directory / PARTIAL_MARKER
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(content, file)
    partial.rename(directory / MARKER)


def _remove_content(directory: Path) -> None:
    for entry in os.scandir(directory):
        if entry.name in (LOCK, MARKER):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            Path(entry.path).unlink(missing_ok=True)


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
    with _opened(directory) as descriptors:
        if not descriptors:
            return False
        if grace_s > 0:
            _signal(descriptors, signal.SIGTERM)
            _signal(descriptors, signal.SIGCONT)
            _await(descriptors, grace_s)
    until_s = time.monotonic() + _KILL_LIMIT_S
    while time.monotonic() < until_s:
        with _opened(directory) as descriptors:
            if not descriptors:
                return True
            _signal(descriptors, signal.SIGKILL)
            _await(descriptors, _LOOK_S)
    raise OSError(errno.EBUSY, "a process of it does not end by SIGKILL; its storage may hang", str(directory))


@contextmanager
def _opened(directory: Path) -> Iterator[list[int]]:
    """Descriptors of the processes of an instance."""
    descriptors: list[int] = []
    try:
        for process in Path("/proc").iterdir():
            if process.name.isdecimal() and int(process.name) != os.getpid():
                with contextlib.suppress(OSError):
                    descriptor = os.pidfd_open(int(process.name))
                    descriptors.append(descriptor) if is_process_of(directory, process) else os.close(descriptor)
        yield descriptors
    finally:
        for descriptor in descriptors:
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


def _signal(descriptors: list[int], number: signal.Signals) -> None:
    for descriptor in descriptors:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, number)


def _await(descriptors: list[int], limit_s: float) -> None:
    """Waits until all have ended, or the limit has passed."""
    until_s = time.monotonic() + limit_s
    left = list(descriptors)
    while left and (left_s := until_s - time.monotonic()) > 0:
        ended = select.select(left, [], [], left_s)[0]
        left = [descriptor for descriptor in left if descriptor not in ended]
