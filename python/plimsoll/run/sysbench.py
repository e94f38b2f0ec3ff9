"""One run of sysbench's command line, kept as a recording: the engine runs it, this process watches.

What the servers that a command line names are called in a study, and what they say of themselves. Nothing of them is
changed, and a server that does not answer stops nothing: the engine will say so itself. Deliberately not here:
settling, resets, waiting for a warm server, looking at the rows afterwards: a study does those.
"""

from __future__ import annotations

import hashlib
import math
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from plimsoll.drive.protocol import Done, EngineMessage, EngineWarning, Failed, Interval, Progress, Ready
from plimsoll.drive.sysbench import SysbenchProcess
from plimsoll.errors import SpecError, StorageError, TargetError
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts
from plimsoll.record.level import Level
from plimsoll.record.model import Origin, Outcome, State, StateMark, SystemRecord, TrialRecord, Verdict, WorkloadRecord
from plimsoll.run.instance import Instance, located
from plimsoll.run.rows import IntervalRows
from plimsoll.run.single import Joined, RecordingWanted, joining, name_faults, recorded_line
from plimsoll.run.spool import measured_until_the_end
from plimsoll.run.survey import Surveyor
from plimsoll.run.trial_progress import INTERVAL_S, TrialProgress, outcome_of, workload_record
from plimsoll.run.watch import Watch, unseen, unwatched, watching
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.facts import instance_facts
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.sysbench import HOST_TESTS, SysbenchLine, given_options, read_line, workload_of
from plimsoll.spec.target import Target
from plimsoll.units import format_duration, printable

INTERRUPTED = frozenset(128 + number for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM))
"""How the engine ends by a signal, and where nobody reads any more what it prints."""

NO_SERVER_CODE = "no-server"
"""The engine's doubt about a script that connected to none."""


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

    A run that fails after its connections were open is recorded as failed, an interrupted one as interrupted. One that
    never began is not recorded.

    Raises:
        SpecError: It is no run against a server, or the folder is no study. Nothing was started.
        HostError: The engine cannot be started, or the recording cannot be written.
        RecordError: A newer Plimsoll wrote recordings of that study.
        EngineBugError: The engine does not keep to its protocol.
    """
    line = read_line(arguments)
    refuse(line, wanted)
    with joining(wanted.study) as joined:
        run = _Run(line, servers_of(line, wanted.system), joined, wanted)
        exit_code = run.follow(arguments)
        if run.progressing.ready is None or (exit_code in INTERRUPTED and run.spool.intervals_count == 0):
            run.spool.partial.discard()
            why = "it was interrupted" if exit_code in INTERRUPTED else "it ended before its run began"
            return Recorded(exit_code, (f"nothing was recorded: {why}",))
        return Recorded(exit_code, run.keep(exit_code))


def refuse(line: SysbenchLine, wanted: RecordingWanted) -> None:
    """Refuses what is no run against a server.

    Raises:
        SpecError: It is none.
    """
    test, command = line.test, line.command
    record = "--plimsoll-record"
    cure = f"leave {record} out"
    faults = name_faults(wanted.study, wanted.system, wanted.workload, record)
    if test in HOST_TESTS:
        faults.append(f"{record}: {test} does not use a server, and only runs against a server are recorded; {cure}")
    elif test in (None, "-") or command is None:
        faults.append(f"{record}: a test and its command run are missing; {cure}, or add them")
    elif command != "run":
        faults.append(f"{record}: only the command run is recorded, not {command}; {cure}")
    faults += [
        f"{record}: with --{name} no server is measured; {cure}"
        for name in ("help", "version", "mysql-dry-run")
        if line.is_on(name)
    ]
    if faults:
        raise SpecError(*faults)


class _Run:
    """One run, from the look at the server to its recording."""

    def __init__(self, line: SysbenchLine, servers: Servers, joined: Joined, wanted: RecordingWanted) -> None:
        """Looks at the server before the load changes anything."""
        surveyor = Surveyor()
        self._compat = line.text("plimsoll-compat") or os.environ.get("SYSBENCH_COMPAT") or "1.0"
        self._line, self._servers, self._joined, self._wanted = line, servers, joined, wanted
        self._threads = max(line.whole("threads", 1), 1)
        self._warm_up = 0  # the engine says so where it warms up: a script may have an option of that name
        self._duration_s = max(line.whole("time", 0 if line.test == "oltp" else 10), 0) or None
        self._workload = workload_of(line, compat=self._compat)
        self._here = surveyor.host.name or ""
        self._environment, instances, doubts = survey(surveyor, servers, self._workload, self._threads)
        self._watched = () if doubts else instances
        self._watch = Watch()
        self._began_unix_s = time.time()
        self._failure: str | None = None
        self._lost: StorageError | None = None
        rows = IntervalRows(driver=self._here, host=self._environment.host.name or "")
        self._doubts = tuple(unwatched(doubt) for doubt in (*doubts, *unseen(self._watched)))
        self.progressing = TrialProgress(rows, warnings=list(self._doubts))
        self.spool = joined.begin(self._trial(), self._environment, rows, self._watch)

    def follow(self, arguments: Sequence[str]) -> int:
        """Runs the engine to its end, whatever that is, and returns its exit code."""
        progressing = self.progressing
        with SysbenchProcess(arguments) as process:
            with watching(self._watched, host=self._here, engine_pid=process.pid, watch=self._watch):
                for message in map(self._servers.named, process.messages()):
                    match message:
                        case Ready():
                            progressing.ready = message
                        case Progress(phase="warm-up"):
                            self._warm_up = message.total_count
                        case Interval():
                            self._take(message)
                        case EngineWarning():
                            if message.code == NO_SERVER_CODE:
                                self._forget_servers()
                            progressing.warn(message)
                        case Done():
                            progressing.done = message
                        case Failed():
                            self._failure = message.message
            exit_code = process.wait()
        progressing.warnings += map(unwatched, self._watch.faults)
        return exit_code

    def _forget_servers(self) -> None:
        """The script opened no connection: what answers at the address of the options had no part in the run."""
        self._servers = no_servers(self._servers)
        self._environment = without_servers(self._environment)
        self.progressing.warnings = [warning for warning in self.progressing.warnings if warning not in self._doubts]

    def _take(self, interval: Interval) -> None:
        """Takes one interval in; the warm-up does not count, nor what was left to do when the time was over."""
        if interval.index == 0:
            self._began_unix_s = time.time() - interval.to_ns / 1e9
        end = math.inf if self._duration_s is None else self._warm_up + self._duration_s
        if self._warm_up <= interval.index < end:
            self.progressing.measured.add(interval)
        self._spool(interval)

    def _spool(self, interval: Interval) -> None:
        """A disk that is full must not end a run whose report somebody waits for; it is told when the run is done."""
        if self._lost is not None:
            return
        try:
            self.spool.add(interval, began_unix_s=self._began_unix_s, window=self.progressing.measured.window)
        except StorageError as error:
            self._lost = error

    def keep(self, exit_code: int) -> tuple[str, ...]:
        """Commits the recording; returns what the user should know of it.

        Raises:
            StorageError: It could not be written.
        """
        if self._lost is not None:
            self._joined.refuse_moved()
            raise self._lost
        if not self._servers.instances:
            self._move_from_servers()
        if exit_code in INTERRUPTED:
            load_s = self.spool.intervals_count * INTERVAL_S
            outcome = outcome_of(self.progressing, interruption=f"stopped after {format_duration(load_s)} of load")
        else:
            outcome = self._outcome(exit_code)
        self._joined.keep(self.spool, self._trial().states, outcome)
        return (*self._joined.notes, recorded_line(self._joined.trial, outcome, self._wanted.study))

    def _outcome(self, exit_code: int) -> Outcome:
        """What became of a run that nobody interrupted."""
        outcome = outcome_of(self.progressing, self._why_failed(exit_code))
        if outcome.verdict is not Verdict.COMPLETE:
            return outcome
        _, reason = measured_until_the_end(self.progressing, self.spool, self._joined.trial, self._environment)
        return outcome_of(self.progressing, reason)

    def _move_from_servers(self) -> None:
        """Rows that were taken for those of a server become those of this client alone."""
        trial_id = self._joined.trial.trial_id
        self._joined.turned_out(self._trial().model_copy(update={"trial_id": trial_id}), self._environment)
        self.spool.flush()
        for name in ("intervals.parquet", "errors.parquet", "histograms.parquet"):
            self.spool.partial.change(name, of_no_server)
        self.spool.partial.change("telemetry.parquet", lambda rows: rows.filter(pl.col("instance") == ""))

    def _trial(self) -> TrialRecord:
        began = self._began_unix_s
        states = [StateMark(state=State.MEASURE, began_unix_s=began + self._warm_up * INTERVAL_S)]
        if self._warm_up:
            note = f"{self._warm_up} s as asked for"
            states.insert(0, StateMark(state=State.WARM, began_unix_s=began, note=note))
        workload = self._workload_record()
        rate = self._line.whole("rate", 0)
        level = Level(connections=self._threads, rate_tps=float(rate) if rate > 0 else None)
        seed = self._line.whole("rand-seed", 0) % 2**64  # as the engine takes it
        inputs = ("sysbench", self._servers.record.factors, workload.options, level, seed, began, os.getpid())
        return TrialRecord(
            trial_id=hashlib.sha256(repr(inputs).encode(errors="surrogateescape")).hexdigest()[:32],
            study=self._wanted.study.resolve().name,
            system=self._servers.record,
            workload=workload.model_copy(update={"name": self._wanted.workload or printable(self._line.test_name)}),
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
        reason = self._failure or f"it ended with exit code {exit_code}; what it printed says why"
        return f"sysbench: {printable(reason)}{self.progressing.rows.told_errors()}"


CLIENT_ALONE = "client alone"
"""The system of a script that connects to no server."""

TABLES_MAX = 1000
"""So many tables are described at most."""

M = TypeVar("M", bound=EngineMessage)


@dataclass(frozen=True, slots=True)
class Servers:
    """One or more servers that the connections are spread over."""

    record: SystemRecord
    instances: tuple[Instance, ...]

    @property
    def targets(self) -> tuple[Target, ...]:
        """How they are reached."""
        return tuple(instance.target for instance in self.instances)

    def named(self, message: M) -> M:
        """A message of the engine, which names its one group as the test, with the instance's name in its place.

        Where connections go to several servers, nobody knows to which: the name is empty.
        """
        name = self.instances[0].name if len(self.instances) == 1 else ""
        parts = {Ready: ("failures", "encryptions"), Interval: ("groups",), Done: ("outages",)}.get(type(message), ())
        renamed = {
            part: [entry.model_copy(update={"instance": name}) for entry in getattr(message, part)] for part in parts
        }
        return message.model_copy(update=renamed)


def no_servers(named: Servers) -> Servers:
    """What a script ran on that opened no connection to the servers of its options. A name of the user's stays."""
    address = named.record.factors["target"]
    name = CLIENT_ALONE if named.record.name == address else named.record.name
    return Servers(SystemRecord(name=name, factors={"target": "none"}, instances=0), ())


def without_servers(environment: Environment) -> Environment:
    """An environment of this client alone."""
    client = environment.client.model_copy(update={"on_server_host": None, "limit_tps": None})
    return environment.model_copy(update={"host": HostFacts(), "instances": (), "client": client})


def of_no_server(table: pl.DataFrame) -> pl.DataFrame:
    """Rows that were taken for those of a server before it was known that there is none."""
    return table.with_columns(pl.lit("").alias("host"), pl.lit("").alias("instance"))


def servers_of(line: SysbenchLine, name: str | None) -> Servers:
    """The servers of a command line as one system; its name is their address where none is given."""
    targets = line.targets()
    address = printable(", ".join(target.endpoint for target in targets))
    factors = {"target": address, "tls": targets[0].tls.mode}
    record = SystemRecord(name=name or address, factors=factors, instances=len(targets))
    instances = tuple(Instance(name=f"{record.name}/{index}", target=target) for index, target in enumerate(targets))
    return Servers(record, instances)


def survey(
    surveyor: Surveyor, servers: Servers, workload: WorkloadSpec | None, connections: int
) -> tuple[Environment, tuple[Instance, ...], tuple[str, ...]]:
    """The environment, the servers with where they run, and what could not be found out about them.

    Args:
        surveyor: Knows this machine.
        servers: Whom to ask.
        workload: One of ours; None for a script, whose tables are taken to be all of its database.
        connections: Of the run.
    """
    facts, instances, doubts = list[InstanceFacts](), list[Instance](), list[str]()
    for instance in servers.instances:
        try:
            with connect(instance.target) as control:
                instances.append(located(instance, control))
                facts.append(_facts(control, instances[-1], None if workload is None else workload.table_names))
        except (TargetError, SpecError) as error:
            doubts.append(str(error))
    limit_tps = None if workload is None else surveyor.limit_tps(workload, connections, servers.targets)
    places = tuple(instances) if len(instances) == len(servers.instances) else servers.instances
    return surveyor.described(places, tuple(facts), limit_tps), places, tuple(doubts)


def _facts(control: ControlConnection, instance: Instance, wanted: Sequence[str] | None) -> InstanceFacts:
    present = [str(row[0]) for row in control.rows("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")]
    tables = [name for name in present if wanted is None or name in wanted]
    return instance_facts(control, name=instance.name, tables=tables[:TABLES_MAX], storage=instance.storage)
