"""Whole numbers as users write them: how often something runs, how many of something there are.

They are drawn, or those of the items of a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

COUNTS_MAX = 1_000
"""Most numbers with weights of their own."""


@dataclass(frozen=True, slots=True)
class Counts:
    """A whole number that is drawn.

    Attributes:
        low: The smallest.
        high: The largest.
        weights: By number, rising, how often each is drawn relative to the others; empty where each from the smallest
            to the largest is equally likely.
    """

    low: int
    high: int
    weights: tuple[tuple[int, float], ...] = ()

    @property
    def choices(self) -> int:
        """How many numbers there are."""
        return len(self.weights) or self.high - self.low + 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them, rising."""
        return tuple(number for number, _ in self.weights) or tuple(range(self.low, self.high + 1))

    def line(self) -> dict[str, Any]:
        """As the load engine reads it."""
        if not self.weights:
            return {"range": {"min": self.low, "max": self.high}}
        return {"weighted": {"counts": list(self.numbers), "weights": [weight for _, weight in self.weights]}}

    def plain(self) -> list[int] | dict[str, list[Any]]:
        """As recordings keep it."""
        return self.line()["weighted"] if self.weights else [self.low, self.high]


ONCE = Counts(1, 1)


@dataclass(frozen=True, slots=True)
class ItemsOf:
    """As many as a list of the transaction has items.

    Attributes:
        items_of: The list.
    """

    items_of: str

    def line(self) -> dict[str, Any]:
        """As the load engine reads it."""
        return {"items_of": self.items_of}

    def plain(self) -> dict[str, Any]:
        """As recordings keep it."""
        return self.line()


Times = Counts | ItemsOf
"""How often something runs, or how many rows there are."""


def times_reader(least: int, most: int) -> Callable[[object], Times]:
    """What reads the same as `counts_reader`, or { items_of = "list" }.

    >>> times_reader(0, 9)({"items_of": "ids"})
    ItemsOf(items_of='ids')
    """
    drawn = counts_reader(least, most)

    def read(value: object) -> Times:
        if isinstance(value, ItemsOf):
            return value
        if not isinstance(value, Mapping) or "items_of" not in value:
            return drawn(value)
        if unknown := sorted(set(value) - {"items_of"}):
            raise ValueError(f"{unknown[0]!r} does not belong to items_of")
        if not isinstance(value["items_of"], str):
            raise ValueError(f"items_of must be the name of a list, is {value['items_of']!r:.80}")
        return ItemsOf(value["items_of"])

    return read


def counts_reader(least: int, most: int) -> Callable[[object], Counts]:
    """What reads numbers within `least..=most`, written as 3, [1, 5] or { counts = [5, 6], weights = [1, 2] }.

    >>> counts_reader(0, 9)([1, 5])
    Counts(low=1, high=5, weights=())
    """

    def read(value: object) -> Counts:
        if isinstance(value, Counts):
            return value
        if isinstance(value, Mapping):
            return _weighted(value, least, most)
        ends = value if isinstance(value, list | tuple) else [value, value]
        if len(ends) != 2:
            raise ValueError(f"must be a whole number, or [smallest, largest], is {value!r:.80}")
        low, high = (_whole(end, least, most) for end in ends)
        if low > high:
            raise ValueError(f"must rise, is {low} to {high}")
        return Counts(low, high)

    return read


def _weighted(value: Mapping[str, object], least: int, most: int) -> Counts:
    if unknown := sorted(set(value) - {"counts", "weights"}):
        raise ValueError(f"{unknown[0]!r} is not a known key; known are counts, weights")
    counts, weights = value.get("counts"), value.get("weights")
    if not isinstance(counts, list) or not 1 <= len(counts) <= COUNTS_MAX:
        raise ValueError(f"counts must be a list of 1 to {COUNTS_MAX} whole numbers, is {counts!r:.80}")
    numbers = [_whole(one, least, most) for one in counts]
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"counts must be different numbers, are {counts!r:.80}")
    weights = [1.0] * len(numbers) if weights is None else weights
    if not isinstance(weights, list) or len(weights) != len(numbers):
        raise ValueError(f"weights must be one for each of the {len(numbers)} counts, are {weights!r:.80}")
    sound = all(type(one) in (int, float) and 0 <= one < math.inf for one in weights)
    if not sound or not 0 < sum(weights) < math.inf:
        raise ValueError(f"weights must be 0 or more, and not all 0, are {weights!r:.80}")
    pairs = sorted((number, float(weight)) for number, weight in zip(numbers, weights, strict=True))
    return Counts(pairs[0][0], pairs[-1][0], tuple(pairs))


def _whole(value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"must be a whole number within {least}..={most}, is {value!r:.80}")
    return value
