"""What a trial is measured on: this machine and the data once, each instance before each trial; its drivers and limits.

What servers hold (tables, rows, plans, chosen variables) is asked before any trial, so that counting rows warms no
cache of a measurement. Nothing of it ends a study.

What this machine's client was found to drive at most is kept between runs: `plimsoll doctor --client` writes it, trials
compare themselves with it. It holds for one machine, one engine and one workload with all its options; anything else
has no limit that is known.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plimsoll import __version__
from plimsoll.drive.engine import Driver, LocalDriver, TrialRun
from plimsoll.drive.executable import Launcher, LocalLauncher, engine_version
from plimsoll.drive.ray_cluster.cluster import RayCluster, RayLauncher
from plimsoll.drive.shared_run import DriverPlace, SharedDriver
from plimsoll.errors import HostError, TargetError
from plimsoll.hosts.openssh import SshLauncher
from plimsoll.record.document import Document
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts
from plimsoll.record.model import DriverRecord
from plimsoll.record.server_facts import DataFacts
from plimsoll.regular_file import read_regular
from plimsoll.run.instance import Instance, parts_of, sources_of
from plimsoll.run.server_answers import drawn_statements
from plimsoll.servers.control import connect
from plimsoll.servers.data_facts import data_facts, variable_defaults, variables_set
from plimsoll.servers.facts import host_facts, huge_pages_bytes, instance_facts
from plimsoll.servers.locality import boot_id
from plimsoll.servers.placement import placement_facts
from plimsoll.spec.drivers import ONE_HERE, DriverSpec, driver_names
from plimsoll.spec.explain_statements import Explained, shipped_statements
from plimsoll.spec.target import Target
from plimsoll.spec.workloads import StatementsSpec, Workload


class Surveyor:
    """Takes environments down.

    Attributes:
        host: This machine, as it was at first.
    """

    def __init__(self) -> None:
        self.host = host_facts()
        self._engine_version = engine_version()
        self._survey = DataSurvey()

    def look(self, instances: Sequence[Instance], workloads: Sequence[Workload]) -> None:
        """Asks the servers of a system for their data, once; environments hold it from then on."""
        self._survey.look(instances, workloads)

    def environment(self, instances: Sequence[Instance], workload: Workload, connections: int) -> Environment:
        """The environment as it is now, for a trial with so many connections.

        Nothing is known about the host of a server elsewhere, unless the study names the host.

        Raises:
            TargetError: An instance does not answer.
        """
        targets = [instance.target for instance in sources_of(instances)]
        parts = zip(instances, parts_of(instances, workload), strict=True)
        facts = tuple(self._survey.added_to(_facts(instance, part)) for instance, part in parts)
        return self.described(instances, facts, self.limit_tps(workload, connections, targets))

    def limit_tps(self, workload: Workload, connections: int, targets: Sequence[Target]) -> float | None:
        """What this client is known to drive at most, transactions per second; None when unknown."""
        return known_limit_tps(self.host, self._engine_version, workload, connections, targets)

    def described(
        self, instances: Sequence[Instance], facts: tuple[InstanceFacts, ...], limit_tps: float | None
    ) -> Environment:
        """The environment with what is known about servers already.

        Args:
            instances: The servers; they tell whether this is their machine.
            facts: Of each server that something is known about.
            limit_tps: What this client is known to drive at most.
        """
        are_here = together(instances)
        host = host_facts() if are_here else _host_of(instances)  # each time: a hook may have switched settings
        places = [instance.place for instance in instances]
        if are_here is False and _is_this_machine(instances):
            are_here = True
            places.append("its host is this machine, by the kernel's boot id")
        return Environment(
            host=host,
            instances=facts,
            client=ClientFacts(
                plimsoll_version=__version__,
                engine_version=self._engine_version,
                python_version=platform.python_version(),
                on_server_host=are_here,
                server_place="; ".join(dict.fromkeys(places)) or None,
                limit_tps=limit_tps,
            ),
        )


def _is_this_machine(instances: Sequence[Instance]) -> bool:
    """Whether the host that a study names is a container or a namespace of the machine that drives the load."""
    hosts = {id(instance.host): instance.host for instance in instances if not instance.host.is_here}
    return bool(hosts) and all(host.call(boot_id) == boot_id() is not None for host in hosts.values())


def _host_of(instances: Sequence[Instance]) -> HostFacts:
    """What is known of the one host that all servers are watched through; nothing where it is this machine."""
    hosts = {id(instance.host): instance.host for instance in instances}
    only = next(iter(hosts.values()))
    return HostFacts() if len(hosts) > 1 or only.is_here else only.call(host_facts)


def together(instances: Sequence[Instance]) -> bool | None:
    """Whether all servers run on this machine, or none of them; None when unknown, or some do."""
    places = {instance.is_here for instance in instances}
    return places.pop() if len(places) == 1 else None


def _facts(instance: Instance, workload: Workload) -> InstanceFacts:
    with connect(instance.target) as control:
        facts = instance_facts(
            control,
            name=instance.name,
            tables=workload.table_names,
            option_file=instance.option_file,
            storage=instance.storage,
        )
    return facts.model_copy(
        update={
            "role": instance.role,
            "placement": None if instance.pid is None else instance.host.call(placement_facts, instance.pid),
            "storage_of_roles": dict(instance.storage_of_roles),
            "huge_pages_bytes": None if instance.pid is None else instance.host.call(huge_pages_bytes, instance.pid),
        }
    )


def with_client_cpus(environment: Environment, engine_pid: int) -> Environment:
    """The environment with the CPUs that a running engine may use."""
    facts = placement_facts(engine_pid)
    client = environment.client.model_copy(update={"cpus": None if facts is None else facts.cpus})
    return environment.model_copy(update={"client": client})


@dataclass(frozen=True, slots=True)
class _Surveyed:
    data: DataFacts
    variables_set: tuple[str, ...] | None
    variable_defaults: dict[str, str]

    @property
    def facts(self) -> dict[str, object]:
        """As fields of the instance's facts."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class DataSurvey:
    """Remembers what was found by the name of the instance."""

    def __init__(self) -> None:
        self._surveyed: dict[str, _Surveyed] = {}

    def look(self, instances: Sequence[Instance], workloads: Sequence[Workload]) -> None:
        """Asks servers that were not asked before; one that does not answer stays unknown."""
        for number, instance in enumerate(instances):
            if instance.name in self._surveyed:
                continue
            parts = [parts_of(instances, workload)[number] for workload in workloads]
            try:
                self._surveyed[instance.name] = _asked(instance, parts)
            except TargetError:
                continue

    def added_to(self, facts: InstanceFacts) -> InstanceFacts:
        """What is known of an instance, with what was found."""
        surveyed = self._surveyed.get(facts.name)
        if surveyed is None:
            return facts
        return facts.model_copy(update=surveyed.facts)


def _asked(instance: Instance, workloads: Sequence[Workload]) -> _Surveyed:
    tables = [name for workload in workloads for name in workload.table_names]
    with connect(instance.target) as control:
        chosen = variables_set(control)
        defaults = variable_defaults(control, chosen or ())
        return _Surveyed(data_facts(control, tables, _statements(workloads)), chosen, defaults)


def _statements(workloads: Iterable[Workload]) -> Iterator[Explained]:
    for workload in workloads:
        if isinstance(workload, StatementsSpec):
            yield from drawn_statements(workload)
        else:
            yield from shipped_statements(workload)


@contextmanager
def driver_of(drivers: Sequence[DriverSpec], cpus: Sequence[int] | None = None) -> Iterator[Driver]:
    """What runs the engines of trials. Machines are connected to when they are needed, until the context ends.

    Args:
        drivers: The machines that share the load.
        cpus: CPUs of the engines on this machine; None for all.

    Raises:
        HostError: There is no ssh here.
    """
    local = LocalDriver(cpus)
    if tuple(drivers) == ONE_HERE:
        yield local
        return
    with ExitStack() as stack:
        first, places, cluster = drivers[0], [], None
        if first.ray is not None:
            cluster = RayCluster(first.ray, len(drivers))
            stack.callback(cluster.close)
        for index, (name, driver) in enumerate(zip(driver_names(drivers), drivers, strict=True)):
            launcher: Launcher = LocalLauncher(cpus)
            if cluster is not None:
                launcher = RayLauncher(cluster, index)
            elif driver.ssh is not None:
                launcher = stack.enter_context(SshLauncher(driver.ssh))
            places.append(DriverPlace(name, launcher))
        yield SharedDriver(places, local, cluster)


def to_be_driven(environment: Environment, drivers: Sequence[DriverSpec]) -> Environment:
    """The environment with the drivers that are to share the load, as far as they are known before they run."""
    if tuple(drivers) == ONE_HERE:
        return environment
    names = driver_names(drivers)
    records = [DriverRecord(name=name, is_here=driver.is_here) for name, driver in zip(names, drivers, strict=True)]
    return _with_drivers(environment, records)


def as_driven(environment: Environment, run: TrialRun) -> Environment:
    """The environment with what is known of the engines that run now."""
    if run.local_pid is not None:
        environment = with_client_cpus(environment, run.local_pid)
    return _with_drivers(environment, run.drivers)


def _with_drivers(environment: Environment, drivers: Sequence[DriverRecord]) -> Environment:
    """The environment with the drivers that shared the load, where there are any to be named.

    What this machine alone can drive at most says nothing about several, and a client elsewhere shares no machine
    with servers that run here.
    """
    if not drivers:
        return environment
    is_here = any(driver.is_here for driver in drivers)
    client = environment.client.model_copy(
        update={
            "drivers": tuple(driver.place for driver in drivers),
            "limit_tps": None,
            "on_server_host": environment.client.on_server_host and is_here,
        }
    )
    return environment.model_copy(update={"client": client})


def driven_from(run: TrialRun) -> str | None:
    """What the telemetry of this machine names as its driver; None for this machine, where an engine runs here."""
    return None if run.local_pid is not None else ", ".join(driver.name for driver in run.drivers)


_FILE_BYTES_MAX = 4_000_000
_ENTRIES_MAX = 200


class ClientLimit(Document):
    """What a client reached where the server was hardly the limit.

    Attributes:
        connections: That drove the load.
        by_socket: Through a unix socket; otherwise over TCP on the loopback address.
        throughput_tps: Transactions per second.
        statements_per_s: Statements per second.
        cpu_us_per_statement: Processor time of the client for each statement, microseconds.
        response_ms_p99: The fastest that responses can be with so many connections; null with too few transactions.
    """

    connections: int
    by_socket: bool
    throughput_tps: float
    statements_per_s: float
    cpu_us_per_statement: float
    response_ms_p99: float | None


class CalibratedWorkload(Document):
    """The limits of one workload on one machine.

    Attributes:
        machine: Name, processor model and number of hardware threads.
        options: All options of the workload that are in force.
    """

    machine: str
    engine_version: str
    kind: str
    options: dict[str, Any]
    limits: tuple[ClientLimit, ...]

    def is_of(self, machine: str, engine_version: str, workload: Workload) -> bool:
        """Whether these limits are those of a workload here."""
        written = json.loads(json.dumps(workload.options()))
        return (machine, engine_version, workload.kind, written) == (
            self.machine,
            self.engine_version,
            self.kind,
            self.options,
        )


def machine_of(host: HostFacts) -> str:
    """A machine in one line, as limits name it."""
    return f"{host.name}, {host.cpu_model}, {host.cpu_threads} hardware threads"


def limits_file() -> Path:
    """Where limits are kept: `client-limits.json` in the user's state directory (XDG base directories)."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(base) / "plimsoll" / "client-limits.json"


def read_limits(path: Path) -> tuple[CalibratedWorkload, ...]:
    """Everything that is kept. A file that is missing, damaged or of another version holds nothing."""
    try:
        entries = json.loads(read_regular(path, _FILE_BYTES_MAX))
        return tuple(CalibratedWorkload.model_validate(entry) for entry in entries)
    except (OSError, ValueError, TypeError, RecursionError, ValidationError):
        return ()


def keep_limits(path: Path, calibrated: CalibratedWorkload) -> None:
    """Keeps the limits of a workload in place of older ones.

    Raises:
        HostError: The file cannot be written.
    """
    others = [
        entry
        for entry in read_limits(path)
        if (entry.machine, entry.kind, entry.options) != (calibrated.machine, calibrated.kind, calibrated.options)
    ]
    text = json.dumps([entry.model_dump(mode="json") for entry in [*others[1 - _ENTRIES_MAX :], calibrated]], indent=1)
    written = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, encoding="utf-8")
        written.replace(path)
    except OSError as error:
        raise HostError(f"{path}: cannot be written: {error.strerror}; set XDG_STATE_HOME to another folder") from None


def known_limit_tps(
    host: HostFacts, engine_version: str, workload: Workload, connections: int, targets: Iterable[Target]
) -> float | None:
    """What this client is known to reach with a workload and so many connections, tps; None when unknown."""
    machine = machine_of(host)
    entries = [
        calibrated for calibrated in read_limits(limits_file()) if calibrated.is_of(machine, engine_version, workload)
    ]
    by_socket = all(target.socket is not None for target in targets)
    return limit_tps(entries[-1].limits, connections, by_socket=by_socket) if entries else None


def limit_tps(limits: Iterable[ClientLimit], connections: int, *, by_socket: bool) -> float | None:
    """What a client is known to reach with so many connections, transactions per second; None when unknown.

    Between two numbers of connections the lower figure counts; beyond those that were measured nothing is known.
    """
    known: Sequence[ClientLimit] = sorted(
        (limit for limit in limits if limit.by_socket == by_socket), key=lambda limit: limit.connections
    )
    below = [limit.throughput_tps for limit in known if limit.connections <= connections]
    above = [limit.throughput_tps for limit in known if limit.connections >= connections]
    return min(below[-1], above[0]) if below and above else None
