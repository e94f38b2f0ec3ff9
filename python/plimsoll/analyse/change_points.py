"""When the mean of a series changed within a run.

PELT (`pelt`) proposes, with a low penalty and the cost of normal noise around constant means. Each proposal then has to
stand a test that knows of autocorrelation: the change that the description with first-order autocorrelation misses
least is dropped, again and again, until each that is left improves the log likelihood by `_GAIN`, and moves the mean by
5 % of the whole mean or more. The gain was found by simulation; `tests/truth/test_steady.py` holds it to its promise.

Source: Chakar and others 2017 (change points in the mean of an AR(1) process).
Deliberately not here: slow trends and cycles, which steps describe badly (`drift`, `cycles`; `steady` chooses).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plimsoll.analyse.autoregression import Columns, lagged, residual_squares
from plimsoll.analyse.pelt import pelt
from plimsoll.analyse.within_run import Series

SHORTEST_SEGMENT = 8
"""Intervals. A shorter stretch is a spike or a stall, and no state of a server."""

RELEVANT_RATIO = 0.05
"""Changes that are smaller, over the mean, decide nothing."""

_GAIN = 20.0
"""Twice the log likelihood that a change has to gain."""

_CHANGES_MAX = 10


def change_points(series: Series) -> tuple[int, ...]:
    """Indexes at which a new segment begins, rising; empty where the mean never changed.

    Args:
        series: One value for each interval, in order.
    """
    mean = float(series.mean()) if series.size else 0.0
    if series.size < 2 * SHORTEST_SEGMENT or mean == 0.0 or np.ptp(series) == 0.0:
        return ()
    changes = _proposed(series)
    while changes:
        worths = _worths(series, changes)
        worst = int(np.argmin(worths))
        if worths[worst] >= 1.0:
            break
        changes = changes[:worst] + changes[worst + 1 :]
    return tuple(changes)


def _proposed(series: Series) -> list[int]:
    """What PELT proposes: at most `_CHANGES_MAX`, with a penalty that rises until there are no more."""
    noise = float(np.median(np.abs(np.diff(series))) / 0.954) ** 2 or float(series.var())
    penalty = 2 * noise * float(np.log(series.size))
    while len(found := pelt(series, penalty, SHORTEST_SEGMENT)) > _CHANGES_MAX:
        penalty *= 2
    return found


def _worths(series: Series, changes: Sequence[int]) -> Series:
    """How far each change is above what it has to be, in the lesser of the two respects; 1 is just enough.

    To drop a column of a regression adds its coefficient's square over its diagonal element of (X'X)^-1.
    """
    columns = _steps(series, changes)
    inverse = np.linalg.pinv(columns)
    coefficients, squares = inverse @ series[1:], residual_squares(series, columns)
    added = coefficients**2 / np.maximum((inverse**2).sum(axis=1), 1e-300)
    gains = (series.size - 1) * np.log1p(added[2:] / squares)
    medians = np.array([np.median(one) for one in np.split(series, changes)])  # a stall is no other state
    worths: Series = np.minimum(gains / _GAIN, np.abs(np.diff(medians) / series.mean()) / RELEVANT_RATIO)
    return worths


def _steps(series: Series, changes: Sequence[int]) -> Columns:
    time = np.arange(series.size)
    return lagged(series, *((time >= one).astype(float) for one in changes))


def changes_squares(series: Series, changes: Sequence[int]) -> float:
    """Sum of squares that steps at these indexes leave, autocorrelation respected."""
    return residual_squares(series, _steps(series, changes))
