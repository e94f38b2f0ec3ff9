"""What is known of the tables of a production server, as values. They are private: they hold names.

Values of rows are not among them, but for the smallest and largest of columns of numbers, dates and times, and for the
members of ENUM and SET, which are part of a type. Deliberately not here: where it is known from.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.document import Document

SCHEMA_FORMAT = 1

FEW_VALUES_MAX = 64
"""A column with no more different values is told value by value; of any other only figures are."""

RowsAre = Literal["exact", "estimated", "numbered", "logged", "unknown"]
"""Counted; as the server estimates; as AUTO_INCREMENT has numbered them; as keys in a log show; not known at all."""

TableKey = tuple[str, str]
"""Schema and name of a table, in lower case, as servers look names up; the schema is empty where nothing says it."""

ColumnKey = tuple[TableKey, str]
"""Table and name of a column, in lower case."""


class ColumnFacts(Document):
    """One column. Figures of values are None where nobody looked at rows.

    Attributes:
        sql_type: In lower case, such as `int(10) unsigned`; `enum` and `set` without their members.
        members: Of ENUM and SET.
        character_set: Of text; None for the server's default, or for what is no text.
        has_default: Other than NULL; an insert may leave the column out.
        is_generated: Computed by the server from other columns.
        distinct_count: Different values in the table, exact or estimated.
        null_ratio: 0..1.
        length_mean: Of values that are not NULL, characters of text and bytes of binary strings.
        minimum: Of numbers, dates and times only, as the server writes it.
        frequencies: Of a column with at most `FEW_VALUES_MAX` different values: each, and how often it was seen, the
            most frequent first. Whole numbers as they are, texts as the hash that stands for them in the tables of a
            log.
    """

    name: str
    sql_type: str
    members: tuple[str, ...] = ()
    character_set: str | None = None
    is_nullable: bool = True
    is_auto_increment: bool = False
    has_default: bool = False
    is_generated: bool = False
    distinct_count: int | None = None
    null_ratio: float | None = None
    length_mean: float | None = None
    length_max: int | None = None
    minimum: str | None = None
    maximum: str | None = None
    frequencies: tuple[tuple[str, int], ...] = ()


class IndexFacts(Document):
    """One index.

    Attributes:
        kind: `btree`, or what a workload's table cannot have: `fulltext`, `spatial`, `vector`, `functional`.
        columns: In order; of a functional index, those that are columns.
        lengths: How many characters of each column are indexed; 0 for all.
        prefix_counts: Different values of the first column, of the first two, and so on; empty where not known.
        is_counted: These were counted, and are no estimates of the server.
    """

    name: str
    kind: str = "btree"
    columns: tuple[str, ...]
    lengths: tuple[int, ...] = ()
    is_unique: bool = False
    prefix_counts: tuple[int, ...] = ()
    is_counted: bool = False


class ForeignKeyFacts(Document):
    """One foreign key.

    Attributes:
        schema_name: Of the table that is referred to.
        references: Its columns.
        on_delete: `cascade`, `set null`, `restrict` or `no action`.
    """

    columns: tuple[str, ...]
    schema_name: str
    table: str
    references: tuple[str, ...]
    on_delete: str = "no action"

    @property
    def parent(self) -> TableKey:
        """The table that is referred to."""
        return self.schema_name.lower(), self.table.lower()


class TableFacts(Document):
    """One table.

    Attributes:
        schema_name: Empty where a file does not say.
        rows: None where `rows_are` is `unknown`.
        primary_key: None for a table without.
        row_bytes_mean: Of the data, as the server estimates it; indexes other than the primary key not included.
    """

    schema_name: str
    name: str
    rows: int | None = None
    rows_are: RowsAre = "unknown"
    columns: tuple[ColumnFacts, ...]
    primary_key: IndexFacts | None = None
    indexes: tuple[IndexFacts, ...] = ()
    foreign_keys: tuple[ForeignKeyFacts, ...] = ()
    row_bytes_mean: int | None = None

    @property
    def key(self) -> TableKey:
        """What it is looked up by."""
        return self.schema_name.lower(), self.name.lower()


class LeftOut(Document):
    """A table that was asked for or written down, and of which nothing is known.

    Attributes:
        reason: `not-parsed`, `missing` (on the server) or `view`.
    """

    schema_name: str
    name: str
    reason: str


class SchemaFacts(Document):
    """The tables of a server.

    Attributes:
        server: What it calls its version; empty for a file of SQL.
        taken_unix_s: When it was asked; None for a file of SQL.
    """

    schema_format: int = SCHEMA_FORMAT
    server: str = ""
    taken_unix_s: int | None = None
    tables: tuple[TableFacts, ...] = Field(default=())
    left_out: tuple[LeftOut, ...] = ()
