"""Whether trials of one system were measured on the same: host, kernel, server, its variables, engine, storage.

Trials of unlike environments are no repetitions of each other. A system that was measured in several is shown as
several, so that none of its numbers mixes them (decision 0022).

What is unknown in one of two environments is no difference. Nor is what differs each time a server starts: paths, ports
and the like (`variables.is_own`), free space, the time of one flush.

Deliberately not here: comparing systems with each other (`variables`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from plimsoll.analyse import catalogue
from plimsoll.analyse.findings import Finding
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.variables import is_own, spelled
from plimsoll.record.model import Environment, InstanceFacts, StorageFacts, TrialRecord

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
_MEMORY_RATIO = 0.01
"""Kernels keep a little of the memory for themselves, and not each the same."""

_TOLD_MAX = 4
_VALUE_CHARACTERS_MAX = 60


@dataclass(frozen=True, slots=True)
class Change:
    """Something that is not what it was.

    Attributes:
        what: Its name for people.
    """

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        """The change in words."""
        return f"{self.what} from {_shortened(self.before)} to {_shortened(self.after)}"


def changes(before: Environment, after: Environment) -> tuple[Change, ...]:
    """What of a system's environment changed from one trial to another; what weighs most comes first."""
    return tuple(_changes(before, after))


def told(found: Sequence[Change]) -> str:
    """Changes in words: the first few, and how many more there are."""
    more = len(found) - _TOLD_MAX
    words = [str(one) for one in found[:_TOLD_MAX]] + ([f"{more} more"] if more > 0 else [])
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else "".join(words)


def apart(trials: Sequence[TrialSummary]) -> tuple[list[TrialSummary], tuple[Finding, ...]]:
    """Gives each environment of a system a name of its own.

    Args:
        trials: All complete trials.

    Returns:
        The trials, those of one environment next to each other where there are several, and a doubt for each time that
        an environment changed.
    """
    by_system: dict[str, list[TrialSummary]] = {}
    for one in trials:
        by_system.setdefault(one.trial.system.name, []).append(one)
    named: list[TrialSummary] = []
    findings: list[Finding] = []
    for of_system in by_system.values():
        firsts, places = _environments(of_system)
        if len(firsts) == 1:
            named += of_system
            continue
        for number in range(len(firsts)):
            named += [_renamed(one, number) for one, place in zip(of_system, places, strict=True) if place == number]
        findings += _findings(of_system, firsts, places)
    return named, tuple(findings)


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


def _renamed(one: TrialSummary, number: int) -> TrialSummary:
    system = one.trial.system
    factors = {**system.factors, "environment": str(number + 1)}
    named = system.model_copy(update={"name": _name(system.name, number), "factors": factors})
    return replace(one, trial=one.trial.model_copy(update={"system": named}))


def _name(system: str, number: int) -> str:
    return f"{system} (environment {number + 1})"


def _findings(
    trials: Sequence[TrialSummary], firsts: Sequence[Environment], places: Sequence[int]
) -> Iterator[Finding]:
    """One for each time that a trial ran in another environment than the one before it."""
    order = _in_time(trials)
    for earlier, later in itertools.pairwise(order):
        if places[earlier] == places[later]:
            continue
        before, after = trials[earlier], trials[later]
        found = changes(firsts[places[earlier]], firsts[places[later]])
        system = before.trial.system.name
        seen = (
            f"{system} changed between trials {_shown(before.trial)} and {_shown(after.trial)}: {told(found)}; they are"
            f" shown apart, as {_name(system, places[earlier])} and {_name(system, places[later])}"
        )
        warning = catalogue.ENVIRONMENT_CHANGED.seen(seen)
        for number in (places[earlier], places[later]):
            yield Finding(warning=warning, system=_name(system, number), weight=float(len(found)))


def _shown(trial: TrialRecord) -> str:
    if not trial.states:
        return trial.trial_id
    return f"{trial.trial_id} ({datetime.fromtimestamp(began_unix_s(trial), UTC):%Y-%m-%d %H:%M} UTC)"


def _changes(before: Environment, after: Environment) -> Iterator[Change]:
    one, other = before.instances, after.instances
    if one and other and len(one) != len(other):
        yield Change("instances", str(len(one)), str(len(other)))
    pairs = list(zip(one, other, strict=False))
    for old, new in pairs:
        yield from _known(f"version of {new.name}", old.version, new.version)
    yield from _fields(_HOST, before.host, after.host)
    yield from _memory(before, after)
    for old, new in pairs:
        yield from _fields(_STORAGE, old.storage or StorageFacts(), new.storage or StorageFacts())
    yield from _known("load engine", before.client.engine_version, after.client.engine_version)
    yield from _known("client on the server's host", before.client.on_server_host, after.client.on_server_host)
    seen: set[str] = set()
    for old, new in pairs:
        for change in _variables(old, new):
            if str(change) not in seen:
                seen.add(str(change))
                yield change


def _known(what: str, before: object, after: object) -> Iterator[Change]:
    if before is not None and after is not None and before != after:
        yield Change(what, str(before), str(after))


def _fields(names: Mapping[str, str], before: object, after: object) -> Iterator[Change]:
    for field, what in names.items():
        yield from _known(what, getattr(before, field), getattr(after, field))


def _memory(before: Environment, after: Environment) -> Iterator[Change]:
    one, other = before.host.memory_bytes, after.host.memory_bytes
    if one is not None and other is not None and abs(one - other) > _MEMORY_RATIO * max(one, other):
        yield Change("memory", f"{one / 2**30:.1f} GiB", f"{other / 2**30:.1f} GiB")


def _variables(before: InstanceFacts, after: InstanceFacts) -> Iterator[Change]:
    """Variables of a server; one that only one of them has is left to the difference of their versions."""
    for name in sorted(before.variables.keys() & after.variables.keys()):
        one, other = before.variables[name], after.variables[name]
        if spelled(one) != spelled(other) and not is_own(name, {"before": one, "after": other}):
            yield Change(name, one, other)


def _shortened(value: str) -> str:
    return value if len(value) <= _VALUE_CHARACTERS_MAX else f"{value[: _VALUE_CHARACTERS_MAX - 1]}…"
