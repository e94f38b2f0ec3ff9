"""What a host is: a machine on which Plimsoll runs its own functions, starts servers, and watches them.

A function of `servers` or `telemetry` means the same on every host: `host.call(storage_facts, path)` looks at that
host's storage. So each is written once, and tested once. Deliberately not here: how another machine is reached (`ssh`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

import polars as pl

from plimsoll.clocks import ClockOffset
from plimsoll.record.environment import StorageFacts
from plimsoll.servers.data_copy import Copied
from plimsoll.servers.managed_server import ManagedSpec
from plimsoll.servers.option_file import MachineSizes, OptionFile
from plimsoll.servers.storage import FlushTimes
from plimsoll.spec.target import Target
from plimsoll.telemetry.sampler import Placed, Sample
from plimsoll.telemetry.standard import WatchedInstance

P = ParamSpec("P")
T = TypeVar("T")


class Server(Protocol):
    """A server that Plimsoll made on a host; each member means what it does in `ManagedServer`."""

    @property
    def target(self) -> Target:
        """How clients reach it."""

    @property
    def pid(self) -> int:
        """Its process on the host; it must be running."""

    @property
    def data_dir(self) -> Path:
        """Its data directory on the host."""

    @property
    def option_file(self) -> OptionFile:
        """Its option file, as it is in force."""

    @property
    def storage(self) -> StorageFacts:
        """Where its data lies."""

    @property
    def storage_of_roles(self) -> dict[str, StorageFacts]:
        """Where that lies which has a path of its own."""

    def start(self, *, limit_s: float = 120) -> None:
        """Starts it and waits until it answers. Raises TargetError, HostError."""

    def stop(self, *, grace_s: float = 120) -> None:
        """Stops it cleanly, and by force after the grace."""

    def freeze(self) -> None:
        """Stops it where it is."""

    def thaw(self) -> None:
        """Lets it go on."""

    def remove(self) -> None:
        """Ends it and removes its directory."""

    def save_data(self, is_ended: Callable[[], bool] = ...) -> Copied:
        """Keeps a copy of the data as it is now, unless it is ended before. Raises HostError."""

    def restore_data(self, is_ended: Callable[[], bool] = ...) -> Copied:
        """Sets the data back to what was saved, as `save_data`. Raises HostError."""

    def use_pool(self, size_bytes: int) -> None:
        """Sets the size of its buffer pool for the next start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    """What is to be watched on a host.

    Attributes:
        instances: Servers that run there.
        driver: Name of the machine that drives the load.
        client_pid: The load generator's process, where it runs there.
        interval_s: Time between two samples.
        asking: Held while a server is asked; says whether it may be. None where servers always run.
        others: Further samplers that run on this machine, such as those of exporters.
        saw: Is told of each sample soon after it was taken, from any thread: with the machine that it is about, and the
            instance's name, which is empty where it is about the machine or the client. Not of those of `others`.
    """

    instances: Sequence[WatchedInstance]
    driver: str
    client_pid: int | None = None
    interval_s: float = 1.0
    asking: Callable[[], AbstractContextManager[bool]] | None = None
    others: Sequence[Placed] = ()
    saw: Callable[[str, str, Sample], None] = lambda _host, _instance, _sample: None


class Collecting(Protocol):
    """Telemetry of a host and of servers on it, while it is collected."""

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be sampled, once for each sampler."""

    def take(self) -> pl.DataFrame:
        """Samples since they were last taken, times on this machine's clock; schema `record.frames.TELEMETRY`."""

    def stop(self) -> None:
        """Ends it; the last samples can still be taken."""


class Host(Protocol):
    """A machine on which servers run."""

    @property
    def name(self) -> str:
        """As messages call it."""

    @property
    def address(self) -> str:
        """Where servers that Plimsoll starts there listen, and clients reach them."""

    @property
    def is_here(self) -> bool:
        """It is this machine."""

    @property
    def connection_number(self) -> int:
        """Rises with each new connection: what was started over an earlier one is gone."""

    def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a function of `servers` or `telemetry` there.

        Raises:
            PlimsollError: What the function raises.
            HostError: The host cannot be reached.
        """

    def create_server(
        self, *, name: str, spec: ManagedSpec, machine: MachineSizes | None = None, flush: FlushTimes | None = None
    ) -> Server:
        """Makes a server there, see `ManagedServer.create`; it ends when the connection does."""

    def collect(self, wanted: WatchRequest) -> Collecting:
        """Begins to watch the host and servers on it."""

    def clock(self) -> ClockOffset:
        """Compares clocks, over the connection that there is."""

    def reconnect(self, limit_s: float) -> None:
        """Waits until a host that was lost is back; nothing where it was not. Raises HostError after the limit."""

    def disconnect(self) -> None:
        """Ends the connection for now, and with it what Plimsoll started there; `reconnect` begins another."""

    def close(self) -> None:
        """Ends the connection; what Plimsoll started there is removed."""
