"""The peak of a curve: the level with the highest figure, and how sure it is that the figure is that of the maximum.

A level is *near the peak* when the 95 % confidence interval of its ratio to the highest includes 1.

* **Throughput at the peak** is the figure of that level, as tables and charts show it. The highest of several noisy
  figures overstates the truth a little; that is what its interval allows for. It is the interval of a maximum: the
  highest lower limit, each at alpha / 2 over the number of levels near the peak, to the highest upper limit at
  alpha / 2 (intersection-union: Berger and Hsu 1996).
* **Two peaks**: where some level is near the peak of both systems, they are compared at the one of these at which both
  together have most. Their sum chooses the level, and the sum says nothing about their difference. So this comparison
  is that at a level, and adds none to what Holm's procedure corrects for. Otherwise the peaks lie at different levels:
  the ratio of two maxima lies above max over l of min over m of the lower limits of A at l over B at m, each corrected
  for the number of l, and so on for the other side.

Assumptions: those of `ratios`. The choice of levels near the peak is from the same data; by simulation it costs less
than the rest leaves over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analyse.cell_model import Bounds, Estimate
from plimsoll.analyse.log_ratio import ALPHA, LogRatio
from plimsoll.analyse.ratios import log_ratio, ratio_of
from plimsoll.analyse.throughput import MeanThroughput
from plimsoll.analyse.within_run import quantile_t

LevelKey = tuple[bool, float]


def highest(means: Sequence[MeanThroughput]) -> int:
    """Which has the highest throughput; the first of equal ones."""
    return max(range(len(means)), key=lambda index: (means[index].value_tps, -index))


def near_peak(rising: Sequence[MeanThroughput]) -> tuple[int, ...]:
    """Which levels of a curve are not distinguishable from the highest, itself included."""
    best = highest(rising)
    return tuple(index for index, one in enumerate(rising) if index == best or _is_near(one, rising[best]))


def _is_near(one: MeanThroughput, best: MeanThroughput) -> bool:
    ratio = ratio_of(one, best)
    return ratio is not None and ratio.bounds is not None and ratio.bounds.low <= 1.0 <= ratio.bounds.high


def may_be_peak(rising: Sequence[MeanThroughput]) -> tuple[int, ...]:
    """Which levels may be the true peak: all but those that repetitions show to have less than the highest.

    Any level may be the one that came out highest by chance, so each comparison has alpha over their number
    (Bonferroni): the true peak is among these levels in at least 95 % of studies.
    """
    best = rising[highest(rising)]
    confidence = 1 - ALPHA / max(len(rising) - 1, 1)
    return tuple(index for index, one in enumerate(rising) if not _has_less(one, best, confidence))


def _has_less(one: MeanThroughput, best: MeanThroughput, confidence: float) -> bool:
    ratio = None if one is best else log_ratio(one, best)
    return ratio is not None and ratio.is_testable and ratio.log_limits(confidence)[1] < 0.0


def peak_throughput(near: Sequence[MeanThroughput]) -> Estimate:
    """The throughput at the peak, from the levels near it."""
    best = near[highest(near)]
    if len(near) == 1:
        return best.estimate()
    bounds = _of_maximum(near, best.value_tps)
    return Estimate(value=best.value_tps, bounds=bounds, trial_count=best.trial_count)


def _of_maximum(near: Sequence[MeanThroughput], value_tps: float) -> Bounds | None:
    known = [(one.value_tps, one.spread.of_mean) for one in near if one.spread is not None]
    best = near[highest(near)].spread
    if len(known) < len(near) or best is None:
        return None

    def edges(sign: float, alpha: float) -> list[float]:
        return [
            tps * math.exp(sign * quantile_t(1 - alpha, variance.degrees) * math.sqrt(variance.variance))
            for tps, variance in known
        ]

    return Bounds(
        low=min(max(edges(-1.0, ALPHA / 2 / len(near))), value_tps),
        high=max(*edges(1.0, ALPHA / 2), value_tps),
        basis=best.kind,
        degrees=best.of_mean.degrees,
        method=f"maximum of {len(near)} levels near the peak; {best.method}",
    )


@dataclass(frozen=True, slots=True)
class PeaksCompared:
    """How two peaks compare.

    Attributes:
        levels: Keys of the levels that were read, of the base and of the system.
        log_ratio: None where one of them has no spread. At a common level that level's own comparison stands for it.
    """

    levels: tuple[LevelKey, LevelKey]
    log_ratio: LogRatio | None


def compare_peaks(base: Mapping[LevelKey, MeanThroughput], system: Mapping[LevelKey, MeanThroughput]) -> PeaksCompared:
    """Compares the peaks of two systems.

    Args:
        base: Means by level, the levels rising.
        system: The same of the other one.
    """
    near = [_near_levels(one) for one in (base, system)]
    common = [level for level in near[0] if level in near[1]]
    if common:
        level = max(common, key=lambda level: base[level].value_tps * system[level].value_tps)
        return PeaksCompared((level, level), log_ratio(system[level], base[level]))
    best = _highest_level(base), _highest_level(system)
    return PeaksCompared(best, _of_own_peaks(base, system, near, best))


def _highest_level(means: Mapping[LevelKey, MeanThroughput]) -> LevelKey:
    return list(means)[highest(list(means.values()))]


def _near_levels(means: Mapping[LevelKey, MeanThroughput]) -> list[LevelKey]:
    levels, rising = list(means), list(means.values())
    return [levels[index] for index in near_peak(rising)]


def _of_own_peaks(
    base: Mapping[LevelKey, MeanThroughput],
    system: Mapping[LevelKey, MeanThroughput],
    near: Sequence[Sequence[LevelKey]],
    best: tuple[LevelKey, LevelKey],
) -> LogRatio | None:
    rows = [[log_ratio(system[own], base[other]) for other in near[0]] for own in near[1]]
    whole = tuple(tuple(one for one in row if one is not None) for row in rows)
    middle = log_ratio(system[best[1]], base[best[0]])
    if middle is None or any(len(row) < len(near[0]) for row in whole):
        return None
    return PeakRatio(
        value=middle.value,
        variance=middle.variance,
        repetitions=middle.repetitions,
        basis=middle.basis,
        method=f"each at its own peak; {middle.method}",
        power_degrees=middle.power_degrees,
        contrasts=whole,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakRatio(LogRatio):
    """The ratio of two maxima at different levels; value and variance are those of the two highest figures.

    Attributes:
        contrasts: The system at each of its levels near the peak (rows) over the base at each of its own (columns).
    """

    contrasts: tuple[tuple[LogRatio, ...], ...]

    def _above(self, log: float) -> float:
        """P value of "the ratio is at most exp(log)"."""
        return len(self.contrasts) * min(max(one.chance_at_most(log) for one in row) for row in self.contrasts)

    def _below(self, log: float) -> float:
        """P value of "the ratio is at least exp(log)"."""
        columns = self._columns
        return len(columns) * min(max(one.chance_at_least(log) for one in column) for column in columns)

    @property
    def _columns(self) -> list[tuple[LogRatio, ...]]:
        return list(zip(*self.contrasts, strict=True))

    @property
    def chance_if_same(self) -> float:
        """Two-sided p value of "the ratio is 1"."""
        return min(1.0, 2 * min(self._above(0.0), self._below(0.0)))

    def chance_if_apart(self, equal_within: float) -> float:
        """P value of "the ratio is outside (1 / (1 + X), 1 + X)"."""
        margin = math.log1p(equal_within)
        return min(1.0, max(self._above(-margin), self._below(margin)))

    def smallest_effect(self, alpha: float) -> float:
        """As of one comparison of two levels, corrected for how many there are near the peak."""
        return LogRatio.smallest_effect(self, alpha / max(len(self.contrasts), len(self.contrasts[0])))

    def log_limits(self, confidence: float) -> tuple[float, float]:
        """The interval of the ratio of two maxima."""
        alpha, columns = (1 - confidence) / 2, self._columns

        def edge(one: LogRatio, sign: float, count: int) -> float:
            width = quantile_t(1 - alpha / count, one.variance.degrees) * math.sqrt(one.variance.variance)
            return one.value + sign * width

        low = max(min(edge(one, -1.0, len(self.contrasts)) for one in row) for row in self.contrasts)
        high = min(max(edge(one, 1.0, len(columns)) for one in column) for column in columns)
        return min(low, self.value), max(high, self.value)
