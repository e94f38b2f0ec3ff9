"""The systems of a matrix under one workload, as a table of logarithms, and what a contrast of them is.

The model is that of `level_table`: x[system, repetition] = system + repetition + residual. A contrast of systems is a
number for each repetition, in which everything that a repetition has in common cancels. Over several levels the mean of
a trial's logarithms takes the place of one: levels of a system in a repetition share a start of its server, so they are
no repetitions of each other. Two levels differ by the differences within one start.

* Where all cells of a level were measured alike, the variance of a contrast is the residual variance times the sum of
  the squared weights over R repetitions, with (S - 1)(R - 1) degrees of freedom. In a full matrix of factors with two
  values each system has the same weight, so systems that vary unlike each other do no harm.
* Otherwise the contrast has a variance of its own, with R - 1 degrees of freedom (paired t test).

Where trials are missing, systems are fitted by least squares. Sources and assumptions: those of `level_table`.
Deliberately not here: which contrasts there are (`contrasts`), and verdicts (`main_effects`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.comparison import welch
from plimsoll.analyse.contrasts import Weights
from plimsoll.analyse.log_ratio import NO_SPREAD, LogRatio
from plimsoll.analyse.within_run import MeanVariance

_ESTIMABLE = 1e-9
"""How far rounding may take a number away from 0, as a share of the largest one."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The additive model of a table, fitted by least squares; repetitions are eliminated (Box, Hunter and Hunter 2005).

    Attributes:
        means: Of the systems, up to a constant that they have in common.
        covariance: Of these, over the variance of a residual.
        information: Its generalised inverse.
        squares: Sum of the squared residuals.
        degrees: Their degrees of freedom.
    """

    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    information: NDArray[np.float64]
    squares: float
    degrees: int

    def tells(self, weights: Weights) -> bool:
        """Whether a contrast has a meaning: missing trials may leave systems that share no repetition."""
        projected = self.information @ (self.covariance @ weights)
        return bool(np.abs(projected - weights).max() < _ESTIMABLE)


@dataclass(frozen=True, eq=False)
class EffectTable:
    """What was measured of the systems of a matrix, one number for each repetition.

    Attributes:
        logs: Logarithms, shape (systems, repetitions); NaN where a trial is missing.
        is_alike: Whether all systems vary alike, so that their residuals are pooled.
        inside: Variance of each system's mean as it follows from the seconds within its runs; None where unknown.
        least_variance: Of one residual: figures that were found with a coarse step are no surer than that.
        slownesses: Logarithm of how slow the machine was for each system (`disturbance`); None where not known of all.
    """

    logs: NDArray[np.float64]
    is_alike: bool = True
    inside: tuple[MeanVariance | None, ...] | None = None
    least_variance: float = 0.0
    slownesses: NDArray[np.float64] | None = None

    def slowness(self, weights: Weights) -> float:
        """How much of a contrast is the machine's and not the systems', as a ratio of at least 1."""
        return 1.0 if self.slownesses is None else math.exp(abs(float(weights @ self.slownesses)))

    def mean(self, weights: Weights) -> float | None:
        """A contrast of the systems' means; None where they share no repetition, even indirectly."""
        fit = self._fit
        return float(weights @ fit.means) if fit.tells(weights) else None

    def contrast(self, weights: Weights) -> LogRatio | None:
        """A contrast with its variance; None where nothing was repeated, or nothing varied."""
        found = self._pooled(weights) if self.is_alike else self._own(weights)
        return None if found is None else self._known(found, weights)

    def by_repetition(self, weights: Weights) -> NDArray[np.float64]:
        """The contrast in each repetition that has all of its systems."""
        used = self.logs[weights != 0]
        whole = used[:, np.isfinite(used).all(axis=0)]
        found: NDArray[np.float64] = weights[weights != 0] @ whole
        return found

    @cached_property
    def _fit(self) -> _Fit:
        present = np.isfinite(self.logs)
        logs = np.where(present, self.logs, 0.0)
        columns = present.any(axis=0)
        there, own = present[:, columns].astype(float), logs[:, columns]
        shares = there / there.sum(axis=0)
        information = np.diag(there.sum(axis=1)) - there @ shares.T
        covariance = np.linalg.pinv(information, rcond=_ESTIMABLE, hermitian=True)
        means = covariance @ (own.sum(axis=1) - shares @ own.sum(axis=0))
        of_repetitions = (own.sum(axis=0) - means @ there) / there.sum(axis=0)
        left = (own - means[:, None] - of_repetitions) * there
        rank = int(np.linalg.matrix_rank(information, rtol=_ESTIMABLE, hermitian=True))
        return _Fit(means, covariance, information, float((left**2).sum()), int(there.sum() - columns.sum()) - rank)

    def _pooled(self, weights: Weights) -> LogRatio | None:
        fit = self._fit
        if fit.degrees < 1 or not fit.tells(weights):
            return None
        residual = max(fit.squares / fit.degrees, self.least_variance)
        variance = MeanVariance(residual * float(weights @ fit.covariance @ weights), fit.degrees)
        method = f"t on logarithms, contrast within repetitions, residuals of {len(self.logs)} systems pooled"
        return self._log_ratio(float(weights @ fit.means), variance, method)

    def _own(self, weights: Weights) -> LogRatio | None:
        own = self.by_repetition(weights)
        if own.size < 2:
            return None
        residual = max(float(own.var(ddof=1)), self.least_variance * float(weights @ weights))
        return self._log_ratio(
            float(own.mean()), MeanVariance(residual / own.size, own.size - 1), "paired t on logarithms, contrast"
        )

    def _log_ratio(self, value: float, variance: MeanVariance, method: str) -> LogRatio:
        count = int(np.isfinite(self.logs).any(axis=0).sum())
        degrees = f"{variance.degrees:.3g} degree{'' if variance.degrees == 1 else 's'} of freedom"
        return LogRatio(
            value=value,
            variance=variance,
            repetitions=count,
            basis=SpreadKind.REPETITIONS,
            method=f"{method}, {count} repetitions ({degrees})",
        )

    def _known(self, found: LogRatio, weights: Weights) -> LogRatio | None:
        """With the spread within the runs where that is the larger one; None where nothing differed at all."""
        used = [(weight, one) for weight, one in zip(weights, self.inside or (), strict=False) if weight]
        known = [
            (weight**2 * one.variance, one.degrees) for weight, one in used if one is not None and one.variance > 0
        ]
        if known and len(known) == len(used) and (within := welch(known)).half_width() > found.variance.half_width():
            return LogRatio(
                value=found.value,
                variance=within,
                repetitions=found.repetitions,
                basis=found.basis,
                method=f"{found.method}; widened to the spread within the runs",
            )
        return found if found.variance.variance > NO_SPREAD else None


def combined(levels: Sequence[EffectTable], signs: Sequence[float]) -> EffectTable:
    """A sum of the tables of several levels, each with its factor.

    Args:
        levels: Of the same systems and repetitions.
        signs: The factors: 1 / count each for the mean of all levels, 1 and -1 for the difference of two.
    """
    insides = None
    if all(one.inside is not None for one in levels):
        columns = zip(*(one.inside or () for one in levels), strict=True)
        insides = tuple(_summed(own, signs) for own in columns)
    total = sum(sign * one.logs for sign, one in zip(signs, levels, strict=True))
    known = [one.slownesses for one in levels if one.slownesses is not None]
    slownesses = sum(sign * one for sign, one in zip(signs, known, strict=True)) if len(known) == len(levels) else None
    return EffectTable(
        np.asarray(total),
        all(one.is_alike for one in levels),
        insides,
        slownesses=None if slownesses is None else np.asarray(slownesses),
    )


def _summed(insides: Sequence[MeanVariance | None], signs: Sequence[float]) -> MeanVariance | None:
    known = [(sign**2 * one.variance, one.degrees) for one, sign in zip(insides, signs, strict=True) if one is not None]
    return welch(known) if len(known) == len(insides) and all(variance > 0 for variance, _ in known) else None
