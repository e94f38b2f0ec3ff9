"""Whether a version is worse than another by more than a limit: the rules of `plimsoll compare --fail-if`.

Each rule tests two hypotheses for each workload and level. "Worse by at most the limit": where that is rejected the
regression is established, and the rule fails. These tests are corrected by Holm's procedure (1979) over all places and
all rules together, so a version that is nowhere worse by more than its limit fails in at most 5 % of comparisons; the
tests are one-sided. "Worse by the limit or more": where that is rejected in every place, the rule passes. All must be
rejected, so none needs a correction (intersection-union test, Berger 1982): a version that is worse by the limit or
more in any place passes in at most 5 % of comparisons. In between the rule is undecided.

Assumptions: those of `comparison`. Intervals within single runs are used where there is nothing else; repetitions may
differ more, and the error rates are then higher than stated. Deliberately not here: exit codes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.special import stdtr

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.compare_model import GateOutcome, GateResult, Metric
from plimsoll.analyse.comparison import ALPHA, MOST_FURTHER_REPETITIONS, POWER, LogRatio
from plimsoll.analyse.holm import holm
from plimsoll.analyse.within_run import quantile_t


@dataclass(frozen=True, slots=True)
class GateRule:
    """A rule: the metric may be worse by at most a share, such as 0.05."""

    metric: Metric
    limit: float

    @property
    def log_limit(self) -> float:
        """The limit on the scale on which worse is more.

        Lower throughput by 5 % is a ratio of 0.95, a p99 higher by 5 % one of 1.05.
        """
        return -math.log1p(-self.limit) if self.metric is Metric.THROUGHPUT else math.log1p(self.limit)

    def worse(self, ratio: LogRatio) -> float:
        """By how much the second side is worse, on that scale."""
        return -ratio.value if self.metric is Metric.THROUGHPUT else ratio.value


@dataclass(frozen=True, slots=True)
class GatePlace:
    """Where a rule is tested.

    Attributes:
        name: Workload and level as text; ("", "") for all together.
        ratios: By metric; None where nothing can be tested.
        is_dead: The second side completed nothing, and the first did.
    """

    name: tuple[str, str]
    ratios: Mapping[Metric, LogRatio | None]
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
    corrected = holm([_chance(rule, ratio) for rule, _, ratio in tested])
    failed = {(rule, place.name) for (rule, place, _), chance in zip(tested, corrected, strict=True) if chance <= ALPHA}
    failed |= {(rule, place.name) for rule in rules for place in places if place.is_dead}
    return tuple(_result(rule, places, failed, alpha=ALPHA / max(len(tested), 1)) for rule in rules)


def _result(
    rule: GateRule, places: Sequence[GatePlace], failed: set[tuple[GateRule, tuple[str, str]]], *, alpha: float
) -> GateResult:
    failed_at = tuple(place.name for place in places if (rule, place.name) in failed)
    known = [(place.name, place.ratios.get(rule.metric)) for place in places if not place.is_overall]
    open_at = tuple(name for name, ratio in known if ratio is None or _chance(rule, ratio, passes=True) > ALPHA)
    outcome = GateOutcome.FAILED if failed_at else GateOutcome.UNDECIDED if open_at else GateOutcome.PASSED
    needed = [_further(rule, ratio, alpha) for name, ratio in known if name in open_at]
    most = None if any(one is None for one in needed) else max((one or 0 for one in needed), default=0)
    return GateResult(
        metric=rule.metric,
        limit=rule.limit,
        outcome=outcome,
        failed_at=failed_at,
        undecided_at=() if failed_at else open_at,
        repetitions_needed=most if outcome is GateOutcome.UNDECIDED else 0,
        is_within_run=any(ratio is not None and ratio.basis is SpreadKind.WITHIN_RUN for _, ratio in known),
    )


def _chance(rule: GateRule, ratio: LogRatio, *, passes: bool = False) -> float:
    """One-sided p value of "worse by at most the limit"; with `passes` of "worse by the limit or more"."""
    distance = (rule.worse(ratio) - rule.log_limit) / math.sqrt(ratio.variance.variance)
    return float(stdtr(ratio.variance.degrees, distance if passes else -distance))


def _further(rule: GateRule, ratio: LogRatio | None, alpha: float) -> int | None:
    """The fewest further repetitions that show, with power 0.8, on which side of the limit a place lies."""
    if ratio is None or ratio.basis is SpreadKind.WITHIN_RUN:
        return None
    distance = rule.worse(ratio) - rule.log_limit
    level = alpha if distance > 0 else ALPHA
    for further in range(1, MOST_FURTHER_REPETITIONS + 1):
        after = ratio.with_more(further).variance
        if abs(distance) >= (quantile_t(1 - level, after.degrees) + quantile_t(POWER, after.degrees)) * math.sqrt(
            after.variance
        ):
            return further
    return None
