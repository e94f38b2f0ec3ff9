"""Verdicts about all places of a comparison together, and the rules of `plimsoll compare --fail-if`.

With a number of repetitions that was fixed before, Holm's procedure corrects all places and all of them together.
Where repetitions went on until an answer was decided, each place has the part of the 5 % that it had while the study
ran, so that guide and comparison decide alike. All places together then follow from the intervals of the places, which
hold at the same time: their mean lies within the mean of the intervals. That costs no part of the 5 %.

Whether a version is worse than another by more than a limit: the rules of `plimsoll compare --fail-if`. Each rule
tests two hypotheses for each workload and level. "Worse by at most the limit": where that is rejected the regression
is established, and the rule fails. These tests are corrected by Holm's procedure (1979) over all places and all rules
together, so a version that is nowhere worse by more than its limit fails in at most 5 % of comparisons; the tests are
one-sided. "Worse by the limit or more": where that is rejected in every place, the rule passes. All must be rejected,
so none needs a correction (intersection-union test, Berger 1982): a version that is worse by the limit or more in any
place passes in at most 5 % of comparisons. In between the rule is undecided.

Assumptions: those of `comparison`, or of `sequential` where repetitions went on until an answer was decided;
Holm's procedure holds there too, since all tests are made at one look. Intervals within single runs are used where
there is nothing else; repetitions may differ more, and the error rates are then higher than stated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from plimsoll.analyse.answers.compare_cells import ComparedRatio, Figures, Sample
from plimsoll.analyse.answers.compare_model import GateOutcome, GateResult, Metric, MetricComparison
from plimsoll.analyse.answers.compare_sides import Design
from plimsoll.analyse.study.cell_model import Estimate, SpreadKind
from plimsoll.analyse.study.comparison import ALPHA, LogRatio, judge
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.analyse.study.sequential import AnytimeInterval, AnytimeRatio, half_widths, judge_interval, judge_values
from plimsoll.analyse.trial.condition_model import UnlikeConditions
from plimsoll.stats.significance import holm


def judged(
    samples: Sequence[Sample],
    design: Design,
    equal_within: float,
    unlike: Sequence[UnlikeConditions | None],
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
        unlike: What both sides met at each place, and last over all where that is one more; None where it was alike.
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
            of_parts = [places[part] for part in parts]
            mean = _mean_of_intervals(of_parts, ratio, tests_count=tests_count, equal_within=equal_within)
            verdicts[index] = mean or verdicts[index]
    if higher_is_slower:
        verdicts = [
            verdict and verdict.model_copy(update={"verdict": verdict.verdict.inverted}) for verdict in verdicts
        ]
    samples = [*samples, *([overall] if overall is not None else [])]
    return [
        compared(sample, sample.figures(design), verdict, equal_within=equal_within, unlike=conditions)
        for sample, verdict, conditions in zip(samples, verdicts, unlike, strict=True)
    ]


def _at_fixed_size(
    ratios: Sequence[ComparedRatio | None], equal_within: float, *, levels_count: int
) -> list[Ratio | None]:
    """A place without repetitions has no verdict and is no part of the family."""
    family = {index: ratio for index, ratio in enumerate(ratios) if isinstance(ratio, LogRatio) and ratio.is_testable}
    count = sum(index < levels_count for index in family)
    judged = judge(list(family.values()), equal_within=equal_within, levels_count=count)
    verdicts = dict(zip(family, judged, strict=True))
    return [verdicts.get(index) or untestable(ratio, equal_within) for index, ratio in enumerate(ratios)]


def untestable(ratio: ComparedRatio | None, equal_within: float) -> Ratio | None:
    """A ratio that is not judged; None for none."""
    if ratio is None:
        return None
    return Ratio(ratio=ratio.estimate(), verdict=RatioVerdict.UNTESTABLE, equal_within=equal_within)


def _mean_of_intervals(
    places: Sequence[ComparedRatio | None], overall: AnytimeRatio, *, tests_count: int, equal_within: float
) -> Ratio | None:
    known = [place for place in places if isinstance(place, AnytimeRatio)]
    if len(known) < len(places):
        return None
    alpha, count = ALPHA / tests_count, min(len(ratio.values) for ratio in known)
    half_width = sum(ratio.half_width(alpha) for ratio in known) / len(known)
    interval = AnytimeInterval(
        mean=sum(ratio.value for ratio in known) / len(known),
        half_width=half_width,
        count=count,
        deviation=half_width / half_widths(alpha, count) if math.isfinite(half_width) else None,
    )
    return judge_interval(interval, overall.estimate(), tests_count=tests_count, equal_within=equal_within)


def compared(
    sample: Sample,
    figures: Figures,
    ratio: Ratio | None,
    *,
    equal_within: float,
    unlike: UnlikeConditions | None = None,
) -> MetricComparison:
    """A place with its figures; without verdict and interval where both sides met unlike conditions.

    Args:
        sample: Of both sides.
        figures: One of each side.
        ratio: The ratio of the two; None where nothing is known but the figures.
        equal_within: Share within which two sides count as equal.
        unlike: What both met, where that was not alike.
    """
    base, system = figures
    if ratio is None and base and system is not None:
        ratio = Ratio(ratio=Estimate(value=system / base), verdict=RatioVerdict.UNTESTABLE)
    if ratio is not None and unlike is not None:
        ratio = ratio.withheld
    verdict = RatioVerdict.UNTESTABLE if unlike is None else RatioVerdict.DISTURBED
    bounds = None if ratio is None else ratio.ratio.bounds
    return MetricComparison(
        ratio=None if ratio is None else ratio.ratio.value,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        verdict=verdict if ratio is None else ratio.verdict,
        repetitions_needed=None if ratio is None else ratio.repetitions_needed,
        equal_within=equal_within,
        smallest_effect=None if ratio is None else ratio.smallest_effect,
        base_value=base,
        system_value=system,
        base_repetitions=len(sample.base),
        system_repetitions=len(sample.system),
        basis=None if bounds is None else bounds.basis,
        method="" if bounds is None else bounds.method,
        unlike=unlike,
    )


class TestableRatio(Protocol):
    """A ratio of which any limit can be tested: `comparison.LogRatio` is one; logarithms are natural ones."""

    @property
    def value(self) -> float: ...  # noqa: D102

    @property
    def basis(self) -> SpreadKind | None: ...  # noqa: D102

    def chance_at_most(self, log: float) -> float: ...  # noqa: D102

    def chance_at_least(self, log: float) -> float: ...  # noqa: D102

    def further_beyond(self, log: float, alpha: float) -> int | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class GateRule:
    """A rule: the metric may be worse by at most a share, such as 0.05."""

    metric: Metric
    limit: float

    @property
    def log_limit(self) -> float:
        """The limit as logarithm of a ratio.

        Lower throughput by 5 % is a ratio of 0.95, a p99 higher by 5 % one of 1.05.
        """
        return math.log1p(-self.limit if self.metric is Metric.THROUGHPUT else self.limit)

    def is_exceeded(self, ratio: TestableRatio) -> bool:
        """Whether the estimate is worse than the limit, however sure that is."""
        is_below = ratio.value < self.log_limit
        return is_below is (self.metric is Metric.THROUGHPUT)

    def chance(self, ratio: TestableRatio, *, passes: bool = False) -> float:
        """One-sided p value of "worse by at most the limit"; with `passes` of "worse by the limit or more"."""
        is_lower_rejected = (self.metric is Metric.THROUGHPUT) is passes
        return (ratio.chance_at_most if is_lower_rejected else ratio.chance_at_least)(self.log_limit)


@dataclass(frozen=True, slots=True)
class GatePlace:
    """Where a rule is tested.

    Attributes:
        name: Workload and level as text; ("", "") for all together.
        ratios: By metric; None where nothing can be tested. A metric that does not belong there is left out.
        is_dead: The second side completed nothing, and the first did.
    """

    name: tuple[str, str]
    ratios: Mapping[Metric, TestableRatio | None]
    is_dead: bool = False

    @property
    def is_overall(self) -> bool:
        """Whether it stands for all cells together."""
        return self.name == ("", "")


def judge_gates(rules: Sequence[GateRule], places: Sequence[GatePlace]) -> tuple[GateResult, ...]:
    """What each rule comes to, in their order."""
    tested = [
        (rule, place, ratio)
        for rule in rules
        for place in places
        if (ratio := place.ratios.get(rule.metric)) is not None
    ]
    corrected = holm([rule.chance(ratio) for rule, _, ratio in tested])
    failed = {(rule, place.name) for (rule, place, _), chance in zip(tested, corrected, strict=True) if chance <= ALPHA}
    failed |= {(rule, place.name) for rule in rules for place in places if place.is_dead}
    return tuple(_result(rule, places, failed, alpha=ALPHA / max(len(tested), 1)) for rule in rules)


def _result(
    rule: GateRule, places: Sequence[GatePlace], failed: set[tuple[GateRule, tuple[str, str]]], *, alpha: float
) -> GateResult:
    failed_at = tuple(place.name for place in places if (rule, place.name) in failed)
    known = [
        (place.name, place.ratios[rule.metric])
        for place in places
        if rule.metric in place.ratios and not place.is_overall
    ]
    open_at = tuple(name for name, ratio in known if ratio is None or rule.chance(ratio, passes=True) > ALPHA)
    is_open = bool(open_at) or not known
    outcome = GateOutcome.FAILED if failed_at else GateOutcome.UNDECIDED if is_open else GateOutcome.PASSED
    needed = [_further(rule, ratio, alpha) for name, ratio in known if name in open_at] or [None]
    most = None if any(count is None for count in needed) else max((count or 0 for count in needed), default=0)
    return GateResult(
        metric=rule.metric,
        limit=rule.limit,
        outcome=outcome,
        failed_at=failed_at,
        undecided_at=() if failed_at else open_at,
        open_at=tuple(name for name in open_at if name not in failed_at),
        passed_at=tuple(name for name, _ in known if name not in open_at and name not in failed_at),
        repetitions_needed=most if outcome is GateOutcome.UNDECIDED else 0,
        places_count=len(known),
        is_within_run=any(ratio is not None and ratio.basis is SpreadKind.WITHIN_RUN for _, ratio in known),
    )


def _further(rule: GateRule, ratio: TestableRatio | None, alpha: float) -> int | None:
    """The fewest further repetitions that would show on which side of the limit a place lies."""
    if ratio is None:
        return None
    return ratio.further_beyond(rule.log_limit, alpha if rule.is_exceeded(ratio) else ALPHA)
