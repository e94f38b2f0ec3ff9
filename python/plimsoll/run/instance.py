"""A running server of a system: where it runs, how the engine gets it, when it is quiet, whether a disk is full.

Here what a study file says of a managed server becomes what `servers` takes, and roles of servers become targets of a
load's plan: each source with its replicas. A server that answers nothing because a disk is full is noticed within
seconds and with the name of the disk. Deliberately not here: starting servers (`systems`), when a server is quiet
(`servers.settle`), and how a full disk is told (`servers.server_process`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from plimsoll.drive.plans import GroupServers
from plimsoll.errors import HostError
from plimsoll.hosts.host import Host, Server
from plimsoll.hosts.local import HERE
from plimsoll.record.environment import StorageFacts
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.locality import find_listening, locate
from plimsoll.servers.managed_server import ManagedSpec
from plimsoll.servers.option_file import OptionFile
from plimsoll.servers.server_process import full_disk
from plimsoll.servers.settle import settle
from plimsoll.servers.storage import data_device, storage_facts
from plimsoll.spec.replicas import Reads
from plimsoll.spec.system import ServerSpec, shares
from plimsoll.spec.target import Target
from plimsoll.spec.workloads import Workload
from plimsoll.telemetry.device import busy_ratio, device_busy_ms
from plimsoll.telemetry.exporters.sampler import Exporter

ServerRole = Literal["source", "replica"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A running server of a system.

    Attributes:
        name: Unique within its system.
        role: A `replica` repeats the data of the one source of its system.
        host: The machine through which it is watched; this one, unless the study file names another.
        is_here: It is a process of this machine; None when unknown.
        place: How that was found, or why it is unknown, as part of a sentence.
        unwatched: Why its process cannot be watched though it is here; None when it can.
        pid: Its process; None when it is not this machine's or not known.
        data_dir: Where its data lies on this machine; None when not known.
        is_managed: Plimsoll started it, and may set its variables.
        option_file: Its option file; None when Plimsoll did not write it.
        storage: Where its data lies; None when not known.
        exporters: Pages that tell how it and its machine do.
        storage_of_roles: Where that lies which has a path of its own: `redo`, `binlog`, `undo`, `tmp`.
    """

    name: str
    target: Target
    role: ServerRole = "source"
    host: Host = HERE
    is_here: bool | None = None
    place: str = "nobody has looked yet"
    unwatched: str | None = None
    pid: int | None = None
    data_dir: Path | None = None
    is_managed: bool = False
    option_file: OptionFile | None = None
    storage: StorageFacts | None = None
    storage_of_roles: Mapping[str, StorageFacts] = field(default_factory=dict)
    exporters: tuple[Exporter, ...] = ()


def sources_of(instances: Sequence[Instance]) -> tuple[Instance, ...]:
    """Those that divide the data and the load of a system."""
    return tuple(instance for instance in instances if instance.role == "source")


def replicas_of(instances: Sequence[Instance]) -> tuple[Instance, ...]:
    """Those that repeat the data of the source."""
    return tuple(instance for instance in instances if instance.role == "replica")


def parts_of(instances: Sequence[Instance], workload: Workload) -> tuple[Workload, ...]:
    """The part of a workload's data that each instance has; replicas have that of the only source."""
    count = len(sources_of(instances))
    parts = shares(workload, count)
    return (*parts, *parts * (len(instances) - count))


def located(instance: Instance, control: ControlConnection) -> Instance:
    """The instance with what its connection tells about where it runs.

    A host that the study names looks for the server itself, since the connection does not end there.

    Raises:
        TargetError: It does not answer.
        HostError: The host that the study names is lost.
    """
    variables, host = control.variables(), instance.host
    if host.is_here:
        locality = locate(control, variables)
    else:
        locality = host.call(find_listening, instance.target.port, variables.get("datadir", ""))
        is_here = None if locality.is_here is None else False
        locality = replace(locality, is_here=is_here, reason=f"{locality.reason} ({host.name})")
    storage = None
    if locality.data_dir is not None:
        with contextlib.suppress(OSError):
            storage = host.call(storage_facts, locality.data_dir)
    return replace(
        instance,
        is_here=locality.is_here,
        place=locality.reason,
        unwatched=locality.unwatched,
        pid=locality.pid,
        data_dir=locality.data_dir,
        storage=storage,
    )


def managed_spec(server: ServerSpec) -> ManagedSpec:
    """What package `servers` needs to know to start it."""
    return ManagedSpec(
        server=server.command or server.managed,
        profile=server.profile,
        buffer_pool_bytes=server.buffer_pool,
        options=server.server_options,
        derived=server.options_that_follow,
        start=server.start,
        data_dir=Path(server.data_dir) if server.data_dir else None,
        role_dirs={role: Path(folder) for role, folder in server.role_dirs.items()},
    )


def managed_instance(server: Server, name: str, host: Host = HERE, role: ServerRole = "source") -> Instance:
    """A running server that Plimsoll started."""
    return Instance(
        name=name,
        role=role,
        target=server.target,
        host=host,
        is_here=host.is_here,
        place="plimsoll started it" if host.is_here else f"plimsoll started it on {host.name}",
        pid=server.pid,
        data_dir=server.data_dir,
        is_managed=True,
        option_file=server.option_file,
        storage=server.storage,
        storage_of_roles=server.storage_of_roles,
    )


def load_servers(instances: Sequence[Instance], reads: Reads | None) -> list[GroupServers]:
    """A group of connections for each source.

    Args:
        instances: Of the system; replicas belong to its only source.
        reads: How reads are spread over replicas; None keeps them on the source.
    """
    replicas = {replica.name: replica.target for replica in replicas_of(instances)}
    return [
        GroupServers(instance=source.name, source=source.target, replicas=replicas, reads=reads if replicas else None)
        for source in sources_of(instances)
    ]


def settled(instance: Instance, limit_s: float) -> str:
    """Waits for at most so long; says how that ended.

    Raises:
        TargetError: The server stopped answering.
    """
    devices = _devices(instance) if instance.is_managed else ()
    with connect(instance.target) as control:
        return settle(
            control,
            limit_s=limit_s,
            may_set_variables=instance.is_managed,
            device_busy_ratio=_busiest(
                [busy_ratio(partial(instance.host.call, device_busy_ms, device)) for device in devices]
            )
            if devices
            else None,
        ).note


def _devices(instance: Instance) -> tuple[str, ...]:
    """Devices below the instance's files, each once."""
    data = instance.host.call(data_device, instance.data_dir) if instance.data_dir else None
    return tuple(
        dict.fromkeys(device for device in (data, *(s.device for s in instance.storage_of_roles.values())) if device)
    )


def _busiest(ratios: Iterable[Callable[[], float | None]]) -> Callable[[], float | None]:
    """The largest of some shares of time; None while none is known."""
    kept = tuple(ratios)

    def busiest() -> float | None:
        known = [ratio for ratio in [look() for look in kept] if ratio is not None]
        return max(known, default=None)

    return busiest


STILL_S = 3.0
"""Disks are looked at after so long without any progress, seconds: progress itself costs nothing."""

Place = tuple[Host, Path]
"""A managed server's host, and its data directory there."""


def places_of(*systems: Iterable[Instance]) -> list[Place]:
    """Where servers that Plimsoll started have their data, of all these systems."""
    instances = [instance for system in systems for instance in system]
    return [
        (instance.host, instance.data_dir)
        for instance in instances
        if instance.is_managed and instance.data_dir is not None
    ]


class FullDisks:
    """Compares what was done with what had been done before, and looks at disks while that does not change."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._done: object = None
        self._clock, self._since_s = clock, clock()

    def seen(self, done: object, places: Callable[[], Iterable[Place]]) -> None:
        """Takes in how far the work is.

        Args:
            done: Differs from the last one where something was done; None for nothing.
            places: Gives the servers that do it.

        Raises:
            HostError: Nothing was done for a while, and a disk is full.
        """
        if done is not None and done != self._done:
            self._done, self._since_s = done, self._clock()
        elif self._clock() - self._since_s >= STILL_S:
            refuse_full(places())


def refuse_full(places: Iterable[Place]) -> None:
    """Refuses servers of which a disk is full.

    Raises:
        HostError: One is; the first one is named.
    """
    for host, data_dir in places:
        if (fault := host.call(full_disk, data_dir)) is not None:
            raise HostError(fault if host.is_here else f"{host.name}: {fault}")


def stop_server(server: Server, host: Host) -> None:
    """Stops a server cleanly, and at once where it would wait for space on a full disk and never end."""
    try:
        refuse_full([(host, server.data_dir)])
    except HostError:
        server.stop(grace_s=0)
    else:
        server.stop()
