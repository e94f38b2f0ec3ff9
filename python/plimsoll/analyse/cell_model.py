"""What is said about all repetitions of one system, workload and level together; part of the analysis."""

from __future__ import annotations

from pydantic import Field

from plimsoll.analyse.duration_model import Durations, ErrorTotal, TypeTotal
from plimsoll.analyse.tpcc_model import TpccFigures
from plimsoll.record.document import Document


class Bounds(Document):
    """Where the true value lies with the stated confidence.

    Attributes:
        confidence: 0..1, such as 0.95.
        method: How they were found, in a few words.
    """

    low: float
    high: float
    confidence: float = 0.95
    method: str


class Estimate(Document):
    """A number, how sure it is, and how many trials it rests on.

    Attributes:
        bounds: None when they cannot be given; the guide says why.
    """

    value: float
    bounds: Bounds | None = None
    trial_count: int = 1


class CpuShares(Document):
    """Share of processor time, 0..1, mean over the measured windows; None where unknown.

    The host's modes add up to 1; `server` and `client` are shares of the whole host as well.
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
        throughput_tps: Completed transactions per second.
        client_us_per_statement: Processor time of the load engine for each statement, microseconds.
        completed_count: Transactions that completed in the measured windows; 0 for published figures.
        dropped_count: Transactions that were due and never started.
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
    unfinished_count: int = 0
    stalled_ratio: float = 0.0
    retries_count: int = 0
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
