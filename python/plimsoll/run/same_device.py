"""Whether paths that a study tells apart are on devices of their own: looked at before anything starts.

Deliberately not here: what their devices can do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

from plimsoll.run.data_events import DeviceShared
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.servers.physical import disks_below
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec

Disks = Callable[[Path], frozenset[str]]


def refused_devices(spec: StudySpec, disks: Disks = disks_below) -> Iterator[str]:
    """A line for each two paths of a server on one device, where the user said that they must differ."""
    for index, system in enumerate(spec.system):
        if system.server_here is None or not system.server_here.distinct_devices:
            continue
        for one, other, shared in _pairs(_named(system.server_here), disks):
            yield (
                f"system[{index}].server.distinct_devices: {one} and {other} are both on {shared}; put one of them on"
                " another device, or leave distinct_devices out"
            )


def shared_devices(spec: StudySpec, disks: Disks = disks_below) -> tuple[DeviceShared, ...]:
    """Paths of one server, or data directories of several systems, that are written apart and share a device."""
    found: dict[str, dict[str, None]] = {}
    for paths in _told_apart(spec):
        for one, other, shared in _pairs(paths, disks):
            found.setdefault(shared, {}).update(dict.fromkeys((one, other)))
    return tuple(DeviceShared(device=device, paths=tuple(paths)) for device, paths in found.items())


def _told_apart(spec: StudySpec) -> Iterator[dict[str, Path]]:
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
    for (one, of_one), (other, of_other) in combinations(below.items(), 2):
        if shared := of_one & of_other:
            yield one, other, ", ".join(sorted(shared))
