"""All tables of a schema with as many rows as they get and values for each column.

Deliberately not here: names, and the form of a workload file (`written_tables`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.learn.column_types import base_of, length_limit
from plimsoll.learn.column_values import Values, column_values
from plimsoll.learn.in_turn import in_turn
from plimsoll.learn.schema_model import ColumnFacts, ColumnKey, IndexFacts, SchemaFacts, TableFacts, TableKey
from plimsoll.learn.table_keys import Keys, MadeTable
from plimsoll.learn.table_links import Link, Links, links_of, parents_first

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
                    is_indexed=any(name in map(str.lower, one.columns) for one in table.facts.indexes),
                )
            )
    return made, links


def _stored(table: TableFacts) -> TableFacts:
    """The table without generated columns, and without indexes that need them or are of no kind that can be made."""
    columns = [one for one in table.columns if not one.is_generated]
    known = {one.name.lower() for one in columns}

    def can_be(index: IndexFacts) -> bool:
        return index.kind == "btree" and bool(index.columns) and {name.lower() for name in index.columns} <= known

    primary = table.primary_key if table.primary_key is not None and can_be(table.primary_key) else None
    shortened = _indexed_lengths(primary) if primary is not None else {}
    return table.model_copy(
        update={
            "columns": tuple(_shortened(one, shortened) for one in columns),
            "primary_key": primary,
            "indexes": tuple(one for one in table.indexes if can_be(one)),
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
    nullable = {one.name.lower() for one in facts.columns if one.is_nullable}
    long = {one.name.lower() for one in facts.columns if base_of(one).endswith(_LONG_TYPES)}
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
