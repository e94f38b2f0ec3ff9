"""A ratio of two systems whose repetitions went on until an answer was decided, for tests of any limit.

The interval of `sequential` holds at every look. Whatever value it excludes is rejected at the same level, so the
smallest level at which it excludes a value is a p value that holds at every look as well (Johari and others 2022,
Operations Research 70). A one-sided test uses the same two-sided interval, and so errs less often than stated.

Repetitions of equal number form a pair. In one study they were measured next to each other. In two studies they have
nothing in common, and any pairing that does not follow from the figures is as good; the further repetitions of the
longer study are left out. Both studies may stop when they like: an interval of the pairs holds after each of them.

Assumptions: those of `sequential`. Deliberately not here: verdicts (`sequential_verdicts`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.cell_model import Estimate, SpreadKind
from plimsoll.analyse.log_ratio import MOST_FURTHER_REPETITIONS
from plimsoll.analyse.sequential import anytime_interval, half_widths
from plimsoll.analyse.sequential_verdicts import estimate_at_any_look

_HALVINGS = 60
"""So often the range of levels is halved to find a p value."""

_LEAST_LOG_CHANCE = math.log(1e-12)


@dataclass(frozen=True, slots=True)
class AnytimeRatio:
    """The logarithm of a ratio in each repetition, in their order; at least two."""

    values: tuple[float, ...]

    @property
    def basis(self) -> SpreadKind:
        """What its spread rests on."""
        return SpreadKind.REPETITIONS

    @property
    def value(self) -> float:
        """The mean logarithm."""
        return float(np.mean(self.values))

    def chance_at_most(self, log: float) -> float:
        """P value of "the ratio is at most exp(log)", at every look."""
        return self._chance(log) if self.value > log else 1.0

    def chance_at_least(self, log: float) -> float:
        """P value of "the ratio is at least exp(log)", at every look."""
        return self._chance(log) if self.value < log else 1.0

    def half_width(self, alpha: float) -> float:
        """Half the width of the interval, on the scale of logarithms; infinite with too few repetitions."""
        return anytime_interval(self.values, alpha).half_width

    def estimate(self) -> Estimate:
        """The ratio with its 95 % interval, which stands for this ratio alone."""
        return estimate_at_any_look(self.values)

    def further_beyond(self, log: float, alpha: float) -> int | None:
        """The fewest further repetitions after which the interval excludes a ratio, if mean and spread stay.

        Args:
            log: That ratio, as logarithm.
            alpha: Of the interval.
        """
        distance, deviation, count = abs(self.value - log), self._deviation, len(self.values)
        for further in range(1, MOST_FURTHER_REPETITIONS + 1):
            if deviation * half_widths(alpha, count + further) < distance:
                return further
        return None

    @property
    def _deviation(self) -> float:
        return float(np.std(self.values, ddof=1))

    def _chance(self, log: float) -> float:
        """The smallest level at which the interval excludes a ratio, by halving the range of its logarithm."""
        widest = abs(self.value - log) / self._deviation
        low, high, count = _LEAST_LOG_CHANCE, 0.0, len(self.values)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if half_widths(math.exp(middle), count) < widest else (middle, high)
        return math.exp(high)
