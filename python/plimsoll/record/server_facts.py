"""What a server tells of itself: columns, indexes, rows and plans of a workload's data, and its statement counters.

A snapshot of the counters (performance_schema's digests up to some moment) is a private file: it holds the texts of
statements with their names. Deliberately not here: reading either from a server (package `servers`), and what two
snapshots show (`learn.digests`).
"""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document, UnixSeconds


class ColumnFacts(Document):
    """A column of a table.

    Attributes:
        type: As the server writes it, such as `char(120)`.
        default: None for none, and for NULL.
        extra: Such as `auto_increment`.
        character_set: None for columns that hold no text, as is `collation`.
    """

    type: str
    nullable: bool = False
    default: str | None = None
    extra: str = ""
    character_set: str | None = None
    collation: str | None = None


class IndexFacts(Document):
    """An index of a table.

    Attributes:
        columns: In their order, with the length of a prefix, such as `name(10)`.
        unique: No two rows have the same values.
        cardinality: Distinct values of all its columns together, as the server estimates them.
    """

    columns: tuple[str, ...]
    unique: bool = False
    cardinality: int | None = None


class TableFacts(Document):
    """A table.

    Attributes:
        row_format: Such as `Dynamic`.
        options: Further options of CREATE TABLE, as the server keeps them.
        rows_count: Counted; None where that would have taken too long.
        rows_estimate: As the server estimates them.
    """

    engine: str | None = None
    row_format: str | None = None
    collation: str | None = None
    options: str = ""
    rows_count: int | None = None
    rows_estimate: int | None = None
    data_bytes: int | None = None
    index_bytes: int | None = None
    columns: dict[str, ColumnFacts] = Field(default_factory=dict)
    indexes: dict[str, IndexFacts] = Field(default_factory=dict)


class PlanStep(Document):
    """One line of what EXPLAIN answers.

    Attributes:
        access: How rows are found, such as `ref`: column `type` of the answer.
        index: That is used; None for none.
        rows: Estimated.
        extra: What else the server does, such as `Using where; Using filesort`.
    """

    table: str | None = None
    access: str | None = None
    index: str | None = None
    rows: int | None = None
    extra: str = ""


class StatementPlan(Document):
    """How a server would execute a statement.

    Attributes:
        workload: Whose statement it is.
        statement: Its name, unique within the workload.
        sql: What was explained.
        steps: In the order of the answer; empty where the server refused.
        refused: Why; None where it answered.
    """

    workload: str
    statement: str
    sql: str
    steps: tuple[PlanStep, ...] = ()
    refused: str | None = None


class DataFacts(Document):
    """The data set of a server, before the first trial of its system.

    Attributes:
        database_collation: Of new tables of the database.
        tables: By name; at most 64 of them.
        tables_count: How many there are.
        plans: Of the workloads' statements.
    """

    database_collation: str | None = None
    tables: dict[str, TableFacts] = Field(default_factory=dict)
    tables_count: int = 0
    plans: tuple[StatementPlan, ...] = ()


SNAPSHOT_FORMAT = 1


class DigestCounts(Document):
    """Statements that differ in literals only, in one default schema: sums since the server forgot them last.

    Attributes:
        schema_name: Default schema; None where there was none.
        digest: The server's hash; None for statements that found no room in the table.
        text: With `?` for literals; the server cuts long ones.
        first_seen_unix_s: When the server began to count them.
        time_ps: Picoseconds, as are `lock_ps` and `max_ps`, which is the longest one.
        histogram: Upper bounds of buckets of durations, picoseconds, with the statements in each; empty buckets are
            left out, and all where the server has no histograms.
    """

    schema_name: str | None
    digest: str | None
    text: str | None
    first_seen_unix_s: UnixSeconds
    count: int
    time_ps: int
    lock_ps: int
    max_ps: int
    errors: int
    rows_sent: int
    rows_examined: int
    rows_affected: int
    histogram: tuple[tuple[int, int], ...] = ()


class DigestSnapshot(Document):
    """All statements that a server has counted.

    Attributes:
        server: Which it is, as it says itself.
        version: As `SELECT VERSION()` says.
        taken_unix_s: When, by the server's clock.
        uncounted: Statements that clients had executed and that have no row, nor can have one: MariaDB counts no
            prepared statements of the binary protocol.
        size: Rows that its table has room for; None where it does not say.
    """

    snapshot_format: int = SNAPSHOT_FORMAT
    server: str
    version: str
    taken_unix_s: UnixSeconds
    uncounted: int
    size: int | None
    digests: tuple[DigestCounts, ...] = Field(default=())
