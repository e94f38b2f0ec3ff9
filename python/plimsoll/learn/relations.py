"""What values of a transaction have to do with each other: the same again, that plus a constant, the number of the row.

The idea of parameter dependencies within a transaction is that of Lauca (Li et al., TKDE 36(7), 2024); here they are
found on a sample of transactions, by how often they hold, against how often they would by chance.

Deliberately not here: values that come out of rows which a statement read; no log shows those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.learn.families import Families
from plimsoll.learn.samples import Transaction, Value
from plimsoll.learn.structure import Placed, Structure

MEMBER = -1
"""In place of the number of a slot: which member of its family a statement is."""

HOLDS_MIN = 0.97
"""Of the transactions, in which a relation must hold."""

CHANCE_MAX = 0.8
"""Two values that are equal by chance more often than that tell nothing by being equal."""

TRANSACTIONS_MIN = 20
TRANSACTIONS_MAX = 600
"""That are compared."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One value of a transaction type.

    Attributes:
        statement: Place in the folded sequence.
        slot: Of the template, or `MEMBER`.
        part: Of the literals in a row of an INSERT with several rows; 0 of every other slot.
    """

    statement: int
    slot: int
    part: int = 0


@dataclass(frozen=True, slots=True)
class Relation:
    """Where the value of a place comes from, if it is not drawn.

    Attributes:
        kind: `same` as that of another place; `sum` of that and `add`; `row`: number of the row in its INSERT; `item`
            of the list that another place has, or takes first; `once`: the same in all rounds or rows.
        of: The other place; None for a row, and for what is chosen once.
        add: The constant.
        holds: In which share of the observations it held.
    """

    kind: Literal["same", "sum", "row", "item", "once"]
    of: Place | None = None
    add: int = 0
    holds: float = 1.0


PlacedTransaction = tuple[Transaction, Sequence[Placed]]

Rounds = tuple[int, ...]
Observed = dict[Rounds, list[Value]]
"""By round of the loops around it: a value, or of an INSERT of several rows one for each row."""


def observed_of(
    structure: Structure, transactions: Sequence[PlacedTransaction], families: Families, widths: Mapping[int, int]
) -> list[dict[Place, Observed]]:
    """The values of transactions by place.

    Args:
        structure: Of the type.
        transactions: A sample, with the places of its statements.
        families: Of templates.
        widths: By place of a statement whose first literal stands for several rows, the literals of each row.
    """
    found = []
    for transaction, at in transactions:
        values: dict[Place, Observed] = {}
        for one in at:
            statement = transaction[one.index]
            if len(families.templates(structure.templates[one.place])) > 1:
                member = families.member(statement.template)
                values.setdefault(Place(one.place, MEMBER), {})[one.rounds] = [("int", member)]
            width = widths.get(one.place, 1)
            for slot, seen in statement.values.items():
                for part in range(width):
                    values.setdefault(Place(one.place, slot, part), {})[one.rounds] = list(seen[part::width])
        found.append(values)
    return found


def relations_of(
    structure: Structure, seen: Sequence[Mapping[Place, Observed]], lists: frozenset[Place]
) -> dict[Place, Relation]:
    """The places whose values follow from others.

    Args:
        structure: Of the type.
        seen: From `observed_of`.
        lists: Places whose values are items of an IN list; they are in no relation.
    """
    looked_at = seen[:TRANSACTIONS_MAX]
    places = sorted({place for one in looked_at for place in one} - lists)
    found: dict[Place, Relation] = {}
    for later in places:
        if all_rows := _row_numbers(looked_at, later):
            found[later] = all_rows
            continue
        earlier = [one for one in places if one < later and is_before(structure, one, later, found)]
        if (relation := _relation(looked_at, earlier, later)) is not None:
            found[later] = relation
    return found


def is_before(structure: Structure, earlier: Place, later: Place, found: Mapping[Place, Relation]) -> bool:
    """Whether a value is known when the later one is needed: once, or in the same round; and is no copy itself."""
    if (earlier.slot == MEMBER) != (later.slot == MEMBER) or earlier.part > 0:
        return False
    around = structure.inside(later.statement)
    is_known = set(structure.inside(earlier.statement)) <= set(around)
    relation = found.get(earlier)
    return is_known and (relation is None or relation.kind == "sum")


def chance_of(values: Sequence[object]) -> float:
    """How often two values are equal by chance."""
    return sum(count**2 for count in Counter(values).values()) / max(len(values), 1) ** 2


def _relation(seen: Sequence[Mapping[Place, Observed]], earlier: Sequence[Place], later: Place) -> Relation | None:
    values = [value for one in seen for values in one.get(later, {}).values() for value in values]
    if len(values) < TRANSACTIONS_MIN:
        return None
    chance = chance_of(values)
    if chance > CHANCE_MAX:
        return None
    best: Relation | None = None
    for place in earlier:
        pairs = value_pairs(seen, place, later)
        if len(pairs) < HOLDS_MIN * len(values):
            continue
        relation = _between(pairs, place, chance)
        if relation is not None and (best is None or _better(relation, best, later)):
            best = relation
    return best


def _between(pairs: Sequence[tuple[Value, Value]], place: Place, chance: float) -> Relation | None:
    same = sum(one == other for one, other in pairs) / len(pairs)
    if same >= HOLDS_MIN:
        return Relation("same", place, holds=same)
    steps = Counter(
        other[1] - one[1]
        for one, other in pairs
        if isinstance(one[1], int) and isinstance(other[1], int) and one[0] == other[0] == "int"
    )
    if not steps:
        return None
    add, count = steps.most_common(1)[0]
    holds = count / len(pairs)
    return Relation("sum", place, add, holds) if holds >= max(HOLDS_MIN, chance) else None


def _better(one: Relation, other: Relation, later: Place) -> bool:
    """Equality before a sum; a sum within the statement before one with another; else the first that was found."""
    if one.kind != other.kind:
        return one.kind == "same"
    assert one.of is not None, "it is no number of a row"
    assert other.of is not None, "it is no number of a row"
    near = one.of.statement == later.statement
    return one.kind == "sum" and near and other.of.statement != later.statement


def value_pairs(seen: Sequence[Mapping[Place, Observed]], earlier: Place, later: Place) -> list[tuple[Value, Value]]:
    """The values of a place, each with what an earlier one had in its transaction, or in the same round."""
    found = []
    for one in seen:
        before = one.get(earlier)
        if before is None:
            continue
        for rounds, values in one.get(later, {}).items():
            known = next(
                (before[rounds[:depth]] for depth in range(len(rounds), -1, -1) if rounds[:depth] in before), None
            )
            if known:
                found += [(known[0], value) for value in values]
    return found


def _row_numbers(seen: Sequence[Mapping[Place, Observed]], place: Place) -> Relation | None:
    """Whether the values of several rows are 1, 2, 3 and so on."""
    all_rows = [values for one in seen for values in one.get(place, {}).values()]
    if not any(len(values) > 1 for values in all_rows):
        return None
    hits = sum([value[1] for value in values] == list(range(1, len(values) + 1)) for values in all_rows)
    holds = hits / len(all_rows)
    return Relation("row", holds=holds) if holds >= HOLDS_MIN else None
