"""A recording while it is written, and what crashed writers left of theirs.

Tables are written segment by segment and joined at the end, so memory does not grow with a recording's length. The
folder is called `.partial-<trial>-…` until all is on the disk: a crash at any instant leaves nothing that passes for a
recording. While load runs nothing waits for the disk, because flushing would disturb what is measured.

Recovery makes an interrupted recording of what a crash left where something was measured, and removes the rest. It is
only for the one process that holds the study's lock: the partial recording of another writer would be lost.
Deliberately not here: what the tables mean (`frames`), reading (`store`).
"""

from __future__ import annotations

import math
import os
import re
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import polars as pl

from plimsoll.errors import NewerFormatError, RecordError
from plimsoll.record.document import Document
from plimsoll.record.environment import Environment
from plimsoll.record.files import (
    COLLECTED_FOLDER,
    FOLDERS,
    OUTPUT_FOLDER,
    PREFIX,
    attached_files,
    checked_id,
    document_bytes,
    make_directory,
    mark_of_file,
    read_document,
    recordings_folder,
    refuse_newer,
    remove_directory,
    storing,
    sync_directory,
    sync_file,
    write_file,
)
from plimsoll.record.frames import GROUP_ROWS, TABLES, table_bytes
from plimsoll.record.model import Outcome, TrialRecord, Verdict, Window
from plimsoll.record.store import intact_outcome, verdict_of
from plimsoll.units import format_duration

DRAFT_FILE = "unfinished.json"
"""The outcome that counts if the process ends before the trial does."""

_GROUP_ROWS_USUAL = 200_000
"""Rows that are in memory at once while tables are joined."""


class PartialRecording:
    """A recording that is being written.

    Attributes:
        path: Its folder, until it gets the trial's name.
    """

    def __init__(self, path: Path, trial_id: str) -> None:
        """Takes a folder that is there already; `begin` makes one."""
        self.path = path
        self._final = path.with_name(checked_id(trial_id))
        self._segments_count = {name: len(self._segments(name)) for name in TABLES}
        self._tables = {name for name, count in self._segments_count.items() if count}

    @property
    def trial_id(self) -> str:
        """Of the trial that is recorded."""
        return self._final.name

    @classmethod
    def begin(cls, study: Path, trial_id: str) -> Self:
        """Makes the folder within a study that is there: one that was moved must not be made again.

        Raises:
            RecordError: The id cannot be a folder's name.
            StorageError: The folder cannot be made.
        """
        final = recordings_folder(study) / checked_id(trial_id)
        path = final.with_name(f"{PREFIX}{trial_id}-{secrets.token_hex(4)}")
        with storing(final):
            make_directory(final.parent)
            path.mkdir()
        return cls(path, trial_id)

    def draft(self, trial: TrialRecord, environment: Environment, outcome: Outcome) -> None:
        """Keeps what is known so far, for the case that nothing more comes.

        Raises:
            StorageError: The disk is full, or the folder is gone.
        """
        documents = {"trial.json": trial, "environment.json": environment, DRAFT_FILE: outcome}
        with storing(self._final):
            for name, document in documents.items():
                write_file(self.path / name, document_bytes(document), durable=False)

    def add(self, name: str, rows: pl.DataFrame) -> None:
        """Appends rows to a table. A table to which nothing was ever added, not even no rows, will not be there.

        Raises:
            StorageError: The disk is full, or the folder is gone.
        """
        self._tables.add(name)
        content = table_bytes(name, rows)
        if rows.is_empty():
            return
        number = self._segments_count[name]
        with storing(self._final):
            write_file(self.path / f"{Path(name).stem}.{number:06}.parquet", content, durable=False)
        self._segments_count[name] = number + 1

    def attach_output(self, name: str, content: bytes) -> str:
        """Keeps the output of a hook; returns the file's name within the recording.

        Raises:
            StorageError: The disk is full, or the folder is gone.
        """
        folder = self.path / OUTPUT_FOLDER
        with storing(self._final):
            folder.mkdir(exist_ok=True)
            write_file(folder / name, content, durable=False)
        return f"{OUTPUT_FOLDER}/{name}"

    def folder_to_collect(self) -> Path:
        """A folder whose files become part of the recording.

        Raises:
            StorageError: It cannot be made.
        """
        folder = self.path / COLLECTED_FOLDER
        with storing(self._final):
            folder.mkdir(exist_ok=True)
        return folder

    def commit(self, trial: TrialRecord, environment: Environment, outcome: Outcome) -> Path:
        """Joins the segments, flushes everything to the disk and gives the folder its name.

        Raises:
            StorageError: The disk is full or the folder is gone. The partial recording is as it was.
        """
        with storing(self._final):
            for name in sorted(self._tables):
                self._join(name)
            documents: dict[str, Document] = {"trial.json": trial, "environment.json": environment}
            for name, document in documents.items():
                write_file(self.path / name, document_bytes(document))
            attached = attached_files(self.path)
            for name in attached:
                sync_file(self.path / name)
            marks = {name: mark_of_file(self.path / name) for name in (*documents, *sorted(self._tables), *attached)}
            write_file(self.path / "outcome.json", document_bytes(outcome.model_copy(update={"files": marks})))
            sync_directory(self.path)
            return self.publish(marks.keys() | {"outcome.json"})

    def publish(self, files: set[str]) -> Path:
        """Gives a folder that holds a whole recording its name, and removes everything else from it.

        At each instant the old recording or the new one has a name that readers know.

        Raises:
            OSError: The disk refused it.
        """
        for path in self.path.iterdir():
            if path.name in FOLDERS:
                if not any(name.startswith(f"{path.name}/") for name in files):
                    remove_directory(path)
            elif path.name not in files:
                path.unlink()
        sync_directory(self.path)
        final, replaced = self._final, self._final.with_name(f".replaced-{self._final.name}")
        if final.exists():
            remove_directory(replaced)
            final.rename(replaced)
        self.path.rename(final)
        sync_directory(final.parent)
        remove_directory(replaced)
        return final

    def rows(self, name: str) -> pl.DataFrame:
        """What was added to a table so far.

        Raises:
            StorageError: It cannot be read: the folder is gone.
        """
        segments = self._segments(name)
        with storing(self._final):
            return pl.read_parquet(segments) if segments else pl.DataFrame(schema=TABLES[name])

    def change(self, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        """Changes what was added to a table so far, segment by segment.

        Raises:
            StorageError: The disk is full, or the folder is gone.
        """
        with storing(self._final):
            for segment in self._segments(name):
                write_file(segment, table_bytes(name, change(pl.read_parquet(segment))), durable=False)

    def last_interval(self) -> tuple[int, float] | None:
        """Index and end, seconds since the load began, of the last interval that was added; None when there is none."""
        segments = self._segments("intervals.parquet")
        if not segments:
            return None
        last = pl.read_parquet(segments[-1], columns=["interval", "to_s"])
        return int(last["interval"].to_numpy().max()), float(last["to_s"].to_numpy().max())

    def drop_unreadable(self) -> None:
        """Removes segments that a machine which lost its power left without their content."""
        for name in TABLES:
            for segment in self._segments(name):
                try:
                    pl.read_parquet(segment)
                except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
                    segment.unlink()

    def discard(self) -> None:
        """Removes the folder."""
        remove_directory(self.path)

    def _segments(self, name: str) -> list[Path]:
        return sorted(self.path.glob(f"{Path(name).stem}.*.parquet"))

    def _join(self, name: str) -> None:
        """One table of all its segments, in their order; group after group, so that few rows are in memory at once."""
        joined, segments = self.path / name, self._segments(name)
        try:
            if not segments:
                joined.write_bytes(table_bytes(name, pl.DataFrame(schema=TABLES[name])))
            elif len(segments) == 1 and name != "telemetry.parquet":
                _link(segments[0], joined)
            else:
                rows = pl.scan_parquet(segments)
                rows = _without_silent(rows) if name == "telemetry.parquet" else rows
                rows = _by_measure(rows) if name == "histograms.parquet" else rows
                size = GROUP_ROWS.get(name, _GROUP_ROWS_USUAL)
                rows.sink_parquet(joined, compression="zstd", row_group_size=size)
            sync_file(joined)
        except pl.exceptions.PolarsError as error:
            joined.unlink(missing_ok=True)
            raise _os_error(error) from error
        except OSError:
            joined.unlink(missing_ok=True)
            raise


def load_kept_s(path: Path) -> float | None:
    """How much load such a folder holds, seconds; None for nothing, or nothing that could be read."""
    try:
        seen = PartialRecording(path, path.name.removeprefix(PREFIX).rpartition("-")[0]).last_interval()
    except (RecordError, OSError, pl.exceptions.PolarsError):
        return None
    return None if seen is None else seen[1]


def _link(segment: Path, joined: Path) -> None:
    """Gives a segment that is a whole table the table's name too; where there are no links it is copied."""
    joined.unlink(missing_ok=True)
    try:
        joined.hardlink_to(segment)
    except OSError:
        shutil.copyfile(segment, joined)


def _by_measure(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sorted by measure, and as they were among those of one: measure after measure, so that few rows are in memory."""
    measures = sorted(rows.select(pl.col("measure").unique()).collect().to_series())
    return pl.concat([rows.filter(pl.col("measure") == measure) for measure in measures])


def _without_silent(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Telemetry without the status variables of servers that were 0 throughout: most of them are."""
    place = ["host", "instance", "metric"]
    of_servers = rows.filter(pl.col("source") == "server")
    zeros = of_servers.group_by(place).agg((pl.col("value") == 0).all().alias("silent")).filter("silent")
    silent = zeros.select(pl.concat_str(place, separator="\0")).collect(engine="streaming").to_series()
    return rows.filter((pl.col("source") != "server") | ~pl.concat_str(place, separator="\0").is_in(silent.implode()))


def _os_error(error: pl.exceptions.PolarsError) -> OSError:
    """What the operating system said to polars."""
    match = re.search(r"\(os error (\d+)\)", str(error))
    if match is None:
        raise error
    return OSError(int(match[1]), os.strerror(int(match[1])))


@dataclass(frozen=True, slots=True)
class Recovered:
    """A recording that a process could not finish.

    Attributes:
        path: Where it lies now.
        outcome: What it says of itself.
    """

    path: Path
    outcome: Outcome


def recover(study: Path) -> tuple[Recovered, ...]:
    """Takes care of what crashed writers left.

    A recording whose replacement never came is put back. A partial recording of a trial that was under load becomes an
    interrupted recording; one that was whole gets its name; others are removed.

    Raises:
        NewerFormatError: A newer Plimsoll left something. It stays as it is.
        StorageError: The disk is full, or the folder cannot be written. What could not be taken care of stays.
    """
    folder = recordings_folder(study)
    if not folder.is_dir():
        return ()
    with storing(folder):
        _put_back(folder)
        recovered = [_recovered(path) for path in sorted(folder.glob(f"{PREFIX}*"))]
    return tuple(recording for recording in recovered if recording is not None)


def _put_back(folder: Path) -> None:
    for path in sorted(folder.glob(".replaced-*")):
        final = folder / path.name.removeprefix(".replaced-")
        if final.exists():
            remove_directory(path)
        else:
            path.rename(final)


def _recovered(path: Path) -> Recovered | None:
    """The recording that a partial one became; None when it held nothing and was removed."""
    try:
        refuse_newer(path / "trial.json")
        trial = read_document(path / "trial.json", TrialRecord)
        partial = PartialRecording(path, trial.trial_id)
        outcome = intact_outcome(path)  # one that lacks nothing but its name
        if outcome is not None:
            return Recovered(partial.publish({*outcome.files, "outcome.json"}), outcome)
        environment = read_document(path / "environment.json", Environment)
        outcome = _closed(partial, trial, read_document(path / DRAFT_FILE, Outcome))
    except NewerFormatError:
        raise
    except RecordError:
        remove_directory(path)
        return None
    if outcome is None or verdict_of(path.with_name(trial.trial_id)) is Verdict.COMPLETE:
        remove_directory(path)
        return None
    for name, schema in TABLES.items():  # one to which no row came is there as well
        partial.add(name, pl.DataFrame(schema=schema))
    return Recovered(partial.commit(trial, environment, outcome), outcome)


def _closed(partial: PartialRecording, trial: TrialRecord, draft: Outcome) -> Outcome | None:
    """The draft of an outcome with what was recorded by then; None when nothing was."""
    partial.drop_unreadable()
    seen = partial.last_interval()
    if seen is None:
        return None
    index, to_s = seen
    window = None
    if draft.window is not None and index >= draft.window.first:
        first = draft.window.first
        planned = math.inf if trial.duration_s is None else math.ceil(trial.duration_s / trial.interval_s)
        window = Window(first=first, last=int(min(index, first + planned - 1)))
    reason = f"the process that ran it ended before it did; the first {format_duration(to_s)} of load are kept"
    return draft.model_copy(update={"verdict": Verdict.INTERRUPTED, "reason": reason, "window": window})
