"""Verdicts of a study that went on until its answer was decided, and tests of any limit by the same intervals.

Whoever stops by looking must be judged by intervals that hold at every look (`sequential`): by those for a fixed
number of repetitions, equal systems would be called different too often. The comparisons of a study share its 5 %
equally, as they did while it ran (`sequential`). Systems that took turns are compared by the pairs of their turns, one
value for each round. Where values do not differ at all, a comparison is not testable. Two peaks at different levels
were chosen from the same data; each pair of levels takes its part there.

A ratio of two systems whose repetitions went on until an answer was decided, for tests of any limit. The interval of
`sequential` holds at every look. Whatever value it excludes is rejected at the same level, so the smallest level at
which it excludes a value is a p value that holds at every look as well (Johari and others 2022, Operations Research
70). A one-sided test uses the same two-sided interval, and so errs less often than stated.

Repetitions of equal number form a pair. In one study they were measured next to each other. In two studies they have
nothing in common, and any pairing that does not follow from the figures is as good; the further repetitions of the
longer study are left out. Both studies may stop when they like: an interval of the pairs holds after each of them.

Assumptions: those of `sequential`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.study.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.comparison import ALPHA, LARGEST_LOG, MOST_FURTHER_REPETITIONS, together
from plimsoll.analyse.study.duets import rounds_log_ratios, took_turns
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.analyse.study.sequential import AnytimeInterval, anytime_interval, half_widths, log_ratios, more_values
from plimsoll.record.level import REPETITIONS_MIN


def judge_at_any_look(
    base: MeasuredCell, system: MeasuredCell, *, tests_count: int, equal_within: float
) -> Ratio | None:
    """Compares two cells over the repetitions that both have; None where those are none.

    Args:
        base: What is compared with.
        system: What is compared.
        tests_count: How many comparisons share the 5 %.
        equal_within: Share within which the two count as equal.
    """
    values = rounds_log_ratios(base, system) if took_turns(base, system) else _log_ratios(base, system)
    return judge_values(list(values.values()), tests_count=tests_count, equal_within=equal_within)


def judge_values(values: Sequence[float], *, tests_count: int, equal_within: float) -> Ratio | None:
    """Judges a logarithm of a ratio by its values in each repetition; None where there are none.

    Args:
        values: In the order of the repetitions.
        tests_count: How many comparisons share the 5 %.
        equal_within: Share within which a ratio counts as 1.
    """
    if not values:
        return None
    corrected = anytime_interval(values, ALPHA / tests_count)
    return judge_interval(corrected, estimate_at_any_look(values), tests_count=tests_count, equal_within=equal_within)


def judge_interval(corrected: AnytimeInterval, ratio: Estimate, *, tests_count: int, equal_within: float) -> Ratio:
    """Judges a logarithm of a ratio by an interval of it that holds together with those of all other comparisons.

    Args:
        corrected: The interval.
        ratio: With the interval that stands for it alone.
        tests_count: How many comparisons share the 5 %.
        equal_within: Share within which a ratio counts as 1.
    """
    alpha, margin = ALPHA / tests_count, math.log1p(equal_within)
    verdict = verdict_of(corrected, margin)
    return Ratio(
        ratio=ratio,
        simultaneous=estimate_of(corrected, tests_count).bounds,
        verdict=verdict,
        equal_within=equal_within,
        repetitions_needed=0 if verdict.is_decided else more_values(corrected, alpha, margin),
    )


def _log_ratios(base: MeasuredCell, system: MeasuredCell) -> dict[int, float]:
    both = [{trial.trial.repetition: trial.throughput_tps for trial in cell.trials} for cell in (base, system)]
    return log_ratios(*both)


def verdict_of(interval: AnytimeInterval, margin: float) -> RatioVerdict:
    """What an interval of the logarithm of a ratio decides; equal within so much on that scale."""
    if interval.deviation is None:
        return RatioVerdict.UNTESTABLE
    if interval.count < REPETITIONS_MIN or not interval.is_decided(margin):
        return RatioVerdict.UNRESOLVED
    if interval.low > 0:
        return RatioVerdict.FASTER
    return RatioVerdict.SLOWER if interval.high < 0 else RatioVerdict.EQUAL


def estimate_at_any_look(values: Sequence[float]) -> Estimate:
    """The ratio, with an interval that stands for it alone.

    Args:
        values: Its logarithm in each repetition, at least one.
    """
    return estimate_of(anytime_interval(values, ALPHA))


def estimate_of(interval: AnytimeInterval, comparisons: int = 1) -> Estimate:
    """What an interval of a logarithm says, without bounds while it is infinite.

    Args:
        interval: Of the logarithm.
        comparisons: It holds for so many side by side.
    """
    bounds = None
    if math.isfinite(interval.half_width):
        bounds = Bounds(
            low=math.exp(max(interval.low, -LARGEST_LOG)),
            high=math.exp(min(interval.high, LARGEST_LOG)),
            basis=SpreadKind.REPETITIONS,
            degrees=interval.count - 1,
            method="confidence sequence on logarithms of repetitions, valid after each of them" + together(comparisons),
        )
    return Estimate(value=math.exp(interval.mean), bounds=bounds, trial_count=interval.count)


_HALVINGS = 60
"""So often the range of levels is halved to find a p value."""

_LEAST_LOG_CHANCE = math.log(1e-12)


@dataclass(frozen=True, slots=True)
class AnytimeRatio:
    """The logarithm of a ratio in each repetition, in their order; at least two."""

    values: tuple[float, ...]

    @property
    def basis(self) -> SpreadKind:
        """What its spread rests on."""
        return SpreadKind.REPETITIONS

    @property
    def value(self) -> float:
        """The mean logarithm."""
        return float(np.mean(self.values))

    def chance_at_most(self, log: float) -> float:
        """P value of "the ratio is at most exp(log)", at every look."""
        return self._chance(log) if self.value > log else 1.0

    def chance_at_least(self, log: float) -> float:
        """P value of "the ratio is at least exp(log)", at every look."""
        return self._chance(log) if self.value < log else 1.0

    def half_width(self, alpha: float) -> float:
        """Half the width of the interval, on the scale of logarithms; infinite with too few repetitions."""
        return anytime_interval(self.values, alpha).half_width

    def estimate(self) -> Estimate:
        """The ratio with its 95 % interval, which stands for this ratio alone."""
        return estimate_at_any_look(self.values)

    def further_beyond(self, log: float, alpha: float) -> int | None:
        """The fewest further repetitions after which the interval excludes a ratio, if mean and spread stay.

        Args:
            log: That ratio, as logarithm.
            alpha: Of the interval.
        """
        distance, deviation, count = abs(self.value - log), self._deviation, len(self.values)
        for further in range(1, MOST_FURTHER_REPETITIONS + 1):
            if deviation * half_widths(alpha, count + further) < distance:
                return further
        return None

    @property
    def _deviation(self) -> float:
        return float(np.std(self.values, ddof=1))

    def _chance(self, log: float) -> float:
        """The smallest level at which the interval excludes a ratio, by halving the range of its logarithm."""
        widest = abs(self.value - log) / self._deviation
        low, high, count = _LEAST_LOG_CHANCE, 0.0, len(self.values)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if half_widths(math.exp(middle), count) < widest else (middle, high)
        return math.exp(high)
