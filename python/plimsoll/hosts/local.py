"""This machine as a host."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from plimsoll.clocks import SAME_CLOCK, ClockOffset
from plimsoll.hosts.collecting import LocalCollecting
from plimsoll.hosts.host import Collecting, Host, Server, Wanted
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.option_file import MachineSizes
from plimsoll.servers.storage import FlushTimes

P = ParamSpec("P")
T = TypeVar("T")


class LocalHost:
    """Calls are calls; servers listen on loopback."""

    name = "this machine"
    address = "127.0.0.1"
    is_here = True
    connection_number = 0

    def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls the function."""
        return function(*args, **kwargs)

    def create_server(
        self, *, name: str, spec: ManagedSpec, machine: MachineSizes | None = None, flush: FlushTimes | None = None
    ) -> Server:
        """Makes a server here, see `ManagedServer.create`."""
        return ManagedServer.create(name=name, spec=spec, machine=machine, flush=flush)

    def collect(self, wanted: Wanted) -> Collecting:
        """Begins to watch this machine and servers on it."""
        return LocalCollecting(wanted, host=socket.gethostname())

    def clock(self) -> ClockOffset:
        """One clock."""
        return SAME_CLOCK

    def reconnect(self, limit_s: float) -> None:
        """It cannot be lost."""

    def disconnect(self) -> None:
        """There is no connection."""

    def close(self) -> None:
        """It has no connection."""


HERE: Host = LocalHost()
"""This machine."""
