"""A ratio of two throughputs on the scale of natural logarithms, with its variance: tests, intervals, verdicts.

Whether one system is faster than another: from a ratio and its variance to a verdict. A ratio is judged on the scale
of natural logarithms. Two tests are made of it: one of "the ratio is 1" (Student's t, two-sided), and two one-sided
ones of "the ratio is outside (1 / (1 + X), 1 + X)", which together show that two systems are equal within X
(Schuirmann 1987). Where several ratios are shown beside each other, both are corrected by Holm's procedure (1979), so
that the chance of any wrong "faster", "slower" or "equal" is 5 % for all of them together.

Assumptions: the unit is the repetition, one throughput for each; the logarithms of repetitions are about normal and
independent of each other. Nothing is assumed about seconds within a run. What repetitions have in common (the hour,
the state of the machine) cancels where the systems are compared within repetitions (`paired`).

The minimum detectable effect is no part of the verdict.

The minimum detectable effect is the ratio that is found with power 0.8 (noncentral t distribution, Cohen 1988, chapter
2). The spread of few repetitions is more often too small than too large; it is scaled to be right in the median, so
that half of the studies of a kind report an effect above the true one and half below.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, Bounds, Estimate, SpreadKind
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.stats.significance import holm
from plimsoll.stats.variance import MeanVariance, quantile_t

ALPHA = 0.05


def compare_repetitions(
    base_tps: Sequence[float],
    system_tps: Sequence[float],
    *,
    paired: bool,
    alpha: float = ALPHA,
    equal_within: float = EQUAL_WITHIN,
    least_variance: float = 0.0,
) -> Ratio:
    """Compares two systems by one throughput for each of their repetitions.

    Args:
        base_tps: What is compared with, one value for each repetition.
        system_tps: What is compared.
        paired: Whether equal positions were measured in one repetition, so that what they have in common cancels
            (paired t test); otherwise Welch's (1947).
        alpha: Of both tests; with m comparisons side by side 0.05 / m.
        equal_within: Share within which the two count as equal.
        least_variance: Of the logarithm of one value: what was found with a coarse step does not vary less than that,
            however much repetitions agree.

    Raises:
        ValueError: No values, `paired` with unequal counts, or a base that completed nothing.

    >>> compare_repetitions([100, 102, 98], [110, 112, 108], paired=True).verdict.value
    'faster'
    """
    base, system = np.asarray(base_tps, float), np.asarray(system_tps, float)
    if not base.size or not system.size or base.mean() <= 0:
        raise ValueError("both systems need repetitions, and the base must have completed something")
    if paired and base.size != system.size:
        raise ValueError(f"paired repetitions must be as many, are {base.size} and {system.size}")
    log_ratio = (_paired if paired else _welch)(base, system, least_variance)
    if log_ratio is None:
        plain = Estimate(value=float(system.mean() / base.mean()), trial_count=min(base.size, system.size))
        return Ratio(ratio=plain, verdict=RatioVerdict.UNTESTABLE, equal_within=equal_within)
    return judge([log_ratio], alpha=alpha, equal_within=equal_within)[0]


def repetition_ratio(
    base: Sequence[float], system: Sequence[float], *, paired: bool, least_variance: float = 0.0
) -> LogRatio | None:
    """The ratio of positive figures, for `judge`; None where its spread is unknown. See `compare_repetitions`."""
    return (_paired if paired else _welch)(np.asarray(base, float), np.asarray(system, float), least_variance)


def judge(
    log_ratios: Sequence[LogRatio],
    *,
    alpha: float = ALPHA,
    equal_within: float = EQUAL_WITHIN,
    family_count: int = 0,
    levels_count: int = 0,
) -> list[Ratio]:
    """Judges ratios that are shown beside each other: Holm over all of them.

    Args:
        log_ratios: The family.
        alpha: Chance of any wrong "faster" or "slower" in it, and of any wrong "equal".
        equal_within: Share within which two systems count as equal.
        family_count: How many comparisons these were chosen from, where that is more.
        levels_count: How many of them are no summary of the others. Repetitions are needed, and effects are seen, as if
            there were only these, so that a guide and a comparison of two of its systems say the same. 0 for all.

    Returns:
        One comparison for each, in the same order.
    """
    count = max(len(log_ratios), family_count)
    differing = holm([log_ratio.chance_if_same for log_ratio in log_ratios], count)
    equal = holm([log_ratio.chance_if_apart(equal_within) for log_ratio in log_ratios], count)
    shared = alpha / max(levels_count or count, 1)
    return [
        Ratio(
            ratio=log_ratio.estimate(),
            simultaneous=log_ratio.bounds(alpha, max(count, 1)),
            verdict=(verdict := _verdict(log_ratio, differs=differs <= alpha, equals=equals <= alpha)),
            equal_within=equal_within,
            smallest_effect=log_ratio.smallest_effect(shared),
            repetitions_needed=0
            if verdict.is_decided
            else _further(log_ratio, alpha=shared, equal_within=equal_within),
        )
        for log_ratio, differs, equals in zip(log_ratios, differing, equal, strict=True)
    ]


def _verdict(log_ratio: LogRatio, *, differs: bool, equals: bool) -> RatioVerdict:
    if differs:
        return RatioVerdict.FASTER if log_ratio.value > 0 else RatioVerdict.SLOWER
    return RatioVerdict.EQUAL if equals else RatioVerdict.UNRESOLVED


def _further(log_ratio: LogRatio, *, alpha: float, equal_within: float) -> int | None:
    """The fewest further repetitions after which either test succeeds with power 0.8 if the ratio stays."""
    margin = math.copysign(math.log1p(equal_within), log_ratio.value)
    needed = [log_ratio.further_beyond(0.0, alpha / 2)]
    if abs(log_ratio.value) < abs(margin):
        needed.append(log_ratio.further_beyond(margin, alpha))
    return min((count for count in needed if count is not None), default=None)


def _paired(base: np.ndarray, system: np.ndarray, least_variance: float = 0.0) -> LogRatio | None:
    if base.size < 2 or min(base.min(), system.min()) <= 0:
        return None
    logs = np.log(system / base)
    variance = max(float(logs.var(ddof=1)), 2 * least_variance) / logs.size
    return _log_ratio(
        float(logs.mean()), MeanVariance(variance, logs.size - 1), logs.size, "paired t on logarithms of repetitions"
    )


def _welch(base: np.ndarray, system: np.ndarray, least_variance: float = 0.0) -> LogRatio | None:
    if min(base.size, system.size) < 2 or min(base.min(), system.min()) <= 0:
        return None
    logs = np.log(base), np.log(system)
    parts = [(max(float(log.var(ddof=1)), least_variance) / log.size, log.size - 1) for log in logs]
    return _log_ratio(
        float(logs[1].mean() - logs[0].mean()), welch(parts), min(base.size, system.size), "Welch's t on logarithms"
    )


def welch(parts: Sequence[tuple[float, float]]) -> MeanVariance:
    """The sum of independent variances, as (variance, degrees), with Satterthwaite's degrees of freedom."""
    variance = sum(part for part, _ in parts)
    if variance == 0.0:
        return MeanVariance(0.0, min(degrees for _, degrees in parts))
    return MeanVariance(variance, max(variance**2 / sum(part**2 / degrees for part, degrees in parts), 1.0))


def _log_ratio(value: float, variance: MeanVariance, count: int, method: str) -> LogRatio | None:
    """None where nothing differed: rounded or copied figures show no spread, which is not a spread of zero."""
    if variance.variance <= NO_SPREAD:
        return None
    return LogRatio(value=value, variance=variance, repetitions=count, basis=SpreadKind.REPETITIONS, method=method)


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
        from plimsoll.stats.special import stdtr

        return 2.0 * float(stdtr(self.variance.degrees, -abs(self.value) / self._error))

    def chance_if_apart(self, equal_within: float) -> float:
        """P value of "the ratio is outside (1 / (1 + X), 1 + X)": the larger of two one-sided ones."""
        margin = math.log1p(equal_within)
        return max(self.chance_at_most(-margin), self.chance_at_least(margin))

    def chance_at_most(self, log: float) -> float:
        """One-sided p value of "the ratio is at most exp(log)"."""
        from plimsoll.stats.special import stdtr

        return float(stdtr(self.variance.degrees, (log - self.value) / self._error))

    def chance_at_least(self, log: float) -> float:
        """One-sided p value of "the ratio is at least exp(log)"."""
        from plimsoll.stats.special import stdtr

        return float(stdtr(self.variance.degrees, (self.value - log) / self._error))

    def log_limits(self, confidence: float) -> tuple[float, float]:
        """Both ends of its interval, as logarithms."""
        width = self.variance.half_width(confidence)
        return self.value - width, self.value + width

    def smallest_effect(self, alpha: float) -> float:
        """The smallest ratio above 1 that is found with power 0.8 by a two-sided test at `alpha`."""
        from plimsoll.stats.special import chdtri, nctdtrinc

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
