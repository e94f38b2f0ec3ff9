"""How much better a series is described with some shape than as noise whose neighbours resemble each other.

The model is x[t] = phi x[t-1] + constant + shape[t] + noise, fitted by least squares on condition of the first value.
It gives both hypotheses a correlation of their own: what a shape explains no longer counts as memory of the noise, and
memory no longer passes for a shape. Lagged trends, steps and sinusoids lie in the span of the unlagged ones (for a step
but for one interval), so that the shape needs no second set of columns.

Assumption: first-order autocorrelation, about normal. Source: Hamilton 1994, sections 5.2 and 8.3.
Deliberately not here: which shapes are tried, and from which gain on they count (`change_points`, `cycles`, `steady`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.within_run import Series

Columns = NDArray[np.float64]


def lagged(series: Series, *shapes: Series) -> Columns:
    """Columns of the regression: 1, the value before, and shapes; shape (n - 1, 2 + number of shapes)."""
    return np.column_stack([np.ones(series.size - 1), series[:-1], *(one[1:] for one in shapes)])


def residual_squares(series: Series, columns: Columns) -> float:
    """Sum of squares that `columns` leave of all values but the first; never quite 0, so that it has a logarithm."""
    basis, _ = np.linalg.qr(columns)
    rest = series[1:] - basis @ (basis.T @ series[1:])
    return max(float(rest @ rest), 1e-12 * float(series @ series), 1e-300)


def information(series: Series, squares: float, parameters_count: int) -> float:
    """Schwarz's criterion of a description; the lower the better. Source: Schwarz 1978."""
    return (series.size - 1) * float(np.log(squares)) + parameters_count * float(np.log(series.size))
