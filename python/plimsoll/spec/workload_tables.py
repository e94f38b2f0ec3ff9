"""The tables of a workload file as users write them, columns and keys, and what must hold within and between them.

References choose from a column of another table, whose values follow from row numbers. Whether each row of a foreign
key refers to one that is there is not foreseen: that is found when the key is made. Of unique keys, told is what
follows from `each` and `cycle`: too few combinations, or sequences that begin again together. Whether other values
happen to meet is not foreseen; the server tells that when the rows are loaded.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from plimsoll.errors import Fault, Loc, within
from plimsoll.spec.fields import GENERATOR, NAME_MAX, SqlName, WithLaterKeys, Written, a_list
from plimsoll.spec.generator_plan import Keys, generator_plan, keys_of, null_ratio, reach_faults, sql_type, values_count
from plimsoll.spec.generators import (
    Characters,
    Choice,
    GeneratedValue,
    Generator,
    Null,
    NumberSequence,
    Reference,
    Text,
)

COLUMNS_MAX = 1_000
ROWS_MAX = 2**32 - 1
PREFIX_MAX = 3_072
"""Bytes of the longest key of an index; a column's prefix is no longer."""


ColumnType = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_ ,()]*$")]
"""A type in SQL, without default, comment or collation clause that would need quotes."""


def _names(value: object) -> object:
    """One name stands for a list of one."""
    return (value,) if isinstance(value, str) else a_list(value)


SqlNames = Annotated[tuple[SqlName, ...], BeforeValidator(_names), Field(min_length=1)]

KeyNames = Annotated[tuple[SqlName, ...], BeforeValidator(_names)]
"""As `SqlNames`, or none at all."""

PrefixLength = Annotated[int, Field(ge=0, le=PREFIX_MAX)]

OnDelete = Literal["restrict", "cascade", "set_null"]


class ColumnSpec(GeneratedValue):
    """One `[[table.column]]`: its name, and how its values are made.

    Attributes:
        type: Its type in SQL; one that fits the values when not given.
        auto_increment: The server numbers rows that are inserted later.
        nullable: It takes NULL, also where none is made.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"nullable"})

    generator: Generator = Field(alias=GENERATOR)
    name: SqlName
    type: ColumnType | None = None
    auto_increment: bool = False
    nullable: bool = False

    @property
    def takes_null(self) -> bool:
        """Whether a row may have NULL there."""
        return self.nullable or null_ratio(self.generator) > 0


class IndexSpec(WithLaterKeys):
    """One `[[table.index]]`.

    Attributes:
        name: Made from the columns when not given.
        lengths: For each column, how many of its first characters (of a BLOB, bytes) are indexed; 0 for all.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"lengths"})

    columns: SqlNames
    unique: bool = False
    name: SqlName | None = None
    lengths: Annotated[tuple[PrefixLength, ...], BeforeValidator(a_list)] = ()


class ForeignKeySpec(Written):
    """One `[[table.foreign_key]]`.

    Attributes:
        columns: Of this table.
        table: The table that they refer to; may be this one.
        references: Its columns, one for each; its primary key when not given.
        on_delete: What happens to rows when the row that they refer to is deleted.
    """

    columns: SqlNames
    table: SqlName
    references: SqlNames | None = None
    on_delete: OnDelete = "restrict"


class TableSpec(WithLaterKeys):
    """One `[[table]]`.

    Attributes:
        primary_key: Its columns; the first column of all when not given, and no key at all when empty.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"foreign_key"})

    name: SqlName
    rows: Annotated[int, Field(ge=0, le=ROWS_MAX)]
    primary_key: KeyNames | None = None
    column: Annotated[tuple[ColumnSpec, ...], BeforeValidator(a_list), Field(min_length=1)]
    index: Annotated[tuple[IndexSpec, ...], BeforeValidator(a_list)] = ()
    foreign_key: Annotated[tuple[ForeignKeySpec, ...], BeforeValidator(a_list)] = ()

    @property
    def index_names(self) -> tuple[str, ...]:
        """Those of its indexes, in their order; servers take 64 characters of a name."""
        return tuple(index.name or "_".join(index.columns)[:NAME_MAX] for index in self.index)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of its primary key."""
        return (self.column[0].name,) if self.primary_key is None else self.primary_key

    def column_named(self, name: str) -> ColumnSpec | None:
        """A column; None when there is none of this name."""
        return next((column for column in self.column if column.name == name), None)


def repeated(path: Loc, names: Iterable[str]) -> Iterator[Fault]:
    """Names that are there more than once; servers take those that differ in upper and lower case for the same."""
    for name, count in Counter(name.lower() for name in names).items():
        if count > 1:
            yield Fault(path, f"the name {name!r} is used {count} times; give each its own")


def table_faults(table: TableSpec, tables: Tables) -> Iterator[Fault]:
    """What is wrong with a table, each line behind its path within that."""
    faults = [*_faults_of_parts(table, tables)]
    yield from faults
    if not faults:
        yield from unique_faults(table, tables)


def _faults_of_parts(table: TableSpec, tables: Tables) -> Iterator[Fault]:
    columns = [column.name for column in table.column]
    yield from repeated(("column",), (column.name for column in table.column))
    if len(columns) > COLUMNS_MAX:
        yield Fault(("column",), f"must be at most {COLUMNS_MAX}, are {len(columns)}")
    yield from repeated(("index",), table.index_names)
    for index, name in enumerate(table.index_names):
        if name.lower() == "primary":
            yield Fault(("index", index, "name"), f"must not be {name!r}, which is the primary key's; choose another")
    lists: list[tuple[Loc, tuple[str, ...]]] = [(("primary_key",), table.key)]
    lists += [(("index", i, "columns"), index.columns) for i, index in enumerate(table.index)]
    lists += [(("foreign_key", i, "columns"), key.columns) for i, key in enumerate(table.foreign_key)]
    for place, names in lists:
        yield from repeated(place, names)
        unknown = [name for name in names if name not in columns]
        yield from (Fault(place, f"there is no column {name!r}; known are {', '.join(columns)}") for name in unknown)
    for index, index_spec in enumerate(table.index):
        yield from (Fault(("index", index, "lengths"), fault) for fault in _length_faults(index_spec, table))
    yield from foreign_key_faults(table, tables)
    for index, column in enumerate(table.column):
        yield from within(("column", index), _column_faults(column, table, tables))


def _column_faults(column: ColumnSpec, table: TableSpec, tables: Tables) -> Iterator[Fault]:
    way = column.generator
    faults = list(way.faults(in_rows=True))
    yield from faults
    if not faults:
        yield from reference_faults(way, tables)
        yield from reach_faults(way, table.rows)
    if isinstance(way, Null) and column.type is None:
        yield Fault(("type",), "is missing; NULL alone tells no type")
    if column.name in table.key and column.nullable:
        yield Fault(("nullable",), "is true, but the column belongs to the primary key, which has no NULL")
    if column.name in table.key and null_ratio(way) > 0:
        yield Fault(
            ("null_ratio",), f"is {way.null_ratio:g}, but the column belongs to the primary key, which has no NULL"
        )
    if column.auto_increment and not (_is_plain_and_rising(way) and column.name == (*table.key, None)[0]):
        yield Fault(
            ("auto_increment",),
            "belongs to a rising sequence from 1 or more, without each and cycle, that is first in the primary key",
        )


def _is_plain_and_rising(way: Generator) -> bool:
    if not isinstance(way, NumberSequence):
        return False
    return (way.start or 1) > 0 and (way.step or 1) > 0 and way.each in (None, 1) and way.cycle is None


def _length_faults(index: IndexSpec, table: TableSpec) -> Iterator[str]:
    if index.lengths and len(index.lengths) != len(index.columns):
        count = len(index.columns)
        yield f"must be one for each of the {count} columns, are {len(index.lengths)}; 0 stands for all of a column"
        return
    for name, length in zip(index.columns, index.lengths, strict=False):
        column = table.column_named(name)
        if length > 0 and column is not None and not _is_text(column):
            yield f"{length} is for texts, and {name} is {column.type or 'a number or time'}; write 0"


def _is_text(column: ColumnSpec) -> bool:
    """Whether servers index the beginning of its values: of texts and bytes they do."""
    if column.type is not None:
        return column.type.upper().replace("(", " ").split()[0].endswith(("CHAR", "TEXT", "BLOB", "BINARY"))
    return isinstance(column.generator, Characters | Text | Choice | Reference)


Tables = Mapping[str, TableSpec]
"""The tables of a file by name."""


def referred_column(spec: Generator, tables: Tables) -> ColumnSpec | None:
    """The column that a reference chooses from; None when there is none, or the generator is no reference."""
    if not isinstance(spec, Reference) or (table := tables.get(spec.table)) is None:
        return None
    name = spec.column if spec.column is not None else table.key[0] if len(table.key) == 1 else None
    return table.column_named(name) if name is not None else None


def referred_keys(spec: Generator, tables: Tables) -> Keys | None:
    """What a reference chooses from; None when there is nothing, or the generator is no reference."""
    column = referred_column(spec, tables)
    if not isinstance(spec, Reference) or column is None or [*column.generator.faults(in_rows=True)]:
        return None
    return keys_of(column.generator, tables[spec.table].rows)


def reference_faults(spec: Generator, tables: Tables) -> Iterator[Fault]:
    """What is wrong with a reference that has all its keys, each line behind the name of a key."""
    if not isinstance(spec, Reference):
        return
    table = tables.get(spec.table)
    if table is None:
        yield Fault(("table",), f"there is no table {spec.table!r}; known are {', '.join(tables) or 'none'}")
    elif table.rows == 0:
        yield Fault(("table",), f"{spec.table!r} is made without rows, so there is no key to refer to")
    elif spec.column is not None:
        yield from _referred_column_faults(spec, tables)
    elif (column := referred_column(spec, tables)) is None or not isinstance(column.generator, NumberSequence):
        yield Fault(
            ("table",),
            f"{spec.table!r} must have one column as primary key, and that a sequence, to be referred to;"
            " otherwise name a column",
        )


def _referred_column_faults(spec: Reference, tables: Tables) -> Iterator[Fault]:
    column, table = referred_column(spec, tables), tables[spec.table]
    if column is None:
        known = ", ".join(column.name for column in table.column)
        yield Fault(("column",), f"there is no column {spec.column!r} in {spec.table!r}; known are {known}")
    elif column.generator.null_ratio > 0:
        yield Fault(
            ("column",), f"{column.name!r} of {spec.table!r} has NULLs, so that not every row can be referred to by it"
        )
    elif not [*column.generator.faults(in_rows=True)] and keys_of(column.generator, table.rows) is None:
        yield Fault(
            ("column",),
            f"{column.name!r} of {spec.table!r} must be a sequence, or a text with one {{row}} and no other"
            " placeholder, to be referred to",
        )


def foreign_key_faults(table: TableSpec, tables: Tables) -> Iterator[Fault]:
    """What is wrong with the foreign keys of a table, each line behind its path within that."""
    for index, key in enumerate(table.foreign_key):
        yield from within(("foreign_key", index), _faults(key, table, tables))


def _faults(key: ForeignKeySpec, table: TableSpec, tables: Tables) -> Iterator[Fault]:
    referred = tables.get(key.table)
    if referred is None:
        yield Fault(("table",), f"there is no table {key.table!r}; known are {', '.join(tables)}")
        return
    references = _references(key, referred)
    if not references:
        yield Fault(("references",), f"is missing; {key.table!r} has no primary key")
        return
    if len(set(references)) != len(key.columns) or len(set(key.columns)) != len(key.columns):
        yield Fault(
            ("references",),
            f"{key.table!r} is referred to by {', '.join(references)}, and from here by"
            f" {', '.join(key.columns)}; there must be as many, each once",
        )
        return
    unknown = [name for name in references if referred.column_named(name) is None]
    yield from (Fault(("references",), f"there is no column {name!r} in {key.table!r}") for name in unknown)
    if not unknown and references not in _unique(referred):
        yield Fault(
            ("references",),
            f"{', '.join(references)} must be the primary key of {key.table!r}, or all columns of a unique"
            " index, in the same order",
        )
    columns = [column for name in key.columns if (column := table.column_named(name)) is not None]
    if key.on_delete == "set_null" and (fixed := [column.name for column in columns if not column.takes_null]):
        yield Fault(
            ("on_delete",), f"'set_null' needs columns that take NULL: write nullable = true for {', '.join(fixed)}"
        )
    yield from _type_faults(key, table, referred)


def _references(key: ForeignKeySpec, referred: TableSpec) -> tuple[str, ...]:
    return referred.key if key.references is None else key.references


def _unique(table: TableSpec) -> list[tuple[str, ...]]:
    return [table.key, *(index.columns for index in table.index if index.unique and not any(index.lengths))]


def _type_faults(key: ForeignKeySpec, table: TableSpec, referred: TableSpec) -> Iterator[Fault]:
    """Of columns with a type: servers want the same kind of number, with the same sign, on both sides."""
    for name, other in zip(key.columns, _references(key, referred), strict=True):
        column, theirs = table.column_named(name), referred.column_named(other)
        if column is None or theirs is None or column.type is None:
            continue
        expected = theirs.type or ("BIGINT" if isinstance(theirs.generator, NumberSequence) else None)
        if expected is not None and _family(column.type) != _family(expected):
            yield Fault(
                ("columns",),
                f"{name} is {column.type}, and {other} of {key.table!r} is {expected}; give both one type, or {name}"
                " none",
            )


def _family(written: str) -> tuple[str, bool]:
    words = written.upper().replace("(", " ").split()
    name = {"INTEGER": "INT", "CHAR": "VARCHAR", "BINARY": "VARBINARY", "NUMERIC": "DECIMAL"}.get(words[0], words[0])
    return name, "UNSIGNED" in words


def column_type(
    table: TableSpec, column: ColumnSpec, tables: Tables, seen: frozenset[tuple[str, str]] = frozenset()
) -> str:
    """The type of a column without faults: what was written, that of the column it refers to, or what fits its values.

    Args:
        table: Whose column it is.
        column: The column.
        tables: All tables of the file.
        seen: Table and column on the way here: foreign keys may lead back to where they came from.
    """
    if column.type is not None:
        return column.type
    for key in table.foreign_key:
        if column.name in key.columns:
            referred = tables[key.table]
            name = _references(key, referred)[key.columns.index(column.name)]
            other = referred.column_named(name)
            if other is not None and (key.table, name) not in seen:
                return column_type(referred, other, tables, seen | {(table.name, column.name)})
    way = column.generator
    named = referred_column(way, tables) if isinstance(way, Reference) and way.column is not None else None
    return (named and named.type) or sql_type(way, referred_keys(way, tables))


def foreign_key_plans(table: TableSpec, tables: Tables) -> list[dict[str, Any]]:
    """The foreign keys of a table without faults, in the form that the engine reads."""
    return [
        {
            "name": _name(table.name, number),
            "columns": list(key.columns),
            "table": key.table,
            "references": list(_references(key, tables[key.table])),
            "on_delete": key.on_delete,
        }
        for number, key in enumerate(table.foreign_key, 1)
    ]


def _name(table: str, number: int) -> str:
    """No other constraint of the database may have it; servers take 64 characters."""
    name = f"fk_{table}_{number}"
    if len(name) <= NAME_MAX:
        return name
    digest = hashlib.sha256(table.encode()).hexdigest()[:12]
    return f"fk_{table[:40]}_{digest}_{number}"


def unique_faults(table: TableSpec, tables: Tables) -> Iterator[Fault]:
    """Unique keys that rows of a table without other faults must break, each line behind the key's path."""
    columns = {column.name: column for column in table.column}
    keys: list[tuple[Loc, tuple[str, ...]]] = [(("primary_key",), table.key)] if table.key else []
    keys += [
        (("index", i, "columns"), index.columns)
        for i, index in enumerate(table.index)
        if index.unique and not any(index.lengths)
    ]
    for place, names in keys:
        reason = _repetition([columns[name] for name in names], table.rows, tables)
        if reason is not None:
            yield Fault(place, f"{', '.join(names)} {reason}, so {table.rows} rows cannot all be different")


def _repetition(columns: Sequence[ColumnSpec], rows: int, tables: Tables) -> str | None:
    """Why two of so many rows have the same values in all of these columns; None when that is not known."""
    ways = [column.generator for column in columns]
    sequences = [way for way in ways if isinstance(way, NumberSequence)]
    if not any(way.each or way.cycle for way in sequences):
        return None
    counts = [_different(way, rows, tables) for way in ways]
    combinations = math.prod(count if count is not None else rows for count in counts)
    if combinations < rows:
        return f"have at most {combinations} combinations of values"
    if len(sequences) < len(ways):
        return None
    if rows > 1 and all((way.each or 1) > 1 for way in sequences):
        return "have the same values in the first two rows (each)"
    periods = [(way.each or 1) * way.cycle for way in sequences if way.cycle is not None]
    period = math.lcm(*periods) if len(periods) == len(ways) else rows
    return f"begin again after {period} rows (cycle)" if period < rows else None


def _different(way: Generator, rows: int, tables: Tables) -> int | None:
    """How many different values a column has at most; None when they may be as many as rows, as NULLs are."""
    keys = referred_keys(way, tables)
    if null_ratio(way) > 0 or (isinstance(way, Reference) and keys is None):
        return None
    plan = generator_plan(way, keys)
    match plan["kind"]:
        case "sequence":
            return values_count(plan, rows)
        case "integer" | "decimal" | "timestamp":
            return int(plan["count"])
        case "choice":
            return len(set(plan["values"]))
        case _:
            return None
