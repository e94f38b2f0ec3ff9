"""A ratio of two throughputs on the scale of natural logarithms, with its variance: tests and intervals.

The minimum detectable effect is the ratio that is found with power 0.8 (noncentral t distribution, Cohen 1988, chapter
2). The spread of few repetitions is more often too small than too large; it is scaled to be right in the median, so
that half of the studies of a kind report an effect above the true one and half below.

Deliberately not here: verdicts (`comparison`), and where variances come from (`ratios`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from plimsoll.analyse.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.within_run import MeanVariance, quantile_t

ALPHA = 0.05
POWER = 0.8

MOST_FURTHER_REPETITIONS = 100
"""Nobody runs more; a comparison that needs them is not decided by repetitions."""

NO_SPREAD = 1e-20
"""Below it a variance of logarithms is the rounding of equal figures."""

LARGEST_LOG = 300.0
"""Beyond it the exponential is hardly a number that JSON has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRatio:
    """An estimated ratio of two throughputs, as a natural logarithm.

    Attributes:
        value: The logarithm.
        variance: Of that, with its degrees of freedom.
        repetitions: On how many it rests.
        basis: What the variance rests on.
        method: How it was found, in words.
        power_degrees: Degrees of freedom for the minimum detectable effect, where those of the variance will not do.
    """

    value: float
    variance: MeanVariance
    repetitions: int
    basis: SpreadKind | None
    method: str
    power_degrees: float | None = None

    @property
    def is_testable(self) -> bool:
        """Whether it is known how repetitions differ, and sessions where there are several."""
        return self.basis not in (SpreadKind.WITHIN_RUN, SpreadKind.WITHIN_STUDY)

    @property
    def chance_if_same(self) -> float:
        """Two-sided p value of "the ratio is 1"."""
        from scipy.special import stdtr

        return 2.0 * float(stdtr(self.variance.degrees, -abs(self.value) / self._error))

    def chance_if_apart(self, equal_within: float) -> float:
        """P value of "the ratio is outside (1 / (1 + X), 1 + X)": the larger of two one-sided ones."""
        margin = math.log1p(equal_within)
        return max(self.chance_at_most(-margin), self.chance_at_least(margin))

    def chance_at_most(self, log: float) -> float:
        """One-sided p value of "the ratio is at most exp(log)"."""
        from scipy.special import stdtr

        return float(stdtr(self.variance.degrees, (log - self.value) / self._error))

    def chance_at_least(self, log: float) -> float:
        """One-sided p value of "the ratio is at least exp(log)"."""
        from scipy.special import stdtr

        return float(stdtr(self.variance.degrees, (self.value - log) / self._error))

    def log_limits(self, confidence: float) -> tuple[float, float]:
        """Both ends of its interval, as logarithms."""
        width = self.variance.half_width(confidence)
        return self.value - width, self.value + width

    def smallest_effect(self, alpha: float) -> float:
        """The smallest ratio above 1 that is found with power 0.8 by a two-sided test at `alpha`."""
        from scipy.special import chdtri, nctdtrinc

        degrees = self.power_degrees or self.variance.degrees
        significant = quantile_t(1 - alpha / 2, degrees)
        noncentrality = float(nctdtrinc(degrees, 1 - POWER, significant))
        usual_error = self._error * math.sqrt(degrees / float(chdtri(degrees, 0.5)))
        return math.exp(min(noncentrality * usual_error, LARGEST_LOG))

    def bounds(self, alpha: float = ALPHA, comparisons: int = 1) -> Bounds:
        """Its bounds: for it alone, or so wide that those of so many hold together (Bonferroni)."""
        low, high = self.log_limits(1 - alpha / comparisons)
        return Bounds(
            low=math.exp(max(low, -LARGEST_LOG)),
            high=math.exp(min(high, LARGEST_LOG)),
            basis=self.basis,
            degrees=self.variance.degrees,
            method=self.method + together(comparisons),
        )

    def estimate(self) -> Estimate:
        """The ratio with its 95 % bounds, which stand for this ratio alone."""
        return Estimate(value=math.exp(self.value), bounds=self.bounds(), trial_count=self.repetitions)

    def with_more(self, further: int) -> LogRatio:
        """The same ratio and spread as after further repetitions."""
        count = self.repetitions + further
        degrees = self.variance.degrees * (count - 1) / max(self.repetitions - 1, 1)
        variance = MeanVariance(self.variance.variance * self.repetitions / count, degrees)
        return LogRatio(value=self.value, variance=variance, repetitions=count, basis=self.basis, method=self.method)

    def further_beyond(self, log: float, alpha: float) -> int | None:
        """The fewest further repetitions that show on which side of exp(log) it lies, with power 0.8 (one-sided test).

        None where it is unknown how repetitions differ, or more than `MOST_FURTHER_REPETITIONS` are needed, or where
        further sessions would decide.
        """
        if not self.is_testable or self.basis is SpreadKind.SESSIONS:
            return None

        def decides(further: int) -> bool:
            after = self.with_more(further)
            degrees = after.variance.degrees
            needed = quantile_t(1 - alpha, degrees) + quantile_t(POWER, degrees)
            return abs(self.value - log) >= needed * math.sqrt(after.variance.variance)

        tried = range(1, MOST_FURTHER_REPETITIONS + 1)
        at = bisect_left(tried, True, key=decides)  # with each further repetition it becomes easier
        return tried[at] if at < len(tried) else None

    @property
    def _error(self) -> float:
        return math.sqrt(self.variance.variance)


def together(comparisons: int) -> str:
    """How the method of bounds goes on that hold for so many comparisons together."""
    return f", Bonferroni over {comparisons} comparisons" if comparisons > 1 else ""
