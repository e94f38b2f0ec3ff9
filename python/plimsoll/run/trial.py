"""One trial, from state to state: reset, settle, warm, measure, verify; then its recording is committed.

Warming comes after settling: a freshly settled server has borrowed capacity (empty redo log, nothing to purge), so the
trial's own load runs until throughput and the server's stocks no longer trend. Warm-up and measurement are one run of
the engine; which intervals count is decided here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

from plimsoll.drive.engine import Driver
from plimsoll.drive.plans import trial_line
from plimsoll.drive.protocol import Done, EngineWarning, Interval
from plimsoll.errors import DataError, InvalidTrialError, PlimsollError, StorageError, TargetError
from plimsoll.record.model import (
    Environment,
    Outcome,
    State,
    StateMark,
    TrialWarning,
    Window,
)
from plimsoll.record.partial import PartialRecording
from plimsoll.run.environment import Surveyor
from plimsoll.run.events import EventLog, IntervalEnded, StateBegan
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.progressing import (
    INTERVAL_S,
    Progressing,
    TrialTask,
    data_progressed,
    ended,
    outcome_of,
    trial_record,
    warning_of,
)
from plimsoll.run.rows import IntervalRows, oldest_in_flight_ms, response_ms_p99
from plimsoll.run.session import server_start_id
from plimsoll.run.spool import Spool
from plimsoll.run.spooled import summary_of
from plimsoll.run.systems import Instance
from plimsoll.run.unanswered import why_unanswered
from plimsoll.run.warm import trends
from plimsoll.run.watch import Watch, unseen, unwatched, watching
from plimsoll.servers.control import connect
from plimsoll.servers.settle import settle
from plimsoll.servers.storage import data_device
from plimsoll.spec.arrivals import steady
from plimsoll.spec.terminals import checks_each_trial, ramp_up_s
from plimsoll.telemetry.device import device_busy_ratio
from plimsoll.units import format_duration


class TrialRunner:
    """Runs trials one after the other and commits a recording of each, whatever became of it."""

    def __init__(
        self, driver: Driver, surveyor: Surveyor, log: EventLog, clock: Callable[[], float] = time.time
    ) -> None:
        self._driver, self._surveyor, self._log, self._clock = driver, surveyor, log, clock
        self._here = surveyor.host.name or ""

    def run(self, task: TrialTask) -> Outcome:
        """Runs one trial and commits its recording.

        A trial that fails is recorded as failed, with the reason; one that is interrupted under load as interrupted.

        Raises:
            StorageError: The recording cannot be written. What was written so far is found by the next run.
            KeyboardInterrupt: Somebody ended it.
        """
        partial = PartialRecording.begin(task.folder, task.planned.trial_id)
        progressing = Progressing(
            rows=IntervalRows(driver=self._here, host=""), environment=Environment(host=self._surveyor.host)
        )
        spool = Spool(partial, progressing.rows, Watch())
        try:
            self._make_ready(task, progressing, spool)
            self._drive(task, progressing, spool)
            _refuse_unanswered(task, progressing, spool)
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
        self._commit(task, progressing, spool, outcome)
        return outcome

    def _keep_interrupted(self, task: TrialTask, progressing: Progressing, spool: Spool) -> None:
        """Keeps what an interrupted trial measured; nothing where no load ran."""
        if spool.intervals_count == 0:
            spool.partial.discard()
            return
        self._commit(task, progressing, spool, outcome_of(progressing, interruption=_interruption(progressing, spool)))

    def _commit(self, task: TrialTask, progressing: Progressing, spool: Spool, outcome: Outcome) -> None:
        spool.flush()
        if progressing.block is None:
            progressing.block = task.session.block_of(task.planned.block, None)
        trial = trial_record(task, progressing)
        spool.partial.commit(trial, progressing.environment, outcome)
        task.session.ended(trial, progressing.environment, outcome)
        self._log.say(ended(task, outcome, progressing))

    def _enter(
        self, task: TrialTask, progressing: Progressing, spool: Spool, state: State, began_unix_s: float | None = None
    ) -> None:
        """Notes that a state began, also for the case that this process is killed in it."""
        progressing.states.append(StateMark(state=state, began_unix_s=began_unix_s or self._clock()))
        spool.partial.draft(trial_record(task, progressing), progressing.environment, _draft(progressing))
        self._log.say(StateBegan(state=state))

    def _note(self, progressing: Progressing, note: str) -> None:
        progressing.states[-1] = progressing.states[-1].model_copy(update={"note": note})

    def _make_ready(self, task: TrialTask, progressing: Progressing, spool: Spool) -> None:
        """Resets and settles, then records the environment as it will be measured."""
        self._enter(task, progressing, spool, State.RESET)
        if task.resets:
            task.system.reset()
        data = "data as prepared" if task.resets else "data as the last trial left it"
        self._note(progressing, data + self._consistency(task, "before the load"))
        task.system.locate()
        if all(instance.is_here for instance in task.system.instances):
            progressing.rows.host = self._here
        self._enter(task, progressing, spool, State.SETTLE)
        notes = [_settled(instance, task.study.settle_limit) for instance in task.system.instances]
        self._note(progressing, "; ".join(notes))
        environment = self._surveyor.environment(task.system.instances, task.workload, task.planned.connections)
        progressing.environment = environment
        progressing.block = task.session.block_of(task.planned.block, server_start_id(environment.instances))
        if (changed := task.session.changed(task.planned.system, environment)) is not None:
            self._log.say(changed)

    def _drive(self, task: TrialTask, progressing: Progressing, spool: Spool) -> None:
        study = task.study
        warm_up_s = study.warm_up_limit if study.warm_up is None else study.warm_up
        plan = trial_line(
            task.workload,
            {instance.name: instance.target for instance in task.system.instances},
            connections=task.planned.connections,
            duration_s=warm_up_s + study.duration + 2 * INTERVAL_S,
            seed=task.planned.seed,
            arrivals=None if task.planned.rate_tps is None else steady(task.planned.rate_tps),
            clients=study.clients,
        )
        with self._driver.launch("trial", plan) as run:
            progressing.ready = run.ready(lambda warning: progressing.warnings.append(warning_of(warning)))
            with watching(task.system.instances, host=self._here, engine_pid=run.pid, watch=spool.watch):
                self._enter(task, progressing, spool, State.WARM)
                began_unix_s = self._clock()
                run.start()
                for message in run.messages():
                    match message:
                        case Interval():
                            self._take(task, progressing, spool, message, began_unix_s)
                            if progressing.measured.intervals_count >= math.ceil(study.duration / INTERVAL_S):
                                run.stop()
                        case EngineWarning():
                            progressing.warnings.append(warning_of(message))
                        case Done():
                            progressing.done = message
        unwatchable = (*unseen(task.system.instances), *spool.watch.faults)
        progressing.warnings += [unwatched(fault) for fault in unwatchable]

    def _take(
        self, task: TrialTask, progressing: Progressing, spool: Spool, interval: Interval, began_unix_s: float
    ) -> None:
        """Takes one interval in, and decides whether it counts."""
        if progressing.first_measured is None and self._is_warm(task, progressing, spool.watch):
            self._note(progressing, progressing.warm_note or "")
            progressing.first_measured = interval.index
            self._enter(task, progressing, spool, State.MEASURE, began_unix_s + interval.from_ns / 1e9)
        spool.add(interval, began_unix_s=began_unix_s)
        progressing.throughput_tps.append(interval.throughput_tps)
        has_begun = progressing.first_measured is not None
        if has_begun and progressing.measured.intervals_count < task.study.duration / INTERVAL_S:
            progressing.measured.add(interval)
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
            TrialWarning(
                code="not-warm-at-limit",
                evidence=f"After {study.warm_up_limit:g} s of warm-up there was still a trend in: {', '.join(moving)}.",
                advice="Raise warm_up_limit, or measure longer.",
            )
        )
        return True

    def _verify(self, task: TrialTask, progressing: Progressing, spool: Spool) -> None:
        """The rows must still be there after the load, and consistent where the workload asks for that."""
        self._enter(task, progressing, spool, State.VERIFY)
        rows_count = sum(keeper.check(instance.target) for instance, keeper in self._kept(task))
        try:
            consistency = self._consistency(task, "after the load")
        except DataError as error:
            raise InvalidTrialError(str(error)) from None
        self._note(progressing, f"{rows_count} rows{consistency}")

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
        """Every instance of the system with the keeper of its rows."""
        instances, name = task.system.instances, task.planned.system
        keeper = DataKeeper(
            driver=self._driver,
            data_sets=(task.workload,),
            changing=task.changing,
            progress=lambda progress: self._log.say(data_progressed(name, progress)),
        )
        return zip(instances, keeper.divided(len(instances)), strict=True)


def _interruption(progressing: Progressing, spool: Spool) -> str:
    """What is said of a trial that somebody ended."""
    load_s = spool.intervals_count * INTERVAL_S
    return f"stopped in the state {progressing.state}, after {format_duration(load_s)} of load"


def _draft(progressing: Progressing) -> Outcome:
    """The outcome that counts if this process is killed; its window then goes as far as the trial got."""
    draft = outcome_of(progressing, interruption=f"stopped in the state {progressing.state}")
    first = progressing.first_measured
    return draft if first is None else draft.model_copy(update={"window": Window(first=first, last=first)})


def _refuse_unanswered(task: TrialTask, progressing: Progressing, spool: Spool) -> None:
    """Sums the measured window up, and refuses it where the server was gone or silent when the load ended.

    Raises:
        TargetError: It was.
    """
    outcome = outcome_of(progressing)
    if progressing.measured.intervals_count:
        progressing.summary = summary_of(spool, trial_record(task, progressing), outcome, progressing.environment)
    if (reason := why_unanswered(outcome, progressing.rows.connected, progressing.summary)) is not None:
        raise TargetError(reason)


def _settled(instance: Instance, limit_s: float) -> str:
    """Waits until an instance and its device are quiet; says how that ended."""
    device = data_device(instance.data_dir) if instance.data_dir and instance.is_managed else None
    with connect(instance.target) as control:
        settled = settle(
            control,
            limit_s=limit_s,
            may_set_variables=instance.is_managed,
            device_busy_ratio=device_busy_ratio(device) if device else None,
        )
    return settled.note
