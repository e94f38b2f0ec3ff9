"""Running trials of a study, one at a time or in turns: which systems are up, what is to be told, what failed.

Deliberately not here: which trials come next (`course`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plimsoll.drive.engine import Driver
from plimsoll.errors import TargetError
from plimsoll.hosts.host import Host
from plimsoll.plan.build import AUTO_DURATION_S
from plimsoll.plan.model import PlannedSearch, PlannedTrial
from plimsoll.record.model import Outcome, Verdict
from plimsoll.run.duet import DuetRunner
from plimsoll.run.environment import Surveyor
from plimsoll.run.environments import Switcher
from plimsoll.run.events import EventLog, MachineMeasured, SystemBegan, TrialBegan
from plimsoll.run.history import History
from plimsoll.run.hooks import SystemHooks
from plimsoll.run.hosts import Hosts
from plimsoll.run.interim import Interim
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.machines import Machines
from plimsoll.run.measuring import trials_sharing
from plimsoll.run.opening import open_system
from plimsoll.run.planning import PlannedStudy
from plimsoll.run.progressing import TrialTask, data_progressed
from plimsoll.run.running_systems import RunningSystems
from plimsoll.run.session import Session
from plimsoll.run.study_preflight import StudyPreflight
from plimsoll.run.systems import ManagedSystem, System
from plimsoll.run.trial import TrialRunner
from plimsoll.spec.paths import AS_USUAL, TableOptions
from plimsoll.spec.statements import data_sets
from plimsoll.spec.study import StudySpec
from plimsoll.spec.study_section import StudySection
from plimsoll.spec.system import SystemSpec

FAILURES_IN_A_ROW_MAX = 3
"""A study whose trials keep failing has one cause; it stops and says it."""

PACE_AFTER_TRIALS = 4
"""After so many trials their own pace is a better guess than the plan's."""


class Execution:
    """Runs trials of a plan.

    Attributes:
        plan: As it is now: it may grow by what a search needs, and end where the answer is decided.
        finished: Ids of trials with a complete recording.
        failed: Ids of trials that failed or are invalid.
        budget: What is left of the study's time.
    """

    def __init__(
        self,
        spec: StudySpec,
        planned: PlannedStudy,
        folder: Path,
        log: EventLog,
        *,
        preflight: StudyPreflight,
        hosts: Hosts,
        driver: Driver,
        switcher: Switcher,
        history: History,
    ) -> None:
        self.plan, self.finished, self.failed = planned.plan, planned.finished, set[str]()
        self.budget = planned.budget
        self._spec, self._folder, self._log = spec, folder, log
        self._preflight = preflight
        self._ran_count, self._began_s = 0, time.monotonic()
        self._systems = RunningSystems(spec, switcher, self._open, self._look, log.say)
        self._failures_in_a_row = 0
        self._driver, self._hosts, self._machines = driver, hosts, dict[Host, Machines]()
        surveyor = self._surveyor = Surveyor()
        self._runner, self._duet = TrialRunner(driver, surveyor, log), DuetRunner(driver, surveyor, log)
        self._session = Session(history)

    def _say_measured(self, folder: Path, reason: str) -> None:
        self._log.say(MachineMeasured(folder=str(folder), reason=reason))

    def close(self) -> None:
        """Removes what the systems left."""
        self._systems.close()

    def keep_data(self) -> None:
        """Keeps data of managed systems, which are stopped, where the study says so.

        Raises:
            HostError: It cannot be kept.
        """
        for system in self._systems.opened:
            if isinstance(system, ManagedSystem) and (kept := system.keep_data()) is not None:
                self._log.say(kept)

    @contextmanager
    def started(self, first: PlannedTrial | PlannedSearch) -> Iterator[System]:
        """The system of a block, running; afterwards it is cleanly stopped.

        Where a hook failed it does not run, and the trials that were to run on it fail.
        """
        self._log.say(SystemBegan(system=first.system, block=first.block))
        system = self._systems.begin_block(first.system, first.repetition)
        try:
            self._systems.look(first.system)
            yield system
        finally:
            self._systems.stop(first.system)

    def _open(self, spec: SystemSpec, hooks: SystemHooks) -> System:
        host = self._hosts.of(spec)
        return open_system(
            spec,
            self._keeper(spec.name),
            self._machines_of(host),
            resets=self._spec.reset_of(spec) != "never",
            together_count=len(self._spec.system) if self._spec.study.is_duet else 1,
            client_cpus=self._spec.study.client_cpus or (),
            host=host,
            hooks=hooks,
            resets_by_hook=self._spec.reset_of(spec) == "hook",
        )

    def _look(self, spec: SystemSpec, system: System, *, is_loaded: bool) -> None:
        """Looks at a system that is up for the first time: before its data is made, and when it is there."""
        self._preflight.judge_system(spec, system, is_loaded=is_loaded)
        if is_loaded:
            self._surveyor.look(system.instances, self._spec.workload)

    def _machines_of(self, host: Host) -> Machines:
        """What servers on a host are sized to."""
        if host not in self._machines:
            self._machines[host] = Machines(self._folder, self._say_measured, host)
        return self._machines[host]

    def _keeper(self, system: str) -> DataKeeper:
        """Keeps the rows of a system."""
        return DataKeeper(
            driver=self._driver,
            data_sets=data_sets(self._spec.workload),
            changing=self._rows_may_differ(system),
            table_options=self._table_options(system),
            progress=lambda progress: self._log.say(data_progressed(system, progress)),
        )

    def _table_options(self, system: str) -> TableOptions:
        servers = {one.name: one.server for one in self._spec.system}
        return server.made_with(server.options) if (server := servers[system]) is not None else AS_USUAL

    def _rows_may_differ(self, system: str) -> bool:
        """Whether a check takes any number of rows: workloads, or those of an earlier study, insert or delete."""
        servers = {one.name: one.server for one in self._spec.system}
        is_aged = (server := servers[system]) is not None and server.aged_data is not None
        return is_aged or any(workload.changes_row_count for workload in self._spec.workload)

    def run_trial(self, planned: PlannedTrial, system: System, *, first: bool, remaining: int) -> Outcome:
        """Runs one trial.

        Args:
            planned: Which.
            system: Its system, running.
            first: Nothing used the system's data since it was started or put back.
            remaining: How many trials are left, this one included.

        Raises:
            TargetError: Several failed one after the other.
            HostError: The system could not be started again after a failure.
        """
        self._log.say(self._began(planned, self.remaining_s(remaining)))
        task = self._task(planned, system, first=first, remaining=remaining)
        why_down = self._systems.why_down(planned.system)
        outcome = self._runner.run(task) if why_down is None else self._runner.fail(task, why_down)
        self._count(planned, outcome)
        self._ran_count += 1
        return outcome

    def run_turns(self, trials: Sequence[PlannedTrial], *, first: bool, remaining: int) -> None:
        """Runs one cell of a round of a duet: its systems, which are all up, take turns.

        Args:
            trials: Of each system one.
            first: As for `run_trial`, as are the errors raised.
            remaining: How many trials are left, these included.
        """
        self._log.say(self._began(trials[0], self.remaining_s(remaining), systems=[one.system for one in trials]))
        systems = [self._systems[one.system] for one in trials]
        tasks = [
            self._task(one, system, first=first, remaining=remaining)
            for one, system in zip(trials, systems, strict=True)
        ]
        interim = Interim(self._folder, self.plan, self._spec, self._log)
        outcomes = self._duet.run_round(tasks, interim.in_round)
        failures = self._failures_in_a_row
        for planned, outcome in zip(trials, outcomes, strict=True):
            self._failures_in_a_row = failures  # those of one round are one failure
            self._count(planned, outcome)
        self._ran_count += len(trials)
        interim.after_round(trials[0])

    def _began(self, planned: PlannedTrial, remaining_s: float, systems: Sequence[str] = ()) -> TrialBegan:
        """The event that tells of a trial, or of the trials of systems that take turns as one."""
        names = {"trial_id", "workload", "connections", "rate_tps", "repetition"}
        return TrialBegan(
            **planned.model_dump(include=names),
            system=" and ".join(systems) or planned.system,
            is_duet=bool(systems),
            position=self._position(planned) + 1,
            remaining_s=remaining_s,
        )

    def _task(self, planned: PlannedTrial, system: System, *, first: bool, remaining: int) -> TrialTask:
        later = self.plan.trials[self._position(planned) :]
        sharing = min(remaining, trials_sharing(self._spec.study, planned, later))
        return TrialTask(
            folder=self._folder,
            study=self._study_of(planned),
            planned=planned,
            workload=next(w for w in self._spec.workload if w.name == planned.workload),
            system=system,
            resets=self._resets_now(planned, first=first),
            changing=self._rows_may_differ(planned.system),
            table_options=self._table_options(planned.system),
            position=self._position(planned),
            session=self._session,
            limit_s=self.budget.share_s(sharing, self.plan.estimates.trial_s - AUTO_DURATION_S),
            system_count=len(self._spec.system),
            hooks=self._systems.hooks(planned.system),
            reads=next(one.reads for one in self._spec.system if one.name == planned.system),
        )

    def _position(self, planned: PlannedTrial) -> int:
        """Place in the study's order, from 0; repeats come after the plan."""
        ids = [trial.trial_id for trial in self.plan.trials]
        if planned.repeats is not None:
            return len(ids) + ids.index(planned.repeats)
        return ids.index(planned.trial_id)

    def _study_of(self, planned: PlannedTrial) -> StudySection:
        """What the study says, with the length of the trial where that is its own."""
        study = self._spec.study
        if planned.ramp is not None:  # it begins with next to no load, and needs none before
            return study.model_copy(update={"duration": planned.duration_s, "warm_up": 0.0})
        return study if planned.duration_s is None else study.model_copy(update={"duration": planned.duration_s})

    def _resets_now(self, planned: PlannedTrial, *, first: bool) -> bool:
        """Whether data is put back before this trial. What was never used needs no reset."""
        spec = next(system for system in self._spec.system if system.name == planned.system)
        return {"per_trial": True, "per_system": first, "never": False, "hook": True}[self._spec.reset_of(spec)]

    def _count(self, planned: PlannedTrial, outcome: Outcome) -> None:
        """Counts a trial; after a failure the system is started again, and after several the study stops."""
        if outcome.verdict is Verdict.COMPLETE:
            self.finished.add(planned.trial_id)
            self._failures_in_a_row = 0
            return
        if planned.search_id is not None and outcome.nothing_completed:
            return  # a rate at which nothing completes is an answer
        self.failed.add(planned.trial_id)
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= FAILURES_IN_A_ROW_MAX:
            raise TargetError(
                f"{self._failures_in_a_row} trials failed one after the other, the last one: {outcome.reason}"
                "; fix the cause and run the same command again: finished trials are kept"
            )
        if outcome.verdict is Verdict.FAILED:
            self._systems.restart(planned.system)

    def remaining_s(self, trial_count: int) -> float:
        """How long so many trials will take: at the pace so far, at first at that of the plan.

        A study that ends with its budget takes no longer than what is left of it.
        """
        if self._ran_count >= PACE_AFTER_TRIALS:
            expected_s = (time.monotonic() - self._began_s) / self._ran_count * trial_count
        else:
            expected_s = self.plan.estimates.total_s * trial_count / max(len(self.plan.trials), 1)
        return self.budget.at_most(expected_s) if self._spec.study.is_until_decided else expected_s
