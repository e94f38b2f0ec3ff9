"""Which capacity a cost rests on: what was searched for first, and the highest throughput last.

In this order: a capacity that a search found, the best level within the study's objective, the highest rate that
was sustained, the highest throughput in a closed loop. All systems of a workload are judged by one of these, the first
that any of them has: costs by different ones cannot be compared. A system that lacks it has no cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analyse.capacities import deciding_runs
from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.cost_model import CapacityBasis
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.within_objective import best_within


@dataclass(frozen=True, slots=True)
class KnownCapacity:
    """What a system sustains under a workload, by one basis.

    Attributes:
        may_be_higher: No higher level or rate was measured that is worse.
        trials: The recordings that it rests on.
        is_disturbed: The machine was too slow for too long: nobody knows how far it is off (`disturbance`).
    """

    system: str
    workload: str
    basis: CapacityBasis
    throughput_tps: Estimate
    may_be_higher: bool
    trials: tuple[str, ...]
    is_disturbed: bool = False


def known_capacities(
    curves: Sequence[Curve], searched: Sequence[SystemCapacity], objective_ms_p99: float | None
) -> dict[str, dict[str, KnownCapacity]]:
    """By workload and system, all systems of a workload by the same basis."""
    order = list(CapacityBasis)
    first: dict[str, CapacityBasis] = {}
    found = sorted(_all(curves, searched, objective_ms_p99), key=lambda one: order.index(one.basis))
    chosen: dict[str, dict[str, KnownCapacity]] = {}
    for one in found:
        if first.setdefault(one.workload, one.basis) is one.basis:
            chosen.setdefault(one.workload, {}).setdefault(one.system, one)
    return chosen


def _all(
    curves: Iterable[Curve], searched: Iterable[SystemCapacity], objective_ms_p99: float | None
) -> Iterator[KnownCapacity]:
    for one in searched:
        if one.capacity_tps is not None and one.capacity_tps.value > 0:
            deciding = deciding_runs([one])
            runs = (run.trial_id for search in one.searches for run in search.capacity.runs)
            trials = tuple(trial for trial in runs if trial in deciding)
            yield KnownCapacity(
                one.system,
                one.workload,
                CapacityBasis.SEARCHED,
                one.capacity_tps,
                may_be_higher=one.high is None,
                trials=trials,
                is_disturbed=one.is_disturbed,
            )
    for curve in curves:
        yield from _of_curve(curve, objective_ms_p99)


def _of_curve(curve: Curve, objective_ms_p99: float | None) -> Iterator[KnownCapacity]:
    best = None if objective_ms_p99 is None else best_within(curve, objective_ms_p99)
    at_peak = CapacityBasis.SUSTAINED_RATE if curve.kind.is_at_rate else CapacityBasis.SATURATION
    for basis, place in ((CapacityBasis.WITHIN_OBJECTIVE, best), (at_peak, curve.peak)):
        cell = None if place is None else curve.cell_at(place.level)
        if place is not None and cell is not None and place.throughput_tps.value > 0:
            is_last = cell is curve.cells[-1] and len(curve.cells) > 1
            yield KnownCapacity(
                curve.system,
                curve.workload,
                basis,
                place.throughput_tps,
                may_be_higher=is_last,
                trials=tuple(cell.trials),
                is_disturbed=cell.is_disturbed,
            )
