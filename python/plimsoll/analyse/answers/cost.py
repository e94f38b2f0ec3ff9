"""Cost of transactions, which capacity it rests on, and which systems are on the Pareto front of cost and capacity.

Cost of a million transactions = price of a month / (capacity x utilisation x seconds of a month) x 10^6, a month being
a twelfth of 365.25 days. Its interval is that of the capacity; a price has none. A system is off the front when one
that costs no more sustains more (or as much for less) beyond the two confidence intervals; where these overlap, or one
of the two is disturbed, that is undecided. Prices in different currencies are never compared.

Which capacity a cost rests on: what was searched for first, and the highest throughput last. In this order: a capacity
that a search found, the best level within the study's objective, the highest rate that was sustained, the highest
throughput in a closed loop. All systems of a workload are judged by one of these, the first that any of them has:
costs by different ones cannot be compared. A system that lacks it has no cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.study.capacities import deciding_runs
from plimsoll.analyse.study.capacity_model import CapacityBasis, OnFront, SystemCapacity, SystemCost, WorkloadCost
from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.points import best_within
from plimsoll.record.model import Price

SECONDS_PER_MONTH = 365.25 / 12 * 86_400


def workload_costs(
    curves: Sequence[Curve],
    searched: Sequence[SystemCapacity],
    systems: Sequence[SystemSummary],
    *,
    objective_ms_p99: float | None,
    utilisation: float,
) -> tuple[WorkloadCost, ...]:
    """One for each workload under which a system with a price has a capacity."""
    by_workload = known_capacities(curves, searched, objective_ms_p99)
    measured = {(curve.workload, curve.system) for curve in curves} | {
        (capacity.workload, capacity.system) for capacity in searched
    }
    costs = (
        _workload(workload, known, [system for system in systems if (workload, system.name) in measured], utilisation)
        for workload, known in by_workload.items()
    )
    return tuple(cost for cost in costs if cost.systems)


def currency_of(price: Price) -> str:
    """A price's currency; empty where none is stated."""
    return price.currency or ""


def is_comparable(systems: Iterable[SystemSummary]) -> bool:
    """Whether all prices that are known are in one currency."""
    return len({currency_of(system.price) for system in systems if system.price is not None}) <= 1


def _workload(
    workload: str, known: Mapping[str, KnownCapacity], systems: Sequence[SystemSummary], utilisation: float
) -> WorkloadCost:
    costs = [
        _cost(known[system.name], system.price, utilisation)
        for system in systems
        if system.price is not None and system.name in known
    ]
    ordered = sorted(costs, key=lambda cost: (currency_of(cost.price), cost.per_million.value, cost.system))
    groups = {currency: list(same) for currency, same in groupby(ordered, lambda cost: currency_of(cost.price))}
    return WorkloadCost(
        workload=workload,
        basis=next(iter(known.values())).basis,
        utilisation=utilisation,
        systems=tuple(_placed(cost, same) for same in groups.values() for cost in same),
        currencies=tuple(groups),
        undecided=tuple(currency for currency, same in groups.items() if not _is_order_known(same)),
        without_price=tuple(system.name for system in systems if system.price is None),
        without_capacity=tuple(
            system.name for system in systems if system.price is not None and system.name not in known
        ),
    )


def _cost(known: KnownCapacity, price: Price, utilisation: float) -> SystemCost:
    capacity = known.throughput_tps
    bounds = capacity.bounds
    if bounds is not None:
        low, high = (cost_per_million(price, tps * utilisation) for tps in (bounds.high, max(bounds.low, 1e-9)))
        bounds = Bounds(**{**bounds.model_dump(), "low": low, "high": high})
    per_million = cost_per_million(price, capacity.value * utilisation)
    return SystemCost(
        system=known.system,
        price=price,
        capacity_tps=capacity,
        may_be_higher=known.may_be_higher,
        trials=known.trials,
        per_million=Estimate(value=per_million, bounds=bounds, trial_count=capacity.trial_count),
        on_front=OnFront.YES,
        is_disturbed=known.is_disturbed,
    )


def _is_order_known(same: Sequence[SystemCost]) -> bool:
    is_open = any(cost.may_be_higher or cost.is_disturbed for cost in same)
    return is_cheapest_known([cost.per_million for cost in same], is_open=is_open)


def is_cheapest_known(costs: Sequence[Estimate], *, is_open: bool) -> bool:
    """Whether the first of several costs is surely the lowest.

    Args:
        costs: The lowest figure first. Without intervals nothing can be said of chance, and figures stand as they are.
        is_open: Some throughput may be higher than was measured, so that some cost may be lower.
    """
    first, *others = costs
    if not others:
        return True
    high = first.value if first.bounds is None else first.bounds.high
    return not is_open and all(high < (other.value if other.bounds is None else other.bounds.low) for other in others)


def cost_per_million(price: Price, tps: float) -> float:
    """Cost of a million transactions of a system that runs at so many per second all month."""
    return price.per_month / (tps * SECONDS_PER_MONTH) * 1e6


def _placed(system_cost: SystemCost, same: Sequence[SystemCost]) -> SystemCost:
    better = [other for other in same if other is not system_cost and _dominates(other, system_cost)]
    if not better:
        return system_cost
    best = max(better, key=lambda other: (_is_sure(other, system_cost), other.capacity_tps.value))
    place = OnFront.NO if _is_sure(best, system_cost) else OnFront.UNDECIDED
    return system_cost.model_copy(update={"on_front": place, "beaten_by": best.system})


def _dominates(other: SystemCost, system_cost: SystemCost) -> bool:
    cheaper, more = (
        other.price.per_month - system_cost.price.per_month,
        other.capacity_tps.value - system_cost.capacity_tps.value,
    )
    return cheaper <= 0 and more >= 0 and (cheaper < 0 or more > 0)


def _is_sure(other: SystemCost, system_cost: SystemCost) -> bool:
    """Without intervals nothing can be said of chance, and the figures stand as they are, unless they are disturbed."""
    if other.is_disturbed or system_cost.is_disturbed:
        return False
    mine, theirs = system_cost.capacity_tps.bounds, other.capacity_tps.bounds
    return mine is None or theirs is None or theirs.low > mine.high


def cost_figures(system: SystemSummary, tps: float) -> dict[str, Any]:
    """What a system costs at a load, as fields of `SystemFit`."""
    million = None if system.price is None else cost_per_million(system.price, tps)
    return {"cost_per_month": system.cost_per_month, "price": system.price, "cost_per_million": million}


@dataclass(frozen=True, slots=True)
class KnownCapacity:
    """What a system sustains under a workload, by one basis.

    Attributes:
        may_be_higher: No higher level or rate was measured that is worse.
        trials: The recordings that it rests on.
        is_disturbed: The machine was too slow for too long: nobody knows how far it is off
        (`analyse.study.conditions`).
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
    capacities = sorted(_all(curves, searched, objective_ms_p99), key=lambda capacity: order.index(capacity.basis))
    chosen: dict[str, dict[str, KnownCapacity]] = {}
    for capacity in capacities:
        if first.setdefault(capacity.workload, capacity.basis) is capacity.basis:
            chosen.setdefault(capacity.workload, {}).setdefault(capacity.system, capacity)
    return chosen


def _all(
    curves: Iterable[Curve], searched: Iterable[SystemCapacity], objective_ms_p99: float | None
) -> Iterator[KnownCapacity]:
    for capacity in searched:
        if capacity.capacity_tps is not None and capacity.capacity_tps.value > 0:
            deciding = deciding_runs([capacity])
            runs = (run.trial_id for search in capacity.searches for run in search.capacity.runs)
            trials = tuple(trial for trial in runs if trial in deciding)
            yield KnownCapacity(
                capacity.system,
                capacity.workload,
                CapacityBasis.SEARCHED,
                capacity.capacity_tps,
                may_be_higher=capacity.high is None,
                trials=trials,
                is_disturbed=capacity.is_disturbed,
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
