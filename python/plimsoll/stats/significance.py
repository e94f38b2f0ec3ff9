"""Tests beside each other, and chance: Holm's step-down procedure, and Chernoff's bound for so few Poisson events.

How likely so few events are when they come independently of each other at a known rate. Source: Chernoff's bound of
the Poisson distribution's lower tail (Mitzenmacher and Upfal 2005, theorem 5.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(chances: Sequence[float], count: int | None = None) -> list[float]:
    """P values corrected by Holm's step-down procedure (1979), 0..1, in the same order.

    Args:
        chances: The p values.
        count: How many there are, those that are not shown included; all of these are taken as the larger ones.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    count = len(chances) if count is None else count
    corrected, highest = [0.0] * len(chances), 0.0
    for rank, index in enumerate(sorted(range(len(chances)), key=lambda index: chances[index])):
        highest = max(highest, min((count - rank) * chances[index], 1.0))
        corrected[index] = highest
    return corrected


def chance_of_at_most(count: float, expected: float) -> float:
    """An upper bound of the probability, 0..1, that a Poisson count is `count` or less where `expected` is its mean.

    >>> chance_of_at_most(0, 10.0) == math.exp(-10.0), chance_of_at_most(10, 10.0)
    (True, 1.0)
    """
    if count >= expected:
        return 1.0
    surplus = count * math.log(count / expected) if count > 0 else 0.0
    return math.exp(count - expected - surplus)
