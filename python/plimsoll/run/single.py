"""One measured run without a study: what it is, how it runs, and how it is recorded into a folder of such runs.

A run that is recorded is a repetition of what the folder holds, or something new; `plimsoll trial --record` and
`plimsoll sysbench --plimsoll-record` share that. A signal while load runs: the first ends the load with what was
measured, a second ends everything. Deliberately not here: settling, resets and waiting for a warm server; a study does
those.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.drive.engine import LocalDriver, TrialRun, follow
from plimsoll.drive.executable import engine_version
from plimsoll.drive.plans import GroupServers, sources, trial_line
from plimsoll.drive.protocol import Interval, Progress
from plimsoll.errors import (
    InvalidTrialError,
    NothingCompletedError,
    PlimsollError,
    SpecError,
    StorageError,
    TargetError,
)
from plimsoll.importers.systems import Joiner
from plimsoll.interruption import handled_by, ignore_further, interrupt, say_at_once
from plimsoll.private_folder import PrivateFolder
from plimsoll.record.capacity import RunRole
from plimsoll.record.environment import ClientFacts, Environment
from plimsoll.record.level import Level
from plimsoll.record.model import Origin, Outcome, State, StateMark, SystemRecord, TrialRecord, Verdict
from plimsoll.record.partial import PartialRecording, recover
from plimsoll.record.store import read_study, refuse_newer_study
from plimsoll.run.folder import HeldFolder, refuse_for_recordings
from plimsoll.run.instance import Instance, load_servers, located
from plimsoll.run.rows import IntervalRows
from plimsoll.run.session import Session, read_history, server_start_id
from plimsoll.run.spool import Spool, measured_until_the_end
from plimsoll.run.survey import Surveyor, driven_from, driver_of, known_limit_tps, to_be_driven
from plimsoll.run.system_data import DataKeeper
from plimsoll.run.trial_progress import INTERVAL_S, TrialProgress, outcome_of, workload_record
from plimsoll.run.watch import Watch, unseen, unwatched, watching
from plimsoll.servers.control import connect
from plimsoll.servers.facts import host_facts
from plimsoll.spec.clients import BACKLOG_MAX, CLIENTS, Clients, OpenArrivals
from plimsoll.spec.drivers import ONE_HERE, DriverSpec
from plimsoll.spec.levels import checks_each_trial
from plimsoll.spec.replicas import Reads, reads_words
from plimsoll.spec.target import Target
from plimsoll.spec.workloads import Workload
from plimsoll.units import format_duration


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
        partial = PartialRecording.begin(folder, "single")
        trial = trial_record(run, system_record(run)).model_copy(update={"trial_id": partial.trial_id})
        environment = to_be_driven(Environment(client=client_facts(run)), run.drivers)
        partial.draft(trial, environment, Outcome(verdict=Verdict.INTERRUPTED))
        drive = _Drive(run, Spool(partial, rows, watch), seen)
        drive.through(lambda _pid: nullcontext())
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
        SpecError: The folder holds something else, or runs with other labels. Nothing was started.
        RecordError: A newer Plimsoll wrote recordings of that folder.
        TargetError, HostError, EngineBugError: It could not be run, or not be kept. If load ran, it is kept as failed.
        NothingCompletedError: No transaction completed in the measured window; it is kept as invalid.
        InvalidTrialError: Drivers that share the load were lost or began too far apart; it is kept as invalid.
        Interrupted: Somebody ended it; it is kept as interrupted.
    """
    with joining(wanted.study, wanted.labels) as joined:
        surveyor, watch = Surveyor(), Watch()
        here = surveyor.host.name or ""
        system = system_record(run, wanted)
        servers = named_instances(run, system.name, run.managed or _running_instance(run.target))
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
        notes = (*joined.notes, recorded_line(joined.trial, outcome, wanted.study))
        return drive.judged(summary, outcome, notes), notes


def _running_instance(target: Target) -> Instance:
    """A server that runs already, with where it runs."""
    with connect(target) as control:
        return located(Instance(name="", target=target), control)


Watching = Callable[[int | None], AbstractContextManager[None]]
"""Watches for the time of the load, with the engine's process on this machine, if there is one."""


class _Drive:
    """One going through of the load."""

    def __init__(self, run: SingleRun, spool: Spool, seen: Callable[[Interval], None], name: str = "target") -> None:
        self._run, self._spool, self._seen, self._name = run, spool, seen, name
        self._first = math.ceil(run.warm_up_s / INTERVAL_S)
        self._count = math.ceil(run.duration_s / INTERVAL_S)
        self._progressing = TrialProgress(spool.rows)
        self._began_unix_s = 0.0
        self._is_ended = False

    def through(self, watched: Watching, unseen: Sequence[str] = ()) -> None:
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
            progressing.connect(engine)
            self._spool.driver = driven_from(engine)
            with watched(engine.local_pid):
                self._began_unix_s = engine.start()
                with ending(engine) as asked:
                    follow(engine, take=self._take, warn=progressing.warn, end=progressing.end)
                self._is_ended = asked.is_asked
        progressing.warnings += [unwatched(fault) for fault in (*unseen, *self._spool.watch.faults)]

    def _take(self, interval: Interval) -> None:
        is_before_end = interval.index < self._first + self._count
        if is_before_end and interval.index >= self._first:
            self._progressing.measured.add(interval)
        self._spool.add(interval, began_unix_s=self._began_unix_s, window=self._progressing.measured.window)
        if is_before_end:
            self._seen(interval)

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
            from plimsoll.analyse.findings.runs import CHECKS_OF_A_RUN

            doubts = [doubt.as_warning() for check in CHECKS_OF_A_RUN for doubt in check(summary)]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRun:
    """What to run.

    Attributes:
        warm_up_s: Load runs so long before it counts.
        duration_s: Load counts for so long.
        arrivals: The target rate; None for a closed loop.
        clients: How they connect, how long they think, and what they do about errors.
        drivers: The machines that share the load.
        look_first: Whether the engine looks at tables and limits before it connects.
        managed: The server behind the target, where Plimsoll started it.
        replicas: Servers that repeat it; they take the transactions that only read.
        search: The search for a capacity that it is a run of, and what it is for; None for neither.
    """

    workload: Workload
    target: Target
    connections: int
    warm_up_s: float
    duration_s: float
    seed: int
    arrivals: OpenArrivals | None = None
    clients: Clients = CLIENTS
    drivers: tuple[DriverSpec, ...] = ONE_HERE
    look_first: bool = True
    managed: Instance | None = None
    replicas: tuple[Instance, ...] = ()
    search: tuple[str, RunRole] | None = None


def client_facts(run: SingleRun) -> ClientFacts:
    """What is known of this load generator's own limit."""
    limit_tps = known_limit_tps(host_facts(), engine_version(), run.workload, run.connections, [run.target])
    return ClientFacts(limit_tps=limit_tps)


def system_record(run: SingleRun, wanted: RecordingWanted | None = None) -> SystemRecord:
    """The server as recordings name it: by its address, or by what Plimsoll started."""
    name = None if wanted is None else wanted.system
    if run.managed is None:
        factors = {"target": run.target.endpoint, "tls": run.target.tls.mode}
        return SystemRecord(name=name or run.target.endpoint, factors=factors)
    factors = {"server": run.managed.name}
    if run.replicas:
        factors |= {"replicas": str(len(run.replicas)), "reads": reads_words(Reads())}
    return SystemRecord(name=name or run.managed.name, factors=factors)


def named_instances(run: SingleRun, name: str, source: Instance) -> tuple[Instance, ...]:
    """The servers of a run, by the name of its system."""
    replicas = (replace(replica, name=f"{name}/{number}") for number, replica in enumerate(run.replicas, start=1))
    return (replace(source, name=f"{name}/0"), *replicas)


def group_servers(run: SingleRun, name: str) -> list[GroupServers]:
    """The servers as the load engine gets them; results of one alone carry the name `target`."""
    if not run.replicas:
        return sources({"target": run.target})
    return load_servers(named_instances(run, name, Instance(name="", target=run.target)), Reads())


def _stated(arrivals: OpenArrivals | None) -> dict[str, object]:
    """What of the arrivals is not as a study has it."""
    usual = {"arrivals": "poisson", "backlog": BACKLOG_MAX}
    chosen = {} if arrivals is None else {"arrivals": arrivals.process, "backlog": arrivals.backlog_max}
    return {name: value for name, value in chosen.items() if value != usual[name]}


def trial_record(run: SingleRun, system: SystemRecord, wanted: RecordingWanted | None = None) -> TrialRecord:
    """What the recording says the trial was; its place among the others of its folder is not known yet."""
    workload = workload_record(run.workload, {**run.clients.stated(), **_stated(run.arrivals)})
    inputs = (system.factors, workload.options, run.connections, run.arrivals, run.seed, time.time(), os.getpid())
    rate_tps = None if run.arrivals is None else run.arrivals.steady_tps
    return TrialRecord(
        trial_id=hashlib.sha256(repr(inputs).encode(errors="surrogateescape")).hexdigest()[:32],
        study="single" if wanted is None else wanted.study.resolve().name,
        system=system,
        workload=workload.model_copy(update={"name": (wanted and wanted.workload) or workload.name}),
        level=Level(connections=run.connections, rate_tps=rate_tps),
        repetition=0,
        seed=run.seed,
        interval_s=INTERVAL_S,
        duration_s=run.duration_s,
        origin=Origin(detail="plimsoll trial" if run.search is None else "plimsoll capacity"),
        search_id=None if run.search is None else run.search[0],
        search_role=None if run.search is None else run.search[1],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingWanted:
    """Where a run is kept, and under which names.

    Attributes:
        study: The folder; made if it is missing.
        system: None for the server's own, such as its address.
        workload: None for its own.
        labels: What the user says of the version that is measured; empty for those of the runs that are there.
    """

    study: Path
    system: str | None = None
    workload: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


class Joined:
    """One more recording of a folder, while it is made.

    Attributes:
        notes: What the user should know of it, one line each.
    """

    def __init__(self, held: HeldFolder, labels: Mapping[str, str]) -> None:
        folder = held.path
        self._held = held
        self._recovered = [f"a run that was cut short was kept: {recording.path.name}" for recording in recover(folder)]
        self.notes = list(self._recovered)
        history = read_history(folder)
        history.refuse_other_labels(labels, folder, "--record")
        self._session = Session(history, labels)
        self._trial: TrialRecord | None = None
        self._environment = Environment()

    def begin(self, trial: TrialRecord, environment: Environment, rows: IntervalRows, watch: Watch) -> Spool:
        """Gives the trial its place, and opens its recording.

        Args:
            trial: With the names that were asked for.
            environment: What it will be measured on.
            rows: Those of the engine's intervals.
            watch: Gives those of telemetry.

        Raises:
            StorageError: The folder cannot be written.
        """
        self.turned_out(trial, environment)
        partial = PartialRecording.begin(self._held.path, trial.trial_id)
        partial.draft(self.trial, environment, Outcome(verdict=Verdict.INTERRUPTED))
        return Spool(partial, rows, watch)

    def turned_out(self, trial: TrialRecord, environment: Environment) -> None:
        """Gives the trial its place by what is known of it now, also when that is other than at its begin."""
        joiner = Joiner(read_study(self._held.path).recordings)
        placed = joiner.place(trial)
        start_id = server_start_id(environment.instances)
        self._trial = placed.model_copy(
            update={
                "labels": self._session.labels,
                "session_id": self._session.session_id,
                "server_start_id": start_id,
                "block": self._session.block_of(0, start_id),
            }
        )
        self._environment = environment
        self.notes = list(self._recovered)
        if (changed := self._session.changed(placed.system.name, environment)) is not None:
            self.notes.append(
                f"{changed.system} has changed since {changed.trial_id}: {changed.changes}; guides list both"
            )
        self.notes += joiner.report

    @property
    def environment(self) -> Environment:
        """What the trial is measured on, as it is kept."""
        return self._environment

    def keep(self, spool: Spool, states: tuple[StateMark, ...], outcome: Outcome) -> Path:
        """Commits the recording.

        Args:
            spool: As `begin` gave it.
            states: What the trial went through.
            outcome: What became of it.

        Raises:
            StorageError: The disk is full, or the folder was moved or removed.
        """
        self._trial = self.trial.model_copy(update={"states": states})
        try:
            spool.flush()
            return spool.partial.commit(self._trial, self._environment, outcome)
        except StorageError:
            self.refuse_moved()
            raise

    def give_up(self, spool: Spool, states: tuple[StateMark, ...], outcome: Outcome) -> None:
        """Keeps what was measured until a run failed; nothing where no load ran. Raises as `keep`."""
        if spool.intervals_count:
            self.keep(spool, states, outcome)
        else:
            spool.partial.discard()

    def refuse_moved(self) -> None:
        """Makes sure that the folder still is where it was; raises StorageError if not."""
        self._held.refuse_moved()

    @property
    def trial(self) -> TrialRecord:
        """The trial as it is kept."""
        assert self._trial is not None, "it has begun"
        return self._trial


@contextmanager
def joining(folder: Path, labels: Mapping[str, str] | None = None) -> Iterator[Joined]:
    """Holds a folder while one more recording is made.

    Args:
        folder: Made if it is missing.
        labels: What the user says of the version that is measured; empty for those of the runs that are there.

    Raises:
        SpecError: It holds something else, or runs with other labels.
        HostError: It cannot be written, or another process measures into it.
        RecordError: A newer Plimsoll wrote recordings of it.
    """
    refuse_for_recordings(folder)
    with HeldFolder(folder) as held:
        refuse_newer_study(folder)
        yield Joined(held, labels or {})


def recording_wanted(
    folder: Path | None,
    system: str | None,
    workload: str | None,
    arrivals: OpenArrivals | None,
    labels: Mapping[str, str] | None = None,
) -> RecordingWanted | None:
    """Where a single run is kept; None for nowhere. Looked at before anything is started.

    Raises:
        SpecError: A name or the rate makes no sense, or the folder holds something else, or runs with other labels.
    """
    faults = name_faults(folder, system, workload)
    if folder is None and labels:
        faults.append("--label: needs --record, the folder to record into")
    if folder is not None and arrivals is not None and arrivals.steady_tps is None:
        faults.append("--record: guides cannot compare a rate that changes; give --rate a single rate")
    if faults:
        raise SpecError(*faults)
    if folder is None:
        return None
    refuse_for_recordings(folder)
    if labels and folder.is_dir():
        read_history(folder).refuse_other_labels(labels, folder, "--record")
    return RecordingWanted(study=folder, system=system, workload=workload, labels=labels or {})


def name_faults(folder: Path | None, system: str | None, workload: str | None, option: str = "--record") -> list[str]:
    """What is wrong with the options that say where a run is kept and under which names, one line each."""
    names = {f"{option}-system": system, f"{option}-workload": workload}
    given = {naming: name for naming, name in names.items() if name is not None}
    if folder is None:
        return [f"{naming}: needs {option}, the folder to record into" for naming in given]
    return [
        f"{naming}: must be printable text, is {name!r}"
        for naming, name in given.items()
        if not (name and name.isprintable())
    ]


def recorded_line(trial: TrialRecord, outcome: Outcome, folder: Path) -> str:
    """What was kept where, as one line."""
    cell = f"{trial.system.name}, {trial.workload.name}, {trial.level.label()}"
    verdict = "" if outcome.verdict is Verdict.COMPLETE else f" as {outcome.verdict}: {outcome.reason}"
    return f"recorded{verdict}: {cell}, repetition {trial.repetition + 1}; next: plimsoll guide {folder}"


@dataclass(slots=True)
class Ending:
    """Whether somebody ended the load."""

    is_asked: bool = False


@contextmanager
def ending(engine: TrialRun) -> Iterator[Ending]:
    """Passes the first signal on to an engine whose load runs: it stops, and says `done` with its account.

    Only for the main thread, and only around the load itself. What follows an ended load stores and cleans up; on the
    command line no further signal interrupts that.
    """
    asked = Ending()

    def end(_number: int, _frame: FrameType | None) -> None:
        if asked.is_asked:
            raise KeyboardInterrupt
        asked.is_asked = True
        say_at_once("stopping the load; waits until it has ended, and a second signal does not")
        engine.stop()

    with handled_by(end) as before:
        try:
            yield asked
        finally:
            if asked.is_asked and interrupt in before.values():
                ignore_further()
