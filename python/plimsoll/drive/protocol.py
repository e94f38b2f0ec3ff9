"""What the engine says, in Python: JSON lines, one message each. What it is told is in `plans`.

The one place of the schema is the engine's core crate (`plan`, `message`); its generated form is
docs/engine-protocol.schema.json, and a test holds these models to it. An engine may run on a machine that nobody here
controls: what it says is bounded where it is read, so that tables and computations take whatever passes.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from plimsoll.record.histograms import BUCKET_COUNT


class EngineMessage(BaseModel):
    """Something that the engine said."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Nanoseconds = Annotated[int, Field(ge=0, lt=2**63)]
"""A duration, a sum of durations or a moment: 292 years."""

ErrorCode = Annotated[int, Field(ge=0, lt=2**16)]
"""MySQL's error number."""


class Lost(EngineMessage):
    """The first error of a ledger's workers since transactions were acknowledged.

    Attributes:
        monotonic_ns: When, on the machine's monotonic clock.
        code: MySQL's error number; where no server answered, that of MySQL's client library for it (2002, 2003, 2013).
    """

    type: Literal["lost"]
    monotonic_ns: Nanoseconds
    code: ErrorCode
    message: str


class Resumed(EngineMessage):
    """A ledger's workers write again: when the first transaction was acknowledged, on the machine's monotonic clock."""

    type: Literal["resumed"]
    monotonic_ns: Nanoseconds


Count = Annotated[int, Field(ge=0, lt=2**53)]
"""How many, or bytes: as exact as a floating-point number is."""

Ordinal = Annotated[int, Field(ge=0, lt=2**32)]
"""An index or a process id."""

PROTOCOL = 1
"""Version of the protocol; the engine's `hello` must say the same."""

Role = Literal["source", "replica"]
"""What a server is used for."""


class Hello(EngineMessage):
    """First: who speaks, and one reading of both clocks taken together."""

    type: Literal["hello"]
    protocol: Ordinal
    engine: str
    pid: Ordinal
    monotonic_ns: Nanoseconds
    unix_ns: Nanoseconds


class Pong(EngineMessage):
    """The answer to a ping: the engine's wall clock when it read that."""

    type: Literal["pong"]
    id: Ordinal
    unix_ns: Nanoseconds


class ConnectFailure(EngineMessage):
    """Connections of one group that could not be opened, for one reason."""

    instance: str
    role: Role = "source"
    code: ErrorCode | None = None
    count: Count
    message: str


class Encryption(EngineMessage):
    """How the connections to one server are encrypted: version and cipher suite, or None for connections in plain."""

    instance: str
    role: Role
    agreed: str | None = None


class SentStatement(EngineMessage):
    """A statement that transactions of a type send, with a `?` for each value; how often, where that is fixed."""

    transaction: str
    sql: str
    times: Count | None = None


class Ready(EngineMessage):
    """The connections are open, or as many as came; `start` is awaited."""

    type: Literal["ready"]
    connections: Count
    wanted_count: Count
    connect_ms: Count
    failures: list[ConnectFailure]
    encryptions: list[Encryption]
    statements: list[SentStatement]


class Listening(EngineMessage):
    """The fake server or the relay can be reached: at a port of the loopback address, or at its socket (port 0)."""

    type: Literal["listening"]
    port: Annotated[int, Field(ge=0, lt=2**16)]


class ClientCpu(EngineMessage):
    """Processor time that the engine itself used, nanoseconds."""

    user_ns: Nanoseconds
    system_ns: Nanoseconds


class Histogram(EngineMessage):
    """A sparse histogram of durations; bucket layout in `plimsoll.record.histograms`."""

    buckets: list[Annotated[int, Field(ge=0, lt=BUCKET_COUNT)]]
    counts: list[Count]
    sum_ns: Nanoseconds
    max_ns: Nanoseconds

    @model_validator(mode="after")
    def _refuse_uncounted(self) -> Self:
        if len(self.buckets) != len(self.counts):
            raise ValueError(f"{len(self.buckets)} buckets have {len(self.counts)} counts")
        return self


class Counts(EngineMessage):
    """Occurrences of one transaction type within an interval."""

    completed: Count
    rolled_back: Count
    failed: Count
    dropped: Count
    retries: Count
    reads: Count
    writes: Count
    others: Count
    rows_returned: Count
    rows_affected: Count


class TransactionSnapshot(EngineMessage):
    """Counts and durations of one transaction type within an interval."""

    counts: Counts
    histograms: dict[str, Histogram]


class ErrorCount(EngineMessage):
    """How often one kind of error occurred.

    Attributes:
        transaction: Type of transaction that met it; None outside of transactions.
    """

    transaction: str | None = None
    error_class: str = Field(alias="class")
    code: ErrorCode
    count: Count


class Snapshot(EngineMessage):
    """What a group of connections did within an interval."""

    transactions: dict[str, TransactionSnapshot]
    errors: list[ErrorCount]


class ReplicationInterval(EngineMessage):
    """How far a replica was behind within an interval, and what became of reads there.

    Attributes:
        lag_ns: The largest lag within the interval; None where nobody knows.
        lag_end_ns: The lag at its end.
        reads_count: Transactions that were sent to the replica because they only read.
        stale_count: Those of them that may have missed the last write of their connection.
        waits_count: Waits for a write of the connection, those that were given up included.
        wait_ns: How long these took together; part of the response time.
        wait_timeouts_count: Waits that were given up: the read ran on the source.
    """

    lag_ns: Nanoseconds | None = None
    lag_end_ns: Nanoseconds | None = None
    reads_count: Count
    stale_count: Count
    waits_count: Count
    wait_ns: Nanoseconds
    wait_timeouts_count: Count


class GroupInterval(EngineMessage):
    """What one group did within an interval on one server; the source also has what is of the whole group.

    Attributes:
        instance: The server's name.
        backlog_count: Transactions that were due at its end and that no connection was free for.
        connected_count: Connections that were open at its end.
        in_flight: How long each transaction that was due and had not ended at its end had lasted by then: `response` of
            all of them, `service` of those that were sent, `pool_wait` of those that waited for a connection. A measure
            without any is left out.
        replication: Of a replica; None for sources.
    """

    instance: str
    role: Role = "source"
    backlog_count: Count
    connected_count: Count
    snapshot: Snapshot
    in_flight: dict[str, Histogram]
    replication: ReplicationInterval | None = None


class TurnPart(EngineMessage):
    """A part of a turn: its begin, the rest of the time in which transactions begin, or the end of those in flight.

    Attributes:
        turn: Ordinal in the plan's order, from 0.
        side: Whose turn it is.
    """

    turn: Ordinal
    side: Ordinal
    part: Literal["lead", "counted", "drain"]


class Handover(EngineMessage):
    """Nothing is in flight, and nothing begins before `go`: the servers of the side are to run, and no others."""

    type: Literal["handover"]
    turn: Ordinal
    side: Ordinal


class Interval(EngineMessage):
    """What happened within one interval; times in nanoseconds since trial start.

    Attributes:
        run_delay_ns: How long the engine's threads together were ready and waited for a processor; None where the
            kernel does not count that.
        turn: Which part of which turn it is; None where groups do not take turns.
    """

    type: Literal["interval"]
    index: Ordinal
    from_ns: Nanoseconds
    to_ns: Nanoseconds
    client: ClientCpu
    groups: list[GroupInterval]
    run_delay_ns: Nanoseconds | None = None
    turn: TurnPart | None = None

    @model_validator(mode="after")
    def _refuse_backwards(self) -> Self:
        if self.to_ns < self.from_ns:
            raise ValueError("an interval ends before it begins")
        return self

    @property
    def completed(self) -> int:
        """Completed transactions of all groups and types."""
        return sum(t.counts.completed for g in self.groups for t in g.snapshot.transactions.values())

    @property
    def throughput_tps(self) -> float:
        """Completed transactions per second."""
        return self.completed / max((self.to_ns - self.from_ns) / 1e9, 1e-9)


class Progress(EngineMessage):
    """How far a data set is, or the opening of connections."""

    type: Literal["progress"]
    phase: str
    done_count: Count
    total_count: Count


class EngineWarning(EngineMessage):
    """A doubt about the numbers to come."""

    type: Literal["warning"]
    code: str
    evidence: str
    advice: str


class Outage(EngineMessage):
    """From the first connection of a group that was lost until they were back; nanoseconds since trial start."""

    instance: str
    role: Role = "source"
    from_ns: Nanoseconds
    to_ns: Nanoseconds | None = None
    connections_count: Count
    lost_count: Count


class Done(EngineMessage):
    """Last, when the work was done: the account of the whole."""

    type: Literal["done"]
    reason: Literal["completed", "stopped", "outage"]
    started_unix_ns: Nanoseconds
    duration_ns: Nanoseconds
    offered_count: Count
    unfinished_count: Count
    client: ClientCpu
    memory_bytes_max: Count
    rows_count: Count
    outages: list[Outage]
    outages_count: Count


class Failed(EngineMessage):
    """Last, when it could not be done."""

    type: Literal["failed"]
    failure_class: Literal["spec", "target", "data", "host", "bug"] = Field(alias="class")
    code: ErrorCode | None = None
    sqlstate: str | None = None
    message: str


Message = Annotated[
    Hello | Lost | Resumed | Pong | Ready | Listening | Interval | Handover | Progress | EngineWarning | Done | Failed,
    Field(discriminator="type"),
]

MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
"""Reads one line of the engine's output."""
