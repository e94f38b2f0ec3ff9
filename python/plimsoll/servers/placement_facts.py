"""What a process may use of its machine, as the kernel shows it: CPUs, limits, scheduling class.

Limits are the tightest of its control group and of those above. Deliberately not here: setting any of it (`placing`).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from plimsoll.record.placement import PlacementFacts
from plimsoll.servers.cgroups import IO_KEYS_V2, PROC, Hierarchy, hierarchies
from plimsoll.servers.placing import POLICIES, REAL_TIME
from plimsoll.servers.topology import Topology, read_topology
from plimsoll.spec.placement import parse_cpus

_UNLIMITED_BYTES = 2**60
"""Version 1 says the greatest whole number of pages for "no limit"."""

_CLASSES = {number: name for name, number in {**POLICIES, **REAL_TIME}.items()}


def placement_facts(pid: int, proc: Path = PROC, topology: Topology | None = None) -> PlacementFacts | None:
    """What a process may use; None when it has ended or may not be looked at.

    Args:
        pid: Its number; all of its threads are looked at.
        proc: Where the kernel shows processes.
        topology: Of this machine; None reads it.
    """
    topology = topology or read_topology()
    try:
        found = hierarchies(proc, pid)
        tasks = [int(task.name) for task in (proc / str(pid) / "task").iterdir()]
        cpus = _cpus(pid, tasks, proc)
    except (OSError, ValueError):
        return None
    every = _online(proc)
    nices = Counter(nice for task in tasks if (nice := _nice(pid, task, proc)) is not None)
    nice = max(nices, key=nices.__getitem__, default=None)
    return PlacementFacts(
        cpus=cpus or None,
        cores=len({topology.cores.get(cpu, (cpu,)) for cpu in cpus}) or None,
        cpus_by=None if set(cpus) >= every else _by(found.get("cpuset"), cpus),
        cpu_quota=min(_quotas(found.get("cpu")), default=None),
        memory_limit_bytes=min(_memory_limits(found.get("memory")), default=None),
        io_limits=_io_limits(found.get("io")),
        scheduling=", ".join(sorted(filter(None, {_class(pid, task, proc) for task in tasks}))) or None,
        nice=nice,
        nice_others=tuple(sorted(other for other in nices if other != nice)),
    )


def _cpus(pid: int, tasks: list[int], proc: Path) -> tuple[int, ...]:
    """CPUs that any thread may run on."""
    found: set[int] = set()
    for task in tasks:
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            status = (proc / f"{pid}/task/{task}/status").read_text(encoding="utf-8", errors="replace")
            if match := re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE):
                found.update(parse_cpus(match[1]))
    return tuple(sorted(found))


def _online(proc: Path) -> set[int]:
    lines = (proc / "stat").read_text(encoding="ascii", errors="replace").splitlines()
    return {int(match[1]) for line in lines if (match := re.match(r"cpu([0-9]+) ", line))}


def _by(cpuset: Hierarchy | None, cpus: tuple[int, ...]) -> str:
    """Whether a cpuset holds the process where it is, or only its threads' masks."""
    if cpuset is None:
        return "affinity"
    file = "cpuset.effective_cpus" if cpuset.version == 1 else "cpuset.cpus.effective"
    text = next(filter(None, (_text(folder / file) for folder in _up(cpuset))), "")
    with contextlib.suppress(ValueError):
        return "cgroup" if set(parse_cpus(text.strip())) == set(cpus) else "affinity"
    return "affinity"


def _stat(pid: int, task: int, proc: Path) -> list[str]:
    return _text(proc / f"{pid}/task/{task}/stat").rpartition(")")[2].split()


def _class(pid: int, task: int, proc: Path) -> str | None:
    """Fields 40 and 41 of /proc/PID/stat (proc(5)): real-time priority and policy."""
    fields = _stat(pid, task, proc)
    if len(fields) < 39:
        return None
    name = _CLASSES.get(int(fields[38]) & ~os.SCHED_RESET_ON_FORK)
    return f"{name}:{fields[37]}" if name in REAL_TIME else name


def _nice(pid: int, task: int, proc: Path) -> int | None:
    fields = _stat(pid, task, proc)
    return int(fields[16]) if len(fields) > 16 else None


def _up(one: Hierarchy | None) -> Iterator[Path]:
    """A group and those above it, as far as they can be seen."""
    if one is not None:
        yield from (folder for folder in (one.own, *one.own.parents) if folder.is_relative_to(one.mount))


def _quotas(one: Hierarchy | None) -> Iterator[float]:
    for folder in _up(one):
        if one is not None and one.version == 1:
            words = [_text(folder / "cpu.cfs_quota_us").strip(), _text(folder / "cpu.cfs_period_us").strip()]
        else:
            words = _text(folder / "cpu.max").split()
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]) > 0:
            yield int(words[0]) / int(words[1])


def _memory_limits(one: Hierarchy | None) -> Iterator[int]:
    file = "memory.limit_in_bytes" if one is not None and one.version == 1 else "memory.max"
    for folder in _up(one):
        text = _text(folder / file).strip()
        if text.isdigit() and int(text) < _UNLIMITED_BYTES:
            yield int(text)


def _io_limits(one: Hierarchy | None) -> dict[str, int]:
    """The tightest limits by device and name."""
    found: dict[str, int] = {}
    for folder in _up(one):
        assert one is not None, "a folder of it was found"
        for name, value in _limits_v1(folder) if one.version == 1 else _limits_v2(folder):
            found[name] = min(found.get(name, value), value)
    return found


def _limits_v1(folder: Path) -> Iterator[tuple[str, int]]:
    for key in IO_KEYS_V2:
        for line in _text(folder / f"blkio.throttle.{key}_device").splitlines():
            device, _, value = line.partition(" ")
            if value.isdigit():
                yield f"{device} {key}", int(value)


def _limits_v2(folder: Path) -> Iterator[tuple[str, int]]:
    names: Mapping[str, str] = {short: key for key, short in IO_KEYS_V2.items()}
    for line in _text(folder / "io.max").splitlines():
        device, _, rest = line.partition(" ")
        for pair in rest.split():
            short, _, value = pair.partition("=")
            if short in names and value.isdigit():
                yield f"{device} {names[short]}", int(value)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
