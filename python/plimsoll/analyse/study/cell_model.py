"""What is said about all repetitions of one system, workload and level together; part of the analysis.

How long transactions took is part of it. `Estimate`, `Bounds` and `SpreadKind` are how every estimated number is
stated.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from plimsoll.analyse.trial.condition_model import Disturbance, TrialCondition
from plimsoll.analyse.trial.tpcc_clauses import TpccFigures
from plimsoll.record.document import Document
from plimsoll.record.level import Level


class Durations(Document):
    """Response or service time over the measured windows of all trials of a cell, milliseconds.

    Percentiles come from merged histograms only; None where a source does not state them.

    Attributes:
        p50: Median.
        p90: 90th percentile.
        p95: 95th percentile.
        p99: 99th percentile.
        p999: 99.9th percentile.
        max: The longest.
        mean: Of all transactions; of several published figures the mean of their means.
        single_runs: By percentile (`p99`, ...), the values of single trials in their order, where percentiles of all
            trials together cannot be had: some trials state figures and have no histogram. The percentile of all
            trials lies between the lowest and the highest of them if every trial is among them.
        lower_bounds: Names of those that are lower bounds: they rest on transactions that had not ended at the end of
            the window, so that the true value is this or more.
    """

    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p999: float | None = None
    max: float | None = None
    mean: float | None = None
    single_runs: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    lower_bounds: tuple[str, ...] = ()

    def of_one_run(self) -> dict[str, Any]:
        """All that there is to say of one trial, as JSON."""
        return self.model_dump(mode="json", exclude={"single_runs"})


class ErrorTotal(Document):
    """How often one kind of error occurred in the measured windows.

    Attributes:
        error_class: retryable, connection or statement.
        code: MySQL's number; 0 when the client noticed it without one.
        count: How often.
    """

    error_class: str
    code: int
    count: int

    @property
    def was_seen(self) -> bool:
        """Whether a server or the client said so; a script may count as an error whatever it likes."""
        return self.code != 0 or self.error_class != "statement"


class TypeTotal(Document):
    """One type of transaction in the measured windows of all trials of a cell.

    Attributes:
        name: Of the type.
        completed_count: Those that completed.
        failed_count: Those that ended in an error.
        throughput_tps: Completed transactions per second.
        retries_count: Repetitions after an error; None where a source does not say.
        rolled_back_count: Of those that completed, as the workload wants it; None where a source does not say.
        errors: Those that it met, by class and code; a repeated transaction meets one each time.
        completed_ratio: Its share of all transactions that completed in the cell, 0..1; None when none did.
        response_ms: Response times of those that completed.
    """

    name: str
    completed_count: int
    failed_count: int
    throughput_tps: float | None = None
    retries_count: int | None = None
    rolled_back_count: int | None = None
    errors: tuple[ErrorTotal, ...] = ()
    completed_ratio: float | None = None
    response_ms: Durations = Durations()


class SpreadKind(StrEnum):
    """What is known of how much a figure may vary."""

    REPETITIONS = "repetitions"
    POOLED = "pooled"
    WITHIN_RUN = "within-run"
    WITHIN_STUDY = "within-study"  # repetitions of two studies: nothing of how a machine moves between them
    SESSIONS = "sessions"  # repetitions, and how far studies of one system at other times lie apart
    BLOCKS = "blocks"


VAGUE_FACTOR = 3.0
"""A value that is not even known within this factor is said to be so in words, without figures."""

EQUAL_WITHIN = 0.05
"""Systems count as equal within this share unless the study says otherwise."""


class Bounds(Document):
    """Where the true value lies with the stated confidence.

    Attributes:
        low: The lower bound, in the unit of the figure.
        high: The upper bound.
        confidence: 0..1, such as 0.95.
        basis: What they rest on: repetitions of the cell itself, those of all cells that were measured alike, the
            blocks in which environments were measured in turn, or the seconds of single runs, which say nothing about
            how repetitions differ. null where it is mixed.
        degrees: Degrees of freedom of that; null where it is mixed.
        method: How they were found, in a few words.
    """

    low: float
    high: float
    confidence: float = 0.95
    basis: SpreadKind | None = None
    degrees: float | None = None
    method: str

    @property
    def is_vague(self) -> bool:
        """Whether the value is not even known within a factor of 3: guides say so in words, and show no figures."""
        return is_vague(self.low, self.high)

    @property
    def is_vague_ratio(self) -> bool:
        """The same for a ratio."""
        return is_vague_ratio(self.low, self.high)

    @property
    def inverted(self) -> Bounds:
        """Those of a ratio seen from the other side."""
        return self.model_copy(update={"low": 1 / self.high, "high": 1 / self.low})


def is_vague(low: float, high: float) -> bool:
    """Whether an interval is so wide that its figures are not shown."""
    return high > VAGUE_FACTOR * low


def is_vague_ratio(low: float, high: float) -> bool:
    """The same for that of a ratio: only if it includes 1. One that excludes 1 decides, so its figures are shown."""
    return is_vague(low, high) and low <= 1 <= high


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

    @property
    def inverted(self) -> Estimate:
        """A ratio seen from the other side."""
        turned = None if self.bounds is None else self.bounds.inverted
        return self.model_copy(update={"value": 1 / self.value, "bounds": turned})

    @property
    def without_bounds(self) -> Estimate:
        """A figure of which nobody knows how far it is off."""
        return self.model_copy(update={"bounds": None})


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
        server_of_own: What the server took of the processors that it could use, where those are fewer than the host's.
        client_of_own: The same of the load engine.
    """

    user: float | None = None
    system: float | None = None
    iowait: float | None = None
    idle: float | None = None
    steal: float | None = None
    server: float | None = None
    client: float | None = None
    server_of_own: float | None = None
    client_of_own: float | None = None


class RateFigures(Document):
    """What only load at a rate has.

    Attributes:
        offered_tps: Transactions that fell due in each second of the whole trials, warm-up included.
        pool_wait_ms: From when a transaction was due until a connection was free.
        dispatch_delay_ms: From then until it was sent: the client's own slowness.
        waiting_max: The longest backlog at the end of an interval of an overload, transactions.
        overloaded_count: Trials in which more was asked for than could be done.
        is_sustained: In all of its trials nothing was dropped, no overload lasted to the end, at most 1 % failed, and
            no replica's lag grew.
        sustained_count: In so many of its trials that was so.
        left_ratios: The share of the offered transactions of each measured window that is left over at its end: what
            was in flight then, less what was at its begin. About 0 where the system keeps up, below 1; empty where it
            is not known of some trial.
    """

    offered_tps: float | None = None
    pool_wait_ms: Durations = Durations()
    dispatch_delay_ms: Durations = Durations()
    waiting_max: int = 0
    overloaded_count: int = 0
    is_sustained: bool
    sustained_count: int = 0
    left_ratios: tuple[float, ...] = ()


class Cell(Document):
    """One system, workload and level: all its repetitions together.

    Attributes:
        level: What was offered.
        throughput_tps: Completed transactions per second.
        scale_factor: Throughput over that of the lowest level of the same curve; None at a rate.
        rate: What only load at a rate has; None for other levels.
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
        unfinished_count: Transactions that were due before the end of a window and never ended.
        stalled_ratio: Share of the measured windows in which nothing, or nearly nothing, completed, 0..1; mean of the
            trials.
        types: Each type of transaction, the most frequent first; empty for published figures.
        tpcc: Of the TPC-C-derived workload; None for others.
        instances_tps: Completed transactions per second of each instance, mean of the trials; empty where there is one.
        trials: Ids of the recordings that it rests on.
        conditions: Of each of them: its state while it was measured, and its machine's weather.
        repetitions_ms_p99: The 99th percentile of response time of each trial, milliseconds, where each has one that is
            no lower bound; empty otherwise.
        growing_replicas: Replicas whose lag grew in some trial: what was measured then is not sustained.
        disturbance: How slow the servers' machine was in all of its trials together; null where recordings do not say.
        is_disturbed: It was slow for so long that the figures are not those of the system: throughput has no bounds.
    """

    level: Level
    throughput_tps: Estimate
    scale_factor: Estimate | None = None
    rate: RateFigures | None = None
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
    conditions: tuple[TrialCondition, ...] = ()
    repetitions_ms_p99: tuple[float, ...] = ()
    growing_replicas: tuple[str, ...] = ()
    disturbance: Disturbance | None = None
    is_disturbed: bool = False


def has_p99(times: Durations) -> bool:
    """Whether a 99th percentile is known, be it of single runs."""
    return times.p99 is not None or "p99" in times.single_runs
