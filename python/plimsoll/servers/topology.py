"""The CPUs of this machine: which there are, which this process may use, and which of them share a core.

Pure over files that the kernel shows; other folders in tests. Deliberately not here: limits (`cgroups`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.spec.placement import format_cpus, parse_cpus

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
    found = _list(topology / "thread_siblings_list") or _list(topology / "core_cpus_list")
    return tuple(sorted(found)) if cpu in found else (cpu,)


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
