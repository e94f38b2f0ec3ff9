"""The effect of each factor of a study over the others, and the interactions of factors that matter.

What is compared are contrasts of systems (`stats.contrasts`) within repetitions, on a scale of logarithms. Effects are
means over all levels of connections; how they depend on the level is an interaction as well, each level against the
lowest one. All effects and interactions of a study are one family, which Holm's procedure corrects: where no factor
does anything, any of them is named in at most 5 % of studies. A study that went on until its answer was decided is
judged by intervals that hold at every look. An effect or interaction of which the machine alone makes over 5 % (the
same contrast of slownesses, `conditions`) has no verdict.

At target rates throughput says nothing; capacities that were searched for do, one for each search.

Sources: Box, Hunter and Hunter 2005, chapters 4 to 6; Holm 1979.

The systems of a matrix under one workload, as a table of logarithms, and what a contrast of them is. The model is that
of `stats.variance`: x[system, repetition] = system + repetition + residual. A contrast of systems is a number for each
repetition, in which everything that a repetition has in common cancels. Over several levels the mean of a trial's
logarithms takes the place of one: levels of a system in a repetition share a start of its server, so they are no
repetitions of each other. Two levels differ by the differences within one start.

* Where all cells of a level were measured alike, the variance of a contrast is the residual variance times the sum of
  the squared weights over R repetitions, with (S - 1)(R - 1) degrees of freedom. In a full matrix of factors with two
  values each system has the same weight, so systems that vary unlike each other do no harm.
* Otherwise the contrast has a variance of its own, with R - 1 degrees of freedom (paired t test).

Where trials are missing, systems are fitted by least squares. Sources and assumptions: those of `stats.variance`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.findings.finding_model import Finding, Scalar, make_finding
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.study.capacities import capacities_by_repetition
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, Estimate, SpreadKind
from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.comparison import NO_SPREAD, LogRatio, judge, welch
from plimsoll.analyse.study.conditions import UNLIKE_RATIO, of_trials
from plimsoll.analyse.study.curve_model import EffectAtLevel, EffectMeasure, Effects, FactorEffect, Interaction
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.analyse.study.sequential import estimate_at_any_look, judge_values
from plimsoll.analyse.study.violations import LEAST_VARIANCE
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.record.level import Level
from plimsoll.stats.contrasts import (
    Contrast,
    CrossContrast,
    Matrix,
    Weights,
    cross_contrasts,
    main_contrasts,
    matrix_of,
)
from plimsoll.stats.variance import MeanVariance


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
    """One effect or interaction that is judged.

    Attributes:
        table: What it is a contrast of.
        weights: The contrast.
        contrast: What it is about.
        level: Index of the level whose difference from the lowest one is looked at; None for a mean over all.
    """

    measured: Measured
    table: EffectTable
    weights: Weights
    contrast: Contrast | CrossContrast
    level: int | None = None


def main_effects(
    cells: Sequence[MeasuredCell],
    searched: Sequence[SystemCapacity],
    systems: Sequence[SystemSummary],
    equal_within: float = EQUAL_WITHIN,
    *,
    at_any_look: bool = False,
    met: Mapping[str, Disturbance] = MappingProxyType({}),
) -> Effects:
    """Effects and interactions of a study's factors; none where systems were written out.

    Args:
        cells: Of all workloads.
        searched: Capacities of all systems.
        systems: In the order of the study file.
        equal_within: Share within which two values of a factor count as equal.
        at_any_look: Whether the study went on until its answer was decided.
        met: How slow machines were, by trial: an effect is disturbed where the machine makes over 5 % of it.
    """
    matrix = matrix_of({system.name: system.factor_values for system in systems})
    if not matrix.factors:
        return Effects()
    measured = (*of_throughput(matrix, cells, met), *of_capacity(matrix, searched))
    return effects_of(matrix, measured, equal_within, at_any_look=at_any_look)


def effects_of(
    matrix: Matrix, measured: Sequence[Measured], equal_within: float = EQUAL_WITHIN, *, at_any_look: bool = False
) -> Effects:
    """Effects and interactions from tables; what they share one family with is all of it.

    Args:
        matrix: The systems and their values.
        measured: For each workload, with a row for each system of the matrix.
        equal_within: Share within which two values of a factor count as equal.
        at_any_look: Whether the study went on until its answer was decided.
    """
    tests = [test for measurement in measured for test in _tests(matrix, measurement)]
    judged = [
        _withheld(test, comparison)
        for test, comparison in zip(tests, _judged(tests, equal_within, at_any_look=at_any_look), strict=True)
    ]
    shown = _EffectDocuments(matrix, at_any_look)
    pairs = [(test, comparison) for test, comparison in zip(tests, judged, strict=True) if comparison is not None]
    effects = [
        shown.effect(test, test.contrast, comparison)
        for test, comparison in pairs
        if isinstance(test.contrast, Contrast) and test.level is None
    ]
    interactions = [
        shown.of_factors(test, test.contrast, comparison)
        if isinstance(test.contrast, CrossContrast)
        else shown.of_level(test, test.contrast, test.level, comparison)
        for test, comparison in pairs
        if isinstance(test.contrast, CrossContrast) or test.level is not None
    ]
    known = tuple(interaction for interaction in interactions if interaction is not None)
    return Effects(factors=tuple(effects), interactions=known)


def _tests(matrix: Matrix, measured: Measured) -> Iterator[_Test]:
    whole, mains = measured.whole, list(main_contrasts(matrix))
    yield from (_Test(measured, whole, main.weights, main) for main in mains)
    yield from (
        _Test(measured, whole, cross_contrast.weights, cross_contrast) for cross_contrast in cross_contrasts(matrix)
    )
    for level in range(1, len(measured.levels)):
        table = combined([measured.tables[level], measured.tables[0]], [1.0, -1.0])
        yield from (_Test(measured, table, main.weights, main, level) for main in mains)


def _judged(tests: Sequence[_Test], equal_within: float, *, at_any_look: bool) -> list[Ratio | None]:
    """One for each test; None where even the ratio is not known."""
    if at_any_look:
        values = [test.table.by_repetition(test.weights) for test in tests]
        return [judge_values(list(value), tests_count=len(tests), equal_within=equal_within) for value in values]
    ratios = [test.table.contrast(test.weights) for test in tests]
    known = [ratio for ratio in ratios if ratio is not None]
    verdicts = iter(judge(known, equal_within=equal_within))
    return [
        _untestable(test, equal_within) if ratio is None else next(verdicts)
        for test, ratio in zip(tests, ratios, strict=True)
    ]


def _withheld(test: _Test, judged: Ratio | None) -> Ratio | None:
    """Without a verdict where the machine was not equally fast for what is compared."""
    is_alike = test.table.slowness(test.weights) <= UNLIKE_RATIO
    return judged if judged is None or is_alike else judged.withheld


def _untestable(test: _Test, equal_within: float) -> Ratio | None:
    ratio = _plain(test.table, test.weights)
    if ratio is None:
        return None
    return Ratio(ratio=ratio, verdict=RatioVerdict.UNTESTABLE, equal_within=equal_within)


def _plain(table: EffectTable, weights: Weights) -> Estimate | None:
    """A ratio without an interval."""
    mean = table.mean(weights)
    if mean is None:
        return None
    return Estimate(value=math.exp(mean), trial_count=int(np.isfinite(table.logs).any(axis=0).sum()))


@dataclass(frozen=True, slots=True)
class _EffectDocuments:
    """Makes documents of tests."""

    matrix: Matrix
    at_any_look: bool

    def effect(self, test: _Test, contrast: Contrast, judged: Ratio) -> FactorEffect:
        """A main effect, with that of each level."""
        matrix, measured = self.matrix, test.measured
        at_levels = [(level, self._ratio(table, contrast.weights)) for level, table in _several(measured)]
        return FactorEffect(
            **judged.as_fields,
            workload=measured.workload,
            measure=measured.measure,
            factor=matrix.factors[contrast.factor],
            base=matrix.values[contrast.factor][0],
            value=matrix.values[contrast.factor][contrast.value],
            over=tuple(name for index, name in enumerate(matrix.factors) if index != contrast.factor),
            contexts_count=contrast.contexts_count,
            is_additive=contrast.is_additive,
            levels=tuple(EffectAtLevel(level=level, ratio=ratio) for level, ratio in at_levels if ratio is not None),
        )

    def of_factors(self, test: _Test, contrast: CrossContrast, judged: Ratio) -> Interaction | None:
        """The interaction of two factors; None where one of their effects is not known."""
        (factor, other), (value, where) = contrast.factors, contrast.values
        at_base, at_value = self._ratio(test.table, contrast.at_base), self._ratio(test.table, contrast.at_value)
        if at_base is None or at_value is None:
            return None
        return Interaction(
            **judged.as_fields,
            workload=test.measured.workload,
            measure=test.measured.measure,
            factor=self.matrix.factors[factor],
            base=self.matrix.values[factor][0],
            value=self.matrix.values[factor][value],
            other=self.matrix.factors[other],
            other_base=self.matrix.values[other][0],
            other_value=self.matrix.values[other][where],
            effect_at_base=at_base,
            effect_at_value=at_value,
        )

    def of_level(
        self, test: _Test, contrast: Contrast | CrossContrast, level: int | None, judged: Ratio
    ) -> Interaction | None:
        """How an effect depends on the level; None where one of the two is not known."""
        assert isinstance(contrast, Contrast), "three factors are not looked at"
        assert level is not None, "the caller's"
        measured = test.measured
        at_base, at_value = (self._ratio(measured.tables[index], contrast.weights) for index in (0, level))
        if at_base is None or at_value is None:
            return None
        return Interaction(
            **judged.as_fields,
            workload=measured.workload,
            measure=measured.measure,
            factor=self.matrix.factors[contrast.factor],
            base=self.matrix.values[contrast.factor][0],
            value=self.matrix.values[contrast.factor][contrast.value],
            base_level=measured.levels[0],
            level=measured.levels[level],
            effect_at_base=at_base,
            effect_at_value=at_value,
        )

    def _ratio(self, table: EffectTable, weights: Weights) -> Estimate | None:
        """A ratio that is shown, with an interval that stands for it alone."""
        if self.at_any_look:
            values = list(table.by_repetition(weights))
            return estimate_at_any_look(values) if values else None
        log_ratio: LogRatio | None = table.contrast(weights)
        return _plain(table, weights) if log_ratio is None else log_ratio.estimate()


def _several(measured: Measured) -> Iterator[tuple[Level, EffectTable]]:
    """The tables of levels, where there are several."""
    if len(measured.levels) > 1:
        yield from zip(measured.levels, measured.tables, strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What was measured of a matrix under one workload.

    Attributes:
        levels: In rising order; none for capacities.
        tables: One for each level, or one of capacities.
    """

    workload: str
    measure: EffectMeasure
    levels: tuple[Level, ...]
    tables: tuple[EffectTable, ...]

    @property
    def whole(self) -> EffectTable:
        """The mean over all levels."""
        if len(self.tables) == 1:
            return self.tables[0]
        return combined(self.tables, [1 / len(self.tables)] * len(self.tables))


def of_throughput(matrix: Matrix, cells: Sequence[MeasuredCell], met: Mapping[str, Disturbance]) -> Iterator[Measured]:
    """For each workload the levels in a closed loop at which every system of the matrix completed something.

    Args:
        matrix: The systems.
        cells: Of all workloads.
        met: How slow machines were, by trial.
    """
    for workload in dict.fromkeys(cell.workload for cell in cells):
        workload_cells = [cell for cell in cells if cell.workload == workload and not cell.level.kind.is_at_rate]
        by_level: dict[tuple[bool, float], dict[str, MeasuredCell]] = {}
        for cell in sorted(workload_cells, key=lambda cell: cell.level.order):
            by_level.setdefault(cell.level.order, {})[cell.system] = cell
        whole = [
            [level[name] for name in matrix.systems]
            for level in by_level.values()
            if all(name in level and min(level[name].throughput.cell.throughputs_tps) > 0 for name in matrix.systems)
        ]
        numbers = sorted({trial.trial.repetition for cell in workload_cells for trial in cell.trials})
        if whole:
            tables = tuple(_table(level, numbers, met) for level in whole)
            levels = tuple(level[0].level for level in whole)
            yield Measured(workload, EffectMeasure.THROUGHPUT, levels, tables)


def _table(cells: Sequence[MeasuredCell], repetitions: Sequence[int], met: Mapping[str, Disturbance]) -> EffectTable:
    """One level.

    Args:
        cells: In the order of the matrix.
        repetitions: The columns.
        met: How slow machines were, by trial.
    """
    column = {number: index for index, number in enumerate(repetitions)}
    logs = np.full((len(cells), len(repetitions)), np.nan)
    for row, cell in enumerate(cells):
        for trial, tps in zip(cell.trials, cell.throughput.cell.throughputs_tps, strict=True):
            logs[row, column[trial.trial.repetition]] = math.log(tps)
    tables = {id(cell.throughput.table) for cell in cells}
    disturbances = [disturbance for cell in cells if (disturbance := of_trials(cell.trials, met)) is not None]
    return EffectTable(
        logs,
        len(tables) == 1,
        tuple(cell.throughput.cell.inside for cell in cells),
        slownesses=np.log([disturbance.slowness for disturbance in disturbances])
        if len(disturbances) == len(cells)
        else None,
    )


def of_capacity(matrix: Matrix, searched: Sequence[SystemCapacity]) -> Iterator[Measured]:
    """For each workload and objective of which a capacity of every system of the matrix is known."""
    groups: dict[tuple[str, str], dict[str, Mapping[int, float]]] = {}
    for system_capacity in searched:
        tps_by_repetition = capacities_by_repetition(system_capacity)
        if tps_by_repetition:
            groups.setdefault((system_capacity.workload, system_capacity.objective.model_dump_json()), {})[
                system_capacity.system
            ] = tps_by_repetition
    for (workload, _), group in groups.items():
        if all(name in group for name in matrix.systems):
            numbers = sorted({number for name in matrix.systems for number in group[name]})
            logs = np.log([[group[name].get(number, math.nan) for number in numbers] for name in matrix.systems])
            table = EffectTable(logs, least_variance=LEAST_VARIANCE)
            yield Measured(workload, EffectMeasure.CAPACITY, (), (table,))


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
        slownesses: Logarithm of how slow the machine was for each system (`conditions`); None where not known of all.
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
        log_ratio = self._pooled(weights) if self.is_alike else self._of_its_spread(weights)
        return None if log_ratio is None else self._known(log_ratio, weights)

    def by_repetition(self, weights: Weights) -> NDArray[np.float64]:
        """The contrast in each repetition that has all of its systems."""
        used = self.logs[weights != 0]
        whole = used[:, np.isfinite(used).all(axis=0)]
        contrasts: NDArray[np.float64] = weights[weights != 0] @ whole
        return contrasts

    @cached_property
    def _fit(self) -> _Fit:
        present = np.isfinite(self.logs)
        logs = np.where(present, self.logs, 0.0)
        columns = present.any(axis=0)
        there, used_logs = present[:, columns].astype(float), logs[:, columns]
        shares = there / there.sum(axis=0)
        information = np.diag(there.sum(axis=1)) - there @ shares.T
        covariance = np.linalg.pinv(information, rcond=_ESTIMABLE, hermitian=True)
        means = covariance @ (used_logs.sum(axis=1) - shares @ used_logs.sum(axis=0))
        of_repetitions = (used_logs.sum(axis=0) - means @ there) / there.sum(axis=0)
        left = (used_logs - means[:, None] - of_repetitions) * there
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

    def _of_its_spread(self, weights: Weights) -> LogRatio | None:
        contrasts = self.by_repetition(weights)
        if contrasts.size < 2:
            return None
        residual = max(float(contrasts.var(ddof=1)), self.least_variance * float(weights @ weights))
        return self._log_ratio(
            float(contrasts.mean()),
            MeanVariance(residual / contrasts.size, contrasts.size - 1),
            "paired t on logarithms, contrast",
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

    def _known(self, log_ratio: LogRatio, weights: Weights) -> LogRatio | None:
        """With the spread within the runs where that is the larger one; None where nothing differed at all."""
        used = [(weight, inside) for weight, inside in zip(weights, self.inside or (), strict=False) if weight]
        known = [
            (weight**2 * inside.variance, inside.degrees)
            for weight, inside in used
            if inside is not None and inside.variance > 0
        ]
        if (
            known
            and len(known) == len(used)
            and (within := welch(known)).half_width() > log_ratio.variance.half_width()
        ):
            return LogRatio(
                value=log_ratio.value,
                variance=within,
                repetitions=log_ratio.repetitions,
                basis=log_ratio.basis,
                method=f"{log_ratio.method}; widened to the spread within the runs",
            )
        return log_ratio if log_ratio.variance.variance > NO_SPREAD else None


def combined(levels: Sequence[EffectTable], signs: Sequence[float]) -> EffectTable:
    """A sum of the tables of several levels, each with its factor.

    Args:
        levels: Of the same systems and repetitions.
        signs: The factors: 1 / count each for the mean of all levels, 1 and -1 for the difference of two.
    """
    insides = None
    if all(level.inside is not None for level in levels):
        columns = zip(*(level.inside or () for level in levels), strict=True)
        insides = tuple(_summed(column, signs) for column in columns)
    total = sum(sign * level.logs for sign, level in zip(signs, levels, strict=True))
    known = [level.slownesses for level in levels if level.slownesses is not None]
    slownesses = (
        sum(sign * slowness for sign, slowness in zip(signs, known, strict=True)) if len(known) == len(levels) else None
    )
    return EffectTable(
        np.asarray(total),
        all(level.is_alike for level in levels),
        insides,
        slownesses=None if slownesses is None else np.asarray(slownesses),
    )


def _summed(insides: Sequence[MeanVariance | None], signs: Sequence[float]) -> MeanVariance | None:
    known = [
        (sign**2 * inside.variance, inside.degrees)
        for inside, sign in zip(insides, signs, strict=True)
        if inside is not None
    ]
    return welch(known) if len(known) == len(insides) and all(variance > 0 for variance, _ in known) else None


Judged = TypeVar("Judged", FactorEffect, Interaction)

TOLD_MAX = 2
"""So many effects, and as many interactions, are told first; the section of the guide has them all."""


def effect_answer(effects: Effects) -> Iterator[Finding]:
    """One finding for each workload and measure; none where systems were written out."""
    for workload, measure in dict.fromkeys((factor.workload, factor.measure) for factor in effects.factors):
        factors = [factor for factor in effects.factors if (factor.workload, factor.measure) == (workload, measure)]
        crossed = [
            interaction
            for interaction in effects.interactions
            if (interaction.workload, interaction.measure) == (workload, measure)
        ]
        strongest, interactions = _established(factors), _one_each(_established(crossed))
        yield make_finding(
            "effects",
            workload=workload,
            measure=measure.value,
            effects=tuple(
                (effect.factor, effect.value, effect.base, effect.ratio.value) for effect in strongest[:TOLD_MAX]
            ),
            more_effects_count=max(len(strongest) - TOLD_MAX, 0),
            interactions=tuple(map(_figures, interactions[:TOLD_MAX])),
            more_interactions_count=max(len(interactions) - TOLD_MAX, 0),
        )


def _established(judged: Sequence[Judged]) -> list[Judged]:
    """Those that are established, the strongest first."""
    named = [effect for effect in judged if effect.verdict.is_difference]
    return sorted(named, key=lambda effect: -abs(math.log(effect.ratio.value)))


def _one_each(interactions: Sequence[Interaction]) -> list[Interaction]:
    """The strongest for each effect and what it depends on: a factor's values, or levels, are told by one of them."""
    strongest: dict[tuple[str, str, str | None], Interaction] = {}
    for interaction in interactions:
        strongest.setdefault((interaction.factor, interaction.value, interaction.other), interaction)
    return list(strongest.values())


def _figures(interaction: Interaction) -> tuple[Scalar, ...]:
    """Effect (factor, value, base), what it depends on (null: the level), and the ratio at either of two values."""
    at: tuple[Scalar, Scalar] = (interaction.other_base, interaction.other_value)
    if interaction.base_level is not None and interaction.level is not None:
        at = interaction.base_level.connections, interaction.level.connections
    return (
        *(interaction.factor, interaction.value, interaction.base, interaction.other),
        *(at[0], interaction.effect_at_base.value, at[1], interaction.effect_at_value.value),
    )
