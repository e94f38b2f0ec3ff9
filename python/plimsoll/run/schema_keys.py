"""Counts the values of indexes of several columns, where the server can do so by jumping through the index.

The server's own estimates of how many different values a part of an index has are often wrong by a factor of two. Keys
that are made from them do not fit those of other tables, and whether each row has a value of its own stays open.
Deliberately not here: figures of other columns (`schema_samples`).
"""

from __future__ import annotations

import contextlib

from plimsoll.learn.schema_model import ColumnFacts, IndexFacts, TableFacts
from plimsoll.run.schema_samples import INTEGER, CutOffError, asked, quoted, whole
from plimsoll.servers.control import ControlConnection

PARTS_MAX = 200_000
"""Different values of a part of an index that are counted; of more the server's estimate stays."""

_MANY_RATIO = 0.3
"""Of an index that is not unique, parts are counted that have more values than this share of the rows, as the server
estimates."""


def with_counted_keys(control: ControlConnection, table: TableFacts) -> TableFacts:
    """The table with the counted parts of its indexes of integers, and the ends of their columns.

    Raises:
        TargetError: The server refused a statement, or the connection was lost.
    """
    key = table.primary_key
    if not table.rows:
        return table
    if key is not None and len(key.columns) > 1 and _is_plain(table, key):
        with contextlib.suppress(CutOffError):
            parts = _counts(control, table, key, len(key.columns) - 1)
            if parts is not None:
                whole_key = (*parts, max(table.rows, parts[-1]))
                counted = key.model_copy(update={"prefix_counts": whole_key, "is_counted": True})
                table = _with_ends(control, table, key).model_copy(update={"primary_key": counted})
    for place, index in enumerate(table.indexes):
        length = _open_length(table, index)
        if not length or not _is_plain(table, index):
            continue
        with contextlib.suppress(CutOffError):
            parts = _counts(control, table, index, length)
            if parts is not None:
                counted = index.model_copy(update={"prefix_counts": (*parts, *index.prefix_counts[length:])})
                indexes = (*table.indexes[:place], counted, *table.indexes[place + 1 :])
                table = _with_ends(control, table, index, length).model_copy(update={"indexes": indexes})
    return table


def _is_plain(table: TableFacts, index: IndexFacts) -> bool:
    """Whether it has whole columns of integers only."""
    types = {one.name.lower(): one.sql_type for one in table.columns}
    integers = all(INTEGER.match(types.get(name.lower(), "")) for name in index.columns)
    return index.kind == "btree" and integers and not any(index.lengths)


def _open_length(table: TableFacts, index: IndexFacts) -> int:
    """How many columns of an index have nearly as many values as there are rows, or some less; 0 for none."""
    many = (place for place, count in enumerate(index.prefix_counts) if count > _MANY_RATIO * (table.rows or 0))
    return 0 if index.is_unique else next(many, -1) + 1


def _counts(control: ControlConnection, table: TableFacts, index: IndexFacts, parts: int) -> tuple[int, ...] | None:
    """Different values of the first column, of the first two, and so on; None where there are too many."""
    found: list[int] = []
    for length in range(1, parts + 1):
        names = ", ".join(quoted(one) for one in index.columns[:length])
        distinct = f"SELECT DISTINCT {names} FROM {_place(table)} LIMIT {PARTS_MAX + 1}"  # noqa: S608
        count = whole(asked(control, f"SELECT COUNT(*) FROM ({distinct}) AS parts")[0][0]) or 1  # noqa: S608
        if count > PARTS_MAX:
            return None
        found.append(count)
    return tuple(found)


def _ends(control: ControlConnection, table: TableFacts, index: IndexFacts, place: int) -> tuple[str, str] | None:
    """The smallest and the largest value of one of its columns."""
    name = quoted(index.columns[place])
    before = ", ".join(quoted(one) for one in index.columns[:place])
    grouped = f"SELECT MIN({name}) AS low, MAX({name}) AS high FROM {_place(table)}"  # noqa: S608
    grouped += f" GROUP BY {before}" if before else ""
    low, high = asked(control, f"SELECT MIN(low), MAX(high) FROM ({grouped}) AS ends", columns=2)[0][:2]  # noqa: S608
    first, last = whole(low, is_signed=True), whole(high, is_signed=True)
    return None if first is None or last is None else (str(first), str(last))


def _with_ends(
    control: ControlConnection, table: TableFacts, index: IndexFacts, parts: int | None = None
) -> TableFacts:
    """The table with the smallest and the largest value of the first columns of an index; None for all.

    Columns of which single values are known keep what is known, unless they are part of the primary key.
    """
    of_key = index is table.primary_key
    ends = {name.lower(): _ends(control, table, index, place) for place, name in enumerate(index.columns[:parts])}

    def ended(column: ColumnFacts) -> ColumnFacts:
        found = ends.get(column.name.lower())
        if found is None or (column.frequencies and not of_key):
            return column
        return column.model_copy(update={"minimum": found[0], "maximum": found[1], "frequencies": ()})

    return table.model_copy(update={"columns": tuple(ended(one) for one in table.columns)})


def _place(table: TableFacts) -> str:
    return f"{quoted(table.schema_name)}.{quoted(table.name)}"
