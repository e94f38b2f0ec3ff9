"""Figures that a dump of definitions does not have, from the values that statements compare columns with.

How many different values a column has decides which distribution its parameters have: keys that are drawn evenly from
500 rows look skewed if there seem to be 10,000. Where the schema does not say it, the log does: if `d` different values
were seen, `f1` of them once and `f2` twice, there are about d + f1 (f1 - 1) / 2 (f2 + 1). Source: Chao, Scandinavian
Journal of Statistics 11, 1984, corrected for its bias. It is right for values that are drawn evenly, and a lower bound
for all others.

Deliberately not here: what is assumed where the log does not tell either (`made_tables`, `column_values`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import prod

from plimsoll.learn.fits import CONSTANT_SHARE, OBSERVATIONS_MIN
from plimsoll.learn.insert_keys import InsertKeys
from plimsoll.learn.made_tables import ROWS_ASSUMED
from plimsoll.learn.model import LearnedType
from plimsoll.learn.relations import MEMBER, Place
from plimsoll.learn.samples import Value
from plimsoll.learn.schema_model import ColumnFacts, ColumnKey, SchemaFacts, TableFacts

TWICE_MIN = 10
"""Values that must have been seen twice for those that were not seen to be estimated."""

UNSEEN_MAX = 0.05
"""Share of values that were seen once, up to which nearly all were seen, and no others need be estimated."""

COMBINATIONS_MAX = 1_000_000
"""A key has a row for each combination of its columns' values, if these are no more. Of a larger key, a column keeps
its count only if it is within an even share of the rows that are assumed, or most combinations would be in no row."""

_USES = ("equal", "list")


def with_logged_figures(schema: SchemaFacts, types: Sequence[LearnedType], keys: InsertKeys) -> SchemaFacts:
    """The schema with rows of tables and different values of columns that it does not have and the log shows.

    Args:
        schema: What it has stays as it is.
        types: Samples of the transactions of a log.
        keys: Of the same schema.
    """
    counts: dict[ColumnKey, int] = {}
    for column, seen in _compared(types).items():
        if (count := values_count(seen)) is not None:
            counts[column] = count
    for column, parent in keys.references().items():
        if column in counts:
            counts[parent] = max(counts[column], counts.get(parent, 0))
    tables = tuple(
        _with_figures(one, {name: count for (table, name), count in counts.items() if table == one.key}, keys)
        for one in schema.tables
    )
    return schema.model_copy(update={"tables": tables})


def values_count(seen: Counter[Value]) -> int | None:
    """How many different values there are to draw from; None where too few were seen to tell.

    Args:
        seen: By value, how often it was drawn.
    """
    draws, times = seen.total(), Counter(seen.values())
    once, twice = times[1], times[2]
    if draws < OBSERVATIONS_MIN or (twice < TWICE_MIN and once > UNSEEN_MAX * draws):
        return None
    return len(seen) + round(once * (once - 1) / (2 * (twice + 1)))


def _with_figures(table: TableFacts, counts: Mapping[str, int], keys: InsertKeys) -> TableFacts:
    """The table with figures that follow from the number of values of its columns, by name in lower case."""
    unique = keys.unique(table.key)
    uncounted = {key[0] for key in unique if len(key) == 1}  # these have as many values as there are rows
    if table.rows is None:
        sizes = {key: prod(counts[name] for name in key) for key in unique if counts.keys() >= set(key)}
        rows = next((size for size in sizes.values() if size <= COMBINATIONS_MAX), None)
        if rows is not None:
            table = table.model_copy(update={"rows": rows, "rows_are": "logged"})
        for key, size in sizes.items():
            if size > COMBINATIONS_MAX:
                uncounted |= {name for name in key if counts[name] ** len(key) > ROWS_ASSUMED}

    def with_count(column: ColumnFacts) -> ColumnFacts:
        count = counts.get(column.name.lower())
        if count is None or column.distinct_count is not None or column.name.lower() in uncounted:
            return column
        return column.model_copy(update={"distinct_count": count})

    return table.model_copy(update={"columns": tuple(with_count(one) for one in table.columns)})


def _compared(types: Sequence[LearnedType]) -> dict[ColumnKey, Counter[Value]]:
    """By column, how often statements looked for each value. Constants of programs are no draws, nor are copies."""
    found: dict[ColumnKey, Counter[Value]] = defaultdict(Counter)
    for one in types:
        for place, statement in enumerate(one.statements):
            for slot, each in enumerate(statement.facts.slots if statement is not None else ()):
                key = Place(place, slot)
                if each.use in _USES and key not in one.relations:
                    for column, seen in _drawn(one, key).items():
                        found[column] += seen
    return found


def _drawn(one: LearnedType, key: Place) -> dict[ColumnKey, Counter[Value]]:
    """The values of one place by column, of which a family has one for each table; none where it is always the same."""
    statement = one.statements[key.statement]
    assert statement is not None, "only what runs has values"
    found: dict[ColumnKey, Counter[Value]] = defaultdict(Counter)
    for seen in one.seen:
        members = seen.get(Place(key.statement, MEMBER), {})
        for rounds, values in seen.get(key, {}).items():
            member = int(members[rounds][0][1]) if rounds in members else 1
            column = statement.members[member - 1].columns[key.slot]
            if column is not None:
                found[column].update({value for value in values if value[0] != "null"})
    together = sum(found.values(), Counter[Value]())
    most = max(together.values(), default=0)
    return {} if most >= CONSTANT_SHARE * together.total() else found
