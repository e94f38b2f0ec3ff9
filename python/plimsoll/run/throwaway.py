"""A server for one run: made, loaded, and removed afterwards."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from plimsoll.analyse.readiness.limits import OWN_CONNECTIONS
from plimsoll.run.held import HeldFolder
from plimsoll.run.instance import Instance
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.machines import Machines
from plimsoll.run.managed import managed_instance
from plimsoll.run.replicas import SOURCE_ID, Replicas, replication_options
from plimsoll.run.side_by_side import side_by_side
from plimsoll.servers.command import find_server
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec, measure_machine
from plimsoll.servers.option_file import PROFILE_CONNECTIONS
from plimsoll.servers.placement import InstancePlacement
from plimsoll.servers.storage import measure_flush
from plimsoll.servers.sweep import sweep
from plimsoll.spec.server_options import OptionValue
from plimsoll.spec.system import ServerSpec


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
    server: str, keeper: DataKeeper, *, connections: int, machines: Machines | None = None, replicas: int = 0
) -> Iterator[tuple[Instance, ...]]:
    """A managed server with the workload's data, and its replicas, which are removed afterwards.

    Args:
        server: `mariadb`, `mysql`, or a full command.
        keeper: Makes its rows.
        connections: It lets in so many.
        machines: Says what it is sized to, as the runs before it were; None measures.
        replicas: So many servers repeat it.

    Raises:
        HostError, TargetError: It cannot be had.
    """
    sweep(default_base_dir())
    many = {"max_connections": max(connections + OWN_CONNECTIONS, PROFILE_CONNECTIONS)}
    machine = None if machines is None else machines.at(default_base_dir())
    written = _server_spec(server, replicas, many)
    spec = ManagedSpec(server=server, options=many, derived=replication_options(written, SOURCE_ID))
    with ManagedServer.create(name="trial", spec=spec, machine=machine) as managed:
        managed.start()
        keeper.ensure(managed.target)
        source = managed_instance(managed, f"managed {managed.flavour.name}")
        if not replicas:
            yield (source,)
            return
        with closing_replicas(Replicas("trial", written)) as of_it:
            place = managed.directory.path
            of_it.create(machine or measure_machine(place), measure_flush(place), [InstancePlacement()] * replicas)
            managed.stop()
            of_it.seed(managed, from_saved=False)
            managed.start()
            side_by_side(of_it.starts)
            of_it.follow(managed)
            source = managed_instance(managed, f"managed {managed.flavour.name}")
            yield (source, *(managed_instance(one, "", role="replica") for one in of_it.servers))


@contextmanager
def closing_replicas(replicas: Replicas) -> Iterator[Replicas]:
    """Removes replicas at the end."""
    try:
        yield replicas
    finally:
        replicas.remove()


def _server_spec(server: str, replicas: int, options: Mapping[str, OptionValue]) -> ServerSpec:
    """A server as study files say it."""
    flavour: Literal["mariadb", "mysql"] = find_server(server).flavour.name.value
    command = None if server == flavour else tuple(shlex.split(server))
    return ServerSpec(managed=flavour, command=command, replicas=replicas, options=dict(options))
