"""How often values are really taken, from how often they were seen: the most frequent of a sample were also lucky.

Method. Each value comes at a rate of its own, so its count is a Poisson number. The rates of all values, those that
never came included, are estimated together: the mixture of rates under which the counts are most likely (nonparametric
maximum likelihood; Kiefer and Wolfowitz, Annals of Mathematical Statistics 27, 1956; Laird, JASA 73, 1978, by EM). A
count says which rates are probable, and the distribution of rates says how many values have them: a hundred values that
are equally hot have one rate, although their counts differ by chance. Assumption: the number of values is known, and
their rates do not change while they are observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_GRID = 160
_ROUNDS_MAX = 2_000
_SETTLED = 1e-9


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates by how many values have them.

    Attributes:
        rates: Expected occurrences in as many draws as were seen, the greatest first.
        values: How many values have each; a part of a value counts as a chance.
    """

    rates: Floats
    values: Floats

    @classmethod
    def of(cls, counts: NDArray[np.int64], values_count: int) -> Self:
        """The rates under which counts are most likely.

        Args:
            counts: How often each value came that came at all.
            values_count: How many values there are, those that never came included.
        """
        seen, times = np.unique(counts, return_counts=True)
        seen, times = np.append(0, seen).astype(float), np.append(values_count - counts.size, times).astype(float)
        lowest = min(float(counts.sum()) / values_count, 1.0) / 20
        grid = np.geomspace(float(seen[-1]) + 1, lowest, _GRID)
        factorials = np.asarray([math.lgamma(one + 1) for one in seen])
        chances = np.exp(seen[:, None] * np.log(grid) - grid - factorials[:, None])
        weights = np.full(_GRID, 1 / _GRID)
        for _ in range(_ROUNDS_MAX):
            joint = chances * weights
            before, weights = weights, times @ (joint / joint.sum(axis=1, keepdims=True)) / values_count
            if float(np.abs(weights - before).max()) < _SETTLED:
                break
        return cls(grid, weights * values_count)

    def top(self, ranks: int) -> Floats:
        """Of the values with the greatest rates, one by one."""
        places = np.searchsorted(np.cumsum(self.values), np.arange(ranks) + 0.5)
        found: Floats = self.rates[np.minimum(places, self.rates.size - 1)]
        return found

    def behind(self, ranks: int) -> Self:
        """All values but those with the greatest rates."""
        left = np.maximum(np.cumsum(self.values) - ranks, 0)
        return type(self)(self.rates, np.minimum(self.values, left))

    def draws(self) -> float:
        """Expected draws of all values together."""
        return float(self.rates @ self.values)

    def collision(self) -> float:
        """How probable it is that two draws of these values are equal."""
        return float(self.rates**2 @ self.values) / self.draws() ** 2
