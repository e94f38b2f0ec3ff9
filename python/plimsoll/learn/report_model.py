"""What a log shows by itself, as values: figures and findings, no sentences."""

from __future__ import annotations

from pydantic import Field

from plimsoll.learn.source_model import SourceFacts
from plimsoll.record.document import Document

REPORT_FORMAT = 1


class LogDoubt(Document):
    """Something that the log cannot tell, or that was wrong with it.

    Attributes:
        code: Which, see docs/learn.md.
        is_refusal: No workload can be learned from such a log; what it shows is still told.
        figures: By name.
    """

    code: str
    is_refusal: bool = False
    figures: dict[str, float | str] = Field(default_factory=dict)


class TemplateFigures(Document):
    """Statements that differ in literals only. Times are null where the source has none.

    Attributes:
        template: Number, as in the events.
        text: With `?` for each literal.
        count: Statements; estimated where the server logged a sample.
        time_share: Of all statement time, 0..1.
        lock_ratio: Of its time in which it waited for locks, 0..1.
        rows_examined: Per statement, as are the other rows, pages, and rows that storage engines were asked for.
    """

    template: int
    kind: str
    text: str
    count: float
    time_share: float | None
    mean_ms: float | None
    p99_ms: float | None
    lock_ratio: float | None
    rows_sent: float | None
    rows_examined: float | None
    rows_affected: float | None
    pages: float | None
    handler_reads: float | None = None
    errors_count: float


class TypeFigures(Document):
    """Transactions of one type.

    Attributes:
        name: Short, unique in the report.
        templates: Its statements, repeated blocks once; empty for all other types together.
        types_count: How many types these are: 1, but for all others together.
        share: Of all transactions, 0..1.
        time_share: Of all statement time, 0..1; null where the source has no times.
        statements: Per transaction; `statements_max` in the longest one.
        reads_only: Every statement of it locks and changes nothing.
        rollback_ratio: 0..1.
        p99_ms: From the begin to the end of the last statement, as is `p50_ms`.
    """

    name: str
    templates: tuple[int, ...]
    types_count: int = 1
    count: float
    share: float
    time_share: float | None
    statements: float
    statements_max: int
    reads_only: bool
    rollback_ratio: float
    mean_ms: float | None
    p50_ms: float | None = None
    p99_ms: float | None
    rows_examined: float | None
    rows_affected: float | None


class HotValues(Document):
    """How often one parameter took its most frequent values.

    Attributes:
        slot: Which literal of the statement, from 0.
        use: What the literal is for, as `Slot.use` has it.
        column: Whose value it is; null where it is of no column.
        top_share: Of all statements, those with the most frequent value.
        top_hundredth_share: Those with the most frequent hundredth of the values that occurred.
    """

    template: int
    slot: int
    use: str
    column: str | None
    observed_count: int
    distinct_count: int
    top_share: float
    top_ten_share: float
    top_hundredth_share: float


class ArrivalFigures(Document):
    """When transactions began.

    Attributes:
        first_unix_s: Second of the first one, since 1970.
        minutes_tps: Rate in each minute, or in longer steps of `step_s` where the log is long.
        dispersion: Index of dispersion by the length of the window in seconds, in the busiest hour; lengths for which
            the log is too short, or its times too coarse, are missing.
    """

    first_unix_s: int
    duration_s: int
    mean_tps: float
    p99_tps: float
    peak_tps: float
    step_s: int
    steps_tps: tuple[float, ...]
    dispersion: dict[int, float]


class SessionFigures(Document):
    """Connections.

    Attributes:
        count: How many there were.
        busy_mean: Statements in execution at a time, on average (Little's law); null without times.
        think_ms_median: From the end of a transaction to the begin of the next one of its session.
    """

    count: int
    transactions_median: float
    busy_mean: float | None
    think_ms_median: float | None
    think_ms_mean: float | None


class LogReport(Document):
    """What a log shows.

    Attributes:
        statements_count: That do work; `other_count` are SET, USE, SHOW, connects and the like.
        read_statements: Share of statements that only read, 0..1; `read_time` of statement time, `read_transactions` of
            transactions.
        transactions_count: Estimated where the server logged a sample.
        errors_by_number: How often each error came; null where the source does not tell.
        damaged_lines: Source, line and reason: of damaged files, then of the first entries that could not be read.
    """

    report_format: int = REPORT_FORMAT
    sources: tuple[SourceFacts, ...]
    doubts: tuple[LogDoubt, ...]
    statements_count: float
    other_count: float
    read_statements: float
    read_time: float | None
    read_transactions: float
    transactions_count: float
    rolled_back_count: float
    errors_count: float
    errors_by_number: dict[int, float] | None = None
    templates: tuple[TemplateFigures, ...]
    templates_count: int
    types: tuple[TypeFigures, ...]
    hot: tuple[HotValues, ...]
    arrivals: ArrivalFigures | None
    sessions: SessionFigures
    damaged_lines: tuple[tuple[str, int, str], ...] = ()
