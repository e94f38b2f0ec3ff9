"""What a trial is measured on: this machine once, each instance before each trial."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from plimsoll import __version__
from plimsoll.drive.executable import engine_version
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts
from plimsoll.run.client_limits import known_limit_tps
from plimsoll.run.data_survey import DataSurvey
from plimsoll.run.instance import Instance, parts_of, sources_of
from plimsoll.servers.control import connect
from plimsoll.servers.facts import host_facts, instance_facts
from plimsoll.servers.huge_pages import huge_pages_bytes
from plimsoll.servers.listening import boot_id
from plimsoll.servers.placement_facts import placement_facts
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target


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
