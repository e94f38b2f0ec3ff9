"""A whole study: blocks in order, exactly one system running at a time, resume, a bounded number of failures.

Ctrl-C, SIGTERM or a crash at any instant loses at most the running trial: every finished one is committed, and running
the same study again does what is missing or failed.

Trials whose machine was slow or disturbed are measured again after the plan is done while the budget leaves time. Which
trials these are follows from the recordings of the folder alone, so that a study that was stopped goes on with the same
ones. A trial is measured again once; the repeat counts, whatever its weather was (`analyse.trial.trial_summary`). Runs
of a search are left out: what they found decided which run came next. Deliberately not here: how a trial is run
(`execution`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.analyse.study.conditions import to_measure_again
from plimsoll.analyse.trial.trial_summary import TrialSummary, summarise
from plimsoll.drive.executable import find_engine
from plimsoll.errors import PlimsollError, RecordError, StorageError
from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.record.model import Verdict
from plimsoll.record.partial import recover
from plimsoll.record.store import each_recording, refuse_newer_study
from plimsoll.run import folder as study_folder
from plimsoll.run.environments import Hosts, Switcher, Turn, there_from_the_start, turn_now
from plimsoll.run.events import EnvironmentTurn, Event, EventLog, StudyBegan, StudyEnded, storage_measured
from plimsoll.run.execution import Execution
from plimsoll.run.folder import folder_of_file
from plimsoll.run.hooks import HookPlace
from plimsoll.run.planning import PlannedStudy, plan_study, was_fitted
from plimsoll.run.preflight import EqualMachines, StudyPreflight, look_at_machines, refuse_before_start
from plimsoll.run.server_faults import shared_devices
from plimsoll.run.session import read_history
from plimsoll.run.stopping_rule import Answering, until
from plimsoll.run.storage import measure_study
from plimsoll.run.study_searches import StudySearches
from plimsoll.run.survey import driver_of
from plimsoll.spec.study import StudySpec


def run_study(
    file: Path,
    spec: StudySpec,
    folder: Path,
    watch: Callable[[Event], None],
    *,
    strict: bool = False,
    fit_budget: bool = False,
    environment: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> StudyResult:
    """Runs what is missing of a study.

    Args:
        file: The study file; its text is kept in the folder.
        spec: What it says.
        folder: Where everything about the study is kept.
        watch: Is told of every event.
        strict: Refuse to measure if pre-flight findings make figures wrong or uncertain.
        fit_budget: Whether repetitions are reduced where the plan would take longer than the budget.
        environment: The one that is there, where environments are switched by hand; None to find it by checks.
        labels: What the user says of the version that is measured; None for those of the trials that are there.

    Raises:
        SpecError, TargetError, HostError: It could not begin, or could not go on.
        RecordError: A newer Plimsoll wrote something in the folder.
        KeyboardInterrupt: Somebody stopped it; all finished trials are kept.
    """
    plan_study(spec, fit_budget=fit_budget or was_fitted(spec, folder))
    find_engine()
    with (
        study_folder.opened(folder, file, spec) as opened,
        Hosts() as hosts,
        driver_of(spec.study.drivers, spec.study.client_cpus) as driver,
    ):
        refuse_newer_study(folder)
        recover(folder)
        planned = plan_study(spec, folder, fit_budget=fit_budget)
        history = read_history(folder, (trial.trial_id for trial in planned.plan.trials))
        history.refuse_other_labels(labels or {}, folder)
        spec = planned.spec
        opened.keep(planned.plan)
        place = HookPlace(study=spec.study.name, folder=folder_of_file(folder, file), say=watch)
        turn, todo = turn_now(spec, planned, folder, place, environment), planned.missing
        if turn is not None:
            todo = list(turn.todo)
            spec = spec.model_copy(
                update={"system": tuple(system for system in spec.system if system.environment == turn.environment)}
            )
        hosts.sweep(there_from_the_start(spec))
        if todo or planned.plan.searches:
            refuse_before_start(spec, folder, len(todo), watch, hosts=hosts, driver=driver, hooks_folder=place.folder)
        log = EventLog(folder / study_folder.EVENTS_FILE, watch, opened.held.refuse_moved)
        try:
            for shared in shared_devices(spec):
                log.say(shared)
            preflight = StudyPreflight(spec, folder, log, hosts, strict=strict)
            switcher = Switcher(spec, replace(place, say=log.say), hosts)
            if todo or planned.plan.searches:
                look_at_machines(spec, todo, switcher, preflight, EqualMachines(planned.spec, history))
            execution = Execution(
                spec, planned, folder, log, preflight=preflight, hosts=hosts, driver=driver,
                switcher=switcher, history=history, labels=labels,
            )  # fmt: skip
            return Course(spec, planned, folder, log, opened.keep, execution=execution, turn=turn).run()
        except StorageError:
            opened.held.refuse_moved()  # which says more than a file that is not there
            raise
        finally:
            log.close()


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
            measure_study(
                self._spec.storage,
                self._folder,
                lambda record, measurement: self._log.say(storage_measured(record, measurement)),
            )
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
        for _, trials in itertools.groupby(self._todo, key=lambda trial: trial.repetition):
            repetition = list(trials)
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
        cells = [list(trials) for _, trials in itertools.groupby(again, key=lambda trial: trial.block)]
        with ExitStack() as stack:
            for trial in cells[0]:
                stack.enter_context(self._execution.started(trial))
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
        """Measures trials again whose machine was slow or disturbed, while the budget leaves time for a whole one.

        Not in a study that goes on until its answer is decided: which trials were slow is seen beside all the others,
        so it changes from look to look, and a repeat would change values after the look that ended the study.
        """
        execution, study = self._execution, self._spec.study
        if execution.budget.left_s is None or execution.failed or study.is_duet or study.is_until_decided:
            return
        here = {system.name for system in self._spec.system}
        again = [trial for trial in trials_to_repeat(self._folder, execution.plan) if trial.system in here]
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


def trials_to_repeat(folder: Path, plan: Plan) -> list[PlannedTrial]:
    """The trials of a plan that are to be measured again, by system, each system a block.

    Args:
        folder: Of the study.
        plan: All of whose trials have run.
    """
    planned = {trial.trial_id: trial for trial in plan.trials if trial.search_id is None}
    summaries, repeated = _read(folder, planned.keys())
    slow = to_measure_again(summaries)
    again = [trial for trial_id, trial in planned.items() if trial_id in slow and trial_id not in repeated]
    systems = list(dict.fromkeys(trial.system for trial in again))
    first = max((trial.block for trial in plan.trials), default=-1) + 1
    return sorted((trial.again(first + systems.index(trial.system)) for trial in again), key=lambda trial: trial.block)


def _read(folder: Path, planned: Collection[str]) -> tuple[list[TrialSummary], set[str]]:
    """What is known of complete trials of the plan, and which were measured again already, complete or not."""
    summaries: list[TrialSummary] = []
    repeated: set[str] = set()
    for recording in each_recording(folder):
        if recording.trial.repeats is not None:
            repeated.add(recording.trial.repeats)
        elif recording.trial.trial_id in planned and recording.outcome.verdict is Verdict.COMPLETE:
            try:
                summary = summarise(recording)
            except RecordError:
                continue  # damage is told by whoever reads it
            summaries += [] if summary is None else [summary]
    return summaries, repeated
