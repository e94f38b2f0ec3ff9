"""Columns with few different values: which of the log's values are which of the table's.

Values of both are known by their hashes, or as whole numbers. In the workload each gets a made-up value, the same
wherever it occurs, so that a statement which looks for new orders finds as many as it did. Deliberately not here: what
the made-up values are (`column_values`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.learn.model import LearnedType
from plimsoll.learn.relations import Place
from plimsoll.learn.samples import Value
from plimsoll.learn.schema_model import FEW_VALUES_MAX, ColumnKey, SchemaFacts, TableFacts

_USES = ("equal", "written", "list")


@dataclass(frozen=True, slots=True)
class Choices:
    """The values of one column.

    Attributes:
        values: Of the table, the most frequent first; then those that only the log has.
        weights: How often each is in the table; 0 for those that are not.
    """

    values: tuple[str, ...]
    weights: tuple[float, ...]

    def counts(self, values: Sequence[Value]) -> list[int]:
        """How often each was seen; what is none of them is not counted."""
        seen = Counter(str(value) for kind, value in values if kind in ("int", "text"))
        return [seen[one] for one in self.values]


def column_choices(schema: SchemaFacts, types: Sequence[LearnedType]) -> dict[ColumnKey, Choices]:
    """The columns whose values are told one by one.

    Args:
        schema: The tables.
        types: What is done with them.
    """
    logged = _logged(types)
    found: dict[ColumnKey, Choices] = {}
    for table in schema.tables:
        for column in table.columns:
            key = (table.key, column.name.lower())
            if not column.frequencies or key[1] in _leading(table):
                continue
            values = dict(column.frequencies)
            more = [value for value, _ in logged.get(key, Counter()).most_common() if value not in values]
            if len(values) + len(more) <= FEW_VALUES_MAX:
                total = sum(values.values())
                weights = (*(count / total for count in values.values()), *(0.0 for _ in more))
                found[key] = Choices((*values, *more), weights)
    return found


def _leading(table: TableFacts) -> set[str]:
    """The columns that keys begin with: these are told as keys."""
    unique = [one for one in (table.primary_key, *table.indexes) if one is not None]
    return {one.columns[0].lower() for one in unique if one.columns and (one.is_unique or one is table.primary_key)}


def _logged(types: Sequence[LearnedType]) -> dict[ColumnKey, Counter[str]]:
    """By column, how often statements compared or wrote each value."""
    found: dict[ColumnKey, Counter[str]] = {}
    for one in types:
        for place, statement in enumerate(one.statements):
            for slot, column in enumerate(statement.facts.columns if statement is not None else ()):
                if column is None or statement is None or statement.facts.slots[slot].use not in _USES:
                    continue
                values = one.values(Place(place, slot))
                found.setdefault(column, Counter()).update(
                    str(value) for kind, value in values if kind in ("int", "text")
                )
    return found
