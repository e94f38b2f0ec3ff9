"""Rows that hold counters begin behind the largest key that is made, so that keys which come from them are new.

Deliberately not here: which columns are counters (`key_counters`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.learn.data_model import LearnedTables
from plimsoll.learn.model import LearnedType
from plimsoll.learn.names import Pseudonyms
from plimsoll.learn.schema_model import ColumnKey


def start_counters(made: LearnedTables, names: Pseudonyms, types: Sequence[LearnedType]) -> None:
    """Gives the columns of counters their first value, in the tables as they are made."""
    for one in types:
        for key, read in one.counters.items():
            holds = one.column(key)
            first = None if holds is None else _behind(_column(made, names, holds))
            if first is not None:
                counter = _column(made, names, read.counter)
                kept: dict[str, Any] = {name: counter[name] for name in ("name", "type", "nullable") if name in counter}
                counter.clear()
                counter.update({**kept, "generate": "choice", "values": [first]})
                for other in one.columns_with(key):
                    _end_before(_column(made, names, other), first)


def _behind(column: dict[str, Any]) -> int | None:
    """The value behind the largest of a sequence that begins again; None for other columns."""
    if column.get("generate") != "sequence" or "cycle" not in column:
        return None
    return int(column.get("start", 1) + column.get("step", 1) * column["cycle"])


def _end_before(column: dict[str, Any], first: int) -> None:
    """Shifts a sequence that has other keys of the counter, so that the newest of them is in all tables."""
    if (behind := _behind(column)) is not None and behind != first:
        column["start"] = max(1, column.get("start", 1) + first - behind)


def _column(made: LearnedTables, names: Pseudonyms, key: ColumnKey) -> dict[str, Any]:
    table, name = key
    made_name, shown = made.table_name(table), names.of("c", name)
    found = next(one for one in made.tables if one["name"] == made_name)
    return next(one for one in found["column"] if one["name"] == shown)
