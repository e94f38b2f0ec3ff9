"""What happens while a study runs, as values appended to `events.jsonl`.

The live display and `plimsoll study status` only read them. Deliberately not here: how they are shown.
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
from plimsoll.record.document import Document, check_numbers
from plimsoll.record.model import State, TrialWarning, Verdict
from plimsoll.regular_file import open_regular
from plimsoll.run.answer_events import AnswerProgressed, DuetProgressed
from plimsoll.run.data_events import DataKept, DataPutBack, DeviceShared, HostLost
from plimsoll.run.hook_events import EnvironmentTurn, HookBegan, HookEnded
from plimsoll.run.search_events import SearchEvent
from plimsoll.run.storage_events import StorageMeasured


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
