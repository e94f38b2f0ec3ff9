"""Trials of others are written into a study.

Deliberately not here: reading what others published (`table`, `sysbench`), and the place of a trial (`joining`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from plimsoll.importers.joining import Cell, Joiner
from plimsoll.importers.skipped_logs import SkippedLog, keep_skipped
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, TrialRecord
from plimsoll.record.store import read_study, refuse_newer_study, write_recording


@dataclass(frozen=True, slots=True)
class ImportedTrial:
    """One trial of others, ready to be written.

    Attributes:
        intervals: `frames.INTERVALS`; None when its source states none.
        errors: `frames.ERRORS`; None when its source does not say when they occurred.
        histograms: `frames.HISTOGRAMS`; None when its source states none.
    """

    trial: TrialRecord
    environment: Environment
    outcome: Outcome
    intervals: pl.DataFrame | None = None
    errors: pl.DataFrame | None = None
    histograms: pl.DataFrame | None = None


@dataclass(frozen=True, slots=True)
class ImportResult:
    """A source, understood.

    Attributes:
        trials: In the order of the source.
        report: How it was understood, and what it leaves open: one line each, for the user.
        skipped: What could not be read and was left out: one line each, with its place.
        logs: All logs that were read.
        refused: Those, or runs in them, of which nothing could be made.
    """

    trials: tuple[ImportedTrial, ...]
    report: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    logs: tuple[Path, ...] = ()
    refused: tuple[SkippedLog, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenImport:
    """What an import added to a study.

    Attributes:
        paths: The new recordings.
        present_count: Trials that were there already, from an earlier import of the same results.
        report: What the user should know: one line each.
    """

    paths: tuple[Path, ...]
    present_count: int
    report: tuple[str, ...]


def write_import(study: Path, result: ImportResult) -> WrittenImport:
    """Adds the trials to a study, which is made when there is none. Importing the same again adds nothing.

    A system that has the name of another one in the study, but other factors, gets a longer name.

    Raises:
        HostError: The study cannot be written.
        RecordError: It cannot be read, or a newer Plimsoll wrote recordings of it.
    """
    refuse_newer_study(study)
    present = read_study(study).recordings if study.is_dir() else ()
    ids = {recording.trial.trial_id for recording in present}
    new = [imported for imported in result.trials if imported.trial.trial_id not in ids]
    joined = Joiner(present)
    paths = tuple(
        write_recording(
            study,
            joined.place(imported.trial),
            imported.environment,
            imported.outcome,
            intervals=imported.intervals,
            errors=imported.errors,
            histograms=imported.histograms,
        )
        for imported in new
    )
    keep_skipped(study, result.logs, result.refused)
    report = [*joined.report, *(_more_of(cell) for cell in joined.repeated)]
    return WrittenImport(paths, len(result.trials) - len(new), tuple(report))


def _more_of(cell: Cell) -> str:
    return (
        f"system {cell[0]}, {cell[2].connections} connections: the study has other results for it; these are added as "
        "repetitions. If this file corrects an earlier one, import all files into a new study"
    )
