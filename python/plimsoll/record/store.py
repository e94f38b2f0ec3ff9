"""Recordings on disk: one folder for each trial, written whole or not at all, and refused when damaged.

Deliberately not here: the study's other files (`study.toml`, `plan.json`, `events.jsonl` belong to package `run`), what
the documents mean (`model`, `frames`), and any statistic (package `analyse`).

A folder gets its name only after all of its files are on the disk, so a crash leaves a `.partial-…` folder that every
reader passes over. When a recording is replaced, the old one waits as `.replaced-<trial>` until the new one stands; if
it alone is found, it counts.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from plimsoll.errors import HostError, RecordError
from plimsoll.record.content import (
    DAMAGE_CURE,
    TABLES,
    check_size,
    document_bytes,
    mark_of,
    read_document,
    read_table,
    refuse_newer,
    table_bytes,
)
from plimsoll.record.model import Environment, Outcome, TrialRecord, Verdict


@dataclass(frozen=True, slots=True)
class Recording:
    """All that one trial left on disk. Documents are read at once, tables only when asked for, and not kept.

    Attributes:
        path: Its folder.
        trial: What was planned, and when each state began.
        environment: What it was measured on.
        outcome: What became of it.
    """

    path: Path
    trial: TrialRecord
    environment: Environment
    outcome: Outcome

    def intervals(self) -> pl.DataFrame | None:
        """Counts by interval and transaction type (`frames.INTERVALS`); None when the trial has none.

        Raises:
            RecordError: The file is missing, cut short or changed, or has other columns.
        """
        return self._table("intervals.parquet")

    def errors(self) -> pl.DataFrame | None:
        """Failed statements (`frames.ERRORS`), no rows when there were none; None when the trial has no such table.

        Raises:
            RecordError: As `intervals`.
        """
        return self._table("errors.parquet")

    def histograms(self) -> pl.DataFrame | None:
        """Durations by interval, type and measure (`frames.HISTOGRAMS`); None when the trial has none.

        Raises:
            RecordError: As `intervals`.
        """
        return self._table("histograms.parquet")

    def telemetry(self) -> pl.DataFrame | None:
        """Samples of host, processes and server (`frames.TELEMETRY`); None when the trial has none.

        Raises:
            RecordError: As `intervals`.
        """
        return self._table("telemetry.parquet")

    def _table(self, name: str) -> pl.DataFrame | None:
        mark = self.outcome.files.get(name)
        return read_table(self.path / name, mark) if mark else None


@dataclass(frozen=True, slots=True)
class Damaged:
    """A recording that cannot be trusted.

    Attributes:
        trial_id: From the folder's name.
        path: The folder.
        reason: What is wrong and the cure, as sentences.
    """

    trial_id: str
    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class StudyRecordings:
    """Every recording of a study.

    Attributes:
        recordings: In the order in which they ran.
        damaged: Those that cannot be read, by trial id.
    """

    recordings: tuple[Recording, ...]
    damaged: tuple[Damaged, ...] = ()


def write_recording(
    study: Path,
    trial: TrialRecord,
    environment: Environment,
    outcome: Outcome,
    *,
    intervals: pl.DataFrame | None = None,
    errors: pl.DataFrame | None = None,
    histograms: pl.DataFrame | None = None,
    telemetry: pl.DataFrame | None = None,
) -> Path:
    """Commits what a trial left, in the place of an older recording of the same trial if there is one.

    The tables must have the columns and types of module `frames`, in any order, and nulls only where it has them.

    Returns:
        The recording's folder, `STUDY/recordings/<trial_id>`.

    Raises:
        RecordError: The trial's id cannot be a folder's name.
        HostError: The disk is full, or the folder cannot be written. Nothing is left behind, an older recording stays.
    """
    final = _recordings(study) / _checked_id(trial.trial_id)
    tables = dict(zip(TABLES, (intervals, errors, histograms, telemetry), strict=True))
    contents = {"trial.json": document_bytes(trial), "environment.json": document_bytes(environment)}
    contents |= {name: table_bytes(name, table) for name, table in tables.items() if table is not None}
    marks = {name: mark_of(content) for name, content in contents.items()}
    contents["outcome.json"] = document_bytes(outcome.model_copy(update={"files": marks}))
    partial = final.with_name(f".partial-{final.name}-{secrets.token_hex(4)}")
    try:
        _make_directory(final.parent)
        _write_files(partial, contents)
        _commit(partial, final)
    except OSError as error:
        raise _host_error(error, final) from error
    finally:
        _remove(partial)
    return final


def read_recording(path: Path) -> Recording:
    """Reads a recording's documents and checks that all its files are there at their full length.

    Raises:
        RecordError: It is missing, unfinished, damaged, or from a newer version. The text names the path and the cure.
    """
    if not path.is_dir():
        raise RecordError(f"{path}: there is no recording here. Check the path; recordings lie in STUDY/recordings.")
    refuse_newer(path / "trial.json")
    outcome = _read_outcome(path)
    trial = read_document(path / "trial.json", TrialRecord, outcome.files["trial.json"])
    environment = read_document(path / "environment.json", Environment, outcome.files["environment.json"])
    if path.name not in (trial.trial_id, f".replaced-{trial.trial_id}"):
        raise RecordError(f"{path}: holds trial {trial.trial_id!r}. Give the folder that name again.")
    return Recording(path, trial, environment, outcome)


def read_study(study: Path) -> StudyRecordings:
    """Reads all recordings of a study. Unfinished ones are passed over, damaged ones are listed, none is left out.

    Raises:
        RecordError: There is no such folder.
    """
    recordings, damaged = [], []
    for trial_id, path in _entries(study):
        try:
            recordings.append(read_recording(path))
        except RecordError as error:
            damaged.append(Damaged(trial_id, path, str(error)))
    recordings.sort(key=lambda recording: (recording.trial.position, recording.trial.trial_id))
    return StudyRecordings(tuple(recordings), tuple(damaged))


def finished_ids(study: Path) -> dict[str, Verdict]:
    """The verdict of each recording, from its outcome alone, for a run that resumes.

    A damaged recording is left out: its trial is to run again. A study that does not exist yet has none.
    """
    verdicts = {}
    for trial_id, path in _entries(study) if study.is_dir() else ():
        try:
            verdicts[trial_id] = _read_outcome(path).verdict
        except RecordError:
            continue
    return verdicts


def remove_partials(study: Path) -> None:
    """Removes what crashed writers left, and puts a recording back whose replacement never came.

    Only for the one process that runs the study: the partial of another writer would be lost.

    Raises:
        HostError: The folder cannot be written.
    """
    folder = _recordings(study)
    if not folder.is_dir():
        return
    try:
        for path in sorted(folder.glob(".replaced-*")):
            final = folder / path.name.removeprefix(".replaced-")
            if final.exists():
                _remove(path)
            else:
                path.rename(final)
        for path in folder.glob(".partial-*"):
            _remove(path)
    except OSError as error:
        raise _host_error(error, folder) from error


def _recordings(study: Path) -> Path:
    return study / "recordings"


def _entries(study: Path) -> Iterator[tuple[str, Path]]:
    """Trial id and folder of each committed recording, by id."""
    if not study.is_dir():
        raise RecordError(f"{study}: there is no study here. Check the path; a study is a folder.")
    folder = _recordings(study)
    try:
        names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.exists() else set()
    except OSError as error:
        raise RecordError(f"{folder}: cannot be read: {error.strerror}. Check the disk and the rights.") from error
    for name in sorted(names, key=lambda name: name.removeprefix(".replaced-")):
        trial_id = name.removeprefix(".replaced-")
        if not trial_id.startswith(".") and (name == trial_id or trial_id not in names):
            yield trial_id, folder / name


def _read_outcome(path: Path) -> Outcome:
    """The outcome, once every file it lists was found at its full length."""
    outcome = read_document(path / "outcome.json", Outcome)
    for name in ("trial.json", "environment.json"):
        if name not in outcome.files:
            raise RecordError(f"{path / 'outcome.json'}: files: {name} is not listed. {DAMAGE_CURE}")
    for name, mark in outcome.files.items():
        if name not in ("trial.json", "environment.json", *TABLES):
            raise RecordError(f"{path / 'outcome.json'}: files: {name!r} is unknown. {DAMAGE_CURE}")
        check_size(path / name, mark)
    return outcome


def _checked_id(trial_id: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", trial_id):
        raise RecordError(f"trial_id: must be 1 to 100 letters, digits, - or _, is {trial_id!r}")
    return trial_id


def _make_directory(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    _sync_directory(path.parent)


def _write_files(directory: Path, contents: Mapping[str, bytes]) -> None:
    directory.mkdir()
    for name, content in contents.items():
        with (directory / name).open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    _sync_directory(directory)


def _commit(partial: Path, final: Path) -> None:
    """Gives the partial its name. At each instant the old recording or the new one has a name that readers know."""
    replaced = final.with_name(f".replaced-{final.name}")
    if final.exists():
        _remove(replaced)
        final.rename(replaced)
    partial.rename(final)
    _sync_directory(final.parent)
    _remove(replaced)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)


def _host_error(error: OSError, path: Path) -> HostError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HostError(f"{path}: the disk is full, the recording was not kept. Free space, then run again.")
    return HostError(f"{path}: cannot be written: {error.strerror}. Check that the folder exists and may be written.")
