"""One trial, from state to state: reset, settle, warm, measure, verify; then its recording is committed.

Warming comes after settling: a freshly settled server has borrowed capacity (empty redo log, nothing to purge), so the
trial's own load runs until throughput and the server's stocks no longer trend. Warm-up and measurement are one run of
the engine; which intervals count is decided here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from plimsoll.analyse.doubts import Code
from plimsoll.drive.engine import Driver, TrialRun
from plimsoll.drive.plans import trial_line
from plimsoll.drive.protocol import Done, EngineWarning, Interval
from plimsoll.errors import DataError, InvalidTrialError, PlimsollError, StorageError
from plimsoll.plan.model import PlannedTrial
from plimsoll.prose.catalogue import warning
from plimsoll.prose.data import reset_words
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, State, StateMark
from plimsoll.record.partial import PartialRecording
from plimsoll.run.collecting import collected, with_hooks
from plimsoll.run.data_events import DataPutBack
from plimsoll.run.data_state import RowCounts, note_after, note_before, note_reset, note_warm
from plimsoll.run.drivers import as_driven, driven_from
from plimsoll.run.environment import Surveyor
from plimsoll.run.events import EventLog, IntervalEnded, StateBegan
from plimsoll.run.full_disks import FullDisks, places_of
from plimsoll.run.instance import Instance, sources_of
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.load_servers import load_servers
from plimsoll.run.measuring import ends, weather_after, weather_before
from plimsoll.run.progressing import (
    INTERVAL_S,
    Progressing,
    TrialTask,
    data_progressed,
    draft_of,
    ended,
    outcome_of,
    trial_record,
    warning_of,
)
from plimsoll.run.ramping import KneeWatch
from plimsoll.run.refusing import refuse_unanswered
from plimsoll.run.replicated import caught_up, refuse_different_replicas
from plimsoll.run.rows import IntervalRows, oldest_in_flight_ms, response_ms_p99
from plimsoll.run.session import server_start_id
from plimsoll.run.settling import settled
from plimsoll.run.spool import Spool
from plimsoll.run.warm import trends
from plimsoll.run.watch import Watch, unseen, unwatched, watching
from plimsoll.spec.arrivals import OpenArrivals, rising, steady
from plimsoll.spec.terminals import checks_each_trial, ramp_up_s
from plimsoll.units import format_duration


class TrialRunner:
    """Runs trials one after the other and commits a recording of each, whatever became of it."""

    def __init__(
        self, driver: Driver, surveyor: Surveyor, log: EventLog, clock: Callable[[], float] = time.time
    ) -> None:
        self._driver, self._surveyor, self._log, self._clock = driver, surveyor, log, clock
        self._here = surveyor.host.name or ""
        self._row_counts: RowCounts = {}

    def run(self, task: TrialTask) -> Outcome:
        """Runs one trial and commits its recording.

        A trial that fails is recorded as failed, with the reason; one that is interrupted under load as interrupted.

        Raises:
            StorageError: The recording cannot be written. What was written so far is found by the next run.
            KeyboardInterrupt: Somebody ended it.
        """
        progressing, spool = self._begin(task)
        try:
            self._make_ready(task, progressing, spool)
            self._drive(task, progressing, spool)
            refuse_unanswered(task, progressing, spool)
            self._verify(task, progressing, spool)
            outcome = outcome_of(progressing)
        except StorageError:
            raise
        except InvalidTrialError as error:
            outcome = outcome_of(progressing, doubt=str(error))
        except PlimsollError as error:
            outcome = outcome_of(progressing, failure=str(error))
        except KeyboardInterrupt:
            self._keep_interrupted(task, progressing, spool)
            raise
        try:
            outcome = collected(task.hooks, spool.partial, outcome)
        finally:
            self._commit(task, progressing, spool, outcome)
        return outcome

    def fail(self, task: TrialTask, reason: str) -> Outcome:
        """Records a trial as failed whose system could not be brought up. Raises as `run`."""
        progressing, spool = self._begin(task)
        self._enter(task, progressing, spool, State.RESET)
        outcome = outcome_of(progressing, failure=reason)
        self._commit(task, progressing, spool, outcome)
        return outcome

    def _begin(self, task: TrialTask) -> tuple[Progressing, Spool]:
        """What is known of a trial that begins: the machine that drives it."""
        partial = PartialRecording.begin(task.folder, task.planned.trial_id)
        rows = IntervalRows(driver=self._here, host="")
        if task.hooks is not None:
            task.hooks.begin_trial(task.planned)
        environment = Environment(host=self._surveyor.host)
        return Progressing(rows=rows, environment=environment, knee=_knee(task)), Spool(partial, rows, Watch())

    def _keep_interrupted(self, task: TrialTask, progressing: Progressing, spool: Spool) -> None:
        """Keeps what an interrupted trial measured; nothing where no load ran."""
        if spool.intervals_count == 0:
            spool.partial.discard()
            return
        self._commit(
            task, progressing, spool, outcome_of(progressing, interruption=_interruption(task, progressing, spool))
        )

    def _commit(self, task: TrialTask, progressing: Progressing, spool: Spool, outcome: Outcome) -> None:
        spool.flush()
        outcome = with_hooks(task.hooks, spool.partial, outcome)
        if progressing.block is None:
            progressing.block = task.session.block_of(task.planned.block, None)
        progressing.environment = progressing.environment.model_copy(update={"exporters": spool.watch.exporters})
        trial = trial_record(task, progressing)
        spool.partial.commit(trial, progressing.environment, outcome)
        task.session.ended(trial, progressing.environment, outcome)
        self._log.say(ended(task, outcome, progressing))

    def _enter(
        self, task: TrialTask, progressing: Progressing, spool: Spool, state: State, began_unix_s: float | None = None
    ) -> None:
        """Notes that a state began, also for the case that this process is killed in it."""
        progressing.states.append(StateMark(state=state, began_unix_s=began_unix_s or self._clock()))
        spool.partial.draft(trial_record(task, progressing), progressing.environment, draft_of(progressing))
        self._log.say(StateBegan(state=state))

    def _note(self, progressing: Progressing, note: str) -> None:
        progressing.states[-1] = progressing.states[-1].model_copy(update={"note": note})

    def _make_ready(self, task: TrialTask, progressing: Progressing, spool: Spool) -> None:
        """Resets and settles, then records the environment as it will be measured."""
        self._enter(task, progressing, spool, State.RESET)
        (task.system.reset if task.resets else task.system.leave)()
        note_reset(task, progressing, self._row_counts)
        if (reset := progressing.data.reset) is not None and reset.way != "left":
            self._log.say(DataPutBack(system=task.planned.system, reset=reset))
        self._note(progressing, reset_words(reset) + self._consistency(task, "before the load"))
        task.system.locate()
        if all(instance.is_here for instance in task.system.instances):
            progressing.rows.host = self._here
        self._enter(task, progressing, spool, State.SETTLE)
        caught_up(task.system.instances)
        self._note(progressing, "; ".join(settled(one, task.study.settle_limit) for one in task.system.instances))
        environment = self._surveyor.environment(task.system.instances, task.workload, task.planned.connections)
        progressing.environment = environment
        note_before(task, progressing)
        progressing.block = task.session.block_of(task.planned.block, server_start_id(environment.instances))
        if (changed := task.session.changed(task.planned.system, environment)) is not None:
            self._log.say(changed)

    def _drive(self, task: TrialTask, progressing: Progressing, spool: Spool) -> None:
        study = task.study
        warm_up_s = study.warm_up_limit if study.warm_up is None else study.warm_up
        plan = trial_line(
            task.workload,
            load_servers(task.system.instances, task.reads),
            connections=task.planned.connections,
            duration_s=warm_up_s + study.duration_most + 2 * INTERVAL_S,
            seed=task.planned.seed,
            arrivals=_arrivals(task.planned),
            clients=study.clients,
            interval_s=task.interval_s,
        )
        progressing.weather = weather_before(task.system)
        with self._driver.launch_trial(plan) as run:
            progressing.ready = run.ready(lambda warning: progressing.warnings.append(warning_of(warning)))
            progressing.environment = as_driven(progressing.environment, run)
            spool.driver = driven_from(run)
            with watching(task.system.instances, host=self._here, engine_pid=run.local_pid, watch=spool.watch):
                self._enter(task, progressing, spool, State.WARM)
                try:
                    self._follow(task, progressing, spool, run)
                finally:
                    progressing.drivers = run.drivers
        progressing.weather = weather_after(task.system, progressing.weather)
        progressing.warnings += map(unwatched, (*unseen(task.system.instances), *spool.watch.faults))

    def _follow(self, task: TrialTask, progressing: Progressing, spool: Spool, run: TrialRun) -> None:
        """Lets the load begin, takes in what is said of it until its end, and refuses a full disk."""
        began_unix_s, disks = run.start(), FullDisks()
        for message in run.messages():
            match message:
                case Interval():
                    self._take(task, progressing, spool, message, began_unix_s)
                    disks.seen(message.index if message.completed else None, lambda: places_of(task.system.instances))
                    if progressing.is_measured:
                        run.stop()
                case EngineWarning():
                    progressing.warnings.append(warning_of(message))
                case Done():
                    progressing.done = message

    def _take(
        self, task: TrialTask, progressing: Progressing, spool: Spool, interval: Interval, began_unix_s: float
    ) -> None:
        """Takes one interval in, and decides whether it counts."""
        if progressing.first_measured is None and self._is_warm(task, progressing, spool.watch):
            self._note(progressing, progressing.warm_note or "")
            progressing.first_measured = interval.index
            note_warm(progressing, spool.watch.redo_bytes())
            self._enter(task, progressing, spool, State.MEASURE, began_unix_s + interval.from_ns / 1e9)
        spool.add(interval, began_unix_s=began_unix_s)
        progressing.throughput_tps.append(interval.throughput_tps)
        if progressing.first_measured is not None and not progressing.is_measured:
            progressing.measured.add(interval)
            is_late = progressing.knee is not None and progressing.knee.reached(interval)
            progressing.is_measured = is_late or ends(task, progressing, spool.watch.series())
        self._log.say(
            IntervalEnded(
                index=interval.index,
                state=progressing.state,
                throughput_tps=interval.throughput_tps,
                response_ms_p99=response_ms_p99([interval]),
                in_flight_ms_max=oldest_in_flight_ms(interval),
                error_count=sum(e.count for g in interval.groups for e in g.snapshot.errors),
                missing_count=max(task.planned.connections - sum(g.connected_count for g in interval.groups), 0),
            )
        )

    def _is_warm(self, task: TrialTask, progressing: Progressing, watch: Watch) -> bool:
        """Whether the interval that comes now may count."""
        study = task.study
        so_far_s = len(progressing.throughput_tps) * INTERVAL_S
        if study.warm_up is not None:
            progressing.warm_note = f"{study.warm_up:g} s as asked for"
            return so_far_s >= study.warm_up
        if so_far_s < ramp_up_s(task.workload):
            return False
        moving = trends(progressing.throughput_tps, watch.series())
        if not moving:
            judged = ", ".join(("throughput", *(name for name, seen in watch.series().items() if seen)))
            progressing.warm_note = f"flat after {so_far_s:.0f} s: {judged}"
            return True
        if so_far_s < study.warm_up_limit:
            return False
        progressing.warm_note = f"still trending at the limit of {study.warm_up_limit:g} s: {', '.join(moving)}"
        progressing.warnings.append(
            warning(
                Code.NOT_WARM_AT_LIMIT,
                f"After {study.warm_up_limit:g} s of warm-up there was still a trend in: {', '.join(moving)}.",
            )
        )
        return True

    def _verify(self, task: TrialTask, progressing: Progressing, spool: Spool) -> None:
        """The rows must still be there after the load, and consistent where the workload asks for that."""
        self._enter(task, progressing, spool, State.VERIFY)
        rows_count = sum(keeper.check(instance.target) for instance, keeper in self._kept(task))
        note_after(task, progressing, rows_count, self._row_counts)
        try:
            consistency = self._consistency(task, "after the load")
        except DataError as error:
            raise InvalidTrialError(str(error)) from None
        same = refuse_different_replicas(task.system.instances, task.workload.table_names)
        self._note(progressing, f"{rows_count} rows{consistency}{same}")

    def _consistency(self, task: TrialTask, when: str) -> str:
        """Looks at the conditions of the workload on every instance, if it asks for that.

        Returns:
            What to add to a state's note.

        Raises:
            DataError: One does not hold.
        """
        if not checks_each_trial(task.workload):
            return ""
        for instance, keeper in self._kept(task):
            keeper.verify(instance.target, f"{when}, {instance.name}")
        return "; the twelve conditions hold"

    def _kept(self, task: TrialTask) -> Iterator[tuple[Instance, DataKeeper]]:
        """Every instance of the system that has rows of its own, with their keeper."""
        instances, name = sources_of(task.system.instances), task.planned.system
        keeper = DataKeeper(
            driver=self._driver,
            data_sets=(task.workload,),
            changing=task.changing,
            table_options=task.table_options,
            progress=lambda progress: self._log.say(data_progressed(name, progress)),
        )
        return zip(instances, keeper.divided(len(instances)), strict=True)


def _knee(task: TrialTask) -> KneeWatch | None:
    """What ends a ramp; None for another trial."""
    capacity = task.study.levels.capacity
    return None if task.planned.ramp is None or capacity is None else KneeWatch(capacity.objective.response_ms_p99)


def _arrivals(planned: PlannedTrial) -> OpenArrivals | None:
    """At which rate transactions are wanted; None in a closed loop."""
    if planned.ramp is not None:
        return rising(planned.ramp)
    return None if planned.rate_tps is None else steady(planned.rate_tps)


def _interruption(task: TrialTask, progressing: Progressing, spool: Spool) -> str:
    """What is said of a trial that somebody ended."""
    load_s = spool.intervals_count * task.interval_s
    return f"stopped in the state {progressing.state}, after {format_duration(load_s)} of load"
