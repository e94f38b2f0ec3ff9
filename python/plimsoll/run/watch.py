"""Telemetry of one trial: collected while it runs, readable live, taken piece by piece; and when a trial is warm.

A question to a frozen server would wait until it is thawed and look like an outage: so nobody asks servers anything
while they are frozen, nor freezes them while somebody asks.

A trial is warm when throughput and the server's stocks no longer trend. Method: the mean of the last `HALF` intervals
is compared with that of the `HALF` before. They count as equal when they differ by less than a tolerance or by less
than twice the standard error of the difference, whichever is larger: noise does not keep a trial warming for ever, and
a slow rise of a calm series is still seen. A first, simple rule; the change points of the whole series are judged after
the trial. Deliberately not here: how a process is frozen (`servers.guardian`).
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

import numpy as np
import polars as pl

from plimsoll.analyse.findings.recording_warnings import TELEMETRY_MISSING
from plimsoll.hosts.host import Collecting, Host, WatchRequest
from plimsoll.hosts.local import HERE
from plimsoll.record.environment import ExporterFacts
from plimsoll.record.model import TrialWarning
from plimsoll.run.instance import Instance, replicas_of
from plimsoll.telemetry.exporters.sampler import exporter_facts, placed_exporters
from plimsoll.telemetry.sampler import Placed, Sample
from plimsoll.telemetry.standard import WatchedInstance


class Freezer:
    """Freezes and thaws the servers of one system."""

    def __init__(self, servers: Sequence[Freezable]) -> None:
        self._servers = servers
        self._asked = threading.Lock()
        self._is_frozen = False

    def freeze(self) -> None:
        """Stops the servers; waits for who is asking them something.

        Raises:
            HostError: One has ended, or could not be stopped.
        """
        with self._asked:
            self._is_frozen = True
            for server in self._servers:
                server.freeze()

    def thaw(self) -> None:
        """Lets the servers go on, whether or not they were frozen. Raises as `freeze`."""
        with self._asked:
            for server in self._servers:
                server.thaw()
            self._is_frozen = False

    @contextmanager
    def asking(self) -> Iterator[bool]:
        """For the time of a question: whether the servers run. Until it is over they are not frozen."""
        with self._asked:
            yield not self._is_frozen


REDO_LSN = frozenset({"innodb_lsn_current", "innodb_redo_log_current_lsn"})
"""Status variables that say how many bytes of redo were ever written: of MariaDB, and of MySQL from 8.0.30 on."""


STOCKS_KEPT = 1800
"""A trial of hours must not remember each second. The end of a warm-up is judged by the last ten, that of a trial of
automatic length by its whole window."""


def _last_seconds() -> deque[float]:
    return deque(maxlen=STOCKS_KEPT)


class Watch:
    """What telemetry saw of a trial.

    Attributes:
        faults: What could not be sampled, once for each sampler.
        stocks: By instance and status variable, one value for each of the last seconds.
        redo_lsn: By instance, the first log sequence number and the last one, bytes.
        first_hand: By instance, metrics that were sampled without an exporter.
        exporters: What was read from exporters; known at the end.
    """

    def __init__(self) -> None:
        self.faults: tuple[str, ...] = ()
        self.stocks: dict[str, dict[str, deque[float]]] = defaultdict(lambda: defaultdict(_last_seconds))
        self.redo_lsn: dict[str, list[float]] = defaultdict(list)
        self.first_hand: dict[str, set[str]] = defaultdict(set)
        self.exporters: tuple[ExporterFacts, ...] = ()
        self._collecting: list[Collecting] = []
        self._latest: dict[tuple[str, str, str], tuple[float, float]] = {}

    def collect(self, host: Host, wanted: WatchRequest) -> Collecting:
        """Begins to watch a host; its rows are taken with the others."""
        collecting = host.collect(wanted)
        self._collecting.append(collecting)
        return collecting

    def saw(self, host: str, instance: str, sample: Sample) -> None:
        """Notes a sample where the running trial and its viewers can see it."""
        if sample.metric in LATEST_METRICS:
            self._latest[host, instance, sample.metric] = (time.monotonic(), sample.value)
        if not instance:
            return
        self.first_hand[instance].add(sample.metric)
        if sample.metric in STOCKS:
            self.stocks[instance][sample.metric].append(sample.value)
        elif sample.metric in REDO_LSN:
            self.redo_lsn[instance][1:] = [sample.value]  # the first one stays

    def series(self) -> Mapping[str, Sequence[float]]:
        """The servers' stocks lately, of all instances together: one value for each second, by status variable."""
        seen = [dict(of_one) for of_one in list(self.stocks.values())]
        names = dict.fromkeys(name for of_one in seen for name in of_one)
        return {
            name: tuple(map(sum, zip(*(list(of_one[name]) for of_one in seen if name in of_one), strict=False)))
            for name in names
        }

    def latest(self) -> dict[tuple[str, str, str], float]:
        """The last values of `LATEST_METRICS`, by host, instance and metric; without those that nobody saw lately."""
        since_s = time.monotonic() - LATEST_S
        return {place: value for place, (seen_s, value) in self._latest.copy().items() if seen_s >= since_s}

    def redo_bytes(self) -> int | None:
        """Redo that the servers have written so far, all instances together; None when that is not known of each."""
        seen = [list(numbers) for numbers in self.redo_lsn.values()]
        if not seen or any(len(numbers) < 2 for numbers in seen):
            return None
        return int(sum(numbers[-1] - numbers[0] for numbers in seen))

    def take(self, *others: pl.DataFrame) -> pl.DataFrame:
        """Rows of the telemetry table since they were last taken, with rows from elsewhere, in order of time."""
        table: pl.DataFrame = pl.concat([*(collector.take() for collector in self._collecting), *others])
        return table.sort("unix_s", maintain_order=True)


@contextmanager
def watching(
    instances: Sequence[Instance],
    *,
    host: str,
    engine_pid: int | None,
    watch: Watch,
    freezer: Freezer | None = None,
    interval_s: float = 1.0,
) -> Iterator[None]:
    """Collects telemetry for the time of a trial's load.

    Args:
        instances: The servers that the load runs on.
        host: The name of this machine.
        engine_pid: The process that drives the load; None where none on this machine does.
        watch: Receives what is seen.
        freezer: Freezes the servers at times; what is seen is then of the servers alone and, since others share the
            host, of it only what tells of a disturbance. None for servers that always run.
        interval_s: Time between two samples; a trial takes one a second.
    """
    by_host: dict[int, list[Instance]] = defaultdict(list)
    for instance in instances:
        by_host[id(instance.host)].append(instance)
    here = by_host.pop(id(HERE), [])
    exporters = placed_exporters(instances, watch.first_hand) if freezer is None else []
    parts = [(HERE, here, engine_pid), *((of_one[0].host, of_one, None) for of_one in by_host.values())]
    with ExitStack() as stack:
        stack.callback(_note_exporters, watch, instances, exporters)
        for on, there, client_pid in parts:
            wanted = WatchRequest(
                instances=[_watched(instance, has_replicas=bool(replicas_of(instances))) for instance in there],
                driver=host,
                client_pid=client_pid,
                interval_s=interval_s,
                asking=None if freezer is None else freezer.asking,
                saw=watch.saw,
                others=exporters if on.is_here else (),
            )
            stack.callback(_end, watch, watch.collect(on, wanted))
        yield


def _watched(instance: Instance, *, has_replicas: bool) -> WatchedInstance:
    """What samplers need to know; on the host through which a server is watched it is "here"."""
    return WatchedInstance(
        name=instance.name,
        target=instance.target,
        is_here=instance.is_here or not instance.host.is_here,
        pid=instance.pid,
        data_dir=instance.data_dir,
        replication=instance.role if has_replicas else None,
    )


def _note_exporters(watch: Watch, instances: Sequence[Instance], exporters: Sequence[Placed]) -> None:
    watch.exporters = exporter_facts(instances, exporters)


def _end(watch: Watch, collecting: Collecting) -> None:
    collecting.stop()
    watch.faults = (*watch.faults, *collecting.faults)


def unseen(instances: Sequence[Instance]) -> list[str]:
    """Why servers on this machine cannot be watched as processes, one fault for each."""
    return [
        f"{instance.name} runs on this machine, and {instance.unwatched}"
        for instance in instances
        if instance.unwatched is not None
    ]


def unwatched(fault: str) -> TrialWarning:
    """The doubt that something which could not be watched gives rise to."""
    return TELEMETRY_MISSING.warning(f"Not everything could be watched: {fault}.")


class Freezable(Protocol):
    """Something that can be stopped where it is."""

    def freeze(self) -> None:
        """Stops it."""

    def thaw(self) -> None:
        """Lets it go on."""


HALF = 5
"""Intervals in each of the two windows that are compared."""

THROUGHPUT_TOLERANCE = 0.03
STOCK_TOLERANCE = 0.10

STOCKS = (
    "innodb_buffer_pool_pages_dirty",
    "innodb_history_list_length",
    "innodb_checkpoint_age",
)
"""Status variables that a freshly settled server has to refill before it runs as it will go on running."""


LATEST_METRICS = frozenset(
    (
        *STOCKS,
        "busy_ratio",
        "client_cpu_ratio",
        "cpu_idle_ratio",
        "cpu_iowait_ratio",
        "cpu_steal_ratio",
        "cpu_system_ratio",
        "cpu_user_ratio",
        "innodb_buffer_pool_pages_total",
        "replica_seconds_behind_s",
        "server_cpu_ratio",
        "server_memory_bytes",
        "threads_running",
    )
)
"""What viewers of a running trial are shown of telemetry: processors, storage, state of InnoDB, replicas."""

LATEST_S = 10.0
"""A value that is older is not what is going on now, seconds."""


def is_flat(series: Sequence[float], tolerance: float) -> bool:
    """Whether the last `HALF` values are like the `HALF` before them. False while there are fewer."""
    if len(series) < 2 * HALF:
        return False
    before = np.asarray(series[-2 * HALF : -HALF], dtype=float)
    last = np.asarray(series[-HALF:], dtype=float)
    difference = abs(last.mean() - before.mean())
    scale = max(abs(before.mean()), abs(last.mean()))
    if scale == 0:
        return True
    noise = np.sqrt((before.var(ddof=1) + last.var(ddof=1)) / HALF)
    return bool(difference <= max(tolerance * scale, min(2 * noise, 2 * tolerance * scale)))


def trends(throughput_tps: Sequence[float], stocks: Mapping[str, Sequence[float]]) -> tuple[str, ...]:
    """What still trends, by name; empty when the trial is warm.

    Args:
        throughput_tps: One value for each interval so far.
        stocks: By status variable, one value for each second so far. Missing ones are not judged.
    """
    works = any(throughput_tps[-2 * HALF :])  # a server that answers nothing is flat, and not warm
    moving = [] if works and is_flat(throughput_tps, THROUGHPUT_TOLERANCE) else ["throughput"]
    moving += [name for name, series in stocks.items() if len(series) > 0 and not is_flat(series, STOCK_TOLERANCE)]
    return tuple(moving)
