"""What a single trial says, as `plimsoll trial --json` prints it; the text for people is made from the same value."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from plimsoll.analyse.study.cell_model import Durations, ErrorTotal, TypeTotal
from plimsoll.analyse.trial.drivers import DriverFigures
from plimsoll.analyse.trial.histograms import durations
from plimsoll.analyse.trial.tpcc import is_tpcc, totals_of, tpcc_deviations, tpcc_figures
from plimsoll.analyse.trial.tpcc_clauses import Deviation, TpccFigures
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.analyse.trial.types import error_totals
from plimsoll.record.document import Document
from plimsoll.record.model import ConnectionsRecord, OutageRecord, TrialWarning, Verdict
from plimsoll.spec.clients import OpenArrivals


class ResultPart(Document):
    """A value of which JSON has only what was set: keys that do not apply to a trial are left out."""

    @model_serializer(mode="wrap")
    def _of_what_is_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if name in self.model_fields_set}


class Times(Document):
    """Statistics of a duration in the measured window, milliseconds. null for what is not known.

    Attributes:
        p50: Median.
        p90: 90th percentile.
        p95: 95th percentile.
        p99: 99th percentile.
        p999: 99.9th percentile.
        max: The longest.
        mean: Of all.
        lower_bounds: Names of those that are lower bounds: they rest on transactions that had not ended at the end of
            the window.
    """

    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    max: float | None
    mean: float | None
    lower_bounds: tuple[str, ...]

    @classmethod
    def of(cls, times: Durations) -> Times:
        """Those of one trial."""
        return cls(**times.of_one_run())


class StallResult(Document):
    """A stretch in which nothing, or nearly nothing, completed.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end.
        transactions: That completed in it all the same.
    """

    from_s: float
    to_s: float
    transactions: int


class TypeResult(Document):
    """One type of transaction.

    Attributes:
        transactions: That completed.
        share_ratio: Its share of all that completed, 0..1; null when none did.
        failed: That ended in an error.
        retries: Repetitions after an error; null where that is not known.
        rolled_back: Of those that completed, as the workload wants it; null where that is not known.
        errors: How often each code was met; 0 is whatever had no code.
        errors_by_class: The same by class: retryable, connection or statement.
        throughput_tps: Completed transactions per second.
        response_ms: From when it was due to the last byte of its answer.
    """

    transactions: int
    share_ratio: float | None
    failed: int
    retries: int | None
    rolled_back: int | None
    errors: dict[str, int]
    errors_by_class: dict[str, dict[str, int]]
    throughput_tps: float | None
    response_ms: Times


class ClientResult(Document):
    """What the load engine took.

    Attributes:
        cpu_s: Processor time, seconds.
        cpu_user_s: Of it in user mode.
        cpu_us_per_statement: Microseconds of processor time for each statement; null without any.
        memory_mb_peak: Resident memory at most, MB.
    """

    cpu_s: float
    cpu_user_s: float
    cpu_us_per_statement: float | None
    memory_mb_peak: float


class TpccResult(ResultPart, TpccFigures):
    """What is said of the TPC-C-derived workload alone; figures only where new orders completed.

    Attributes:
        notpm: New orders per minute, with those that were to be rolled back.
        deviations: Where it departs from the specification.
    """

    notpm: float | None = None  # type: ignore[assignment]  # a cell always has it
    deviations: tuple[Deviation, ...] = ()


class OverloadResult(Document):
    """A stretch in which transactions waited for a connection for longer and longer.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end; null when it lasted to the end of the trial.
        backlog_max: Transactions that waited at most.
        dropped: That were given up because the backlog was full.
        recovery_s: How long after the rate fell it was over; null where it did not fall.
    """

    from_s: float
    to_s: float | None
    backlog_max: int
    dropped: int
    recovery_s: float | None


class OpenLoopResult(Document):
    """The account of the whole trial, warm-up included, and where the time went in the measured window.

    Attributes:
        offered: Transactions that were due.
        completed: Of them.
        failed: Of them.
        dropped: Of them: never sent, since too many waited.
        unfinished: Of them: sent, and never ended.
        pool_wait_ms: From when they were due until a connection was free.
        dispatch_delay_ms: From then until the first byte was sent: the client's own delay.
        overloads: In their order.
    """

    offered: int
    completed: int
    failed: int
    dropped: int
    unfinished: int
    pool_wait_ms: Times
    dispatch_delay_ms: Times
    overloads: tuple[OverloadResult, ...]


class TrialResult(ResultPart):
    """What a single trial says.

    Attributes:
        verdict: complete; interrupted by somebody; failed or invalid: then figures are evidence, and no result.
        reason: Why it is not complete; null for complete ones.
        stalled_ratio: Share of the measured window in which nothing, or nearly nothing, completed, 0..1.
        stalls: When that was.
        throughput_tps: Completed transactions per second in the measured window.
        duration_s: Length of the window, seconds.
        transactions: That completed in it.
        failed: That ended in an error.
        retries: Repetitions of transactions after an error.
        unfinished: Transactions that had not ended when connections were cut.
        unfinished_ms_max: How old the oldest of them was when the load ended, milliseconds; null without any.
        statements: That were answered.
        rows_returned: By them.
        rows_affected: By them.
        errors: How often each code was met; 0 is whatever had no code.
        errors_by_class: The same by class: retryable, connection or statement.
        response_ms: From when a transaction was due to the last byte of its answer.
        service_ms: From when it was sent.
        transaction_types: By name.
        client: What the load engine took.
        connections: How they came about.
        outages: When connections were lost.
        warnings: What makes figures doubtful.
        drivers: Each of several; left out where one engine drove the load.
        notpm: New orders per minute; left out for other workloads than the TPC-C-derived one.
        tpcc: More of it; left out likewise.
        open_loop: Of a load at a rate; left out for others.
    """

    verdict: Verdict
    reason: str | None
    stalled_ratio: float
    stalls: tuple[StallResult, ...]
    throughput_tps: float
    duration_s: float
    transactions: int
    failed: int
    retries: int
    unfinished: int
    unfinished_ms_max: float | None
    statements: int
    rows_returned: int
    rows_affected: int
    errors: dict[str, int]
    errors_by_class: dict[str, dict[str, int]]
    response_ms: Times
    service_ms: Times
    transaction_types: dict[str, TypeResult]
    client: ClientResult
    connections: ConnectionsRecord
    outages: tuple[OutageRecord, ...]
    warnings: tuple[TrialWarning, ...]
    drivers: tuple[DriverFigures, ...] = ()
    notpm: float | None = None
    tpcc: TpccResult | None = None
    open_loop: OpenLoopResult | None = None


def trial_result(summary: TrialSummary, wanted: OpenArrivals | None = None) -> TrialResult:
    """What a trial says.

    Args:
        summary: Of one that was measured here.
        wanted: The load at a rate that was asked for; None for another.
    """
    counts, account, made = summary.counts, summary.outcome.account, summary.outcome.connections
    assert counts is not None, "a measured run has counts"
    assert account is not None, "a measured run has the engine's account"
    assert made is not None, "a measured run has connections"
    types = totals_of([summary])
    response = summary.histograms.get("response")
    ages = None if response is None else response.in_flight
    by_code, by_class = _errors(error_totals([summary.errors]))
    optional: dict[str, Any] = {"drivers": summary.drivers} if summary.drivers else {}
    optional |= _tpcc(summary, types)
    if wanted is not None:
        optional["open_loop"] = _open_loop(summary, wanted)
    return TrialResult(
        verdict=summary.outcome.verdict,
        reason=summary.outcome.reason,
        stalled_ratio=summary.quiet.stalled_ratio,
        stalls=tuple(
            StallResult(from_s=stall.from_s, to_s=stall.to_s, transactions=stall.completed)
            for stall in summary.quiet.stalls
        ),
        throughput_tps=summary.throughput_tps,
        duration_s=counts.duration_s,
        transactions=counts.completed,
        failed=counts.failed,
        retries=counts.retries,
        unfinished=account.unfinished_count,
        unfinished_ms_max=ages.max_ns / 1e6 if ages is not None and account.unfinished_count else None,
        statements=counts.statements,
        rows_returned=counts.rows_returned,
        rows_affected=counts.rows_affected,
        errors=by_code,
        errors_by_class=by_class,
        response_ms=Times.of(durations(response)),
        service_ms=Times.of(durations(summary.histograms.get("service"))),
        transaction_types={type_total.name: _type(type_total) for type_total in types},
        client=ClientResult(
            cpu_s=account.client_user_s + account.client_system_s,
            cpu_user_s=account.client_user_s,
            cpu_us_per_statement=summary.client_us_per_statement,
            memory_mb_peak=account.client_memory_bytes_max / 1e6,
        ),
        connections=made,
        outages=summary.outcome.outages,
        warnings=summary.outcome.warnings,
        **optional,
    )


def _type(type_total: TypeTotal) -> TypeResult:
    by_code, by_class = _errors(type_total.errors)
    return TypeResult(
        transactions=type_total.completed_count,
        share_ratio=type_total.completed_ratio,
        failed=type_total.failed_count,
        retries=type_total.retries_count,
        rolled_back=type_total.rolled_back_count,
        errors=by_code,
        errors_by_class=by_class,
        throughput_tps=type_total.throughput_tps,
        response_ms=Times.of(type_total.response_ms),
    )


def _tpcc(summary: TrialSummary, types: Sequence[TypeTotal]) -> dict[str, Any]:
    """What is said about the TPC-C-derived workload alone; nothing for others."""
    if not is_tpcc([summary]):
        return {}
    figures, deviations = tpcc_figures([summary], types), tuple(tpcc_deviations([summary]))
    if figures is None:
        return {"tpcc": TpccResult(deviations=deviations)}
    return {"notpm": figures.notpm, "tpcc": TpccResult(**figures.model_dump(), deviations=deviations)}


def _errors(errors: Iterable[ErrorTotal]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """How often each code was met, of all classes together and by class."""
    by_code, by_class = Counter[str](), defaultdict[str, dict[str, int]](dict)
    for error in errors:
        by_code[str(error.code)] += error.count
        by_class[error.error_class][str(error.code)] = error.count
    return dict(by_code), dict(by_class)


def _open_loop(summary: TrialSummary, wanted: OpenArrivals) -> OpenLoopResult:
    counts, account = summary.counts, summary.outcome.account
    assert counts is not None, "a measured run has counts"
    assert account is not None, "a measured run has the engine's account"
    return OpenLoopResult(
        offered=account.offered_count,
        **counts.ended_of_trial,
        unfinished=account.unfinished_count,
        pool_wait_ms=Times.of(durations(summary.histograms.get("pool_wait"))),
        dispatch_delay_ms=Times.of(durations(summary.histograms.get("dispatch_delay"))),
        overloads=tuple(
            OverloadResult(
                from_s=overload.from_s,
                to_s=overload.to_s,
                backlog_max=overload.waiting_max,
                dropped=overload.dropped,
                recovery_s=overload.recovery_s(wanted.falls_s()),
            )
            for overload in summary.overloads
        ),
    )
