"""How sure the mean of one run is: the variance of the mean of a series whose neighbours resemble each other.

Assumptions: the run is stationary within its window, and intervals are of equal length. Seconds of a database's
throughput are autocorrelated (checkpoints, purging, group commit), so the textbook error of a mean is too small.

Sources: the first-order correction of the effective sample size (Bayley and Hammersley 1946; Zwiers and von Storch
1995 for its t test), with the small-sample bias of the lag-one correlation removed (Marriott and Pope 1954; Kendall
1954); overlapping batch means with batches of the square root of the series' length (Meketon and Schmeiser 1984). The
first is right for short memory, the second makes no model; the wider of the two is used.

Deliberately not here: anything about how runs differ from each other (`throughput`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]

SHORTEST_SERIES = 5
"""With fewer intervals no autocorrelation can be seen, and no variance is given."""

_LARGEST_CORRELATION = 0.98


@dataclass(frozen=True, slots=True)
class MeanVariance:
    """The estimated variance of a mean.

    Attributes:
        variance: In the square of the mean's unit, or without unit when relative.
        degrees: Degrees of freedom of that estimate, at least 1.
    """

    variance: float
    degrees: float

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the two-sided bounds around the mean (Student's t)."""
        return quantile_t(0.5 + confidence / 2, self.degrees) * math.sqrt(self.variance)


def quantile_t(probability: float, degrees: float) -> float:
    """Quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def variance_of_mean(series: Series) -> MeanVariance | None:
    """The variance of a series' mean, autocorrelation respected.

    Args:
        series: One value for each interval, in order.

    Returns:
        None when the series has fewer than `SHORTEST_SERIES` values.
    """
    if series.size < SHORTEST_SERIES:
        return None
    if np.ptp(series) == 0.0:
        return MeanVariance(0.0, float(series.size - 1))
    candidates = (_short_memory(series), _overlapping_batch_means(series))
    return max(candidates, key=MeanVariance.half_width)


def lag_one_correlation(series: Series) -> float:
    """Correlation of neighbours, 0..0.98, the bias of short series removed; a negative one counts as none."""
    deviation = series - series.mean()
    raw = float(deviation[1:] @ deviation[:-1] / (deviation @ deviation))
    return min(max(raw + (1 + 3 * raw) / series.size, 0.0), _LARGEST_CORRELATION)


def _short_memory(series: Series) -> MeanVariance:
    correlation = lag_one_correlation(series)
    effective_size = max(series.size * (1 - correlation) / (1 + correlation), 2.0)
    return MeanVariance(float(series.var()) / (effective_size - 1), effective_size - 1)


def _overlapping_batch_means(series: Series) -> MeanVariance:
    size, batch = series.size, math.isqrt(series.size)
    sums = np.concatenate(([0.0], np.cumsum(series)))
    means = (sums[batch:] - sums[:-batch]) / batch
    spread = float(((means - series.mean()) ** 2).sum())
    variance = batch * spread / ((size - batch + 1) * (size - batch))
    return MeanVariance(variance, max(1.5 * (size / batch - 1), 1.0))
