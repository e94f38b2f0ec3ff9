"""What this machine lets tests do to processes, and what can be seen of a process from outside."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from plimsoll.servers.cgroups import hierarchies, parent_of
from support.servers import missing


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
    texts = [(task / "status").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return {match[1] for text in texts if (match := re.search(r"Cpus_allowed_list:\s*(\S+)", text))}


def classes(pid: int) -> set[str]:
    """Policy and priority of every thread as chrt says them."""
    said = subprocess.run(["chrt", "-ap", str(pid)], capture_output=True, text=True, check=True).stdout
    policies, priorities = re.findall(r"policy: (\S+)", said), re.findall(r"priority: (\S+)", said)
    return {f"{policy} {priority}" for policy, priority in zip(policies, priorities, strict=True)}


def nices(pid: int) -> set[int]:
    """Nice of every thread: field 19 of /proc/PID/task/TID/stat."""
    texts = [(task / "stat").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return {int(text.rpartition(")")[2].split()[16]) for text in texts}


def own_groups(pid: int) -> list[Path]:
    """Control groups of a process that Plimsoll made."""
    groups = {hierarchy.current for hierarchy in hierarchies(pid=pid).values()}
    return sorted(group for group in groups if group.parent.name == "plimsoll")


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
