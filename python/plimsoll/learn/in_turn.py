"""Columns whose values rows take in turn: an index shows that more of them occur than random draws would give.

With as many rows as values, random draws leave 37 % of the values without a row: a statement that looks for one finds
nothing. One profile for each user, or one order for each customer at first, is what such an index shows.
Deliberately not here: keys, whose values never repeat (`table_keys`).

Source of the expectation: n draws from m values take m (1 - (1 - 1/m)^n) of them, nearly m (1 - e^(-n/m)).
"""

from __future__ import annotations

import math

from plimsoll.learn.column_types import integer_range, kind_of
from plimsoll.learn.column_values import Values, scaled_distinct, whole
from plimsoll.learn.schema_model import ColumnFacts, IndexFacts
from plimsoll.learn.table_keys import MadeTable

_TELLING_RATIO = 0.95
"""Where random draws would take more than this share of what is possible, an index cannot tell the two apart."""


def in_turn(table: MadeTable, column: ColumnFacts, parent: Values | None) -> Values | None:
    """The values in turn; None where no index shows that, or where the column holds no integers.

    Args:
        table: With the values of its keys.
        column: One of its columns, without values as yet.
        parent: What the column refers to; None for no reference to a sequence.
    """
    count = _values_count(column)
    if kind_of(column) != "integer" or count is None or not table.rows:
        return None
    if not any(_shows(table, column, index, count) for index in table.facts.indexes):
        return None
    if parent is not None:
        start, size = int(parent.generator.get("start", 1)), parent.size
    else:
        counted = column.model_copy(update={"distinct_count": count})
        start, size = whole(column.minimum) or 0, scaled_distinct(counted, table.rows_before, table.rows) or 1
    if start + size - 1 not in integer_range(column):
        return None
    return Values({"generate": "sequence", "start": start, "each": 1, "cycle": size}, "key", min(size, table.rows))


def _values_count(column: ColumnFacts) -> int | None:
    """How many values the column could have: from its smallest to its largest."""
    low, high = whole(column.minimum), whole(column.maximum)
    return None if low is None or high is None or low > high else high - low + 1


def _shows(table: MadeTable, column: ColumnFacts, index: IndexFacts, count: int) -> bool:
    """Whether an index shows that; the columns before must be parts of keys, which rows take in their order."""
    names = [name.lower() for name in index.columns]
    name = column.name.lower()
    at = names.index(name) if name in names else len(names)
    if at >= len(index.prefix_counts):
        return False
    known = (table.values.get(before) for before in names[:at])
    if not all(one is not None and "each" in one.generator for one in known):
        return False
    groups = index.prefix_counts[at - 1] if at else 1
    rows = table.rows_before * (1 - (column.null_ratio or 0.0)) / max(groups, 1)
    most, expected = min(rows, count), count * -math.expm1(-rows / count)
    found = index.prefix_counts[at] / max(groups, 1)
    return expected <= _TELLING_RATIO * most and found > (expected + most) / 2
