"""Two systems that took turns: the ratio of their throughputs, and how sure it is.

The unit is the pair of neighbouring turns, one of each system: the logarithm of the ratio of their rates. What
changes slowly against a pair (neighbours of a virtual machine, heat, steal) meets both turns and cancels; since the
order of the two is tossed, a trend is no bias. Within a round pairs are averaged by the 20 % trimmed mean, whose
variance follows from the Winsorised variance; bursts that hit one turn of a pair so count little. Where neighbouring
pairs resemble each other (lag-1 correlation of the Winsorised values, two-sided test at 5 %) the variance is widened
as that of a first-order autoregressive series; a negative correlation narrows nothing.

Rounds, before each of which all servers were started again, are the outer block: memory and file layout differ
between starts, which no number of pairs within one start can show. Two intervals are found, Student's t over the
means of rounds and that of the variances within rounds, and the wider one counts. So coverage is above 95 % where
starts do not differ, and about 95 % where they do.

Assumptions: rounds are independent and their means about normal; the effect is the same in all turns; pairs further
apart than neighbours are independent. What takes longer than a turn to show (checkpoints, purging) is shared between
the turns of both systems and is not in the ratio.

Sources: trimmed mean and its t with n - 2g - 1 degrees of freedom, Tukey and McLaughlin 1963, Yuen 1974 (Wilcox 2012,
chapter 3); effective size under autocorrelation as in `within_run`; blocks of restarts, Kalibera and Jones 2013;
turns in tossed order, Bulej et al. 2020 (duet benchmarking). Half a transaction is added to each count (Anscombe), so
that a turn without any has a logarithm.

Deliberately not here: which recordings belong together (`duet_differences`), and verdicts (`ratios`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.duet_model import DuetBasis
from plimsoll.analyse.within_run import MeanVariance, Series

TRIMMED_RATIO = 0.2
PAIRS_NEEDED = 5
"""A round of fewer pairs is left out: trimmed by a fifth on either side they are three."""

_CORRELATION_Z = 1.96
_CORRELATION_PAIRS_NEEDED = 10
_CORRELATION_MAX = 0.9


@dataclass(frozen=True, slots=True)
class DuetEstimate:
    """The logarithm of a ratio of throughputs.

    Attributes:
        log_ratio: Mean over rounds of their trimmed means.
        variance: Of that mean; of the two candidates the one whose interval is wider.
        basis: Which one that is.
        rounds: The trimmed mean of each round.
        correlation: Of neighbouring pairs within rounds; None for too few pairs.
        is_widened: The variance within rounds was widened by it.
    """

    log_ratio: float
    variance: MeanVariance
    basis: DuetBasis
    rounds: tuple[float, ...]
    correlation: float | None
    is_widened: bool


def log_rates(completed: Series, seconds: Series) -> Series:
    """Logarithm of the rate of each turn, completed transactions per second; half a transaction is added to each."""
    rates: Series = np.log((completed + 0.5) / seconds)
    return rates


def estimate(rounds: Sequence[Series]) -> DuetEstimate | None:
    """The ratio of two systems from their pairs of turns.

    Args:
        rounds: Of each round the logarithms of the pairs' ratios, in order of time; at least `PAIRS_NEEDED` in each.

    Returns:
        None for fewer than two rounds, or when nothing differs between any two pairs.
    """
    if len(rounds) < 2:
        return None
    means = np.array([trimmed_mean(one) for one in rounds])
    between = MeanVariance(float(means.var(ddof=1)) / means.size, means.size - 1.0)
    correlation = _correlation(rounds)
    pair_count = sum(one.size for one in rounds)
    is_widened = correlation is not None and correlation * math.sqrt(pair_count) > _CORRELATION_Z
    within = _within(rounds, correlation if is_widened and correlation is not None else 0.0)
    if between.variance == 0.0 and within.variance == 0.0:
        return None
    candidates = ((within, DuetBasis.PAIRS), (between, DuetBasis.ROUNDS))
    variance, basis = max(candidates, key=lambda one: one[0].half_width())
    return DuetEstimate(float(means.mean()), variance, basis, tuple(map(float, means)), correlation, is_widened)


def trimmed_mean(values: Series) -> float:
    """The mean without the lowest and the highest fifth."""
    cut = _cut(values)
    return float(np.sort(values)[cut : values.size - cut].mean())


def mean_of_rounds(rounds: Sequence[float]) -> MeanVariance | None:
    """The variance of the mean of one figure for each round; None for fewer than two, or for equal ones."""
    values = np.asarray(rounds, dtype=float)
    if values.size < 2 or np.ptp(values) == 0.0:
        return None
    return MeanVariance(float(values.var(ddof=1)) / values.size, values.size - 1.0)


def _cut(values: Series) -> int:
    return int(TRIMMED_RATIO * values.size)


def _winsorised(values: Series) -> Series:
    """The values with the lowest and the highest fifth drawn in to what is next to them."""
    cut, ordered = _cut(values), np.sort(values)
    drawn_in: Series = np.clip(values, ordered[cut], ordered[-cut - 1])
    return drawn_in


def _within(rounds: Sequence[Series], correlation: float) -> MeanVariance:
    """The variance of the mean of all rounds' trimmed means, from the spread of pairs within them."""
    widening = (1 + correlation) / (1 - correlation)
    variances = np.array([_variance_of_trimmed(one) for one in rounds]) * widening / len(rounds) ** 2
    degrees = np.array([one.size - 2 * _cut(one) - 1 for one in rounds], dtype=float) / widening
    total = float(variances.sum())
    if total == 0.0:
        return MeanVariance(0.0, float(degrees.sum()))
    return MeanVariance(total, max(total**2 / float((variances**2 / degrees).sum()), 1.0))


def _variance_of_trimmed(values: Series) -> float:
    return float(_winsorised(values).var(ddof=1)) / ((1 - 2 * TRIMMED_RATIO) ** 2 * values.size)


def _correlation(rounds: Sequence[Series]) -> float | None:
    """Lag-1 correlation of Winsorised pairs about the means of their rounds, the bias of short series removed."""
    if min(one.size for one in rounds) < _CORRELATION_PAIRS_NEEDED:
        return None
    products = squares = 0.0
    for one in rounds:
        deviation = _winsorised(one)
        deviation = deviation - deviation.mean()
        products += float(deviation[1:] @ deviation[:-1])
        squares += float(deviation @ deviation)
    if squares == 0.0:
        return None
    raw = products / squares
    size = sum(one.size for one in rounds) / len(rounds)
    return min(raw + (1 + 3 * raw) / size, _CORRELATION_MAX)
