"""How sure the mean throughput of a cell is: repetitions outside, autocorrelated seconds inside.

Assumptions: repetitions are independent and the logarithm of their throughput is about normal. Where variance is
pooled, the relative spread of repetitions is the same in all cells of a workload that were measured in one setting
(`setting`); a cell that is noisier than the others (F test, 1 % shared by all cells of the pool) is kept out of the
pool and stands on its own repetitions. Figures that are equal to the last digit were rounded or copied: they show no
spread, which is not the same as a spread of zero.

Sources: two-level variance of benchmark results, the outermost level decides (Kalibera and Jones 2013); Student's t;
pooled variance and F test as in any textbook (Box, Hunter and Hunter 2005, chapters 3 and 4). Logarithms, because
spread grows with throughput and because a ratio of two systems is then a difference.

Deliberately not here: the spread within one run (`within_run`), and comparisons (`ratios`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtrc

from plimsoll.analyse.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.within_run import MeanVariance

CONFIDENCE = 0.95

REPETITIONS_NEEDED = 3
"""With fewer repetitions of one cell its own spread is used only where nothing else is known: it is very wide."""

WITHIN_RUN_WORDS = "repetitions may differ more"
"""In the method of every bounds that do not know how repetitions differ."""

_POOLED_DEGREES_NEEDED = 2
_NOISY_PROBABILITY = 0.01


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a cell's mean may lie from the truth, on the scale of natural logarithms.

    Attributes:
        of_mean: Variance of the logarithm of the mean.
        kind: What it rests on. `WITHIN_RUN` says nothing about how repetitions differ.
        pool: Which pool, where it is pooled: spreads of one pool are one estimate.
        method: The same in words, for `Bounds.method`.
    """

    of_mean: MeanVariance
    kind: SpreadKind
    method: str
    pool: Hashable = None

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
        setting: Cells with equal settings vary alike; None for a cell that varies like no other.
    """

    throughputs_tps: tuple[float, ...]
    within: tuple[MeanVariance | None, ...]
    setting: Hashable = ()

    @property
    def mean_tps(self) -> float:
        """Mean over repetitions, transactions per second."""
        return sum(self.throughputs_tps) / len(self.throughputs_tps)

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the spread of its repetitions."""
        return len(self.throughputs_tps) - 1 if min(self.throughputs_tps) > 0 else 0

    @property
    def log_variance(self) -> float:
        """Variance of the logarithms of its repetitions."""
        return float(np.log(self.throughputs_tps).var(ddof=1))


@dataclass(frozen=True, slots=True)
class MeanThroughput:
    """A cell's mean, and how sure it is.

    Attributes:
        spread: None when nothing can be said.
    """

    value_tps: float
    trial_count: int
    spread: Spread | None

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
    width = math.exp(variance.half_width(CONFIDENCE))
    return Bounds(
        low=value / width,
        high=value * width,
        confidence=CONFIDENCE,
        basis=basis,
        degrees=variance.degrees,
        method=method,
    )


def mean_throughputs(cells: Sequence[Repeated]) -> list[MeanThroughput]:
    """The means of all cells of one workload, each as sure as the cells together allow.

    Args:
        cells: Each with at least one trial.

    Returns:
        One mean for each cell, in the same order.
    """
    alike: dict[Hashable, list[int]] = {}
    for index, cell in enumerate(cells):
        alike.setdefault((index,) if cell.setting is None else cell.setting, []).append(index)
    means: dict[int, MeanThroughput] = {}
    for indexes in alike.values():
        means |= zip(indexes, _means_alike([cells[index] for index in indexes]), strict=True)
    return [means[index] for index in range(len(cells))]


def _means_alike(cells: Sequence[Repeated]) -> list[MeanThroughput]:
    """The means of cells that were measured in one setting."""
    noisy = _noisy(cells)
    pool = _pool([cell for cell, is_noisy in zip(cells, noisy, strict=True) if not is_noisy])
    return [
        MeanThroughput(cell.mean_tps, len(cell.throughputs_tps), _spread(cell, None if is_noisy else pool))
        for cell, is_noisy in zip(cells, noisy, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Pool:
    setting: Hashable
    variance: float
    degrees: int
    cell_count: int


def _pool(cells: Sequence[Repeated]) -> _Pool:
    """Of cells of one setting."""
    repeated = [cell for cell in cells if cell.degrees > 0]
    degrees = sum(cell.degrees for cell in repeated)
    total = sum(cell.degrees * cell.log_variance for cell in repeated)
    setting = cells[0].setting if cells else None
    return _Pool(setting, total / degrees if degrees else 0.0, degrees, len(repeated))


def _noisy(cells: Sequence[Repeated]) -> list[bool]:
    return [_is_noisy(cell, [other for other in cells if other is not cell], len(cells)) for cell in cells]


def _is_noisy(cell: Repeated, others: Sequence[Repeated], cell_count: int) -> bool:
    if cell.degrees + 1 < REPETITIONS_NEEDED:
        return False
    rest = _pool(others)
    if rest.degrees <= cell.degrees or rest.variance == 0.0:
        return False
    chance = float(fdtrc(cell.degrees, rest.degrees, cell.log_variance / rest.variance))
    return chance < _NOISY_PROBABILITY / cell_count


def _spread(cell: Repeated, pool: _Pool | None) -> Spread | None:
    if min(cell.throughputs_tps) <= 0:
        return None
    between = _between(cell, pool)
    inside = _inside(cell)
    if between is None:
        return _with_width(inside)
    if inside is None or inside.of_mean.half_width() <= between.of_mean.half_width():
        return _with_width(between)
    return replace(between, of_mean=inside.of_mean, method=f"{between.method}; widened to the spread within the runs")


def _with_width(spread: Spread | None) -> Spread | None:
    """The spread, unless nothing differed: bounds without width would make any other figure another one for sure."""
    return spread if spread is not None and spread.of_mean.variance > 0.0 else None


def _between(cell: Repeated, pool: _Pool | None) -> Spread | None:
    count = len(cell.throughputs_tps)
    enough = count >= REPETITIONS_NEEDED
    if pool is not None and pool.degrees >= _POOLED_DEGREES_NEEDED and pool.degrees > (cell.degrees if enough else 0):
        return Spread(
            MeanVariance(pool.variance / count, pool.degrees),
            SpreadKind.POOLED,
            f"t on logarithms, spread of repetitions pooled over {pool.cell_count} cells of the workload "
            f"that were measured alike ({pool.degrees} degrees of freedom)",
            pool.setting,
        )
    if cell.degrees == 0 or (not enough and cell.log_variance == 0.0):
        return None
    return Spread(
        MeanVariance(cell.log_variance / count, cell.degrees),
        SpreadKind.REPETITIONS,
        f"t on logarithms, {count} repetitions ({cell.degrees} degree{'s' if cell.degrees > 1 else ''} of freedom)",
    )


def _inside(cell: Repeated) -> Spread | None:
    known = [one for one in cell.within if one is not None]
    if len(known) < len(cell.within):
        return None
    variance = sum(one.variance for one in known) / len(known) ** 2
    degrees = sum(one.degrees for one in known)
    run = "one run" if len(known) == 1 else f"{len(known)} runs"
    method = f"within {run}, autocorrelation respected ({degrees:.0f} degrees of freedom): {WITHIN_RUN_WORDS}"
    return Spread(MeanVariance(variance, degrees), SpreadKind.WITHIN_RUN, method)
