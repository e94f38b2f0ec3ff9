"""One measured run without a study: its result is returned, and kept where that is wanted.

Deliberately not here: settling, resets and waiting for a warm server; a study does those.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.analyse.trial_checks import client_near_its_limit
from plimsoll.analyse.trial_summary import TrialSummary, summarise
from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.executable import engine_version
from plimsoll.drive.plans import trial_line
from plimsoll.drive.protocol import Done, EngineWarning, Interval, Progress
from plimsoll.errors import InvalidTrialError, SpecError
from plimsoll.record.model import (
    ClientFacts,
    Environment,
    LevelRecord,
    Outcome,
    State,
    StateMark,
    SystemRecord,
    TrialRecord,
)
from plimsoll.record.origin import Origin
from plimsoll.record.partial import PartialRecording
from plimsoll.record.store import read_recording
from plimsoll.run.client_limits import known_limit_tps
from plimsoll.run.ending import ending
from plimsoll.run.environment import Surveyor
from plimsoll.run.joined import RecordingWanted, joining, told
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.progressing import INTERVAL_S, Progressing, outcome_of, warning_of, workload_record
from plimsoll.run.rows import IntervalRows
from plimsoll.run.spool import Spool
from plimsoll.run.systems import Instance
from plimsoll.run.watch import Watch, unwatched, watching
from plimsoll.servers.facts import host_facts
from plimsoll.spec.arrivals import BACKLOG_MAX, OpenArrivals
from plimsoll.spec.clients import CLIENTS, Clients
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target
from plimsoll.spec.terminals import checks_each_trial
from plimsoll.units import format_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRun:
    """What to run.

    Attributes:
        warm_up_s: Load runs so long before it counts.
        duration_s: Load counts for so long.
        arrivals: The wanted rate; None for a closed loop.
        clients: How they connect, how long they think, and what they do about errors.
        look_first: Whether the engine looks at tables and limits before it connects.
        managed: The server behind the target, where Plimsoll started it.
    """

    workload: Workload
    target: Target
    connections: int
    warm_up_s: float
    duration_s: float
    seed: int
    arrivals: OpenArrivals | None = None
    clients: Clients = CLIENTS
    look_first: bool = True
    managed: Instance | None = None


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

    Raises:
        SpecError, TargetError, HostError, EngineBugError: It could not be run.
        InvalidTrialError: No transaction completed in the measured window.
        Interrupted: Somebody ended it.
    """
    rows, watch = IntervalRows(driver="", host=""), Watch()
    with TemporaryDirectory(prefix="plimsoll-trial-") as folder:
        spool = Spool(PartialRecording.begin(Path(folder), "single"), rows, watch)
        drive = _Drive(run, spool, seen)
        drive.through(lambda _pid: nullcontext())
        trial = _trial_record(run, SystemRecord(name=str(run.target))).model_copy(update={"trial_id": "single"})
        spool.flush()
        path = spool.partial.commit(trial, Environment(client=_client_facts(run)), drive.outcome)
        return drive.judged(summarise(read_recording(path)))


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
        SpecError: The folder holds something else, or the rate is no level. Nothing was started.
        RecordError: A newer Plimsoll wrote recordings of that folder.
        TargetError, HostError, EngineBugError: It could not be run, or not be kept.
        InvalidTrialError: No transaction completed in the measured window; it is kept as invalid.
        Interrupted: Somebody ended it; it is kept as interrupted.
    """
    if run.arrivals is not None and run.arrivals.steady_tps is None:
        raise SpecError("--record: a rate that changes is no level that a guide could compare; give --rate one rate")
    with joining(wanted.study) as joined:
        surveyor, watch = Surveyor(), Watch()
        here = surveyor.host.name or ""
        system = _system_record(run, wanted)
        instance = replace(run.managed or Instance(name="", target=run.target), name=f"{system.name}/0")
        environment = surveyor.environment([instance], run.workload, run.connections)
        rows = IntervalRows(driver=here, host=environment.host.name or "")
        spool = joined.begin(_trial_record(run, system, wanted), environment, rows, watch)
        drive = _Drive(run, spool, seen)
        drive.through(lambda pid: watching([instance], host=here, engine_pid=pid, watch=watch))
        path = joined.keep(spool, joined.trial.model_copy(update={"states": drive.states}), drive.outcome)
        notes = (*joined.notes, told(joined.trial, drive.outcome, wanted.study))
        return drive.judged(summarise(read_recording(path)), notes), notes


class _Drive:
    """One going through of the load."""

    def __init__(self, run: SingleRun, spool: Spool, seen: Callable[[Interval], None]) -> None:
        self._run, self._spool, self._seen = run, spool, seen
        self._first = math.ceil(run.warm_up_s / INTERVAL_S)
        self._count = math.ceil(run.duration_s / INTERVAL_S)
        self._progressing = Progressing(spool.rows)
        self._began_unix_s = 0.0
        self._is_ended = False

    def through(self, watched: Callable[[int], AbstractContextManager[None]]) -> None:
        """Runs it to its end, or until somebody ends it."""
        run, progressing = self._run, self._progressing
        plan = trial_line(
            run.workload,
            {"target": run.target},
            connections=run.connections,
            duration_s=(self._first + self._count) * INTERVAL_S,
            seed=run.seed,
            arrivals=run.arrivals,
            clients=run.clients,
            look_first=run.look_first,
        )
        with LocalDriver().launch("trial", plan) as engine:
            progressing.ready = engine.ready(lambda warning: progressing.warnings.append(warning_of(warning)))
            with watched(engine.pid), ending(engine) as asked:
                self._began_unix_s = time.time()
                engine.start()
                for message in engine.messages():
                    match message:
                        case Interval():
                            self._take(message)
                        case EngineWarning():
                            progressing.warnings.append(warning_of(message))
                        case Done():
                            progressing.done = message
            self._is_ended = asked.is_asked
        progressing.warnings += [unwatched(fault) for fault in self._spool.watch.faults]

    def _take(self, interval: Interval) -> None:
        self._spool.add(interval, began_unix_s=self._began_unix_s)
        if interval.index < self._first + self._count:
            self._seen(interval)
            if interval.index >= self._first:
                self._progressing.measured.add(interval)

    @property
    def outcome(self) -> Outcome:
        """What became of it."""
        if self._is_ended:
            return outcome_of(self._progressing, interruption=f"stopped after {format_duration(self._load_s)} of load")
        return outcome_of(self._progressing)

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

    def judged(self, summary: TrialSummary | None, notes: tuple[str, ...] = ()) -> TrialSummary:
        """The summary with its doubts, if it is of a whole run in which something completed.

        Raises:
            Interrupted: Somebody ended it.
            InvalidTrialError: No transaction completed in the measured window.
        """
        is_empty = summary is None or summary.counts is None or self._progressing.measured.completed == 0
        if summary is not None and not is_empty:
            near = [warning for warning, _ in client_near_its_limit(summary)]
            outcome = summary.outcome
            summary = replace(summary, outcome=outcome.model_copy(update={"warnings": (*outcome.warnings, *near)}))
        if self._is_ended:
            raise Interrupted(None if is_empty else summary, self._load_s, notes)
        if summary is None or is_empty:
            raise InvalidTrialError(
                f"no transaction completed within {self._run.duration_s:g} s{self._spool.rows.told_errors()}; measure"
                " longer, or look at the server"
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


def _client_facts(run: SingleRun) -> ClientFacts:
    limit_tps = known_limit_tps(host_facts(), engine_version(), run.workload, run.connections, [run.target])
    return ClientFacts(limit_tps=limit_tps)


def _system_record(run: SingleRun, wanted: RecordingWanted) -> SystemRecord:
    """The server as recordings name it: by its address, or by what Plimsoll started."""
    if run.managed is None:
        factors = {"target": run.target.endpoint, "tls": run.target.tls.mode}
        return SystemRecord(name=wanted.system or run.target.endpoint, factors=factors)
    return SystemRecord(name=wanted.system or run.managed.name, factors={"server": run.managed.name})


def _stated(arrivals: OpenArrivals | None) -> dict[str, object]:
    """What of the arrivals is not as a study has it."""
    usual = {"arrivals": "poisson", "backlog": BACKLOG_MAX}
    said = {} if arrivals is None else {"arrivals": arrivals.process, "backlog": arrivals.backlog_max}
    return {name: value for name, value in said.items() if value != usual[name]}


def _trial_record(run: SingleRun, system: SystemRecord, wanted: RecordingWanted | None = None) -> TrialRecord:
    workload = workload_record(run.workload, {**run.clients.stated(), **_stated(run.arrivals)})
    inputs = (system.factors, workload.options, run.connections, run.arrivals, run.seed, time.time(), os.getpid())
    rate_tps = None if run.arrivals is None else run.arrivals.steady_tps
    return TrialRecord(
        trial_id=hashlib.sha256(repr(inputs).encode(errors="surrogateescape")).hexdigest()[:32],
        study="single" if wanted is None else wanted.study.resolve().name,
        system=system,
        workload=workload.model_copy(update={"name": (wanted and wanted.workload) or workload.name}),
        level=LevelRecord(connections=run.connections, rate_tps=rate_tps),
        repetition=0,
        seed=run.seed,
        interval_s=INTERVAL_S,
        duration_s=run.duration_s,
        origin=Origin(detail="plimsoll trial"),
    )
