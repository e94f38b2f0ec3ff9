"""Pre-flight checks of a study: of all that is known before anything starts, then of each system when it first runs.

Findings go to the event log and to whoever watches. They end a study only where that is wanted (`--strict`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll.analyse.readiness.model import Readiness
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.run.demand import demand_of
from plimsoll.run.events import EventLog, ReadinessJudged
from plimsoll.run.foreseen import foreseen_readiness
from plimsoll.run.hosts import Hosts
from plimsoll.run.instance import Instance
from plimsoll.run.preflight import runs_already
from plimsoll.run.readiness import (
    ReadinessFinding,
    judged,
    machine_readiness,
    refuse_strictly,
    servers_readiness,
    target_instance,
)
from plimsoll.run.role_targets import named_targets
from plimsoll.run.systems import System
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.facts import host_facts
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec


class StudyPreflight:
    """Judges what a study is about to be measured on, everything once."""

    def __init__(self, spec: StudySpec, folder: Path, log: EventLog, hosts: Hosts, *, strict: bool) -> None:
        self._spec, self._folder, self._log, self._strict = spec, folder, log, strict
        self._hosts = hosts
        self._judged: set[tuple[str, bool]] = set()
        self._told: set[tuple[str | None, str | None, str]] = set()

    def judge_before(self, systems: Sequence[SystemSpec]) -> None:
        """Looks at all that is known before anything starts: machines, servers that run, options of the others.

        Args:
            systems: Those of the study whose machines are there now.

        Raises:
            SpecError, TargetError: A password is missing, or a server does not answer.
            HostError: Something is not fit, and strictness is wanted; all of it at once.
        """
        found: list[ReadinessFinding] = []
        for host, places in self._places(systems).items():
            facts = machine_readiness(places, demand_of(self._spec), host)
            found += self._tell(facts, host=None if host.is_here else host.name)
        for system in systems:
            found += self._tell(self._known_of(system), system=system.name)
        self._refuse(found)

    def judge_system(self, spec: SystemSpec, system: System, *, is_loaded: bool) -> None:
        """Looks at the servers of a system when they run for the first time, and when their data is there.

        Args:
            spec: What the user wrote.
            system: It runs.
            is_loaded: Its data is there.

        Raises:
            TargetError: One does not answer.
            HostError: They let too few connections in; or they are not fit, and strictness is wanted.
        """
        if (spec.name, is_loaded) in self._judged:
            return
        self._judged.add((spec.name, is_loaded))
        system.locate()
        self._refuse(self._tell(self._seen_of(spec, system.instances), system=spec.name))

    def _places(self, systems: Iterable[SystemSpec]) -> dict[Host, dict[Path, None]]:
        """Where files will be, on this machine and on each host."""
        found: dict[Host, dict[Path, None]] = {HERE: {self._folder: None}}
        for system in systems:
            host = self._hosts.of(system)
            of_host = found.setdefault(host, {})
            if (server := system.server) is not None:
                of_host.update(dict.fromkeys(map(Path, server.folders)))
                if server.data_dir is None:
                    of_host[host.call(default_base_dir)] = None
        return found

    def _known_of(self, system: SystemSpec) -> Readiness:
        """What is known of a system before the study starts anything."""
        if system.server is not None:
            return foreseen_readiness(self._spec, system, self._hosts.of(system))
        if not runs_already(self._spec, system):
            return Readiness()
        host, found = self._hosts.of(system), named_targets(system)
        first, *others = (target_instance(name, target, host) for name, target in found.items())
        return self._seen_of(system, [first, *(replace(one, role="replica") for one in others)])

    def _seen_of(self, system: SystemSpec, instances: Sequence[Instance]) -> Readiness:
        demand, cpus = demand_of(self._spec, system.instances), self._spec.study.client_cpus
        return servers_readiness(instances, demand, self._hosts.of(system).call(host_facts), client_cpus=cpus)

    def _tell(
        self, facts: Readiness, *, system: str | None = None, host: str | None = None
    ) -> tuple[ReadinessFinding, ...]:
        """Tells what was not told of a system or a machine before; returns everything that was found."""
        found = judged(facts)
        if new := tuple(one.as_warning() for one in found if (system, host, one.code) not in self._told):
            self._log.say(ReadinessJudged(system=system, host=host, findings=new))
        self._told |= {(system, host, one.code) for one in found}
        return found

    def _refuse(self, found: Iterable[ReadinessFinding]) -> None:
        if self._strict:
            refuse_strictly(found)
