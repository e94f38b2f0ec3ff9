"""What crashed writers left in a study: made whole where something was measured, removed where nothing was.

Only for the one process that holds the study's lock: the partial recording of another writer would be lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from plimsoll.errors import NewerFormatError, RecordError
from plimsoll.record.content import read_document, refuse_newer
from plimsoll.record.environment import Environment
from plimsoll.record.files import remove_directory, storing
from plimsoll.record.folders import PREFIX, recordings_folder
from plimsoll.record.model import Outcome, TrialRecord, Verdict, Window
from plimsoll.record.partial import DRAFT_FILE, PartialRecording
from plimsoll.record.store import intact_outcome, verdict_of
from plimsoll.record.tables import TABLES
from plimsoll.units import format_duration


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
        found = [_recovered(path) for path in sorted(folder.glob(f"{PREFIX}*"))]
    return tuple(one for one in found if one is not None)


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
