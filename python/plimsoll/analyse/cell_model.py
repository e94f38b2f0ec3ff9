"""What is said about all repetitions of one system, workload and level together; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from plimsoll.analyse.duration_model import Durations, ErrorTotal, TypeTotal
from plimsoll.analyse.tpcc_model import TpccFigures
from plimsoll.record.document import Document


class SpreadKind(StrEnum):
    """What is known of how much a figure may vary."""

    REPETITIONS = "repetitions"
    POOLED = "pooled"
    WITHIN_RUN = "within-run"


class Bounds(Document):
    """Where the true value lies with the stated confidence.

    Attributes:
        low: The lower bound, in the unit of the figure.
        high: The upper bound.
        confidence: 0..1, such as 0.95.
        basis: What they rest on: repetitions of the cell itself, those of all cells that were measured alike, or the
            seconds of single runs, which say nothing about how repetitions differ. null where it is mixed.
        degrees: Degrees of freedom of that; null where it is mixed.
        method: How they were found, in a few words.
    """

    low: float
    high: float
    confidence: float = 0.95
    basis: SpreadKind | None = None
    degrees: float | None = None
    method: str


class Estimate(Document):
    """A number, how sure it is, and how many trials it rests on.

    Attributes:
        value: In the unit that the field's name says; ratios have none.
        bounds: None when they cannot be given; the guide says why.
        trial_count: How many trials it rests on.
    """

    value: float
    bounds: Bounds | None = None
    trial_count: int = 1


class CpuShares(Document):
    """Share of processor time, 0..1, mean over the measured windows; None where unknown.

    The host's modes add up to 1; `server` and `client` are shares of the whole host as well.

    Attributes:
        user: In user space.
        system: In the kernel.
        iowait: Idle while a task waited for storage.
        idle: Idle otherwise.
        steal: Taken by the hypervisor.
        server: Of the server, all instances together.
        client: Of the load engine.
    """

    user: float | None = None
    system: float | None = None
    iowait: float | None = None
    idle: float | None = None
    steal: float | None = None
    server: float | None = None
    client: float | None = None


class CellFigures(Document):
    """One system, workload and level: all its repetitions together.

    Attributes:
        connections: Of all instances together.
        connections_per_instance: Where connections were stated for each instance; None when in total.
        throughput_tps: Completed transactions per second.
        response_ms: From when a transaction was due until it was done.
        service_ms: From when it was sent until it was done.
        cpu: Who used the processors.
        statements_per_s: Statements per second, in the measured windows; None for published figures, as are the two
            below.
        rows_returned_per_transaction: Rows that the server sent for each completed transaction.
        rows_affected_per_transaction: Rows that it changed for each.
        client_us_per_statement: Processor time of the load engine for each statement, microseconds.
        errors: By class and code.
        completed_count: Transactions that completed in the measured windows; 0 for published figures.
        failed_count: Transactions that ended in an error.
        dropped_count: Transactions that were due and never started.
        retries_count: Times that a transaction was begun again after an error.
        unfinished_count: Transactions that were due before the end of a window and never ended, see `unfinished`.
        stalled_ratio: Share of the measured windows in which nothing, or nearly nothing, completed, 0..1; mean of the
            trials.
        types: Each type of transaction, the most frequent first; empty for published figures.
        tpcc: Of the TPC-C-derived workload; None for others.
        instances_tps: Completed transactions per second of each instance, mean of the trials; empty where there is one.
        trials: Ids of the recordings that it rests on.
    """

    connections: int
    connections_per_instance: int | None = None
    throughput_tps: Estimate
    response_ms: Durations = Durations()
    service_ms: Durations = Durations()
    cpu: CpuShares = CpuShares()
    statements_per_s: float | None = None
    rows_returned_per_transaction: float | None = None
    rows_affected_per_transaction: float | None = None
    client_us_per_statement: float | None = None
    errors: tuple[ErrorTotal, ...] = ()
    completed_count: int = 0
    failed_count: int = 0
    dropped_count: int = 0
    retries_count: int = 0
    unfinished_count: int = 0
    stalled_ratio: float = 0.0
    types: tuple[TypeTotal, ...] = ()
    tpcc: TpccFigures | None = None
    instances_tps: dict[str, float] = Field(default_factory=dict)
    trials: tuple[str, ...] = ()


class Cell(CellFigures):
    """A cell whose level is a number of connections.

    Attributes:
        scale_factor: Throughput over that of the lowest level of the same curve.
    """

    scale_factor: Estimate
