"""Verdicts of a study that went on until its answer was decided.

Whoever stops by looking must be judged by intervals that hold at every look (`sequential`): by those for a fixed number
of repetitions, equal systems would be called different too often. The comparisons of a study share its 5 % equally, as
they did while it ran (`deciding`). Systems that took turns are compared by the pairs of their turns, one value for each
round. Where values do not differ at all, a comparison is not testable. Two peaks at different levels were chosen from
the same data; each pair of levels takes its part there.
Deliberately not here: a minimum detectable effect. Such a study has no number of repetitions that was fixed before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plimsoll.analyse.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.comparison import Comparison
from plimsoll.analyse.deciding import log_ratios
from plimsoll.analyse.duet_differences import rounds_log_ratios, took_turns
from plimsoll.analyse.log_ratio import ALPHA, LARGEST_LOG, together
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.sequential import AnytimeInterval, anytime_interval, more_values
from plimsoll.record.fitted import REPETITIONS_MIN


def judge_at_any_look(
    base: MeasuredCell, system: MeasuredCell, *, tests_count: int, equal_within: float
) -> Comparison | None:
    """Compares two cells over the repetitions that both have; None where those are none.

    Args:
        base: What is compared with.
        system: What is compared.
        tests_count: How many comparisons share the 5 %.
        equal_within: Share within which the two count as equal.
    """
    values = rounds_log_ratios(base, system) if took_turns(base, system) else _log_ratios(base, system)
    return judge_values(list(values.values()), tests_count=tests_count, equal_within=equal_within)


def judge_values(values: Sequence[float], *, tests_count: int, equal_within: float) -> Comparison | None:
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


def judge_interval(corrected: AnytimeInterval, ratio: Estimate, *, tests_count: int, equal_within: float) -> Comparison:
    """Judges a logarithm of a ratio by an interval of it that holds together with those of all other comparisons.

    Args:
        corrected: The interval.
        ratio: With the interval that stands for it alone.
        tests_count: How many comparisons share the 5 %.
        equal_within: Share within which a ratio counts as 1.
    """
    alpha, margin = ALPHA / tests_count, math.log1p(equal_within)
    verdict = verdict_of(corrected, margin)
    is_decided = verdict not in (DifferenceVerdict.UNRESOLVED, DifferenceVerdict.UNTESTABLE)
    return Comparison(
        ratio=ratio,
        simultaneous=_estimate(corrected, tests_count).bounds,
        verdict=verdict,
        equal_within=equal_within,
        repetitions_needed=0 if is_decided else more_values(corrected, alpha, margin),
    )


def _log_ratios(base: MeasuredCell, system: MeasuredCell) -> dict[int, float]:
    both = [{one.trial.repetition: one.throughput_tps for one in cell.trials} for cell in (base, system)]
    return log_ratios(*both)


def verdict_of(interval: AnytimeInterval, margin: float) -> DifferenceVerdict:
    """What an interval of the logarithm of a ratio decides; equal within so much on that scale."""
    if interval.deviation is None:
        return DifferenceVerdict.UNTESTABLE
    if interval.count < REPETITIONS_MIN or not interval.is_decided(margin):
        return DifferenceVerdict.UNRESOLVED
    if interval.low > 0:
        return DifferenceVerdict.FASTER
    return DifferenceVerdict.SLOWER if interval.high < 0 else DifferenceVerdict.EQUAL


def estimate_at_any_look(values: Sequence[float]) -> Estimate:
    """The ratio, with an interval that stands for it alone.

    Args:
        values: Its logarithm in each repetition, at least one.
    """
    return _estimate(anytime_interval(values, ALPHA))


def _estimate(interval: AnytimeInterval, comparisons: int = 1) -> Estimate:
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
