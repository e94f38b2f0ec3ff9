"""A whole study: blocks in order, exactly one system running at a time, resume, a bounded number of failures.

Ctrl-C, SIGTERM or a crash at any instant loses at most the running trial: every finished one is committed, and running
the same study again does what is missing or failed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.executable import find_engine
from plimsoll.errors import HostError, PlimsollError, StorageError, TargetError
from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.record.model import Outcome, Verdict
from plimsoll.record.recovery import recover
from plimsoll.record.store import refuse_newer_study
from plimsoll.run import folder as study_folder
from plimsoll.run.environment import Surveyor
from plimsoll.run.events import Event, EventLog, MachineMeasured, StudyBegan, StudyEnded, SystemBegan, TrialBegan
from plimsoll.run.history import read_history
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.machines import Machines
from plimsoll.run.planning import plan_study
from plimsoll.run.preflight import refuse_before_start
from plimsoll.run.progressing import TrialTask, data_progressed
from plimsoll.run.session import Session
from plimsoll.run.systems import System, open_system
from plimsoll.run.trial import TrialRunner
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.sweep import sweep
from plimsoll.spec.statements import data_sets
from plimsoll.spec.study import StudySpec

FAILURES_IN_A_ROW_MAX = 3
"""A study whose trials keep failing has one cause; it stops and says it."""


PACE_AFTER_TRIALS = 4
"""After so many trials their own pace is a better guess than the plan's."""


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What became of a study.

    Attributes:
        complete_count: Trials whose recordings can be used.
        failed_count: Trials that failed or are invalid; running the study again tries them again.
        missing_count: Trials that did not run.
    """

    complete_count: int
    failed_count: int
    missing_count: int


def run_study(file: Path, spec: StudySpec, folder: Path, watch: Callable[[Event], None]) -> StudyResult:
    """Runs what is missing of a study.

    Args:
        file: The study file; its text is kept in the folder.
        spec: What it says.
        folder: Where everything about the study is kept.
        watch: Is told of every event.

    Raises:
        SpecError, TargetError, HostError: It could not begin, or could not go on.
        RecordError: A newer Plimsoll wrote something in the folder.
        KeyboardInterrupt: Somebody stopped it; all finished trials are kept.
    """
    plan_study(spec)
    find_engine()
    with study_folder.opened(folder, file, spec) as opened:
        for base_dir in {
            default_base_dir(),
            *(Path(s.server.data_dir) for s in spec.system if s.server and s.server.data_dir),
        }:
            sweep(base_dir)
        refuse_newer_study(folder)
        recover(folder)
        planned = plan_study(spec, folder)
        plan = planned.plan
        opened.keep(plan)
        todo = [trial for trial in plan.trials if trial.trial_id not in planned.finished]
        if todo:
            refuse_before_start(spec, folder, len(todo), watch)
        log = EventLog(folder / study_folder.EVENTS_FILE, watch, opened.held.refuse_moved)
        try:
            return _Run(spec, plan, folder, log, planned.finished).run(todo, planned.unplanned_count)
        except StorageError:
            opened.held.refuse_moved()  # which says more than a file that is not there
            raise
        finally:
            log.close()


class _Run:
    """One going through a plan."""

    def __init__(self, spec: StudySpec, plan: Plan, folder: Path, log: EventLog, finished: set[str]) -> None:
        self._spec, self._plan, self._folder, self._log, self._finished = spec, plan, folder, log, finished
        self._systems: dict[str, System] = {}
        self._failed: set[str] = set()
        self._failures_in_a_row = 0
        self._todo_count, self._began_s = 0, 0.0
        self._driver = LocalDriver()
        self._machines = Machines(folder, self._say_measured)
        self._runner = TrialRunner(self._driver, Surveyor(), log)
        self._session = Session(read_history(folder, (trial.trial_id for trial in plan.trials)))

    def run(self, todo: list[PlannedTrial], unplanned_count: int) -> StudyResult:
        """Runs all trials that are to do, block by block; says how many recordings are no part of the plan."""
        self._todo_count, self._began_s = len(todo), time.monotonic()
        self._log.say(
            StudyBegan(
                study=self._spec.study.name,
                trial_count=len(self._plan.trials),
                finished_count=len(self._plan.trials) - len(todo),
                unplanned_count=unplanned_count,
                estimated_s=self._remaining_s(len(todo)),
            )
        )
        remaining, reason = len(todo), None
        try:
            for _, block in itertools.groupby(todo, key=lambda trial: trial.block):
                trials = list(block)
                with self._started(trials[0]) as system:
                    for index, planned in enumerate(trials):
                        self._run_trial(planned, system, first=index == 0, remaining=remaining)
                        remaining -= 1
        except KeyboardInterrupt:
            reason = "interrupted"
            raise
        except PlimsollError as error:
            reason = str(error)
            raise
        finally:
            result = self._result()
            for system in self._systems.values():
                system.close()
            counts = {name: getattr(result, name) for name in result.__slots__}
            self._log.say_last(StudyEnded(**counts, reason=reason))
        return result

    def _say_measured(self, folder: Path, reason: str) -> None:
        self._log.say(MachineMeasured(folder=str(folder), reason=reason))

    @contextmanager
    def _started(self, first: PlannedTrial) -> Iterator[System]:
        """The system of a block, running; afterwards it is cleanly stopped."""
        spec = next(system for system in self._spec.system if system.name == first.system)
        if spec.name not in self._systems:
            self._systems[spec.name] = open_system(
                spec, self._keeper(spec.name), self._machines, resets=self._spec.reset_of(spec) != "never"
            )
        system = self._systems[spec.name]
        self._log.say(SystemBegan(system=spec.name, block=first.block))
        system.start()
        try:
            yield system
        finally:
            system.stop()

    def _keeper(self, system: str) -> DataKeeper:
        """Keeps the rows of a system."""
        return DataKeeper(
            driver=self._driver,
            data_sets=data_sets(self._spec.workload),
            changing=self._changes_row_count,
            progress=lambda progress: self._log.say(data_progressed(system, progress)),
        )

    @property
    def _changes_row_count(self) -> bool:
        return any(workload.changes_row_count for workload in self._spec.workload)

    def _run_trial(self, planned: PlannedTrial, system: System, *, first: bool, remaining: int) -> None:
        position = self._plan.trials.index(planned)
        self._log.say(
            TrialBegan(
                **planned.model_dump(
                    include={"trial_id", "system", "workload", "connections", "rate_tps", "repetition"}
                ),
                position=position + 1,
                remaining_s=self._remaining_s(remaining),
            )
        )
        task = TrialTask(
            folder=self._folder,
            study=self._spec.study,
            planned=planned,
            workload=next(w for w in self._spec.workload if w.name == planned.workload),
            system=system,
            resets=self._resets_now(planned, first=first),
            changing=self._changes_row_count,
            position=position,
            session=self._session,
        )
        self._count(planned, self._runner.run(task), system)

    def _resets_now(self, planned: PlannedTrial, *, first: bool) -> bool:
        """Whether data is put back before this trial. What was never used needs no reset."""
        spec = next(system for system in self._spec.system if system.name == planned.system)
        return {"per_trial": True, "per_system": first, "never": False}[self._spec.reset_of(spec)]

    def _count(self, planned: PlannedTrial, outcome: Outcome, system: System) -> None:
        """Counts a trial; after a failure the system is started anew, and after several the study stops."""
        if outcome.verdict is Verdict.COMPLETE:
            self._finished.add(planned.trial_id)
            self._failures_in_a_row = 0
            return
        self._failed.add(planned.trial_id)
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= FAILURES_IN_A_ROW_MAX:
            raise TargetError(
                f"{self._failures_in_a_row} trials failed one after the other, the last one: {outcome.reason}"
                " - mend it and run the same command again: finished trials are kept"
            )
        if outcome.verdict is Verdict.FAILED:
            try:
                system.stop()
                system.start()
            except PlimsollError as error:
                raise HostError(
                    f"{planned.system}: could not be started again after a failed trial: {error}"
                ) from error

    def _remaining_s(self, trial_count: int) -> float:
        """How long so many trials will take: at the pace so far, at first at that of the plan."""
        ran = self._todo_count - trial_count
        if ran >= PACE_AFTER_TRIALS:
            return (time.monotonic() - self._began_s) / ran * trial_count
        return self._plan.estimates.total_s * trial_count / max(len(self._plan.trials), 1)

    def _result(self) -> StudyResult:
        planned = {trial.trial_id for trial in self._plan.trials}
        complete, failed = len(planned & self._finished), len(planned & self._failed)
        return StudyResult(complete, failed, len(planned) - complete - failed)
