"""Whether a version is worse than another by more than a limit: the rules of `plimsoll compare --fail-if`.

Each rule tests two hypotheses for each workload and level. "Worse by at most the limit": where that is rejected the
regression is established, and the rule fails. These tests are corrected by Holm's procedure (1979) over all places and
all rules together, so a version that is nowhere worse by more than its limit fails in at most 5 % of comparisons; the
tests are one-sided. "Worse by the limit or more": where that is rejected in every place, the rule passes. All must be
rejected, so none needs a correction (intersection-union test, Berger 1982): a version that is worse by the limit or
more in any place passes in at most 5 % of comparisons. In between the rule is undecided.

Assumptions: those of `comparison`, or of `anytime_ratio` where repetitions went on until an answer was decided; Holm's
procedure holds there too, since all tests are made at one look. Intervals within single runs are used where there is
nothing else; repetitions may differ more, and the error rates are then higher than stated. Deliberately not here: exit
codes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.compare_model import GateOutcome, GateResult, Metric
from plimsoll.analyse.holm import holm
from plimsoll.analyse.log_ratio import ALPHA


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
    most = None if any(one is None for one in needed) else max((one or 0 for one in needed), default=0)
    return GateResult(
        metric=rule.metric,
        limit=rule.limit,
        outcome=outcome,
        failed_at=failed_at,
        undecided_at=() if failed_at else open_at,
        repetitions_needed=most if outcome is GateOutcome.UNDECIDED else 0,
        places_count=len(known),
        is_within_run=any(ratio is not None and ratio.basis is SpreadKind.WITHIN_RUN for _, ratio in known),
    )


def _further(rule: GateRule, ratio: TestableRatio | None, alpha: float) -> int | None:
    """The fewest further repetitions that would show on which side of the limit a place lies."""
    if ratio is None:
        return None
    return ratio.further_beyond(rule.log_limit, alpha if rule.is_exceeded(ratio) else ALPHA)
