"""All systems at one level, as a table of logarithms: what repetitions have in common, and what is left.

The model of one workload at one level is x[system, repetition] = system + repetition + residual, where x is the
logarithm of throughput. A repetition is the outermost unit of a study: what changes between repetitions (the hour,
neighbours, the machine's state) meets all systems alike. The residual holds the start of the server and everything
inside a run. It is estimated per level over the systems that were measured alike, and never over levels: repetitions at
one connection and at 64 differ by unlike amounts.

* Two systems differ by the mean of their differences within repetitions. Its variance is (v1 + v2) / R, where v is a
  system's own residual variance, moderated by that of all (`moderation`), with Satterthwaite's (1946) degrees of
  freedom, and at most the (S - 1)(R - 1) of the table, for S systems and R repetitions.
* A system's own mean has v / R, where v is the variance of its repetitions, moderated by the mean of all systems' own
  variances. That mean is MS_repetition / S + MSE (S - 1) / S, with Satterthwaite's degrees of freedom, drawn a little
  towards R - 1.
* Two levels of a system differ by the mean of its differences within repetitions, which are within one start of its
  server. The variance is found like that of a mean, from the table of these differences.

A system's own residual variance is that of its differences to the mean of all systems, times S / (S - 1). Where this is
larger than the mean of all, it is drawn away from that until it is without bias (Grubbs 1948), but not where it is
smaller, where the result could be negative.

Where trials are missing, the additive model is fitted by least squares; systems are compared over the repetitions that
both have. Repetitions that are no blocks (imports) are taken as independent of each other: one-way layout.

Assumption: residuals are independent of each other; systems may vary unlike. For two systems the comparison is the
paired t test. Sources: Box, Hunter and Hunter 2005, chapter 4 (randomised blocks); Kalibera and Jones 2013 (the
outermost level decides); Satterthwaite 1946; Grubbs 1948; Smyth 2004.

Deliberately not here: which cells share a table (`throughput`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.moderation import moderated
from plimsoll.analyse.within_run import MeanVariance

Logs = NDArray[np.float64]

_CAUTION = 0.25
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
            system: moderated(self._own_residual(float(own), int(count), pool), pool)
            for system, own, count in zip(self.systems, squares, degrees, strict=True)
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
        own = [MeanVariance(float(one.var(ddof=1)), one.size - 1) if one.size > 1 else None for one in known]
        return {system: moderated(one, pool) for system, one in zip(self.systems, own, strict=True)}

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
    degrees = variance**2 / sum(part**2 / own for part, own in parts)
    return MeanVariance(variance, degrees ** (1 - _CAUTION) * (columns - 1) ** _CAUTION)


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
