"""What one managed server may use of this machine (CPUs, limits, scheduling class): chosen, set up, tried, read back.

The choice follows from the study file and from the CPUs of this machine: which there are, which this process may use,
and which of them share a core. What is in effect is as the kernel shows it; limits are the tightest of the control
group and of those above. Deliberately not here: control groups (`cgroups`), the process that joins them (`placing`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.errors import HostError
from plimsoll.record.environment import PlacementFacts
from plimsoll.servers import placing
from plimsoll.servers.cgroups import IO_KEYS_V2, PROC, Group, Hierarchy, hierarchies, make_groups, planned_groups
from plimsoll.servers.placing import POLICIES, REAL_TIME
from plimsoll.servers.storage import storage_facts
from plimsoll.spec.placement import Placement, Share, format_cpus, parse_cpus, share_of

_TRY_LIMIT_S = 30.0
_TRIED = "check-"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePlacement:
    """What one instance may use.

    Attributes:
        cpus: CPUs that it runs on; None for all.
        share: Its part of the limits.
        scheduling: Class and priority as the study file says them; None for the usual.
        nice: None for the usual.
    """

    cpus: tuple[int, ...] | None = None
    share: Share = field(default_factory=Share)
    scheduling: str | None = None
    nice: int | None = None

    def groups(self, name: str, data_dir: Path) -> tuple[Group, ...]:
        """The control groups that it needs.

        Args:
            name: Of the instance's directory.
            data_dir: A folder on the device that holds its data.

        Raises:
            HostError: This machine cannot set a limit; the message says what to do.
        """
        if self.cpus is None and self.share == Share():
            return ()
        device = device_number(data_dir) if self.share.io_limits else None
        return planned_groups(name, self.share, cpus=self.cpus, device=device, by_controller=hierarchies())

    def how(self, groups: Sequence[Group]) -> dict[str, Any]:
        """What `placing.place_here` is told."""
        settings = {"cpus": self.cpus, "nice": self.nice, "scheduling": self.scheduling}
        return {
            "groups": [str(group.path) for group in groups],
            **{key: value for key, value in settings.items() if value is not None},
        }


def instance_placements(
    placement: Placement, count: int, topology: Topology, avoid: Sequence[int] = ()
) -> tuple[InstancePlacement, ...]:
    """What each of so many instances of a system may use.

    Args:
        placement: Of all of them together, without faults.
        count: How many.
        topology: This machine.
        avoid: CPUs of the load generator: they are chosen last.
    """
    cpus = placement.cpus
    if placement.cpu_count is not None:
        cpus = choose_cpus(placement.cpu_count, topology, avoid)
    parts = [None] * count if cpus is None else divide_cpus(cpus, count, topology)
    share = share_of(placement, count)
    return tuple(
        InstancePlacement(cpus=part, share=share, scheduling=placement.scheduling, nice=placement.nice)
        for part in parts
    )


def device_number(folder: Path, sys_folder: Path = Path("/sys")) -> str:
    """Number of the disk that holds a folder, `major:minor`: limits are set on whole disks, not on partitions.

    Raises:
        HostError: It lies on no block device.
    """
    facts = storage_facts(folder, sys=sys_folder)
    if facts.device is None:
        raise HostError(
            f"io_limits: {folder} is on {facts.file_system or 'a file system'} without a block device; choose"
            " a data_dir on a disk"
        )
    block = (sys_folder / "class/block" / facts.device).resolve()
    if (block / "partition").exists():
        block = block.parent
    return (block / "dev").read_text(encoding="ascii").strip()


def set_up(placement: InstancePlacement, directory: Path) -> dict[str, Any]:
    """Makes the control groups of an instance, and notes them in its directory before.

    Returns:
        What the guardian's child is told.

    Raises:
        HostError: This machine does not permit it; the message says what to do.
    """
    groups = placement.groups(directory.name, directory)
    if groups:
        placing.note_groups(directory, [str(group.path) for group in groups])
        make_groups(groups)
    return placement.how(groups)


def refused(placement: InstancePlacement, data_dir: Path) -> Iterator[str]:
    """Tries a placement with a process that does nothing; one line for each thing that is refused.

    Args:
        placement: What is to be tried.
        data_dir: An existing folder on the device that will hold the data.
    """
    name = f"{_TRIED}{placing.owner_here()}"
    try:
        groups = placement.groups(name, data_dir)
        _remove_left({group.path.parent for group in groups})
        make_groups(groups)
    except HostError as error:
        yield str(error)
        return
    try:
        ran = subprocess.run(
            [sys.executable, "-I", "-S", placing.__file__],
            input=json.dumps(placement.how(groups)).encode(),
            capture_output=True,
            timeout=_TRY_LIMIT_S,
            check=False,
        )
        for line in ran.stdout.decode().splitlines():
            yield _with_cure(json.loads(line))
    finally:
        for group in groups:
            placing.remove_group(group.path)


def refusals(placement: InstancePlacement, data_dir: Path) -> tuple[str, ...]:
    """All that `refused` gives."""
    return tuple(refused(placement, data_dir))


def _remove_left(folders: Iterable[Path]) -> None:
    """Removes groups that somebody tried and was killed before removing; that process is part of their names."""
    for left in (path for folder in folders for path in folder.glob(f"{_TRIED}*")):
        with contextlib.suppress(OSError):
            if placing.has_ended(left.name.removeprefix(_TRIED)):
                left.rmdir()


def _with_cure(fault: str) -> str:
    key = fault.partition(":")[0]
    cures = {
        "scheduling": "run Plimsoll as root, give it CAP_SYS_NICE (container: --cap-add SYS_NICE) or raise ulimit -r",
        "nice": "run Plimsoll as root, give it CAP_SYS_NICE (container: --cap-add SYS_NICE) or raise ulimit -e",
        "cpus": "choose CPUs that this process may use",
    }
    return f"{fault}; {cures.get(key, 'run Plimsoll as root, or in a control group of its own')}"


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
        by_controller = hierarchies(proc, pid)
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
        cpus_by=None if set(cpus) >= every else _by(by_controller.get("cpuset"), cpus),
        cpu_quota=min(_quotas(by_controller.get("cpu")), default=None),
        memory_limit_bytes=min(_memory_limits(by_controller.get("memory")), default=None),
        io_limits=_io_limits(by_controller.get("io")),
        scheduling=", ".join(sorted(filter(None, {_class(pid, task, proc) for task in tasks}))) or None,
        nice=nice,
        nice_others=tuple(sorted(other for other in nices if other != nice)),
    )


def _cpus(pid: int, tasks: list[int], proc: Path) -> tuple[int, ...]:
    """CPUs that any thread may run on."""
    cpus: set[int] = set()
    for task in tasks:
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            status = (proc / f"{pid}/task/{task}/status").read_text(encoding="utf-8", errors="replace")
            if match := re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE):
                cpus.update(parse_cpus(match[1]))
    return tuple(sorted(cpus))


def _online(proc: Path) -> set[int]:
    lines = (proc / "stat").read_text(encoding="ascii", errors="replace").splitlines()
    return {int(match[1]) for line in lines if (match := re.match(r"cpu([0-9]+) ", line))}


def _by(cpuset: Hierarchy | None, cpus: tuple[int, ...]) -> str:
    """Whether a cpuset holds the process where it is, or only its threads' masks."""
    if cpuset is None:
        return "affinity"
    file = "cpuset.effective_cpus" if cpuset.version == 1 else "cpuset.cpus.effective"
    text = next(filter(None, (_text_of(folder / file) for folder in _up(cpuset))), "")
    with contextlib.suppress(ValueError):
        return "cgroup" if set(parse_cpus(text.strip())) == set(cpus) else "affinity"
    return "affinity"


def _stat(pid: int, task: int, proc: Path) -> list[str]:
    return _text_of(proc / f"{pid}/task/{task}/stat").rpartition(")")[2].split()


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


def _up(hierarchy: Hierarchy | None) -> Iterator[Path]:
    """A group and those above it, as far as they can be seen."""
    if hierarchy is not None:
        yield from (
            folder
            for folder in (hierarchy.current, *hierarchy.current.parents)
            if folder.is_relative_to(hierarchy.mount)
        )


def _quotas(hierarchy: Hierarchy | None) -> Iterator[float]:
    for folder in _up(hierarchy):
        if hierarchy is not None and hierarchy.version == 1:
            words = [_text_of(folder / "cpu.cfs_quota_us").strip(), _text_of(folder / "cpu.cfs_period_us").strip()]
        else:
            words = _text_of(folder / "cpu.max").split()
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]) > 0:
            yield int(words[0]) / int(words[1])


def _memory_limits(hierarchy: Hierarchy | None) -> Iterator[int]:
    file = "memory.limit_in_bytes" if hierarchy is not None and hierarchy.version == 1 else "memory.max"
    for folder in _up(hierarchy):
        text = _text_of(folder / file).strip()
        if text.isdigit() and int(text) < _UNLIMITED_BYTES:
            yield int(text)


def _io_limits(hierarchy: Hierarchy | None) -> dict[str, int]:
    """The tightest limits by device and name."""
    limits: dict[str, int] = {}
    for folder in _up(hierarchy):
        assert hierarchy is not None, "a folder of it was found"
        for name, value in _limits_v1(folder) if hierarchy.version == 1 else _limits_v2(folder):
            limits[name] = min(limits.get(name, value), value)
    return limits


def _limits_v1(folder: Path) -> Iterator[tuple[str, int]]:
    for key in IO_KEYS_V2:
        for line in _text_of(folder / f"blkio.throttle.{key}_device").splitlines():
            device, _, value = line.partition(" ")
            if value.isdigit():
                yield f"{device} {key}", int(value)


def _limits_v2(folder: Path) -> Iterator[tuple[str, int]]:
    names: Mapping[str, str] = {short: key for key, short in IO_KEYS_V2.items()}
    for line in _text_of(folder / "io.max").splitlines():
        device, _, rest = line.partition(" ")
        for pair in rest.split():
            short, _, value = pair.partition("=")
            if short in names and value.isdigit():
                yield f"{device} {names[short]}", int(value)


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


_CPU_FOLDER = Path("/sys/devices/system/cpu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """CPUs by number.

    Attributes:
        present: All that the machine has.
        online: Those that run.
        allowed: Those that this process may use.
        cores: Of each CPU that runs, all CPUs of its core, rising.
    """

    present: frozenset[int]
    online: frozenset[int]
    allowed: frozenset[int]
    cores: dict[int, tuple[int, ...]]


def read_topology(folder: Path = _CPU_FOLDER, allowed: Collection[int] | None = None) -> Topology:
    """Reads what the kernel shows.

    Args:
        folder: Where the kernel shows CPUs.
        allowed: Those that this process may use; None asks the kernel.
    """
    may_use = frozenset(os.sched_getaffinity(0) if allowed is None else allowed)
    online = _list(folder / "online") or may_use
    return Topology(
        present=_list(folder / "present") or online,
        online=online,
        allowed=may_use,
        cores={cpu: _siblings(folder, cpu) for cpu in sorted(online)},
    )


def cpu_faults(cpus: Collection[int], topology: Topology) -> Iterator[str]:
    """Why CPUs cannot be used here, each with what to do about it."""
    wanted = frozenset(cpus)
    absent, offline = wanted - topology.present, (wanted & topology.present) - topology.online
    closed = (wanted & topology.online) - topology.allowed
    if absent:
        yield f"{_named(absent)} not exist on this machine, which has {_text(topology.present)}; choose among these"
    if offline:
        first = min(offline)
        yield (
            f"{_are(offline)} offline; as root: echo 1 > /sys/devices/system/cpu/cpu{first}/online, or choose among"
            f" {_text(topology.online)}"
        )
    if closed:
        yield (
            f"{_are(closed)} not among those that this process may use ({_text(topology.allowed)}); start Plimsoll"
            " without taskset, widen the container's --cpuset-cpus, or choose others"
        )


def choose_cpus(count: int, topology: Topology, avoid: Collection[int] = ()) -> tuple[int, ...]:
    """So many CPUs: one of each core before the second of any; those to avoid come last.

    Args:
        count: How many; at most as many as are allowed.
        topology: The machine.
        avoid: CPUs that somebody else uses.
    """

    def rank(cpu: int) -> tuple[bool, int, int]:
        return cpu in avoid, topology.cores.get(cpu, (cpu,)).index(cpu), cpu

    return tuple(sorted(sorted(topology.allowed & topology.online, key=rank)[:count]))


def divide_cpus(cpus: Sequence[int], count: int, topology: Topology) -> tuple[tuple[int, ...], ...]:
    """The same number of CPUs for each of so many instances; CPUs of one core stay together."""
    by_core = sorted(cpus, key=lambda cpu: (topology.cores.get(cpu, (cpu,))[0], cpu))
    each = len(by_core) // count
    return tuple(tuple(sorted(by_core[index * each : (index + 1) * each])) for index in range(count))


def _siblings(folder: Path, cpu: int) -> tuple[int, ...]:
    topology = folder / f"cpu{cpu}/topology"
    siblings = _list(topology / "thread_siblings_list") or _list(topology / "core_cpus_list")
    return tuple(sorted(siblings)) if cpu in siblings else (cpu,)


def _list(file: Path) -> frozenset[int]:
    try:
        return frozenset(parse_cpus(file.read_text(encoding="ascii").strip()))
    except (OSError, ValueError):
        return frozenset()


def _text(cpus: Collection[int]) -> str:
    return f"CPU {format_cpus(tuple(cpus))}"


def _named(cpus: Collection[int]) -> str:
    return f"{_text(cpus)} {'does' if len(cpus) == 1 else 'do'}"


def _are(cpus: Collection[int]) -> str:
    return f"{_text(cpus)} {'is' if len(cpus) == 1 else 'are'}"
