"""What would fail half way is refused before anything starts, and pre-flight checks are judged: of all systems, first.

Findings go to the event log and to whoever watches. They end a study only where that is wanted (`--strict`).

Environments that a hook switches are each made to be there once before the first trial, and looked at. So a guest that
does not start, a host that lacks something, or machines that are not equal end a study before anything is measured, and
not after hours. Only where a system's servers run on a machine that must be switched to: of others, there is nothing
more to find out. Whether machines are equal is judged by the function that judges recordings afterwards
(`analyse.explain.equivalence`); before, it gets what servers will be able to use.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll.analyse.explain.equivalence import machines_of_environments
from plimsoll.analyse.findings.machine import Readiness
from plimsoll.analyse.findings.systems import differences_words
from plimsoll.analyse.model import SystemSummary
from plimsoll.drive.engine import Driver
from plimsoll.drive.shared_run import SharedDriver
from plimsoll.errors import Fault, HostError, SpecError, within
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.plan.disk import data_bytes_most
from plimsoll.plan.model import PlannedTrial
from plimsoll.record.environment import Environment, InstanceFacts, PlacementFacts
from plimsoll.run.environments import Hosts, Switcher, is_switched_by_hook, there_from_the_start
from plimsoll.run.events import DataProgressed, EventLog, ReadinessJudged
from plimsoll.run.instance import Instance
from plimsoll.run.readiness import (
    ReadinessFinding,
    demand_of,
    foreseen_readiness,
    judged,
    machine_readiness,
    refuse_strictly,
    servers_readiness,
    target_instance,
)
from plimsoll.run.replicas import named_targets, role_targets
from plimsoll.run.running_servers import crowded_managed, unfit_targets
from plimsoll.run.server_faults import (
    missing_huge_pages,
    missing_space,
    of_machine,
    refused_devices,
    server_faults,
    unfit_hosts,
    unpermitted,
)
from plimsoll.run.session import History
from plimsoll.run.storage import storages_faults
from plimsoll.run.system_data import unfit_kept_data
from plimsoll.run.systems import System
from plimsoll.run.target_system import exporters_of
from plimsoll.servers.control import check_files
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.facts import host_facts, usable_memory_bytes
from plimsoll.servers.managed_server import pool_bytes_of
from plimsoll.servers.placement import InstancePlacement, Topology, instance_placements, read_topology
from plimsoll.spec.factors import placed
from plimsoll.spec.hooks import all_hooks
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import Target, with_secrets

DESCRIPTORS_BESIDE_CONNECTIONS = 64


def refuse_before_start(
    spec: StudySpec,
    folder: Path,
    trial_count: int,
    watch: Callable[[DataProgressed], None] = lambda _: None,
    *,
    hosts: Hosts | None = None,
    driver: Driver | None = None,
    hooks_folder: Path | None = None,
) -> None:
    """Looks for what a whole study needs, from passwords to disk space.

    Servers must answer, and let in as many connections as the highest level has; their tables must fit or be ours to
    make, and the account must be allowed to.

    Args:
        spec: What the user wrote.
        folder: Of the study.
        trial_count: How many trials will run.
        watch: Is told how far looking at tables is.
        hosts: Of the study; None for this machine only.
        driver: What will drive the load; None for one engine on this machine.
        hooks_folder: Where hooks run; the current folder when not given.

    Raises:
        SpecError: A password is not where the study says. It names everything else that is wrong too.
        HostError: Something else is missing; all of it at once, with the cures.
    """
    targets, missing = _targets(spec)
    faults: list[Fault | str] = [
        *missing,
        *(unfit_hosts(spec, hosts, there_from_the_start(spec)) if hosts is not None else ()),
        *(driver.faults() if isinstance(driver, SharedDriver) else ()),
        *_unfit_servers(spec),
        *_missing_hooks(spec, hooks_folder or Path.cwd()),
        *missing_space(spec, folder, trial_count),
        *_missing_descriptors(spec),
        *storages_faults(spec.storage),
        *crowded_managed(spec),
        *refused_devices(spec),
        *missing_huge_pages(spec),
        *_small_pools(spec),
        *unfit_kept_data(spec),
        *unpermitted(spec),
        *unfit_targets(spec, [(system, target) for system, target in targets if runs_already(spec, system)], watch),
    ]
    if faults:
        values = SpecError(*faults).faults
        error = SpecError(*placed(values, [system.origin for system in spec.system]))
        raise error if missing else HostError(str(error))


def _targets(spec: StudySpec) -> tuple[list[tuple[SystemSpec, Target]], list[Fault]]:
    """Every running server of the study, with its password; and a fault for each that the file says wrongly."""
    targets, faults = [], list[Fault]()
    for index, system in enumerate(spec.system):
        if system.server is not None:
            continue
        try:
            target = with_secrets(
                system.parsed_target(), password_env=system.password_env, defaults_file=system.defaults_file
            )
            exporters_of(system)
            for role_target in role_targets(system):
                check_files(role_target)
            targets.append((system, target))
        except SpecError as error:
            faults += within(("system", index), error.faults)
    return targets, faults


def runs_already(spec: StudySpec, system: SystemSpec) -> bool:
    """Whether a target can be looked at before the study begins: no hook starts it, or its environment."""
    is_started = system.hooks is not None and system.hooks.start is not None
    return not is_started and not is_switched_by_hook(spec)


def _missing_hooks(spec: StudySpec, folder: Path) -> Iterable[Fault]:
    """Commands of hooks that cannot be executed; a path is one from the folder of the study file."""
    for place, hook in all_hooks(spec):
        program = hook.command[0]
        if shutil.which(str(folder / program) if "/" in program else program) is None:
            where = f"in {folder}" if "/" in program else "on PATH"
            reason = f"{program} is no program that can be executed {where}; check its name and rights (chmod +x)"
            yield Fault(place, reason)


def _unfit_servers(spec: StudySpec) -> Iterable[Fault]:
    """What would keep servers on this machine from being made or started."""
    for index, system in enumerate(spec.system):
        if (server := system.server_here) is not None:
            yield from within(("system", index, "server"), server_faults(system.name, server, HERE))


def _small_pools(spec: StudySpec) -> Iterable[Fault]:
    """Shares of tables that make no buffer pool that a server has, however large these turn out to be."""
    for index, system in enumerate(spec.system):
        if (server := system.server) is None or server.pool_ratio is None:
            continue
        if (most := data_bytes_most(spec, server.instances)) is not None:
            try:
                pool_bytes_of(most, server.pool_ratio, "at most")
            except HostError as error:
                yield from within(("system", index, "server"), [of_machine(str(error))])


def _missing_descriptors(spec: StudySpec) -> Iterable[Fault]:
    """The engine needs one file descriptor for each connection; it may raise the soft limit up to the hard one."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = spec.sessions_max + DESCRIPTORS_BESIDE_CONNECTIONS
    if hard not in {resource.RLIM_INFINITY} and wanted > hard:
        reason = f"{wanted} open files are needed, {hard} are allowed; raise ulimit -n"
        yield Fault(("study", "levels", "connections"), reason)


class StudyPreflight:
    """Judges what a study is about to be measured on, everything once."""

    def __init__(self, spec: StudySpec, folder: Path, log: EventLog, hosts: Hosts, *, strict: bool) -> None:
        self._spec, self._folder, self._log, self._strict = spec, folder, log, strict
        self._hosts = hosts
        self._judged: set[tuple[str, bool]] = set()
        self._reported: set[tuple[str | None, str | None, str]] = set()

    def judge_before(self, systems: Sequence[SystemSpec]) -> None:
        """Looks at all that is known before anything starts: machines, servers that run, options of the others.

        Args:
            systems: Those of the study whose machines are there now.

        Raises:
            SpecError, TargetError: A password is missing, or a server does not answer.
            HostError: Something is not fit, and strictness is wanted; all of it at once.
        """
        findings: list[ReadinessFinding] = []
        for host, places in self._places(systems).items():
            facts = machine_readiness(places, demand_of(self._spec), host)
            findings += self._tell(facts, host=None if host.is_here else host.name)
        for system in systems:
            findings += self._tell(self._known_of(system), system=system.name)
        self._refuse(findings)

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
        by_host: dict[Host, dict[Path, None]] = {HERE: {self._folder: None}}
        for system in systems:
            host = self._hosts.of(system)
            of_host = by_host.setdefault(host, {})
            if (server := system.server) is not None:
                of_host.update(dict.fromkeys(map(Path, server.folders)))
                if server.data_dir is None:
                    of_host[host.call(default_base_dir)] = None
        return by_host

    def _known_of(self, system: SystemSpec) -> Readiness:
        """What is known of a system before the study starts anything."""
        if system.server is not None:
            return foreseen_readiness(self._spec, system, self._hosts.of(system))
        if not runs_already(self._spec, system):
            return Readiness()
        host, targets = self._hosts.of(system), named_targets(system)
        first, *others = (target_instance(name, target, host) for name, target in targets.items())
        return self._seen_of(system, [first, *(replace(other, role="replica") for other in others)])

    def _seen_of(self, system: SystemSpec, instances: Sequence[Instance]) -> Readiness:
        demand, cpus = demand_of(self._spec, system.instances), self._spec.study.client_cpus
        return servers_readiness(instances, demand, self._hosts.of(system).call(host_facts), client_cpus=cpus)

    def _tell(
        self, facts: Readiness, *, system: str | None = None, host: str | None = None
    ) -> tuple[ReadinessFinding, ...]:
        """Tells what was not told of a system or a machine before; returns everything that was found."""
        findings = judged(facts)
        if new := tuple(
            finding.as_warning() for finding in findings if (system, host, finding.code) not in self._reported
        ):
            self._log.say(ReadinessJudged(system=system, host=host, findings=new))
        self._reported |= {(system, host, finding.code) for finding in findings}
        return findings

    def _refuse(self, findings: Iterable[ReadinessFinding]) -> None:
        if self._strict:
            refuse_strictly(findings)


_CURE = (
    "Give both the same: the guest as many CPUs and as much memory, or the server on the larger machine cpu_count and"
    ' memory_limit. If that is what you compare, state it in each system, such as parameters = { cpus = "4" }'
)


class EqualMachines:
    """The machines of environments, as they become known."""

    def __init__(self, spec: StudySpec, history: History) -> None:
        """Begins with what was measured before.

        Args:
            spec: The whole study, whatever is measured now.
            history: What its systems were last measured on.
        """
        self._spec = spec
        self._known = {name: trial.environment for name, trial in history.last.items()}

    def add(self, system: SystemSpec, host: Host) -> None:
        """Looks at the machine of a system's server, which is there; nothing where no environments are compared.

        Raises:
            HostError: The host cannot be reached.
        """
        if system.environment is not None and (environment := foreseen_environment(system, host)) is not None:
            self._known[system.name] = environment

    def refuse_unequal(self) -> None:
        """Refuses to compare machines with unequal CPUs or memory.

        Raises:
            HostError: They are, and the study does not state it.
        """
        compared = machines_of_environments(list(self._summaries()))
        if compared is not None and compared.differences:
            words = differences_words((difference.what, difference.values) for difference in compared.differences)
            raise HostError(f"the machines of the environments are not equal: {words}. {_CURE}")

    def _summaries(self) -> Iterable[SystemSummary]:
        for system in self._spec.system:
            if (environment := self._known.get(system.name)) is not None:
                placed = {} if system.server is None else system.server.placement_factors()
                yield SystemSummary(
                    name=system.name,
                    factors=placed | system.hook_factors,
                    in_environment=system.environment,
                    environment=environment,
                )


def foreseen_environment(system: SystemSpec, host: Host) -> Environment | None:
    """What servers of a system will be able to use of their machine; None where Plimsoll does not start them.

    Raises:
        HostError: The host cannot be reached.
    """
    if (server := system.server) is None:
        return None
    facts, topology = host.call(host_facts), host.call(read_topology)
    memory_bytes = host.call(usable_memory_bytes)
    limit = memory_bytes if facts.memory_bytes is None or memory_bytes < facts.memory_bytes else None
    placements = instance_placements(server, server.instances, topology)
    instances = tuple(
        InstanceFacts(name=f"{system.name}/{number}", placement=_foreseen(placement, topology, limit))
        for number, placement in enumerate(placements)
    )
    return Environment(host=facts, instances=instances)


def _foreseen(placement: InstancePlacement, topology: Topology, limit: int | None) -> PlacementFacts:
    """A placement as it will be read back from the kernel.

    Args:
        placement: Of a server.
        topology: Of its machine: without CPUs of its own a server has those of Plimsoll's process there.
        limit: Of Plimsoll's own control group there, bytes.
    """
    inherited = tuple(sorted(topology.allowed)) if topology.allowed < topology.online else None
    return PlacementFacts(
        cpus=placement.cpus or inherited,
        cpu_quota=placement.share.cpu_quota,
        memory_limit_bytes=placement.share.memory_limit_bytes or limit,
    )


def look_at_machines(
    spec: StudySpec,
    todo: Sequence[PlannedTrial],
    switcher: Switcher,
    preflight: StudyPreflight,
    equal: EqualMachines,
) -> None:
    """Looks at every machine that will be measured: now at those that are there, and at the others in turn.

    Args:
        spec: What is measured now.
        todo: The trials that are missing, in order.
        switcher: Makes environments be there.
        preflight: Judges machines and servers.
        equal: Compares the machines.

    Raises:
        HookError: An environment cannot be switched to.
        HostError: A host cannot be reached or lacks something, the machines are not equal, or pre-flight checks refuse.
    """
    hosts = switcher.hosts
    here = there_from_the_start(spec)
    preflight.judge_before(here)
    for system in here:
        equal.add(system, hosts.of(system))
    equal.refuse_unequal()
    waiting = {system.name: system for system in spec.system if system not in here}
    in_order = [waiting[trial.system].environment for trial in todo if trial.system in waiting]
    for environment in reversed(dict.fromkeys(in_order)):  # the one that is measured first comes last: saves a switch
        systems_there = [system for system in waiting.values() if system.environment == environment]
        switcher.to(environment)
        if faults := list(unfit_hosts(spec, hosts, systems_there)):
            raise HostError("\n".join(map(str, faults)))
        hosts.sweep(systems_there)
        preflight.judge_before(systems_there)
        for system in systems_there:
            equal.add(system, hosts.of(system))
        equal.refuse_unequal()
