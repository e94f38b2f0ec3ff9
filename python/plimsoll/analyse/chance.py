"""How likely so few events are when they come independently of each other at a known rate.

Source: Chernoff's bound of the Poisson distribution's lower tail (Mitzenmacher and Upfal 2005, theorem 5.4).
"""

from __future__ import annotations

import math


def chance_of_at_most(count: float, expected: float) -> float:
    """An upper bound of the probability, 0..1, that a Poisson count is `count` or less where `expected` is its mean.

    >>> chance_of_at_most(0, 10.0) == math.exp(-10.0), chance_of_at_most(10, 10.0)
    (True, 1.0)
    """
    if count >= expected:
        return 1.0
    surplus = count * math.log(count / expected) if count > 0 else 0.0
    return math.exp(count - expected - surplus)
