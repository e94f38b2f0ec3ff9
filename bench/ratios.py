"""Statistics of interleaved pairs: the geometric mean with its bounds.

Assumption: logarithms of the ratios of pairs are independent and about normal, so Student's t on them gives bounds.
The two of a pair run one after the other, in alternating order (ours first, peer first, …), so whatever drifts hits
both. One value alone has no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from scipy import special

CONFIDENCE = 0.95
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bounded:
    """A positive quantity, its 95 % bounds, and how many values it comes from.

    Attributes:
        low: None, like `high`, when there was one value only.
    """

    value: float
    low: float | None
    high: float | None
    count: int


def bounded(values: Sequence[float]) -> Bounded:
    """The geometric mean of positive values, with bounds from Student's t on their logarithms."""
    logs = [math.log(value) for value in values]
    count = len(logs)
    mean = math.fsum(logs) / count
    if count == 1:
        return Bounded(values[0], None, None, 1)
    variance = math.fsum((log - mean) ** 2 for log in logs) / (count - 1)
    reach = float(special.stdtrit(count - 1, 0.5 + CONFIDENCE / 2)) * math.sqrt(variance / count)
    return Bounded(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach), count)


def interleaved(count: int, ours: Callable[[], T], peer: Callable[[], T]) -> list[tuple[T, T]]:
    """Runs both so many times, in the order ours-peer, peer-ours, ours-peer, …; gives (ours, peer) of each pair."""
    pairs = []
    for index in range(count):
        if index % 2 == 0:
            first = ours()
            pairs.append((first, peer()))
        else:
            second = peer()
            pairs.append((ours(), second))
    return pairs
