"""A managed source with its replicas, set up from empty data, and turned round to another source.

Deliberately not here: the SQL of replication (`servers.replication`), load, and when the source is killed.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from plimsoll.drive.relay import delayed
from plimsoll.errors import TargetError
from plimsoll.record.failover import NotFollowing
from plimsoll.servers.command import find_server
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.option_file import FlavourName
from plimsoll.servers.replication.links import dialect, replica_status, start_replica, use_semisync, wait_until_applied
from plimsoll.servers.replication.model import ReplicaStatus, ReplicationAccount, place_of
from plimsoll.spec.failover import FailoverSpec
from plimsoll.spec.server_options import OptionValue
from plimsoll.units import printable

LIMIT_S = 60.0
"""What replication may take for each step."""

_NAME = "failover"

_SEMISYNC_TIMEOUT_MS = 10 * 60 * 1000
"""A source that waited for replicas so long goes on without them; by default after 10 s, and would then lose data."""


class ReplicaSet:
    """Servers `failover/0`, the source, to `failover/N`. Use it as a context to have them removed at the end.

    Attributes:
        servers: The source first.
    """

    def __init__(self, spec: FailoverSpec, *, server: str, data_dir: Path) -> None:
        """Nothing is made yet.

        Args:
            spec: Replicas, replication and options.
            server: `mariadb`, `mysql`, or a full command.
            data_dir: Below which the servers' directories are made.
        """
        self._spec, self._server_name, self._base_dir = spec, server, data_dir
        self._stack = ExitStack()
        self.servers: list[ManagedServer] = []
        self._account = ReplicationAccount()

    def __enter__(self) -> Self:
        """Makes the servers and keeps their data as it is before any load. Raises as `ManagedServer.create`."""
        try:
            for number in range(self._spec.replicas + 1):
                server = ManagedServer.create(name=f"{_NAME}/{number}", spec=self._managed_spec(number))
                self.servers.append(self._stack.enter_context(server))
                server.start()
                server.stop()
                server.save_data()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the servers with their directories."""
        self._stack.close()

    @property
    def source(self) -> ManagedServer:
        """The server that clients write to at first."""
        return self.servers[0]

    @property
    def replicas(self) -> Sequence[ManagedServer]:
        """The others."""
        return self.servers[1:]

    @contextmanager
    def running(self) -> Iterator[Links]:
        """All servers run on empty data, and the replicas follow the source; at the end all are killed.

        Raises:
            HostError, TargetError: They cannot be started, or do not replicate.
        """
        for server in self.servers:
            server.restore_data()
        try:
            with ExitStack() as stack:
                for server in self.servers:
                    server.start()
                yield Links(self, self._spec, self._account, stack)
        finally:
            for server in self.servers:
                server.kill()  # the data is put back or removed: nothing need be written

    def _managed_spec(self, number: int) -> ManagedSpec:
        flavour = find_server(self._server_name).flavour
        derived = {**dialect(flavour).options(number + 1, is_semisync=self._spec.is_semisync)}
        if self._spec.is_semisync:
            derived |= _semisync_timeout(flavour.name)
        return ManagedSpec(
            server=self._server_name,
            profile="server-defaults",
            data_dir=self._base_dir,
            options=self._spec.options,
            derived=derived,
        )


def _semisync_timeout(flavour: FlavourName) -> dict[str, OptionValue]:
    """MySQL makes its data without the plugin, and then does not know the option."""
    name = "rpl_semi_sync_master_timeout" if flavour is FlavourName.MARIADB else "loose_rpl_semi_sync_source_timeout"
    return {name: _SEMISYNC_TIMEOUT_MS}


class Links:
    """Replication between the running servers, as long as they run."""

    def __init__(
        self, replica_set: ReplicaSet, spec: FailoverSpec, account: ReplicationAccount, stack: ExitStack
    ) -> None:
        """Lets the replicas follow the source. Raises as `start_replica`."""
        self._spec, self._account, self._stack = spec, account, stack
        self.controls = {server.name: stack.enter_context(connect(server.target)) for server in replica_set.servers}
        self._servers = {server.name: server for server in replica_set.servers}
        self._replicas = [server.name for server in replica_set.replicas]
        self._source = replica_set.source.name
        self._follow(self._source, self._replicas)
        self._acknowledge(self._source, len(self._replicas))

    def wait_until_applied(self) -> None:
        """Waits until all replicas have what the source has committed by now. Raises TargetError after the limit."""
        for name in self._replicas:
            wait_until_applied(self.controls[self._source], self.controls[name], LIMIT_S)

    def cut_off(self) -> None:
        """Ends receiving on all replicas, as a network does that fails; what was received is still applied."""
        for name in self._replicas:
            control = self.controls[name]
            dialect(self._servers[name].flavour).stop_receiver(control)

    def kill_source(self) -> int:
        """Sends SIGKILL to the source; returns when, monotonic nanoseconds."""
        at_ns = time.monotonic_ns()
        os.kill(self._servers[self._source].pid, signal.SIGKILL)
        return at_ns

    def source_answers(self) -> bool:
        """Whether a new connection to the source comes about."""
        try:
            connect(self._servers[self._source].target).close()
        except TargetError:
            return False
        return True

    def statuses(self) -> dict[str, ReplicaStatus]:
        """What each replica says of itself. Raises TargetError where one does not answer, or is no replica."""
        found = {}
        for name in self._replicas:
            status = replica_status(self.controls[name])
            if status is None:
                raise TargetError(f"{name}: is no replica any more")
            found[name] = status
        return found

    def server(self, name: str) -> ManagedServer:
        """A server by its name."""
        return self._servers[name]

    def control(self, name: str) -> ControlConnection:
        """The control connection to a server."""
        return self.controls[name]

    def turn_round(self, name: str, ahead: Sequence[str]) -> tuple[NotFollowing, ...]:
        """Lets the other replicas follow a promoted one; returns those that could not.

        Args:
            name: The promoted one.
            ahead: Replicas that have received more: what they have, their new source has not.

        Raises:
            TargetError: Too few replicas are left to wait for.
        """
        others = [one for one in self._replicas if one != name]
        not_following = [
            NotFollowing(name=one, reason=f"it has transactions that {name} lacks; it must be made again")
            for one in ahead
        ]
        following = 0
        for one in others:
            if one in ahead:
                continue
            try:
                self._follow(name, [one])
                following += 1
            except TargetError as error:
                not_following.append(NotFollowing(name=one, reason=printable(str(error).splitlines()[0])))
        self._acknowledge(name, following)
        return tuple(not_following)

    def _follow(self, source: str, replicas: Sequence[str]) -> None:
        """Lets replicas follow a source, through a network delay where one is wanted."""
        target, port = self._servers[source].target, None
        if replicas and self._spec.replication_delay_s:
            port = self._stack.enter_context(delayed(target, delay_s=self._spec.replication_delay_s))
        for name in replicas:
            start_replica(
                self.controls[name],
                self.controls[source],
                place_of(target, port=port),
                self._account,
                is_semisync=self._spec.is_semisync,
                limit_s=LIMIT_S,
            )

    def _acknowledge(self, source: str, following: int) -> None:
        """Lets commits wait for as many replicas as are wanted and there."""
        if self._spec.is_semisync:
            use_semisync(self.controls[source], min(self._spec.acknowledging, following), LIMIT_S)
