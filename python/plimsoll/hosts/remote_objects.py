"""What an agent makes and keeps for its other end: servers, and telemetry of its machine."""

from __future__ import annotations

import socket

from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.option_file import MachineSizes
from plimsoll.servers.storage import FlushTimes
from plimsoll.telemetry.collector import Collector, Columns
from plimsoll.telemetry.standard import WatchedInstance, trial_samplers


def create_server(
    *, name: str, spec: ManagedSpec, address: str, machine: MachineSizes | None = None, flush: FlushTimes | None = None
) -> ManagedServer:
    """Makes a server that listens on an address of this machine, see `ManagedServer.create`."""
    return ManagedServer.create(name=name, spec=spec, machine=machine, flush=flush, address=address)


class Watching:
    """Telemetry of this machine and of servers on it; begins at once."""

    def __init__(self, instances: tuple[WatchedInstance, ...], interval_s: float, origin_unix_s: float) -> None:
        placed = trial_samplers(host=socket.gethostname(), instances=instances, client_pid=None)
        self._collector = Collector(placed, interval_s=interval_s, origin_unix_s=origin_unix_s)
        self._collector.start()

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be sampled."""
        return self._collector.faults

    def take(self) -> Columns:
        """Samples since they were last taken, times on this machine's clock."""
        return self._collector.take()

    def stop(self) -> None:
        """Ends it."""
        self._collector.stop()


def watch(*, instances: tuple[WatchedInstance, ...], interval_s: float, origin_unix_s: float) -> Watching:
    """Begins to watch this machine and servers on it.

    Args:
        instances: Servers that run here.
        interval_s: Time between two samples.
        origin_unix_s: A point of the grid on which samples are taken, on this machine's clock.
    """
    return Watching(instances, interval_s, origin_unix_s)
