"""Why a managed server could not be made or started: its program, its folders and its options, before any is made.

Deliberately not here: disk space (`disk_space`), limits and classes (`permitted`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.errors import HostError, TargetError
from plimsoll.hosts.host import Host
from plimsoll.run.managed import managed_spec
from plimsoll.servers.command import find_server
from plimsoll.servers.directory import base_fault, default_base_dir, nearest_existing, socket_fault
from plimsoll.servers.option_check import option_faults
from plimsoll.servers.private_file import private_fault
from plimsoll.servers.replication.links import dialect
from plimsoll.spec.server_options import OptionValue, checked_options
from plimsoll.spec.system import ServerSpec


def server_faults(name: str, server: ServerSpec, host: Host) -> Iterator[str]:
    """A line for everything that would keep a system's servers from being made and started, which begins with its key.

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
        found = host.call(find_server, words)
    except HostError as error:
        yield f"managed: {error}"
        return
    if found.flavour.name != server.managed:
        which = "" if server.command is None else f"the command {' '.join(server.command)} is "
        yield (
            f'managed: says "{server.managed}", but {which}a {found.flavour.name} ({found.version_text}); write'
            f' managed = "{found.flavour.name}"'
        )
        return
    if server.replicas:
        try:
            dialect(found.flavour)
        except TargetError as error:
            yield f"replicas: {error}"
    own = managed_spec(server)
    yield from (f"options: {line}" for line in host.call(option_faults, words, {**own.derived, **_options(server)}))
    if server.replica.options:
        of_replica = _options(server.each_replica)
        yield from (f"replica.options: {line}" for line in host.call(option_faults, words, of_replica))


def _options(server: ServerSpec) -> dict[str, OptionValue]:
    return dict(checked_options(server.options))


def _folder_faults(name: str, server: ServerSpec, host: Host) -> Iterator[str]:
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
            yield fault
    for role, written in server.role_dirs.items():
        fault = host.call(base_fault, Path(written), f"{role}_dir", allow_tmpfs=role == "tmp")
        if fault is not None:
            yield fault
