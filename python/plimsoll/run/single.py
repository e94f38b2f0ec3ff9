"""One measured run without a study: its result is returned, and kept where that is wanted.

Deliberately not here: settling, resets and waiting for a warm server; a study does those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.drive.engine import LocalDriver, TrialRun
from plimsoll.drive.plans import trial_line
from plimsoll.drive.protocol import Done, EngineWarning, Interval, Progress
from plimsoll.errors import InvalidTrialError, NothingCompletedError, PlimsollError, StorageError, TargetError
from plimsoll.private_folder import PrivateFolder
from plimsoll.prose.evidence import recorded_warning
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, State, StateMark, SystemRecord, TrialRecord, Verdict
from plimsoll.record.partial import PartialRecording
from plimsoll.run.drivers import driven_from, driver_of, to_be_driven
from plimsoll.run.ending import ending
from plimsoll.run.environment import Surveyor
from plimsoll.run.instance import Instance, located
from plimsoll.run.joined import RecordingWanted, joining, told
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.progressing import INTERVAL_S, Progressing, outcome_of, warning_of
from plimsoll.run.rows import IntervalRows
from plimsoll.run.single_run import SingleRun, client_facts, group_servers, named_instances, system_record, trial_record
from plimsoll.run.spool import Spool
from plimsoll.run.spooled import measured_until_the_end
from plimsoll.run.watch import Watch, unseen, unwatched, watching
from plimsoll.servers.control import connect
from plimsoll.spec.target import Target
from plimsoll.spec.terminals import checks_each_trial
from plimsoll.units import format_duration

Watching = Callable[[int | None], AbstractContextManager[None]]
"""Watches for the time of the load, with the engine's process on this machine, if there is one."""


class Interrupted(KeyboardInterrupt):
    """Somebody ended the load early.

    Attributes:
        measured: What had been measured by then; None when nothing had.
        load_s: How long the load ran, its warm-up included.
        notes: What the user should know of the recording, one line each.
    """

    def __init__(self, measured: TrialSummary | None, load_s: float, notes: tuple[str, ...] = ()) -> None:
        super().__init__("interrupted")
        self.measured, self.load_s, self.notes = measured, load_s, notes


def run_single(run: SingleRun, seen: Callable[[Interval], None] = lambda _: None) -> TrialSummary:
    """Runs the load and sums the measured window up. Nothing is kept.

    Args:
        run: What to run.
        seen: Is told of each interval.

    Returns:
        What was measured. Its outcome is `failed` where the server was gone or silent when the load ended: what was
        measured before is evidence then, and no result.

    Raises:
        SpecError, TargetError, HostError, EngineBugError: It could not be run, or the server was gone before anything
            was measured.
        NothingCompletedError: No transaction completed in the measured window.
        InvalidTrialError: Drivers that share the load were lost or began too far apart.
        Interrupted: Somebody ended it.
    """
    rows, watch = IntervalRows(driver="", host=""), Watch()
    with PrivateFolder("trial") as folder:
        spool = Spool(PartialRecording.begin(folder, "single"), rows, watch)
        drive = _Drive(run, spool, seen)
        drive.through(lambda _pid: nullcontext())
        trial = trial_record(run, SystemRecord(name=str(run.target))).model_copy(update={"trial_id": "single"})
        environment = to_be_driven(Environment(client=client_facts(run)), run.drivers)
        return drive.judged(*drive.measured(trial, environment))


def record_single(
    run: SingleRun, wanted: RecordingWanted, seen: Callable[[Interval], None] = lambda _: None
) -> tuple[TrialSummary, tuple[str, ...]]:
    """Runs the load, watches host and server, and adds a recording to a folder of such runs.

    Args:
        run: What to run.
        wanted: Where it is kept, and under which names.
        seen: Is told of each interval.

    Returns:
        The measured window, and what the user should know of the recording, one line each.

    Raises:
        SpecError: The folder holds something else. Nothing was started.
        RecordError: A newer Plimsoll wrote recordings of that folder.
        TargetError, HostError, EngineBugError: It could not be run, or not be kept. If load ran, it is kept as failed.
        NothingCompletedError: No transaction completed in the measured window; it is kept as invalid.
        InvalidTrialError: Drivers that share the load were lost or began too far apart; it is kept as invalid.
        Interrupted: Somebody ended it; it is kept as interrupted.
    """
    with joining(wanted.study) as joined:
        surveyor, watch = Surveyor(), Watch()
        here = surveyor.host.name or ""
        system = system_record(run, wanted)
        servers = named_instances(run, system.name, run.managed or _found(run.target))
        environment = surveyor.environment(servers, run.workload, run.connections)
        environment = to_be_driven(environment, run.drivers)
        rows = IntervalRows(driver=here, host=environment.host.name or "")
        spool = joined.begin(trial_record(run, system, wanted), environment, rows, watch)
        drive = _Drive(run, spool, seen, system.name)
        try:
            drive.through(lambda pid: watching(servers, host=here, engine_pid=pid, watch=watch), unseen(servers))
        except StorageError:
            joined.refuse_moved()
            raise
        except PlimsollError as error:
            joined.give_up(spool, drive.states, drive.failed(error))
            raise
        summary, outcome = drive.measured(joined.trial, joined.environment)
        joined.keep(spool, drive.states, outcome)
        notes = (*joined.notes, told(joined.trial, outcome, wanted.study))
        return drive.judged(summary, outcome, notes), notes


def _found(target: Target) -> Instance:
    """A server that runs already, with where it runs."""
    with connect(target) as control:
        return located(Instance(name="", target=target), control)


class _Drive:
    """One going through of the load."""

    def __init__(self, run: SingleRun, spool: Spool, seen: Callable[[Interval], None], name: str = "target") -> None:
        self._run, self._spool, self._seen, self._name = run, spool, seen, name
        self._first = math.ceil(run.warm_up_s / INTERVAL_S)
        self._count = math.ceil(run.duration_s / INTERVAL_S)
        self._progressing = Progressing(spool.rows)
        self._began_unix_s = 0.0
        self._is_ended = False

    def through(
        self, watched: Callable[[int | None], AbstractContextManager[None]], unseen: Sequence[str] = ()
    ) -> None:
        """Runs it to its end, or until somebody ends it."""
        run, progressing = self._run, self._progressing
        plan = trial_line(
            run.workload,
            group_servers(run, self._name),
            connections=run.connections,
            duration_s=(self._first + self._count) * INTERVAL_S,
            seed=run.seed,
            arrivals=run.arrivals,
            clients=run.clients,
            look_first=run.look_first,
        )
        with driver_of(run.drivers) as driver, driver.launch_trial(plan) as engine:
            progressing.ready = engine.ready(lambda warning: progressing.warnings.append(warning_of(warning)))
            self._spool.driver = driven_from(engine)
            with watched(engine.local_pid):
                try:
                    self._follow(engine)
                finally:
                    progressing.drivers = engine.drivers
        progressing.warnings += [unwatched(fault) for fault in (*unseen, *self._spool.watch.faults)]

    def _follow(self, engine: TrialRun) -> None:
        """Lets the load begin, and takes in what is said of it until its end."""
        self._began_unix_s = engine.start()
        with ending(engine) as asked:
            for message in engine.messages():
                match message:
                    case Interval():
                        self._take(message)
                    case EngineWarning():
                        self._progressing.warnings.append(warning_of(message))
                    case Done():
                        self._progressing.done = message
        self._is_ended = asked.is_asked

    def _take(self, interval: Interval) -> None:
        self._spool.add(interval, began_unix_s=self._began_unix_s)
        if interval.index < self._first + self._count:
            self._seen(interval)
            if interval.index >= self._first:
                self._progressing.measured.add(interval)

    def measured(self, trial: TrialRecord, environment: Environment) -> tuple[TrialSummary | None, Outcome]:
        """The measured window, and its outcome: `failed` where the server was gone or silent when the load ended."""
        progressing = self._progressing
        summary, reason = measured_until_the_end(progressing, self._spool, trial, environment)
        if self._is_ended:
            return summary, outcome_of(
                progressing, interruption=f"stopped after {format_duration(self._load_s)} of load"
            )
        return summary, outcome_of(progressing, reason)

    def failed(self, error: PlimsollError) -> Outcome:
        """What became of it when it did not run to its end."""
        if isinstance(error, InvalidTrialError):
            return outcome_of(self._progressing, doubt=str(error))
        return outcome_of(self._progressing, str(error))

    @property
    def states(self) -> tuple[StateMark, ...]:
        """What it went through."""
        measure_unix_s = self._began_unix_s + self._first * INTERVAL_S
        warm = StateMark(
            state=State.WARM, began_unix_s=self._began_unix_s, note=f"{self._run.warm_up_s:g} s as asked for"
        )
        return (*([warm] if self._first else []), StateMark(state=State.MEASURE, began_unix_s=measure_unix_s))

    @property
    def _load_s(self) -> float:
        assert self._progressing.done is not None, "the messages of a run end with done"
        return self._progressing.done.duration_ns / 1e9

    def judged(self, summary: TrialSummary | None, outcome: Outcome, notes: tuple[str, ...] = ()) -> TrialSummary:
        """The summary with its doubts, if it is of a whole run in which something completed.

        Raises:
            Interrupted: Somebody ended it.
            TargetError: The server was gone or silent before anything was measured.
            NothingCompletedError: No transaction completed in the measured window.
        """
        is_empty = summary is None or summary.counts is None or self._progressing.measured.completed == 0
        if summary is not None and not is_empty:
            summary = replace(summary, outcome=outcome)
            from plimsoll.analyse.trial_checks import CHECKS_OF_A_RUN

            doubts = [recorded_warning(doubt) for check in CHECKS_OF_A_RUN for doubt in check(summary)]
            judged = outcome.model_copy(update={"warnings": (*doubts, *outcome.warnings)})
            summary = replace(summary, outcome=judged)
        if self._is_ended:
            raise Interrupted(None if is_empty else summary, self._load_s, notes)
        if (summary is None or is_empty) and outcome.verdict is Verdict.FAILED:
            raise TargetError(outcome.reason or "")
        if summary is None or is_empty:
            raise NothingCompletedError(
                f"no transaction completed within {self._run.duration_s:g} s{self._spool.rows.told_errors()}; measure"
                " longer, or check the server"
            )
        return summary


def refuse_inconsistent(run: SingleRun, when: str, progress: Callable[[Progress], None]) -> None:
    """Looks at the conditions of a TPC-C-derived workload that asks for it; of others at nothing.

    Args:
        run: Whose rows; its load must not run.
        when: Relative to the load, as the message says it.
        progress: Is told how far it is.

    Raises:
        DataError: A condition does not hold, so that what was measured, or would be, must not be believed.
    """
    if checks_each_trial(run.workload):
        DataKeeper(driver=LocalDriver(), data_sets=(run.workload,), progress=progress).verify(run.target, when)
