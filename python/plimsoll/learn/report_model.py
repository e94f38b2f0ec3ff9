"""What a log, or two snapshots of a server's counters, show by themselves: figures and findings, no sentences.

With what is known of each log that was read.
"""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document


class SourceFault(Document):
    """Why a compressed file could not be read to its end, and where that was noticed.

    Attributes:
        line: Of the decompressed content, from 1.
        content_bytes: Decompressed bytes that came before.
        reason: What the decompressor said.
    """

    line: int
    content_bytes: int
    reason: str


class SourceFacts(Document):
    """One file.

    Attributes:
        name: As the user named it.
        format: `slow`, `general`, `audit` or `binlog`.
        flavour: `mysql`, `percona` or `mariadb`; None where it does not show.
        program: What the server called itself when it opened the file; None where it did not.
        entries_count: Statements that were read.
        damaged_count: Entries that could not be read.
        cut_count: Statements whose text was longer than what is read.
        bytes_read: Of the file, decompressed.
        first_us: Microseconds since 1970 of the first statement; None where no entry has a time.
        last_us: Of the last one.
        resolution_us: To how many microseconds times are exact.
        query_us_min: The shortest statement, microseconds; None where durations are not logged.
        rate_limits: Each `n` for which one in n was logged; empty for none.
        is_extended: Entries carry more than the plain format.
        fault: Why it could not be read to its end; None where it could.
    """

    name: str
    format: str
    flavour: str | None = None
    program: str | None = None
    entries_count: int = 0
    damaged_count: int = 0
    cut_count: int = 0
    bytes_read: int = 0
    first_us: int | None = None
    last_us: int | None = None
    resolution_us: int = 1
    query_us_min: int | None = None
    rate_limits: tuple[float, ...] = ()
    is_extended: bool = False
    fault: SourceFault | None = None


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


DIGEST_REPORT_FORMAT = 1


class DigestFigures(TemplateFigures):
    """Statements that differ in literals only.

    Attributes:
        is_cut: The server keeps only the begin of its text.
        p95_ms: Null where the server has no histograms, as is `p99_ms`. They are upper ends of buckets, at most 4.7 %
            too high.
    """

    is_cut: bool
    p95_ms: float | None


class DigestReport(Document):
    """What a server executed between two snapshots.

    Attributes:
        version: As the server says.
        from_unix_s: Begin, by the server's clock; null where its counters were reset in between.
        to_unix_s: End.
        statements_count: That do work; `other_count` are SET, COMMIT, SHOW and the like.
        read_statements: Share of statements that only read, 0..1; `read_time` of statement time.
        busy_mean: Statements in execution at a time, on average (Little's law); null where the begin is not known.
        templates: Those with the most time first.
        templates_count: All of them.
    """

    report_format: int = DIGEST_REPORT_FORMAT
    version: str
    doubts: tuple[LogDoubt, ...]
    from_unix_s: float | None
    to_unix_s: float
    statements_count: float
    other_count: float
    errors_count: float
    read_statements: float
    read_time: float | None
    busy_mean: float | None
    templates: tuple[DigestFigures, ...]
    templates_count: int
