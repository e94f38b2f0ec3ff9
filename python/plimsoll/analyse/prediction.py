"""What the next repetition will surely reach: one-sided prediction limits.

A confidence interval is about the mean of all repetitions; half of the repetitions to come are below the mean. Who
sizes a system needs the next run to hold. Of n repetitions whose logarithms are about normal with variance s2, the next
one lies above `mean - t * sqrt(s2 * (1 + 1/n))` with the stated probability; t has the degrees of freedom of s2 (Hahn
and Meeker 1991, section 4.7). Where the best of k levels is looked for, each stands at 1 - (1 - alpha)^(1/k) (Sidak
1967), so that the chance of one wrong "fits" stays alpha for all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from plimsoll.analyse.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.within_run import quantile_t

ALPHA = 0.05
"""Chance, one-sided, that the next repetition is beyond its limit."""

REPETITIONS_NEEDED = 2


def sidak(levels_count: int, alpha: float = ALPHA) -> float:
    """What each of so many levels may err, so that all together err at most `alpha`.

    >>> round(sidak(1), 4), round(sidak(4), 4)
    (0.05, 0.0127)
    """
    return 1.0 - float((1 - alpha) ** (1 / max(levels_count, 1)))


def next_at_least(values: Sequence[float], *, levels_count: int = 1, least_variance: float = 0.0) -> float | None:
    """What the next repetition will reach at least; None for fewer than two, or where one is not above 0.

    Args:
        values: One for each repetition.
        levels_count: The best of so many levels is looked for.
        least_variance: Of the logarithm of one repetition: values that are rounded do not vary less than this.
    """
    width = _log_width(values, levels_count, least_variance)
    return None if width is None else math.exp(float(np.log(values).mean()) - width)


def next_at_most(values: Sequence[float], *, levels_count: int = 1) -> float | None:
    """What the next repetition will not exceed; None as `next_at_least`."""
    width = _log_width(values, levels_count, 0.0)
    return None if width is None else math.exp(float(np.log(values).mean()) + width)


def next_share_at_most(shares: Sequence[float], *, levels_count: int = 1) -> float | None:
    """The share that the next repetition will not exceed; None for fewer than two.

    Args:
        shares: One for each repetition, about normal as they are. They may be 0 or below.
        levels_count: The best of so many levels is looked for.
    """
    if len(shares) < REPETITIONS_NEEDED:
        return None
    return float(np.mean(shares)) + _width(float(np.var(shares, ddof=1)), len(shares), levels_count)


def _log_width(values: Sequence[float], levels_count: int, least_variance: float) -> float | None:
    if len(values) < REPETITIONS_NEEDED or min(values) <= 0:
        return None
    variance = max(float(np.log(values).var(ddof=1)), least_variance)
    return _width(variance, len(values), levels_count)


def _width(variance: float, count: int, levels_count: int) -> float:
    return quantile_t(1 - sidak(levels_count), count - 1) * math.sqrt(variance * (1 + 1 / count))


def predicted_at_least(estimate: Estimate, *, levels_count: int = 1) -> float | None:
    """What the next repetition will reach at least, from a mean with its confidence interval.

    The interval must say how repetitions differ: of its own or of cells that were measured alike, whose degrees of
    freedom then count. None where it does not, or where there was one repetition.
    """
    bounds = estimate.bounds
    if bounds is None or not _is_of_repetitions(bounds) or estimate.trial_count < REPETITIONS_NEEDED:
        return None
    assert bounds.degrees is not None, "checked above"
    error = math.log(bounds.high / bounds.low) / 2 / quantile_t(0.5 + bounds.confidence / 2, bounds.degrees)
    width = quantile_t(1 - sidak(levels_count), bounds.degrees) * error * math.sqrt(estimate.trial_count + 1)
    return estimate.value * math.exp(-width)


def is_repeated(estimate: Estimate) -> bool:
    """Whether an interval says how much the next repetition may differ."""
    return predicted_at_least(estimate) is not None


def _is_of_repetitions(bounds: Bounds) -> bool:
    return bounds.low > 0 and bounds.degrees is not None and bounds.basis in (SpreadKind.REPETITIONS, SpreadKind.POOLED)
