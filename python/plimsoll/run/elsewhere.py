"""What would keep managed servers from running on another host: looked at there before anything starts.

The checks are those of this machine (`preflight`, `permitted`), asked of the host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.hosts.host import Host
from plimsoll.plan.disk import disk_parts
from plimsoll.run.hosts import Hosts
from plimsoll.run.permitted import not_permitted
from plimsoll.run.server_faults import server_faults
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.servers.storage import storage_facts
from plimsoll.servers.topology import read_topology
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.units import format_bytes


def unfit_hosts(spec: StudySpec, hosts: Hosts, of: Collection[SystemSpec]) -> Iterator[str]:
    """A line for everything that a host lacks, which begins with its place in the study file.

    Args:
        spec: What the user wrote.
        hosts: Of the study.
        of: The systems of the study whose hosts are looked at.
    """
    for index, system in enumerate(spec.system):
        if system.host is None or system not in of:
            continue
        place = f"system[{index}]"
        try:
            host = hosts.of(system)
            if system.server is not None:
                yield from (f"{place}.{fault}" for fault in _faults(spec, system, system.server, host))
        except HostError as error:
            yield f"{place}.host: {error}"


def _faults(spec: StudySpec, system: SystemSpec, server: ServerSpec, host: Host) -> Iterator[str]:
    yield from (f"server.{fault} ({host.name})" for fault in server_faults(system.name, server, host))
    base_dir = Path(server.data_dir) if server.data_dir else host.call(default_base_dir)
    yield from _missing_space(spec, system, host, base_dir)
    yield from (f"server.{fault} ({host.name})" for fault in not_permitted(server, host, host.call(read_topology)))


def _missing_space(spec: StudySpec, system: SystemSpec, host: Host, base_dir: Path) -> Iterator[str]:
    """A line for each file system of the host that cannot hold what comes to be on it."""
    free = host.call(storage_facts, host.call(nearest_existing, base_dir)).free_bytes or 0
    wanted: dict[str | None, int] = defaultdict(int)
    free_of: dict[str | None, int | None] = {}
    for part in disk_parts(spec, system, free):
        facts = host.call(storage_facts, host.call(nearest_existing, part.folder or base_dir))
        device = facts.device or facts.file_system
        wanted[device] += part.size_bytes
        free_of[device] = facts.free_bytes
    for device, size in wanted.items():
        if (free_bytes := free_of[device]) is not None and size > free_bytes:
            yield (
                f"server.data_dir: about {format_bytes(size)} are needed on {device} of {host.name},"
                f" and {format_bytes(free_bytes)} are free; free space, choose another folder, or load fewer rows"
            )
