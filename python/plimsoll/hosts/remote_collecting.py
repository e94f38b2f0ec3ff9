"""Telemetry of another host: of the machine and of processes there, of its servers' counters here.

Servers are asked for their counters by this machine, so that no password and no key leaves it. The rest is collected
there and fetched once an interval, so that a running trial sees what its servers do. Times are put onto this machine's
clock by the offset that was found when it began (`Channel.clock`).
"""

from __future__ import annotations

import threading
from dataclasses import asdict, replace

import polars as pl

from plimsoll.errors import HostError, PlimsollError
from plimsoll.hosts import remote_objects
from plimsoll.hosts.channel import Channel
from plimsoll.hosts.collecting import LocalCollecting
from plimsoll.hosts.frame import telemetry_frame
from plimsoll.hosts.host import Wanted
from plimsoll.servers.facts import host_facts
from plimsoll.telemetry.collector import Columns
from plimsoll.telemetry.sampler import Sample

_STOP_LIMIT_S = 10.0


class RemoteCollecting:
    """A collector on a host; begins at once."""

    def __init__(self, channel: Channel, wanted: Wanted) -> None:
        self._channel, self._wanted = channel, wanted
        self.clock = channel.clock()
        asked = [replace(one, pid=None, data_dir=None) for one in wanted.instances]
        name = channel.call(host_facts).name or ""
        self._counters = LocalCollecting(replace(wanted, instances=asked), host=name, of_host=False)
        self._number = channel.make(
            remote_objects.watch,
            instances=tuple(replace(one, target=None) for one in wanted.instances),
            interval_s=wanted.interval_s,
            origin_unix_s=self.clock.ahead_s % wanted.interval_s,
        )
        self._rows, self._lock = list[pl.DataFrame](), threading.Lock()
        self._faults: tuple[str, ...] = ()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._fetch_until_stopped, name="plimsoll-telemetry", daemon=True)
        self._thread.start()

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be sampled, once for each sampler."""
        return (*self._counters.faults, *self._faults)

    def take(self) -> pl.DataFrame:
        """Samples since they were last taken, times on this machine's clock."""
        with self._lock:
            rows, self._rows = self._rows, []
        return pl.concat([self._counters.take(), *rows]).sort("unix_s", maintain_order=True)

    def stop(self) -> None:
        """Ends it; the last samples can still be taken."""
        self._stopped.set()
        self._counters.stop()
        self._thread.join(_STOP_LIMIT_S)

    def _fetch_until_stopped(self) -> None:
        try:
            while not self._stopped.wait(self._wanted.interval_s):
                self._fetch()
            self._channel.method(self._number, remote_objects.Watching.stop)
            self._fetch()
            self._faults = self._channel.method(self._number, vars(remote_objects.Watching)["faults"])
            self._channel.drop(self._number)
        except PlimsollError as error:  # telemetry ends no trial
            self._faults = (*self._faults, str(error))

    def _fetch(self) -> None:
        columns: Columns = self._channel.method(self._number, remote_objects.Watching.take)
        if len({len(column) for column in asdict(columns).values()}) > 1:
            raise HostError("telemetry came in columns of different lengths")
        with self._lock:
            self._rows.append(telemetry_frame(columns, driver=self._wanted.driver, ahead_s=self.clock.ahead_s))
        for instance, source, metric, value in zip(
            columns.instance, columns.source, columns.metric, columns.value, strict=True
        ):
            if instance:
                self._wanted.saw(instance, Sample(source, metric, value))
