"""Puts a process where its server belongs, before it becomes that server; removes the control groups afterwards.

Standard library only: the guardian uses it between fork and exec, so that no thread of the server ever runs elsewhere.
Run as a script it tries a placement on itself: JSON on standard input, one line of JSON for each fault on standard
output. Deliberately not here: which control groups there are and what they are set to (`cgroups`).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36

PROC = Path("/proc")

OWN_FOLDER = "plimsoll"
"""All control groups that Plimsoll makes are below a folder of this name."""

GROUPS_NOTE = "cgroups.json"
"""In the directory of an instance: the control groups that were made for it."""

_REMOVE_PAUSES_S = (0.01, 0.05, 0.2, 1.0)
"""A process that has ended leaves its group a moment later."""

POLICIES = {"other": os.SCHED_OTHER, "batch": os.SCHED_BATCH, "idle": os.SCHED_IDLE}
REAL_TIME = {"fifo": os.SCHED_FIFO, "rr": os.SCHED_RR}


def place_here(how: dict[str, Any]) -> None:
    """Joins control groups, and sets affinity, nice and scheduling class of this process, which has one thread.

    Args:
        how: `groups` (paths), `cpus`, `nice`, `scheduling` (`fifo:10`), as far as they are wanted.

    Raises:
        OSError: Something is refused; the text begins with the name of the key.
    """
    for group in how.get("groups", ()):
        with _as("control group " + group):
            Path(group, "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
    if "cpus" in how:
        with _as("cpus"):
            os.sched_setaffinity(0, how["cpus"])
    if "nice" in how:
        with _as("nice"):
            os.setpriority(os.PRIO_PROCESS, 0, how["nice"])
    if "scheduling" in how:
        name, _, priority = how["scheduling"].partition(":")
        with _as("scheduling"):
            os.sched_setscheduler(0, {**POLICIES, **REAL_TIME}[name], os.sched_param(int(priority or 0)))


@contextlib.contextmanager
def _as(key: str) -> Any:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{key}: {os.strerror(error.errno or 0)}") from None


def unified_group(how: dict[str, Any]) -> Path | None:
    """The group of version 2 among those of a placement; None where it has none."""
    return next((Path(group) for group in how.get("groups", ()) if Path(group, "cgroup.freeze").exists()), None)


def owner_here(proc: Path = PROC) -> str:
    """This process, as the names of its control groups say it: its namespace of processes, and its number there.

    One group of version 2 can be seen from several namespaces, and a number says nothing of processes in another.

    Raises:
        OSError: The kernel does not tell.
    """
    return f"{_namespace(proc)}-{os.getpid()}"


def has_ended(owner: str, proc: Path = PROC) -> bool:
    """Whether the process that made a group is gone; False for any of another namespace, since that cannot be seen.

    Args:
        owner: As `owner_here` says it; whatever else is no owner.
        proc: Where the kernel tells of processes.

    Raises:
        OSError: The kernel does not tell which namespace this is.
    """
    namespace, _, pid = owner.partition("-")
    return pid.isdecimal() and namespace == _namespace(proc) and not (proc / pid).exists()


def _namespace(proc: Path) -> str:
    """The number in `pid:[4026531836]`."""
    return os.readlink(proc / "self/ns/pid").partition("[")[2].rstrip("]")  # noqa: PTH115  (it is no path)


def note_groups(directory: Path, groups: list[str]) -> None:
    """Notes which groups are about to be made for an instance, so that whoever removes its directory removes them too.

    Raises:
        OSError: It cannot be written.
    """
    note = os.open(directory / GROUPS_NOTE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(note, "w", encoding="utf-8") as file:
        json.dump(groups, file)


def remove_groups(directory: Path) -> None:
    """Removes the control groups that were made for an instance; a group that is not Plimsoll's is left alone.

    Only empty folders are removed, and only such as lie below a folder of Plimsoll's and have the instance's name.

    Raises:
        OSError: One is still in use.
    """
    try:
        noted = json.loads((directory / GROUPS_NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for text in noted if isinstance(noted, list) else ():
        group = Path(str(text))
        if group.name == directory.name and group.parent.name == OWN_FOLDER:
            remove_group(group)
    (directory / GROUPS_NOTE).unlink(missing_ok=True)


def remove_group(group: Path) -> None:
    """Removes a control group, and the folder of Plimsoll's above it when that was the last one in it.

    Raises:
        OSError: It is still in use.
    """
    for pause_s in (*_REMOVE_PAUSES_S, None):
        try:
            group.rmdir()
            break
        except FileNotFoundError:
            break
        except OSError as error:
            if error.errno != errno.EBUSY or pause_s is None:
                raise
            time.sleep(pause_s)
    with contextlib.suppress(OSError):  # others are in it, or somebody else removed it
        group.parent.rmdir()


def die_with_parent(parent_pid: int) -> None:
    """Lets the kernel kill this process when its parent is gone; dies at once when that has already happened."""
    if ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
        raise OSError("prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent_pid:
        os._exit(1)


def adopt_orphans() -> None:
    """Makes the descendants of this process its children when their parents end, so that it can wait for their end."""
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError("prctl(PR_SET_CHILD_SUBREAPER) failed")


def await_group(group_id: int, limit_s: float) -> None:
    """Waits until all children in a process group that was killed are gone, with their locks, sockets and ports."""
    until_s = time.monotonic() + limit_s
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < until_s:
            if os.waitpid(-group_id, os.WNOHANG)[0] == 0:
                time.sleep(0.01)


def raise_file_limit() -> None:
    """Allows as many open files as may be: a connection needs several."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main() -> None:
    """Tries a placement on this process."""
    try:
        place_here(json.load(sys.stdin))
    except OSError as error:
        print(json.dumps(error.strerror))  # noqa: T201  (a process of its own, which speaks to `placement`)


if __name__ == "__main__":
    main()
