"""Which columns refer to which: by foreign keys, and by names where there is none.

Deliberately not here: whether a workload can have the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from plimsoll.learn.column_types import integer_range, kind_of
from plimsoll.learn.schema_model import ColumnFacts, ColumnKey, TableFacts, TableKey


@dataclass(frozen=True, slots=True)
class Link:
    """One column refers to another.

    Attributes:
        table: That is referred to.
        column: Its column, in lower case.
        is_assumed: Names and types alone say so.
    """

    table: TableKey
    column: str
    is_assumed: bool = False


Links = Mapping[ColumnKey, Link]
"""By the column that refers."""


def links_of(tables: Mapping[TableKey, TableFacts]) -> dict[ColumnKey, Link]:
    """All links between these tables; declared ones come before assumed ones."""
    found: dict[ColumnKey, Link] = {}
    for key, table in tables.items():
        for foreign in table.foreign_keys:
            if foreign.parent in tables:
                for column, referred in zip(foreign.columns, foreign.references, strict=False):
                    found.setdefault((key, column.lower()), Link(foreign.parent, referred.lower()))
    for place, link in _assumed(tables):
        found.setdefault(place, link)
    return found


def _assumed(tables: Mapping[TableKey, TableFacts]) -> Iterator[tuple[ColumnKey, Link]]:
    """Columns with the name and type of another table's key: user_id is users.id, item_id is items.item_id."""
    named: dict[tuple[str, str], tuple[TableKey, ColumnFacts]] = {}
    for key, table in tables.items():
        column = _single_key(table)
        if column is None or kind_of(column) != "integer":
            continue
        own = column.name.lower()
        names = {f"{one}_{own}" for one in _singular(key[1])} | ({own} if own != "id" else set())
        for name in names:
            named.setdefault((key[0], name), (key, column))
    for key, table in tables.items():
        for column in table.columns:
            parent, target = named.get((key[0], column.name.lower()), (key, column))
            if parent != key and integer_range(column) == integer_range(target) and kind_of(column) == "integer":
                yield (key, column.name.lower()), Link(parent, target.name.lower(), is_assumed=True)


def _single_key(table: TableFacts) -> ColumnFacts | None:
    if table.primary_key is None or len(table.primary_key.columns) != 1:
        return None
    name = table.primary_key.columns[0].lower()
    return next((one for one in table.columns if one.name.lower() == name), None)


def _singular(name: str) -> set[str]:
    """The words that a table's name may be the plural of, and itself."""
    found = {name}
    if name.endswith("ies"):
        found.add(name[:-3] + "y")
    if name.endswith("es"):
        found.add(name[:-2])
    if name.endswith("s"):
        found.add(name[:-1])
    return found


def parents_first(tables: Mapping[TableKey, TableFacts], links: Links) -> list[TableKey]:
    """The tables so that those that are referred to come first, as far as they do not refer to each other."""
    graph: dict[TableKey, set[TableKey]] = {key: set() for key in tables}
    for (key, _), link in links.items():
        if link.table != key:
            graph[key].add(link.table)
    while True:
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            circle: list[TableKey] = error.args[1]  # each is a predecessor of the next
            graph[circle[1]].discard(circle[0])
