"""One trial while it runs, the figures of its window so far, and the documents of its recording that follow from it.

Deliberately not here: what is done with a system and the engine (`trial`), and any statistic of a recording (package
`analyse`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.analyse.trial.histograms import durations
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.analyse.trial.working_set import working_set
from plimsoll.drive.engine import TrialRun
from plimsoll.drive.protocol import Done, EngineWarning, Interval, Outage, Progress, Ready
from plimsoll.plan.model import PlannedTrial
from plimsoll.record.environment import Environment
from plimsoll.record.level import INTERVAL_S as RAMP_INTERVAL_S
from plimsoll.record.model import (
    DUET_FORMAT,
    RECORD_FORMAT,
    ConnectFailureRecord,
    ConnectionsRecord,
    DataState,
    EncryptionRecord,
    EngineAccount,
    OutageRecord,
    Outcome,
    State,
    StateMark,
    StatementRecord,
    TrialRecord,
    TrialWarning,
    Verdict,
    Weather,
    Window,
    WorkloadRecord,
)
from plimsoll.run.events import DataProgressed, TrialEnded
from plimsoll.run.hooks import SystemHooks
from plimsoll.run.rows import IntervalRows, KneeWatch
from plimsoll.run.session import Session, server_start_id
from plimsoll.run.systems import System
from plimsoll.spec.paths import AS_USUAL, TableOptions
from plimsoll.spec.replicas import Reads
from plimsoll.spec.study import StudySection, counted_s_of_duet, counted_turn_s
from plimsoll.spec.workloads import Workload


@dataclass(slots=True)
class Measured:
    """Sums over the intervals that count; of themselves only throughput is kept.

    Attributes:
        intervals_count: How many there are.
        completed: Transactions that completed in them.
        duration_s: Their length, seconds.
        window: From the first to the last; None while there is none.
        rates_tps: Throughput of each of them.
    """

    intervals_count: int = 0
    completed: int = 0
    duration_s: float = 0.0
    window: Window | None = None
    rates_tps: list[float] = field(default_factory=list)

    def add(self, interval: Interval) -> None:
        """Takes the next interval in."""
        self.intervals_count += 1
        self.completed += interval.completed
        self.rates_tps.append(interval.throughput_tps)
        self.duration_s += (interval.to_ns - interval.from_ns) / 1e9
        first = interval.index if self.window is None else self.window.first
        self.window = Window(first=first, last=interval.index)

    @property
    def throughput_tps(self) -> float | None:
        """Completed transactions per second; None while there is no interval."""
        return self.completed / self.duration_s if self.duration_s else None


INTERVAL_S = 1.0
"""Length of an interval, seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTask:
    """One planned trial with all that it needs.

    Attributes:
        folder: The study's folder.
        resets: Whether data is put back before this trial.
        changing: Workloads of the study insert or delete rows.
        table_options: Further options of CREATE TABLE that the system's tables have.
        limit_s: With `duration = "auto"`: measure at most so long, by what the budget leaves.
        position: Place in the study's order, from 0.
        session: The running of the study that it is part of.
        system_count: How many take turns in a duet, this one included.
        hooks: Of its system; None where nobody may have written any.
        reads: How reads are spread over the system's replicas; None keeps them on the source.
    """

    folder: Path
    study: StudySection
    planned: PlannedTrial
    workload: Workload
    system: System
    resets: bool
    position: int
    session: Session
    changing: bool = False
    table_options: TableOptions = AS_USUAL
    limit_s: float = math.inf
    system_count: int = 1
    hooks: SystemHooks | None = None
    reads: Reads | None = None

    @property
    def takes_turns(self) -> bool:
        """Whether it shares its time with the other systems; the runs of a search have theirs alone."""
        return self.study.is_duet and self.planned.search_id is None

    @property
    def interval_s(self) -> float:
        """Length of an interval, seconds."""
        if self.takes_turns:
            return counted_turn_s(self.study)
        return INTERVAL_S if self.planned.ramp is None else RAMP_INTERVAL_S


@dataclass(slots=True)
class TrialProgress:
    """What is known so far about the running trial.

    Attributes:
        environment: What it is measured on, once that was looked at.
        block: The number of its block; None until it is known which start of the servers it meets.
        run: What drives the load, once its connections are open.
        knee: Of a ramp: says when it ends; None for others.
    """

    rows: IntervalRows
    environment: Environment = field(default_factory=Environment)
    block: int | None = None
    states: list[StateMark] = field(default_factory=list)
    warnings: list[TrialWarning] = field(default_factory=list)
    throughput_tps: list[float] = field(default_factory=list)
    measured: Measured = field(default_factory=Measured)
    first_measured: int | None = None
    is_measured: bool = False
    weather: Weather | None = None
    data: DataState = field(default_factory=DataState)
    warm_note: str | None = None
    ready: Ready | None = None
    done: Done | None = None
    run: TrialRun | None = None
    summary: TrialSummary | None = None
    knee: KneeWatch | None = None

    @property
    def state(self) -> State:
        """The state that the trial is in."""
        return self.states[-1].state

    def connect(self, run: TrialRun) -> None:
        """Waits until the connections of the load are open. Raises what the engine said instead."""
        self.ready, self.run = run.ready(self.warn), run

    def warn(self, warning: EngineWarning) -> None:
        """Takes a doubt of the engine's in, as recordings keep it."""
        self.warnings.append(TrialWarning(code=warning.code, evidence=warning.evidence, advice=warning.advice))

    def end(self, done: Done) -> None:
        """Takes the account in."""
        self.done = done


def data_progressed(system: str, progress: Progress) -> DataProgressed:
    """The event that tells how far a system's data set is."""
    return DataProgressed(
        system=system, phase=progress.phase, done_count=progress.done_count, total_count=progress.total_count
    )


def outcome_of(
    progressing: TrialProgress, failure: str | None = None, *, doubt: str | None = None, interruption: str | None = None
) -> Outcome:
    """What became of the trial.

    Args:
        progressing: What is known of it.
        failure: Why it did not run to its end.
        doubt: Why it must not be believed though it did.
        interruption: What ended it early.
    """
    measured, done = progressing.measured, progressing.done
    verdict, reason = (Verdict.FAILED, failure) if failure else (Verdict.COMPLETE, None)
    nothing_completed = False
    if interruption is not None:
        verdict, reason = Verdict.INTERRUPTED, interruption
    elif doubt is not None:
        verdict, reason = Verdict.INVALID, doubt
    elif failure is None and measured.completed == 0:
        verdict, nothing_completed = Verdict.INVALID, True
        reason = f"no transaction completed in the measured window{progressing.rows.told_errors()}"
    return Outcome(
        verdict=verdict,
        reason=reason,
        nothing_completed=nothing_completed,
        window=measured.window,
        account=None if done is None else account_of(done),
        connections=None if progressing.ready is None else connections_of(progressing.ready),
        statements=() if progressing.ready is None else statements_of(progressing.ready),
        drivers=() if progressing.run is None else progressing.run.drivers,
        outages=() if done is None else outages_of(done),
        outages_count=0 if done is None else done.outages_count,
        weather=progressing.weather,
        data=None if progressing.data == DataState() else progressing.data,
        warnings=tuple(progressing.warnings),
    )


def account_of(done: Done) -> EngineAccount:
    """The engine's account of a whole trial, as recordings keep it."""
    return EngineAccount(
        started_unix_s=done.started_unix_ns / 1e9,
        duration_s=done.duration_ns / 1e9,
        offered_count=done.offered_count,
        unfinished_count=done.unfinished_count,
        client_user_s=done.client.user_ns / 1e9,
        client_system_s=done.client.system_ns / 1e9,
        client_memory_bytes_max=done.memory_bytes_max,
    )


def connections_of(ready: Ready) -> ConnectionsRecord:
    """How the connections came about, as recordings keep it."""
    return ConnectionsRecord(
        wanted_count=ready.wanted_count,
        opened_count=ready.connections,
        connect_s=ready.connect_ms / 1e3,
        failures=tuple(ConnectFailureRecord.model_validate(failure.model_dump()) for failure in ready.failures),
        encryptions=tuple(EncryptionRecord.model_validate(encryption.model_dump()) for encryption in ready.encryptions),
    )


def statements_of(ready: Ready) -> tuple[StatementRecord, ...]:
    """What the transactions of a built-in workload send, as recordings keep it."""
    return tuple(StatementRecord.model_validate(statement.model_dump()) for statement in ready.statements)


def outages_of(done: Done) -> tuple[OutageRecord, ...]:
    """The outages of a trial, as recordings keep them."""
    return tuple(_outage(outage) for outage in done.outages)


def _outage(outage: Outage) -> OutageRecord:
    return OutageRecord(
        instance=outage.instance,
        role=outage.role,
        from_s=outage.from_ns / 1e9,
        to_s=None if outage.to_ns is None else outage.to_ns / 1e9,
        connections_count=outage.connections_count,
        lost_count=outage.lost_count,
    )


def workload_record(workload: Workload, clients: Mapping[str, Any]) -> WorkloadRecord:
    """A workload as recordings keep it, with what was said about its clients."""
    options = workload.options()
    return WorkloadRecord(
        name=workload.name,
        kind=workload.kind,
        options={**options, **clients},
        working_set=working_set(workload.kind, options, len(workload.table_names)),
    )


def trial_record(task: TrialTask, progressing: TrialProgress) -> TrialRecord:
    """What was planned, and when each state began."""
    return TrialRecord(
        trial_id=task.planned.trial_id,
        study=task.study.name,
        system=task.system.record,
        workload=workload_record(task.workload, task.study.clients.stated()),
        level=task.planned.level,
        repetition=task.planned.repetition,
        position=task.position,
        block=progressing.block or 0,
        session_id=task.session.session_id,
        server_start_id=server_start_id(progressing.environment.instances),
        labels=task.session.labels,
        seed=task.planned.seed,
        repeats=task.planned.repeats,
        interval_s=task.interval_s,
        duration_s=counted_s_of_duet(task.study, task.system_count) if task.takes_turns else task.study.duration_most,
        record_format=DUET_FORMAT if task.takes_turns else RECORD_FORMAT,
        states=tuple(progressing.states),
        search_id=task.planned.search_id,
        search_role=task.planned.search_role,
        ramp=task.planned.ramp,
    )


def ended(task: TrialTask, outcome: Outcome, progressing: TrialProgress) -> TrialEnded:
    """The event that tells of the trial's end, with its figures where something was measured."""
    summary = progressing.summary
    response = durations(None if summary is None else summary.histograms.get("response"))
    return TrialEnded(
        trial_id=task.planned.trial_id,
        system=task.planned.system,
        workload=task.planned.workload,
        connections=task.planned.connections,
        rate_tps=task.planned.rate_tps,
        verdict=outcome.verdict,
        reason=outcome.reason,
        throughput_tps=progressing.measured.throughput_tps,
        response_ms_p99=response.p99,
        response_is_lower_bound="p99" in response.lower_bounds,
        stalled_ratio=0.0 if summary is None else summary.quiet.stalled_ratio,
        warnings=outcome.warnings,
    )


def draft_of(progressing: TrialProgress) -> Outcome:
    """The outcome that counts if this process is killed; its window then goes as far as the trial got."""
    draft = outcome_of(progressing, interruption=f"stopped in the state {progressing.state}")
    first = progressing.first_measured
    return draft if first is None else draft.model_copy(update={"window": Window(first=first, last=first)})
