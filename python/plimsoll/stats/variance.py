"""Variance of a mean: of one autocorrelated series, of a few repetitions, and of a table of systems and repetitions.

How sure the mean of one run is: the variance of the mean of a series whose neighbours resemble each other.
Assumptions: the run is stationary within its window, and intervals are of equal length. Seconds of a database's
throughput are autocorrelated (checkpoints, purging, group commit), so the textbook error of a mean is too small.

Sources: the first-order correction of the effective sample size (Bayley and Hammersley 1946; Zwiers and von Storch
1995 for its t test), with the small-sample bias of the lag-one correlation removed (Marriott and Pope 1954; Kendall
1954); overlapping batch means with batches of the square root of the series' length (Meketon and Schmeiser 1984). The
first is right for short memory, the second makes no model; the wider of the two is used.

A variance of few repetitions, drawn towards that of all systems that were measured alike. Three repetitions tell
little of how a system varies, so others are asked as well. But one system may be noisier than the others. A variance
that is simply pooled is then too small for it, and names a winner of equal systems in up to 15 % of studies. A
*moderated* variance is between the two (limma: Smyth 2004, section 3):

    s² = (d0 * pool + d * own) / (d0 + d),   with d0 + d degrees of freedom,

where `own` has d degrees of freedom. Smyth estimates d0 from thousands of genes; a handful of systems cannot tell it.
Here d0 is a quarter of the degrees of freedom that the pool has beyond d, and 8 at most. Where `own` exceeds the pool,
it is smaller by their ratio: a system that looks noisier is judged more by itself. Two systems that are compared
within repetitions have no pool beyond their own differences, and keep the paired t test.

The quarter and the 8 were chosen by simulation of 3 to 8 systems and 2 to 10 repetitions, where one system is as noisy
as the others or 2, 3 and 5 times noisier (`tests/truth/test_unlike_noise.py`; figures in `docs/evidence.md`). Equal
systems then have a winner in at most 5.3 % of studies; with a half, in up to 7 %.

Assumption: a system varies alike from repetition to repetition.

All systems at one level, as a table of logarithms: what repetitions have in common, and what is left. The model of one
workload at one level is x[system, repetition] = system + repetition + residual, where x is the logarithm of
throughput. A repetition is the outermost unit of a study: what changes between repetitions (the hour, neighbours, the
machine's state) meets all systems alike. The residual holds the start of the server and everything inside a run. It is
estimated per level over the systems that were measured alike, and never over levels: repetitions at one connection and
at 64 differ by unlike amounts.

* Two systems differ by the mean of their differences within repetitions. Its variance is (v1 + v2) / R, where v is a
  system's own residual variance, moderated by that of all, with Satterthwaite's (1946) degrees of
  freedom, and at most the (S - 1)(R - 1) of the table, for S systems and R repetitions.
* A system's own mean has v / R, where v is the variance of its repetitions, moderated by the mean of all systems' own
  variances. That mean is MS_repetition / S + MSE (S - 1) / S, with Satterthwaite's degrees of freedom, drawn a little
  towards R - 1.
* Two levels of a system differ by the mean of its differences within repetitions, which are within one start of its
  server. The variance is found like that of a mean, from the table of these differences.

A system's own residual variance is that of its differences to the mean of all systems, times S / (S - 1). Where this
is larger than the mean of all, it is drawn away from that until it is without bias (Grubbs 1948), but not where it is
smaller, where the result could be negative.

Where trials are missing, the additive model is fitted by least squares; systems are compared over the repetitions that
both have. Repetitions that are no blocks (imports) are taken as independent of each other: one-way layout.

Assumption: residuals are independent of each other; systems may vary unlike. For two systems the comparison is the
paired t test. Sources: Box, Hunter and Hunter 2005, chapter 4 (randomised blocks); Kalibera and Jones 2013 (the
outermost level decides); Satterthwaite 1946; Grubbs 1948; Smyth 2004.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]

SHORTEST_SERIES = 5
"""With fewer intervals no autocorrelation can be seen, and no variance is given."""

_LARGEST_CORRELATION = 0.98


@dataclass(frozen=True, slots=True)
class MeanVariance:
    """The estimated variance of a mean.

    Attributes:
        variance: In the square of the mean's unit, or without unit when relative.
        degrees: Degrees of freedom of that estimate, at least 1.
    """

    variance: float
    degrees: float

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the two-sided bounds around the mean (Student's t)."""
        return quantile_t(0.5 + confidence / 2, self.degrees) * math.sqrt(self.variance)


@lru_cache(maxsize=1024)
def quantile_t(probability: float, degrees: float) -> float:
    """Quantile of Student's t distribution."""
    from plimsoll.stats.special import stdtrit

    return float(stdtrit(degrees, probability))


def variance_of_mean(series: Series) -> MeanVariance | None:
    """The variance of a series' mean, autocorrelation respected.

    Args:
        series: One value for each interval, in order.

    Returns:
        None when the series has fewer than `SHORTEST_SERIES` values.
    """
    if series.size < SHORTEST_SERIES:
        return None
    if np.ptp(series) == 0.0:
        return MeanVariance(0.0, float(series.size - 1))
    candidates = (_short_memory(series), _overlapping_batch_means(series))
    return max(candidates, key=MeanVariance.half_width)


def lag_one_correlation(series: Series) -> float:
    """Correlation of neighbours, 0..0.98, the bias of short series removed; a negative one counts as none."""
    deviation = series - series.mean()
    raw = float(deviation[1:] @ deviation[:-1] / (deviation @ deviation))
    return min(max(raw + (1 + 3 * raw) / series.size, 0.0), _LARGEST_CORRELATION)


def _short_memory(series: Series) -> MeanVariance:
    correlation = lag_one_correlation(series)
    effective_size = max(series.size * (1 - correlation) / (1 + correlation), 2.0)
    return MeanVariance(float(series.var()) / (effective_size - 1), effective_size - 1)


def _overlapping_batch_means(series: Series) -> MeanVariance:
    size, batch = series.size, math.isqrt(series.size)
    sums = np.concatenate(([0.0], np.cumsum(series)))
    means = (sums[batch:] - sums[:-batch]) / batch
    spread = float(((means - series.mean()) ** 2).sum())
    variance = batch * spread / ((size - batch + 1) * (size - batch))
    return MeanVariance(variance, max(1.5 * (size / batch - 1), 1.0))


_SHARE_OF_POOL = 1 / 4
_MOST_PRIOR_DEGREES = 8.0

_CAUTION = 0.2
"""How far the degrees of freedom of a moderated variance are drawn to R - 1, on a scale of logarithms, to find what is
detectable.

They are smaller where the variance is larger, so they promise too much: with 0, effects of the size that is called
detectable were found in 71 to 81 % of studies of 3 to 10 repetitions, with 0.2 in 78 to 84 %.
"""


def moderated(mean_variance: MeanVariance | None, pool: MeanVariance) -> MeanVariance:
    """The variance of one of several systems.

    Args:
        mean_variance: As its own repetitions say; None where there is one, so that nothing but the pool is known.
        pool: That of all systems together, its own repetitions included.
    """
    if mean_variance is None:
        return pool
    prior = min(max(pool.degrees - mean_variance.degrees, 0.0) * _SHARE_OF_POOL, _MOST_PRIOR_DEGREES)
    if mean_variance.variance > pool.variance:
        prior *= pool.variance / mean_variance.variance
    degrees = prior + mean_variance.degrees
    return MeanVariance((prior * pool.variance + mean_variance.degrees * mean_variance.variance) / degrees, degrees)


def moderated_power_degrees(degrees: float, repetitions: int) -> float:
    """The degrees of freedom by which the minimum detectable effect is found, see `_CAUTION`.

    Args:
        degrees: Of a moderated variance.
        repetitions: On how many it rests.
    """
    return float(degrees ** (1 - _CAUTION) * min(degrees, repetitions - 1) ** _CAUTION)


Logs = NDArray[np.float64]

_TABLE_CAUTION = 0.25
"""How far Satterthwaite's degrees of freedom are drawn towards those of the repetitions, on a scale of logarithms.

They follow from the same few figures as the variance: where repetitions are by chance alike, both come out too good.
With 0.25 an interval by this variance alone covers 93.5 to 97.1 % for 2 to 8 systems, 3 or 5 repetitions, and effects
of repetitions of 0 to 10 times the residual; with 0 it covers 92.5 %, with 1 up to 99.9 %.
"""


@dataclass(frozen=True, eq=False)
class LevelTable:
    """The repetitions of all systems that were measured alike at one level.

    Attributes:
        systems: The rows.
        repetitions: The columns.
        logs: Logarithms of throughput, shape (systems, repetitions); NaN where a trial is missing.
        in_blocks: Whether a column was measured as one repetition, so that its rows have something in common.
    """

    systems: tuple[str, ...]
    repetitions: tuple[Hashable, ...]
    logs: Logs
    in_blocks: bool

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many repetitions each system has."""
        counts: NDArray[np.int64] = np.isfinite(self.logs).sum(axis=1)
        return counts

    @cached_property
    def residual(self) -> MeanVariance | None:
        """Variance of one residual, pooled: what differs between systems within a repetition. None without blocks."""
        if not self.in_blocks:
            return None
        left, degrees = self._residuals
        return MeanVariance(float(np.nansum(left**2)) / degrees, degrees) if degrees > 0 else None

    @cached_property
    def residual_of(self) -> Mapping[str, MeanVariance]:
        """Variance of one residual of each system, moderated; empty where the pooled one is not known."""
        if (pool := self.residual) is None:
            return {}
        shared = np.isfinite(self.logs).sum(axis=0) > 1
        left = self._residuals[0][:, shared]
        degrees, squares = np.isfinite(left).sum(axis=1) - 1, np.nansum(left**2, axis=1)
        return {
            system: moderated(self._own_residual(float(square), int(count), pool), pool)
            for system, square, count in zip(self.systems, squares, degrees, strict=True)
        }

    def _own_residual(self, squares: float, degrees: int, pool: MeanVariance) -> MeanVariance | None:
        if degrees < 1:
            return None
        rows = len(self.systems)
        variance = squares / degrees * rows / (rows - 1)
        if rows > 2:
            variance += max(variance - pool.variance, 0.0) / (rows - 2)
        return MeanVariance(variance, degrees)

    @cached_property
    def _residuals(self) -> tuple[Logs, int]:
        """What is left of the logarithms, in their shape, with its degrees of freedom."""
        present = np.isfinite(self.logs)
        rows, columns = self.logs.shape
        if not present.all():
            return _additive_fit(self.logs, present)
        left: Logs = self.logs - self.logs.mean(axis=1, keepdims=True) - self.logs.mean(axis=0) + self.logs.mean()
        return left, (rows - 1) * (columns - 1)

    @cached_property
    def trial_of(self) -> Mapping[str, MeanVariance]:
        """Variance of one trial of each system around its mean over repetitions, moderated; empty without any."""
        if (pool := self.of_one_trial) is None:
            return {}
        known = [row[np.isfinite(row)] for row in self.logs]
        variances = [MeanVariance(float(row.var(ddof=1)), row.size - 1) if row.size > 1 else None for row in known]
        return {system: moderated(variance, pool) for system, variance in zip(self.systems, variances, strict=True)}

    @cached_property
    def of_one_trial(self) -> MeanVariance | None:
        """The same of all systems, pooled: the mean of their own variances."""
        whole = self.logs[:, np.isfinite(self.logs).all(axis=0)]
        rows, columns = whole.shape
        if self.in_blocks and rows > 1 and columns > 1:
            return _of_blocks(whole, self.residual)
        return self._one_way()

    def _one_way(self) -> MeanVariance | None:
        degrees = int((self.counts - 1).clip(min=0).sum())
        if degrees == 0:
            return None
        repeated = self.logs[self.counts > 1]
        left = repeated - np.nanmean(repeated, axis=1, keepdims=True)
        return MeanVariance(float(np.nansum(left**2)) / degrees, degrees)

    def row(self, system: str) -> Logs:
        """The logarithms of one system, by repetition."""
        row: Logs = self.logs[self.systems.index(system)]
        return row

    def common(self, other: LevelTable) -> tuple[list[int], list[int]]:
        """Columns of this table and of another one that are the same repetitions."""
        at = {name: index for index, name in enumerate(other.repetitions)}
        columns = [index for index, name in enumerate(self.repetitions) if name in at]
        return columns, [at[self.repetitions[index]] for index in columns]

    def less(self, other: LevelTable) -> LevelTable:
        """The table of the differences to another level, for systems and repetitions that both have."""
        if other not in self._differences:
            columns, others = self.common(other)
            systems = tuple(name for name in self.systems if name in other.systems)
            rows = [self.row(name)[columns] - other.row(name)[others] for name in systems]
            repetitions = tuple(self.repetitions[index] for index in columns)
            self._differences[other] = LevelTable(systems, repetitions, np.array(rows), True)
        return self._differences[other]

    @cached_property
    def _differences(self) -> dict[LevelTable, LevelTable]:
        """Those that were asked for: each pair of systems asks for the same ones."""
        return {}


def level_table(cells: Sequence[tuple[str, Sequence[Hashable], Sequence[float]]], *, in_blocks: bool) -> LevelTable:
    """Puts cells of one level into a table.

    Args:
        cells: System, names of its repetitions, and throughput of each, above 0.
        in_blocks: Whether repetitions of one name were measured together.
    """
    repetitions = tuple(dict.fromkeys(name for _, names, _ in cells for name in names))
    column = {name: index for index, name in enumerate(repetitions)}
    logs = np.full((len(cells), len(repetitions)), np.nan)
    for row, (_, names, throughputs) in enumerate(cells):
        logs[row, [column[name] for name in names]] = np.log(throughputs)
    return LevelTable(tuple(system for system, _, _ in cells), repetitions, logs, in_blocks)


def _of_blocks(whole: Logs, residual: MeanVariance | None) -> MeanVariance:
    """From the repetitions that all systems have: the mean of the systems' own variances."""
    rows, columns = whole.shape
    common = rows * float(whole.mean(axis=0).var(ddof=1))
    assert residual is not None, "two whole columns of two rows leave degrees of freedom"
    parts = ((common / rows, columns - 1), (residual.variance * (rows - 1) / rows, residual.degrees))
    variance = sum(part for part, _ in parts)
    if variance == 0.0:
        return MeanVariance(0.0, columns - 1)
    degrees = variance**2 / sum(part**2 / part_degrees for part, part_degrees in parts)
    return MeanVariance(variance, degrees ** (1 - _TABLE_CAUTION) * (columns - 1) ** _TABLE_CAUTION)


def _additive_fit(logs: Logs, present: NDArray[np.bool_]) -> tuple[Logs, int]:
    """Residuals and their degrees of freedom where cells of the table are missing."""
    rows, columns = logs.shape
    row, column = np.nonzero(present)
    design = np.zeros((row.size, rows + columns))
    design[np.arange(row.size), row] = 1.0
    design[np.arange(row.size), rows + column] = 1.0
    fitted, _, rank, _ = np.linalg.lstsq(design, logs[present], rcond=None)
    left = np.full(logs.shape, np.nan)
    left[present] = logs[present] - design @ fitted
    return left, int(row.size - rank)
