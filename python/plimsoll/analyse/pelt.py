"""The best description of a series by constant stretches: exact, by dynamic programming with pruning (PELT).

Source: Killick, Fearnhead and Eckley 2012. Tests hold it against the library `ruptures`, which takes 0.7 s of processor
time to import, in every command that sums up a trial.
Deliberately not here: whether a change is one (`change_points`).
"""

from __future__ import annotations

import numpy as np

from plimsoll.analyse.within_run import Series

_PRUNED_EVERY = 16
"""Ends between two looks for begins that are of no use any more: each look costs as much as a few begins."""


def pelt(series: Series, penalty: float, shortest: int) -> list[int]:
    """Indexes at which a new stretch begins, rising: those of the least sum of squares around the stretches' means.

    Args:
        series: At least `shortest` values.
        penalty: What each change adds to the sum of squares.
        shortest: Values of a stretch at least.
    """
    size = series.size
    centred = series - series.mean()
    sums, squares = (np.concatenate(([0.0], np.cumsum(one))) for one in (centred, centred**2))
    least = np.full(size + 1, np.inf)
    least[0] = -penalty
    before = np.zeros(size + 1, dtype=np.int64)
    begins, upto = (np.zeros(size, dtype=np.int64) for _ in range(2))
    count = 0
    for end in range(shortest, size + 1):
        if end == shortest or end >= 2 * shortest:
            begins[count], upto[count] = end - shortest, size
            count += 1
        known = begins[:count]
        costs = least[known] + squares[end] - squares[known] - (sums[end] - sums[known]) ** 2 / (end - known)
        best = int(costs.argmin())
        least[end], before[end] = costs[best] + penalty, known[best]
        # A begin that is worse than a change here is of no use any more once a stretch that begins here is long enough.
        is_worse = costs > least[end]
        upto[:count][is_worse] = np.minimum(upto[:count][is_worse], end + shortest - 1)
        if end % _PRUNED_EVERY == 0:
            of_use = np.flatnonzero(upto[:count] > end)
            begins[: of_use.size], upto[: of_use.size] = begins[of_use], upto[of_use]
            count = of_use.size
    return _begins(before)


def _begins(before: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    """The begins of all stretches but the first, from the begin of the last stretch of each part of the series."""
    found: list[int] = []
    end = before.size - 1
    while (end := int(before[end])) > 0:
        found.append(end)
    return found[::-1]
