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
from plimsoll.spec.statements import Workload


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

        A server elsewhere is on a host that nothing is known about.

        Raises:
            TargetError: An instance does not answer.
        """
        is_local = all(instance.target.is_local for instance in instances)
        return Environment(
            host=self.host if is_local else HostFacts(),
            instances=tuple(_facts(instance, workload) for instance in instances),
            client=ClientFacts(
                plimsoll_version=__version__,
                engine_version=self._engine_version,
                python_version=platform.python_version(),
                on_server_host=is_local,
                limit_tps=known_limit_tps(
                    self.host,
                    self._engine_version,
                    workload,
                    connections,
                    [instance.target for instance in instances],
                ),
            ),
        )


def _facts(instance: Instance, workload: Workload) -> InstanceFacts:
    with connect(instance.target) as control:
        return instance_facts(
            control,
            name=instance.name,
            tables=workload.table_names,
            option_file=instance.option_file,
            storage=instance.storage,
        )
