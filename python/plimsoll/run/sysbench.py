"""One run of sysbench's command line, kept as a recording: the engine runs it, this process watches.

Deliberately not here: settling, resets, waiting for a warm server, looking at the rows afterwards: a study does those.
The server is only read.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.drive.protocol import Done, EngineWarning, Failed, Interval, Ready
from plimsoll.drive.sysbench import SysbenchProcess
from plimsoll.errors import SpecError
from plimsoll.importers.joining import Joiner
from plimsoll.record.model import (
    LevelRecord,
    Outcome,
    State,
    StateMark,
    TrialRecord,
    Verdict,
    WorkloadRecord,
)
from plimsoll.record.origin import Origin
from plimsoll.record.store import read_study, write_recording
from plimsoll.run.environment import Surveyor
from plimsoll.run.folder import locked, refuse_for_recordings
from plimsoll.run.progressing import INTERVAL_S, Progressing, outcome_of, warning_of, workload_record
from plimsoll.run.rows import IntervalRows
from plimsoll.run.sysbench_server import Servers, servers_of, survey
from plimsoll.run.watch import Watch, unwatched, watching
from plimsoll.spec.sysbench_line import HOST_TESTS, SysbenchLine, read_line
from plimsoll.spec.sysbench_workload import given_options, workload_of
from plimsoll.units import printable

INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingWanted:
    """Where a run is kept, and under which names.

    Attributes:
        study: The folder; made if it is missing.
        system: None for the server's address.
        workload: None for the test's name.
    """

    study: Path
    system: str | None = None
    workload: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """How it went.

    Attributes:
        exit_code: The engine's.
        notes: What the user should know of the recording, one line each.
    """

    exit_code: int
    notes: tuple[str, ...]


def record_sysbench(arguments: Sequence[str], wanted: RecordingWanted) -> Recorded:
    """Runs the engine in the place of sysbench and adds a recording to a study.

    A run that fails after its connections were open is recorded as failed. An interrupted one is not recorded, nor one
    that never began.

    Raises:
        SpecError: It is no run against a server, or the folder is no study. Nothing was started.
        HostError: The engine cannot be started, or the recording cannot be written.
        EngineBugError: The engine does not keep to its protocol.
    """
    line = read_line(arguments)
    refuse(line, wanted)
    refuse_for_recordings(wanted.study)
    with locked(wanted.study):
        run = _Run(line, servers_of(line, wanted.system))
        exit_code = run.follow(arguments)
        if exit_code == INTERRUPTED or run.progressing.ready is None:
            why = "it was interrupted" if exit_code == INTERRUPTED else "it ended before its run began"
            return Recorded(exit_code, (f"nothing was recorded: {why}",))
        return Recorded(exit_code, run.keep(wanted, exit_code))


def refuse(line: SysbenchLine, wanted: RecordingWanted) -> None:
    """Refuses what is no run against a server.

    Raises:
        SpecError: It is none.
    """
    test, command = line.test, line.command
    cure = "leave --record out"
    names = {"--record-system": wanted.system, "--record-workload": wanted.workload}
    faults = [
        f"{option}: must be printable text, is {name!r}"
        for option, name in names.items()
        if name is not None and not (name and name.isprintable())
    ]
    if test in HOST_TESTS:
        faults.append(f"--record: {test} runs against no server, and only such runs are recorded; {cure}")
    elif test in (None, "-") or command is None:
        faults.append(f"--record: a test and its command run are missing; {cure}, or add them")
    elif command != "run":
        faults.append(f"--record: only the command run is recorded, not {command}; {cure}")
    faults += [
        f"--record: with --{name} no server is measured; {cure}"
        for name in ("help", "version", "mysql-dry-run")
        if line.is_on(name)
    ]
    if faults:
        raise SpecError(*faults)


class _Run:
    """One run, from the look at the server to its recording."""

    def __init__(self, line: SysbenchLine, servers: Servers) -> None:
        """Looks at the server before the load changes anything."""
        surveyor = Surveyor()
        self._compat = line.text("compat", os.environ.get("SYSBENCH_COMPAT", "1.1"))
        self._line, self._servers = line, servers
        self._threads = max(line.whole("threads", 1), 1)
        self._warm_up = max(line.whole("warmup-time", 0), 0)
        self._duration_s = line.whole("time", 0 if line.test == "oltp" else 10) or None
        self._workload = workload_of(line, compat=self._compat)
        self._here = surveyor.host.name or ""
        self._environment, doubts = survey(surveyor, servers, self._workload, self._threads)
        self._watched = () if doubts else servers.instances
        self._watch = Watch()
        self._began_unix_s = time.time()
        self._failure: str | None = None
        rows = IntervalRows(driver=self._here, host=self._environment.host.name or "")
        self.progressing = Progressing(rows, warnings=[unwatched(doubt) for doubt in doubts])

    def follow(self, arguments: Sequence[str]) -> int:
        """Runs the engine to its end, whatever that is, and returns its exit code."""
        progressing = self.progressing
        with SysbenchProcess(arguments) as process:
            with watching(self._watched, host=self._here, engine_pid=process.pid, watch=self._watch):
                for message in map(self._servers.named, process.messages()):
                    match message:
                        case Ready():
                            progressing.ready = message
                        case Interval():
                            self._take(message)
                        case EngineWarning():
                            progressing.warnings.append(warning_of(message))
                        case Done():
                            progressing.done = message
                        case Failed():
                            self._failure = message.message
            exit_code = process.wait()
        progressing.warnings += map(unwatched, self._watch.faults)
        return exit_code

    def _take(self, interval: Interval) -> None:
        """Takes one interval in; the warm-up does not count, nor what was left to do when the time was over."""
        if interval.index == 0:
            self._began_unix_s = time.time() - interval.to_ns / 1e9
        self.progressing.rows.add(interval, began_unix_s=self._began_unix_s)
        end = math.inf if self._duration_s is None else self._warm_up + self._duration_s
        if self._warm_up <= interval.index < end:
            self.progressing.measured.append(interval)

    def keep(self, wanted: RecordingWanted, exit_code: int) -> tuple[str, ...]:
        """Commits the recording; returns what the user should know of it."""
        joiner = Joiner(read_study(wanted.study).recordings)
        trial = joiner.place(self._trial(wanted))
        outcome = outcome_of(self.progressing, self._why_failed(exit_code))
        rows = self.progressing.rows
        write_recording(
            wanted.study,
            trial,
            self._environment,
            outcome,
            intervals=rows.intervals(),
            errors=rows.errors(),
            histograms=rows.histograms(),
            telemetry=self._watch.table(rows.client_telemetry()),
        )
        return (*joiner.report, *_told(trial, outcome, wanted.study))

    def _trial(self, wanted: RecordingWanted) -> TrialRecord:
        began = self._began_unix_s
        states = [StateMark(state=State.MEASURE, began_unix_s=began + self._warm_up * INTERVAL_S)]
        if self._warm_up:
            note = f"{self._warm_up} s as asked for"
            states.insert(0, StateMark(state=State.WARM, began_unix_s=began, note=note))
        workload = self._workload_record()
        rate = self._line.whole("rate", 0)
        level = LevelRecord(connections=self._threads, rate_tps=float(rate) if rate > 0 else None)
        seed = max(self._line.whole("rand-seed", 0), 0)
        inputs = ("sysbench", self._servers.record.factors, workload.options, level, seed, began, os.getpid())
        return TrialRecord(
            trial_id=hashlib.sha256(repr(inputs).encode(errors="surrogateescape")).hexdigest()[:32],
            study=wanted.study.resolve().name,
            system=self._servers.record,
            workload=workload.model_copy(update={"name": wanted.workload or printable(self._line.test_name)}),
            level=level,
            repetition=0,
            seed=seed,
            interval_s=INTERVAL_S,
            duration_s=self._duration_s,
            origin=Origin(detail="plimsoll sysbench"),
            states=tuple(states),
        )

    def _workload_record(self) -> WorkloadRecord:
        if self._workload is None:
            return WorkloadRecord(name=self._line.test_name, options=given_options(self._line, compat=self._compat))
        ignored = self._line.text("mysql-ignore-errors")
        return workload_record(self._workload, {"ignore_errors": ignored} if ignored else {})

    def _why_failed(self, exit_code: int) -> str | None:
        if exit_code == 0:
            return None
        said = self._failure or f"it ended with exit code {exit_code}; what it printed says why"
        return f"sysbench: {printable(said)}{self.progressing.rows.told_errors()}"


def _told(trial: TrialRecord, outcome: Outcome, study: Path) -> tuple[str, ...]:
    level = trial.level
    rate = "" if level.rate_tps is None else f" at {level.rate_tps:g} tps"
    cell = f"{trial.system.name}, {trial.workload.name}, {level.connections} connections{rate}"
    verdict = "" if outcome.verdict is Verdict.COMPLETE else f" as {outcome.verdict}: {outcome.reason}"
    return (f"recorded{verdict}: {cell}, repetition {trial.repetition + 1}; next: plimsoll guide {study}",)
