"""The effect of each factor of a study over the others, and the interactions of factors that matter.

What is compared are contrasts of systems (`contrasts`) within repetitions (`effect_table`), on a scale of logarithms.
Effects are means over all levels of connections; how they depend on the level is an interaction as well, each level
against the lowest one. All effects and interactions of a study are one family, which Holm's procedure corrects: where
no factor does anything, any of them is named in at most 5 % of studies. A study that went on until its answer was
decided is judged by intervals that hold at every look. An effect or interaction of which the machine alone makes over
5 % (the same contrast of slownesses, `disturbance`) has no verdict.

At target rates throughput says nothing; capacities that were searched for do, one for each search.

Sources: Box, Hunter and Hunter 2005, chapters 4 to 6; Holm 1979. Deliberately not here: interactions of three factors,
effects on response times, and effects of what systems differ in besides the study's factors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.cell_model import EQUAL_WITHIN, Estimate
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.comparison import Comparison, judge
from plimsoll.analyse.conditions import without_bounds
from plimsoll.analyse.contrasts import (
    Contrast,
    CrossContrast,
    Matrix,
    Weights,
    cross_contrasts,
    main_contrasts,
    matrix_of,
)
from plimsoll.analyse.disturbance import UNLIKE_RATIO
from plimsoll.analyse.disturbance_model import Disturbance
from plimsoll.analyse.effect_cells import Measured, of_capacity, of_throughput
from plimsoll.analyse.effect_model import EffectAtLevel, Effects, FactorEffect, Interaction
from plimsoll.analyse.effect_table import EffectTable, combined
from plimsoll.analyse.log_ratio import LogRatio
from plimsoll.analyse.model import DifferenceVerdict, SystemSummary
from plimsoll.analyse.sequential_verdicts import estimate_at_any_look, judge_values
from plimsoll.record.level import Level


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
    matrix = matrix_of({one.name: one.factor_values for one in systems})
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
    tests = [test for one in measured for test in _tests(matrix, one)]
    judged = [
        _withheld(test, comparison)
        for test, comparison in zip(tests, _judged(tests, equal_within, at_any_look=at_any_look), strict=True)
    ]
    shown = _Shown(matrix, at_any_look)
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
    known = tuple(one for one in interactions if one is not None)
    return Effects(factors=tuple(effects), interactions=known)


def _tests(matrix: Matrix, measured: Measured) -> Iterator[_Test]:
    whole, mains = measured.whole, list(main_contrasts(matrix))
    yield from (_Test(measured, whole, one.weights, one) for one in mains)
    yield from (_Test(measured, whole, one.weights, one) for one in cross_contrasts(matrix))
    for level in range(1, len(measured.levels)):
        table = combined([measured.tables[level], measured.tables[0]], [1.0, -1.0])
        yield from (_Test(measured, table, one.weights, one, level) for one in mains)


def _judged(tests: Sequence[_Test], equal_within: float, *, at_any_look: bool) -> list[Comparison | None]:
    """One for each test; None where even the ratio is not known."""
    if at_any_look:
        values = [test.table.by_repetition(test.weights) for test in tests]
        return [judge_values(list(own), tests_count=len(tests), equal_within=equal_within) for own in values]
    ratios = [test.table.contrast(test.weights) for test in tests]
    known = [one for one in ratios if one is not None]
    verdicts = iter(judge(known, equal_within=equal_within))
    return [
        _untestable(test, equal_within) if ratio is None else next(verdicts)
        for test, ratio in zip(tests, ratios, strict=True)
    ]


def _withheld(test: _Test, comparison: Comparison | None) -> Comparison | None:
    """Without a verdict where the machine was not equally fast for what is compared."""
    if comparison is None or test.table.slowness(test.weights) <= UNLIKE_RATIO:
        return comparison
    return Comparison(
        ratio=without_bounds(comparison.ratio),
        verdict=DifferenceVerdict.DISTURBED,
        equal_within=comparison.equal_within,
    )


def _untestable(test: _Test, equal_within: float) -> Comparison | None:
    ratio = _plain(test.table, test.weights)
    if ratio is None:
        return None
    return Comparison(ratio=ratio, verdict=DifferenceVerdict.UNTESTABLE, equal_within=equal_within)


def _plain(table: EffectTable, weights: Weights) -> Estimate | None:
    """A ratio without an interval."""
    mean = table.mean(weights)
    if mean is None:
        return None
    return Estimate(value=math.exp(mean), trial_count=int(np.isfinite(table.logs).any(axis=0).sum()))


@dataclass(frozen=True, slots=True)
class _Shown:
    """Makes documents of tests."""

    matrix: Matrix
    at_any_look: bool

    def effect(self, test: _Test, contrast: Contrast, judged: Comparison) -> FactorEffect:
        """A main effect, with that of each level."""
        matrix, measured = self.matrix, test.measured
        at_levels = [(level, self._ratio(table, contrast.weights)) for level, table in _several(measured)]
        return FactorEffect(
            workload=measured.workload,
            measure=measured.measure,
            factor=matrix.factors[contrast.factor],
            base=matrix.values[contrast.factor][0],
            value=matrix.values[contrast.factor][contrast.value],
            ratio=judged.ratio,
            verdict=judged.verdict.value,
            smallest_effect=judged.smallest_effect,
            equal_within=judged.equal_within,
            repetitions_needed=judged.repetitions_needed,
            over=tuple(name for index, name in enumerate(matrix.factors) if index != contrast.factor),
            contexts_count=contrast.contexts_count,
            is_additive=contrast.is_additive,
            levels=tuple(EffectAtLevel(level=level, ratio=ratio) for level, ratio in at_levels if ratio is not None),
        )

    def of_factors(self, test: _Test, contrast: CrossContrast, judged: Comparison) -> Interaction | None:
        """The interaction of two factors; None where one of their effects is not known."""
        (one, other), (value, where) = contrast.factors, contrast.values
        at_base, at_value = self._ratio(test.table, contrast.at_base), self._ratio(test.table, contrast.at_value)
        if at_base is None or at_value is None:
            return None
        return Interaction(
            workload=test.measured.workload,
            measure=test.measured.measure,
            factor=self.matrix.factors[one],
            base=self.matrix.values[one][0],
            value=self.matrix.values[one][value],
            other=self.matrix.factors[other],
            other_base=self.matrix.values[other][0],
            other_value=self.matrix.values[other][where],
            ratio=judged.ratio,
            effect_at_base=at_base,
            effect_at_value=at_value,
            verdict=judged.verdict.value,
            smallest_effect=judged.smallest_effect,
        )

    def of_level(
        self, test: _Test, contrast: Contrast | CrossContrast, level: int | None, judged: Comparison
    ) -> Interaction | None:
        """How an effect depends on the level; None where one of the two is not known."""
        assert isinstance(contrast, Contrast), "three factors are not looked at"
        assert level is not None, "the caller's"
        measured = test.measured
        at_base, at_value = (self._ratio(measured.tables[index], contrast.weights) for index in (0, level))
        if at_base is None or at_value is None:
            return None
        return Interaction(
            workload=measured.workload,
            measure=measured.measure,
            factor=self.matrix.factors[contrast.factor],
            base=self.matrix.values[contrast.factor][0],
            value=self.matrix.values[contrast.factor][contrast.value],
            base_level=measured.levels[0],
            level=measured.levels[level],
            ratio=judged.ratio,
            effect_at_base=at_base,
            effect_at_value=at_value,
            verdict=judged.verdict.value,
            smallest_effect=judged.smallest_effect,
        )

    def _ratio(self, table: EffectTable, weights: Weights) -> Estimate | None:
        """A ratio that is shown, with an interval that stands for it alone."""
        if self.at_any_look:
            values = list(table.by_repetition(weights))
            return estimate_at_any_look(values) if values else None
        found: LogRatio | None = table.contrast(weights)
        return _plain(table, weights) if found is None else found.estimate()


def _several(measured: Measured) -> Iterator[tuple[Level, EffectTable]]:
    """The tables of levels, where there are several."""
    if len(measured.levels) > 1:
        yield from zip(measured.levels, measured.tables, strict=True)
