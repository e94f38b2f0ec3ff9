"""Whether throughput moved in one direction within the measured window of a trial.

A straight line is fitted; the error of its slope is widened for what neighbouring intervals have in common.
Assumption: what is left beside the line is about normal with short memory. Sources: ordinary least squares; the
variance of a trend under first-order autocorrelation (Weatherhead and others 1998; Santer and others 2000).

Deliberately not here: where the window should have begun (change points), and cycles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from plimsoll.analyse.within_run import Series, lag_one_correlation

INTERVALS_NEEDED = 10


@dataclass(frozen=True, slots=True)
class Drift:
    """A straight line through the throughput of one window.

    Attributes:
        change_ratio: Change from the begin to the end of the window over the mean; negative when it fell.
        chance: Probability of a slope as steep as this in a trial without any trend.
    """

    change_ratio: float
    chance: float


def drift_of(rates_tps: Series) -> Drift | None:
    """Fits the line; None with fewer than `INTERVALS_NEEDED` intervals or without any throughput."""
    size = rates_tps.size
    mean = float(rates_tps.mean()) if size else 0.0
    if size < INTERVALS_NEEDED or mean == 0.0:
        return None
    time = np.arange(size) - (size - 1) / 2
    slope = float(time @ rates_tps / (time @ time))
    residual = rates_tps - mean - slope * time
    error = _slope_error(residual, float(time @ time))
    change_ratio = slope * (size - 1) / mean
    if error is None:
        return Drift(change_ratio, 1.0 if slope == 0.0 else 0.0)
    standard_error, degrees = error
    return Drift(change_ratio, 2 * float(stdtr(degrees, -abs(slope) / standard_error)))


def _slope_error(residual: Series, time_squares: float) -> tuple[float, float] | None:
    squares = float(residual @ residual)
    if squares <= 1e-18 * time_squares:
        return None
    correlation = lag_one_correlation(residual)
    degrees = max(residual.size * (1 - correlation) / (1 + correlation) - 2, 1.0)
    return math.sqrt(squares / degrees / time_squares), degrees
