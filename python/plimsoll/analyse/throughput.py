"""How sure the mean throughput of a cell is: repetitions outside, autocorrelated seconds inside.

Assumptions: the logarithms of repetitions are about normal. The spread is that of a cell's own repetitions, moderated
by that of the systems that were measured at its level in one setting (`level_table`, `moderation`, `setting`). A cell
stands on its own repetitions alone where one of them lags far behind the others (`repetitions`), or where it is noisier
than the other systems together (F test, 1 % shared by all of them): it would widen the intervals of all others. Figures
that are equal to the last digit were rounded or copied: they show no spread, which is not the same as a spread of zero.

Sources: two-level variance of benchmark results, the outermost level decides (Kalibera and Jones 2013); F test as in
any textbook (Box, Hunter and Hunter 2005). Logarithms, because spread grows with throughput and because a ratio of two
systems is then a difference.

Deliberately not here: the spread within one run (`within_run`), and comparisons (`ratios`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.analyse.cell_figure import cell_figure
from plimsoll.analyse.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.level_table import LevelTable, level_table
from plimsoll.analyse.log_ratio import LARGEST_LOG, NO_SPREAD
from plimsoll.analyse.within_run import MeanVariance

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
        known = [one for one in self.within if one is not None]
        if len(known) < len(self.within):
            return None
        variance = sum(one.variance for one in known) / len(known) ** 2
        return MeanVariance(variance, sum(one.degrees for one in known))


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
    total = sum(variance * own for variance, own in zip(variances, degrees, strict=True))
    return [
        _is_noisy(variance, own, total - own * variance, all_degrees - own, len(cells))
        for variance, own in zip(variances, degrees, strict=True)
    ]


def _is_noisy(variance: float, degrees: int, rest: float, rest_degrees: int, cell_count: int) -> bool:
    from scipy.special import fdtrc

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
    own = "spread of its own repetitions, moderated by that of" if cell.degrees > 0 else "spread of repetitions of"
    systems = f"{repeated_count} system{'s' if repeated_count > 1 else ''} at the same level that were measured alike"
    return Spread(variance, SpreadKind.POOLED, f"t on logarithms, {own} {systems} ({degrees})")


def _inside(cell: Repeated) -> Spread | None:
    if (variance := cell.inside) is None:
        return None
    count = len(cell.within)
    run = "one run" if count == 1 else f"{count} runs"
    method = f"within {run}, autocorrelation respected ({variance.degrees:.0f} degrees of freedom): {WITHIN_RUN_WORDS}"
    return Spread(variance, SpreadKind.WITHIN_RUN, method)
