"""How the statements of a type ran in the sampled transactions of a log."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.learn.relations import PlacedTransaction
from plimsoll.learn.samples import Sampled
from plimsoll.learn.structure import Structure

ONE_ROW_SHARE = 0.95
"""Of its executions in which a statement must give at most one row for its row to be read."""


def runs_of(structure: Structure, at: Sequence[PlacedTransaction]) -> dict[int, list[Sampled]]:
    """By place, its statements as they ran."""
    found: dict[int, list[Sampled]] = {place: [] for place in range(len(structure.templates))}
    for transaction, places in at:
        for one in places:
            found[one.place].append(transaction[one.index])
    return found


def items_count(one: Sampled, slot: int, *, is_rows: bool) -> int:
    """Rows of an INSERT, or different items of a list: clients fill lists up to a fixed length by repeating an item."""
    return one.lengths[slot] if is_rows else len(set(one.values.get(slot, ()))) or one.lengths[slot]


def gives_one_row(runs: Sequence[Sampled]) -> bool:
    """Whether it gives at most one row, nearly always, as far as the log says."""
    return sum(one.rows_sent is None or one.rows_sent <= 1 for one in runs) >= ONE_ROW_SHARE * max(len(runs), 1)
