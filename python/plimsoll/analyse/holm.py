"""Holm's step-down procedure for tests that are judged beside each other.

Source: Holm 1979. It rejects whatever Bonferroni's rejects and more, with the same error rate for all together.
"""

from __future__ import annotations

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
