"""Capacities and their ratios as far as the machine was fit to find them: what a disturbance withholds.

The runs that an answer rests on count: all steady ones, or the runs at the lowest rate where none holds.
Deliberately not here: how a disturbance is found (`disturbance`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.conditions import without_bounds
from plimsoll.analyse.disturbance import is_disturbed, together, unlike
from plimsoll.analyse.disturbance_model import Disturbance
from plimsoll.analyse.ramps import unlike_sides, withheld
from plimsoll.analyse.search_checks import deciding_trials


def with_disturbances(searched: Iterable[SystemCapacity], met: Mapping[str, Disturbance]) -> tuple[SystemCapacity, ...]:
    """Capacities that say what their deciding runs met."""
    return tuple(_of_capacity(one, met) for one in searched)


def _of_capacity(one: SystemCapacity, met: Mapping[str, Disturbance]) -> SystemCapacity:
    steady = {run.trial_id for search in one.searches for run in search.capacity.runs if run.is_long}
    disturbance = together(met.get(trial_id) for trial_id in sorted(steady or deciding_trials([one])))
    update: dict[str, object] = {"disturbance": disturbance}
    if is_disturbed(disturbance):
        estimate = None if one.capacity_tps is None else without_bounds(one.capacity_tps)
        update |= {"is_disturbed": True, "capacity_tps": estimate, "high": None, "next_low": None}
    return one.model_copy(update=update)


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
    return tuple(_of_ratio(one, searched, met) for one in ratios)


def _of_ratio(one: CapacityRatio, searched: Sequence[SystemCapacity], met: Mapping[str, Disturbance]) -> CapacityRatio:
    own = [capacity for capacity in searched if capacity.workload == one.workload]
    of_base, of_system = ([capacity for capacity in own if capacity.system == name] for name in (one.base, one.system))
    if one.pairs_count:
        return withheld(one, unlike_sides(met_in_ramps(of_base, met), met_in_ramps(of_system, met)))
    base, system = (together(capacity.disturbance for capacity in side) for side in (of_base, of_system))
    return withheld(one, unlike(base, system))


def met_in_ramps(
    searched: Iterable[SystemCapacity], met: Mapping[str, Disturbance]
) -> dict[tuple[int, int], Disturbance]:
    """What each ramp of a system met, by its round and pair."""
    return {
        (search.repetition, run.pair): met[run.trial_id]
        for one in searched
        for search in one.searches
        for run in search.capacity.ramps
        if run.pair is not None and run.trial_id in met
    }
