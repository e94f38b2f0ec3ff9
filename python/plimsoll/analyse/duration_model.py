"""How long transactions took, all together and by type, as the guide shows it; part of the analysis."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from plimsoll.record.document import Document


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


def has_p99(times: Durations) -> bool:
    """Whether a 99th percentile is known, be it of single runs."""
    return times.p99 is not None or "p99" in times.single_runs


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
