"""Whether a machine permits what a study gives to its servers and to the load generator.

Limits and classes are tried for real: control groups are made and removed, and a process that does nothing joins them.
Deliberately not here: how that is done (`servers.placement`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.run.replicas import replica_cpu_counts, replica_placements
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.servers.placement import InstancePlacement, instance_placements, refusals
from plimsoll.servers.topology import Topology, cpu_faults, read_topology
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec


def unpermitted(spec: StudySpec, topology: Topology | None = None) -> Iterator[str]:
    """A line for everything that this machine does not permit, which begins with its place in the study file.

    Args:
        spec: What the user wrote.
        topology: The CPUs of this machine; None looks.
    """
    topology = topology or read_topology()
    client_cpus = spec.study.client_cpus or ()
    yield from (f"study.client.cpus: {fault}" for fault in cpu_faults(client_cpus, topology))
    for index, system in enumerate(spec.system):
        if system.server_here is None:
            continue
        faults = not_permitted(system.server_here, HERE, topology, client_cpus)
        yield from (f"system[{index}].server.{fault}" for fault in faults)


def not_permitted(server: ServerSpec, host: Host, topology: Topology, client_cpus: Sequence[int] = ()) -> Iterator[str]:
    """A line for everything that a host does not permit to a system's servers, which begins with its key.

    Args:
        server: What the user wrote.
        host: Where they will run.
        topology: Its CPUs.
        client_cpus: CPUs of the load generator there.

    Raises:
        HostError: The host cannot be reached.
    """
    if faults := [*_cpu_faults(server, topology)]:
        yield from faults
        return
    # Instances have equal limits, and so have replicas: the first is tried for all of them.
    first = (server, instance_placements(server, server.instances, topology, client_cpus)[0])
    replicas = [(server.each_replica, one) for one in replica_placements(server, topology, client_cpus)[:1]]
    for one, placement in (first, *replicas):
        if placement != InstancePlacement():
            data_dir = Path(one.data_dir) if one.data_dir else host.call(default_base_dir)
            yield from host.call(refusals, placement, host.call(nearest_existing, data_dir))


def _cpu_faults(server: ServerSpec, topology: Topology) -> Iterator[str]:
    yield from (f"cpus: {fault}" for fault in cpu_faults(server.cpus or (), topology))
    usable = len(topology.allowed & topology.online)
    if server.cpu_count is not None and server.cpu_count > usable:
        yield f"cpu_count: is {server.cpu_count}, and this process may use {usable}; take at most {usable}"
    elif (of_replicas := sum(replica_cpu_counts(server) or ())) > (left := usable - (server.cpu_count or 0)):
        yield (
            f"replica.cpu_count: {of_replicas} CPUs for {server.replicas} replicas, and beside the source this process"
            f" may use {left}; take fewer replicas or CPUs"
        )
    yield from (f"replica.cpus: {fault}" for part in server.replica.cpus or () for fault in cpu_faults(part, topology))
