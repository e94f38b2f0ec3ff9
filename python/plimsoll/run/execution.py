"""Running trials of a study, one at a time or in turns: which systems are open, which one is up, what failed and why.

A system that its hooks cannot bring up fails the trial that was to run on it, and is tried again for the next one. One
whose host is lost is brought up again when the host is back. No system is brought up while another one may still run.
Deliberately not here: which trials come next (`study`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from plimsoll.drive.engine import Driver
from plimsoll.errors import HookError, HostError, PlimsollError, TargetError
from plimsoll.hosts.host import Host
from plimsoll.plan.build import AUTO_DURATION_S
from plimsoll.plan.model import PlannedSearch, PlannedTrial
from plimsoll.record.model import Outcome, Verdict
from plimsoll.run.duet import DuetRunner
from plimsoll.run.environments import HOST_WAIT_S, Hosts, Switcher
from plimsoll.run.events import EventLog, HostLost, MachineMeasured, SystemBegan, TrialBegan
from plimsoll.run.hooks import SystemHooks
from plimsoll.run.interim import Interim
from plimsoll.run.planning import PlannedStudy
from plimsoll.run.preflight import StudyPreflight
from plimsoll.run.session import History, Session
from plimsoll.run.survey import Surveyor
from plimsoll.run.system_data import DataKeeper
from plimsoll.run.systems import Machines, ManagedSystem, System
from plimsoll.run.target_system import open_system
from plimsoll.run.trial import TrialRunner, trials_sharing
from plimsoll.run.trial_progress import TrialTask, data_progressed
from plimsoll.spec.paths import AS_USUAL, TableOptions
from plimsoll.spec.study import StudySection, StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.workloads import data_sets
from plimsoll.units import format_duration

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
        labels: Mapping[str, str] | None = None,
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
        self._session = Session(history, labels)

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
        servers = {system_spec.name: system_spec.server for system_spec in self._spec.system}
        return server.made_with(server.server_options) if (server := servers[system]) is not None else AS_USUAL

    def _rows_may_differ(self, system: str) -> bool:
        """Whether a check takes any number of rows: workloads, or those of an earlier study, insert or delete."""
        servers = {system_spec.name: system_spec.server for system_spec in self._spec.system}
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
        self._log.say(self._began(trials[0], self.remaining_s(remaining), systems=[trial.system for trial in trials]))
        systems = [self._systems[trial.system] for trial in trials]
        tasks = [
            self._task(trial, system, first=first, remaining=remaining)
            for trial, system in zip(trials, systems, strict=True)
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
            reads=next(system_spec.reads for system_spec in self._spec.system if system_spec.name == planned.system),
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


HOST_LOSSES_MAX = 3
"""A host that is lost so often while one system is set up has a cause that waiting does not mend."""

Open = Callable[[SystemSpec, SystemHooks], System]


class _StaysAwayError(HostError):
    """A host that was lost did not come back while it was waited for."""


class SystemProbe(Protocol):
    """Looks at a system that is up for the first time."""

    def __call__(self, spec: SystemSpec, system: System, *, is_loaded: bool) -> None:
        """Looks, before its data is made or when it is there; may refuse it."""


class RunningSystems:
    """Opens, brings up and stops the systems of a study."""

    def __init__(
        self, spec: StudySpec, switcher: Switcher, open_one: Open, looked: SystemProbe, say: Callable[[HostLost], None]
    ):
        """Nothing is open yet.

        Args:
            spec: What the user wrote.
            switcher: Makes the environment of a system be there before it is opened or brought up; knows where hooks
                run.
            open_one: Makes a system from what the user wrote.
            looked: Is called with each system that is up for the first time: before its data is made, and again when
                it is there.
            say: Is told of a host that is waited for.
        """
        self._specs = {system.name: system for system in spec.system}
        self._open_one, self._looked = open_one, looked
        self._hooks = {system.name: SystemHooks(switcher.place, system) for system in spec.system}
        self._switcher, self._say = switcher, say
        self._opened: dict[str, System] = {}
        self._maybe_up = [name for name, hooks in self._hooks.items() if hooks.has("stop")]
        self._down: dict[str, HookError] = {}
        self._configured: set[str] = set()
        self._seen: set[str] = set()

    def __getitem__(self, name: str) -> System:
        """A system, opened if need be."""
        if name not in self._opened:
            self._opened[name] = self._open_one(self._specs[name], self._hooks[name])
        return self._opened[name]

    @property
    def opened(self) -> tuple[System, ...]:
        """All that are open."""
        return tuple(self._opened.values())

    def hooks(self, name: str) -> SystemHooks:
        """The hooks of a system."""
        return self._hooks[name]

    def begin_block(self, name: str, repetition: int) -> System:
        """Brings a system up for a block of trials; `why_down` tells if its hooks could not.

        Raises:
            TargetError, HostError: It could not be brought up, and not because of a hook.
        """
        self._configured.discard(name)
        self._hooks[name].begin_block(repetition)
        self._bring_up(name)
        return self[name]

    def why_down(self, name: str) -> str | None:
        """Why a system could not be brought up; None where it is up."""
        return None if name not in self._down else str(self._down[name])

    def look(self, name: str) -> None:
        """Has a system looked at that is up for the first time."""
        self._despite_losses(name, self._look_once, self._bring_up_and_look)

    def restart(self, name: str) -> None:
        """Stops a system after a failed trial and brings it up again; `why_down` tells if its hooks could not.

        Raises:
            HostError: It could not be started again, and not because of a hook.
        """
        try:
            self.stop(name)
            self._bring_up(name)
            self.look(name)
        except PlimsollError as error:
            raise HostError(f"{name}: could not be started again after a failed trial: {error}") from error

    def stop(self, name: str) -> None:
        """Stops a system. If its hook fails, it is tried again before any system is brought up."""
        try:
            self[name].stop()
        except HookError:
            self._maybe_up += [name] if name not in self._maybe_up else []

    def close(self) -> None:
        """Removes what the systems left."""
        for system in self._opened.values():
            system.close()

    def _bring_up(self, name: str) -> None:
        self._despite_losses(name, self._bring_up_once, self._bring_up_once)

    def _despite_losses(self, name: str, act: Callable[[str], None], again: Callable[[str], None]) -> None:
        """Does something with a system; where its host is lost over it, waits for the host and does something again.

        Raises:
            PlimsollError: What it raises where the host is there, was lost too often, or does not come back.
        """
        for losses_count in range(HOST_LOSSES_MAX):
            try:
                (again if losses_count else act)(name)
            except _StaysAwayError:
                raise
            except PlimsollError as error:
                if losses_count == HOST_LOSSES_MAX - 1 or not self._switcher.hosts.is_lost(self._specs[name]):
                    raise
                self._say(HostLost(system=name, reason=str(error), limit_s=HOST_WAIT_S))
            else:
                return

    def _look_once(self, name: str) -> None:
        if name not in self._down and name not in self._seen:
            self._looked(self._specs[name], self[name], is_loaded=True)
            self._seen.add(name)

    def _bring_up_and_look(self, name: str) -> None:
        self._bring_up_once(name)
        self._look_once(name)

    def _bring_up_once(self, name: str) -> None:
        self._down.pop(name, None)
        hooks, spec = self._hooks[name], self._specs[name]
        try:
            self._switcher.to(spec.environment, hooks.keep)
            self._wait_for_host(spec)
            system = self[name]
            self._stop_others(spec)
            if name not in self._configured:
                hooks.run("configure")
                self._configured.add(name)
            system.start(lambda: self._looked(spec, system, is_loaded=False))
        except HookError as error:
            self._down[name] = error

    def _wait_for_host(self, spec: SystemSpec) -> None:
        """Connects to a system's host again where it was lost."""
        try:
            self._switcher.hosts.return_to([spec], HOST_WAIT_S)
        except HostError as error:
            waited = format_duration(HOST_WAIT_S)
            raise _StaysAwayError(f"{error} (waited {waited} for it; run the same command again)") from None

    def _stop_others(self, spec: SystemSpec) -> None:
        """Stops every system that may be up: before the first one all that have a hook for it.

        Systems of another environment went with it.
        """
        for name in list(self._maybe_up):
            if self._specs[name].environment == spec.environment:
                self[name].stop()
                self._maybe_up.remove(name)
