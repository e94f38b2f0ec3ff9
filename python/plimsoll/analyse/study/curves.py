"""One system under one workload over rising levels: scale factors, the peak, and the pool size it implies.

At rates the peak is the last rate that was sustained before the first that was not; nothing is interpolated.

The peak of a curve: the level with the highest figure, and how sure it is that the figure is that of the maximum. A
level is *near the peak* when the 95 % confidence interval of its ratio to the highest includes 1.

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

How many connections a pool should keep open: the fewest that are shown to lose no more than 5 % of throughput. A level
is *shown to be enough* when, against every other level, the lower limit of the ratio of their throughputs is at least
0.95: an intersection-union test of non-inferiority, in which each comparison has a one-sided alpha of 0.05 and so has
all of it (Berger and Hsu 1996). The smallest such level is advised. Noise makes limits lower, so noisy trials lead to
more connections or to no advice, and never to fewer. Where no level is shown to be enough, the advice lies between the
smallest level that may be enough (no upper limit is below 0.95) and the largest one.

Repetitions must say how runs differ. Where they do not, since a level was measured once, nothing is shown to be
enough; which levels may be follows from an assumed spread of 10 % between runs. Of published figures without a spread
the level of the highest is advised, which they indicate and do not show.

The practice of sizing the pool by the fewest connections that sustain what the peak sustains is that of HP's guide for
ProLiant blades (2008).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, takewhile

from plimsoll.analyse.answers.size_model import Fit
from plimsoll.analyse.study.cell_model import Bounds, Cell, Estimate, SpreadKind
from plimsoll.analyse.study.cells import MeasuredCell, describe
from plimsoll.analyse.study.comparison import ALPHA, LogRatio
from plimsoll.analyse.study.curve_model import Curve, Peak, PoolAdvice, PoolReason
from plimsoll.analyse.study.points import judge_objective, point_of
from plimsoll.analyse.study.ratios import log_ratio, ratio_of
from plimsoll.analyse.study.throughput import MeanThroughput
from plimsoll.analyse.trial.processors import servers_host, shares_processors
from plimsoll.stats.variance import quantile_t


def build_curves(
    cells: Sequence[MeasuredCell],
    workloads: Iterable[str],
    systems: Sequence[str],
    objective_ms_p99: float | None = None,
) -> tuple[Curve, ...]:
    """Builds all curves, by workload and by system; pools are only as large as levels that keep the objective."""
    groups: dict[tuple[str, str, bool], list[MeasuredCell]] = {}
    for cell in cells:
        groups.setdefault((cell.workload, cell.system, cell.level.kind.is_at_rate), []).append(cell)
    places = ((workload, system, at) for workload in workloads for at in (False, True) for system in systems)
    return tuple(_curve(groups[place], objective_ms_p99) for place in places if place in groups)


def _curve(cells: Sequence[MeasuredCell], objective_ms_p99: float | None) -> Curve:
    rising = sorted(cells, key=lambda cell: cell.level.order)
    first = rising[0]
    if first.level.kind.is_at_rate:
        described = [describe(cell, None) for cell in rising]
        peak, pool = _highest_sustained(described), None
    else:
        lowest = next((cell for cell in rising if cell.throughput.value_tps > 0), first)
        described = [describe(cell, _scale_factor(cell, lowest)) for cell in rising]
        peak = find_peak(rising)
        keeping = _keeping(rising, described, objective_ms_p99)
        pool = pool_advice(keeping, is_limited=keeping[-1] is not rising[-1]) if keeping else None
    return Curve(
        system=first.system,
        workload=first.workload,
        kind=first.level.kind,
        cells=tuple(described),
        peak=peak,
        pool=pool,
    )


def _keeping(
    rising: Sequence[MeasuredCell], described: Sequence[Cell], objective_ms_p99: float | None
) -> list[MeasuredCell]:
    """The levels at which the objective is known to hold; all of them without one."""
    if objective_ms_p99 is None:
        return list(rising)
    fits = (judge_objective(point_of(cell), objective_ms_p99).fit is Fit.FITS for cell in described)
    return list(compress(rising, fits))


def find_peak(rising: Sequence[MeasuredCell]) -> Peak:
    """Finds the level with the highest throughput, and those that are not distinguishable from it."""
    means = [cell.throughput for cell in rising]
    best, near = highest(means), near_peak(means)
    return Peak(
        level=rising[best].level,
        throughput_tps=peak_throughput([means[index] for index in near]),
        is_inside_range=best != len(rising) - 1,
        tied_levels=tuple(rising[index].level for index in near),
    )


def _highest_sustained(rising: Sequence[Cell]) -> Peak | None:
    sustained = list(takewhile(lambda cell: cell.rate is not None and cell.rate.is_sustained, rising))
    if not sustained:
        return None
    best = sustained[-1]
    return Peak(
        level=best.level,
        throughput_tps=best.throughput_tps,
        is_inside_range=best is not rising[-1],
        tied_levels=(best.level,),
    )


def _scale_factor(cell: MeasuredCell, lowest: MeasuredCell) -> Estimate:
    if cell is lowest:
        return Estimate(value=1.0, trial_count=cell.throughput.trial_count)
    # none where nothing completed
    return ratio_of(cell.throughput, lowest.throughput) or Estimate(value=0.0, trial_count=cell.throughput.trial_count)


LevelKey = tuple[bool, float]


def highest(means: Sequence[MeanThroughput]) -> int:
    """Which has the highest throughput; the first of equal ones."""
    return max(range(len(means)), key=lambda index: (means[index].value_tps, -index))


def near_peak(rising: Sequence[MeanThroughput]) -> tuple[int, ...]:
    """Which levels of a curve are not distinguishable from the highest, itself included."""
    best = highest(rising)
    return tuple(index for index, mean in enumerate(rising) if index == best or _is_near(mean, rising[best]))


def _is_near(mean_throughput: MeanThroughput, best: MeanThroughput) -> bool:
    ratio = ratio_of(mean_throughput, best)
    return ratio is not None and ratio.bounds is not None and ratio.bounds.low <= 1.0 <= ratio.bounds.high


def may_be_peak(rising: Sequence[MeanThroughput]) -> tuple[int, ...]:
    """Which levels may be the true peak: all but those that repetitions show to have less than the highest.

    Any level may be the one that came out highest by chance, so each comparison has alpha over their number
    (Bonferroni): the true peak is among these levels in at least 95 % of studies.
    """
    best = rising[highest(rising)]
    confidence = 1 - ALPHA / max(len(rising) - 1, 1)
    return tuple(index for index, mean in enumerate(rising) if not _has_less(mean, best, confidence))


def _has_less(mean_throughput: MeanThroughput, best: MeanThroughput, confidence: float) -> bool:
    ratio = None if mean_throughput is best else log_ratio(mean_throughput, best)
    return ratio is not None and ratio.is_testable and ratio.log_limits(confidence)[1] < 0.0


def peak_throughput(near: Sequence[MeanThroughput]) -> Estimate:
    """The throughput at the peak, from the levels near it."""
    best = near[highest(near)]
    if len(near) == 1:
        return best.estimate()
    bounds = _of_maximum(near, best.value_tps)
    return Estimate(value=best.value_tps, bounds=bounds, trial_count=best.trial_count)


def _of_maximum(near: Sequence[MeanThroughput], value_tps: float) -> Bounds | None:
    known = [(mean.value_tps, mean.spread.of_mean) for mean in near if mean.spread is not None]
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
    near = [_near_levels(means) for means in (base, system)]
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
    rows = [[log_ratio(system[system_level], base[base_level]) for base_level in near[0]] for system_level in near[1]]
    whole = tuple(tuple(ratio for ratio in row if ratio is not None) for row in rows)
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
        return len(self.contrasts) * min(max(ratio.chance_at_most(log) for ratio in row) for row in self.contrasts)

    def _below(self, log: float) -> float:
        """P value of "the ratio is at least exp(log)"."""
        columns = self._columns
        return len(columns) * min(max(ratio.chance_at_least(log) for ratio in column) for column in columns)

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

        def edge(ratio: LogRatio, sign: float, count: int) -> float:
            width = quantile_t(1 - alpha / count, ratio.variance.degrees) * math.sqrt(ratio.variance.variance)
            return ratio.value + sign * width

        low = max(min(edge(ratio, -1.0, len(self.contrasts)) for ratio in row) for row in self.contrasts)
        high = min(max(edge(ratio, 1.0, len(columns)) for ratio in column) for column in columns)
        return min(low, self.value), max(high, self.value)


ENOUGH_RATIO = 0.95
"""A pool loses at most 5 % of the best throughput."""

ASSUMED_SPREAD = 0.10
"""Standard deviation of the logarithm of one run, where nothing says how runs differ: that of a noisy machine."""


def pool_advice(rising: Sequence[MeasuredCell], *, is_limited: bool = False) -> PoolAdvice:
    """The advice for one curve in a closed loop.

    Args:
        rising: Its cells by rising level, those that keep the study's objective.
        is_limited: Higher levels were left out, since they do not keep it.
    """
    means = [cell.throughput for cell in rising]
    best = highest(means)
    limits = [_limits(means, index) for index in range(len(means))]
    enough = smallest_enough(means)
    possible = [index for index, (_, high) in enumerate(limits) if high >= ENOUGH_RATIO] or [best]
    chosen = possible[-1] if enough is None else enough
    edges = (possible[0], possible[-1])
    reason = _reason(rising, best, chosen, is_limited, is_resolved=_is_resolved(means, enough, edges))
    if reason is PoolReason.SINGLE_FIGURES:
        chosen = best
    connections = rising[chosen].level.connections
    cores = servers_host(rising[0].trials[0].environment).cpu_cores
    is_open = reason is PoolReason.UNRESOLVED
    return PoolAdvice(
        connections=connections,
        per_core=connections / cores if cores else None,
        reason=reason,
        between=(rising[edges[0]].level.connections, rising[edges[1]].level.connections) if is_open else None,
        client_shared_processors=any(shares_processors(trial.environment) for cell in rising for trial in cell.trials),
        is_published=all(trial.is_published for cell in rising for trial in cell.trials),
    )


def _is_resolved(means: Sequence[MeanThroughput], enough: int | None, edges: tuple[int, int]) -> bool:
    is_spread_known = all(mean.spread is not None and mean.spread.seen_between_runs for mean in means)
    return enough is not None or (edges[0] == edges[1] and is_spread_known)


def smallest_enough(means: Sequence[MeanThroughput]) -> int | None:
    """The first level that is shown to be enough; None where none is."""
    indexes = range(len(means))
    return next((index for index in indexes if _limits(means, index)[0] >= ENOUGH_RATIO), None)


def _limits(means: Sequence[MeanThroughput], index: int) -> tuple[float, float]:
    """The lowest lower and the lowest upper one-sided 95 % limit of the ratios of one level to all others."""
    pairs = [_one_sided(means[index], other) for at, other in enumerate(means) if at != index]
    return min((low for low, _ in pairs), default=1.0), min((high for _, high in pairs), default=1.0)


def _one_sided(mean: MeanThroughput, other: MeanThroughput) -> tuple[float, float]:
    """Of the ratio of two levels."""
    from plimsoll.stats.special import ndtri

    if mean.value_tps <= 0 or other.value_tps <= 0:
        ratio = 0.0 if mean.value_tps < other.value_tps else math.inf
        return ratio, ratio
    level_ratio = log_ratio(mean, other)
    if level_ratio is None or level_ratio.basis is SpreadKind.WITHIN_RUN:
        width = float(ndtri(1 - ALPHA)) * ASSUMED_SPREAD * math.sqrt(2)
        return 0.0, mean.value_tps / other.value_tps * math.exp(width)
    low, high = level_ratio.log_limits(1 - 2 * ALPHA)
    return math.exp(max(low, -100.0)), math.exp(min(high, 100.0))


def _reason(
    rising: Sequence[MeasuredCell], best: int, chosen: int, is_limited: bool, *, is_resolved: bool
) -> PoolReason:
    level, last = rising[chosen].level, rising[-1].level
    reasons = (
        (rising[best].throughput.value_tps <= 0, PoolReason.UNKNOWN),
        (len(rising) == 1 and not is_limited, PoolReason.ONLY_LEVEL),
        (_are_single_figures(rising), PoolReason.SINGLE_FIGURES),
        (not is_resolved, PoolReason.UNRESOLVED),
        (level == last and is_limited, PoolReason.OBJECTIVE),
        (level == last, PoolReason.STILL_RISING),
        (chosen == 0 and level.connections > 1, PoolReason.LOWEST_LEVEL),
        (chosen != best, PoolReason.NO_GAIN),
    )
    return next((reason for applies, reason in reasons if applies), PoolReason.PEAK)


def _are_single_figures(rising: Sequence[MeasuredCell]) -> bool:
    """Whether the levels are figures of somebody else, of which some say nothing of how they vary."""
    is_published = all(trial.is_published for cell in rising for trial in cell.trials)
    return is_published and any(cell.throughput.spread is None for cell in rising)
