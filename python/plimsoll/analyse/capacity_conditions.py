"""Capacities and their ratios as far as the machine was fit to find them: what a disturbance withholds.

The runs that an answer rests on count: all steady ones, or the runs at the lowest rate where none holds.
Deliberately not here: how a disturbance is found (`disturbance`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.conditions import without_bounds, without_verdict
from plimsoll.analyse.disturbance import is_disturbed, together, unlike
from plimsoll.analyse.disturbance_model import Disturbance
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


def withheld_ratios(ratios: Iterable[CapacityRatio], searched: Sequence[SystemCapacity]) -> tuple[CapacityRatio, ...]:
    """The ratios, those without a verdict whose systems met unlike conditions.

    Where several objectives were searched for, all of a system's capacities under the workload count together.
    """
    return tuple(_of_ratio(one, searched) for one in ratios)


def _of_ratio(one: CapacityRatio, searched: Sequence[SystemCapacity]) -> CapacityRatio:
    own = [capacity for capacity in searched if capacity.workload == one.workload]
    base, system = (
        together(capacity.disturbance for capacity in own if capacity.system == name) for name in (one.base, one.system)
    )
    conditions = unlike(base, system)
    return one if conditions is None else one.model_copy(update=without_verdict(one.ratio, conditions))
