"""Verdicts about all places of a comparison together.

With a number of repetitions that was fixed before, Holm's procedure corrects all places and all of them together.
Where repetitions went on until an answer was decided, each place has the part of the 5 % that it had while the study
ran, so that guide and comparison decide alike. All places together then follow from the intervals of the places, which
hold at the same time: their mean lies within the mean of the intervals. That costs no part of the 5 %.

Deliberately not here: what a ratio rests on (`compared_cells`), and rules of `--fail-if` (`gate`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plimsoll.analyse.anytime_ratio import AnytimeRatio
from plimsoll.analyse.compare_model import MetricComparison
from plimsoll.analyse.compared_cells import ComparedRatio, Figures, Sample
from plimsoll.analyse.compared_side import Design
from plimsoll.analyse.comparison import Comparison, judge
from plimsoll.analyse.log_ratio import ALPHA, LogRatio
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.sequential import AnytimeInterval, half_widths
from plimsoll.analyse.sequential_verdicts import judge_interval, judge_values


def judged(
    samples: Sequence[Sample],
    design: Design,
    equal_within: float,
    *,
    overall: Sample | None = None,
    parts: Sequence[int] = (),
    higher_is_slower: bool = False,
) -> list[MetricComparison]:
    """Judges the places of a metric.

    Args:
        samples: By place.
        design: How the two sides were measured.
        equal_within: Share within which two sides count as equal.
        overall: All places together, as one more; None for no such.
        parts: Of which places that is the mean, as indexes.
        higher_is_slower: Whether more is worse.
    """
    places = [sample.ratio(design) for sample in samples]
    ratios = [*places, *([overall.ratio(design)] if overall is not None else [])]
    tests_count = max(design.questions_count, len(samples))
    verdicts = _at_fixed_size(ratios, equal_within, levels_count=len(places))
    for index, ratio in enumerate(ratios):
        if isinstance(ratio, AnytimeRatio) and index < len(places):
            verdicts[index] = judge_values(ratio.values, tests_count=tests_count, equal_within=equal_within)
        elif isinstance(ratio, AnytimeRatio):
            of_parts = [places[one] for one in parts]
            verdicts[index] = _mean_of_intervals(of_parts, ratio, tests_count=tests_count, equal_within=equal_within)
    return [
        compared(
            sample, sample.figures(design), ratio, verdict, equal_within=equal_within, higher_is_slower=higher_is_slower
        )
        for sample, ratio, verdict in zip(
            [*samples, *([overall] if overall is not None else [])], ratios, verdicts, strict=True
        )
    ]


def _at_fixed_size(
    ratios: Sequence[ComparedRatio | None], equal_within: float, *, levels_count: int
) -> list[Comparison | None]:
    """A place without repetitions has no verdict and is no part of the family."""
    family = {index: one for index, one in enumerate(ratios) if isinstance(one, LogRatio) and one.is_testable}
    count = sum(index < levels_count for index in family)
    judged = judge(list(family.values()), equal_within=equal_within, levels_count=count)
    verdicts = dict(zip(family, judged, strict=True))
    return [verdicts.get(index) for index in range(len(ratios))]


def _mean_of_intervals(
    places: Sequence[ComparedRatio | None], overall: AnytimeRatio, *, tests_count: int, equal_within: float
) -> Comparison | None:
    known = [one for one in places if isinstance(one, AnytimeRatio)]
    if len(known) < len(places):
        return None
    alpha, count = ALPHA / tests_count, min(len(one.values) for one in known)
    half_width = sum(one.half_width(alpha) for one in known) / len(known)
    interval = AnytimeInterval(
        mean=sum(one.value for one in known) / len(known),
        half_width=half_width,
        count=count,
        deviation=half_width / half_widths(alpha, count) if math.isfinite(half_width) else None,
    )
    return judge_interval(interval, overall.estimate(), tests_count=tests_count, equal_within=equal_within)


def compared(
    sample: Sample,
    figures: Figures,
    ratio: ComparedRatio | None,
    verdict: Comparison | None,
    *,
    equal_within: float,
    higher_is_slower: bool = False,
) -> MetricComparison:
    """A place with its figures.

    Args:
        sample: Of both sides.
        figures: One of each side.
        ratio: That of the two; None where it is unknown how it varies.
        verdict: About it; None where it cannot be judged.
        equal_within: Share within which two sides count as equal.
        higher_is_slower: Whether more is worse.
    """
    estimate = None if ratio is None else ratio.estimate()
    bounds = None if estimate is None else estimate.bounds
    found = DifferenceVerdict.UNTESTABLE if verdict is None else verdict.verdict
    base, system = figures
    plain = system / base if base and system is not None else None
    return MetricComparison(
        ratio=plain if estimate is None else estimate.value,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        verdict=found.inverted if higher_is_slower else found,
        repetitions_needed=None if verdict is None else verdict.repetitions_needed,
        equal_within=equal_within,
        smallest_effect=None if verdict is None else verdict.smallest_effect,
        base_value=base,
        system_value=system,
        base_repetitions=len(sample.base),
        system_repetitions=len(sample.system),
        basis=None if ratio is None else ratio.basis,
        method="" if bounds is None else bounds.method,
    )
