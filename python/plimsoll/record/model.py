"""What one trial leaves behind, as values: `trial.json`, `outcome.json` and their parts.

The parts: where the numbers come from, the price of the system, the data that the trial began with and left,
connections and outages, drivers, hooks, how fast the machine was by a short fixed piece of work, and the figures that
the source of an import states. A price is no condition of a trial and may change later. Deliberately not here: the
environment (`environment`), tables (`frames`), reading and writing (`store`), any statistic (package `analyse`).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, field_serializer

from plimsoll.record.capacity import RunRole
from plimsoll.record.document import Document, FileMark, UnixSeconds
from plimsoll.record.level import Level, Ramp


class Origin(Document):
    """Where the numbers come from.

    Attributes:
        kind: `measured`, `imported-table`, `imported-sysbench` or `imported-tpcc`.
        detail: For an import the file's name and line numbers, and its source when known.
    """

    kind: str = "measured"
    detail: str | None = None


class Price(Document):
    """The price of a system.

    Attributes:
        per_month: What a month costs.
        currency: ISO 4217, such as `EUR`; null where the user does not say.
        term: On which terms, such as `1 year reserved`; null where the user does not say.
        date: When it was the price; null where the user does not say.
    """

    per_month: float
    currency: str | None = None
    term: str | None = None
    date: datetime.date | None = None


Way = Literal["copy", "prepare", "fresh", "left", "hook"]
"""Restored from a copy of cleanly stopped data; loaded again; used for the first time; as the last trial left it; put
back by a hook."""


class DataReset(Document):
    """How data came to be as a trial met it; all instances of the system together.

    Attributes:
        way: Which.
        duration_s: How long that took, seconds; None where nothing was done.
        size_bytes: Of the files that were copied; None where none were.
        cloned_bytes: Of those whose blocks the copy shares with the original (reflink).
        other_s: How long the other way took the last time, seconds; None when that is unknown.
        is_aged: Data came from an earlier study and was not loaded in this one.
    """

    way: Way
    duration_s: float | None = None
    size_bytes: int | None = None
    cloned_bytes: int = 0
    other_s: float | None = None
    is_aged: bool = False


class DataState(Document):
    """The data of a trial, before and after; all instances of the system together.

    Attributes:
        reset: How it was made ready; None in older recordings and for imports.
        rows_before: Rows of the workload's tables when the trial began; None when nobody counted them.
        rows_after: The same when the load had ended.
        bytes_before: Size of the files of all tables of the database, as the server says it; None when it does not.
        bytes_after: The same when the load had ended.
        redo_warm_bytes: Redo written from the beginning of the load to that of the measured window (progress of the log
            sequence number); None when the server was not watched.
        redo_capacity_bytes: Size of the redo log; None when unknown.
    """

    reset: DataReset | None = None
    rows_before: int | None = None
    rows_after: int | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    redo_warm_bytes: int | None = None
    redo_capacity_bytes: int | None = None

    @property
    def redo_turns(self) -> float | None:
        """How often the redo log was filled while the server warmed up; from 1 on it wrapped. None when unknown."""
        if self.redo_warm_bytes is None or not self.redo_capacity_bytes:
            return None
        return self.redo_warm_bytes / self.redo_capacity_bytes


class ConnectFailureRecord(Document):
    """Connections to one instance that could not be opened, for one reason.

    Attributes:
        instance: The server.
        role: Of the server, `source` or `replica`.
        code: MySQL's error number; None when no server answered with one.
        count: How many of them.
        message: What was said to the first of them.
    """

    instance: str
    role: str = "source"
    code: int | None = None
    count: int
    message: str


class EncryptionRecord(Document):
    """How the connections to one server were encrypted.

    Attributes:
        instance: The server.
        role: What the server was used for, `source` or `replica`.
        agreed: Version and cipher suite, such as `TLSv1.3 TLS_AES_256_GCM_SHA384`; None for connections in plain.
    """

    instance: str
    role: str
    agreed: str | None


class StatementRecord(Document):
    """A statement that transactions of a built-in workload send.

    Attributes:
        transaction: Type of the transaction.
        sql: With a `?` for each value. Of statements that are alike but for a table or the length of a list, the first.
        times: How often in a transaction; None where that differs.
    """

    transaction: str
    sql: str
    times: int | None = None


class ConnectionsRecord(Document):
    """How the connections of a trial came about.

    Attributes:
        wanted_count: How many were asked for.
        opened_count: With how many the load began.
        connect_s: How long it took to open them, seconds.
        failures: Why the others did not come.
        encryptions: How those to each server were encrypted; empty in recordings from before this was kept.
    """

    wanted_count: int
    opened_count: int
    connect_s: float
    failures: tuple[ConnectFailureRecord, ...] = ()
    encryptions: tuple[EncryptionRecord, ...] = ()


class OutageRecord(Document):
    """From the first connection to an instance that was lost until they were back.

    Attributes:
        instance: The server.
        role: Of the server, `source` or `replica`.
        from_s: When the first was lost, or fell silent, seconds since interval 0 began.
        to_s: When they were back; None when they were not before the trial ended.
        connections_count: How many were lost.
        lost_count: Transactions that failed because their connection was lost.
    """

    instance: str
    role: str = "source"
    from_s: float
    to_s: float | None = None
    connections_count: int
    lost_count: int


class DriverRecord(Document):
    """One driver. What became unknown because it was lost is None.

    Attributes:
        name: As in the column `driver` of all tables.
        is_here: It ran on the machine that ran Plimsoll.
        machine: Address of the node on which a Ray cluster ran it; None where the name says where it ran.
        clock_ahead_s: Its clock minus that of the machine that ran Plimsoll, seconds, before the start.
        clock_error_s: That is wrong by no more than this: half the shortest round trip, seconds.
        round_trip_s: The shortest round trip of a message to it and back, seconds.
        start_late_s: How much later than the first driver it began, seconds.
        client_user_s: Its processor time in user space, all of the trial, seconds.
        client_system_s: Its processor time in the kernel, seconds.
    """

    name: str
    is_here: bool = False
    machine: str | None = None
    engine_version: str | None = None
    clock_ahead_s: float | None = None
    clock_error_s: float | None = None
    round_trip_s: float | None = None
    start_late_s: float | None = None
    offered_count: int | None = None
    unfinished_count: int | None = None
    client_user_s: float | None = None
    client_system_s: float | None = None
    client_memory_bytes_max: int | None = None

    @property
    def place(self) -> str:
        """Its name, and where that is where the name does not say.

        >>> DriverRecord(name="ray#1", machine="10.0.0.5").place
        'ray#1 at 10.0.0.5'
        """
        return self.name if self.machine is None else f"{self.name} at {self.machine}"


class ReferenceTimes(Document):
    """How long a fixed piece of work took on the machine that drives the load; the shorter, the faster the machine.

    Attributes:
        at_unix_s: When it began, wall clock, seconds since 1970.
        processor_ms: SHA-256 of a fixed number of bytes on every CPU at the same time.
        memory_ms: Copies of a buffer that is larger than the processor's cache.
        flush_ms: Small writes with fdatasync in the data directory of a managed server; None without one.
        own_cpu_s: Processor time that Plimsoll itself, without the load engine, had used until then, seconds.
    """

    at_unix_s: UnixSeconds
    processor_ms: float
    memory_ms: float
    flush_ms: float | None = None
    own_cpu_s: float = 0.0


class Weather(Document):
    """The machine around one trial.

    In a duet all servers are frozen then, and the systems of a round share one.

    Attributes:
        before: Before the warm-up, on a server that has settled.
        after: After the measurement; None where the trial ended early.
    """

    before: ReferenceTimes
    after: ReferenceTimes | None = None


HookResult = Literal["done", "failed", "over-limit", "not-started"]
"""Exit code 0; another exit code or a signal; its time was up; the command cannot be executed."""


class HookRecord(Document):
    """One run of a hook.

    Attributes:
        hook: Its name, such as `start`.
        system: Whose; None for a hook of the whole study.
        began_unix_s: Wall clock, seconds since 1970.
        duration_s: Its repetitions included, seconds.
        result: `done`, `failed`, `over-limit` or `not-started`.
        exit_code: The last one; below 0 for the number of a signal. None where its time was up or it was not started.
        attempts_count: How often it ran: again after each exit code 75.
        output: File with its output, relative to the recording; None where it wrote nothing.
    """

    hook: str
    system: str | None = None
    began_unix_s: UnixSeconds
    duration_s: float
    result: HookResult
    exit_code: int | None = None
    attempts_count: int = 1
    output: str | None = None


class ReportedType(Document):
    """Figures that the source of an import states about one type of transaction.

    Attributes:
        counts: Totals of the run: `transactions` (completed, with those that were rolled back as the workload wants
            it), `failed`, `retries`, `rolled_back`; only those that the source states.
        response_ms: Milliseconds by statistic, as in `ReportedResult`.
    """

    counts: dict[str, int] = Field(default_factory=dict)
    response_ms: dict[str, float] = Field(default_factory=dict)


class ReportedResult(Document):
    """Figures that the source of an import states about a whole run.

    Attributes:
        throughput_tps: Transactions per second of all instances together.
        throughput_tps_by_instance: Of each instance, where the source states it; empty otherwise.
        response_ms: Milliseconds by statistic: `min`, `mean`, `p50`, `p90`, `p95`, `p99`, `p999`, `max`.
        host_cpu: Share of the host's processor time, 0..1, by mode: `user`, `system`, `iowait`, `idle`.
        counts: Totals of the run: `transactions`, `reads`, `writes`, `others` (statements), `ignored_errors`,
            `reconnects`, `failed`, `unfinished` (cut off at the end); empty where the source states none.
        types: By type of transaction; empty where the source does not tell them apart.
    """

    throughput_tps: float
    throughput_tps_by_instance: dict[str, float] = Field(default_factory=dict)
    response_ms: dict[str, float] = Field(default_factory=dict)
    host_cpu: dict[str, float] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)
    types: dict[str, ReportedType] = Field(default_factory=dict)


RECORD_FORMAT = 2
"""Version of the recording's format. A reader refuses a newer one and upgrades an older one."""

DUET_FORMAT = 3
"""Version of a recording of a duet, which has a table that earlier readers do not know."""

RECORD_FORMAT_MAX = DUET_FORMAT
"""The newest that is read."""

_INTERVALS_MAX = 10_000_000
"""Of one trial: four months in seconds. Arrays of so many fit into memory."""


class State(StrEnum):
    """The states of a trial, in their order."""

    RESET = "reset"
    SETTLE = "settle"
    WARM = "warm"
    MEASURE = "measure"
    VERIFY = "verify"


class Verdict(StrEnum):
    """What became of a trial: complete, ran but must not be believed, did not run to its end, was ended."""

    COMPLETE = "complete"
    INVALID = "invalid"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class TrialWarning(Document):
    """A doubt about a number: what, the evidence, and what to do.

    Attributes:
        code: Stable name; every code is described in docs/warnings.md.
        evidence: What was seen, with its numbers and units, as one sentence.
        advice: What to do about it, as one sentence.
    """

    code: str
    evidence: str
    advice: str


class SystemRecord(Document):
    """The system that carried the load.

    Attributes:
        name: As the user calls it; unique within a study.
        factors: What tells it from other systems: name and value as text, such as `{"storage": "SAN"}`.
        instances: How many servers it consists of.
        cost_per_month: In the user's currency; None when not given.
        price: The same with currency, term and date; None when not given.
        factor_values: Its value of each factor of the study's `[factors]`, by the factor's name, in the order of the
            file; empty where systems were written out.
        environment: The environment of the study in which it is measured; None where environments are not switched.
    """

    name: str
    factors: dict[str, str] = Field(default_factory=dict)
    instances: int = 1
    cost_per_month: float | None = None
    price: Price | None = None
    factor_values: dict[str, str] = Field(default_factory=dict)
    environment: str | None = None


def price_of(system: SystemRecord) -> Price | None:
    """What a system costs; older recordings have only the number."""
    if system.price is not None or system.cost_per_month is None:
        return system.price
    return Price(per_month=system.cost_per_month)


class WorkloadRecord(Document):
    """What clients did.

    Attributes:
        name: As the user calls it; unique within a study.
        kind: Such as `oltp_read_write`; None when a published table does not say.
        options: All options that were in force, defaults included.
        working_set: Rows, of all tables together, by the percentage of accesses that they take: `50`, `90`, `99`. Empty
            where rows are not chosen by their numbers.
        rate_unit: How its throughput is shown: `tps` or `tpm`. Inside it is always per second.
        reported: What the authors of an import say that clients did; empty for other workloads.
    """

    name: str
    kind: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    working_set: dict[str, int] = Field(default_factory=dict)
    rate_unit: str = "tps"
    reported: str = ""


class StateMark(Document):
    """When a state began, and how it ended.

    Attributes:
        state: Which.
        began_unix_s: Wall clock, seconds since 1970.
        note: What was waited for and whether it was reached; None when there is nothing to say.
    """

    state: State
    began_unix_s: UnixSeconds
    note: str | None = None


class TrialRecord(Document):
    """`trial.json`: what was planned, and when each state began.

    Attributes:
        record_format: Version of the format.
        trial_id: Hash of the trial's own inputs.
        study: Name of the study.
        repetition: 0, 1, 2, … for the same system, workload and level.
        position: Place in the order in which trials ran.
        block: Trials with the same number ran without the system being stopped in between.
        session_id: Of the `plimsoll study run` that ran it; None when unknown.
        server_start_id: The same for trials that met the same server processes; None when unknown.
        labels: What the user said of the version that was measured, such as `{"commit": "3f2a91c"}`.
        seed: All randomness of the load follows from it.
        interval_s: Length of an interval, seconds.
        duration_s: Planned length of the measured window, seconds; None for imports that do not say.
        repeats: The trial that this one replaces, because the machine was slow around it; None for none.
        search_id: Of the search for a capacity that it is a run of; None for others.
        search_role: What it was for in that search; None for others.
        ramp: How its rate rose; None where it did not rise.
    """

    record_format: int = RECORD_FORMAT
    trial_id: str
    study: str
    system: SystemRecord
    workload: WorkloadRecord
    level: Level
    repetition: int
    position: int = 0
    block: int = 0
    session_id: str | None = None
    server_start_id: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    seed: int = 0
    interval_s: Annotated[float, Field(gt=0)] = 1.0
    duration_s: float | None = None
    origin: Origin = Origin()
    repeats: str | None = None
    states: tuple[StateMark, ...] = ()
    search_id: str | None = None
    search_role: RunRole | None = None
    ramp: Ramp | None = None

    @field_serializer("level")
    def _stored_level(self, level: Level) -> dict[str, Any]:
        """Terminals are the workload's and stand with its options."""
        return level.model_dump(exclude={"terminals"})


class EngineAccount(Document):
    """What the engine says about itself and the whole trial.

    Attributes:
        started_unix_s: When interval 0 began, wall clock, seconds since 1970.
        duration_s: How long load was offered, warm-up included, seconds.
        client_user_s: Processor time in user space, all of the trial, seconds.
        client_system_s: Processor time in the kernel, seconds.
        client_memory_bytes_max: Largest resident memory.
    """

    started_unix_s: UnixSeconds
    duration_s: float
    offered_count: int
    unfinished_count: int
    client_user_s: float
    client_system_s: float
    client_memory_bytes_max: int


class Window(Document):
    """The measured intervals: from `first` to `last`, both included."""

    first: Annotated[int, Field(ge=0, le=_INTERVALS_MAX)]
    last: Annotated[int, Field(ge=0, le=_INTERVALS_MAX)]


class Outcome(Document):
    """`outcome.json`: written last; its presence commits the recording.

    Attributes:
        verdict: Complete; or invalid, failed or interrupted, and then it counts nowhere.
        reason: Why it is not complete.
        nothing_completed: It is invalid only because no transaction completed in the measured window: at a rate that is
            overload.
        window: Which intervals count; None when there are none.
        account: None for imports.
        connections: None for imports, and when the load never began.
        statements: What its transactions send; empty for workload files, for imports and in older recordings.
        drivers: Those that shared the load; empty where it was one engine on the machine that ran Plimsoll.
        outages: The first thousand, by instance and time.
        outages_count: How many there were.
        reported: None for what was measured here, and where the source of an import states nothing of the whole run.
        weather: How fast the machine was; None for imports and older recordings.
        data: What the trial's data was before and after; None for imports and older recordings.
        hooks: Those that ran since the trial before, and in this one.
        files: The recording's other files by name. Filled in when the recording is written.
    """

    verdict: Verdict
    reason: str | None = None
    nothing_completed: bool = False
    window: Window | None = None
    account: EngineAccount | None = None
    connections: ConnectionsRecord | None = None
    statements: tuple[StatementRecord, ...] = ()
    drivers: tuple[DriverRecord, ...] = ()
    outages: tuple[OutageRecord, ...] = ()
    outages_count: int = 0
    reported: ReportedResult | None = None
    weather: Weather | None = None
    data: DataState | None = None
    hooks: tuple[HookRecord, ...] = ()
    warnings: tuple[TrialWarning, ...] = ()
    files: dict[str, FileMark] = Field(default_factory=dict)


def priced(price: Price | None) -> dict[str, Any]:
    """The fields of a system's record that say its price."""
    return {"cost_per_month": None if price is None else price.per_month, "price": price}


def start_spread_s(drivers: Sequence[DriverRecord]) -> float:
    """From the first driver's start to the last one's, seconds, as far as that is known."""
    return max((driver.start_late_s or 0.0 for driver in drivers), default=0.0)


def start_error_s(drivers: Iterable[DriverRecord]) -> float:
    """How wrong the time between two starts can be: the two largest errors of clocks together, seconds."""
    return sum(sorted((driver.clock_error_s or 0.0 for driver in drivers), reverse=True)[:2])
