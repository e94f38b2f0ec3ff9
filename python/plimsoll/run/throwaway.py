"""A server for one run: made, loaded, and removed afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.run.connections import OWN_CONNECTIONS
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.systems import Instance, managed_instance
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.option_file import PROFILE_CONNECTIONS
from plimsoll.servers.sweep import sweep


@contextmanager
def throwaway_server(server: str, keeper: DataKeeper, *, connections: int) -> Iterator[Instance]:
    """A managed server with the workload's data, removed afterwards.

    Args:
        server: `mariadb`, `mysql`, or a full command.
        keeper: Makes its rows.
        connections: It lets in so many.

    Raises:
        HostError, TargetError: It cannot be had.
    """
    sweep(default_base_dir())
    many = {"max_connections": max(connections + OWN_CONNECTIONS, PROFILE_CONNECTIONS)}
    with ManagedServer.create(name="trial", spec=ManagedSpec(server=server, options=many)) as managed:
        managed.start()
        keeper.ensure(managed.target)
        yield managed_instance(managed, f"managed {managed.flavour.name}")
