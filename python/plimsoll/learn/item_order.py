"""Whether the items of lists rise, or no two of a list are the same: more often than chance would have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from plimsoll.learn.relations import HOLDS_MIN, TRANSACTIONS_MIN, chance_of
from plimsoll.learn.samples import Value

PAIRS_MIN = 10
"""Pairs of equal items that there would be by chance, from which on their absence tells something."""

Items = tuple[Value, ...]


def share_of(hits: Sequence[bool]) -> float:
    """In which share of the observations something held; 0 of none."""
    return sum(hits) / len(hits) if hits else 0.0


def items_rise(lists: Sequence[Items]) -> bool:
    """Whether items rise: in a random order, two different ones do in half of the lists. Of texts nobody knows."""
    told = [one for one in lists if len(set(one)) > 1 and all(isinstance(value, int) for _, value in one)]
    return len(told) >= TRANSACTIONS_MIN and share_of([list(one) == sorted(one) for one in told]) >= HOLDS_MIN


def are_distinct(lists: Sequence[Items], values: Sequence[Value]) -> bool:
    """Whether hardly any two items are the same, although they would be if each were chosen by itself."""
    pairs = sum(len(one) * (len(one) - 1) / 2 for one in lists)
    equal = sum(count * (count - 1) / 2 for one in lists for count in Counter(one).values())
    expected = chance_of(values) * pairs
    return expected >= PAIRS_MIN and equal <= (1 - HOLDS_MIN) * expected
