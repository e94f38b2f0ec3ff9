"""Capacities of both sides of a comparison: those that belong together, their ratios, and what keeps others apart.

Two capacities are compared where workload and objective are the same, in the way of guides (`capacities`). A capacity
that only one side has, or at another objective, cannot be compared: it is a difference of the two sides, and no rule
of `--fail-if` passes without it.

Ramps in pairs say how two capacities compare, and of neither how high it is (`capacities`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.analyse.answers.compare_cells import (
    ComparedConditions,
    ComparedRatio,
    Sample,
    Values,
    by_session,
    samples_together,
)
from plimsoll.analyse.answers.compare_model import (
    CapacityComparison,
    ConditionDifference,
    Metric,
    MetricComparison,
    Sessions,
)
from plimsoll.analyse.answers.compare_sides import Design, Side
from plimsoll.analyse.answers.compare_verdicts import GatePlace, TestableRatio, compared, untestable
from plimsoll.analyse.study.capacities import (
    capacities,
    capacities_by_repetition,
    capacity_log_ratio,
    capacity_ratio,
    has_pairs,
    ratio_of_ramps,
)
from plimsoll.analyse.study.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.study.cell_model import Estimate, SpreadKind
from plimsoll.analyse.study.comparison import ALPHA, LogRatio, judge, repetition_ratio
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.analyse.study.throughput import cell_figure
from plimsoll.analyse.study.violations import LEAST_VARIANCE
from plimsoll.analyse.trial.condition_model import UnlikeConditions
from plimsoll.record.capacity import CapacityObjective, RunRole, SearchRecord
from plimsoll.units import format_ms, format_percent

NONE_SEARCHED = "none searched for"


@dataclass(frozen=True, slots=True)
class CapacityPair:
    """The capacities of both sides under one workload and objective; None for the side that was not searched."""

    workload: str
    objective: CapacityObjective
    base: SystemCapacity | None
    system: SystemCapacity | None
    baselines: tuple[SystemCapacity | None, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """Where it is, as that of a level."""
        return place_of(self.workload, self.objective)

    @property
    def is_of_both(self) -> bool:
        """Whether both sides were searched."""
        return self.base is not None and self.system is not None


def place_of(workload: str, objective: CapacityObjective) -> tuple[str, str]:
    """A capacity among the places of a comparison: its workload, and what stands there for a level."""
    return workload, f"capacity at {objective_label(objective)}"


def objective_label(objective: CapacityObjective) -> str:
    """An objective in short.

    >>> objective_label(CapacityObjective(response_ms_p99=20.0, errors_ratio=0.01))
    'p99 20 ms, errors 1.0 %'
    """
    errors = "" if objective.errors_ratio is None else f", errors {format_percent(objective.errors_ratio)}"
    return f"p99 {format_ms(objective.response_ms_p99)}{errors}"


def capacity_pairs(base: Side, system: Side, baselines: Sequence[Side] = ()) -> list[CapacityPair]:
    """All capacities of both sides, by workload and objective, in the order in which they were searched."""
    of_base, of_system, *others = (
        {(capacity.workload, capacity.objective.model_dump_json()): capacity for capacity in capacities(side.searches)}
        for side in (base, system, *baselines)
    )
    pairs = []
    for key in dict.fromkeys((*of_base, *of_system)):
        base_capacity, system_capacity = of_base.get(key), of_system.get(key)
        known = base_capacity or system_capacity
        assert known is not None, "each key is that of a side"
        baseline_capacities = tuple(side.get(key) for side in others)
        pairs.append(CapacityPair(known.workload, known.objective, base_capacity, system_capacity, baseline_capacities))
    return pairs


def compare_capacities(
    pairs: Sequence[CapacityPair], conditions: ComparedConditions, *, design: Design, equal_within: float
) -> tuple[list[CapacityComparison], MetricComparison | None]:
    """Compares the capacities that both sides have.

    Args:
        pairs: Those of both sides.
        conditions: What both sides met.
        design: How both sides were measured against each other.
        equal_within: Share within which two capacities count as equal.

    Returns:
        Each one, and the geometric mean over all of them: for one that itself, for none None.
    """
    design = replace(design, at_any_look=False)
    alpha = ALPHA / max(len(pairs) + (len(pairs) > 1), 1)
    comparisons = [
        CapacityComparison(
            **_compared(
                pair, _unlike([pair], conditions, design), alpha=alpha, design=design, equal_within=equal_within
            ).model_dump(),
            workload=pair.workload,
            objective=pair.objective,
            is_of_ramps=_climbed(pair, design) is not None,
        )
        for pair in pairs
    ]
    if len(comparisons) < 2:
        return comparisons, comparisons[0] if comparisons else None
    unlike = _unlike(pairs, conditions, design)
    return comparisons, _together(pairs, unlike, alpha=alpha, design=design, equal_within=equal_within)


def capacity_places(
    pairs: Sequence[CapacityPair], conditions: ComparedConditions, *, design: Design
) -> Iterator[GatePlace]:
    """Where the rules about throughput are tested; a capacity that one side lacks leaves them undecided."""
    design = replace(design, at_any_look=False)
    for pair in pairs:
        ratio = None if _unlike([pair], conditions, design) is not None else _testable(pair, design)
        yield GatePlace(pair.place, {Metric.THROUGHPUT: ratio}, is_dead=_is_dead(pair))


def capacity_differences(pairs: Sequence[CapacityPair]) -> Iterator[ConditionDifference]:
    """Objectives that only one side was searched for, and searches that began at other connections."""
    for workload in dict.fromkeys(pair.workload for pair in pairs):
        under_workload = [pair for pair in pairs if pair.workload == workload]
        if not all(pair.is_of_both for pair in under_workload):
            texts = [
                _objectives([pair for pair in under_workload if side(pair) is not None]) for side in (_base, _system)
            ]
            yield _other(f"objective of the capacity under {workload}", *texts)
        swept = [
            _swept([capacity for pair in under_workload if (capacity := side(pair)) is not None])
            for side in (_base, _system)
        ]
        if all(swept) and swept[0] != swept[1]:
            yield _other(f"connections swept for the capacity under {workload}", *swept)


def _unlike(pairs: Sequence[CapacityPair], conditions: ComparedConditions, design: Design) -> UnlikeConditions | None:
    for pair in pairs:
        if (ends := _climbed(pair, design)) and (unlike := conditions.of_ramps(*ends)):
            return unlike
    sides = ([capacity for pair in pairs if (capacity := side(pair)) is not None] for side in (_base, _system))
    return conditions.of_capacities(*sides)


def _base(pair: CapacityPair) -> SystemCapacity | None:
    return pair.base


def _system(pair: CapacityPair) -> SystemCapacity | None:
    return pair.system


def _objectives(pairs: Sequence[CapacityPair]) -> str:
    return " and ".join(objective_label(pair.objective) for pair in pairs) or NONE_SEARCHED


def _swept(side_capacities: Sequence[SystemCapacity]) -> str:
    runs = [run for capacity in side_capacities for search in _finished(capacity) for run in search.capacity.runs]
    return ", ".join(map(str, sorted({run.connections for run in runs if run.role is RunRole.SWEEP})))


def _other(what: str, base: str, system: str) -> ConditionDifference:
    return ConditionDifference(what=what, base=base, system=system, is_compared=False)


def _ends(pair: CapacityPair) -> tuple[SystemCapacity, SystemCapacity] | None:
    """Both capacities, where both are known."""
    base, system = pair.base, pair.system
    if base is None or system is None or base.capacity_tps is None or system.capacity_tps is None:
        return None
    return base, system


def _climbed(pair: CapacityPair, design: Design) -> tuple[SystemCapacity, SystemCapacity] | None:
    """Both sides, where ramps of theirs ran in pairs."""
    base, system = pair.base, pair.system
    if base is None or system is None or not (design.is_paired and has_pairs(base, system)):
        return None
    return base, system


def _compared(
    pair: CapacityPair, unlike: UnlikeConditions | None, *, alpha: float, design: Design, equal_within: float
) -> MetricComparison:
    base, system = (
        None if side is None or side.capacity_tps is None else side.capacity_tps.value
        for side in (pair.base, pair.system)
    )
    figures, sample, ends = (base, system), _sample(pair, design), _ends(pair)
    judged_ratio: Ratio | None = None
    if climbed := _climbed(pair, design):
        judged_ratio = ratio_of_ramps(*climbed, alpha=alpha, equal_within=equal_within)
    elif ends is not None and design.is_of_sessions and (ratio := sample.ratio(design)) is not None:
        judged_ratio, figures = _across_sessions(ratio, alpha=alpha, equal_within=equal_within), sample.figures(design)
    elif ends is not None:
        judged_ratio = capacity_ratio(*ends, alpha=alpha, paired=design.is_paired, equal_within=equal_within)
        if design.is_of_sessions:
            judged_ratio = judged_ratio.model_copy(update={"verdict": RatioVerdict.UNTESTABLE})
    comparison = compared(sample, figures, judged_ratio, equal_within=equal_within, unlike=unlike)
    if isinstance(judged_ratio, CapacityRatio) and judged_ratio.pairs_count:  # instead of repetitions
        comparison = comparison.model_copy(
            update=dict.fromkeys(("base_repetitions", "system_repetitions"), judged_ratio.pairs_count)
        )
    return comparison


def _across_sessions(ratio: ComparedRatio | None, *, alpha: float, equal_within: float) -> Ratio | None:
    """Two studies: no verdict where nothing shows how far their sessions lie apart."""
    if isinstance(ratio, LogRatio) and ratio.is_testable:
        return judge([ratio], alpha=alpha, equal_within=equal_within)[0]
    return untestable(ratio, equal_within)


def _sample(pair: CapacityPair, design: Design) -> Sample:
    numbers = design.session_numbers or (None, None)
    base, system = map(_figures, (pair.base, pair.system), numbers)
    return Sample(
        base,
        system,
        sessions=[_figures(baseline) for baseline in pair.baselines if baseline is not None],
        least_variance=LEAST_VARIANCE,
    )


def _figures(system_capacity: SystemCapacity | None, numbers: Mapping[str, int] | None = None) -> Values:
    """By repetition, or by session: a search belongs to that of its first run."""
    if system_capacity is None:
        return {}
    by_repetition = capacities_by_repetition(system_capacity)
    if numbers is None:
        return by_repetition
    known = [
        search for search in system_capacity.searches if search.is_finished and search.capacity.capacity_tps is not None
    ]
    sessions = [numbers.get(search.capacity.runs[0].trial_id, -1) for search in known]
    return by_session(zip(sessions, by_repetition.values(), strict=True))


def _together(
    pairs: Sequence[CapacityPair],
    unlike: UnlikeConditions | None,
    *,
    alpha: float,
    design: Design,
    equal_within: float,
) -> MetricComparison:
    """The mean over several workloads or objectives."""
    samples = [_sample(pair, design) for pair in pairs]
    sample = replace(samples_together(samples), least_variance=LEAST_VARIANCE / len(pairs))
    are_known = all(_ends(pair) is not None for pair in pairs)
    if design.is_of_sessions:
        ratio = sample.ratio(design) if are_known else None
        judged_ratio = _across_sessions(ratio, alpha=alpha, equal_within=equal_within)
        return compared(sample, sample.figures(design), judged_ratio, equal_within=equal_within, unlike=unlike)
    common = sorted(sample.base.keys() & sample.system.keys())
    in_pairs = design.is_paired and len(common) == len(sample.base) == len(sample.system)
    of_base = [sample.base[repetition] for repetition in (common if in_pairs else sample.base)]
    of_system = [sample.system[repetition] for repetition in (common if in_pairs else sample.system)]
    ratio = repetition_ratio(of_base, of_system, paired=in_pairs, least_variance=LEAST_VARIANCE / len(pairs))
    judged_ratio = (
        judge([ratio], alpha=alpha, equal_within=equal_within)[0] if ratio is not None and are_known else None
    )
    figures = cell_figure(of_base), cell_figure(of_system)
    return compared(sample, figures, judged_ratio, equal_within=equal_within, unlike=unlike)


@dataclass(frozen=True, slots=True)
class _KnownRange:
    """A ratio that is known to lie in a range but with a probability of `ALPHA`, and nothing else of it.

    Attributes:
        low: Logarithm of its lower end.
        high: Of its upper end.
    """

    value: float
    low: float
    high: float

    @property
    def basis(self) -> SpreadKind | None:
        """Not how repetitions differ."""
        return None

    def chance_at_most(self, log: float) -> float:
        """As that of a `LogRatio`."""
        return ALPHA if self.low > log else 1.0

    def chance_at_least(self, log: float) -> float:
        """As that of a `LogRatio`."""
        return ALPHA if self.high < log else 1.0

    def further_beyond(self, _log: float, _alpha: float) -> int | None:
        """Unknown."""
        return None


def _testable(pair: CapacityPair, design: Design) -> TestableRatio | None:
    """How the rules see a ratio: by its repetitions or sessions, else by the range that is stated for it."""
    if (climbed := _climbed(pair, design)) and (ramp_ratio := ratio_of_ramps(*climbed, alpha=ALPHA)):
        return _known_range(ramp_ratio.ratio)
    ends = _ends(pair)
    if ends is None:
        return None
    if design.is_of_sessions:
        return None if design.sessions is Sessions.APART else _sample(pair, design).ratio(design)
    log_ratio = capacity_log_ratio(*ends, paired=design.is_paired)
    if log_ratio is not None:
        return log_ratio
    return _known_range(capacity_ratio(*ends, alpha=ALPHA, paired=design.is_paired).ratio)


def _known_range(ratio: Estimate) -> _KnownRange | None:
    bounds = ratio.bounds
    if bounds is None:
        return None
    return _KnownRange(math.log(ratio.value), math.log(bounds.low), math.log(bounds.high))


def _is_dead(pair: CapacityPair) -> bool:
    """Whether no rate holds on the second side in any search, and the first side has a capacity."""
    base, system = pair.base, pair.system
    if base is None or system is None or base.capacity_tps is None:
        return False
    finished = _finished(system)
    return bool(finished) and all(search.capacity.holds_nowhere for search in finished)


def _finished(system_capacity: SystemCapacity) -> list[SearchRecord]:
    return [search for search in system_capacity.searches if search.is_finished]
