"""A study that goes on until its answer is decided: what its recordings say, and when it stops.

Everything follows from the folder: the recordings decide, and the events tell how long the study has run already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from plimsoll.analyse.deciding import (
    REPETITIONS_MIN,
    CellKey,
    Interim,
    complete_repetitions,
    decided_after,
    interim,
    questions,
)
from plimsoll.analyse.window import counts_of
from plimsoll.errors import RecordError
from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.prose.interim import interim_lines
from plimsoll.record.model import Verdict
from plimsoll.record.partial import recordings_folder
from plimsoll.record.store import read_recording
from plimsoll.run.answer_events import AnswerProgressed
from plimsoll.run.events import StudyBegan, read_events
from plimsoll.run.folder import EVENTS_FILE
from plimsoll.spec.study import StudySpec


class Answering:
    """What is known of a study's questions, repetition after repetition."""

    def __init__(self, spec: StudySpec, folder: Path, plan: Plan) -> None:
        """Of all trials of a plan that may go on to its limit."""
        self._spec, self._folder = spec, folder
        self._trials = {trial.trial_id: trial for trial in plan.trials}
        self._asked = questions(
            [system.name for system in spec.system],
            [workload.name for workload in spec.workload],
            spec.study.levels.levels,
        )
        self._cells: dict[CellKey, dict[int, float]] = defaultdict(dict)
        self._read_ids: set[str] = set()

    def read(self, trial_ids: Iterable[str]) -> None:
        """Takes in the complete recordings among these trials."""
        for trial_id in trial_ids:
            if trial_id in self._trials and trial_id not in self._read_ids:
                self._read_ids.add(trial_id)
                self._read(self._trials[trial_id])

    def _read(self, planned: PlannedTrial) -> None:
        try:
            recording = read_recording(recordings_folder(self._folder) / planned.trial_id)
            intervals = recording.intervals() if recording.outcome.verdict is Verdict.COMPLETE else None
        except RecordError:
            return  # it is measured again
        if intervals is None:
            return
        counts = counts_of(recording.trial, recording.outcome, intervals)
        if counts is not None:
            key = CellKey(planned.system, planned.workload, planned.level)
            self._cells[key][planned.repetition] = counts.throughput_tps

    @property
    def interim(self) -> tuple[Interim, ...]:
        """What is known of each question."""
        return interim(self._asked, self._cells, equal_within=self._spec.study.equal_within)

    @property
    def decided_after(self) -> int | None:
        """After so many repetitions of the plan everything was decided; None while it is not."""
        return decided_after(self._asked, self._cells, equal_within=self._spec.study.equal_within)

    @property
    def complete_count(self) -> int:
        """How many repetitions lack no trial."""
        return len(complete_repetitions(self._asked, self._cells))

    def is_over_budget(self) -> bool:
        """Whether another repetition would take the study beyond its budget; not before any answer is possible."""
        budget_s, count = self._spec.study.budget, self.complete_count
        if budget_s is None or count < REPETITIONS_MIN:
            return False
        so_far_s = ran_s(self._folder)
        return so_far_s + so_far_s / count > budget_s

    def progress(self) -> AnswerProgressed:
        """What is known now, as an event."""
        found, is_duet = self.interim, self._spec.study.is_duet
        more = [one.more for one in found]
        return AnswerProgressed(
            is_duet=is_duet,
            repetitions=self.complete_count,
            is_decided=self.decided_after is not None,
            more_max=None if None in more else max((one for one in more if one is not None), default=None),
            text=interim_lines(found, self._spec.study.equal_within, is_duet=is_duet),
        )


def until_decided(plan: Plan, decided: int | None) -> Plan:
    """The plan without the repetitions that the answer no longer needs."""
    if decided is None:
        return plan
    return plan.model_copy(update={"trials": tuple(one for one in plan.trials if one.repetition < decided)})


def ran_s(folder: Path) -> float:
    """How long a study has run, all its runs together, seconds."""
    began, last, total = None, 0.0, 0.0
    for stamped in read_events(folder / EVENTS_FILE):
        if isinstance(stamped.event, StudyBegan):
            total += last - began if began is not None else 0.0
            began = stamped.unix_s
        last = stamped.unix_s
    return total + (last - began if began is not None else 0.0)
