"""Systems while a study runs: started one at a time, their data made, put back, and what was made removed.

A managed system keeps its directories from block to block, cleanly stopped in between, so that the disk is quiet for
the others. Deliberately not here: how one server is started and guarded (package `servers`).
"""

from __future__ import annotations

import contextlib
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from plimsoll.record.model import StorageFacts, SystemRecord
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.machines import Machines
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.locality import locate
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.storage import storage_facts
from plimsoll.spec.secrets import with_secrets
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.spec.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A running server of a system.

    Attributes:
        name: Unique within its system.
        is_here: It runs on this machine; None when unknown.
        place: How that was found, or why it is unknown, as part of a sentence.
        unwatched: Why its process cannot be watched though it is here; None when it can.
        pid: Its process; None when it is not this machine's or not known.
        data_dir: Where its data lies on this machine; None when not known.
        is_managed: Plimsoll started it, and may set its variables.
        option_file: Text of its option file; None when Plimsoll did not write it.
        storage: Where its data lies; None when not known.
    """

    name: str
    target: Target
    is_here: bool | None = None
    place: str = "nobody has looked yet"
    unwatched: str | None = None
    pid: int | None = None
    data_dir: Path | None = None
    is_managed: bool = False
    option_file: str | None = None
    storage: StorageFacts | None = None


def located(instance: Instance, control: ControlConnection) -> Instance:
    """The instance with what its connection tells about where it runs.

    Raises:
        TargetError: It does not answer.
    """
    found = locate(control, control.variables())
    storage = None
    if found.data_dir is not None:
        with contextlib.suppress(OSError):
            storage = storage_facts(found.data_dir)
    return replace(
        instance,
        is_here=found.is_here,
        place=found.reason,
        unwatched=found.unwatched,
        pid=found.pid,
        data_dir=found.data_dir,
        storage=storage,
    )


class System(Protocol):
    """What a study does with a system."""

    @property
    def record(self) -> SystemRecord:
        """The system as recordings name it."""

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Its running servers: a tuple even for one."""

    def start(self) -> None:
        """Makes it run and makes sure that its data is there."""

    def locate(self) -> None:
        """Looks where its servers run; they may have been started again since the last time."""

    def reset(self) -> None:
        """Puts the data back as prepared; the system runs afterwards."""

    def stop(self) -> None:
        """Stops it cleanly, so that nothing of it works while others are measured."""

    def close(self) -> None:
        """Ends it and removes what was made for it."""


def open_system(spec: SystemSpec, keeper: DataKeeper, machines: Machines, *, resets: bool) -> System:
    """The system that a study file describes; nothing is started yet.

    Args:
        spec: What the user wrote.
        keeper: Keeps the rows that all workloads of the study use.
        machines: Says what managed servers are sized to.
        resets: Whether data will be put back, so that a pristine copy is worth its space.

    Raises:
        SpecError, HostError: A password or a server command is missing.
    """
    if spec.server is not None:
        return ManagedSystem(spec, spec.server, keeper, machines, resets=resets)
    target = with_secrets(spec.parsed_target(), password_env=spec.password_env, defaults_file=spec.defaults_file)
    return TargetSystem(spec, target, keeper)


def managed_spec(server: ServerSpec) -> ManagedSpec:
    """What package `servers` needs to know to start it."""
    return ManagedSpec(
        server=server.command or server.managed,
        profile=server.profile,
        buffer_pool_bytes=server.buffer_pool,
        options=dict(server.options),
        data_dir=Path(server.data_dir) if server.data_dir else None,
    )


def managed_instance(server: ManagedServer, name: str) -> Instance:
    """A running server that Plimsoll started."""
    return Instance(
        name=name,
        target=server.target,
        is_here=True,
        place="plimsoll started it",
        pid=server.pid,
        data_dir=server.directory.data,
        is_managed=True,
        option_file=server.option_file_text,
        storage=server.storage,
    )


class ManagedSystem:
    """A system that Plimsoll starts and removes, instance after instance."""

    def __init__(
        self, spec: SystemSpec, server: ServerSpec, keeper: DataKeeper, machines: Machines, *, resets: bool
    ) -> None:
        self._spec, self._server_spec, self._resets = spec, server, resets
        self._keepers = keeper.divided(server.instances)
        self._machines = machines
        self._servers: list[ManagedServer] = []
        self._prepared = False
        self._is_pristine = False

    @property
    def record(self) -> SystemRecord:
        """The system as recordings name it; its server's options are what tells it apart."""
        server = self._server_spec
        factors: dict[str, str] = {"server": server.managed, "profile": server.profile}
        if server.buffer_pool is not None:
            factors["buffer_pool_bytes"] = str(server.buffer_pool)
        if server.data_dir is not None:
            factors["data_dir"] = server.data_dir
        factors |= {name: str(value) for name, value in server.options.items()}
        return SystemRecord(
            name=self._spec.name,
            factors=factors,
            instances=server.instances,
            cost_per_month=self._spec.cost_per_month,
        )

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Its servers, in the order in which they were made."""
        return tuple(
            managed_instance(server, f"{self._spec.name}/{number}") for number, server in enumerate(self._servers)
        )

    def start(self) -> None:
        """Starts the servers; the first time their data is made, and kept in pristine form when resets will need it."""
        self._create()
        for server in self._servers:
            server.start()
        if self._prepared:
            return
        for server, keeper in zip(self._servers, self._keepers, strict=True):
            keeper.ensure(server.target)
            if self._resets:
                server.stop()
                server.save_data()
                server.start()
        self._prepared = self._is_pristine = True

    def locate(self) -> None:
        """Nothing: whoever starts a server knows where it is."""

    def _create(self) -> None:
        """Makes the directories of all servers that have none yet."""
        wanted = managed_spec(self._server_spec)
        count = self._server_spec.instances
        machine = replace(self._machines.at(wanted.data_dir or default_base_dir()), instances=count)
        for number in range(len(self._servers), count):
            name = self._spec.name if count == 1 else f"{self._spec.name}/{number}"
            self._servers.append(ManagedServer.create(name=name, spec=wanted, machine=machine))

    def reset(self) -> None:
        """Puts the whole data directories back as they were after loading; freshly loaded data is that already."""
        if self._is_pristine:
            self._is_pristine = False
            return
        self.stop()
        for server in self._servers:
            server.restore_data()
        for server in self._servers:
            server.start()

    def stop(self) -> None:
        """Stops the servers; their directories stay."""
        for server in self._servers:
            server.stop()

    def close(self) -> None:
        """Ends the servers and removes their directories; one that cannot be removed keeps no other from it."""
        with ExitStack() as stack:
            for server in self._servers:
                stack.callback(server.remove)
                stack.callback(server.stop)
            self._servers = []


class TargetSystem:
    """A server that runs already. Only tables that Plimsoll made are made again."""

    def __init__(self, spec: SystemSpec, target: Target, keeper: DataKeeper) -> None:
        self._spec, self._keeper = spec, keeper
        self._instance = Instance(name=f"{spec.name}/0", target=target)
        self._is_pristine = False

    @property
    def record(self) -> SystemRecord:
        """The system as recordings name it."""
        target = self._instance.target
        factors = {"target": target.endpoint, "tls": target.tls.mode}
        return SystemRecord(name=self._spec.name, factors=factors, cost_per_month=self._spec.cost_per_month)

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The one server."""
        return (self._instance,)

    def start(self) -> None:
        """Makes the tables, or takes them as they are when they fit."""
        self._is_pristine = self._keeper.ensure(self._instance.target)

    def locate(self) -> None:
        """Looks where the connection to it ends.

        Raises:
            TargetError: It does not answer.
        """
        with connect(self._instance.target) as control:
            self._instance = located(self._instance, control)

    def reset(self) -> None:
        """Drops the tables that Plimsoll made and makes them again; freshly made ones are as prepared already."""
        if not self._is_pristine:
            self._keeper.reset(self._instance.target)
        self._is_pristine = False

    def stop(self) -> None:
        """Nothing: it is not ours."""

    def close(self) -> None:
        """Nothing: it is not ours, and its tables may be wanted again."""
