"""Rows of learned tables as the load engine would make them, as far as they follow from row numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.learn.data_model import Domain, LearnedTables
from plimsoll.learn.schema_model import TableKey

Table = Mapping[str, Any]


def column(table: Table, name: str) -> Mapping[str, Any]:
    """One column of a table."""
    found: Mapping[str, Any] = next(one for one in table["column"] if one["name"] == name)
    return found


def domain(tables: LearnedTables, table: TableKey, name: str) -> Domain:
    """Which values a column has, which there is."""
    found = tables.domain((table, name))
    assert found is not None, f"{table} has no column {name}"
    return found


def value(table: Table, name: str, row: int) -> object:
    """What a column has in a row, from 0; None where it is drawn."""
    made = column(table, name)
    if made["generate"] == "sequence":
        block = row // made.get("each", 1)
        return made.get("start", 1) + made.get("step", 1) * (block % made["cycle"] if "cycle" in made else block)
    if made["generate"] == "text" and "{row}" in made["template"]:
        return made["template"].replace("{row}", str(row + 1))
    if made["generate"] == "timestamp" and "every" in made:
        return row * int(made["every"].rstrip("s"))
    return None


def are_unique(table: Table, names: Sequence[str]) -> bool:
    """Whether no two rows have the same values, drawn ones aside, which may be anything."""
    rows = {tuple(value(table, name, row) for name in names) for row in range(table["rows"])}
    return len(rows) == table["rows"]


def is_sound(tables: Sequence[Table]) -> bool:
    """Whether primary keys and unique indexes are unique, and rows refer to rows that are there."""
    by_name = {table["name"]: table for table in tables}
    for table in tables:
        unique = [table["primary_key"], *(one["columns"] for one in table.get("index", ()) if one.get("unique"))]
        if not all(are_unique(table, names) for names in unique):
            return False
        for one in table.get("foreign_key", ()):
            if not _refers(table, by_name[one["table"]], one):
                return False
    return True


def _refers(table: Table, parent: Table, key: Mapping[str, Any]) -> bool:
    """Whether each row refers to one of the parent; drawn references may be any combination of its values."""
    there = {tuple(value(parent, name, row) for name in key["references"]) for row in range(parent["rows"])}
    drawn = {name: {one[at] for one in there} for at, name in enumerate(key["references"])}
    pairs = list(zip(key["columns"], key["references"], strict=True))
    combinations: set[tuple[object, ...]] = set()
    for row in range(table["rows"]):
        found: list[tuple[object, ...]] = [()]
        for name, referred in pairs:
            known = value(table, name, row)
            values = [known] if known is not None else sorted(drawn[referred], key=str)
            found = [(*before, one) for before in found for one in values]
        combinations.update(found)
    return combinations <= there
