"""Systems while a study runs: started one at a time, their data made, put back, and what was made removed.

A managed system keeps its directories from block to block, cleanly stopped in between, so that the disk is quiet for
the others. Not here: how a server is started and guarded (`servers`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Protocol

from plimsoll.hosts.host import Host, Server
from plimsoll.hosts.local import HERE
from plimsoll.record.data import DataReset
from plimsoll.record.model import SystemRecord
from plimsoll.record.price import priced
from plimsoll.run.aged import Kept
from plimsoll.run.data_events import DataKept
from plimsoll.run.full_disks import stop_server
from plimsoll.run.instance import Instance
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.machines import Machines
from plimsoll.run.managed import managed_instance, managed_spec
from plimsoll.run.own_data import OwnData, all_together, put_back_together, save_together
from plimsoll.run.replicas import SOURCE_ID, Replicas, replica_placements, replication_options
from plimsoll.run.side_by_side import counted_together, side_by_side
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.placement import InstancePlacement, instance_placements
from plimsoll.servers.storage import measure_flush
from plimsoll.servers.topology import read_topology
from plimsoll.spec.reads import reads_words
from plimsoll.spec.system import ServerSpec, SystemSpec


class System(Protocol):
    """What a study does with a system."""

    @property
    def record(self) -> SystemRecord:
        """The system as recordings name it."""

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Its running servers: a tuple even for one."""

    def start(self, judge: Callable[[], None] = lambda: None) -> None:
        """Makes it run and makes sure that its data is there.

        Args:
            judge: Called the first time, when its servers run and before any data is made; may refuse them.
        """

    def locate(self) -> None:
        """Looks where its servers run; they may have been started again since the last time."""

    def reset(self) -> None:
        """Puts the data back as prepared; the system runs afterwards."""

    def leave(self) -> None:
        """Takes the data as the last trial left it; starts the system again where its caches are to be cold."""

    @property
    def data_reset(self) -> DataReset | None:
        """How the data came to be as it is now; None before the system ran."""

    def stop(self) -> None:
        """Stops it cleanly, so that nothing of it works while others are measured."""

    def close(self) -> None:
        """Ends it and removes what was made for it."""


class ManagedSystem:
    """A system that Plimsoll starts and removes, instance after instance."""

    def __init__(
        self,
        spec: SystemSpec,
        server: ServerSpec,
        keeper: DataKeeper,
        machines: Machines,
        *,
        resets: bool,
        together_count: int = 1,
        client_cpus: Sequence[int] = (),
        host: Host = HERE,
    ) -> None:
        self._spec, self._server_spec, self._resets = spec, server, resets
        self._together_count, self._client_cpus = together_count, client_cpus
        self._keepers = counted_together(keeper.divided(server.instances))
        self._machines = machines
        self._host, self._connection_number = host, host.connection_number
        self._servers: list[Server] = []
        self._data: list[OwnData] = []
        self._data_reset: DataReset | None = None
        self._kept = Kept(server, keeper.data_sets)
        self._replicas = Replicas(spec.name, server)
        self._prepared = self._is_data_missing = False
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
        if self._spec.host is not None:
            factors["host"] = self._spec.host.ssh
        factors |= server.file_factors
        factors |= server.placement_factors()
        factors |= server.replica_factors
        if server.replicas:
            factors["reads"] = reads_words(self._spec.reads)
        factors |= {name: str(value) for name, value in server.options.items()}
        factors |= self._spec.hook_factors
        return SystemRecord(
            name=self._spec.name,
            factors=factors,
            instances=server.instances,
            factor_values=self._spec.factor_values,
            environment=self._spec.environment,
            **priced(self._spec.price),
        )

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Its servers, in the order in which they were made; replicas once they have data."""
        name = self._spec.name
        sources = [managed_instance(one, f"{name}/{number}", self._host) for number, one in enumerate(self._servers)]
        replicas = [
            managed_instance(one, f"{name}/{number}", self._host, "replica")
            for number, one in enumerate(self._replicas.running, start=1)
        ]
        return (*sources, *replicas)

    def start(self, judge: Callable[[], None] = lambda: None) -> None:
        """Starts the servers; the first time their data is made, and kept in pristine form when resets will need it."""
        self._forget_if_lost()
        self._create()
        if self._is_data_missing:
            self._put_back()
        if self._prepared:
            self._start_servers()
            return
        side_by_side([server.start for server in self._servers])
        judge()
        side_by_side([data.load for data in self._data], cancel=self._kill)
        if self._resets or self._server_spec.pool_ratio is not None or self._server_spec.replicas:
            self.stop()
            save_together(self._data)
            self._seed()
            self._start_servers()
        self._data_reset = all_together([data.made for data in self._data])
        self._prepared = self._is_pristine = True

    def _forget_if_lost(self) -> None:
        """What was made over a connection that was lost is gone: guardians on the host ended and removed it."""
        if self._connection_number != self._host.connection_number:
            self._connection_number = self._host.connection_number
            self._servers, self._data = [], []
            self._prepared = self._is_pristine = self._is_data_missing = False

    def _seed(self) -> None:
        """Gives replicas a copy of the source's data; nothing without replicas."""
        if self._server_spec.replicas:
            self._replicas.seed(self._servers[0], from_saved=self._resets)

    def _start_servers(self) -> None:
        """Starts sources and replicas; replicas then follow, and have applied everything."""
        side_by_side([*(server.start for server in self._servers), *self._replicas.starts])
        self._replicas.follow(self._servers[0])

    def _kill(self) -> None:
        """Ends the servers at once, and with them whatever loads rows into them."""
        self._replicas.stop(grace_s=0)
        for server in self._servers:
            server.stop(grace_s=0)

    def locate(self) -> None:
        """Nothing: whoever starts a server knows where it is."""

    def _create(self) -> None:
        """Makes the directories of all servers, or of none, if they have none yet."""
        if self._servers:
            return
        wanted, count = managed_spec(self._server_spec), self._server_spec.instances
        if self._server_spec.replicas:
            options = replication_options(self._server_spec, SOURCE_ID)
            wanted = replace(wanted, derived={**wanted.derived, **options})
        self._kept.hold()
        base_dir = wanted.data_dir or self._host.call(default_base_dir)
        machine = replace(self._machines.at(base_dir), instances=count * self._together_count)
        if (limit := self._server_spec.memory_limit) is not None:
            machine = replace(machine, memory_bytes=min(machine.memory_bytes, limit))
        if (redo_dir := wanted.role_dirs.get("redo")) is not None:
            machine = replace(machine, free_bytes=self._machines.at(redo_dir).free_bytes)
        flush = self._host.call(measure_flush, base_dir)  # before anything writes there

        def create(number: int, placement: InstancePlacement) -> None:
            name = self._spec.name if count == 1 and not self._server_spec.replicas else f"{self._spec.name}/{number}"
            own = replace(wanted, placement=placement)
            made[number] = self._host.create_server(name=name, spec=own, machine=machine, flush=flush)

        made = dict[int, Server]()
        topology = self._host.call(read_topology)
        client_cpus = self._client_cpus if self._host.is_here else ()
        placements = instance_placements(self._server_spec, count, topology, client_cpus)
        try:
            side_by_side([partial(create, number, placement) for number, placement in enumerate(placements)])
            self._replicas.create(machine, flush, replica_placements(self._server_spec, topology, client_cpus))
        except BaseException:
            for server in made.values():
                server.remove()
            raise
        self._servers = [made[number] for number in range(count)]
        for number, server in enumerate(self._servers):
            if is_aged := self._kept.is_aged:
                assert isinstance(server, ManagedServer), "kept data is on this machine"
                self._kept.take(number, server)
            ratio = self._server_spec.pool_ratio
            own = OwnData(
                server,
                self._keepers[number],
                resets=self._resets,
                pool_ratio=ratio,
                is_aged=is_aged,
                has_replicas=self._server_spec.replicas > 0,
                host=self._host,
            )
            self._data.append(own)

    def reset(self) -> None:
        """Puts the whole data directories back as they were after loading; freshly loaded data is that already."""
        if self._is_pristine:
            self._is_pristine = False
            return
        self.stop()
        self._put_back()
        self._start_servers()

    def _put_back(self) -> None:
        """Puts data back. Where that fails, the next start tries it first: servers cannot start without data."""
        self._is_data_missing = True
        self._data_reset = put_back_together(self._data, self._kill)
        self._seed()
        self._is_data_missing = False

    def leave(self) -> None:
        """Starts the servers again where caches are to be cold; else nothing."""
        if not self._is_pristine:
            self._data_reset = DataReset(way="left")
        self._is_pristine = False
        if self._server_spec.start != "cold":
            return
        self.stop()
        self._start_servers()

    @property
    def data_reset(self) -> DataReset | None:
        """How the data came to be as it is now."""
        return self._data_reset

    @property
    def servers(self) -> tuple[Server, ...]:
        """What it consists of."""
        return tuple(self._servers)

    def keep_data(self) -> DataKept | None:
        """Keeps the data where the study says so; the servers are stopped. None where it says nothing.

        Raises:
            HostError: It cannot be kept.
        """
        here = [server for server in self._servers if isinstance(server, ManagedServer)]
        return self._kept.keep(self._spec.name, here) if self._prepared else None

    def stop(self) -> None:
        """Stops the servers, replicas first; their directories stay."""
        self._replicas.stop()
        if self._servers:
            side_by_side([partial(stop_server, server, self._host) for server in self._servers])

    def close(self) -> None:
        """Ends the servers and removes their directories; one that cannot be removed keeps no other from it."""
        with ExitStack() as stack:
            for server in self._servers:
                stack.callback(server.remove)
                stack.callback(stop_server, server, self._host)
            self._servers, self._data = [], []
            stack.callback(self._kept.release)
            stack.callback(self._replicas.remove)
