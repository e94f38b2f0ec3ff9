"""What is known of the tables of a production server, as values. They are private: they hold names.

Values of rows are not among them, but for the smallest and largest of columns of numbers, dates and times, and for the
members of ENUM and SET, which are part of a type. Also here: which known table or column a statement means, and what an
INSERT must know of a table: the columns that need a value, and those in which no two rows are alike. Deliberately not
here: where it is known from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


class UnknownTable(Document):
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
    left_out: tuple[UnknownTable, ...] = ()


_LENGTH_MAX = 64
"""Characters of a name, on both servers."""


def other_names(tables: Iterable[TableKey]) -> dict[TableKey, str]:
    """New names of tables that cannot keep theirs in the one schema of a workload.

    Of tables of one name in several schemas the first one keeps it, by the alphabet of the schemas; each other one has
    the name of its schema before its own.

    >>> other_names([("a", "orders"), ("b", "orders"), ("b", "lines")])
    {('b', 'orders'): 'b_orders'}
    """
    keys = sorted(tables)
    taken = {name for _, name in keys}
    kept, renamed = set[str](), dict[TableKey, str]()
    for schema, name in keys:
        if name not in kept:
            kept.add(name)
            continue
        long, number = f"{schema}_{name}"[:_LENGTH_MAX], 1
        while long in taken:
            number += 1
            end = f"_{number}"
            long = f"{schema}_{name}"[: _LENGTH_MAX - len(end)] + end
        taken.add(long)
        renamed[schema, name] = long
    return renamed


class Catalog:
    """The columns of known tables, to tell whose column an unqualified name is.

    Args:
        columns: By table, names of its columns.

    Attributes:
        other_names: Of tables that cannot keep their names in the one schema of a workload.
    """

    def __init__(self, columns: Mapping[TableKey, tuple[str, ...]]) -> None:
        self._columns = {table: {name.lower() for name in names} for table, names in columns.items()}
        self._order = {table: tuple(name.lower() for name in names) for table, names in columns.items()}
        self.other_names = other_names(columns)

    def table(self, schema: str, name: str) -> TableKey:
        """A table as it is known: one without schema stands for that of any, if there is only one."""
        key = (schema.lower(), name.lower())
        if key in self._columns:
            return key
        alike = [table for table in self._columns if table[1] == key[1] and (not key[0] or not table[0])]
        return alike[0] if len(alike) == 1 else key

    def has(self, table: TableKey, column: str) -> bool:
        """Whether a table has a column."""
        return column.lower() in self._columns.get(table, ())

    def knows(self, table: TableKey) -> bool:
        """Whether a table is known."""
        return table in self._columns

    def columns(self, table: TableKey) -> tuple[str, ...]:
        """The columns of a table in order, in lower case."""
        return self._order.get(table, ())


class InsertKeys:
    """Of all tables of a schema.

    Args:
        schema: Of the server.
    """

    def __init__(self, schema: SchemaFacts) -> None:
        self._tables = {table.key: table for table in schema.tables}

    def catalog(self) -> Catalog:
        """Their columns."""
        return Catalog({key: tuple(column.name for column in table.columns) for key, table in self._tables.items()})

    def required(self, table: TableKey) -> tuple[str, ...]:
        """Columns that an INSERT must give a value, in lower case."""
        return tuple(
            column.name.lower()
            for column in self._tables[table].columns
            if not (column.is_nullable or column.has_default or column.is_auto_increment or column.is_generated)
        )

    def unique(self, table: TableKey) -> tuple[tuple[str, ...], ...]:
        """The columns of the primary key and of unique indexes, in lower case."""
        facts = self._tables[table]
        indexes = [index for index in (facts.primary_key, *facts.indexes) if index is not None]
        return tuple(
            tuple(name.lower() for name in index.columns)
            for index in indexes
            if index is facts.primary_key or (index.is_unique and index.kind == "btree")
        )

    def references(self) -> dict[ColumnKey, ColumnKey]:
        """By column of a foreign key of one column, what it refers to."""
        return {
            (key, foreign_key.columns[0].lower()): (foreign_key.parent, foreign_key.references[0].lower())
            for key, facts in self._tables.items()
            for foreign_key in facts.foreign_keys
            if len(foreign_key.columns) == 1
        }
