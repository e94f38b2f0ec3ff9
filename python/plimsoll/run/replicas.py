"""Replicas of a managed source: made, seeded with a copy of its data, connected, stopped and removed.

Replication is set up afresh by each start, from what a replica has applied on. Deliberately not here: the source
(`systems`), and the SQL (`servers.replication`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from plimsoll.drive.relay import delayed
from plimsoll.hosts.host import Server
from plimsoll.run.managed import managed_spec
from plimsoll.run.side_by_side import side_by_side
from plimsoll.servers import instance_data
from plimsoll.servers.command import find_server
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.option_file import MachineSizes
from plimsoll.servers.placement import InstancePlacement, instance_placements
from plimsoll.servers.replication.links import dialect, dialect_of, start_replica, use_semisync, wait_until_applied
from plimsoll.servers.replication.model import ReplicationAccount, place_of
from plimsoll.servers.storage import FlushTimes
from plimsoll.servers.topology import Topology, choose_cpus, divide_cpus
from plimsoll.spec.placement import share_of
from plimsoll.spec.server_options import OptionValue
from plimsoll.spec.system import ServerSpec
from plimsoll.spec.target import Target

CATCH_UP_LIMIT_S = 600.0
"""How long replicas may take to apply what they lack before the first trial, seconds."""

SOURCE_ID = 1
"""`server_id` of the source; replicas have the next ones."""


def replication_options(server: ServerSpec, server_id: int) -> dict[str, OptionValue]:
    """What a server of a replicated system needs; nothing without replicas.

    Raises:
        HostError: It is not installed.
        TargetError: It is too old.
    """
    if not server.replicas:
        return {}
    speaks = dialect(find_server(server.command or server.managed).flavour)
    return dict(speaks.options(server_id, is_semisync=server.replication == "semisync"))


def replica_placements(
    server: ServerSpec, topology: Topology, avoid: Sequence[int] = ()
) -> tuple[InstancePlacement, ...]:
    """What each replica may use of this machine: other CPUs than the source, as far as CPUs were said.

    Args:
        server: What the user wrote.
        topology: Of this machine.
        avoid: CPUs of the load generator: they are chosen last.
    """
    own, count = server.each_replica, server.replicas
    if not count:
        return ()
    (source,) = instance_placements(server, 1, topology, avoid)
    parts: list[tuple[int, ...] | None] = [None] * count
    if server.replica.cpus is not None:
        written = server.replica.cpus
        parts = list(divide_cpus(written[0], count, topology) if len(written) == 1 else written)
    elif (counts := replica_cpu_counts(server)) is not None:
        left = topology
        for index, wanted in enumerate(counts):
            taken = source.cpus if index == 0 else parts[index - 1]
            left = replace(left, allowed=left.allowed - set(taken or ()))
            parts[index] = choose_cpus(wanted, left, avoid)
    limits = share_of(own, 1)
    return tuple(InstancePlacement(cpus=part, share=limits, scheduling=own.scheduling, nice=own.nice) for part in parts)


def replica_cpu_counts(server: ServerSpec) -> tuple[int, ...] | None:
    """How many CPUs are chosen for each replica; None where none are."""
    written = server.replica.cpu_count
    if written is None:
        is_as_source = server.cpu_count is not None and server.replica.cpus is None
        return (server.cpu_count,) * server.replicas if is_as_source and server.cpu_count else None
    return (written[0] // server.replicas,) * server.replicas if len(written) == 1 else written


class Replicas:
    """The replicas of one managed source; there may be none."""

    def __init__(self, name: str, server: ServerSpec) -> None:
        """Nothing is made yet.

        Args:
            name: Of the system.
            server: What the user wrote.
        """
        self._name, self._spec = name, server
        self._account = ReplicationAccount()
        self._relays = ExitStack()
        self._are_seeded = False
        self.servers: tuple[ManagedServer, ...] = ()

    def create(self, machine: MachineSizes, flush: FlushTimes, placements: Sequence[InstancePlacement]) -> None:
        """Makes their directories, without data, or none of them. Raises as `ManagedServer.create`.

        Args:
            machine: What the production profile of the source is sized to.
            flush: Of the source's device.
            placements: What each may use.
        """
        made = list[ManagedServer]()
        try:
            for number, placement in enumerate(placements, start=1):
                spec = replace(self._wanted(SOURCE_ID + number), placement=placement, is_copy=True)
                made.append(self._create_one(f"{self._name}/{number}", spec, machine, flush))
        except BaseException:
            for server in made:
                server.remove()
            raise
        self.servers = tuple(made)

    def _create_one(self, name: str, spec: ManagedSpec, machine: MachineSizes, flush: FlushTimes) -> ManagedServer:
        if (limit := self._spec.each_replica.memory_limit) is not None:
            machine = replace(machine, memory_bytes=min(machine.memory_bytes, limit))
        return ManagedServer.create(name=name, spec=spec, machine=machine, flush=flush)

    def _wanted(self, server_id: int) -> ManagedSpec:
        own = managed_spec(self._spec.each_replica)
        return replace(own, derived={**own.derived, **replication_options(self._spec, server_id)})

    def seed(self, source: Server, *, from_saved: bool) -> None:
        """Gives them a copy of the data of the source; all servers are stopped.

        Args:
            source: The server.
            from_saved: The saved copy of its data is taken.

        Raises:
            HostError: There is too little space, or a copy failed.
        """
        assert isinstance(source, ManagedServer), "replicas are on the machine of their source"
        side_by_side([partial(self._seed_one, source, one, from_saved) for one in self.servers])
        self._are_seeded = True

    @staticmethod
    def _seed_one(source: ManagedServer, replica: ManagedServer, from_saved: bool) -> None:
        instance_data.seed(source.directory, replica.directory, from_saved=from_saved)
        replica.renew_accounts()
        if source.pool_bytes is not None:
            replica.use_pool(source.pool_bytes)

    @property
    def running(self) -> tuple[ManagedServer, ...]:
        """Those that run."""
        return tuple(server for server in self.servers if server.is_running)

    @property
    def starts(self) -> list[Callable[[], None]]:
        """Starts each of them; replication comes after the start of all servers (`follow`)."""
        return [server.start for server in self.servers]

    def follow(self, source: Server) -> None:
        """Lets all of them follow the source, which runs, and waits until they have applied everything.

        Raises:
            TargetError: One does not replicate; with the server's code and message.
            HostError: A relay cannot be had.
        """
        if not self.servers:
            return
        self._relays.close()
        with connect(source.target) as control:
            for replica in self.servers:
                with connect(replica.target) as of_replica:
                    self._follow_one(source.target, control, of_replica)
                    wait_until_applied(control, of_replica, CATCH_UP_LIMIT_S)
            if self._spec.acknowledging:
                use_semisync(control, self._spec.acknowledging)
        self._are_seeded = False

    def _follow_one(self, target: Target, source: ControlConnection, replica: ControlConnection) -> None:
        port = None
        if self._spec.replication_delay is not None:
            port = self._relays.enter_context(delayed(target, delay_s=self._spec.replication_delay))
        if self._are_seeded:
            dialect_of(replica).adopt_copy(replica)
        is_semisync = self._spec.replication == "semisync"
        start_replica(replica, source, place_of(target, port=port), self._account, is_semisync=is_semisync)

    def stop(self, grace_s: float = 120) -> None:
        """Stops them, before their source."""
        side_by_side([partial(server.stop, grace_s=grace_s) for server in self.servers])
        self._relays.close()

    def remove(self) -> None:
        """Ends them and removes their directories."""
        with ExitStack() as stack:
            stack.callback(self._relays.close)
            for server in self.servers:
                stack.callback(server.remove)
            self.servers = ()
