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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PRIOR_VARIANCE = 10.0
"""Of the mean, in variances of a value: wide enough for differences that matter, so that 3 values can decide."""


@dataclass(frozen=True, slots=True)
class AnytimeInterval:
    """Where a mean lies, at this look and at all others together.

    Attributes:
        mean: Of the values so far.
        half_width: Infinite while there are too few of them.
        count: How many values there were.
    """

    mean: float
    half_width: float
    count: int

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
    variance = float(np.var(values, ddof=1)) if count > 1 else math.inf
    width = half_widths(alpha, count)
    return AnytimeInterval(mean, width * math.sqrt(variance) if math.isfinite(width) else math.inf, count)


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


def more_values(interval: AnytimeInterval, alpha: float, equal_within: float, *, at_most: int = 100) -> int | None:
    """How many further values would decide, if mean and variance stay as they are; None for more than `at_most`."""
    width = half_widths(alpha, interval.count)
    if not math.isfinite(interval.half_width):
        return _first_finite(alpha, interval.count, at_most)
    deviation = interval.half_width / width
    for more in range(at_most + 1):
        half_width = deviation * half_widths(alpha, interval.count + more)
        if AnytimeInterval(interval.mean, half_width, interval.count + more).is_decided(equal_within):
            return more
    return None


def _first_finite(alpha: float, count: int, at_most: int) -> int | None:
    """How many further values give an interval at all."""
    return next((more for more in range(1, at_most + 1) if math.isfinite(half_widths(alpha, count + more))), None)
