"""Whether a series repeats a shape that is no sinusoid, such as short dips that come back.

A short dip has many harmonics, each too weak to be seen by itself. For each period from `_CYCLES_LEAST` cycles in the
window, the squares that sinusoids of the period and of its first K harmonics explain are added up, for K of 3, 6 and
10; the best period of each K is fitted exactly. It is a repeated shape when twice the log likelihood gains more than
autocorrelated noise brings about by itself in 3 of 1,000 windows (`_GAINS`, simulated for correlations of 0 to 0.8 and
windows of 60 to 300 intervals). Between several K Schwarz's criterion decides.

Sources: harmonic summing (Schroeder 1968; de Jager, Raubenheimer and Swanepoel 1989); Schwarz 1978.
Deliberately not here: single sinusoids (`cycles`), and what a cycle means (`steady`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.autoregression import information, residual_squares
from plimsoll.analyse.within_run import Series

Explained = Callable[[int, NDArray[np.int64]], Series]
"""Squares explained by a sinusoid of each frequency: from the oversampling and the bins of the Fourier transform."""

_GAINS = {3: 37.5, 6: 48.0, 10: 61.0}
"""Twice the log likelihood that so many harmonics have to gain."""

_CYCLES_LEAST = 3
_WAVE_LEAST = 2.2
"""Intervals that the highest harmonic needs for one wave; with 2 it is no longer to be told from its mirror image."""

_PERIOD_LEAST = 4.0
_OVERSAMPLING = 16
"""The period must be so exact that the highest harmonic keeps its phase through the window."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A repeated shape.

    Attributes:
        period: Intervals from one to the next.
        harmonics: How many sinusoids describe it, that of the period included.
        squares: Sum of squares that it leaves, with line and memory.
    """

    period: float
    harmonics: int
    squares: float

    @property
    def parameters_count(self) -> int:
        """Period, line, and two for each sinusoid."""
        return 2 + 2 * self.harmonics


def repeated_shape(series: Series, base: NDArray[np.float64], explained: Explained) -> Shape | None:
    """The shape that describes a series best; None where none does.

    Args:
        series: The series.
        base: Columns of the description without a shape.
        explained: Of this series.
    """
    without = residual_squares(series, base)
    found = [
        shape
        for shape in _candidates(series, base, explained)
        if (series.size - 1) * np.log(without / shape.squares) >= _GAINS[shape.harmonics]
    ]
    found += [part for shape in found for part in _parts(series, base, shape)]
    return min(found, key=lambda one: information(series, one.squares, one.parameters_count), default=None)


def waves(size: int, period: float, harmonics: int) -> NDArray[np.float64]:
    """Cosine and sine of a period and its harmonics; shape (size, 2 * harmonics)."""
    angle = 2 * np.pi * np.arange(size)[:, None] / period * np.arange(1, harmonics + 1)
    return np.hstack([np.cos(angle), np.sin(angle)])


def _parts(series: Series, base: NDArray[np.float64], shape: Shape) -> Iterator[Shape]:
    """A shape that comes twice or three times in the period, in which only every second or third harmonic counts."""
    for times in (2, 3):
        period, harmonics = shape.period / times, shape.harmonics // times
        if period >= _PERIOD_LEAST and harmonics > 1:
            yield Shape(period, harmonics, _left(series, base, period, harmonics))


def _left(series: Series, base: NDArray[np.float64], period: float, harmonics: int) -> float:
    return residual_squares(series, np.hstack([base, waves(series.size, period, harmonics)[1:]]))


def top_of(values: Series) -> float:
    """Where between the values the highest point lies, by a parabola through the largest and its neighbours."""
    best = int(np.argmax(values))
    if best in (0, values.size - 1):
        return float(best)
    before, at, after = values[best - 1 : best + 2]
    return best + 0.5 * float(before - after) / float(before - 2 * at + after)


def _candidates(series: Series, base: NDArray[np.float64], explained: Explained) -> Iterator[Shape]:
    length = _OVERSAMPLING * series.size
    lowest, highest = _OVERSAMPLING * _CYCLES_LEAST, int(length / _WAVE_LEAST)
    squares = explained(_OVERSAMPLING, np.arange(lowest, highest + 1))
    for harmonics in _GAINS:
        first = np.arange(lowest, min(int(length / _PERIOD_LEAST), highest // harmonics) + 1)
        if not first.size or base.shape[1] + 2 * harmonics > series.size // 2:
            continue
        together = squares[np.outer(np.arange(1, harmonics + 1), first) - lowest].sum(axis=0)
        period = length / (float(first[0]) + top_of(together))
        yield Shape(period, harmonics, _left(series, base, period, harmonics))
