"""The trials that run in a folder, followed second by second from their files.

What came before somebody looked is read from the segments of the recording, what comes now from its live file. A trial
that has ended stays as it was last, until another one begins. Deliberately not here: the study around them
(`standing`).
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from plimsoll.errors import RecordError
from plimsoll.record.files import partials, read_document
from plimsoll.record.model import TrialRecord
from plimsoll.run.live import LiveReader
from plimsoll.serve.course import Course
from plimsoll.serve.moments import of_live, tables_of_partial


class FollowedTrial:
    """One trial.

    Attributes:
        trial: What it is; None where nothing says so yet.
        course: How it goes.
    """

    def __init__(self, folder: Path) -> None:
        """Takes the folder of its partial recording."""
        self.folder = folder
        self.trial: TrialRecord | None = None
        self.course = Course()
        self._reader = LiveReader(folder)

    def read_on(self) -> bool:
        """Takes in what is new; whether there was anything."""
        intervals = self._reader.take()
        if self.trial is None or (intervals and not self.trial.states):
            with contextlib.suppress(RecordError):
                self.trial = read_document(self.folder / "trial.json", TrialRecord)
        if intervals and intervals[0].index > self.course.last_index + 1:
            self._catch_up(intervals[0].index, intervals[0].measured_from)
        for interval in intervals:
            self.course.add(of_live(interval))
        return bool(intervals)

    def _catch_up(self, before: int, measured_from: int | None) -> None:
        """Takes in earlier intervals from the segments; a segment that is gone or half there costs its intervals."""
        with contextlib.suppress(RecordError):
            for moment in tables_of_partial(self.folder, measured_from).moments():
                if moment.index >= before:
                    break
                self.course.add(moment)


class FollowedFolder:
    """All trials that run in a folder: one, or in a duet one for each system."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder of a study, or of runs."""
        self._folder = folder
        self._trials: dict[Path, FollowedTrial] = {}

    def read_on(self) -> list[FollowedTrial]:
        """Those that have load, after taking in what is new; where none has any more, the last that had."""
        there = partials(self._folder)
        for path in there:
            if path not in self._trials:
                self._trials[path] = FollowedTrial(path)
        for trial in self._trials.values():
            trial.read_on()
        loaded = [trial for trial in self._trials.values() if trial.course.points_count]
        running = [trial for trial in loaded if trial.folder in there]
        shown = running or loaded[-1:]
        self._trials = {path: trial for path, trial in self._trials.items() if path in there or trial in shown}
        return shown


def trial_document(trial: TrialRecord | None, trial_id: str) -> dict[str, Any]:
    """What a page says of a trial besides its course."""
    if trial is None:
        return {"trial_id": trial_id, "system": "", "workload": "", "level": "", "repetition": None, "states": []}
    return {
        "trial_id": trial.trial_id,
        "study": trial.study,
        "system": trial.system.name,
        "workload": trial.workload.name,
        "level": trial.level.label(),
        "repetition": trial.repetition + 1,
        "interval_s": trial.interval_s,
        "states": [{"state": str(mark.state), "began_unix_s": mark.began_unix_s} for mark in trial.states],
    }
