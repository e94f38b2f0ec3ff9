"""Values that often, but not always, are an earlier value of their transaction: the customer's own warehouse, mostly.

Values that have nothing to do with each other are equal by chance, too. What lies above that is the share in which the
later one is the earlier one again: for equal values in a share h, and in a share c by chance, (h - c) / (1 - c), as
Cohen's kappa has it (Educational and Psychological Measurement 20, 1960). In all other transactions it is drawn by
itself, so that each value of it stays as frequent as it was.

Deliberately not here: values that always follow from others (`relations`), and items of lists (`item_relations`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.learn.relations import (
    CHANCE_MAX,
    HOLDS_MIN,
    MEMBER,
    TRANSACTIONS_MAX,
    Observed,
    Place,
    Relation,
    is_before,
    value_pairs,
)
from plimsoll.learn.samples import Value
from plimsoll.learn.structure import Structure

RATIO_MIN = 0.2
"""A smaller share changes hardly anything."""

PAIRS_MIN = 100
STANDARD_ERRORS_MIN = 5
"""So far above chance: any two of many places are compared."""


ListPairs = Sequence[tuple[frozenset[Value], frozenset[Value]]]
"""The items of an earlier list, and those of a later one each time that it was there."""


@dataclass(frozen=True, slots=True)
class OftenSame:
    """What a value often is.

    Attributes:
        of: The earlier place.
        ratio: In which share of its draws it is that value, however likely they are to be equal otherwise.
        holds: In which share of the observations they were equal.
        lengths: Of a list: how often it had so many items where it was not the other one.
    """

    of: Place
    ratio: float
    holds: float
    lengths: Counter[int] = field(default_factory=Counter)


def often_same(
    structure: Structure,
    seen: Sequence[Mapping[Place, Observed]],
    *,
    relations: Mapping[Place, Relation],
    lists: Collection[Place],
    known: Collection[Place],
) -> dict[Place, OftenSame]:
    """The places whose values often are earlier ones.

    Args:
        structure: Of the type.
        seen: Values of transactions by place.
        relations: Of places that follow from others.
        lists: Places whose values are items of an IN list.
        known: Places whose values come from somewhere else.
    """
    looked_at = seen[:TRANSACTIONS_MAX]
    places = sorted({place for one in looked_at for place in one if place.slot != MEMBER} - set(lists))
    values = {place: [_values(one.get(place, {})) for one in looked_at] for place in places}
    distinct = {place: [frozenset(each) for each in found] for place, found in values.items()}
    found: dict[Place, OftenSame] = {}
    for later in places:
        if later in relations or later in known:
            continue
        counts = [len(each) for each in values[later]]
        for earlier in places:
            if earlier >= later or not is_before(structure, earlier, later, relations):
                continue
            if not _may_be_same(distinct[earlier], distinct[later], counts):
                continue
            pairs = value_pairs(looked_at, earlier, later)
            one = often(pairs, earlier) if len(pairs) >= HOLDS_MIN * sum(counts) else None
            if one is not None and (later not in found or one.ratio > found[later].ratio):
                found[later] = one
    return found


def _values(observed: Observed) -> list[Value]:
    return [value for values in observed.values() for value in values]


def _may_be_same(earlier: Sequence[frozenset[Value]], later: Sequence[frozenset[Value]], counts: Sequence[int]) -> bool:
    """Whether enough transactions have a value in common: pairing all values takes twenty times as long."""
    shared = sum(count for one, other, count in zip(earlier, later, counts, strict=True) if not one.isdisjoint(other))
    return shared >= RATIO_MIN * HOLDS_MIN * sum(counts)


def often(pairs: Sequence[tuple[Hashable, Hashable]], earlier: Place) -> OftenSame | None:
    """How often the second of a pair is the first; None where that may be chance, or changes hardly anything.

    >>> often([(n, n if n % 4 else -n - 1) for n in range(400)], Place(0, 0))
    OftenSame(of=Place(statement=0, slot=0, part=0), ratio=0.75, holds=0.75, lengths=Counter())
    """
    count = len(pairs)
    if count < PAIRS_MIN:
        return None
    holds = sum(one == other for one, other in pairs) / count
    firsts, seconds = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    chance = sum(many * seconds[value] for value, many in firsts.items()) / count**2
    if chance > CHANCE_MAX:
        return None
    ratio = (holds - chance) / (1 - chance)
    is_chance = holds - chance < STANDARD_ERRORS_MIN * math.sqrt(chance * (1 - chance) / count)
    return None if is_chance or ratio < RATIO_MIN else OftenSame(earlier, round(ratio, 4), round(holds, 4))


def often_same_list(
    pairs: Iterable[tuple[Place, Sequence[tuple[frozenset[Value], frozenset[Value]]]]],
) -> OftenSame | None:
    """The list that another one often is, in any order; None for none.

    Args:
        pairs: By the place of an earlier list, its items each time and those of the later one.
    """
    found: OftenSame | None = None
    for head, each in pairs:
        one = often(each, head)
        if one is not None and (found is None or one.ratio > found.ratio):
            found = replace(one, lengths=Counter(len(later) for earlier, later in each if earlier != later))
    return found
