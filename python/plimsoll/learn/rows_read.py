"""Values that are assumed to come out of a row that the transaction has read before. No log shows the rows of a result.

A value is taken for that of a row if an earlier SELECT of the transaction gives one row with the very column that the
value is compared with or written to, or with a column that refers to it. Deliberately not here: what logs do show
(`relations`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.learn.relations import Place, Relation
from plimsoll.learn.schema_model import ColumnKey
from plimsoll.learn.statement_facts import StatementFacts
from plimsoll.learn.structure import Structure

_USES = ("equal", "written", "range")


@dataclass(frozen=True, slots=True)
class RowRead:
    """A column of the first row of an earlier statement.

    Attributes:
        statement: Place of that statement.
        output: What its result calls the column.
        add: What is added to it.
    """

    statement: int
    output: str
    add: int = 0


def rows_read(
    structure: Structure,
    facts: Sequence[StatementFacts | None],
    relations: Mapping[Place, Relation],
    references: Mapping[ColumnKey, ColumnKey],
    one_row: frozenset[int],
) -> dict[Place, RowRead]:
    """The values that are assumed to be read, by place.

    Args:
        structure: Of the type.
        facts: By place; None where a statement is not known.
        relations: What follows from other values needs no row.
        references: By column, the one that it refers to.
        one_row: Places of statements that gave one row, nearly always.
    """
    found: dict[Place, RowRead] = {}
    given: list[tuple[int, ColumnKey, str]] = []
    for place, one in enumerate(facts):
        if one is None:
            continue
        around = set(structure.inside(place))
        for slot, column in enumerate(one.columns):
            key = Place(place, slot)
            if column is None or key in relations or one.slots[slot].use not in _USES:
                continue
            for earlier, selected, output in reversed(given):
                is_known = set(structure.inside(earlier)) <= around
                if is_known and column in (selected, references.get(selected)):
                    found[key] = RowRead(earlier, output)
                    break
        if place in one_row:
            given += [(place, each.column, each.output) for each in one.selected]
    return found
