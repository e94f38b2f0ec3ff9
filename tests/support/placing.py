"""What this machine lets tests do to processes, and what can be seen of a process from outside."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from plimsoll.servers.cgroups import hierarchies, parent_of
from support.servers import missing
from support.vanishing import content, stat, threads

POLICIES = {getattr(os, f"SCHED_{name}"): f"SCHED_{name}" for name in ("OTHER", "BATCH", "IDLE", "FIFO", "RR")}


def needs_controllers(*names: str) -> None:
    """Skips the test loudly, or fails it in CI, where control groups cannot be made for some controllers."""
    found = hierarchies()
    for name in names:
        if isinstance(why := parent_of([name], found), str):
            missing(f"control groups cannot be made here: {why}")


def needs_two_cpus() -> None:
    """Skips the test loudly, or fails it in CI, where there is one CPU only."""
    if len(os.sched_getaffinity(0)) < 2:
        missing("CPUs of its own for a server: this machine has one CPU only")


def cpus_allowed(pid: int) -> set[str]:
    """`Cpus_allowed_list` of every thread."""
    texts = [content(thread / "status").decode() for thread in threads(pid)]
    return {match[1] for text in texts if (match := re.search(r"Cpus_allowed_list:\s*(\S+)", text))}


def classes(pid: int) -> set[str]:
    """Policy and priority of every thread, such as `SCHED_FIFO 7`."""
    found = set()
    for thread in threads(pid):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            policy, priority = (ask(int(thread.name)) for ask in (os.sched_getscheduler, os.sched_getparam))
            found.add(f"{POLICIES[policy]} {priority.sched_priority}")
    return found


def nices(pid: int) -> set[int]:
    """Nice of every thread: field 19 of /proc/PID/task/TID/stat."""
    return {int(fields[16]) for thread in threads(pid) if (fields := stat(thread))}


def own_groups(pid: int) -> list[Path]:
    """Control groups of a process that Plimsoll made."""
    groups = {hierarchy.current for hierarchy in hierarchies(pid=pid).values()}
    return sorted(group for group in groups if group.parent.name == "plimsoll")


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
