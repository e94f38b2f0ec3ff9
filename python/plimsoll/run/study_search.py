"""Searches for capacities within a study: each step becomes a trial of the plan, or is read where it was recorded.

A search that was cut short needs no state of its own: the same steps have the same trial ids, so that it goes through
what is recorded at once and goes on where it stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plimsoll.analyse.capacity_run import judged_run
from plimsoll.analyse.machine_seconds import MachineSeconds
from plimsoll.errors import InvalidTrialError, NothingCompletedError, RecordError
from plimsoll.plan.capacity import Step
from plimsoll.plan.model import PlannedSearch, PlannedTrial
from plimsoll.plan.searches import search_settings, searched_trial
from plimsoll.record.capacity import Capacity, CapacityRun, SearchRecord
from plimsoll.record.folders import recordings_folder
from plimsoll.record.model import Outcome, Verdict
from plimsoll.record.store import read_recording
from plimsoll.run.events import EventLog
from plimsoll.run.search_events import SearchBegan, SearchEnded, SearchProgressed, SearchStopped
from plimsoll.run.searching import Search, Searched, keep_search
from plimsoll.spec.study import StudySpec

RunTrial = Callable[[PlannedTrial, bool], Outcome]
"""Runs one trial and says what became of it; the flag says that the run before overloaded the system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySearch:
    """One search of a study.

    Attributes:
        folder: Of the study.
        finished: Ids of trials with a complete recording.
        run_trial: Runs a trial; raises where the study cannot go on.
    """

    spec: StudySpec
    folder: Path
    planned: PlannedSearch
    finished: set[str]
    log: EventLog
    run_trial: RunTrial

    def run(self) -> Capacity:
        """Searches to the end, from whatever is recorded.

        Raises:
            InvalidTrialError: A run must not be believed, or nothing completed in the sweep. This search stopped, and
                its record says why; others can go on.
            PlimsollError: The study could not go on.
            KeyboardInterrupt: Somebody ended it; what is recorded is found again.
        """
        self.log.say(SearchBegan(**self.place))
        study = self.spec.study
        warm_up_s = study.warm_up_limit / 4 if study.warm_up is None else study.warm_up
        search = Search(
            search_settings(self.spec),
            lambda searched: self._told(search, searched),
            warm_up_s=warm_up_s,
        )
        machines: list[MachineSeconds] = []
        try:
            found = search.run(lambda step: self.execute(step, machines))
        except InvalidTrialError as error:
            self.keep(search.so_far, is_finished=False, stopped=str(error))
            self.log.say(SearchStopped(**self.place, reason=str(error)))
            raise
        self.keep(found, is_finished=True)
        self.log.say(SearchEnded(**self.place, capacity_tps=found.capacity_tps, objective=found.objective))
        return found

    def is_recorded(self, step: Step) -> bool:
        """Whether a step need not run again."""
        return self._trial(step).trial_id in self.finished

    def execute(self, step: Step, machines: list[MachineSeconds]) -> CapacityRun:
        """Runs a step, or reads it where it is recorded.

        Args:
            step: What to run.
            machines: What the machine did in the runs before it; what it did in this one is added, where it is known.

        Raises:
            InvalidTrialError: Its run must not be believed.
            NothingCompletedError: Nothing completed in it.
            PlimsollError: The study could not go on.
        """
        trial = self._trial(step)
        if trial.trial_id in self.finished:
            try:
                return self._judged(trial, step, machines)
            except RecordError:
                self.finished.discard(trial.trial_id)  # it was damaged since; it is measured again
        while trial.trial_id not in self.finished:
            outcome = self.run_trial(trial, step.after_overload)
            if outcome.nothing_completed:
                raise NothingCompletedError(outcome.reason or "", trial_id=trial.trial_id)
            if outcome.verdict is Verdict.INVALID:
                raise InvalidTrialError(f"{trial.trial_id} is invalid: {outcome.reason}")
        return self._judged(trial, step, machines)

    def _judged(self, trial: PlannedTrial, step: Step, machines: list[MachineSeconds]) -> CapacityRun:
        recording = read_recording(recordings_folder(self.folder) / trial.trial_id)
        return judged_run(recording, step.role, search_settings(self.spec).objective, machines, pair=step.ordinal)

    def _trial(self, step: Step) -> PlannedTrial:
        system = next(one for one in self.spec.system if one.name == self.planned.system)
        return searched_trial(self.planned, step, instances=system.instances)

    def _told(self, search: Search, searched: Searched) -> None:
        self.keep(search.so_far, is_finished=False)
        self.log.say(
            SearchProgressed(
                **self.place,
                run=searched.run,
                low_tps=searched.low_tps,
                high_tps=searched.high_tps if math.isfinite(searched.high_tps) else None,
                remaining_s=searched.remaining_s,
            )
        )

    def keep(self, found: Capacity, *, is_finished: bool, stopped: str | None = None) -> None:
        """Writes down what is known; raises as `keep_search`."""
        keep_search(self.folder, self.record(found, is_finished=is_finished, stopped=stopped))

    def record(self, found: Capacity, *, is_finished: bool, stopped: str | None = None) -> SearchRecord:
        """What is known, as it is written down."""
        return SearchRecord(**self.place, is_finished=is_finished, stopped=stopped, capacity=found)

    @property
    def place(self) -> dict[str, object]:
        """Which search it is: names and the repetition."""
        return self.planned.model_dump(include={"search_id", "system", "workload", "repetition"})
