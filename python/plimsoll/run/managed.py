"""Managed servers between packages: what a study file says, as `servers` takes it, and a running one, as `run` does.

Deliberately not here: starting them (`systems`).
"""

from __future__ import annotations

from pathlib import Path

from plimsoll.hosts.host import Host, Server
from plimsoll.hosts.local import HERE
from plimsoll.run.instance import Instance, ServerRole
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.spec.system import ServerSpec


def managed_spec(server: ServerSpec) -> ManagedSpec:
    """What package `servers` needs to know to start it."""
    return ManagedSpec(
        server=server.command or server.managed,
        profile=server.profile,
        buffer_pool_bytes=server.buffer_pool,
        options=dict(server.options),
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
        option_file=server.option_file_text,
        storage=server.storage,
        storage_of_roles=server.storage_of_roles,
    )
