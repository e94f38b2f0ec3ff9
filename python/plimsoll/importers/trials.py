"""Trials of others join a study: each gets the name, position and repetition that it has there.

Deliberately not here: reading what others published (`table`, `sysbench`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from plimsoll.importers.systems import name_beside
from plimsoll.record.model import Environment, LevelRecord, Outcome, TrialRecord
from plimsoll.record.store import Recording, read_study, write_recording


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
    """

    trials: tuple[ImportedTrial, ...]
    report: tuple[str, ...]
    skipped: tuple[str, ...] = ()


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
        RecordError: It cannot be read.
    """
    present = read_study(study).recordings if study.is_dir() else ()
    ids = {recording.trial.trial_id for recording in present}
    new = [imported for imported in result.trials if imported.trial.trial_id not in ids]
    joined = _Joiner(present)
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
    return WrittenImport(paths, len(result.trials) - len(new), tuple(joined.report))


class _Joiner:
    """Finds the place of imported trials among the recordings of a study.

    Attributes:
        report: What was changed for it, one line each.
    """

    def __init__(self, present: tuple[Recording, ...]) -> None:
        trials = [recording.trial for recording in present]
        self._systems = {trial.system.name: trial.system.factors for trial in trials}
        self._position = max((trial.position for trial in trials), default=-1) + 1
        self._repetitions: dict[tuple[str, str, LevelRecord], int] = {}
        for trial in trials:
            self._count(trial)
        self._before = dict(self._repetitions)
        self.report: list[str] = []

    def place(self, trial: TrialRecord) -> TrialRecord:
        """The trial with the name, position and repetition that it has in the study."""
        name = name_beside(trial.system.name, trial.system.factors, self._systems)
        self._systems[name] = trial.system.factors
        if name != trial.system.name:
            self._say(f"system {name}: the study has another system called {trial.system.name}")
        system = trial.system.model_copy(update={"name": name})
        placed = trial.model_copy(update={"system": system, "position": self._position})
        self._position += 1
        cell = (name, trial.workload.name, trial.level)
        if cell in self._before:
            self._say(
                f"system {name}, {trial.level.connections} connections: the study has other results for it; these are "
                "added as repetitions. If this file corrects an earlier one, import all files into a new study"
            )
        placed = placed.model_copy(update={"repetition": self._repetitions.get(cell, 0)})
        self._count(placed)
        return placed

    def _count(self, trial: TrialRecord) -> None:
        cell = (trial.system.name, trial.workload.name, trial.level)
        self._repetitions[cell] = max(self._repetitions.get(cell, 0), trial.repetition + 1)

    def _say(self, line: str) -> None:
        if line not in self.report:
            self.report.append(line)
