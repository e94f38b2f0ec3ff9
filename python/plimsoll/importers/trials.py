"""Imported trials written into a study, with the logs that the import passed over, so that its guide can name them.

Deliberately not here: reading what others published (`table`, `sysbench`, `tpcc`), the place of a trial (`systems`),
and lines that could not be read: they are told when a log is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pydantic import Field, ValidationError

from plimsoll.errors import RecordError
from plimsoll.importers.systems import Cell, Joiner
from plimsoll.record.document import Document
from plimsoll.record.environment import Environment
from plimsoll.record.files import replace_file, unreadable
from plimsoll.record.model import Outcome, TrialRecord
from plimsoll.record.store import read_study, refuse_newer_study, write_recording
from plimsoll.regular_file import read_regular
from plimsoll.units import printable


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
        systems: What systems of the results are called in the study, by their own names.
        workloads: The same of workloads.
    """

    paths: tuple[Path, ...]
    present_count: int
    report: tuple[str, ...]
    systems: Mapping[str, str]
    workloads: Mapping[str, str]


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
    placed = [joined.place(imported.trial) for imported in new]
    paths = tuple(
        write_recording(
            study,
            trial,
            imported.environment,
            imported.outcome,
            intervals=imported.intervals,
            errors=imported.errors,
            histograms=imported.histograms,
        )
        for imported, trial in zip(new, placed, strict=True)
    )
    keep_skipped(study, result.logs, result.refused)
    report = [*joined.report, *(_more_of(cell) for cell in joined.repeated)]
    return WrittenImport(
        paths,
        len(result.trials) - len(new),
        tuple(report),
        systems={imported.trial.system.name: trial.system.name for imported, trial in zip(new, placed, strict=True)},
        workloads={
            imported.trial.workload.name: trial.workload.name for imported, trial in zip(new, placed, strict=True)
        },
    )


def _more_of(cell: Cell) -> str:
    return (
        f"system {cell[0]}, {cell[2].connections} connections: the study has other results for it; these are added as "
        "repetitions. If this file corrects an earlier one, import all files into a new study"
    )


SKIPPED_FILE = "skipped-logs.json"
_BYTES_MAX = 64 * 2**20


class SkippedLog(Document):
    """A log, or a run in it, of which nothing could be made.

    Attributes:
        log: Its file as the user named it.
        line: The run's first line, counted from 1; None where it is the whole log.
        reason: Why.
    """

    log: str
    line: int | None = None
    reason: str

    @classmethod
    def of(cls, path: Path, reason: str, line: int | None = None) -> SkippedLog:
        """With the name of the file as people can read it."""
        return cls(log=printable(str(path)), line=line, reason=reason)

    @property
    def name(self) -> str:
        """What people find it by."""
        return self.log if self.line is None else f"{self.log}: line {self.line}"

    @property
    def sentence(self) -> str:
        """For the person who imports it."""
        return f"{self.name}: {self.reason}"


class _SkippedLogs(Document):
    skipped: tuple[SkippedLog, ...] = Field(default=())


@dataclass(frozen=True, slots=True)
class MissingLog:
    """A skipped log as the analysis takes what is missing.

    Attributes:
        trial_id: What people find it by.
        path: Where that is written.
    """

    trial_id: str
    path: Path
    reason: str


def keep_skipped(folder: Path, imported: Iterable[Path], skipped: Sequence[SkippedLog]) -> None:
    """Adds what an import passed over; of the logs that it read, nothing older stays.

    Raises:
        RecordError: What is there cannot be read.
        HostError: It cannot be written.
    """
    read = {printable(str(path)) for path in imported}
    before = tuple(skipped_log for skipped_log in _read(folder) if skipped_log.log not in read)
    file = folder / SKIPPED_FILE
    if not skipped and not file.exists():
        return
    text = _SkippedLogs(skipped=(*before, *skipped)).model_dump_json(indent=1)
    replace_file(file, text, "free space or choose another folder")


def missing_logs(folder: Path) -> tuple[MissingLog, ...]:
    """What the imports of a study passed over, in their order.

    Raises:
        RecordError: It cannot be read.
    """
    return tuple(
        MissingLog(skipped_log.name, folder / SKIPPED_FILE, f"skipped: {skipped_log.reason}")
        for skipped_log in _read(folder)
    )


def _read(folder: Path) -> tuple[SkippedLog, ...]:
    file = folder / SKIPPED_FILE
    try:
        return _SkippedLogs.model_validate_json(read_regular(file, _BYTES_MAX)).skipped
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise unreadable(file, error) from None
    except ValidationError:
        raise RecordError(f"{file}: is damaged; remove it, and import the logs again") from None
