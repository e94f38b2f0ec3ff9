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
        kind: `select`, `insert`, `update`, `delete`, and so on.
        text: With `?` for each literal.
        count: Executions; estimated where the server logged a sample.
        time_share: Of all statement time, 0..1.
        mean_ms: Mean duration.
        p99_ms: 99th percentile of the durations.
        lock_ratio: Of its time in which it waited for locks, 0..1.
        rows_sent: Rows that went to the client, per execution.
        rows_examined: Rows that were read, per execution.
        rows_affected: Rows that were changed, per execution.
        pages: Pages of InnoDB that were accessed, per execution.
        handler_reads: Rows that storage engines were asked for, per execution.
        errors_count: Executions that ended with an error.
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
        count: Transactions.
        share: Of all transactions, 0..1.
        time_share: Of all statement time, 0..1; null where the source has no times.
        statements: Mean number per transaction.
        statements_max: Number in the longest transaction.
        reads_only: No statement locks or changes anything.
        rollback_ratio: Share of the transactions that were rolled back, 0..1.
        mean_ms: Mean of the sum of a transaction's statement durations.
        p50_ms: Median time from the begin of a transaction to the end of its last statement.
        p99_ms: 99th percentile of the same.
        rows_examined: Rows that were read, per transaction.
        rows_affected: Rows that were changed, per transaction.
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
        template: Number of the statement.
        slot: Which literal of the statement, from 0.
        use: What the literal is for, as `Slot.use` has it.
        column: Whose value it is; null where it is of no column.
        observed_count: How often the parameter had a value.
        distinct_count: How many different values occurred.
        top_share: Share of the most frequent value, 0..1.
        top_ten_share: Share of the ten most frequent values together, 0..1.
        top_hundredth_share: Share of the most frequent hundredth of the values that occurred, 0..1.
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
        duration_s: From the first second to the last one.
        mean_tps: Mean rate, transactions per second.
        p99_tps: The rate that 99 % of the minutes do not exceed.
        peak_tps: The rate in the busiest minute.
        step_s: Length of the steps of `steps_tps`: a minute, or several where the log is long.
        steps_tps: The rate in each step.
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
        transactions_median: Transactions per session, median.
        busy_mean: Statements in execution at a time, on average (Little's law); null without times.
        think_ms_median: From the end of a transaction to the begin of the next one of its session, median.
        think_ms_mean: Mean of the same.
    """

    count: int
    transactions_median: float
    busy_mean: float | None
    think_ms_median: float | None
    think_ms_mean: float | None


class LogReport(Document):
    """What a log shows.

    Attributes:
        report_format: Version of this document.
        sources: The files, in the order in which they were named.
        doubts: What the log cannot tell, and what was wrong with it.
        statements_count: Statements that do work.
        other_count: SET, USE, SHOW, connects and the like.
        read_statements: Share of the statements that only read, 0..1.
        read_time: Share of the statement time that is theirs, 0..1; null where the log has no durations.
        read_transactions: Share of the transactions that only read, 0..1.
        transactions_count: Estimated where the server logged a sample.
        rolled_back_count: Transactions that were rolled back.
        errors_count: Statements that ended with an error.
        errors_by_number: How often each error occurred; null where the source does not show it.
        templates: The statements with the most time, or the most frequent ones where there are no durations.
        templates_count: How many different statements there are in all.
        types: Types of transactions, those with the most statement time first.
        hot: Parameters of which few values are used much.
        arrivals: When transactions began; null where the log has no times.
        sessions: Connections.
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
        is_cut: The server kept only the beginning of its text.
        p95_ms: Null where the server has no histograms, as is `p99_ms`. They are upper ends of buckets, at most 4.7 %
            too high.
    """

    is_cut: bool
    p95_ms: float | None


class DigestReport(Document):
    """What a server executed between two snapshots.

    Attributes:
        report_format: Version of this document.
        version: As the server says.
        doubts: What the counters cannot tell, and what was wrong with them.
        from_unix_s: Begin, by the server's clock; null where its counters were reset in between.
        to_unix_s: End.
        statements_count: Statements that do work.
        other_count: SET, COMMIT, SHOW and the like.
        errors_count: Statements that ended with an error.
        read_statements: Share of the statements that only read, 0..1.
        read_time: Share of the statement time that is theirs, 0..1; null where there was none.
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
