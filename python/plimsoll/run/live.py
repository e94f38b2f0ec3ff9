"""One interval of a running trial as a viewer needs it: for observers in this process, and for other processes.

Recordings reach the disk every few intervals; whoever watches a trial wants each second. So each interval is handed to
observers of this process, and appended as a line of JSON to `live.jsonl` in the folder of the partial recording. Nobody
flushes that file, and it is gone when the recording is committed. It is bounded: when it is full, all but the last
lines are dropped. A viewer that comes later finds earlier intervals in the segments of the recording. Histograms have
the buckets of recordings, so percentiles over any intervals are those that the recording will give. Nothing here can
hurt the trial: what fails is passed over. Deliberately not here: states without load, which events tell
(`run.events`), and what the tables of a recording hold (`run.rows`).
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from plimsoll.drive.merging import merge_histograms
from plimsoll.drive.protocol import Counts, GroupInterval, Histogram, Interval
from plimsoll.record.document import Document
from plimsoll.record.level import Level
from plimsoll.record.model import State, TrialRecord, Window
from plimsoll.regular_file import open_regular

LIVE_FILE = "live.jsonl"
"""Its name within the folder of a partial recording."""

FILE_BYTES_MAX = 4 * 2**20
"""The file is cut when it would be larger."""

LINE_BYTES_MAX = 2**20
"""A longer line is left out; one with 1,000 buckets has 10 KB."""

KEPT_LINES = 10
"""So many lines stay when the file is cut: as many as a segment of the recording has intervals."""


class LiveTransactions(Document):
    """What became of the transactions of one type within the interval, on all servers of the system together.

    Attributes:
        counts: By outcome; statements by kind.
        response: Response times of those that completed; None where none did. Merge several by
            `drive.merging.merge_histograms`, or for percentiles by `run.rows.merged`.
    """

    counts: Counts
    response: Histogram | None


class LiveErrors(Document):
    """How often an error occurred within the interval.

    Attributes:
        error_class: retryable, connection or statement.
        code: MySQL's number; 0 where the client noticed it without one.
    """

    error_class: str
    code: int
    count: int


class LiveSample(Document):
    """The last that telemetry saw of a metric.

    Attributes:
        host: The machine that it is about.
        instance: The server; empty where it is about the machine, or about the client.
        metric: As in `telemetry.parquet`; docs/telemetry.md has unit and meaning.
    """

    host: str
    instance: str
    metric: str
    value: float


class LiveInterval(Document):
    """One interval of a trial.

    Attributes:
        trial_id: Of the recording that it will be part of.
        system: Name of the system; empty, as is the workload's, where a trial has no draft yet.
        workload: Name of the workload.
        level: The load that is offered; None where a trial has no draft yet.
        index: Of the interval: 0, 1, 2, …
        unix_s: When it ended, wall clock.
        length_s: Its length, seconds.
        window: The measured window so far; None while nothing counts. What comes after it does not count.
        transactions: By type.
        connected_count: Connections that were open at its end.
        waiting_count: Transactions that were due at its end and that no connection was free for.
        in_flight_count: Transactions that were sent and had not ended at its end.
        in_flight_ms_max: How old the oldest transaction was that was due and had not ended; None without any.
        client_cores: How many processors the load generator used: its processor time over the interval's length.
        lag_s: How far each replica was behind at its end, as the engine's heartbeat saw it; without those of which
            nobody knows.
        telemetry: The last samples of `run.watch.LATEST_METRICS`; none where nothing is watched.
    """

    trial_id: str
    system: str = ""
    workload: str = ""
    level: Level | None = None
    index: int
    unix_s: float
    length_s: float
    window: Window | None = None
    transactions: dict[str, LiveTransactions]
    errors: tuple[LiveErrors, ...]
    connected_count: int
    waiting_count: int
    in_flight_count: int
    in_flight_ms_max: float | None
    client_cores: float
    lag_s: dict[str, float]
    telemetry: tuple[LiveSample, ...]

    @property
    def state(self) -> State:
        """Warm-up, or measurement."""
        return State.WARM if self.window is None else State.MEASURE

    @property
    def completed(self) -> int:
        """Completed transactions of all types."""
        return sum(transactions.counts.completed for transactions in self.transactions.values())

    @property
    def throughput_tps(self) -> float:
        """Completed transactions per second."""
        return self.completed / max(self.length_s, 1e-9)


def live_interval(
    interval: Interval,
    *,
    trial_id: str,
    trial: TrialRecord | None = None,
    began_unix_s: float,
    window: Window | None,
    telemetry: Iterable[LiveSample],
) -> LiveInterval:
    """An interval of the engine's as viewers see it.

    Args:
        interval: Of all drivers.
        trial_id: Of the recording.
        trial: As far as it is known.
        began_unix_s: When interval 0 began, wall clock.
        window: The measured window so far; None while nothing counts.
        telemetry: The last samples.
    """
    groups = interval.groups
    sources = [group for group in groups if group.role == "source"]
    ages = [group.in_flight["response"].max_ns for group in groups if "response" in group.in_flight]
    sent = [sum(group.in_flight["service"].counts) for group in groups if "service" in group.in_flight]
    lags = ((group.instance, group.replication) for group in groups)
    return LiveInterval(
        trial_id=trial_id,
        system="" if trial is None else trial.system.name,
        workload="" if trial is None else trial.workload.name,
        level=None if trial is None else trial.level,
        index=interval.index,
        unix_s=began_unix_s + interval.to_ns / 1e9,
        length_s=(interval.to_ns - interval.from_ns) / 1e9,
        window=window,
        transactions=_transactions(groups),
        errors=tuple(
            LiveErrors(error_class=error.error_class, code=error.code, count=error.count)
            for group in groups
            for error in group.snapshot.errors
        ),
        connected_count=sum(group.connected_count for group in sources),
        waiting_count=sum(group.backlog_count for group in sources),
        in_flight_count=sum(sent),
        in_flight_ms_max=max(ages) / 1e6 if ages else None,
        client_cores=(interval.client.user_ns + interval.client.system_ns) / max(interval.to_ns - interval.from_ns, 1),
        lag_s={
            instance: replication.lag_end_ns / 1e9
            for instance, replication in lags
            if replication is not None and replication.lag_end_ns is not None
        },
        telemetry=tuple(telemetry),
    )


def _transactions(groups: Sequence[GroupInterval]) -> dict[str, LiveTransactions]:
    names = dict.fromkeys(name for group in groups for name in group.snapshot.transactions)
    merged = {}
    for name in names:
        parts = [snapshot for group in groups if (snapshot := group.snapshot.transactions.get(name)) is not None]
        responses = [part.histograms["response"] for part in parts if "response" in part.histograms]
        alone = len(parts) == 1  # as of most systems: nothing is added up
        counts = parts[0].counts if alone else _added([part.counts for part in parts])
        response = merge_histograms(responses) if len(responses) > 1 else next(iter(responses), None)
        merged[name] = LiveTransactions(counts=counts, response=response)
    return merged


def _added(parts: Sequence[Counts]) -> Counts:
    return Counts(**{name: sum(getattr(part, name) for part in parts) for name in Counts.model_fields})


Observer = Callable[[LiveInterval], None]
"""Is told of each interval, on the thread that drives the trial: it must return at once, and not wait for anybody."""

_LOG = logging.getLogger(__name__)
_observers: list[Observer] = []


@contextlib.contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Tells an observer of every interval of every trial that runs in this process meanwhile."""
    _observers.append(observer)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # it failed, and is no observer any more
            _observers.remove(observer)


class LiveFeed:
    """Hands the intervals of one trial on."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder of the partial recording."""
        self._path = folder / LIVE_FILE
        self._size_bytes = 0
        self._last: deque[bytes] = deque(maxlen=KEPT_LINES)

    def tell(self, interval: LiveInterval) -> None:
        """Tells observers and the file of an interval; never fails."""
        for observer in tuple(_observers):
            try:
                observer(interval)
            except Exception:  # whatever is wrong with a viewer, the trial goes on without it
                _LOG.exception("an observer failed and is told nothing more")
                _observers.remove(observer)
        line = interval.model_dump_json().encode() + b"\n"
        if len(line) <= LINE_BYTES_MAX:
            self._last.append(line)
            with contextlib.suppress(OSError):
                self._write(line)

    def _write(self, line: bytes) -> None:
        """Appends a line, or begins the file again with the last ones; readers see either file whole."""
        if self._size_bytes + len(line) <= FILE_BYTES_MAX:
            self._size_bytes += _append(self._path, line)
            return
        begun, lines = self._path.with_suffix(".new"), b"".join(self._last)
        begun.unlink(missing_ok=True)
        _append(begun, lines)
        begun.replace(self._path)
        self._size_bytes = len(lines)


def _append(path: Path, content: bytes) -> int:
    """Opened each time: so no file is held open in a folder that is renamed, and a folder that is gone stays gone."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        return os.write(descriptor, content)
    finally:
        os.close(descriptor)


class LiveReader:
    """Follows the live file of a trial that another process runs."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder of the partial recording; the file need not be there yet."""
        self._path = folder / LIVE_FILE
        self._file_id: tuple[int, int] | None = None
        self._position = 0
        self._last_index = -1

    def take(self) -> list[LiveInterval]:
        """The intervals since the last call, each once; none where the file is not there, or not any more."""
        taken = []
        for line in self._lines():
            with contextlib.suppress(ValidationError):  # cut short, or not ours
                interval = LiveInterval.model_validate_json(line)
                if interval.index > self._last_index:
                    self._last_index = interval.index
                    taken.append(interval)
        return taken

    def _lines(self) -> list[bytes]:
        """Whole lines that were not read yet."""
        try:
            with open_regular(self._path) as file:
                status = os.fstat(file.fileno())
                if self._file_id != (status.st_dev, status.st_ino) or status.st_size < self._position:
                    self._file_id, self._position = (status.st_dev, status.st_ino), 0
                file.seek(self._position)
                content = file.read(FILE_BYTES_MAX + LINE_BYTES_MAX)
        except OSError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._position += len(whole)
        return whole.splitlines()
