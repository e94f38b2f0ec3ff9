"""What capacities say first: one finding for each system and workload that was searched, and how systems compare.

Capacities and their ratios as far as the machine was fit to find them: what a disturbance withholds. The runs that an
answer rests on count: all steady ones, or the runs at the lowest rate where none holds; all of a search that was given
up because most were disturbed. A run is disturbed or not by all runs of the study, whatever was known while it ran.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from plimsoll.analyse.findings.curves import deciding_trials
from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.analyse.study.capacities import marked, unlike_sides
from plimsoll.analyse.study.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.study.conditions import is_disturbed, together, unlike
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.record.capacity import SearchRecord, highest_held_tps, knee_of

LessDurable = Callable[[str, str, str], str | None]
"""What the first of two systems may lose and the other does not, under a workload."""


def capacity_answer(
    capacities: Sequence[SystemCapacity], ratios: Sequence[CapacityRatio], less_durable: LessDurable
) -> Iterator[Finding]:
    """By workload: the highest capacity first, then how the highest compares with the others, the next highest first.

    Where every search of several systems ended without a rate that holds, one finding says so for all.
    """
    for workload in dict.fromkeys(capacity.workload for capacity in capacities):
        ranked = sorted(
            (capacity for capacity in capacities if capacity.workload == workload),
            key=lambda capacity: -_value(capacity),
        )
        if len(ranked) > 1 and all(_holds_nowhere(capacity) for capacity in ranked):
            yield _none_holds(ranked)
            continue
        names = [capacity.system for capacity in ranked]
        for capacity in ranked:
            others = (less_durable(workload, capacity.system, other) for other in names)
            yield _capacity(capacity, next(filter(None, others), None))
        compared = (_compared(ratio, names[0], less_durable) for ratio in ratios if _is_of(ratio, ranked[0]))
        yield from sorted(compared, key=lambda finding: names.index(finding.known["base"]))


def _holds_nowhere(system_capacity: SystemCapacity) -> bool:
    is_given_up = any(search.capacity.is_given_up for search in system_capacity.searches)
    return (
        system_capacity.capacity_tps is None
        and all(_finished(system_capacity))
        and _knee_tps(system_capacity) is None
        and not is_given_up
    )


def _capacity(system_capacity: SystemCapacity, lost: str | None) -> Finding:
    finished, found_tps = sum(_finished(system_capacity)), system_capacity.capacity_tps
    swept = max((search.capacity.fastest_tps for search in system_capacity.searches), default=0.0)
    is_far_below = found_tps is not None and any(search.capacity.far_below_sweep for search in system_capacity.searches)
    grown = [tps for search in system_capacity.searches if (tps := search.capacity.lag_grows_tps) is not None]
    return make_finding(
        "capacity",
        system=system_capacity.system,
        workload=system_capacity.workload,
        capacity_tps=system_capacity.capacity_tps,
        low_tps=system_capacity.low,
        high_tps=system_capacity.high,
        objective_ms_p99=system_capacity.objective.response_ms_p99,
        errors_ratio=system_capacity.objective.errors_ratio,
        searches_count=finished,
        unfinished_count=len(system_capacity.searches) - finished,
        stopped=tuple(search.stopped for search in system_capacity.searches if search.stopped is not None),
        lag_grows_tps=min(grown, default=None),
        knee_tps=_knee_tps(system_capacity),
        less_durable=lost,
        is_disturbed=system_capacity.is_disturbed,
        highest_held_tps=_highest_held_tps(system_capacity),
        swept_tps=swept or None,
        is_far_below_sweep=is_far_below,
    )


def _highest_held_tps(system_capacity: SystemCapacity) -> float | None:
    return highest_held_tps(
        (run for search in system_capacity.searches for run in search.capacity.runs), system_capacity.objective
    )


def _knee_tps(system_capacity: SystemCapacity) -> float | None:
    return knee_of(run for search in system_capacity.searches for run in search.capacity.runs)


def _none_holds(capacities: Sequence[SystemCapacity]) -> Finding:
    """Rates are the lowest at which the objective was judged."""
    objective = capacities[0].objective
    rates = [
        run.rate_tps
        for capacity in capacities
        for search in capacity.searches
        for run in search.capacity.runs
        if run.rate_tps
    ]
    return make_finding(
        "no-capacity",
        workload=capacities[0].workload,
        systems_count=len(capacities),
        lowest_tps=min(rates, default=None),
        objective_ms_p99=objective.response_ms_p99,
        errors_ratio=objective.errors_ratio,
    )


def _compared(capacity_ratio: CapacityRatio, best: str, less_durable: LessDurable) -> Finding:
    """The higher capacity first."""
    capacity_ratio = capacity_ratio.against(
        capacity_ratio.base if capacity_ratio.system == best else capacity_ratio.system
    )
    return make_finding(
        "capacity-compared",
        system=best,
        workload=capacity_ratio.workload,
        base=capacity_ratio.base,
        less_durable=less_durable(capacity_ratio.workload, best, capacity_ratio.base),
        ratio=capacity_ratio.ratio,
        verdict=capacity_ratio.verdict.value,
        equal_within=capacity_ratio.equal_within,
        repetitions_needed=capacity_ratio.repetitions_needed,
        pairs_count=capacity_ratio.pairs_count,
    )


def _is_of(ratio: CapacityRatio, best: SystemCapacity) -> bool:
    return ratio.workload == best.workload and best.system in (ratio.base, ratio.system)


def _finished(system_capacity: SystemCapacity) -> list[bool]:
    return [search.is_finished for search in system_capacity.searches]


def _value(system_capacity: SystemCapacity) -> float:
    """By which systems are ranked: their knees where they have no capacity."""
    return (
        (_knee_tps(system_capacity) or 0.0)
        if system_capacity.capacity_tps is None
        else system_capacity.capacity_tps.value
    )


def with_disturbances(searched: Iterable[SystemCapacity], met: Mapping[str, Disturbance]) -> tuple[SystemCapacity, ...]:
    """Capacities that say what their deciding runs met, and which of all their runs were disturbed."""
    return tuple(_of_capacity(capacity, met) for capacity in searched)


def _of_capacity(system_capacity: SystemCapacity, met: Mapping[str, Disturbance]) -> SystemCapacity:
    given_up = [search.capacity for search in system_capacity.searches if search.capacity.is_given_up]
    counted = [run for search in system_capacity.searches for run in search.capacity.runs if run.is_long]
    counted += [run for capacity in given_up for run in capacity.runs if run.rate_tps is not None]
    names = {run.trial_id for run in counted} or deciding_trials([system_capacity])
    disturbance = together(met.get(trial_id) for trial_id in sorted(names))
    update: dict[str, object] = {"disturbance": disturbance, "searches": tuple(_marked(system_capacity.searches, met))}
    if is_disturbed(disturbance) or given_up:
        estimate = None if system_capacity.capacity_tps is None else system_capacity.capacity_tps.without_bounds
        update |= {"is_disturbed": True, "capacity_tps": estimate, "high": None, "next_low": None}
    return system_capacity.model_copy(update=update)


def _marked(searches: Iterable[SearchRecord], met: Mapping[str, Disturbance]) -> Iterator[SearchRecord]:
    for search in searches:
        capacity = search.capacity.model_copy(update={"runs": tuple(marked(search.capacity.runs, met))})
        yield search.model_copy(update={"capacity": capacity})


def withheld_ratios(
    ratios: Iterable[CapacityRatio], searched: Sequence[SystemCapacity], met: Mapping[str, Disturbance]
) -> tuple[CapacityRatio, ...]:
    """The ratios, those without a verdict whose systems met unlike conditions.

    Where several objectives were searched for, all of a system's capacities under the workload count together.

    Args:
        ratios: Of the study.
        searched: The capacities of its systems.
        met: How slow machines were in trials, by their ids; ramps are compared by it.
    """
    return tuple(_of_ratio(ratio, searched, met) for ratio in ratios)


def _of_ratio(
    capacity_ratio: CapacityRatio, searched: Sequence[SystemCapacity], met: Mapping[str, Disturbance]
) -> CapacityRatio:
    under_workload = [capacity for capacity in searched if capacity.workload == capacity_ratio.workload]
    of_base, of_system = (
        [capacity for capacity in under_workload if capacity.system == name]
        for name in (capacity_ratio.base, capacity_ratio.system)
    )
    if capacity_ratio.pairs_count:
        return capacity_ratio.unless(unlike_sides(met_in_ramps(of_base, met), met_in_ramps(of_system, met)))
    base, system = (together(capacity.disturbance for capacity in side) for side in (of_base, of_system))
    return capacity_ratio.unless(unlike(base, system))


def met_in_ramps(
    searched: Iterable[SystemCapacity], met: Mapping[str, Disturbance]
) -> dict[tuple[int, int], Disturbance]:
    """What each ramp of a system met, by its round and pair."""
    return {
        (search.repetition, run.pair): met[run.trial_id]
        for capacity in searched
        for search in capacity.searches
        for run in search.capacity.ramps
        if run.pair is not None and run.trial_id in met
    }
