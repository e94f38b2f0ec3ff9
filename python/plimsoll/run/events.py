"""What happens while a study runs, as values appended to `events.jsonl`.

What it knows of its answer, what its searches show, what becomes of data, devices and hosts, what hooks do, and what
storage is measured to do. The live display and `plimsoll study status` only read them. Deliberately not here: how they
are shown.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from plimsoll.errors import RecordError, StorageError
from plimsoll.record.capacity import CapacityObjective, CapacityRun
from plimsoll.record.document import Document, check_numbers
from plimsoll.record.model import DataReset, HookResult, State, TrialWarning, Verdict
from plimsoll.record.storage import StorageMeasurement, StorageRecord, StorageTest
from plimsoll.regular_file import open_regular


class AnswerProgressed(Document):
    """What a study that goes on until its answer is decided knows after a repetition, in a duet after a round.

    Attributes:
        type: Names the event.
        is_duet: Repetitions are rounds.
        repetitions: So many are complete.
        is_decided: Nothing is open; the study ends.
        is_over_budget: Something is open, but another repetition would exceed the budget; the study ends.
        more_max: How many further repetitions decide all, if the ratios stay; None where that is not known.
        trials_left: How many further trials that is expected to take, or all that are planned where it is not known;
            None in events of earlier versions.
        text: What is known of each question, a line each; last, if the budget ended the study, that.
    """

    type: Literal["answer_progressed"] = "answer_progressed"
    is_duet: bool = False
    repetitions: int
    is_decided: bool
    is_over_budget: bool = False
    more_max: int | None
    trials_left: int | None = None
    text: tuple[str, ...]


class DuetProgressed(Document):
    """How two systems of a duet compare so far.

    Attributes:
        type: Names the event.
        workload: Under which they compare.
        connections: The level.
        base: What is compared with.
        system: What is compared.
        pair_count: Pairs of turns of the running round that count so far; None between rounds.
        pairs_planned: Of each round.
        rounds_count: Rounds that are over.
        rounds_planned: Of the study; None where it goes on until its answer is decided.
        ratio: Throughput of `system` over that of `base`: in the running round, between rounds in all that are over.
        low: Lower end of its 95 % interval; None within a round and after the first one.
        high: Upper end.
    """

    type: Literal["duet_progressed"] = "duet_progressed"
    workload: str
    connections: int
    base: str
    system: str
    pair_count: int | None = None
    pairs_planned: int
    rounds_count: int
    rounds_planned: int | None
    ratio: float
    low: float | None = None
    high: float | None = None


class SearchBegan(Document):
    """A search for a capacity begins, or goes on where it stopped."""

    type: Literal["search_began"] = "search_began"
    search_id: str
    system: str
    workload: str
    repetition: int


class SearchProgressed(Document):
    """Where a search stands after a run.

    Attributes:
        run: The last one.
        low_tps: The highest rate that held so far; 0 where none did.
        high_tps: The lowest rate that did not hold; None where all held.
        remaining_s: About how long this search will still take.
    """

    type: Literal["search_progressed"] = "search_progressed"
    search_id: str
    system: str
    workload: str
    repetition: int
    run: CapacityRun
    low_tps: float
    high_tps: float | None
    remaining_s: float


class SearchStopped(Document):
    """A search stopped without an answer, since a run of it must not be believed; the study goes on with others."""

    type: Literal["search_stopped"] = "search_stopped"
    search_id: str
    system: str
    workload: str
    repetition: int
    reason: str


class SearchEnded(Document):
    """A search came to an answer.

    Attributes:
        capacity_tps: The rate at which the objective is just kept; None where none was found.
        objective: What had to hold.
        held_tps: Of a system that was compared by ramps: a rate that held in a steady run; None for none.
        is_given_up: Most of its runs met a disturbed machine, so that it ended early.
    """

    type: Literal["search_ended"] = "search_ended"
    search_id: str
    system: str
    workload: str
    repetition: int
    capacity_tps: float | None
    objective: CapacityObjective
    held_tps: float | None = None
    is_given_up: bool = False


class RatioSoFar(Document):
    """How two systems compare by their ramps so far.

    Attributes:
        base: What is compared with.
        system: What is compared.
        ratio: Of what `system` bears to what `base` does.
        low: Lower end of its interval, which holds at every look; None while there is none.
        high: Upper end.
        is_disturbed: The machine was busier beside one of them.
    """

    base: str
    system: str
    ratio: float
    low: float | None = None
    high: float | None = None
    is_disturbed: bool = False


class RampsCompared(Document):
    """How systems compare by the pairs of ramps so far.

    Attributes:
        type: Names the event.
        workload: Under which they climb.
        repetition: Of their searches: 0, 1, 2, …
        pair_count: So many pairs.
        ratios: Every two systems.
        remaining_s: About how long it will take at most.
    """

    type: Literal["ramps_compared"] = "ramps_compared"
    workload: str
    repetition: int
    pair_count: int
    ratios: tuple[RatioSoFar, ...]
    remaining_s: float


SearchEvent = SearchBegan | SearchProgressed | SearchEnded | SearchStopped | RampsCompared
"""Whatever is told of a search."""


class DataPutBack(Document):
    """The data of a system was put back, by the way that `reset` says."""

    type: Literal["data_put_back"] = "data_put_back"
    system: str
    reset: DataReset


class DataKept(Document):
    """The data of a system was kept at the end of a study."""

    type: Literal["data_kept"] = "data_kept"
    system: str
    folder: str
    size_bytes: int
    duration_s: float


class DeviceShared(Document):
    """Paths that a study tells apart are on one device, so that they show no difference between devices.

    Attributes:
        device: Its name; a disk where paths are on several partitions of it.
        paths: As written, with what they are for.
    """

    type: Literal["device_shared"] = "device_shared"
    device: str
    paths: tuple[str, ...]


class HostLost(Document):
    """The host of a system was lost while the system was set up: the study waits for it, and sets it up again.

    Attributes:
        reason: What failed, with the host's name.
        limit_s: It waits for so long, seconds.
    """

    type: Literal["host_lost"] = "host_lost"
    system: str
    reason: str
    limit_s: float


class HookBegan(Document):
    """A hook runs. `system` is None for a hook of the whole study."""

    type: Literal["hook_began"] = "hook_began"
    hook: str
    system: str | None = None
    limit_s: float


class HookEnded(Document):
    """A hook ended.

    Attributes:
        output: The last lines of what it wrote.
        message: What is wrong, as a sentence; None where it is done.
    """

    type: Literal["hook_ended"] = "hook_ended"
    hook: str
    system: str | None = None
    result: HookResult
    exit_code: int | None = None
    duration_s: float
    attempts_count: int
    output: str = ""
    message: str | None = None


class EnvironmentTurn(Document):
    """Trials of an environment are measured next; with `switch = "hand"` only those."""

    type: Literal["environment_turn"] = "environment_turn"
    environment: str
    trial_count: int


class StorageMeasured(Document):
    """One test of one path was measured.

    Attributes:
        name: Of the path, as the study calls it.
        per_s: Operations in each second, reads and writes together.
        ms_p99: 99th percentile of the slower kind; of commit-like writes that of the flush.
    """

    type: Literal["storage_measured"] = "storage_measured"
    name: str
    test: StorageTest
    queue_depth: int
    per_s: float
    ms_p99: float


class StudyBegan(Document):
    """The study runs: so many trials, at most if `is_until_decided`, of which so many were finished before."""

    type: Literal["study_began"] = "study_began"
    study: str
    trial_count: int
    finished_count: int
    unplanned_count: int = 0
    searches_count: int = 0
    is_until_decided: bool = False
    estimated_s: float


class SystemBegan(Document):
    """A system is being started."""

    type: Literal["system_began"] = "system_began"
    system: str
    block: int


class DataProgressed(Document):
    """How far a data set is: rows in phase `load`, tables in the others."""

    type: Literal["data_progressed"] = "data_progressed"
    system: str
    phase: str
    done_count: int
    total_count: int


class TrialBegan(Document):
    """A trial runs. `position` counts from 1 over the whole study; in a duet the repetition is a round."""

    type: Literal["trial_began"] = "trial_began"
    trial_id: str
    system: str
    workload: str
    connections: int
    rate_tps: float | None = None
    is_duet: bool = False
    repetition: int
    position: int
    remaining_s: float


class StateBegan(Document):
    """The running trial entered a state."""

    type: Literal["state_began"] = "state_began"
    state: State


class IntervalEnded(Document):
    """What the running trial saw in its last interval.

    Attributes:
        in_flight_ms_max: How old the oldest transaction in flight at its end was; None without any.
        missing_count: Connections that the level asks for and that were not open at its end.
    """

    type: Literal["interval_ended"] = "interval_ended"
    index: int
    state: State
    throughput_tps: float
    response_ms_p99: float | None
    in_flight_ms_max: float | None = None
    error_count: int
    missing_count: int = 0


class TrialEnded(Document):
    """A trial is recorded.

    Attributes:
        response_is_lower_bound: The percentile is that or more: some transactions had not ended.
        stalled_ratio: Share of the measured time in which nothing, or nearly nothing, completed, 0..1.
    """

    type: Literal["trial_ended"] = "trial_ended"
    trial_id: str
    system: str
    workload: str
    connections: int
    rate_tps: float | None = None
    verdict: Verdict
    reason: str | None
    throughput_tps: float | None
    response_ms_p99: float | None
    response_is_lower_bound: bool = False
    stalled_ratio: float = 0.0
    warnings: tuple[TrialWarning, ...] = ()


class EnvironmentChanged(Document):
    """A system is about to be measured on something else than before: no repetition of its earlier trials.

    Attributes:
        trial_id: Its last complete trial, which ran in the other environment.
        changes: What is different, in words.
    """

    type: Literal["environment_changed"] = "environment_changed"
    system: str
    trial_id: str
    changes: str


class MachineMeasured(Document):
    """What managed servers are sized to was measured again, so that their options may change."""

    type: Literal["machine_measured"] = "machine_measured"
    folder: str
    reason: str


class ReadinessJudged(Document):
    """Pre-flight checks of a machine, or of a system's servers: what is not as it should be, the gravest first.

    Attributes:
        system: Whose servers; None for a machine.
        host: The machine as the study calls it; None for this one, and for servers.
    """

    type: Literal["readiness_judged"] = "readiness_judged"
    system: str | None = None
    host: str | None = None
    findings: tuple[TrialWarning, ...] = ()


class StudyEnded(Document):
    """The study stopped running: `reason` says what stopped it before its end, where anything did."""

    type: Literal["study_ended"] = "study_ended"
    complete_count: int
    failed_count: int
    missing_count: int
    reason: str | None = None


Event = (
    StudyBegan
    | SystemBegan
    | DataProgressed
    | TrialBegan
    | StateBegan
    | IntervalEnded
    | AnswerProgressed
    | DuetProgressed
    | SearchEvent
    | EnvironmentChanged
    | MachineMeasured
    | DataPutBack
    | DataKept
    | DeviceShared
    | HostLost
    | StorageMeasured
    | ReadinessJudged
    | HookBegan
    | HookEnded
    | EnvironmentTurn
    | TrialEnded
    | StudyEnded
)


class Stamped(Document):
    """An event and when it happened: wall clock, seconds since 1970."""

    unix_s: float
    event: Annotated[Event, Field(discriminator="type")]


_LOG = logging.getLogger(__name__)
_STAMPED = TypeAdapter(Stamped)


class EventLog:
    """Appends events to a study's `events.jsonl` and hands them to whoever watches.

    Only intervals and load progress may be lost in a crash; everything else is flushed at once.
    """

    def __init__(
        self,
        path: Path,
        watch: Callable[[Event], None] = lambda _: None,
        look_first: Callable[[], None] = lambda: None,
    ) -> None:
        """Opens the file for appending.

        Args:
            path: The file.
            watch: Is told of every event.
            look_first: Is called before each event; what it raises keeps the event from being said.

        Raises:
            StorageError: It cannot be written.
        """
        try:
            self._file = path.open("a+b", buffering=0)
            if path.is_fifo():
                raise OSError(errno.EINVAL, "is a pipe and not a file")
            if path.stat().st_size and not _ends_whole(self._file):
                self._file.write(b"\n")  # a crash cut the last line short: the next one must not be lost with it
        except OSError as error:
            raise StorageError(
                f"{path}: cannot be written: {error.strerror}; choose another folder with --to"
            ) from None
        self._path = path
        self._watch, self._look_first = watch, look_first

    def say(self, event: Event) -> None:
        """Appends one event.

        Raises:
            StorageError: The disk is full, or the folder was moved or removed.
        """
        self._look_first()
        try:
            self._append(event)
        except OSError as error:
            raise StorageError(f"{self._path}: cannot be written: {error.strerror}; free space and run again") from None
        level = logging.DEBUG if isinstance(event, IntervalEnded | DataProgressed) else logging.INFO
        _LOG.log(level, "%r", event)
        self._watch(event)

    def say_last(self, event: Event) -> None:
        """Appends the last event wherever the folder is by now; if that fails, something worse was told already."""
        with contextlib.suppress(OSError):
            self._append(event)
        _LOG.info("%r", event)
        self._watch(event)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _append(self, event: Event) -> None:
        line = Stamped(unix_s=time.time(), event=event).model_dump_json().encode() + b"\n"
        if self._file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _ends_whole(file: IO[bytes]) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def read_events(path: Path) -> Iterator[Stamped]:
    """All events of a study. A line that was cut short by a crash is passed over.

    Raises:
        RecordError: The file is there and cannot be read.
    """
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}. Move it away, or check its rights.") from None
    with file:
        for line in file:
            try:
                check_numbers(line)
                yield _STAMPED.validate_json(line)
            except ValidationError:
                continue


def storage_measured(record: StorageRecord, storage_measurement: StorageMeasurement) -> StorageMeasured:
    """The event of a measurement."""
    both = [figures for figures in (storage_measurement.read, storage_measurement.write) if figures is not None]
    timed = both if storage_measurement.flush is None else [storage_measurement.flush]
    return StorageMeasured(
        name=record.name,
        test=storage_measurement.test,
        queue_depth=storage_measurement.queue_depth,
        per_s=sum(figures.per_s for figures in both),
        ms_p99=max((figures.ms_p99 for figures in timed), default=0.0),
    )
