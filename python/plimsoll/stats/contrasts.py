"""Which comparisons of means the systems of a matrix allow: main effects of factors and their interactions.

A contrast is a weight for each system; the weights add up to 0, and the weighted sum of the systems' means, which are
logarithms, is the logarithm of a ratio.

* **Main effect** of a value against the first value of its factor: the mean of their differences over all combinations
  of the other factors that have both. Nothing is assumed about interactions: they are averaged over. Where no two
  systems differ in this factor alone (fractions of a matrix), the contrast is that of a model without interactions,
  fitted by least squares; it is marked.
* **Interaction** of two factors: the effect of the one at a value of the other, less its effect at that one's first
  value; again the mean over all combinations of the further factors that have all four.

Source: Box, Hunter and Hunter 2005, chapters 5 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]
"""One for each system, adding up to 0."""

_ESTIMABLE = 1e-9
"""How far rounding may take a contrast away from the effect that it estimates."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Systems by their values of factors.

    Attributes:
        systems: Their names.
        factors: Names of the factors that differ between them.
        values: Of each factor, in the order of the study file; the first one is the base.
        rows: Of each system, the index of its value of each factor.
    """

    systems: tuple[str, ...]
    factors: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The effect of one value of a factor.

    Attributes:
        factor: Index of the factor.
        value: Index of its value, which is compared with value 0.
        weights: Of the systems.
        contexts_count: Over how many combinations of the other factors it is a mean.
        is_additive: It holds only where factors do not interact.
    """

    factor: int
    value: int
    weights: Weights
    contexts_count: int
    is_additive: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CrossContrast:
    """The interaction of two factors.

    Attributes:
        factors: Indexes of both.
        values: Index of one value of each, which are compared with their values 0.
        at_base: The effect of the first factor's value at value 0 of the second; weights of the systems.
        at_value: The same at the second's value.
        contexts_count: Over how many combinations of the other factors it is a mean.
    """

    factors: tuple[int, int]
    values: tuple[int, int]
    at_base: Weights
    at_value: Weights
    contexts_count: int

    @property
    def weights(self) -> Weights:
        """The interaction itself."""
        return self.at_value - self.at_base


def matrix_of(values: Mapping[str, Mapping[str, str]]) -> Matrix:
    """The matrix of systems.

    Args:
        values: By system, in the order of the study file, its value of each factor. Systems without any are left out.
    """
    systems = {name: value for name, value in values.items() if value}
    known: dict[str, dict[str, int]] = {}
    for system in systems.values():
        for factor, value in system.items():
            known.setdefault(factor, {}).setdefault(value, len(known[factor]))
    factors = tuple(
        name
        for name, value_indexes in known.items()
        if len(value_indexes) > 1 and all(name in system for system in systems.values())
    )
    return Matrix(
        systems=tuple(systems),
        factors=factors,
        values=tuple(tuple(known[name]) for name in factors),
        rows=tuple(tuple(known[name][system[name]] for name in factors) for system in systems.values()),
    )


def main_contrasts(matrix: Matrix) -> Iterator[Contrast]:
    """One for each value of each factor but its first, as far as the systems allow one."""
    at = _positions(matrix)
    for factor, values in enumerate(matrix.values):
        for value in range(1, len(values)):
            weights, count = _mean_of([{factor: value}, {factor: 0}], [1, -1], matrix, at)
            if count:
                yield Contrast(factor, value, weights, count)
            elif (fitted := _additive(matrix, factor, value)) is not None:
                yield Contrast(factor, value, fitted, 0, is_additive=True)


def cross_contrasts(matrix: Matrix) -> Iterator[CrossContrast]:
    """One for each two factors and each value of both but their first, as far as the systems allow one."""
    at = _positions(matrix)
    for factor, other in combinations(range(len(matrix.factors)), 2):
        for value, where in product(range(1, len(matrix.values[factor])), range(1, len(matrix.values[other]))):
            corners = [{factor: value, other: which} for which in (0, where)] + [
                {factor: 0, other: which} for which in (0, where)
            ]
            at_base, count = _mean_of(corners, [1, 0, -1, 0], matrix, at)
            at_value, _ = _mean_of(corners, [0, 1, 0, -1], matrix, at)
            if count:
                yield CrossContrast((factor, other), (value, where), at_base, at_value, count)


def _positions(matrix: Matrix) -> dict[tuple[int, ...], int]:
    return {row: position for position, row in enumerate(matrix.rows)}


def _mean_of(
    corners: Sequence[Mapping[int, int]], signs: Sequence[int], matrix: Matrix, at: Mapping[tuple[int, ...], int]
) -> tuple[Weights, int]:
    """The signed sum of systems, averaged over all contexts in which each corner is there; and how many these are.

    Args:
        corners: Each the values of the factors that are looked at, by the factor's index.
        signs: One for each corner.
        matrix: Of the systems.
        at: Position of each system by its row.
    """
    looked_at = corners[0].keys()
    contexts = dict.fromkeys(
        tuple(-1 if factor in looked_at else value for factor, value in enumerate(row)) for row in matrix.rows
    )
    weights, count = np.zeros(len(matrix.systems)), 0
    for context in contexts:
        positions = [
            at.get(tuple(corner.get(factor, value) for factor, value in enumerate(context))) for corner in corners
        ]
        known = [position for position in positions if position is not None]
        if len(known) == len(corners):
            np.add.at(weights, known, signs)
            count += 1
    return weights / max(count, 1), count


def _additive(matrix: Matrix, factor: int, value: int) -> Weights | None:
    """By least squares in a model of main effects alone; None where the systems do not tell this effect from others."""
    columns = [(index, which) for index, values in enumerate(matrix.values) for which in range(1, len(values))]
    model = np.array([[1.0, *(float(row[index] == which) for index, which in columns)] for row in matrix.rows])
    asked = np.zeros(model.shape[1])
    asked[1 + columns.index((factor, value))] = 1.0
    weights: Weights = asked @ np.linalg.pinv(model)
    return weights if np.abs(weights @ model - asked).max() < _ESTIMABLE else None
