"""How two mean throughputs compare: their ratio, its bounds, and the smallest ratio that could have been found.

Assumptions: those of `throughput`; the two means are independent. Where both stand on the same pooled variance its
degrees of freedom are used once; otherwise Welch's (1947) with Satterthwaite's degrees of freedom.

The smallest effect has power 0.8 at a two-sided alpha of 0.05: (t(0.975) + t(0.8)) standard errors (Cohen 1988, chapter
2). A difference below it is not called even when its bounds exclude 1: with less power than that, an estimate which
happens to reach significance exaggerates the truth (Gelman and Carlin 2014, "type M").

Deliberately not here: which cells are compared (`curves`, `differences`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plimsoll.analyse.cell_model import Estimate, SpreadKind
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.throughput import CONFIDENCE, MeanThroughput, Spread, log_bounds
from plimsoll.analyse.within_run import MeanVariance, quantile_t

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Comparison:
    """One mean throughput over another.

    Attributes:
        ratio: With bounds where both means have them.
        smallest_effect: Smallest ratio above 1 that would have been found four times out of five; None when
            untestable.
        verdict: Untestable where it is unknown how repetitions differ.
    """

    ratio: Estimate
    smallest_effect: float | None
    verdict: DifferenceVerdict

    @property
    def differs(self) -> bool:
        """Whether the bounds exclude 1. Bounds from within one run are believed here: they are all there is."""
        bounds = self.ratio.bounds
        return bounds is None or not bounds.low <= 1.0 <= bounds.high


def compare(system: MeanThroughput, base: MeanThroughput) -> Comparison | None:
    """Compares two means of the same workload; None when one of them is zero."""
    if system.value_tps <= 0 or base.value_tps <= 0:
        return None
    value = system.value_tps / base.value_tps
    count = min(system.trial_count, base.trial_count)
    if system.spread is None or base.spread is None:
        return Comparison(Estimate(value=value, trial_count=count), None, DifferenceVerdict.UNTESTABLE)
    variance = _variance(system.spread, base.spread)
    basis = system.spread.kind if system.spread.kind is base.spread.kind else None
    bounds = log_bounds(value, variance, _method(system.spread, base.spread), basis=basis)
    ratio = Estimate(value=value, bounds=bounds, trial_count=count)
    if not (system.spread.seen_between_runs and base.spread.seen_between_runs):
        return Comparison(ratio, None, DifferenceVerdict.UNTESTABLE)
    smallest = smallest_effect(variance)
    return Comparison(ratio, smallest, _verdict(ratio, smallest))


def smallest_effect(variance: MeanVariance) -> float:
    """The smallest ratio above 1 that is found with power 0.8, given the variance of a ratio's logarithm."""
    significant = quantile_t(0.5 + CONFIDENCE / 2, variance.degrees)
    return math.exp((significant + quantile_t(POWER, variance.degrees)) * math.sqrt(variance.variance))


def _verdict(ratio: Estimate, smallest: float) -> DifferenceVerdict:
    bounds = ratio.bounds
    if bounds is not None and bounds.low > 1.0 and ratio.value >= smallest:
        return DifferenceVerdict.FASTER
    if bounds is not None and bounds.high < 1.0 and ratio.value <= 1.0 / smallest:
        return DifferenceVerdict.SLOWER
    return DifferenceVerdict.UNDECIDED


def _variance(a: Spread, b: Spread) -> MeanVariance:
    variance = a.of_mean.variance + b.of_mean.variance
    if _share_a_pool(a, b) or variance == 0.0:
        return MeanVariance(variance, min(a.of_mean.degrees, b.of_mean.degrees))
    parts = ((one.of_mean.variance, one.of_mean.degrees) for one in (a, b))
    return MeanVariance(variance, max(variance**2 / sum(part**2 / degrees for part, degrees in parts), 1.0))


def _share_a_pool(a: Spread, b: Spread) -> bool:
    """Whether both stand on one estimate of how repetitions differ."""
    return a.kind is b.kind is SpreadKind.POOLED and a.pool == b.pool


def _method(a: Spread, b: Spread) -> str:
    if _share_a_pool(a, b):
        return f"t on logarithms, pooled spread of repetitions ({a.of_mean.degrees:.0f} degrees of freedom)"
    if a.seen_between_runs and b.seen_between_runs:
        return "Welch's t on logarithms, spread of repetitions"
    return "Welch's t on logarithms, within the runs: repetitions may differ more"
