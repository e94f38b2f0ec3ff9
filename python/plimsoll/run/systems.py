"""Managed systems: started one at a time, their data made, put back, and what was made removed; for a study or one run.

A managed system keeps its directories from block to block, cleanly stopped in between, so that the disk is quiet for
the others. What its servers are sized to is measured once for each place, and kept with the study: a flush that takes
0.99 ms today and 1.01 ms tomorrow must not change the options of a server between two repetitions. So sizes are
measured again only when the host or the place is another one, and then that is said. Not here: how a server is started
and guarded (`servers`).
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field

from plimsoll.analyse.findings.machine import OWN_CONNECTIONS
from plimsoll.hosts.host import Host, Server
from plimsoll.hosts.local import HERE
from plimsoll.record.document import Document
from plimsoll.record.files import storing, write_file
from plimsoll.record.model import DataReset, SystemRecord, priced
from plimsoll.run.events import DataKept
from plimsoll.run.folder import MACHINE_FILE, HeldFolder, read_kept
from plimsoll.run.instance import Instance, managed_instance, managed_spec, stop_server
from plimsoll.run.replicas import SOURCE_ID, Replicas, replica_placements, replication_options
from plimsoll.run.system_data import (
    DataKeeper,
    KeptData,
    OwnData,
    all_together,
    counted_together,
    put_back_together,
    save_together,
    side_by_side,
)
from plimsoll.servers.command import find_server
from plimsoll.servers.directory import default_base_dir, make_base_dir, sweep
from plimsoll.servers.facts import host_facts, usable_memory_bytes
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec, measure_machine
from plimsoll.servers.option_file import PROFILE_CONNECTIONS, MachineSizes
from plimsoll.servers.placement import InstancePlacement, instance_placements, read_topology
from plimsoll.servers.storage import measure_flush, storage_facts
from plimsoll.spec.replicas import reads_words
from plimsoll.spec.server_options import OptionValue
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.units import format_bytes


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
        self._kept = KeptData(server, keeper.data_sets)
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
        sources = [
            managed_instance(server, f"{name}/{number}", self._host) for number, server in enumerate(self._servers)
        ]
        replicas = [
            managed_instance(server, f"{name}/{number}", self._host, "replica")
            for number, server in enumerate(self._replicas.running, start=1)
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
            spec = replace(wanted, placement=placement)
            made[number] = self._host.create_server(name=name, spec=spec, machine=machine, flush=flush)

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
            server_data = OwnData(
                server,
                self._keepers[number],
                resets=self._resets,
                pool_ratio=ratio,
                is_aged=is_aged,
                has_replicas=self._server_spec.replicas > 0,
                host=self._host,
            )
            self._data.append(server_data)

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


MACHINE_FORMAT = 1
"""Version of `machine.json`; docs/recordings.md describes it."""

_MEMORY_RATIO = 0.02


class HostSizes(Document):
    """The host that was measured, as far as another one would give other sizes.

    Attributes:
        memory_bytes: That servers may use: the machine's, or the control group's.
    """

    name: str | None
    cpu_model: str | None
    cpu_threads: int | None
    memory_bytes: int


class PlaceSizes(Document):
    """A folder below which servers keep their data.

    Attributes:
        free_bytes: Free space when it was measured.
        flush_ms_min: The shortest of some small writes with fdatasync, milliseconds.
    """

    file_system: str | None
    device: str | None
    measured_unix_s: float
    free_bytes: int | None
    flush_ms_min: float | None


class MachineRecord(Document):
    """`machine.json`: what the managed servers of a study are sized to.

    Attributes:
        places: By the folder's path.
    """

    machine_format: int = MACHINE_FORMAT
    host: HostSizes
    places: dict[str, PlaceSizes] = Field(default_factory=dict)


class Machines:
    """Sizes by place, from the study's folder where they are known."""

    def __init__(
        self, folder: Path, say: Callable[[Path, str], None] = lambda _folder, _why: None, host: Host = HERE
    ) -> None:
        """Nothing is read or looked at yet: the machine need not be there.

        Args:
            folder: The study's.
            host: The machine; each has a file of its own.
            say: Is told of each place that is measured again, and why.
        """
        self._file, self._say, self._on = folder / _file_name(host), say, host
        self._record: MachineRecord | None = None
        self._stale: dict[str, str] = {}

    def at(self, base_dir: Path) -> MachineSizes:
        """Memory, free space and flush time at a folder, which is made if need be.

        Raises:
            HostError: It cannot be written to.
            RecordError: `machine.json` cannot be read.
        """
        if self._record is None:
            self._record = self._read()
        self._on.call(make_base_dir, base_dir)
        kept, why = self._record.places.get(str(base_dir)), self._stale.pop(str(base_dir), None)
        facts = self._on.call(storage_facts, base_dir)
        if kept is not None and (kept.file_system, kept.device) != (facts.file_system, facts.device):
            why = f"it is on {facts.device or facts.file_system} now and was on {kept.device or kept.file_system}"
        if why is not None:
            self._say(base_dir, why)
        if kept is None or why is not None:
            kept = self._measured(base_dir, self._record)
        return MachineSizes(
            memory_bytes=self._record.host.memory_bytes, free_bytes=kept.free_bytes, flush_ms_min=kept.flush_ms_min
        )

    def _read(self) -> MachineRecord:
        """What is known of the machine, if it is still the one that was measured."""
        host = _host_now(self._on)
        cure = "remove it, and the machine is measured again"
        kept = read_kept(self._file, MachineRecord, version=("machine_format", MACHINE_FORMAT), cure=cure)
        if kept is None:
            return MachineRecord(host=host)
        if (why := _difference(kept.host, host)) is None:
            return kept
        self._stale = dict.fromkeys(kept.places, why)
        return MachineRecord(host=host)

    def _measured(self, base_dir: Path, known: MachineRecord) -> PlaceSizes:
        """Measures a place and keeps what was found."""
        sizes, facts = self._on.call(measure_machine, base_dir), self._on.call(storage_facts, base_dir)
        place = PlaceSizes(
            file_system=facts.file_system,
            device=facts.device,
            measured_unix_s=time.time(),
            free_bytes=sizes.free_bytes,
            flush_ms_min=sizes.flush_ms_min,
        )
        self._record = known.model_copy(update={"places": {**known.places, str(base_dir): place}})
        with storing(self._file):
            write_file(self._file, self._record.model_dump_json(indent=1).encode() + b"\n")
        return place


def _file_name(host: Host) -> str:
    if host.is_here:
        return MACHINE_FILE
    plain = "".join(sign if sign.isalnum() or sign in "-." else "_" for sign in host.name)
    return f"{MACHINE_FILE.removesuffix('.json')}.{plain}.json"


def _host_now(host: Host) -> HostSizes:
    facts = host.call(host_facts)
    return HostSizes(
        name=facts.name,
        cpu_model=facts.cpu_model,
        cpu_threads=facts.cpu_threads,
        memory_bytes=host.call(usable_memory_bytes),
    )


def _difference(kept: HostSizes, now: HostSizes) -> str | None:
    """What makes it another host than the one that was measured; None when nothing does."""
    for field, what in (("name", "host"), ("cpu_model", "processor"), ("cpu_threads", "number of hardware threads")):
        before, after = getattr(kept, field), getattr(now, field)
        if before != after:
            return f"the {what} is {after} now and was {before}"
    before, after = kept.memory_bytes, now.memory_bytes
    if abs(before - after) > _MEMORY_RATIO * max(before, after):
        return f"memory is {format_bytes(after)} now and was {format_bytes(before)}"
    return None


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
            yield (source, *(managed_instance(server, "", role="replica") for server in of_it.servers))


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
