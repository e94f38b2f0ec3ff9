"""What capacities say first: one finding for each system and workload that was searched, and how systems compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.record.capacity import knee_of

LessDurable = Callable[[str, str, str], str | None]
"""What the first of two systems may lose and the other does not, under a workload."""


def capacity_answer(
    capacities: Sequence[SystemCapacity], ratios: Sequence[CapacityRatio], less_durable: LessDurable
) -> Iterator[Finding]:
    """By workload: the highest capacity first, then how the highest compares with the others, the next highest first.

    Where every search of several systems ended without a rate that holds, one finding says so for all.
    """
    for workload in dict.fromkeys(one.workload for one in capacities):
        own = sorted((one for one in capacities if one.workload == workload), key=lambda one: -_value(one))
        if len(own) > 1 and all(_holds_nowhere(one) for one in own):
            yield _none_holds(own)
            continue
        names = [one.system for one in own]
        for one in own:
            others = (less_durable(workload, one.system, other) for other in names)
            yield _capacity(one, next(filter(None, others), None))
        compared = (_compared(one, names[0], less_durable) for one in ratios if _is_of(one, own[0]))
        yield from sorted(compared, key=lambda one: names.index(one.known["base"]))


def _holds_nowhere(one: SystemCapacity) -> bool:
    return one.capacity_tps is None and all(_finished(one)) and _knee_tps(one) is None


def _capacity(one: SystemCapacity, lost: str | None) -> Finding:
    finished = sum(_finished(one))
    grown = [tps for search in one.searches if (tps := search.capacity.lag_grows_tps) is not None]
    return found(
        "capacity",
        system=one.system,
        workload=one.workload,
        capacity_tps=one.capacity_tps,
        low_tps=one.low,
        high_tps=one.high,
        objective_ms_p99=one.objective.response_ms_p99,
        errors_ratio=one.objective.errors_ratio,
        searches_count=finished,
        unfinished_count=len(one.searches) - finished,
        stopped=tuple(search.stopped for search in one.searches if search.stopped is not None),
        lag_grows_tps=min(grown, default=None),
        knee_tps=_knee_tps(one),
        less_durable=lost,
        is_disturbed=one.is_disturbed,
    )


def _knee_tps(one: SystemCapacity) -> float | None:
    return knee_of(run for search in one.searches for run in search.capacity.runs)


def _none_holds(own: Sequence[SystemCapacity]) -> Finding:
    """Rates are the lowest at which the objective was judged."""
    objective = own[0].objective
    rates = [run.rate_tps for one in own for search in one.searches for run in search.capacity.runs if run.rate_tps]
    return found(
        "no-capacity",
        workload=own[0].workload,
        systems_count=len(own),
        lowest_tps=min(rates, default=None),
        objective_ms_p99=objective.response_ms_p99,
        errors_ratio=objective.errors_ratio,
    )


def _compared(one: CapacityRatio, best: str, less_durable: LessDurable) -> Finding:
    """The higher capacity first."""
    ratio, base = (one.ratio, one.base) if one.system == best else (one.ratio.inverted, one.system)
    return found(
        "capacity-compared",
        system=best,
        workload=one.workload,
        base=base,
        less_durable=less_durable(one.workload, best, base),
        ratio=ratio,
        verdict=one.verdict,
        repetitions_needed=one.repetitions_needed,
        pairs_count=one.pairs_count,
    )


def _is_of(ratio: CapacityRatio, best: SystemCapacity) -> bool:
    return ratio.workload == best.workload and best.system in (ratio.base, ratio.system)


def _finished(one: SystemCapacity) -> list[bool]:
    return [search.is_finished for search in one.searches]


def _value(one: SystemCapacity) -> float:
    """By which systems are ranked: their knees where they have no capacity."""
    return (_knee_tps(one) or 0.0) if one.capacity_tps is None else one.capacity_tps.value
