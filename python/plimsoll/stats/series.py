"""How the mean of a series moves beside its autocorrelation: in one direction (drift), or in steps (change points).

How much better a series is described with some shape than as noise whose neighbours resemble each other. The model is
x[t] = phi x[t-1] + constant + shape[t] + noise, fitted by least squares on condition of the first value. It gives both
hypotheses a correlation of their own: what a shape explains no longer counts as memory of the noise, and memory no
longer passes for a shape. Lagged trends, steps and sinusoids lie in the span of the unlagged ones (for a step but for
one interval), so that the shape needs no second set of columns.

Assumption: first-order autocorrelation, about normal. Source: Hamilton 1994, sections 5.2 and 8.3.

Whether a series moved in one direction within the measured window of a trial. The slope is the median of the slopes
between all pairs of values (Theil 1950; Sen 1968), its test that of Mann and Kendall, whose variance is widened for
what neighbours have in common beside the line (Yue and Wang 2004, with the first-order correlation of
`stats.variance`). A stall or a spike moves neither. In simulations it found as many planted drifts as a fitted
straight line with a corrected error, and was wrong as rarely. Long series are averaged over neighbours until at most
`_VALUES_MAX` are left.

When the mean of a series changed within a run. PELT (`pelt`) proposes, with a low penalty and the cost of normal noise
around constant means. Each proposal then has to stand a test that knows of autocorrelation: the change that the
description with first-order autocorrelation misses least is dropped, again and again, until each that is left improves
the log likelihood by `_GAIN`, and moves the mean by 5 % of the whole mean or more. The gain was found by simulation;
`tests/truth/test_steady.py` holds it to its promise.

Source: Chakar and others 2017 (change points in the mean of an AR(1) process).

The best description of a series by constant stretches: exact, by dynamic programming with pruning (PELT). Source:
Killick, Fearnhead and Eckley 2012. Tests hold it against the library `ruptures`, which takes 0.7 s of processor time
to import, in every command that sums up a trial.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.stats.variance import Series, lag_one_correlation

Columns = NDArray[np.float64]


def lagged(series: Series, *shapes: Series) -> Columns:
    """Columns of the regression: 1, the value before, and shapes; shape (n - 1, 2 + number of shapes)."""
    return np.column_stack([np.ones(series.size - 1), series[:-1], *(shape[1:] for shape in shapes)])


def residual_squares(series: Series, columns: Columns) -> float:
    """Sum of squares that `columns` leave of all values but the first; never quite 0, so that it has a logarithm."""
    basis, _ = np.linalg.qr(columns)
    rest = series[1:] - basis @ (basis.T @ series[1:])
    return max(float(rest @ rest), 1e-12 * float(series @ series), 1e-300)


def information(series: Series, squares: float, parameters_count: int) -> float:
    """Schwarz's criterion of a description; the lower the better. Source: Schwarz 1978."""
    return (series.size - 1) * float(np.log(squares)) + parameters_count * float(np.log(series.size))


INTERVALS_NEEDED = 10

_VALUES_MAX = 300


@dataclass(frozen=True, slots=True)
class Drift:
    """A slope through the series of one window.

    Attributes:
        change_ratio: Change from the begin to the end of the window over the mean; negative when it fell.
        chance: Probability of a slope as steep as this in a trial without any trend.
        agreement: Kendall's tau of the series with time, -1..1: how much of it moved in one direction.
    """

    change_ratio: float
    chance: float
    agreement: float


def drift_of(series: Series) -> Drift | None:
    """Finds the slope; None with fewer than `INTERVALS_NEEDED` intervals or a mean of 0."""
    mean = float(series.mean()) if series.size else 0.0
    if series.size < INTERVALS_NEEDED or mean == 0.0:
        return None
    values = _thinned(series)
    earlier, later = np.triu_indices(values.size, 1)
    rises = values[later] - values[earlier]
    slope = float(np.median(rises / (later - earlier)))
    change_ratio = slope * values.size * (1 - 1 / series.size) / mean
    if np.ptp(values) == 0.0:
        return Drift(0.0, 1.0, 0.0)
    score = float(np.sign(rises).sum())
    chance = _chance(values - slope * np.arange(values.size), score, float(np.ptp(values)))
    return Drift(change_ratio, chance, score / rises.size)


def _thinned(series: Series) -> Series:
    block = -(-series.size // _VALUES_MAX)
    whole = series[: series.size // block * block]
    means: Series = whole.reshape(-1, block).mean(axis=1)
    return means


def _chance(residual: Series, score: float, scale: float) -> float:
    from plimsoll.stats.special import ndtr

    size = residual.size
    correlation = lag_one_correlation(residual) if np.ptp(residual) > 1e-9 * scale else 0.0
    lags = np.arange(1, size)
    widening = 1 + 2 * float(((1 - lags / size) * correlation**lags).sum())
    variance = size * (size - 1) * (2 * size + 5) / 18 * widening
    return 2 * float(ndtr(-abs(score) / math.sqrt(variance)))


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
    while len(changes := pelt(series, penalty, SHORTEST_SEGMENT)) > _CHANGES_MAX:
        penalty *= 2
    return changes


def _worths(series: Series, changes: Sequence[int]) -> Series:
    """How far each change is above what it has to be, in the lesser of the two respects; 1 is just enough.

    To drop a column of a regression adds its coefficient's square over its diagonal element of (X'X)^-1.
    """
    columns = _steps(series, changes)
    inverse = np.linalg.pinv(columns)
    coefficients, squares = inverse @ series[1:], residual_squares(series, columns)
    added = coefficients**2 / np.maximum((inverse**2).sum(axis=1), 1e-300)
    gains = (series.size - 1) * np.log1p(added[2:] / squares)
    medians = np.array([np.median(part) for part in np.split(series, changes)])  # a stall is no other state
    worths: Series = np.minimum(gains / _GAIN, np.abs(np.diff(medians) / series.mean()) / RELEVANT_RATIO)
    return worths


def _steps(series: Series, changes: Sequence[int]) -> Columns:
    time = np.arange(series.size)
    return lagged(series, *((time >= change).astype(float) for change in changes))


def changes_squares(series: Series, changes: Sequence[int]) -> float:
    """Sum of squares that steps at these indexes leave, autocorrelation respected."""
    return residual_squares(series, _steps(series, changes))


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
    sums, squares = (np.concatenate(([0.0], np.cumsum(values))) for values in (centred, centred**2))
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
    begins: list[int] = []
    end = before.size - 1
    while (end := int(before[end])) > 0:
        begins.append(end)
    return begins[::-1]
