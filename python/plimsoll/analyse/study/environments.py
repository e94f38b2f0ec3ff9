"""Whether trials of one system were measured on the same: host, kernel, server, its variables, engine, storage.

Trials of unlike environments are no repetitions of each other. A system that was measured in several is shown as
several, so that none of its numbers mixes them (decision 0022).

What is unknown in one of two environments is no difference. Nor is what differs each time a server starts: paths,
ports and the like (`variables.is_own`), free space, the time of one flush.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.analyse.explain.variables import is_own, spelled
from plimsoll.analyse.findings.doubts import Doubt, Place
from plimsoll.analyse.findings.systems import EnvironmentChanged
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import Environment, InstanceFacts, PlacementFacts, StorageFacts
from plimsoll.record.model import TrialRecord
from plimsoll.spec.placement import format_cpus

_HOST = {
    "name": "host",
    "kernel": "kernel",
    "operating_system": "operating system",
    "virtualisation": "virtualisation",
    "cpu_model": "processor",
    "cpu_sockets": "sockets",
    "cpu_cores": "cores",
    "cpu_threads": "hardware threads",
    "cpu_governor": "frequency governor",
    "numa_nodes": "NUMA nodes",
    "clock_source": "clock source",
}
_STORAGE = {
    "file_system": "file system",
    "mount_options": "mount options",
    "device": "device",
    "device_model": "model of the device",
    "rotational": "rotational",
    "scheduler": "I/O scheduler",
}
_LIMITS = {"cpu_quota": "CPU quota", "memory_limit_bytes": "memory limit", "io_limits": "I/O limits"}
_MEMORY_RATIO = 0.01
"""Kernels keep a little of the memory for themselves, and not each the same."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that is not what it was.

    Attributes:
        what: Its name for people.
    """

    what: str
    before: str
    after: str


def changes(before: Environment, after: Environment) -> tuple[Change, ...]:
    """What of a system's environment changed from one trial to another; what weighs most comes first."""
    return tuple(_changes(before, after))


def apart(trials: Sequence[TrialSummary]) -> tuple[list[TrialSummary], tuple[Doubt, ...]]:
    """Gives each environment of a system a name of its own.

    Args:
        trials: All complete trials.

    Returns:
        The trials, those of one environment next to each other where there are several, and a doubt for each time that
        an environment changed.
    """
    by_system: dict[str, list[TrialSummary]] = {}
    for trial in trials:
        by_system.setdefault(trial.trial.system.name, []).append(trial)
    named: list[TrialSummary] = []
    doubts: list[Doubt] = []
    for of_system in by_system.values():
        firsts, places = _environments(of_system)
        if len(firsts) == 1:
            named += of_system
            continue
        for number in range(len(firsts)):
            named += [
                _renamed(trial, number) for trial, place in zip(of_system, places, strict=True) if place == number
            ]
        doubts += _doubts(of_system, firsts, places)
    return named, tuple(doubts)


def began_unix_s(trial: TrialRecord) -> float:
    """When a trial began, for the order in which trials ran; 0 where that is not known."""
    return trial.states[0].began_unix_s if trial.states else 0.0


def _environments(trials: Sequence[TrialSummary]) -> tuple[list[Environment], list[int]]:
    """The environments of a system's trials in the order in which they came, and which of them each trial ran in."""
    firsts: list[Environment] = []
    places = [0] * len(trials)
    for index in _in_time(trials):
        environment = trials[index].environment
        known = (number for number, first in enumerate(firsts) if not changes(first, environment))
        places[index] = next(known, len(firsts))
        if places[index] == len(firsts):
            firsts.append(environment)
    return firsts, places


def _in_time(trials: Sequence[TrialSummary]) -> list[int]:
    return sorted(range(len(trials)), key=lambda index: began_unix_s(trials[index].trial))


def _renamed(trial_summary: TrialSummary, number: int) -> TrialSummary:
    system = trial_summary.trial.system
    switched = "" if system.environment is None else f"{system.environment}, state "
    factors = {**system.factors, "environment": f"{switched}{number + 1}"}
    named = system.model_copy(update={"name": _name(system.name, number), "factors": factors})
    return replace(trial_summary, trial=trial_summary.trial.model_copy(update={"system": named}))


def _name(system: str, number: int) -> str:
    return f"{system} (environment {number + 1})"


def _doubts(trials: Sequence[TrialSummary], firsts: Sequence[Environment], places: Sequence[int]) -> Iterator[Doubt]:
    """One for each time that a trial ran in another environment than the one before it."""
    for earlier, later in itertools.pairwise(_in_time(trials)):
        if places[earlier] == places[later]:
            continue
        before, after = trials[earlier].trial, trials[later].trial
        changed = changes(firsts[places[earlier]], firsts[places[later]])
        names = [_name(before.system.name, places[index]) for index in (earlier, later)]
        seen = EnvironmentChanged(
            system=before.system.name,
            trial_before=before.trial_id,
            began_before_unix_s=began_unix_s(before),
            trial_after=after.trial_id,
            began_after_unix_s=began_unix_s(after),
            changes=tuple((change.what, change.before, change.after) for change in changed),
            shown_as=tuple(names),
        )
        yield from (Place(name).doubt(seen, float(len(changed))) for name in names)


def _changes(before: Environment, after: Environment) -> Iterator[Change]:
    old_instances, new_instances = before.instances, after.instances
    if old_instances and new_instances and len(old_instances) != len(new_instances):
        yield Change("instances", str(len(old_instances)), str(len(new_instances)))
    pairs = list(zip(old_instances, new_instances, strict=False))
    for old, new in pairs:
        yield from _known(f"version of {new.name}", old.version, new.version)
    yield from _fields(_HOST, before.host, after.host)
    yield from _memory(before, after)
    for old, new in pairs:
        yield from _fields(_STORAGE, old.storage or StorageFacts(), new.storage or StorageFacts())
    yield from _known("load engine", before.client.engine_version, after.client.engine_version)
    yield from _known("client on the server's host", before.client.on_server_host, after.client.on_server_host)
    are_known = before.client.engine_version is not None and after.client.engine_version is not None
    if are_known and before.client.drivers != after.client.drivers:
        yield Change("drivers", _names(before.client.drivers), _names(after.client.drivers))
    yield from _known("CPUs of the client", _cpus(before.client.cpus), _cpus(after.client.cpus))
    for old, new in pairs:
        yield from _placement(old.placement, new.placement)
    seen: set[Change] = set()
    for old, new in pairs:
        for change in _variables(old, new):
            if change not in seen:
                seen.add(change)
                yield change


def _known(what: str, before: object, after: object) -> Iterator[Change]:
    if before is not None and after is not None and before != after:
        yield Change(what, str(before), str(after))


def _fields(names: Mapping[str, str], before: object, after: object) -> Iterator[Change]:
    for field, what in names.items():
        yield from _known(what, getattr(before, field), getattr(after, field))


def _placement(before: PlacementFacts | None, after: PlacementFacts | None) -> Iterator[Change]:
    """What a server may use. That it has no limit is known where its process was looked at."""
    if before is None or after is None:
        return
    yield from _known("CPUs of the server", _cpus(before.cpus), _cpus(after.cpus))
    for field, what in _LIMITS.items():
        old, new = getattr(before, field), getattr(after, field)
        yield from _known(what, "none" if old in (None, {}) else old, "none" if new in (None, {}) else new)
    yield from _known("scheduling class", before.scheduling, after.scheduling)
    yield from _known("nice", before.nice, after.nice)


def _cpus(cpus: tuple[int, ...] | None) -> str | None:
    return None if cpus is None else format_cpus(cpus)


def _names(drivers: Sequence[str]) -> str:
    return ", ".join(drivers) or "one, beside Plimsoll"


def _memory(before: Environment, after: Environment) -> Iterator[Change]:
    old_bytes, new_bytes = before.host.memory_bytes, after.host.memory_bytes
    if (
        old_bytes is not None
        and new_bytes is not None
        and abs(old_bytes - new_bytes) > _MEMORY_RATIO * max(old_bytes, new_bytes)
    ):
        yield Change("memory", f"{old_bytes / 2**30:.1f} GiB", f"{new_bytes / 2**30:.1f} GiB")


def _variables(before: InstanceFacts, after: InstanceFacts) -> Iterator[Change]:
    """Variables of a server; one that only one of them has is left to the difference of their versions."""
    if before.variables == after.variables:
        return  # nearly always, and each has hundreds
    for name in sorted(before.variables.keys() & after.variables.keys()):
        old, new = before.variables[name], after.variables[name]
        if old != new and spelled(old) != spelled(new) and not is_own(name, {"before": old, "after": new}):
            yield Change(name, old, new)
