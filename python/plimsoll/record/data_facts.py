"""The data of a server for a workload, as the server describes it: columns, indexes, rows, plans."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document


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
