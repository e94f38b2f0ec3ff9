"""One trial, from state to state: reset, settle, warm, measure, verify; then its recording is committed.

Warming comes after settling: a freshly settled server has borrowed capacity (empty redo log, nothing to purge), so the
trial's own load runs until throughput and the server's stocks no longer trend. Warm-up and measurement are one run of
the engine; which intervals count, and when the measurement ends, is decided here. Reference loads run around it, what
the data was before and after is noted, and what hooks wrote is added to the recording. Deliberately not here: how data
is put back (`systems`), what follows from a drift (`analyse.study.trials`), and statistics
(`plimsoll.analyse.trial.steady`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from plimsoll.analyse.findings.recording_warnings import COLLECT_FAILED, NOT_WARM_AT_LIMIT, TARGET_INTERVAL_MISSED
from plimsoll.analyse.trial.steady import INTERVALS_LEAST, half_width_ratio, is_long_enough
from plimsoll.drive.engine import Driver, TrialRun, follow
from plimsoll.drive.plans import trial_line
from plimsoll.drive.protocol import Interval
from plimsoll.errors import DataError, HookError, InvalidTrialError, PlimsollError, StorageError
from plimsoll.plan.model import PlannedTrial
from plimsoll.prose.phrases import reset_words
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.files import COLLECTED_BYTES_MAX, COLLECTED_FILES_MAX, drop_unfit, storing
from plimsoll.record.level import REPETITIONS_MIN
from plimsoll.record.model import HookRecord, Outcome, ReferenceTimes, State, StateMark, TrialWarning, Weather
from plimsoll.record.partial import PartialRecording
from plimsoll.run.events import DataPutBack, EventLog, IntervalEnded, StateBegan
from plimsoll.run.hooks import SystemHooks
from plimsoll.run.instance import FullDisks, Instance, load_servers, places_of, settled, sources_of
from plimsoll.run.replicas import caught_up, refuse_different_replicas
from plimsoll.run.rows import IntervalRows, KneeWatch, oldest_in_flight_ms, response_ms_p99
from plimsoll.run.session import server_start_id
from plimsoll.run.spool import Spool, refuse_unanswered
from plimsoll.run.survey import Surveyor, as_driven, driven_from
from plimsoll.run.system_data import DataKeeper
from plimsoll.run.systems import System
from plimsoll.run.trial_progress import (
    INTERVAL_S,
    TrialProgress,
    TrialTask,
    data_progressed,
    draft_of,
    ended,
    outcome_of,
    trial_record,
)
from plimsoll.run.watch import Watch, trends, unseen, unwatched, watching
from plimsoll.servers.control import connect
from plimsoll.servers.data_facts import tables_bytes
from plimsoll.servers.moment import reference_times
from plimsoll.spec.clients import OpenArrivals, rising, steady
from plimsoll.spec.levels import checks_each_trial, ramp_up_s
from plimsoll.spec.study import StudySection
from plimsoll.units import format_bytes, format_duration, format_percent, parse_whole
from plimsoll.wording import first_few


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

    def _begin(self, task: TrialTask) -> tuple[TrialProgress, Spool]:
        """What is known of a trial that begins: the machine that drives it."""
        partial = PartialRecording.begin(task.folder, task.planned.trial_id)
        rows = IntervalRows(driver=self._here, host="")
        if task.hooks is not None:
            task.hooks.begin_trial(task.planned)
        environment = Environment(host=self._surveyor.host)
        return TrialProgress(rows=rows, environment=environment, knee=_knee(task)), Spool(partial, rows, Watch())

    def _keep_interrupted(self, task: TrialTask, progressing: TrialProgress, spool: Spool) -> None:
        """Keeps what an interrupted trial measured; nothing where no load ran."""
        if spool.intervals_count == 0:
            spool.partial.discard()
            return
        self._commit(
            task, progressing, spool, outcome_of(progressing, interruption=_interruption(task, progressing, spool))
        )

    def _commit(self, task: TrialTask, progressing: TrialProgress, spool: Spool, outcome: Outcome) -> None:
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
        self, task: TrialTask, progressing: TrialProgress, spool: Spool, state: State, began_unix_s: float | None = None
    ) -> None:
        """Notes that a state began, also for the case that this process is killed in it."""
        progressing.states.append(StateMark(state=state, began_unix_s=began_unix_s or self._clock()))
        spool.partial.draft(trial_record(task, progressing), progressing.environment, draft_of(progressing))
        self._log.say(StateBegan(state=state))

    def _note(self, progressing: TrialProgress, note: str) -> None:
        progressing.states[-1] = progressing.states[-1].model_copy(update={"note": note})

    def _make_ready(self, task: TrialTask, progressing: TrialProgress, spool: Spool) -> None:
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
        self._note(
            progressing, "; ".join(settled(instance, task.study.settle_limit) for instance in task.system.instances)
        )
        environment = self._surveyor.environment(task.system.instances, task.workload, task.planned.connections)
        progressing.environment = environment
        note_before(task, progressing)
        progressing.block = task.session.block_of(task.planned.block, server_start_id(environment.instances))
        if (changed := task.session.changed(task.planned.system, environment)) is not None:
            self._log.say(changed)

    def _drive(self, task: TrialTask, progressing: TrialProgress, spool: Spool) -> None:
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
            progressing.connect(run)
            spool.driver = driven_from(run)
            with watching(task.system.instances, host=self._here, engine_pid=run.local_pid, watch=spool.watch):
                progressing.environment = as_driven(progressing.environment, run)
                self._enter(task, progressing, spool, State.WARM)
                self._follow(task, progressing, spool, run)
        progressing.weather = weather_after(task.system, progressing.weather)
        progressing.warnings += map(unwatched, (*unseen(task.system.instances), *spool.watch.faults))

    def _follow(self, task: TrialTask, progressing: TrialProgress, spool: Spool, run: TrialRun) -> None:
        """Lets the load begin, takes in what is said of it until its end, and refuses a full disk."""
        began_unix_s, disks = run.start(), FullDisks()

        def take(interval: Interval) -> None:
            self._take(task, progressing, spool, interval, began_unix_s)
            disks.seen(interval.index if interval.completed else None, lambda: places_of(task.system.instances))
            if progressing.is_measured:
                run.stop()

        follow(run, take=take, warn=progressing.warn, end=progressing.end)

    def _take(
        self, task: TrialTask, progressing: TrialProgress, spool: Spool, interval: Interval, began_unix_s: float
    ) -> None:
        """Takes one interval in, and decides whether it counts."""
        if progressing.first_measured is None and self._is_warm(task, progressing, spool.watch):
            self._note(progressing, progressing.warm_note or "")
            progressing.first_measured = interval.index
            note_warm(progressing, spool.watch.redo_bytes())
            self._enter(task, progressing, spool, State.MEASURE, began_unix_s + interval.from_ns / 1e9)
        progressing.throughput_tps.append(interval.throughput_tps)
        if progressing.first_measured is not None and not progressing.is_measured:
            progressing.measured.add(interval)
            is_late = progressing.knee is not None and progressing.knee.reached(interval)
            progressing.is_measured = is_late or ends(task, progressing, spool.watch.series())
        spool.add(interval, began_unix_s=began_unix_s, window=progressing.measured.window)
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

    def _is_warm(self, task: TrialTask, progressing: TrialProgress, watch: Watch) -> bool:
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
            NOT_WARM_AT_LIMIT.warning(
                f"After {study.warm_up_limit:g} s of warm-up there was still a trend in: {', '.join(moving)}.",
            )
        )
        return True

    def _verify(self, task: TrialTask, progressing: TrialProgress, spool: Spool) -> None:
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


def _interruption(task: TrialTask, progressing: TrialProgress, spool: Spool) -> str:
    """What is said of a trial that somebody ended."""
    load_s = spool.intervals_count * task.interval_s
    return f"stopped in the state {progressing.state}, after {format_duration(load_s)} of load"


SHARED_REPETITIONS = 2 * REPETITIONS_MIN
"""With repetitions = "auto" the budget is shared among the trials of so many, then among those of the running one."""


def ends(task: TrialTask, progressing: TrialProgress, stocks: Mapping[str, Sequence[float]]) -> bool:
    """Whether the interval that was measured last is the last one; a target that was missed becomes a warning.

    Args:
        task: The trial.
        progressing: What is known of it.
        stocks: The state of InnoDB lately, one value for each second, by status variable.
    """
    study, rates = task.study, progressing.measured.rates_tps
    measured_s = len(rates) * task.interval_s
    if study.duration is not None:
        return measured_s >= study.duration
    series = np.asarray(rates)
    innodb = {name: np.asarray(values[-series.size :], dtype=float) for name, values in stocks.items()}
    if is_long_enough(series, study.target_interval, innodb):
        return True
    limit_s = min(study.duration_limit, max(task.limit_s, INTERVALS_LEAST * INTERVAL_S))
    if measured_s < limit_s:
        return False
    width = half_width_ratio(series)
    known = "is not known" if width is None else f"is ±{format_percent(width)}"
    progressing.warnings.append(
        TARGET_INTERVAL_MISSED.warning(
            f"After {format_duration(measured_s)} of measurement the 95 % confidence interval of throughput {known};"
            f" ±{format_percent(study.target_interval)} was wanted, without a cycle that is cut short.",
        )
    )
    return True


def trials_sharing(study: StudySection, planned: PlannedTrial, later: Sequence[PlannedTrial]) -> int:
    """Among how many trials the budget is shared.

    A study that goes on until it is decided plans more repetitions than most need. Shared among all of them, the budget
    would leave each trial less time than it needs to be measured well.

    Args:
        study: What it says of repetitions.
        planned: The trial that runs next.
        later: The trials of the plan from that one on; none for one that is measured again.
    """
    end = max(SHARED_REPETITIONS, planned.repetition + 1)
    return len(later) if not study.is_until_decided else sum(trial.repetition < end for trial in later)


def weather_before(system: System) -> Weather:
    """How fast the machine is before a trial's load.

    Raises:
        HostError: The data directory of a managed server cannot be written to.
    """
    return Weather(before=_reference_times(system))


def weather_after(system: System, weather: Weather) -> Weather:
    """The same with how fast it is after the load."""
    return weather.model_copy(update={"after": _reference_times(system)})


def _reference_times(system: System) -> ReferenceTimes:
    """Of the machine that the first server is watched through, and of the data directory of the first managed one."""
    data_dir = next((instance.data_dir for instance in system.instances if instance.is_managed), None)
    host = system.instances[0].host
    times = host.call(reference_times, data_dir)
    return times.model_copy(update={"at_unix_s": times.at_unix_s - host.clock().ahead_s})


RowCounts = dict[tuple[str, str], int]
"""Rows at the end of the last trial, by system and workload."""


def note_reset(task: TrialTask, progressing: TrialProgress, counted: RowCounts) -> None:
    """Notes how data was put back, and how many rows there are: as prepared, or as the last trial counted them."""
    reset = task.system.data_reset
    is_prepared = reset is not None and reset.way != "left" and not reset.is_aged
    rows = task.workload.rows_count if is_prepared else counted.get((task.planned.system, task.workload.name))
    progressing.data = progressing.data.model_copy(update={"reset": reset, "rows_before": rows or None})


def note_before(task: TrialTask, progressing: TrialProgress) -> None:
    """Notes the sizes of tables and redo logs of the instances that are about to be measured."""
    sizes = [_redo_capacity_bytes(instance) for instance in progressing.environment.instances]
    known = [size for size in sizes if size is not None]
    progressing.data = progressing.data.model_copy(
        update={
            "bytes_before": _bytes_of(task.system.instances),
            "redo_capacity_bytes": sum(known) if known and len(known) == len(sizes) else None,
        }
    )


def note_warm(progressing: TrialProgress, written_bytes: int | None) -> None:
    """Notes how much redo was written while the servers warmed up."""
    progressing.data = progressing.data.model_copy(update={"redo_warm_bytes": written_bytes})


def note_after(task: TrialTask, progressing: TrialProgress, rows_count: int, counted: RowCounts) -> None:
    """Notes what the load left; `counted` remembers the rows for the next trial."""
    counted[task.planned.system, task.workload.name] = rows_count
    bytes_after = _bytes_of(task.system.instances)
    progressing.data = progressing.data.model_copy(update={"rows_after": rows_count, "bytes_after": bytes_after})


def _bytes_of(instances: Sequence[Instance]) -> int | None:
    """Size of the files of all tables, of all instances together; None where one does not say."""
    total = 0
    for instance in instances:
        with connect(instance.target) as control:
            size = tables_bytes(control)
        if size is None:
            return None
        total += size
    return total


def _redo_capacity_bytes(instance: InstanceFacts) -> int | None:
    """Size of a server's redo log by its variables: one for the whole in MySQL from 8.0.30 on, else one for a file."""
    whole = parse_whole(instance.variables.get("innodb_redo_log_capacity", ""))
    if whole is not None:
        return whole
    each = parse_whole(instance.variables.get("innodb_log_file_size", ""))
    files = parse_whole(instance.variables.get("innodb_log_files_in_group", "1"))
    return None if each is None else each * (files or 1)


def collected(hooks: SystemHooks | None, partial: PartialRecording, outcome: Outcome) -> Outcome:
    """Runs the hook `collect` after a trial; that it fails is a warning.

    Raises:
        StorageError: The disk is full, or the recording is gone.
        KeyboardInterrupt: Somebody ended it. The trial itself is complete.
    """
    if hooks is None or not hooks.has("collect"):
        return outcome
    folder, warnings = partial.folder_to_collect(), list[TrialWarning]()
    try:
        hooks.run("collect", PLIMSOLL_RECORDING=str(folder.absolute()))
    except HookError as error:
        warnings.append(COLLECT_FAILED.warning(f"{error}."))
    warnings += _dropped(partial)
    return outcome.model_copy(update={"warnings": (*outcome.warnings, *warnings)})


def with_hooks(hooks: SystemHooks | None, partial: PartialRecording, outcome: Outcome) -> Outcome:
    """The outcome with the hooks that ran since the last trial; their output is written into the recording.

    Raises:
        StorageError: The disk is full, or the recording is gone.
    """
    records: list[HookRecord] = []
    for number, kept in enumerate(() if hooks is None else hooks.take()):
        name = None
        if kept.text.strip():
            content = kept.text.encode(errors="backslashreplace")
            name = partial.attach_output(f"{number}-{kept.record.hook}.txt", content)
        records.append(kept.record.model_copy(update={"output": name}))
    return outcome.model_copy(update={"hooks": tuple(records)}) if records else outcome


def _dropped(partial: PartialRecording) -> list[TrialWarning]:
    with storing(partial.path):
        dropped = drop_unfit(partial.path)
    warnings = []
    if dropped.unfit:
        evidence = f"The hook collect left what is no regular file that can be read: {first_few(dropped.unfit)}."
        warnings.append(COLLECT_FAILED.warning(evidence))
    if dropped.beyond:
        most = f"{format_bytes(COLLECTED_BYTES_MAX)} in {COLLECTED_FILES_MAX:,} files"
        evidence = f"The hook collect left more than {most}; not kept: {first_few(dropped.beyond)}."
        warnings.append(COLLECT_FAILED.warning(evidence))
    return warnings
