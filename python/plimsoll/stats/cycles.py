"""Whether a series repeats itself: as a sinusoid, or as a shape with harmonics such as short dips that come back.

For each frequency from `_CYCLES_LEAST` cycles in the window to a period of `_PERIOD_LEAST` intervals, a sinusoid is
added to a description by a straight line and first-order autocorrelation (`stats.series`). The frequency with the
largest gain in likelihood is a cycle when that is more than autocorrelated noise brings about by itself (`_GAIN`,
found by simulation), and when the series moves by 5 % of its mean or more from crest to trough. Where the
autocorrelation of twice or three times the period is clearly higher, that is the period. Shapes that no single
sinusoid describes, such as narrow dips, are looked for as well; Schwarz's criterion decides between both.

Sources: harmonic regression with autoregressive noise (Quinn and Hannan 2001, chapters 2 and 4); red noise as the null
hypothesis (Gilman, Fuglister and Mitchell 1963; Torrence and Compo 1998).

A short dip has many harmonics, each too weak to be seen by itself. For each period from `_REPEATS_LEAST` cycles in the
window, the squares that sinusoids of the period and of its first K harmonics explain are added up, for K of 3, 6 and
10; the best period of each K is fitted exactly. It is a repeated shape when twice the log likelihood gains more than
autocorrelated noise brings about by itself in 3 of 1,000 windows (`_GAINS`, simulated for correlations of 0 to 0.8 and
windows of 60 to 300 intervals). Between several K Schwarz's criterion decides.

Sources: harmonic summing (Schroeder 1968; de Jager, Raubenheimer and Swanepoel 1989); Schwarz 1978.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from plimsoll.stats.series import information, lagged, residual_squares
from plimsoll.stats.variance import Series

INTERVALS_NEEDED = 16
CYCLES_NEEDED = 2.0
"""Fewer whole cycles than this in a window give a mean that depends on where the window began."""

RELEVANT_RATIO = 0.05

_GAIN = 22.0
"""Twice the log likelihood that a sinusoid has to gain."""

_CYCLES_LEAST = 1.5
"""With fewer a cycle is not to be told from a change of the mean."""

_PERIOD_LEAST = 4.0
_OVERSAMPLING = 4
_SHAPE_LIKENESS = 0.4
"""A few irregular dips fit some shape as well, but do not come back where it says."""

_NEAR = 0.15
"""A sinusoid is so far from the period of another shape at most, in a window of two cycles."""

_HARMONIC_GAIN = 0.2
"""By so much the autocorrelation of a multiple of the period must be higher."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle of a series.

    Attributes:
        period: Intervals from crest to crest.
        cycles_count: Cycles in the window, with fractions.
        swing_ratio: From crest to trough over the mean.
        squares: Sum of squares that line, memory and cycle leave.
        parameters_count: Of that description.
        likeness: Correlation of the series with itself a period later.
    """

    period: float
    cycles_count: float
    swing_ratio: float
    squares: float
    parameters_count: int
    likeness: float


def cycle_of(series: Series) -> Cycle | None:
    """The strongest cycle; None where there is none, or too few intervals to see one."""
    size, mean = series.size, abs(float(series.mean())) if series.size else 0.0
    if size < INTERVALS_NEEDED or mean == 0.0 or np.ptp(series) == 0.0:
        return None
    base = lagged(series, np.arange(size, dtype=float) / size)
    shape = repeated_shape(series, base, partial(_explained, series, base))
    if shape is not None and _likeness(series, shape.period) < _SHAPE_LIKENESS:
        shape = None
    candidates = [candidate for candidate in (_wave(series, base), shape) if candidate is not None]
    if not candidates:
        return None
    best = min(candidates, key=lambda candidate: information(series, candidate.squares, candidate.parameters_count))
    swing_ratio = _swing(series, best) / mean
    if swing_ratio < RELEVANT_RATIO:
        return None
    return Cycle(
        period=best.period,
        cycles_count=size / best.period,
        swing_ratio=swing_ratio,
        squares=best.squares,
        parameters_count=best.parameters_count,
        likeness=_likeness(series, best.period),
    )


def _wave(series: Series, base: NDArray[np.float64]) -> Shape | None:
    """The strongest sinusoid, with the period at which the series repeats itself."""
    size, without = series.size, residual_squares(series, base)
    first = math.ceil(_OVERSAMPLING * _CYCLES_LEAST)
    explained = _explained(series, base, _OVERSAMPLING, np.arange(first, int(_OVERSAMPLING * size / _PERIOD_LEAST) + 1))
    squares = max(without - float(explained.max()), 1e-12 * without, 1e-300)
    if (size - 1) * np.log(without / squares) < _GAIN:
        return None
    period = _OVERSAMPLING * size / (first + top_of(explained))
    left = residual_squares(series, np.hstack([base, waves(size, period, 1)[1:]]))
    return Shape(_fundamental(series, period), 1, min(squares, left))


def _explained(series: Series, base: NDArray[np.float64], oversampling: int, bins: NDArray[np.int64]) -> Series:
    """Squares that a sinusoid of each frequency explains besides the base (Frisch, Waugh and Lovell).

    The frequencies are `bins` of a Fourier transform of the series padded to `oversampling` times its length; all sums
    over the waves are such transforms.
    """
    length = oversampling * series.size
    basis, _ = np.linalg.qr(base)
    rest = series[1:] - basis @ (basis.T @ series[1:])
    padded = np.zeros((length, basis.shape[1] + 2))
    padded[1 : series.size] = np.column_stack([basis, rest, np.ones(rest.size)])
    sums = np.fft.rfft(padded, axis=0)
    cosine, sine = sums[bins, :-2].real, -sums[bins, :-2].imag
    cy, sy = sums[bins, -2].real, -sums[bins, -2].imag
    mirrored = 2 * bins >= sums.shape[0]
    twice = sums[np.where(mirrored, length - 2 * bins, 2 * bins), -1]
    twice = np.where(mirrored, twice.conj(), twice)
    cc = (rest.size + twice.real) / 2 - (cosine**2).sum(axis=1)
    ss = (rest.size - twice.real) / 2 - (sine**2).sum(axis=1)
    cs = -twice.imag / 2 - (cosine * sine).sum(axis=1)
    determinant = np.maximum(cc * ss - cs**2, 1e-9 * np.abs(cc * ss) + 1e-300)
    explained: Series = (ss * cy**2 - 2 * cs * cy * sy + cc * sy**2) / determinant
    return explained


def _fundamental(series: Series, period: float) -> float:
    fundamental = period
    for times in (2, 3):
        longer = times * period
        if (
            longer * _CYCLES_LEAST <= series.size
            and _like(series, longer) > _like(series, fundamental) + _HARMONIC_GAIN
        ):
            fundamental = longer
    return fundamental


def period_of_likeness(series: Series, period: float) -> float:
    """The period near `period` after which a series is most like itself: closer than that of a sinusoid for a saw."""
    lags = range(math.floor(period * (1 - _NEAR)), math.ceil(period * (1 + _NEAR)) + 1)
    return float(max((lag for lag in lags if lag < series.size - 1), key=lambda lag: _like(series, lag)))


def _likeness(series: Series, period: float) -> float:
    """How like the series is to itself a period later, which lies between two intervals."""
    return max(_like(series, lag) for lag in (math.floor(period), math.ceil(period)))


def _like(series: Series, lag: float) -> float:
    """Correlation of a series with itself, this many intervals later."""
    shift = max(round(lag), 1)
    first, second = series[:-shift] - series[:-shift].mean(), series[shift:] - series[shift:].mean()
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / scale if scale else 0.0


def _swing(series: Series, shape: Shape) -> float:
    """From crest to trough of the shape, of a sinusoid with its first harmonic, fitted beside a straight line."""
    harmonics = shape.harmonics if shape.harmonics > 1 else 1 + (shape.period >= 2 * _PERIOD_LEAST)
    line = np.column_stack([np.ones(series.size), np.arange(series.size)])
    columns = np.hstack([line, waves(series.size, shape.period, harmonics)])
    fitted = columns[:, 2:] @ np.linalg.lstsq(columns, series, rcond=None)[0][2:]
    return float(np.ptp(fitted))


Explained = Callable[[int, NDArray[np.int64]], Series]
"""Squares explained by a sinusoid of each frequency: from the oversampling and the bins of the Fourier transform."""

_GAINS = {3: 37.5, 6: 48.0, 10: 61.0}
"""Twice the log likelihood that so many harmonics have to gain."""

_REPEATS_LEAST = 3
_WAVE_LEAST = 2.2
"""Intervals that the highest harmonic needs for one wave; with 2 it is no longer to be told from its mirror image."""

_SHAPE_OVERSAMPLING = 16
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
    shapes = [
        shape
        for shape in _candidates(series, base, explained)
        if (series.size - 1) * np.log(without / shape.squares) >= _GAINS[shape.harmonics]
    ]
    shapes += [part for shape in shapes for part in _parts(series, base, shape)]
    return min(shapes, key=lambda shape: information(series, shape.squares, shape.parameters_count), default=None)


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
    length = _SHAPE_OVERSAMPLING * series.size
    lowest, highest = _SHAPE_OVERSAMPLING * _REPEATS_LEAST, int(length / _WAVE_LEAST)
    squares = explained(_SHAPE_OVERSAMPLING, np.arange(lowest, highest + 1))
    for harmonics in _GAINS:
        first = np.arange(lowest, min(int(length / _PERIOD_LEAST), highest // harmonics) + 1)
        if not first.size or base.shape[1] + 2 * harmonics > series.size // 2:
            continue
        together = squares[np.outer(np.arange(1, harmonics + 1), first) - lowest].sum(axis=0)
        period = length / (float(first[0]) + top_of(together))
        yield Shape(period, harmonics, _left(series, base, period, harmonics))
