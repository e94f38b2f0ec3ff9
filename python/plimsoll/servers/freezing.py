"""Freezes a server with all processes that it began, and lets it go on.

By a control group of its own where this user may make one (version 2 of control groups, Linux 5.2 or later), else by
SIGSTOP of its process group. The server joins the control group before its program begins, so neither a thread nor a
process that leaves the process group escapes. A frozen member of such a group dies of SIGKILL at once.

Deliberately not here: the freezer of control groups of version 1. What it has frozen does not even die of SIGKILL, so a
server would stay behind frozen when its guardian is killed. Nor placement: a group of ours sets no limits.

The standard library only: the guardian, which runs apart, uses this.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path

from plimsoll.servers.placing import OWN_FOLDER, PROC, has_ended, owner_here

_LOOK_S = 0.0002
_REMOVAL_LIMIT_S, _REMOVAL_LOOK_S = 1.0, 0.005


def make_group(name: str, *, below: Path | None = None, proc: Path = PROC) -> Path | None:
    """Makes a control group for one server below the one in which this process is.

    Args:
        name: Of the group. A point and this process are put after it (`placing.owner_here`); with them nobody else may
            use it.
        below: The server's group of version 2 that sets limits, if it has one: a process is in one group only, and
            limits hold for those below.
        proc: Where the kernel tells of processes and mounts.

    Returns:
        Its folder; None when this machine or this user's rights do not allow one.
    """
    try:
        mounts = [line.split() for line in (proc / "mounts").read_text(encoding="utf-8").splitlines()]
        memberships = (proc / "self/cgroup").read_text(encoding="utf-8").splitlines()
        root = next(Path(mount[1]) for mount in mounts if mount[2] == "cgroup2")
        own_group = next(line[3:] for line in memberships if line.startswith("0::"))
        group = (below or root / own_group.lstrip("/")) / OWN_FOLDER / f"{name}.{owner_here(proc)}"
        group.mkdir(parents=True)
    except (OSError, StopIteration):
        return None
    _remove_stale(group.parent, proc)
    if not (group / "cgroup.freeze").exists():
        remove_group(group)
        return None
    return group


def _remove_stale(folder: Path, proc: Path) -> None:
    """Removes empty groups whose guardian was killed, wherever the directory of their instance went."""
    for group in folder.iterdir():
        with contextlib.suppress(OSError):
            if has_ended(group.name.rpartition(".")[2], proc):
                group.rmdir()


def join_group(group: Path | None) -> None:
    """Moves this process into a group. Where that is refused it stays outside, and `ServerFreezer` finds it there."""
    if group is not None:
        with contextlib.suppress(OSError):
            (group / "cgroup.procs").write_text("0", encoding="ascii")


def remove_group(group: Path) -> None:
    """Removes a group that Plimsoll made, and the folder of all of them after the last. One with processes stays."""
    if group.parent.name != OWN_FOLDER:
        return
    until_s = time.monotonic() + _REMOVAL_LIMIT_S
    while group.exists():  # what was killed in it may take a moment to be gone
        with contextlib.suppress(OSError):
            group.rmdir()
        if time.monotonic() > until_s:
            return
        time.sleep(_REMOVAL_LOOK_S)
    with contextlib.suppress(OSError):
        group.parent.rmdir()


def remove_noted_group(note: Path) -> None:
    """Kills what is left in the group that a note about a server names, frozen or not, and removes the group."""
    with contextlib.suppress(OSError):
        if (group := _noted_group(note)) is not None:
            kill_group(group)


def thaw_noted_group(note: Path) -> None:
    """Lets what is in such a group go on, so that it can end by itself."""
    with contextlib.suppress(OSError):
        if (group := _noted_group(note)) is not None:
            (group / "cgroup.freeze").write_text("0", encoding="ascii")


def _noted_group(note: Path) -> Path | None:
    """The group of an instance that a killed guardian left; None where its note names none that is Plimsoll's."""
    try:
        group = Path(json.loads(note.read_text(encoding="utf-8"))["group"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    is_its_own = group.parent.name == OWN_FOLDER and group.name.rpartition(".")[0] == note.parent.name
    return group if is_its_own and group.is_dir() else None


def kill_group(group: Path) -> None:
    """Kills all that is in a group that Plimsoll made, and removes the group."""
    with contextlib.suppress(OSError):
        (group / "cgroup.kill").write_text("1", encoding="ascii")
    remove_group(group)


class ServerFreezer:
    """Freezes one child of this process, and whatever the child began.

    Attributes:
        group: The child's control group; None when it is frozen by signals.
    """

    def __init__(self, pid: int, group: Path | None) -> None:
        """Of a child that has not been waited for and leads a process group; a group that it is not in is removed."""
        self._pid = pid
        self._is_stopped = False
        if group is not None and not _is_member(pid, group):
            remove_group(group)
            group = None
        self.group = group

    def freeze(self, limit_s: float) -> bool | None:
        """Freezes, and returns when the kernel says that every thread stands still.

        A thread that waits for storage stops when that answers.

        Returns:
            True when it is frozen; False when it did not stop within the limit, and goes on; None when it has ended.
        """
        until_s = time.monotonic() + limit_s
        self._switch(frozen=True)
        while True:
            if self._has_ended():
                return None
            if self._has_stopped():
                return True
            if time.monotonic() > until_s:
                self.thaw()
                return False
            time.sleep(_LOOK_S)

    def thaw(self) -> bool:
        """Lets it go on; nothing for one that was not frozen. False when it has ended."""
        self._switch(frozen=False)
        self._is_stopped = False
        return not self._has_ended()

    def close(self) -> None:
        """Kills what is left in the control group, and removes the group."""
        if self.group is not None:
            kill_group(self.group)

    def _switch(self, *, frozen: bool) -> None:
        if self.group is not None:
            (self.group / "cgroup.freeze").write_text("1" if frozen else "0", encoding="ascii")
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGSTOP if frozen else signal.SIGCONT)

    def _has_ended(self) -> bool:
        return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def _has_stopped(self) -> bool:
        if self.group is not None:
            return "frozen 1" in (self.group / "cgroup.events").read_text(encoding="ascii").splitlines()
        if not self._is_stopped:
            seen = os.waitid(os.P_PID, self._pid, os.WSTOPPED | os.WNOHANG)
            self._is_stopped = seen is not None
        return self._is_stopped


def _is_member(pid: int, group: Path) -> bool:
    try:
        return str(pid) in (group / "cgroup.procs").read_text(encoding="ascii").split()
    except OSError:
        return False
