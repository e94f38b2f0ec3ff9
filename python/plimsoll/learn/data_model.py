"""The data of a learned workload: from facts of a server's tables to tables of a workload file.

Tables get as many rows as they need, values for each column, and the names that they have in the workload. Also here:
where values of statements come from so that they find rows; what was assumed of a server's data, and what a workload's
tables cannot have, as codes and figures. Deliberately not here: words, values of columns (`column_values`,
`table_keys`), and statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from pydantic import Field

from plimsoll.learn.column_values import Values, base_of, column_values, learned_type, length_limit
from plimsoll.learn.names import OwnNames, Pseudonyms
from plimsoll.learn.schema_model import (
    ColumnFacts,
    ColumnKey,
    ForeignKeyFacts,
    IndexFacts,
    RowsAre,
    SchemaFacts,
    TableFacts,
    TableKey,
    other_names,
)
from plimsoll.learn.table_keys import Keys, Link, Links, MadeTable, in_turn, links_of, parents_first
from plimsoll.record.document import Document

DomainKind = Literal["key", "reference", "choice", "integer", "decimal", "date", "text"]


@dataclass(frozen=True, slots=True)
class Domain:
    """Which values a column has.

    Attributes:
        kind: How they are made.
        generator: The keys of a value in a statement that takes each of them equally often; a distribution may be added
            where the generator is `reference`, `integer`, `decimal` or `timestamp`. Of `letters` and `hex` it finds no
            row.
        size: How many different values there are.
        is_unique: Each of them is in one row at most.
    """

    kind: DomainKind
    generator: dict[str, Any]
    size: int
    is_unique: bool


@dataclass(frozen=True, slots=True)
class LearnedTables:
    """The tables of a learned workload.

    Attributes:
        tables: As a workload file's `[[table]]`, those first that others refer to.
        notes: What was assumed, and what a workload cannot have.
    """

    tables: list[dict[str, Any]]
    notes: tuple[DataNote, ...]
    _made: Mapping[TableKey, MadeTable]
    _written: Written

    def domain(self, column: ColumnKey) -> Domain | None:
        """Which values a column has; None for one that there is not."""
        table, name = column
        made = self._made.get(table)
        values = None if made is None else made.values.get(name)
        if values is None:
            return None
        generator = self._written.finding(table, name)
        return Domain(cast("DomainKind", values.kind), generator, values.size, values.is_unique)

    def table_name(self, table: TableKey) -> str:
        """What a table is called in the workload.

        Raises:
            KeyError: There is no such table.
        """
        return self._written.names[table]


def learned_tables(
    schema: SchemaFacts,
    *,
    scale: float,
    choices: Mapping[ColumnKey, Sequence[float]] | None = None,
    names: Pseudonyms | None = None,
) -> LearnedTables:
    """The tables of a workload with data like a server's.

    Args:
        schema: Its facts.
        scale: Tables of more than 100 rows get so many times as many, above 0.
        choices: By column, how often each of its values occurs, the most frequent first.
        names: Gives the names; None to keep those of the server.
    """
    made, links = made_tables(schema, scale, choices or {})
    written = written_tables(made, names or OwnNames())
    return LearnedTables(written.tables, notes_of(schema, made, links, written), made, written)


ROWS_ASSUMED = 10_000
"""Of a table of which nobody knows."""

SMALL_ROWS = 100
"""Tables with no more rows keep them at any scale."""

ROWS_MAX = 2**32 - 1
ADDED_KEY = "plimsoll_row"
"""The primary key of tables that have none."""

_LONG_TYPES = ("text", "blob")


def made_tables(
    schema: SchemaFacts, scale: float, weights: Mapping[ColumnKey, Sequence[float]]
) -> tuple[dict[TableKey, MadeTable], Links]:
    """The tables, those first that others refer to, and how columns refer to each other.

    Args:
        schema: The facts.
        scale: Of rows.
        weights: By column, how often each of its values occurs, the most frequent first.
    """
    facts = {table.key: _stored(table) for table in schema.tables}
    links = links_of(facts)
    made: dict[TableKey, MadeTable] = {}
    keys = Keys(made, links)
    for key in parents_first(facts, links):
        made[key] = _with_keys(facts[key], scale, keys)
    for key, table in made.items():
        for column in table.facts.columns:
            name = column.name.lower()
            if name in table.values:
                continue
            link = links.get((key, name))
            parent = keys.target(link) if link is not None else None
            referred = _reference(link, parent) if link is not None and parent is not None else None
            table.values[name] = (
                in_turn(table, column, parent)
                or referred
                or column_values(
                    column,
                    rows_before=table.rows_before,
                    rows=table.rows,
                    weights=weights.get((key, name)),
                    is_indexed=any(name in map(str.lower, index.columns) for index in table.facts.indexes),
                )
            )
    return made, links


def _stored(table: TableFacts) -> TableFacts:
    """The table without generated columns, and without indexes that need them or are of no kind that can be made."""
    columns = [column for column in table.columns if not column.is_generated]
    known = {column.name.lower() for column in columns}

    def can_be(index: IndexFacts) -> bool:
        return index.kind == "btree" and bool(index.columns) and {name.lower() for name in index.columns} <= known

    primary = table.primary_key if table.primary_key is not None and can_be(table.primary_key) else None
    shortened = _indexed_lengths(primary) if primary is not None else {}
    return table.model_copy(
        update={
            "columns": tuple(_shortened(column, shortened) for column in columns),
            "primary_key": primary,
            "indexes": tuple(index for index in table.indexes if can_be(index)),
        }
    )


def _indexed_lengths(primary: IndexFacts) -> dict[str, int]:
    lengths = primary.lengths or (0,) * len(primary.columns)
    return {name.lower(): length for name, length in zip(primary.columns, lengths, strict=True) if length}


def _shortened(column: ColumnFacts, lengths: Mapping[str, int]) -> ColumnFacts:
    """A primary key of a workload has whole columns: one with a prefix gets a type of that length."""
    length = lengths.get(column.name.lower())
    if length is None:
        return column
    is_bytes = "blob" in column.sql_type or "binary" in column.sql_type
    return column.model_copy(update={"sql_type": f"{'varbinary' if is_bytes else 'varchar'}({length})"})


def _with_keys(facts: TableFacts, scale: float, keys: Keys) -> MadeTable:
    """The table with its rows, and values of the columns that must be unique."""
    before = ROWS_ASSUMED if facts.rows is None else facts.rows
    wanted = before if before <= SMALL_ROWS else max(SMALL_ROWS, round(before * scale))
    table = MadeTable(facts, before, wanted, min(wanted, ROWS_MAX))
    primary = facts.primary_key or _instead(facts)
    if primary is not None and keys.give(table, primary, is_primary=True):
        table.key = tuple(name.lower() for name in primary.columns)
    for place, index in enumerate(facts.indexes):
        if not index.is_unique:
            continue
        is_whole = all(length == 0 or length >= _needed(table, index, at) for at, length in enumerate(index.lengths))
        if is_whole and keys.give(table, index, is_primary=False):
            table.unique.add(place)
    return table


def _instead(facts: TableFacts) -> IndexFacts | None:
    """The index that InnoDB takes where there is no primary key: the first unique one without NULL and prefixes."""
    nullable = {column.name.lower() for column in facts.columns if column.is_nullable}
    long = {column.name.lower() for column in facts.columns if base_of(column).endswith(_LONG_TYPES)}
    for index in facts.indexes:
        names = {name.lower() for name in index.columns}
        if index.is_unique and not names & (nullable | long) and not any(index.lengths):
            return index
    return None


def _needed(table: MadeTable, index: IndexFacts, at: int) -> int:
    """How many characters tell rows apart: the digits of their number, which come first."""
    return min(len(str(table.rows)), length_limit(table.column(index.columns[at].lower())))


def _reference(link: Link, parent: Values) -> Values:
    """A reference to a column whose values follow from row numbers."""
    target = (link.table, link.column)
    return Values({"generate": "reference"}, "reference", parent.size, length=parent.length, target=target)


_ON_DELETE = {"cascade": "cascade", "set null": "set_null"}


@dataclass(slots=True)
class Written:
    """Tables as a workload file has them.

    Attributes:
        made: What they are written from.
        pseudonyms: Gives names.
        names: Of the tables.
        tables: As `[[table]]`.
        foreign_keys_left_out: By table, how many could not be kept.
    """

    made: Mapping[TableKey, MadeTable]
    pseudonyms: Pseudonyms
    names: dict[TableKey, str] = field(default_factory=dict)
    tables: list[dict[str, Any]] = field(default_factory=list)
    foreign_keys_left_out: dict[TableKey, int] = field(default_factory=dict)

    def column_name(self, key: TableKey, column: str) -> str:
        """The name that a column gets, which is given in lower case."""
        return self.pseudonyms.of("c", self.made[key].column(column).name)

    def finding(self, key: TableKey, column: str) -> dict[str, Any]:
        """The generator of a statement's value that takes each value of a column equally often."""
        table = self.made[key]
        values = table.values[column]
        generator = values.generator
        if values.target is not None:
            return self._reference(*values.target)
        is_row = "{row}" in str(generator.get("template"))
        if generator["generate"] == "sequence" or is_row:
            if table.rows:
                return self._reference(key, column)
            start = generator.get("start", 1)
            return {"generate": "integer", "from": start, "to": start} if not is_row else {"generate": "null"}
        if "every" in generator:
            low, high = generator["from"], table.column(column).maximum or generator["from"]
            return {"generate": "timestamp", "from": low, "to": max(low, high.replace(" ", "T")[:19])}
        return {name: value for name, value in generator.items() if name != "weights"}

    def _reference(self, key: TableKey, column: str) -> dict[str, Any]:
        table = self.made[key]
        generator = {"generate": "reference", "table": self.names[key]}
        is_plain = table.values[column].generator["generate"] == "sequence" and table.key == (column,)
        return generator if is_plain else {**generator, "column": self.column_name(key, column)}

    def column(self, key: TableKey, facts: ColumnFacts) -> dict[str, Any]:
        """One `[[table.column]]`."""
        table, name = self.made[key], facts.name.lower()
        values = table.values[name]
        generator = values.generator if values.target is None else self._reference(*values.target)
        written = {"name": self.pseudonyms.of("c", facts.name), **generator, "type": self.type_of(key, facts)}
        rises = generator["generate"] == "sequence" and "cycle" not in generator and generator.get("start", 1) > 0
        if facts.is_auto_increment and rises and table.key[:1] == (name,):
            written["auto_increment"] = True
        elif is_nullable(table, facts):
            written["nullable"] = True
            if facts.null_ratio:
                written["null_ratio"] = round(facts.null_ratio, 4)
        return written

    def type_of(self, key: TableKey, facts: ColumnFacts) -> str:
        """The type that a column gets."""
        values = self.made[key].values[facts.name.lower()]
        if values.target is not None:  # columns that refer to each other have one type
            parent, column = values.target
            return self.type_of(parent, self.made[parent].column(column))
        return values.sql_type or learned_type(facts, length=values.length)[0]


def is_nullable(table: MadeTable, facts: ColumnFacts) -> bool:
    """NULL is allowed, also in the place of a default: inserts may leave the column out."""
    if facts.name.lower() in table.key:
        return False
    return facts.is_nullable or facts.has_default or facts.is_auto_increment


def written_tables(made: Mapping[TableKey, MadeTable], pseudonyms: Pseudonyms) -> Written:
    """The tables, in the order in which they were made.

    Args:
        made: The tables.
        pseudonyms: Gives names.
    """
    written = Written(made, pseudonyms)
    others = other_names(made)
    for key, table in made.items():
        written.names[key] = pseudonyms.of("t", others.get(key, table.facts.name))
    written.tables = [_table(written, key) for key in made]
    return written


def _table(written: Written, key: TableKey) -> dict[str, Any]:
    table = written.made[key]
    columns = [written.column(key, facts) for facts in table.facts.columns]
    if not table.key:
        added = {"name": ADDED_KEY, "generate": "sequence", "type": "BIGINT", "auto_increment": True}
        columns.append(added)
    entry: dict[str, Any] = {
        "name": written.names[key],
        "rows": table.rows,
        "primary_key": [written.column_name(key, name) for name in table.key] or [ADDED_KEY],
        "column": columns,
    }
    if indexes := [_index(written, key, place) for place in kept_indexes(table)]:
        entry["index"] = indexes
    foreign = [_foreign_key(written, key, foreign_key) for foreign_key in table.facts.foreign_keys]
    if kept := [foreign_key for foreign_key in foreign if foreign_key is not None]:
        entry["foreign_key"] = kept
    written.foreign_keys_left_out[key] = len(foreign) - len(kept)
    return entry


def kept_indexes(table: MadeTable) -> list[int]:
    """The places of the indexes that the table gets: not the one that became its primary key."""
    return [
        place
        for place, index in enumerate(table.facts.indexes)
        if table.facts.primary_key is not None or tuple(name.lower() for name in index.columns) != table.key
    ]


def _index(written: Written, key: TableKey, place: int) -> dict[str, Any]:
    table = written.made[key]
    index = table.facts.indexes[place]
    entry: dict[str, Any] = {
        "columns": [written.column_name(key, name.lower()) for name in index.columns],
        "name": written.pseudonyms.of("x", index.name),
    }
    if place in table.unique:
        entry["unique"] = True
    lengths = list(_lengths(written, key, index))
    if any(lengths):
        entry["lengths"] = lengths
    return entry


def _lengths(written: Written, key: TableKey, index: IndexFacts) -> Iterator[int]:
    """Prefixes of columns that are still text."""
    for name, length in zip(index.columns, index.lengths or (0,) * len(index.columns), strict=True):
        of_type = written.type_of(key, written.made[key].column(name.lower()))
        is_text = any(word in of_type for word in ("CHAR", "TEXT", "BLOB", "BINARY"))
        yield length if is_text else 0


def _foreign_key(written: Written, key: TableKey, facts: ForeignKeyFacts) -> dict[str, Any] | None:
    """A foreign key that all rows keep, and that both servers take; None where that is not certain."""
    parent_key = facts.parent
    parent, table = written.made.get(parent_key), written.made[key]
    names, referred = (
        [column.lower() for column in facts.columns],
        tuple(reference.lower() for reference in facts.references),
    )
    if parent is None or not parent.rows or len(names) != len(referred) or not _is_grid(parent, referred):
        return None
    for name, other in zip(names, referred, strict=True):
        column = next((column for column in table.facts.columns if column.name.lower() == name), None)
        if column is None or not _is_within(table, name, parent, other, parent_key):
            return None
        if written.type_of(key, column) != written.type_of(parent_key, parent.column(other)):
            return None
    entry: dict[str, Any] = {
        "columns": [written.column_name(key, name) for name in names],
        "table": written.names[parent_key],
        "references": [written.column_name(parent_key, name) for name in referred],
    }
    action = _ON_DELETE.get(facts.on_delete)
    can_be_null = all(is_nullable(table, table.column(name)) for name in names)
    if action is not None and (action != "set_null" or can_be_null):
        entry["on_delete"] = action
    return entry


def _is_grid(parent: MadeTable, referred: tuple[str, ...]) -> bool:
    """Whether a unique index has these columns and each combination of their values is in a row."""
    unique = [tuple(name.lower() for name in parent.facts.indexes[place].columns) for place in parent.unique]
    if referred not in (parent.key, *unique):
        return False
    size = 1
    for name in referred:
        size *= parent.values[name].size
    return size == parent.rows


def _is_within(table: MadeTable, name: str, parent: MadeTable, other: str, parent_key: TableKey) -> bool:
    """Whether all values of a column are among those of another one."""
    values, among = table.values[name], parent.values[other]
    if values.target is not None:
        return values.target == (parent_key, other)
    if values.generator["generate"] != "sequence" or among.generator["generate"] != "sequence":
        return values.generator == among.generator and table.rows <= parent.rows
    is_same_start = values.generator.get("start", 1) == among.generator.get("start", 1)
    return is_same_start and values.size <= among.size


_LEFT_OUT = "table-left-out"
_ROWS_FROM: dict[RowsAre, str] = {
    "unknown": "rows-assumed",
    "estimated": "rows-estimated",
    "numbered": "rows-from-auto-increment",
    "logged": "rows-from-log",
}


class DataNote(Document):
    """One assumption, or one thing that is otherwise than on the server.

    Attributes:
        code: Which, see docs/learn-data.md.
        table: Its name in the workload.
        column: Likewise; None where it is of the whole table.
        figures: By name.
    """

    code: str
    table: str
    column: str | None = None
    figures: dict[str, float | str] = Field(default_factory=dict)


def notes_of(
    schema: SchemaFacts, made: Mapping[TableKey, MadeTable], links: Links, written: Written
) -> tuple[DataNote, ...]:
    """All notes, table after table.

    Args:
        schema: The facts as they were read.
        made: The tables.
        links: Between their columns.
        written: Their names.
    """
    notes: list[DataNote] = []
    as_read = {table.key: table for table in schema.tables}
    for key, table in made.items():
        name = written.names[key]
        for code, figures in (*_of_rows(table), *_of_parts(as_read[key], table, written.foreign_keys_left_out[key])):
            notes.append(DataNote(code=code, table=name, figures=figures))
        for column, code, figures in _of_columns(key, table, links, written):
            notes.append(DataNote(code=code, table=name, column=column, figures=figures))
    left_out = (
        DataNote(code=_LEFT_OUT, table=written.pseudonyms.of("t", skipped.name), figures={"reason": skipped.reason})
        for skipped in schema.left_out
    )
    return (*notes, *left_out)


_Coded = tuple[str, dict[str, float | str]]


def _of_rows(table: MadeTable) -> Iterator[_Coded]:
    if (code := _ROWS_FROM.get(table.facts.rows_are)) is not None:
        yield code, {"rows": table.rows_before}
    if table.is_assumed:
        yield "key-assumed", {"columns": len(table.key)}
    if table.rows < table.rows_wanted:
        yield "rows-cut", {"rows": table.rows, "rows_wanted": table.rows_wanted}
    if not table.key:
        yield "primary-key-added", {}


def _of_parts(before: TableFacts, table: MadeTable, foreign_keys_left_out: int) -> Iterator[_Coded]:
    facts = table.facts
    assumed = sum(bool(value.assumed) for value in table.values.values())
    defaults = sum(is_nullable(table, column) and not column.is_nullable for column in facts.columns)
    not_unique = sum(index.is_unique for index in facts.indexes) - len(table.unique)
    counts = {
        "figures-assumed": assumed,
        "default-becomes-null": defaults,
        "generated-left-out": len(before.columns) - len(facts.columns),
        "index-left-out": len(before.indexes) - len(facts.indexes),
        "unique-left-out": not_unique,
        "foreign-key-left-out": foreign_keys_left_out,
    }
    for code, count in counts.items():
        if count:
            yield code, {"count": count}


def _of_columns(
    key: TableKey, table: MadeTable, links: Links, written: Written
) -> Iterator[tuple[str, str, dict[str, float | str]]]:
    for facts in table.facts.columns:
        name = facts.name.lower()
        shown, values = written.pseudonyms.of("c", facts.name), table.values[name]
        link = links.get((key, name))
        if link is not None and link.is_assumed and values.kind in ("reference", "key"):
            yield shown, "reference-assumed", {"table": written.names[link.table]}
        of_type, is_other = learned_type(facts, length=values.length)
        if values.target is None and (is_other or values.sql_type is not None):
            yield shown, "type-replaced", {"type": values.sql_type or of_type}
