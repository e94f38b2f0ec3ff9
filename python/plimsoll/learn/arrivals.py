"""When transactions began: rates, peaks and burstiness.

Burstiness is the index of dispersion of counts, variance over mean of the number of arrivals in windows of a length: 1
for a Poisson process, above it where arrivals come in bursts. Over windows of growing length it shows on which time
scale they do. Source: Gusella, Characterizing the Variability of Arrival Processes with Indexes of Dispersion (IEEE
JSAC 9(2), 1991). It assumes that the process is stationary: a rate that rises and falls over the day counts as
burstiness over long windows. So it is also given within the busiest hour, which is nearer to that.

The Allan factor takes the variance from differences of windows that follow each other, so that a rate that changes
slowly does not count at all. It is 1 for a Poisson process, too. Source: Lowen and Teich, Fractal-Based Point Processes
(Wiley, 2005), chapter 3.

Deliberately not here: which transactions there are, and which load shows the same (`demand`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOWS_S = (1, 10, 60)
"""Lengths over which dispersion is told, seconds."""

_WINDOWS_MIN = 20
"""Fewer windows say nothing of a variance."""

STEPS_MAX = 1_440
"""Most points of a curve of arrivals: minutes of a day."""

_MINUTE_S, _HOUR_S = 60, 3600

_SPAN_S = 366 * 86_400
"""Seconds further from the middle of the log than this are of a clock that was wrong, and are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Transactions by the second in which they began.

    Attributes:
        first_unix_s: Second of the first one, since 1970.
        counts: For each second from then on to that of the last one.
    """

    first_unix_s: int
    counts: NDArray[np.float64]

    @property
    def duration_s(self) -> int:
        """From the first to the last second."""
        return self.counts.size

    @property
    def mean_tps(self) -> float:
        """Over all of the time."""
        return float(self.counts.mean())

    def minutes_tps(self) -> NDArray[np.float64]:
        """The rate in each whole minute; the only one of a shorter log."""
        return _windows(self.counts, min(_MINUTE_S, self.counts.size)) / min(_MINUTE_S, self.counts.size)

    def peak_tps(self) -> float:
        """The rate in the busiest minute."""
        return float(self.minutes_tps().max())

    def p99_tps(self) -> float:
        """The rate that 99 % of the minutes do not exceed."""
        return float(np.quantile(self.minutes_tps(), 0.99, method="higher"))

    def dispersion(self, window_s: int) -> float | None:
        """Index of dispersion in the busiest hour; None where the log is too short for the window."""
        counts = self._windows_of_hour(window_s)
        return None if counts is None else float(counts.var(ddof=1) / counts.mean())

    def allan_factor(self, window_s: int) -> float | None:
        """Half the mean square of differences of windows over the mean; None as `dispersion`."""
        counts = self._windows_of_hour(window_s)
        return None if counts is None else float((np.diff(counts) ** 2).mean() / 2 / counts.mean())

    def minute_halves(self) -> NDArray[np.float64] | None:
        """Counts in both halves of each minute of the busiest hour, shape (minutes, 2); None as `dispersion`."""
        counts = self._windows_of_hour(_MINUTE_S // 2)
        return None if counts is None else counts[: counts.size // 2 * 2].reshape(-1, 2)

    def _windows_of_hour(self, window_s: int) -> NDArray[np.float64] | None:
        counts = _windows(self.busiest_hour(), window_s)
        return None if counts.size < _WINDOWS_MIN or counts.mean() == 0 else counts

    def busiest_hour(self) -> NDArray[np.float64]:
        """The counts of the hour with the most transactions; all of a shorter log."""
        if self.counts.size <= _HOUR_S:
            return self.counts
        sums = np.cumsum(np.concatenate(([0.0], self.counts)))
        begin = int(np.argmax(sums[_HOUR_S:] - sums[:-_HOUR_S]))
        return self.counts[begin : begin + _HOUR_S]

    def steps_tps(self, step_s: int) -> NDArray[np.float64]:
        """The rate in each step of a length; the last one may be shorter."""
        starts = np.arange(0, self.duration_s, step_s)
        lengths = np.minimum(starts + step_s, self.duration_s) - starts
        return np.asarray(np.add.reduceat(self.counts, starts) / lengths)


class ArrivalCounter:
    """Counts transactions by second, part of the log after part. Seconds without any take no memory."""

    def __init__(self) -> None:
        self._seconds: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._counts: NDArray[np.float64] = np.zeros(0)

    def add(self, start_us: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        """Adds transactions by when they began, microseconds since 1970."""
        seconds = np.concatenate((self._seconds, np.asarray(start_us, dtype=np.int64) // 1_000_000))
        counts = np.concatenate((self._counts, np.asarray(weights, dtype=np.float64)))
        self._seconds, places = np.unique(seconds, return_inverse=True)
        self._counts = np.bincount(places, weights=counts).astype(np.float64)

    def arrivals(self) -> Arrivals | None:
        """All of them; None where no time is known."""
        if not self._seconds.size:
            return None
        middle = int(self._seconds[self._seconds.size // 2])
        near = self._seconds[np.abs(self._seconds - middle) <= _SPAN_S]
        return self.within(int(near[0]), int(near[-1] - near[0]) + 1)

    def within(self, first_unix_s: int, duration_s: int) -> Arrivals:
        """Those of a time, all seconds of it."""
        counts = np.zeros(duration_s)
        begin, end = np.searchsorted(self._seconds, (first_unix_s, first_unix_s + duration_s))
        counts[self._seconds[begin:end] - first_unix_s] = self._counts[begin:end]
        return Arrivals(first_unix_s=first_unix_s, counts=counts)


def minutes_step_s(duration_s: int) -> int:
    """Length of the steps of a curve of at most `STEPS_MAX` points: a minute, or several."""
    return _MINUTE_S * max(1, -(-duration_s // (_MINUTE_S * STEPS_MAX)))


def _windows(counts: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Sums over windows that follow each other; what is left at the end is left out."""
    whole = counts.size // length
    sums: NDArray[np.float64] = counts[: whole * length].reshape(whole, length).sum(axis=1)
    return sums
