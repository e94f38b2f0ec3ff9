"""How long transactions took, all together and by type, as the guide shows it; part of the analysis."""

from __future__ import annotations

from plimsoll.record.document import Document


class Durations(Document):
    """Response or service time over the measured windows of all trials of a cell, milliseconds.

    Percentiles come from merged histograms only; None where a source does not state them.

    Attributes:
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
    lower_bounds: tuple[str, ...] = ()


class ErrorTotal(Document):
    """How often one kind of error occurred in the measured windows.

    Attributes:
        error_class: retryable, connection or statement.
        code: MySQL's number; 0 when the client noticed it without one.
    """

    error_class: str
    code: int
    count: int


class TypeTotal(Document):
    """One type of transaction in the measured windows of all trials of a cell.

    Attributes:
        throughput_tps: Completed transactions per second.
        retries_count: Repetitions after an error; None where a source does not say.
        rolled_back_count: Of those that completed, as the workload wants it; None where a source does not say.
        errors: Those that it met, by class and code; a repeated transaction meets one each time.
        completed_ratio: Its share of all transactions that completed in the cell, 0..1; None when none did.
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
