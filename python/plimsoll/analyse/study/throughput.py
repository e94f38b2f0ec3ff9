"""How sure the mean throughput of a cell is, and what the next repetition will surely reach.

The geometric mean of repetitions is the one figure that stands beside a ratio.

Assumptions: the logarithms of repetitions are about normal. The spread is that of a cell's own repetitions, moderated
by that of the systems that were measured at its level in one setting (`stats.variance`, `stats.variance`, `cells`). A
cell stands on its own repetitions alone where one of them lags far behind the others (`cells`), or where it is noisier
than the other systems together (F test, 1 % shared by all of them): it would widen the intervals of all others.
Figures that are equal to the last digit were rounded or copied: they show no spread, which is not the same as a spread
of zero.

Sources: two-level variance of benchmark results, the outermost level decides (Kalibera and Jones 2013); F test as in
any textbook (Box, Hunter and Hunter 2005). Logarithms, because spread grows with throughput and because a ratio of two
systems is then a difference.

The one figure of a cell's repetitions where a ratio of two cells stands beside it: their geometric mean. A ratio of
repetitions is a mean of logarithms. The ratio of two arithmetic means can lie on the other side of 1. That of two
geometric means of the same repetitions is the ratio itself, so figures and change never contradict each other.
Arithmetic only where a repetition completed nothing: there is no ratio then.

What the next repetition will surely reach: one-sided prediction limits. A confidence interval is about the mean of all
repetitions; half of the repetitions to come are below the mean. Who sizes a system needs the next run to hold. Of n
repetitions whose logarithms are about normal with variance s2, the next one lies above `mean - t * sqrt(s2 * (1 +
1/n))` with the stated probability; t has the degrees of freedom of s2 (Hahn and Meeker 1991, section 4.7). Where the
best of k levels is looked for, each stands at 1 - (1 - alpha)^(1/k) (Sidak 1967), so that the chance of one wrong
"fits" stays alpha for all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.analyse.study.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.study.comparison import LARGEST_LOG, NO_SPREAD
from plimsoll.stats.variance import LevelTable, MeanVariance, level_table, quantile_t

CONFIDENCE = 0.95

REPETITIONS_NEEDED = 3
"""With fewer repetitions of one cell its own spread is not enough to set it apart, and intervals are very wide."""

WITHIN_RUN_WORDS = "repetitions may differ more"
"""In the method of every bounds that do not know how repetitions differ."""

_NOISY_PROBABILITY = 0.01


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a cell's mean may lie from the truth, on the scale of natural logarithms.

    Attributes:
        of_mean: Variance of the logarithm of the mean.
        kind: What it rests on. `WITHIN_RUN` says nothing about how repetitions differ.
        method: The same in words, for `Bounds.method`.
    """

    of_mean: MeanVariance
    kind: SpreadKind
    method: str

    @property
    def seen_between_runs(self) -> bool:
        """Whether it says how repetitions differ, so that a difference may be decided by it."""
        return self.kind is not SpreadKind.WITHIN_RUN


@dataclass(frozen=True, slots=True)
class Repeated:
    """The trials of one cell.

    Attributes:
        throughputs_tps: One for each repetition.
        within: Relative variance of each trial's mean, in the same order; None where there are no intervals.
        setting: Cells with equal settings were measured alike; None for a cell that is like no other.
        system: Whose.
        level: At which level, as a key.
        repetitions: Which repetitions of the study they are; None where repetitions of two systems have nothing in
            common, as in imports.
        stands_alone: One of its repetitions lags, so it tells nothing about others.
        environment: In which it was measured, where environments are measured in turn.
        blocks: The block of each repetition, from one switch of environments to the next; empty without environments.
    """

    throughputs_tps: tuple[float, ...]
    within: tuple[MeanVariance | None, ...]
    setting: Hashable = ()
    system: str = ""
    level: Hashable = None
    repetitions: tuple[Hashable, ...] | None = None
    stands_alone: bool = False
    environment: str | None = None
    blocks: tuple[int, ...] = ()

    @property
    def mean_tps(self) -> float:
        """Geometric mean over repetitions, transactions per second: ratios of such means never contradict them."""
        mean = cell_figure(self.throughputs_tps)
        assert mean is not None, "a cell has repetitions"
        return mean

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the spread of its repetitions."""
        return len(self.throughputs_tps) - 1 if min(self.throughputs_tps) > 0 else 0

    @property
    def log_variance(self) -> float:
        """Variance of the logarithms of its repetitions; 0 for one."""
        return float(np.log(self.throughputs_tps).var(ddof=1)) if self.degrees else 0.0

    @property
    def inside(self) -> MeanVariance | None:
        """Relative variance of the mean as it follows from the seconds within the runs; None where one is unknown."""
        known = [run for run in self.within if run is not None]
        if len(known) < len(self.within):
            return None
        variance = sum(run.variance for run in known) / len(known) ** 2
        return MeanVariance(variance, sum(run.degrees for run in known))


@dataclass(frozen=True, slots=True)
class MeanThroughput:
    """A cell's mean, and how sure it is.

    Attributes:
        spread: None when nothing can be said.
        cell: What it is the mean of.
        table: The cells that were measured like it at its level, itself included; None where something completed
            nothing.
    """

    value_tps: float
    trial_count: int
    spread: Spread | None
    cell: Repeated
    table: LevelTable | None = None

    def estimate(self) -> Estimate:
        """The mean with its bounds."""
        return Estimate(value=self.value_tps, bounds=self._bounds(), trial_count=self.trial_count)

    def _bounds(self) -> Bounds | None:
        if (spread := self.spread) is None:
            return None
        return log_bounds(self.value_tps, spread.of_mean, spread.method, basis=spread.kind)


def log_bounds(value: float, variance: MeanVariance, method: str, *, basis: SpreadKind | None) -> Bounds:
    """Bounds around a value whose logarithm has the given variance.

    Args:
        value: In their middle, on a scale of logarithms.
        variance: Of its logarithm.
        method: How that was found, in words.
        basis: What it rests on; None where that is mixed.
    """
    width = math.exp(min(variance.half_width(CONFIDENCE), LARGEST_LOG))
    return Bounds(
        low=value / width,
        high=value * width,
        confidence=CONFIDENCE,
        basis=basis,
        degrees=variance.degrees,
        method=method,
    )


def mean_throughputs(cells: Sequence[Repeated]) -> list[MeanThroughput]:
    """The means of all cells of one workload, each as sure as the cells of its level together allow.

    Args:
        cells: Each with at least one trial.

    Returns:
        One mean for each cell, in the same order.
    """
    alike: dict[Hashable, list[int]] = {}
    for index, cell in enumerate(cells):
        is_apart = cell.setting is None or cell.stands_alone or min(cell.throughputs_tps) <= 0
        key = (index,) if is_apart else (cell.level, cell.setting, cell.repetitions is not None)
        alike.setdefault(key, []).append(index)
    means: dict[int, MeanThroughput] = {}
    for indexes in alike.values():
        means |= zip(indexes, _means_alike([cells[index] for index in indexes]), strict=True)
    return [means[index] for index in range(len(cells))]


def _means_alike(cells: Sequence[Repeated]) -> list[MeanThroughput]:
    """The means of cells that were measured at one level in one setting."""
    noisy = _noisy(cells)
    calm = [cell for cell, is_noisy in zip(cells, noisy, strict=True) if not is_noisy]
    table = _table(calm)
    return [_mean(cell, _table([cell]) if is_noisy else table) for cell, is_noisy in zip(cells, noisy, strict=True)]


def _table(cells: Sequence[Repeated]) -> LevelTable | None:
    if not cells or min(min(cell.throughputs_tps) for cell in cells) <= 0:
        return None
    return level_table(
        [
            (cell.system, cell.repetitions or tuple(range(len(cell.throughputs_tps))), cell.throughputs_tps)
            for cell in cells
        ],
        in_blocks=cells[0].repetitions is not None,
    )


def _mean(cell: Repeated, table: LevelTable | None) -> MeanThroughput:
    return MeanThroughput(cell.mean_tps, len(cell.throughputs_tps), _spread(cell, table), cell, table)


def _noisy(cells: Sequence[Repeated]) -> list[bool]:
    """Which cells differ more between repetitions than the others of their level together."""
    variances = [cell.log_variance for cell in cells]
    degrees = [cell.degrees for cell in cells]
    all_degrees = sum(degrees)
    total = sum(variance * degree for variance, degree in zip(variances, degrees, strict=True))
    return [
        _is_noisy(variance, degree, total - degree * variance, all_degrees - degree, len(cells))
        for variance, degree in zip(variances, degrees, strict=True)
    ]


def _is_noisy(variance: float, degrees: int, rest: float, rest_degrees: int, cell_count: int) -> bool:
    from plimsoll.stats.special import fdtrc

    if degrees + 1 < REPETITIONS_NEEDED or rest_degrees <= degrees or rest <= 0.0:
        return False
    chance = float(fdtrc(degrees, rest_degrees, variance / (rest / rest_degrees)))
    return chance < _NOISY_PROBABILITY / cell_count


def _spread(cell: Repeated, table: LevelTable | None) -> Spread | None:
    if table is None:
        return None
    between = _between(cell, table)
    inside = _inside(cell)
    if between is None:
        return _with_width(inside)
    if inside is None or inside.of_mean.half_width() <= between.of_mean.half_width():
        return _with_width(between)
    return replace(between, of_mean=inside.of_mean, method=f"{between.method}; widened to the spread within the runs")


def _with_width(spread: Spread | None) -> Spread | None:
    """The spread, unless nothing differed: bounds without width would make any other figure another one for sure."""
    return spread if spread is not None and spread.of_mean.variance > NO_SPREAD else None


def _between(cell: Repeated, table: LevelTable) -> Spread | None:
    of_one, count = table.trial_of.get(cell.system), len(cell.throughputs_tps)
    if of_one is None or (count < REPETITIONS_NEEDED and of_one.variance <= NO_SPREAD):
        return None
    variance = MeanVariance(of_one.variance / count, of_one.degrees)
    degrees = f"{of_one.degrees:.3g} degree{'' if of_one.degrees == 1 else 's'} of freedom"
    repeated_count = int((table.counts > 1).sum())
    if repeated_count == 1 and cell.degrees > 0:
        return Spread(variance, SpreadKind.REPETITIONS, f"t on logarithms, {count} repetitions ({degrees})")
    spread_text = (
        "spread of its own repetitions, moderated by that of" if cell.degrees > 0 else "spread of repetitions of"
    )
    systems = f"{repeated_count} system{'s' if repeated_count > 1 else ''} at the same level that were measured alike"
    return Spread(variance, SpreadKind.POOLED, f"t on logarithms, {spread_text} {systems} ({degrees})")


def _inside(cell: Repeated) -> Spread | None:
    if (variance := cell.inside) is None:
        return None
    count = len(cell.within)
    run = "one run" if count == 1 else f"{count} runs"
    method = f"within {run}, autocorrelation respected ({variance.degrees:.0f} degrees of freedom): {WITHIN_RUN_WORDS}"
    return Spread(variance, SpreadKind.WITHIN_RUN, method)


def cell_figure(repetitions: Iterable[float]) -> float | None:
    """The mean of a figure over repetitions, in its own unit; None where there is none.

    >>> cell_figure([10.0, 40.0]), cell_figure([0.0, 40.0]), cell_figure([])
    (20.0, 20.0, None)
    """
    values = tuple(repetitions)
    if not values:
        return None
    if len(values) == 1 or min(values) <= 0.0:
        return sum(values) / len(values)
    largest = max(values)  # what it is taken out of neither overflows nor moves equal values
    return largest * math.exp(sum(math.log(value) - math.log(largest) for value in values) / len(values))


ALPHA = 0.05
"""Chance, one-sided, that the next repetition is beyond its limit."""

PREDICTION_REPETITIONS_NEEDED = 2


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
    return None if width is None else math.exp(min(float(np.log(values).mean()) + width, LARGEST_LOG))


def next_share_at_most(shares: Sequence[float], *, levels_count: int = 1) -> float | None:
    """The share that the next repetition will not exceed; None for fewer than two.

    Args:
        shares: One for each repetition, about normal as they are. They may be 0 or below.
        levels_count: The best of so many levels is looked for.
    """
    if len(shares) < PREDICTION_REPETITIONS_NEEDED:
        return None
    return float(np.mean(shares)) + _width(float(np.var(shares, ddof=1)), len(shares), levels_count)


def _log_width(values: Sequence[float], levels_count: int, least_variance: float) -> float | None:
    if len(values) < PREDICTION_REPETITIONS_NEEDED or min(values) <= 0:
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
    if bounds is None or not _is_of_repetitions(bounds) or estimate.trial_count < PREDICTION_REPETITIONS_NEEDED:
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
