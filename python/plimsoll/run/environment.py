"""What a trial is measured on: this machine once, each instance before each trial."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from plimsoll import __version__
from plimsoll.drive.executable import engine_version
from plimsoll.record.model import ClientFacts, Environment, HostFacts, InstanceFacts
from plimsoll.run.client_limits import known_limit_tps
from plimsoll.run.systems import Instance
from plimsoll.servers.control import connect
from plimsoll.servers.facts import host_facts, instance_facts
from plimsoll.spec.shares import shares
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target


class Surveyor:
    """Takes environments down.

    Attributes:
        host: This machine.
    """

    def __init__(self) -> None:
        self.host = host_facts()
        self._engine_version = engine_version()

    def environment(self, instances: Sequence[Instance], workload: Workload, connections: int) -> Environment:
        """The environment as it is now, for a trial with so many connections.

        A server elsewhere, or nobody knows where, is on a host that nothing is known about.

        Raises:
            TargetError: An instance does not answer.
        """
        targets = [instance.target for instance in instances]
        parts = zip(instances, shares(workload, len(instances)), strict=True)
        facts = tuple(_facts(instance, part) for instance, part in parts)
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
        return Environment(
            host=self.host if are_here else HostFacts(),
            instances=facts,
            client=ClientFacts(
                plimsoll_version=__version__,
                engine_version=self._engine_version,
                python_version=platform.python_version(),
                on_server_host=are_here,
                server_place="; ".join(dict.fromkeys(instance.place for instance in instances)) or None,
                limit_tps=limit_tps,
            ),
        )


def together(instances: Sequence[Instance]) -> bool | None:
    """Whether all servers run on this machine, or none of them; None when unknown, or some do."""
    places = {instance.is_here for instance in instances}
    return places.pop() if len(places) == 1 else None


def _facts(instance: Instance, workload: Workload) -> InstanceFacts:
    with connect(instance.target) as control:
        return instance_facts(
            control,
            name=instance.name,
            tables=workload.table_names,
            option_file=instance.option_file,
            storage=instance.storage,
        )
