"""One going through the plan of a study: what comes next, and when it is enough.

Deliberately not here: what has to be there before (`study`), and how a trial is run (`execution`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import PlimsollError
from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.run.deciding import Answering, until
from plimsoll.run.environments import Turn
from plimsoll.run.events import EventLog, StudyBegan, StudyEnded
from plimsoll.run.execution import Execution
from plimsoll.run.hook_events import EnvironmentTurn
from plimsoll.run.planning import PlannedStudy
from plimsoll.run.repeats import trials_to_repeat
from plimsoll.run.storage import measure_study
from plimsoll.run.storage_events import told
from plimsoll.run.study_searches import StudySearches
from plimsoll.spec.study import StudySpec


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What became of a study.

    Attributes:
        complete_count: Trials whose recordings can be used.
        failed_count: Trials that failed or are invalid; running the study again tries them again.
        missing_count: Trials that did not run.
        following: With environments that are switched by hand: the one that the user switches to next; None for none.
    """

    complete_count: int
    failed_count: int
    missing_count: int
    following: str | None = None


class Course:
    """One going through a plan: what comes next."""

    def __init__(
        self,
        spec: StudySpec,
        planned: PlannedStudy,
        folder: Path,
        log: EventLog,
        keep: Callable[[Plan], None],
        *,
        execution: Execution,
        turn: Turn | None,
    ) -> None:
        self._spec, self._folder, self._log, self._keep = spec, folder, log, keep
        self._turn = turn
        self._todo = planned.missing if turn is None else list(turn.todo)
        self._finished_count = len(planned.finished)
        self._unplanned_count, self._is_over_budget = planned.unplanned_count, planned.is_over_budget
        self._left = len(self._todo)
        self._execution = execution
        self._answering = _answering(spec, folder, planned)
        self._searches = StudySearches(spec, folder, log, execution, self._keep_plan)

    def run(self) -> StudyResult:
        """Runs all trials that are to do, repetition by repetition; then searches, and repeats of trials."""
        plan, reason = self._execution.plan, None
        self._log.say(
            StudyBegan(
                study=self._spec.study.name,
                trial_count=len(plan.trials),
                finished_count=self._finished_count,
                unplanned_count=self._unplanned_count,
                searches_count=len(plan.searches),
                is_until_decided=self._answering is not None,
                estimated_s=plan.estimates.total_s if plan.searches else self._execution.remaining_s(len(self._todo)),
            )
        )
        if self._turn is not None:
            self._log.say(EnvironmentTurn(environment=self._turn.environment, trial_count=len(self._todo)))
        try:
            measure_study(self._spec.storage, self._folder, lambda record, one: self._log.say(told(record, one)))
            self._run_repetitions()
            self._searches.run()
            self._repeat()
            self._execution.keep_data()
            reason = self._searches.why_stopped
        except KeyboardInterrupt:
            reason = "interrupted"
            raise
        except PlimsollError as error:
            reason = str(error)
            raise
        finally:
            result = self._result()
            self._execution.close()
            counts = {name: getattr(result, name) for name in result.__slots__ if name.endswith("_count")}
            self._log.say_last(StudyEnded(**counts, reason=reason))
        return result

    def _run_repetitions(self) -> None:
        """Runs what is missing, until the study's questions are answered where it goes on for so long."""
        if self._answering is not None:
            self._left = min(self._answering.trials_left, len(self._todo))
            if self._is_over_budget:
                self._log.say(self._answering.progress(self._execution.budget))
        for _, own in itertools.groupby(self._todo, key=lambda trial: trial.repetition):
            repetition = list(own)
            if self._spec.study.is_duet:
                self._run_round(repetition)
            else:
                self._run_repetition(repetition)
            if self._is_answered():
                break

    def _run_repetition(self, repetition: Sequence[PlannedTrial]) -> None:
        """Runs what is missing of a repetition, system by system."""
        for _, block in itertools.groupby(repetition, key=lambda trial: trial.block):
            trials = list(block)
            with self._execution.started(trials[0]) as system:
                for index, planned in enumerate(trials):
                    self._execution.run_trial(planned, system, first=index == 0, remaining=self._left)
                    self._left = max(self._left - 1, 1)

    def _run_round(self, missing: Sequence[PlannedTrial]) -> None:
        """Runs the cells of a round of which anything is missing: a cell counts for all systems or for none."""
        blocks = {trial.block for trial in missing}
        again = [trial for trial in self._execution.plan.trials if trial.block in blocks]
        cells = [list(own) for _, own in itertools.groupby(again, key=lambda trial: trial.block)]
        with ExitStack() as stack:
            for one in cells[0]:
                stack.enter_context(self._execution.started(one))
            for index, trials in enumerate(cells):
                self._execution.run_turns(trials, first=index == 0, remaining=self._left)
                self._left = max(self._left - len(trials), len(trials))

    def _is_answered(self) -> bool:
        """Whether a study that goes on until its answer is decided stops after this repetition; its plan ends then.

        It also stops when another repetition would take it beyond its budget.
        """
        if self._answering is None:
            return False
        self._answering.read(self._execution.finished)
        self._log.say(self._answering.progress(self._execution.budget))
        end = self._answering.end(self._execution.budget)
        if end is None:
            self._left = self._answering.trials_left
            return False
        self._keep_plan(until(self._execution.plan, end))
        return True

    def _keep_plan(self, plan: Plan) -> None:
        self._execution.plan = plan
        self._keep(plan)

    def _repeat(self) -> None:
        """Measures trials again whose machine was slow, while the budget leaves time for a whole one.

        Not in a study that goes on until its answer is decided: which trials were slow is seen beside all the others,
        so it changes from look to look, and a repeat would change values after the look that ended the study.
        """
        execution, study = self._execution, self._spec.study
        if execution.budget.left_s is None or execution.failed or study.is_duet or study.is_until_decided:
            return
        here = {system.name for system in self._spec.system}
        again = [one for one in trials_to_repeat(self._folder, execution.plan) if one.system in here]
        for _, block in itertools.groupby(again, key=lambda trial: trial.block):
            trials = list(block)
            if not self._has_time():
                return
            with execution.started(trials[0]) as system:
                for index, planned in enumerate(trials):
                    if self._has_time():
                        execution.run_trial(planned, system, first=index == 0, remaining=1)

    def _has_time(self) -> bool:
        return self._execution.budget.has_room_for(self._execution.plan.estimates.trial_s)

    def _result(self) -> StudyResult:
        planned = {trial.trial_id for trial in self._execution.plan.trials}
        complete, failed = len(planned & self._execution.finished), len(planned & self._execution.failed)
        following = None if self._turn is None or failed else self._turn.following
        return StudyResult(complete, failed, len(planned) - complete - failed + self._searches.left_count, following)


def _answering(spec: StudySpec, folder: Path, planned: PlannedStudy) -> Answering | None:
    """What the recordings say already; None for a study with a number of repetitions."""
    if not spec.study.is_until_decided:
        return None
    answering = Answering(spec, folder, planned.plan)
    answering.read(planned.finished)
    return answering
