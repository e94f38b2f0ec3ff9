"""Made tables in the form of a workload file, under the names that they get.

Deliberately not here: values (`made_tables`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.learn.catalog import other_names
from plimsoll.learn.column_types import learned_type
from plimsoll.learn.made_tables import ADDED_KEY
from plimsoll.learn.names import Pseudonyms
from plimsoll.learn.schema_model import ColumnFacts, ForeignKeyFacts, IndexFacts, TableKey
from plimsoll.learn.table_keys import MadeTable

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
        found = {"generate": "reference", "table": self.names[key]}
        is_plain = table.values[column].generator["generate"] == "sequence" and table.key == (column,)
        return found if is_plain else {**found, "column": self.column_name(key, column)}

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
    found: dict[str, Any] = {
        "name": written.names[key],
        "rows": table.rows,
        "primary_key": [written.column_name(key, name) for name in table.key] or [ADDED_KEY],
        "column": columns,
    }
    if indexes := [_index(written, key, place) for place in kept_indexes(table)]:
        found["index"] = indexes
    foreign = [_foreign_key(written, key, one) for one in table.facts.foreign_keys]
    if kept := [one for one in foreign if one is not None]:
        found["foreign_key"] = kept
    written.foreign_keys_left_out[key] = len(foreign) - len(kept)
    return found


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
    found: dict[str, Any] = {
        "columns": [written.column_name(key, name.lower()) for name in index.columns],
        "name": written.pseudonyms.of("x", index.name),
    }
    if place in table.unique:
        found["unique"] = True
    lengths = list(_lengths(written, key, index))
    if any(lengths):
        found["lengths"] = lengths
    return found


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
    names, referred = [one.lower() for one in facts.columns], tuple(one.lower() for one in facts.references)
    if parent is None or not parent.rows or len(names) != len(referred) or not _is_grid(parent, referred):
        return None
    for name, other in zip(names, referred, strict=True):
        column = next((one for one in table.facts.columns if one.name.lower() == name), None)
        if column is None or not _is_within(table, name, parent, other, parent_key):
            return None
        if written.type_of(key, column) != written.type_of(parent_key, parent.column(other)):
            return None
    found: dict[str, Any] = {
        "columns": [written.column_name(key, name) for name in names],
        "table": written.names[parent_key],
        "references": [written.column_name(parent_key, name) for name in referred],
    }
    action = _ON_DELETE.get(facts.on_delete)
    can_be_null = all(is_nullable(table, table.column(name)) for name in names)
    if action is not None and (action != "set_null" or can_be_null):
        found["on_delete"] = action
    return found


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
