"""This machine as a host, and its telemetry: samplers tell what they see, and rest while servers do."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import ParamSpec, TypeVar

import polars as pl

from plimsoll.clocks import SAME_CLOCK, ClockOffset
from plimsoll.hosts.host import Collecting, Host, Server, WatchRequest
from plimsoll.record.frames import TELEMETRY
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.servers.option_file import MachineSizes
from plimsoll.servers.storage import FlushTimes
from plimsoll.telemetry.host import CpuSampler, FrequencySampler
from plimsoll.telemetry.sampler import Collector, Columns, Placed, Sample, Sampler
from plimsoll.telemetry.standard import trial_samplers


class _Wrapped(Sampler):
    """A sampler around another one, which it stands for."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    @property
    def source(self) -> str:  # type: ignore[override]  # the class's constant becomes that of the sampler inside
        """Where the samples come from."""
        return self._sampler.source

    @property
    def waits(self) -> bool:  # type: ignore[override]  # as `source`
        """Whether a sample may wait for another process."""
        return self._sampler.waits

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once."""
        return self._sampler.sample(at_unix_s)

    def close(self) -> None:
        """Gives up what is held."""
        self._sampler.close()


class _ReportingSampler(_Wrapped):
    """Tells of each sample as soon as it is taken."""

    def __init__(self, sampler: Sampler, saw: Callable[[Sample], None]) -> None:
        super().__init__(sampler)
        self._saw = saw

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, and tells what was seen."""
        samples = super().sample(at_unix_s)
        for sample in samples:
            self._saw(sample)
        return samples


class _WhileThawed(_Wrapped):
    """Gives nothing while the server is frozen. Nobody freezes the server while it asks."""

    def __init__(self, sampler: Sampler, asking: Callable[[], AbstractContextManager[bool]]) -> None:
        super().__init__(sampler)
        self._asking = asking

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, if the server runs."""
        with self._asking() as may_ask:
            return super().sample(at_unix_s) if may_ask else []


class LocalCollecting:
    """A collector that runs on this machine; begins at once."""

    def __init__(self, wanted: WatchRequest, *, host: str, of_host: bool = True) -> None:
        """Takes what is to be watched.

        Args:
            wanted: Servers, and the load generator.
            host: Name of the machine that they run on.
            of_host: Whether that machine, which must be this one, is watched too.
        """
        placed = trial_samplers(host=host, instances=wanted.instances, client_pid=wanted.client_pid, of_host=of_host)
        if wanted.asking is not None:  # others share the host: of it only what tells of a disturbance
            placed = [
                place for place in placed if place.instance or isinstance(place.sampler, CpuSampler | FrequencySampler)
            ]
        placed = [_watched(place, wanted) for place in placed]
        self._driver = wanted.driver
        self._collector = Collector([*placed, *wanted.others], interval_s=wanted.interval_s)
        self._collector.start()

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be sampled, once for each sampler."""
        return self._collector.faults

    def take(self) -> pl.DataFrame:
        """Samples since they were last taken."""
        return telemetry_frame(self._collector.take(), driver=self._driver)

    def stop(self) -> None:
        """Ends it; the last samples can still be taken."""
        self._collector.stop()


def _watched(place: Placed, wanted: WatchRequest) -> Placed:
    """The same, which tells of its samples, and asks no server that is frozen."""

    def saw(sample: Sample) -> None:
        wanted.saw(place.host, place.instance, sample)

    sampler: Sampler = _ReportingSampler(place.sampler, saw)
    if wanted.asking is not None and place.instance:
        sampler = _WhileThawed(sampler, wanted.asking)
    return replace(place, sampler=sampler)


def telemetry_frame(columns: Columns, *, driver: str, ahead_s: float = 0.0) -> pl.DataFrame:
    """Rows in order of time; schema `record.frames.TELEMETRY`.

    Args:
        columns: The samples.
        driver: The machine that drives the load.
        ahead_s: How far the clock of the machine that took them is ahead of this one's, seconds.
    """
    table = pl.DataFrame({"driver": [driver] * len(columns.value), **asdict(columns)}, schema=TELEMETRY)
    return table.with_columns(pl.col("unix_s") - ahead_s).sort("unix_s", maintain_order=True)


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

    def collect(self, wanted: WatchRequest) -> Collecting:
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
