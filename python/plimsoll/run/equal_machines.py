"""Whether the machines of a study's environments are equal, asked before they are measured.

The same function judges recordings afterwards (`analyse.equivalence.machines`). Before, it gets what servers will be
able to use: what their machine has, and the limits that Plimsoll will set. Deliberately not here: servers that Plimsoll
does not start, of which that is not known until they run.
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.analyse.equivalence.machines import machines_of_environments
from plimsoll.analyse.model import SystemSummary
from plimsoll.errors import HostError
from plimsoll.hosts.host import Host
from plimsoll.prose.equivalence import differences_in_words
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.placement import PlacementFacts
from plimsoll.run.history import History
from plimsoll.servers.facts import host_facts, usable_memory_bytes
from plimsoll.servers.placement import InstancePlacement, instance_placements
from plimsoll.servers.topology import Topology, read_topology
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec

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
        self._known = {name: one.environment for name, one in history.last.items()}

    def add(self, system: SystemSpec, host: Host) -> None:
        """Looks at the machine of a system's server, which is there; nothing where no environments are compared.

        Raises:
            HostError: The host cannot be reached.
        """
        if system.environment is not None and (found := foreseen_environment(system, host)) is not None:
            self._known[system.name] = found

    def refuse_unequal(self) -> None:
        """Refuses to compare machines with unequal CPUs or memory.

        Raises:
            HostError: They are, and the study does not state it.
        """
        compared = machines_of_environments(list(self._summaries()))
        if compared is not None and compared.differences:
            told = differences_in_words((one.what, one.values) for one in compared.differences)
            raise HostError(f"the machines of the environments are not equal: {told}. {_CURE}")

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
        InstanceFacts(name=f"{system.name}/{number}", placement=_foreseen(one, topology, limit))
        for number, one in enumerate(placements)
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
