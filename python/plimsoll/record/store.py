"""Recordings on disk: one folder for each trial, written whole or not at all, and refused when damaged.

Deliberately not here: the study's other files (`study.toml`, `plan.json`, `events.jsonl` belong to package `run`), what
the documents mean (`model`, `frames`), what a crash left (`partial`), and any statistic (package `analyse`).

A folder gets its name only after all of its files are on the disk (`partial`); every reader passes over others. When a
recording is replaced, the old one waits as `.replaced-<trial>` until the new one stands; alone it counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import NewerFormatError, RecordError
from plimsoll.record.environment import Environment
from plimsoll.record.files import (
    DAMAGE_CURE,
    TABLE_FILES,
    check_bytes,
    check_size,
    checked_id,
    is_attached,
    read_document,
    recordings_folder,
    refuse_newer,
    storing,
    unreadable,
)
from plimsoll.record.model import Outcome, TrialRecord, Verdict

if TYPE_CHECKING:
    import polars as pl


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

    def histograms(self, measures: Collection[str] | None = None) -> pl.DataFrame | None:
        """Durations by interval, type and measure (`frames.HISTOGRAMS`); None when the trial has none.

        Args:
            measures: Only rows of these, which takes less time; None for all.

        Raises:
            RecordError: As `intervals`.
        """
        return self._table("histograms.parquet", measures)

    def telemetry(self) -> pl.DataFrame | None:
        """Samples of host, processes and server (`frames.TELEMETRY`); None when the trial has none.

        Raises:
            RecordError: As `intervals`.
        """
        return self._table("telemetry.parquet")

    def turns(self) -> pl.DataFrame | None:
        """Turns of a duet (`frames.TURNS`); None for other trials.

        Raises:
            RecordError: As `intervals`.
        """
        return self._table("turns.parquet")

    def replication(self) -> pl.DataFrame | None:
        """Lag and reads of replicas (`frames.REPLICATION`); None for systems without; raises as `intervals`."""
        return self._table("replication.parquet")

    def _table(self, name: str, measures: Collection[str] | None = None) -> pl.DataFrame | None:
        from plimsoll.record.frames import read_table

        mark = self.outcome.files.get(name)
        return read_table(self.path / name, mark, measures) if mark else None


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
    turns: pl.DataFrame | None = None,
    replication: pl.DataFrame | None = None,
) -> Path:
    """Commits what a trial left, in the place of an older recording of the same trial if there is one.

    The tables must have the columns and types of module `frames`, in any order, and nulls only where it has them.

    Returns:
        The recording's folder, `STUDY/recordings/<trial_id>`.

    Raises:
        RecordError: The trial's id cannot be a folder's name.
        HostError: The disk is full, or the folder cannot be written. Nothing is left behind, an older recording stays.
    """
    from plimsoll.record.partial import PartialRecording

    checked_id(trial.trial_id)
    with storing(study):
        study.mkdir(parents=True, exist_ok=True)
    partial = PartialRecording.begin(study, trial.trial_id)
    try:
        for name, table in zip(
            TABLE_FILES, (intervals, errors, histograms, telemetry, turns, replication), strict=True
        ):
            if table is not None:
                partial.add(name, table)
        return partial.commit(trial, environment, outcome)
    finally:
        partial.discard()


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


def each_recording(study: Path) -> Iterator[Recording]:
    """The recordings of a study one after the other, by id; damaged and unfinished ones are passed over.

    Raises:
        RecordError: There is no such folder.
    """
    for _, path in _entries(study):
        with contextlib.suppress(RecordError):
            yield read_recording(path)


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


def verdicts(study: Path) -> dict[str, Verdict | None]:
    """The verdict of each recording; None for a damaged one. A study that does not exist yet has none.

    All bytes are read each time (1.4 GB/s where it was measured): a remembered check would not see a disk that
    loses bits.

    Raises:
        NewerFormatError: A newer Plimsoll wrote recordings of this study.
    """
    entries = list(_entries(study)) if study.is_dir() else []
    with ThreadPoolExecutor() as pool:
        judged = pool.map(lambda entry: verdict_of(entry[1]), entries)
        return {trial_id: verdict for (trial_id, _), verdict in zip(entries, judged, strict=True)}


def refuse_newer_study(study: Path) -> None:
    """Makes sure that nobody adds to a study, or replaces in it, what a newer Plimsoll wrote.

    Raises:
        NewerFormatError: It holds recordings of a newer format. They stay as they are.
    """
    for _, path in _entries(study) if study.is_dir() else ():
        try:
            refuse_newer(path / "trial.json")
        except NewerFormatError:
            raise
        except RecordError:
            continue  # damage is told by whoever reads it


def verdict_of(path: Path) -> Verdict | None:
    """The verdict of one recording whose every byte is as it was written; None as `intact_outcome`."""
    outcome = intact_outcome(path)
    return None if outcome is None else outcome.verdict


def intact_outcome(path: Path) -> Outcome | None:
    """The outcome of one recording whose every byte is as it was written; None when it is damaged or missing.

    Raises:
        NewerFormatError: A newer Plimsoll wrote it.
    """
    try:
        refuse_newer(path / "trial.json")
        outcome = _read_outcome(path)
        for name, mark in outcome.files.items():
            check_bytes(path / name, mark)
    except NewerFormatError:
        raise
    except RecordError:
        return None
    return outcome


def _entries(study: Path) -> Iterator[tuple[str, Path]]:
    """Trial id and folder of each committed recording, by id."""
    if not study.is_dir():
        raise RecordError(f"{study}: there is no study here. Check the path; a study is a folder.")
    folder = recordings_folder(study)
    try:
        names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.exists() else set()
    except OSError as error:
        raise unreadable(folder, error) from error
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
        if name not in ("trial.json", "environment.json", *TABLE_FILES) and not is_attached(name):
            raise RecordError(f"{path / 'outcome.json'}: files: {name!r} is unknown. {DAMAGE_CURE}")
        check_size(path / name, mark)
    return outcome
