"""Quantiles of durations that come in parts: counts in buckets that are 2 % wide.

Deliberately not here: durations of trials, which the engine counts in finer buckets (`analyse.histograms`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_STEP = np.log(1.02)


class DurationCounts:
    """Durations as counts: memory does not grow with how many there are. A quantile is exact to 1 %."""

    def __init__(self) -> None:
        self._counts = np.zeros(0, dtype=np.int64)
        self.count = 0

    def add(self, microseconds: Sequence[int] | NDArray[np.int64]) -> None:
        """Adds durations, microseconds; those below one count as one."""
        values = np.maximum(np.asarray(microseconds, dtype=np.float64), 1.0)
        if values.size == 0:
            return
        counts = np.bincount((np.log(values) / _STEP).astype(np.int64))
        size = max(counts.size, self._counts.size)
        self._counts = np.pad(self._counts, (0, size - self._counts.size)) + np.pad(counts, (0, size - counts.size))
        self.count += values.size

    def quantile_us(self, share: float) -> float | None:
        """The duration that a share (0..1) of all does not exceed, microseconds; None where there are none."""
        if self.count == 0:
            return None
        index = int(np.searchsorted(np.cumsum(self._counts), share * self.count))
        return float(np.exp((min(index, self._counts.size - 1) + 0.5) * _STEP))
