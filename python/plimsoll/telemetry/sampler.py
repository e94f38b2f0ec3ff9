"""What a sampler is, the arithmetic that several share, and the collector that asks them once a second during a trial.

Every metric's name ends with its unit; docs/telemetry.md describes each, and a test holds it to the samplers' metrics.
A sampler that fails records nothing for that second and is reported once; it never ends a trial. Deliberately not here:
any metric, and the telemetry table (`plimsoll.hosts.local`).
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

PROC = Path("/proc")
"""Where the kernel shows itself; samplers take another folder in tests."""

_READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric at one time.

    Attributes:
        source: `host`, `device`, `process`, `server`, `waits` or `performance_schema`.
        metric: Name with its unit last; of a server's status variable its own name in lower case.
    """

    source: str
    metric: str
    value: float


class Sampler(ABC):
    """Looks at one thing each second.

    Attributes:
        source: Of all its samples.
        metrics: Every name that it gives, with its unit. `*` stands for the rest of a status variable's name, `N` for
            the number of a CPU.
        cost: What a sample costs, measured on the machine that it was written on.
        waits: Whether a sample may wait for another process; such samplers get a thread of their own.
    """

    source: ClassVar[str]
    metrics: ClassVar[Mapping[str, str]]
    cost: ClassVar[str]
    waits: ClassVar[bool]

    @abstractmethod
    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once. Rates and shares cover the time since the sample before; the first sample has none.

        Args:
            at_unix_s: Now, seconds since 1970, on a clock that only goes forward.

        Raises:
            Exception: Anything; the collector reports it once and goes on.
        """

    def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Gives up what is held; never fails."""


def kernel_text(path: Path | str) -> str:
    """What the kernel shows in a file below /proc or /sys; a third of the time that `Path.read_text` takes.

    Raises:
        OSError: There is no such file, or it may not be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(file, _READ_BYTES):
            parts.append(part)
    finally:
        os.close(file)
    return b"".join(parts).decode("utf-8", errors="replace")


class Deltas:
    """How much counters rose since they were last seen, and in which time."""

    def __init__(self) -> None:
        self._at_s: float | None = None
        self._before: dict[str, float] = {}

    def rise(self, at_s: float, counters: Mapping[str, float]) -> tuple[float, dict[str, float]] | None:
        """Notes counters.

        Args:
            at_s: Now, seconds.
            counters: Each counter's value.

        Returns:
            The elapsed seconds, and the rise of each counter that was there before; a counter that fell, because what
            it counts began anew, has risen by nothing. None at the first time, and when no time has passed.
        """
        before_s, before = self._at_s, self._before
        self._at_s, self._before = at_s, dict(counters)
        if before_s is None or at_s <= before_s:
            return None
        risen = {name: max(value - before[name], 0.0) for name, value in counters.items() if name in before}
        return at_s - before_s, risen


def matches(metric: str, pattern: str) -> bool:
    """Whether a metric's name is one that `Sampler.metrics` lists.

    >>> matches("cpu12_busy_ratio", "cpuN_busy_ratio"), matches("com_select", "com_*"), matches("x", "com_*")
    (True, True, False)
    """
    regular = re.escape(pattern).replace(r"\*", ".*").replace("cpuN", r"cpu\d+")
    return re.fullmatch(regular, metric) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A sampler, and what its rows are about.

    Attributes:
        host: The machine that the rows are about.
        instance: The server's name; empty where the rows are about the whole host, or about the client.
    """

    sampler: Sampler
    host: str
    instance: str = ""


@dataclass(slots=True)
class Columns:
    """Samples as columns of equal length.

    Attributes:
        host: The machine that a sample is about.
        instance: The server's name, or empty.
        unix_s: When it was taken, on the clock of the machine that took it.
    """

    host: list[str] = field(default_factory=list)
    instance: list[str] = field(default_factory=list)
    unix_s: list[float] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    metric: list[str] = field(default_factory=list)
    value: list[float] = field(default_factory=list)


@dataclass(slots=True)
class _Rows:
    """Samples that nobody has taken yet, one list for each column."""

    place: list[Placed] = field(default_factory=list)
    unix_s: list[float] = field(default_factory=list)
    sample: list[Sample] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, place: Placed, unix_s: float, samples: Sequence[Sample]) -> None:
        with self.lock:
            self.place += [place] * len(samples)
            self.unix_s += [unix_s] * len(samples)
            self.sample += samples

    def take(self) -> _Rows:
        """Those so far; they are forgotten here."""
        with self.lock:
            taken = _Rows(self.place, self.unix_s, self.sample)
            self.place, self.unix_s, self.sample = [], [], []
        return taken


class Collector:
    """Threads that sample on a grid of whole intervals, from `start` to `stop`."""

    def __init__(
        self,
        placed: Sequence[Placed],
        *,
        interval_s: float = 1.0,
        origin_unix_s: float | None = None,
        on_fault: Callable[[str], None] | None = None,
    ) -> None:
        """Takes what is to be sampled.

        Args:
            placed: The samplers. Those that may wait for others get a thread each, the rest share one.
            interval_s: Time between two samples.
            origin_unix_s: A point of the grid, such as the beginning of interval 0; None for whole seconds.
            on_fault: Told of each sampler's first failure, from a thread of the collector.
        """
        self._stopped = threading.Event()
        self._on_fault = on_fault
        self._faults: dict[int, str] = {}
        self._origin_unix_s = origin_unix_s or 0.0
        self._interval_s = interval_s
        # A wall clock that only goes forward, whatever is done to the machine's.
        self._offset_s = time.time() - time.monotonic()
        groups = [[place for place in placed if not place.sampler.waits]]
        groups += [[place] for place in placed if place.sampler.waits]
        self._loops = [(group, _Rows()) for group in groups if group]
        self._threads = [
            threading.Thread(target=self._run, args=loop, name="plimsoll-telemetry", daemon=True)
            for loop in self._loops
        ]

    @property
    def faults(self) -> tuple[str, ...]:
        """What failed, once for each sampler."""
        return tuple(self._faults.values())

    def start(self) -> None:
        """Begins to sample: at once, which gives the baselines, and then on the grid."""
        for thread in self._threads:
            thread.start()

    def take(self) -> Columns:
        """The samples since they were last taken: of one sampler in order of time."""
        columns = Columns()
        for _, loop_rows in self._loops:
            rows = loop_rows.take()
            columns.host += [place.host for place in rows.place]
            columns.instance += [_about(*pair) for pair in zip(rows.place, rows.sample, strict=True)]
            columns.unix_s += rows.unix_s
            columns.source += [sample.source for sample in rows.sample]
            columns.metric += [sample.metric for sample in rows.sample]
            columns.value += [sample.value for sample in rows.sample]
        return columns

    def stop(self, *, limit_s: float = 5.0) -> None:
        """Ends sampling; the last samples can still be taken.

        Args:
            limit_s: How long to wait for a sampler that is stuck; what it would still give is lost.
        """
        self._stopped.set()
        until_s = time.monotonic() + limit_s
        for thread in self._threads:
            thread.join(max(until_s - time.monotonic(), 0))

    def _run(self, group: Sequence[Placed], rows: _Rows) -> None:
        yield_to_others()
        while True:
            now_s = self._now_s()
            for place in group:
                rows.add(place, now_s, self._ask(place, now_s))
            if self._stopped.wait(self._until_next_s()):
                break
        for place in group:
            place.sampler.close()

    def _ask(self, place: Placed, now_s: float) -> list[Sample]:
        try:
            return place.sampler.sample(now_s)
        except ProcessLookupError:
            return []  # a process that has ended, as the engine does last: whoever runs it tells of it
        except Exception as error:  # telemetry never ends a trial, whatever happens to it
            if id(place) not in self._faults:
                self._faults[id(place)] = f"{place.sampler.source}: {error}"
                if self._on_fault:
                    self._on_fault(self._faults[id(place)])
            return []

    def _now_s(self) -> float:
        return time.monotonic() + self._offset_s

    def _until_next_s(self) -> float:
        """Time until the next point of the grid.

        Points that were missed are not made up for, and one that is too near is left out: counters that tick a hundred
        times a second say nothing about a few milliseconds.
        """
        rest_s = self._interval_s - (self._now_s() - self._origin_unix_s) % self._interval_s
        return rest_s if rest_s >= self._interval_s / 2 else rest_s + self._interval_s


def _about(place: Placed, sample: Sample) -> str:
    """The server that a row is about: an exporter tells of its host too, which is no server."""
    return "" if sample.source == "host" != place.sampler.source else place.instance


def yield_to_others() -> None:
    """Lets the calling thread wait for its turn when it wakes up, instead of interrupting whoever runs (sched(7)).

    A thread of server or client that is interrupted while it holds a lock holds up all the others: under load that cost
    several times the processor time of sampling itself.
    """
    with contextlib.suppress(OSError):  # not permitted here: it then samples as any other thread would
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
