"""CPUs and memory of machines that stand for different environments of a study: they should be equal, or a factor.

A comparison of a machine with a virtual machine on it says nothing about virtualisation where the guest has one CPU
fewer. Only systems that name an environment are compared; machines of others are told apart by their names.
Deliberately not here: what limits a machine's use within one environment (`own_processors`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from plimsoll.analyse.equivalence.model import Aspect, AspectDifference, Equivalence
from plimsoll.analyse.model import SystemSummary
from plimsoll.record.environment import Environment
from plimsoll.units import format_bytes

MEMORY_RATIO = 1.1
"""Memory is equal within so much: the kernel of a guest keeps part of what it was given."""

CPUS, MEMORY = "CPUs", "memory"
_EXPLAINING = {CPUS: ("cpu",), MEMORY: ("memory",)}
"""Parts of names of factors that explain a difference."""


def machines_of_environments(systems: Sequence[SystemSummary]) -> Equivalence | None:
    """Compares the machines of systems that were measured in different environments; None where there are none."""
    named = [one for one in systems if one.in_environment is not None]
    if len({one.in_environment for one in named}) < 2:
        return None
    cpus = {one.name: usable_cpus(one.environment) for one in named}
    memory = {one.name: usable_memory_bytes(one.environment) for one in named}
    unknown = tuple(name for name in cpus if cpus[name] is None or memory[name] is None)
    known_cpus = {name: value for name, value in cpus.items() if value is not None}
    known_memory = {name: value for name, value in memory.items() if value is not None}
    found = []
    if not _are_equal(CPUS, known_cpus.values()):
        found.append(AspectDifference(what=CPUS, values={name: f"{one:g}" for name, one in known_cpus.items()}))
    if not _are_equal(MEMORY, known_memory.values()):
        values = {name: format_bytes(one) for name, one in known_memory.items()}
        found.append(AspectDifference(what=MEMORY, values=values))
    return Equivalence(
        aspect=Aspect.MACHINES,
        systems=tuple(name for name in cpus if name in known_cpus or name in known_memory),
        compared_count=(len(known_cpus) > 1) + (len(known_memory) > 1),
        differences=tuple(one for one in found if not _is_explained(one.what, named)),
        expected=tuple(one.what for one in found if _is_explained(one.what, named)),
        unknown=unknown,
    )


def makes_machines_equal(factor: str, one: SystemSummary, other: SystemSummary) -> bool:
    """Whether a limit that only one of two systems states is what makes the machines of their environments equal."""
    if one.in_environment == other.in_environment:
        return False
    machines = (one.environment, other.environment)
    usable: dict[str, list[float | None]] = {
        CPUS: [usable_cpus(machine) for machine in machines],
        MEMORY: [usable_memory_bytes(machine) for machine in machines],
    }
    return any(
        _tells(what, factor) and _are_equal(what, known)
        for what, values in usable.items()
        if len(known := [value for value in values if value is not None]) == len(machines)
    )


def _are_equal(what: str, values: Collection[float]) -> bool:
    return len(values) < 2 or max(values) <= min(values) * (MEMORY_RATIO if what == MEMORY else 1)


def usable_cpus(environment: Environment) -> float | None:
    """How many CPUs the servers could use at once, all together; None where unknown."""
    placements = [one.placement for one in environment.instances]
    sets = [set(one.cpus) for one in placements if one is not None and one.cpus]
    count = environment.host.cpu_threads
    if sets and len(sets) == len(placements):
        count = len(set().union(*sets))
    quotas = [one.cpu_quota for one in placements if one is not None and one.cpu_quota is not None]
    if quotas and len(quotas) == len(placements):
        return min(sum(quotas), float(count)) if count is not None else sum(quotas)
    return None if count is None else float(count)


def usable_memory_bytes(environment: Environment) -> int | None:
    """How much memory the servers could use, all together; None where unknown."""
    placements = [one.placement for one in environment.instances]
    limits = [one.memory_limit_bytes for one in placements if one is not None and one.memory_limit_bytes is not None]
    known = [environment.host.memory_bytes] if environment.host.memory_bytes is not None else []
    known += [sum(limits)] if limits and len(limits) == len(placements) else []
    return min(known, default=None)


def _is_explained(what: str, systems: Sequence[SystemSummary]) -> bool:
    """Whether every system states it, and not all state the same.

    What only some state explains nothing: a limit on a large machine is there to make it equal to a guest.
    """
    stated = [frozenset((name, value) for name, value in one.factors.items() if _tells(what, name)) for one in systems]
    return all(stated) and len(set(stated)) > 1


def _tells(what: str, factor: str) -> bool:
    return any(part in factor.lower() for part in _EXPLAINING[what])
