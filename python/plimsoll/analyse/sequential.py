"""A confidence interval that may be looked at after every repetition, and what it decides.

A t test that is repeated after every repetition "finds" a difference between equal systems in about one of four studies
of 20 repetitions. This sequence of intervals contains the true mean at *all* looks together with the stated
probability, so a study may stop as soon as its question is answered.

Assumptions: the values are independent of each other and about normal, with an unknown variance. One value is the
logarithm of a ratio of two systems within one repetition (or within one round of a duet): whatever both shared has
cancelled. The effect is taken to be of the order of `PRIOR_VARIANCE` variances of a value; another order makes the
intervals wider, never wrong.

Source: Gaussian mixture of t likelihood ratios, Wang and Ramdas 2023, arXiv 2310.03722 (theorem 4.7 and its closed
form); the idea is Robbins's (1970) and Lai's (1976).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from plimsoll.analyse.log_ratio import MOST_FURTHER_REPETITIONS, NO_SPREAD, POWER

PRIOR_VARIANCE = 10.0
"""Of the mean, in variances of a value: wide enough for differences that matter, so that 3 values can decide."""

SPREAD_TO_COME = 0.6
"""How probably the true spread is at most what is taken for it when further values are counted. Found by simulation, so
that a study is decided within the number named in about 80 of 100 cases: about 70 after two values, 90 after six."""


@dataclass(frozen=True, slots=True)
class AnytimeInterval:
    """Where a mean lies, at this look and at all others together.

    Attributes:
        mean: Of the values so far.
        half_width: Infinite while there are too few of them, or their spread is not known.
        count: How many values there were.
        deviation: Standard deviation of one value; None while that is not known: for a single value, and for equal
            ones, which are rounded or copied figures and no spread of zero.
    """

    mean: float
    half_width: float
    count: int
    deviation: float | None

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width

    def is_decided(self, equal_within: float) -> bool:
        """Whether it excludes 0, or lies within -`equal_within` to `equal_within`."""
        return self.low > 0.0 or self.high < 0.0 or (-equal_within <= self.low and self.high <= equal_within)


def anytime_interval(values: Sequence[float], alpha: float) -> AnytimeInterval:
    """The interval after these values, in the order in which they were measured.

    Args:
        values: Independent of each other; at least one.
        alpha: The probability, 0..1, that the true mean is outside at any look.
    """
    count, mean = len(values), float(np.mean(values))
    variance = float(np.var(values, ddof=1)) if count > 1 else 0.0
    if variance <= NO_SPREAD:
        return AnytimeInterval(mean, math.inf, count, None)
    deviation = math.sqrt(variance)
    return AnytimeInterval(mean, half_widths(alpha, count) * deviation, count, deviation)


@cache
def half_widths(alpha: float, count: int) -> float:
    """Half the width of the interval, in standard deviations of a value; infinite while there are too few.

    Args:
        alpha: The probability, 0..1, of ever being wrong.
        count: So many values.
    """
    mixed = 1.0 + count * PRIOR_VARIANCE
    bound = (mixed / alpha**2) ** (1.0 / count)
    if bound >= mixed:
        return math.inf
    return math.sqrt((count - 1) / count * mixed * (bound - 1.0) / (mixed - bound))


def more_values(interval: AnytimeInterval, alpha: float, equal_within: float) -> int | None:
    """How many further values decide four times out of five, if the mean stays.

    The mean may then be off by as much as it is in four of five cases (`POWER`). The spread of few values is more often
    too small than too large and is scaled (`SPREAD_TO_COME`).

    Returns:
        None while the spread is not known, and where more than `MOST_FURTHER_REPETITIONS` are needed.
    """
    from scipy.special import ndtri

    deviation, distance = _deviation_to_come(interval), abs(interval.mean)

    def decides(count: int) -> bool:
        needed = deviation * (half_widths(alpha, count) + ndtri(POWER) / math.sqrt(count))
        return bool(distance > needed or distance + needed <= equal_within)

    return _fewest(interval.count, decides)


def more_values_for_width(interval: AnytimeInterval, alpha: float, half_width: float) -> int | None:
    """How many further values make an interval so narrow four times out of five; None as for `more_values`."""
    deviation = _deviation_to_come(interval)
    return _fewest(interval.count, lambda count: deviation * half_widths(alpha, count) <= half_width)


def _deviation_to_come(interval: AnytimeInterval) -> float:
    """What is taken for the standard deviation of a value; infinite while it is not known."""
    from scipy.special import chdtri

    if interval.deviation is None:
        return math.inf
    degrees = interval.count - 1
    return interval.deviation * math.sqrt(degrees / float(chdtri(degrees, SPREAD_TO_COME)))


def _fewest(count: int, decides: Callable[[int], bool]) -> int | None:
    """The fewest further values after `count` with which it is decided."""
    return next((more for more in range(1, MOST_FURTHER_REPETITIONS + 1) if decides(count + more)), None)
