"""The one figure of a cell's repetitions where a ratio of two cells stands beside it: their geometric mean.

A ratio of repetitions is a mean of logarithms. The ratio of two arithmetic means can lie on the other side of 1. That
of two geometric means of the same repetitions is the ratio itself, so figures and change never contradict each other.
Arithmetic only where a repetition completed nothing: there is no ratio then.
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def cell_figure(repetitions: Iterable[float]) -> float | None:
    """The mean of a figure over repetitions, in its own unit; None where there is none.

    >>> cell_figure([10.0, 40.0]), cell_figure([0.0, 40.0]), cell_figure([])
    (20.0, 20.0, None)
    """
    values = tuple(repetitions)
    if not values:
        return None
    if len(values) == 1 or min(values) <= 0.0:
        return sum(values) / len(values)
    largest = max(values)  # what it is taken out of neither overflows nor moves equal values
    return largest * math.exp(sum(math.log(value) - math.log(largest) for value in values) / len(values))
