"""Why a managed server could not be made or started on its machine, here or on another host, before any is made.

Its program, its folders and its options; CPUs, limits and classes, which are tried for real: control groups are made
and removed, and a process that does nothing joins them; reserved huge pages; paths that a study tells apart on one
device; and disk space, file system by file system: each path of a server counts where it is (data, redo log, binary
logs, undo, temporary files, kept data), recordings too. Deliberately not here: how large files are (`plan.disk`), how
limits are set (`servers.placement`).
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from plimsoll.errors import Fault, HostError, TargetError, within
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.plan.build import recordings_bytes
from plimsoll.plan.disk import DiskPart, data_bytes, disk_parts
from plimsoll.run.environments import Hosts
from plimsoll.run.events import DeviceShared
from plimsoll.run.instance import managed_spec
from plimsoll.run.replicas import replica_cpu_counts, replica_placements
from plimsoll.servers.command import find_server, option_faults
from plimsoll.servers.directory import base_fault, default_base_dir, nearest_existing, socket_fault
from plimsoll.servers.facts import huge_pages_fault, usable_memory_bytes
from plimsoll.servers.option_file import default_buffer_pool_bytes
from plimsoll.servers.placement import (
    InstancePlacement,
    Topology,
    cpu_faults,
    instance_placements,
    read_topology,
    refusals,
)
from plimsoll.servers.private_file import private_fault
from plimsoll.servers.replication.links import dialect
from plimsoll.servers.storage import disks_below, storage_facts
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.units import format_bytes


def server_faults(name: str, server: ServerSpec, host: Host) -> Iterator[Fault]:
    """Everything that would keep a system's servers from being made and started, each with its path within `server`.

    Args:
        name: Of the system.
        server: What the user wrote.
        host: Where they will run.

    Raises:
        HostError: The host cannot be reached.
    """
    yield from _folder_faults(name, server, host)
    words = server.command or server.managed
    try:
        server_command = host.call(find_server, words)
    except HostError as error:
        yield Fault(("managed",), str(error))
        return
    if server_command.flavour.name != server.managed:
        which = "" if server.command is None else f"the command {' '.join(server.command)} is "
        yield Fault(
            ("managed",),
            f'says "{server.managed}", but {which}a {server_command.flavour.name} ({server_command.version_text});'
            f' write managed = "{server_command.flavour.name}"',
        )
        return
    if server.replicas:
        try:
            dialect(server_command.flavour)
        except TargetError as error:
            yield Fault(("replicas",), str(error))
    managed = managed_spec(server)
    options = {**managed.derived, **server.server_options}
    yield from (Fault(("options",), line) for line in host.call(option_faults, words, options))
    if server.replica.options:
        of_replica = server.each_replica.server_options
        yield from (Fault(("replica", "options"), line) for line in host.call(option_faults, words, of_replica))


def _folder_faults(name: str, server: ServerSpec, host: Host) -> Iterator[Fault]:
    """One line at most for each folder: what is behind a wrong one cannot be known."""
    of_name = name if server.instances == 1 and not server.replicas else f"{name}/0"
    bases = {"data_dir": host.call(default_base_dir) if server.data_dir is None else Path(server.data_dir)}
    if server.replicas and server.replica.data_dir is not None:
        bases["replica.data_dir"] = Path(server.replica.data_dir)
    for key, folder in bases.items():
        fault = (
            host.call(base_fault, folder, key)
            or host.call(socket_fault, folder, of_name, key)
            or host.call(private_fault, host.call(nearest_existing, folder), key)
        )
        if fault is not None:
            yield of_machine(fault)
    for role, written in server.role_dirs.items():
        fault = host.call(base_fault, Path(written), f"{role}_dir", allow_tmpfs=role == "tmp")
        if fault is not None:
            yield of_machine(fault)


def of_machine(line: str) -> Fault:
    """What `servers` refuses, which says it of a key of a server's table: the line begins with that."""
    key, _, reason = line.partition(": ")
    return Fault(tuple(key.split(".")), reason)


def unpermitted(spec: StudySpec, topology: Topology | None = None) -> Iterator[Fault]:
    """Everything that this machine does not permit.

    Args:
        spec: What the user wrote.
        topology: The CPUs of this machine; None looks.
    """
    topology = topology or read_topology()
    client_cpus = spec.study.client_cpus or ()
    yield from (Fault(("study", "client", "cpus"), fault) for fault in cpu_faults(client_cpus, topology))
    for index, system in enumerate(spec.system):
        if system.server_here is None:
            continue
        faults = not_permitted(system.server_here, HERE, topology, client_cpus)
        yield from within(("system", index, "server"), faults)


def not_permitted(
    server: ServerSpec, host: Host, topology: Topology, client_cpus: Sequence[int] = ()
) -> Iterator[Fault]:
    """Everything that a host does not permit to a system's servers, each with its path within `server`.

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
    replicas = [
        (server.each_replica, replica_placement)
        for replica_placement in replica_placements(server, topology, client_cpus)[:1]
    ]
    for server_spec, placement in (first, *replicas):
        if placement != InstancePlacement():
            data_dir = Path(server_spec.data_dir) if server_spec.data_dir else host.call(default_base_dir)
            yield from map(of_machine, host.call(refusals, placement, host.call(nearest_existing, data_dir)))


def _cpu_faults(server: ServerSpec, topology: Topology) -> Iterator[Fault]:
    yield from (Fault(("cpus",), fault) for fault in cpu_faults(server.cpus or (), topology))
    usable = len(topology.allowed & topology.online)
    if server.cpu_count is not None and server.cpu_count > usable:
        yield Fault(("cpu_count",), f"is {server.cpu_count}, and this process may use {usable}; take at most {usable}")
    elif (of_replicas := sum(replica_cpu_counts(server) or ())) > (left := usable - (server.cpu_count or 0)):
        yield Fault(
            ("replica", "cpu_count"),
            f"{of_replicas} CPUs for {server.replicas} replicas, and beside the source this process"
            f" may use {left}; take fewer replicas or CPUs",
        )
    for part in server.replica.cpus or ():
        yield from (Fault(("replica", "cpus"), fault) for fault in cpu_faults(part, topology))


_CURES = {"data_dir": "load fewer rows", "--to": "record fewer trials"}
"""What else helps than another folder, by the key that says where."""


def missing_space(spec: StudySpec, folder: Path, trial_count: int) -> Iterator[str]:
    """A line for each file system that lacks space, with how much and what to do.

    Args:
        spec: What the user wrote.
        folder: Of the study.
        trial_count: How many trials will be recorded.
    """
    recordings = DiskPart("--to", "recordings", folder, recordings_bytes(spec, trial_count))
    for parts in _by_file_system([*_parts(spec), recordings]):
        wanted, free = sum(part.size_bytes for part in parts), _free_bytes(_place(parts[0]))
        if wanted > free:
            yield _fault(parts, wanted, free)


def _fault(parts: list[DiskPart], wanted: int, free: int) -> str:
    breakdown = ", ".join(f"{format_bytes(part.size_bytes)} of {part.what} in {_place(part)}" for part in parts)
    keys = list(dict.fromkeys(part.key for part in sorted(parts, key=lambda part: -part.size_bytes)))
    cures = [f"choose another folder for one of them ({', '.join(keys)})"]
    cures += [cure for key, cure in _CURES.items() if key == keys[0]]
    return (
        f"the file system of {_place(parts[0])} lacks {format_bytes(wanted - free)}: about {format_bytes(wanted)} are"
        f" needed there and {format_bytes(free)} are free: {breakdown}; free space, or {', or '.join(cures)}"
    )


def _parts(spec: StudySpec) -> Iterator[DiskPart]:
    """What all systems put on disk; parts of one kind in one folder are one."""
    sizes: dict[DiskPart, int] = defaultdict(int)
    for system in spec.system:
        if (server := system.server_here) is None:
            continue
        redo_dir = server.role_dirs.get("redo") or server.data_dir
        free = _free_bytes(Path(redo_dir) if redo_dir else default_base_dir())
        for part in disk_parts(spec, system, free):
            sizes[replace(part, size_bytes=0)] += part.size_bytes
    for part, size in sizes.items():
        yield replace(part, size_bytes=size)


def _by_file_system(parts: Iterable[DiskPart]) -> Iterable[list[DiskPart]]:
    by_device: dict[int, list[DiskPart]] = defaultdict(list)
    for part in parts:
        by_device[nearest_existing(_place(part)).stat().st_dev].append(part)
    return by_device.values()


def _place(part: DiskPart) -> Path:
    return part.folder or default_base_dir()


def _free_bytes(place: Path) -> int:
    return shutil.disk_usage(nearest_existing(place)).free


def missing_huge_pages(spec: StudySpec, look: Callable[[int], str | None] = huge_pages_fault) -> Iterator[str]:
    """A line when the largest system that wants them, in a duet all of them together, does not find enough.

    Args:
        spec: What the user wrote.
        look: Says why so many bytes cannot be had.
    """
    wanted = [
        _pool_bytes(spec, system) for system in spec.system if system.server is not None and system.server.huge_pages
    ]
    if wanted and (fault := look(sum(wanted) if spec.study.is_duet else max(wanted))) is not None:
        yield fault


def _pool_bytes(spec: StudySpec, system: SystemSpec) -> int:
    """Size of the buffer pools of a system, bytes: stated, a share of the expected rows, or what a profile takes."""
    server = system.server_here
    assert server is not None, "only managed servers have pools of ours"
    if server.buffer_pool is not None:
        return server.buffer_pool
    if server.pool_ratio is not None:
        return round(server.pool_ratio * data_bytes(spec, server.instances))
    return default_buffer_pool_bytes(usable_memory_bytes())


Disks = Callable[[Path], frozenset[str]]


def refused_devices(spec: StudySpec, disks: Disks = disks_below) -> Iterator[Fault]:
    """A fault for each two paths of a server on one device, where the user said that they must differ."""
    for index, system in enumerate(spec.system):
        if system.server_here is None or not system.server_here.distinct_devices:
            continue
        for first, second, shared in _pairs(_named(system.server_here), disks):
            yield Fault(
                ("system", index, "server", "distinct_devices"),
                f"{first} and {second} are both on {shared}; put one of them on"
                " another device, or leave distinct_devices out",
            )


def shared_devices(spec: StudySpec, disks: Disks = disks_below) -> tuple[DeviceShared, ...]:
    """Paths of one server, or data directories of several systems, that are written apart and share a device."""
    by_device: dict[str, dict[str, None]] = {}
    for paths in _distinct_paths(spec):
        for first, second, shared in _pairs(paths, disks):
            by_device.setdefault(shared, {}).update(dict.fromkeys((first, second)))
    return tuple(DeviceShared(device=device, paths=tuple(paths)) for device, paths in by_device.items())


def _distinct_paths(spec: StudySpec) -> Iterator[dict[str, Path]]:
    """Sets of paths that are meant to differ: those of each server with paths by role, and the systems' data."""
    servers = [system.server_here for system in spec.system if system.server_here is not None]
    yield from (_named(server) for server in servers if server.role_dirs)
    stated = {server.data_dir: server for server in servers if server.data_dir is not None}
    if len(stated) > 1:
        yield {f"data_dir {folder}": Path(folder) for folder in stated}


def _named(server: ServerSpec) -> dict[str, Path]:
    """A server's paths by key and path, as messages name them; temporary files are not flushed and do not count."""
    roles = {role: folder for role, folder in server.role_dirs.items() if role != "tmp"}
    data = Path(server.data_dir) if server.data_dir else default_base_dir()
    return {f"data_dir {data}": data, **{f"{role}_dir {folder}": Path(folder) for role, folder in roles.items()}}


def _pairs(paths: dict[str, Path], disks: Disks) -> Iterator[tuple[str, str, str]]:
    """Each two of these paths that share disks, and which."""
    below = {name: disks(nearest_existing(path)) for name, path in paths.items()}
    for (first, of_first), (second, of_second) in combinations(below.items(), 2):
        if shared := of_first & of_second:
            yield first, second, ", ".join(sorted(shared))


def unfit_hosts(spec: StudySpec, hosts: Hosts, of: Collection[SystemSpec]) -> Iterator[Fault]:
    """Everything that a host lacks.

    Args:
        spec: What the user wrote.
        hosts: Of the study.
        of: The systems of the study whose hosts are looked at.
    """
    for index, system in enumerate(spec.system):
        if system.host is None or system not in of:
            continue
        place = ("system", index)
        try:
            host = hosts.of(system)
            if system.server is not None:
                yield from within(place, _faults(spec, system, system.server, host))
        except HostError as error:
            yield Fault((*place, "host"), str(error))


def _faults(spec: StudySpec, system: SystemSpec, server: ServerSpec, host: Host) -> Iterator[Fault]:
    yield from _of_host(host, server_faults(system.name, server, host))
    base_dir = Path(server.data_dir) if server.data_dir else host.call(default_base_dir)
    yield from _missing_space(spec, system, host, base_dir)
    yield from _of_host(host, not_permitted(server, host, host.call(read_topology)))


def _of_host(host: Host, faults: Iterable[Fault]) -> Iterator[Fault]:
    return (Fault(("server", *fault.path), f"{fault.reason} ({host.name})") for fault in faults)


def _missing_space(spec: StudySpec, system: SystemSpec, host: Host, base_dir: Path) -> Iterator[Fault]:
    """A fault for each file system of the host that cannot hold what comes to be on it."""
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
            yield Fault(
                ("server", "data_dir"),
                f"about {format_bytes(size)} are needed on {device} of {host.name},"
                f" and {format_bytes(free_bytes)} are free; free space, choose another folder, or load fewer rows",
            )
