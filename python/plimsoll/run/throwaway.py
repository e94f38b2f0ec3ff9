"""A server for one run: made, loaded, and removed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.run.connections import OWN_CONNECTIONS
from plimsoll.run.held import HeldFolder
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.machines import Machines
from plimsoll.run.systems import Instance, managed_instance
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.option_file import PROFILE_CONNECTIONS
from plimsoll.servers.sweep import sweep


def machines_of(folder: Path, say: Callable[[Path, str], None]) -> Machines:
    """What servers of the runs in a folder are sized to, so that a later run is a repetition of an earlier one.

    Args:
        folder: Of recordings; made if need be.
        say: As `Machines` takes it.

    Raises:
        HostError: It cannot be written, or another process measures into it.
    """
    HeldFolder(folder).close()
    return Machines(folder, say)


@contextmanager
def throwaway_server(
    server: str, keeper: DataKeeper, *, connections: int, machines: Machines | None = None
) -> Iterator[Instance]:
    """A managed server with the workload's data, removed afterwards.

    Args:
        server: `mariadb`, `mysql`, or a full command.
        keeper: Makes its rows.
        connections: It lets in so many.
        machines: Says what it is sized to, as the runs before it were; None measures.

    Raises:
        HostError, TargetError: It cannot be had.
    """
    sweep(default_base_dir())
    many = {"max_connections": max(connections + OWN_CONNECTIONS, PROFILE_CONNECTIONS)}
    machine = None if machines is None else machines.at(default_base_dir())
    with ManagedServer.create(name="trial", spec=ManagedSpec(server=server, options=many), machine=machine) as managed:
        managed.start()
        keeper.ensure(managed.target)
        yield managed_instance(managed, f"managed {managed.flavour.name}")
