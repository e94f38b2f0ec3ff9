"""Cost of transactions, and which systems are on the Pareto front of cost and capacity.

Cost of a million transactions = price of a month / (capacity x utilisation x seconds of a month) x 10^6, a month being
a twelfth of 365.25 days. Its interval is that of the capacity; a price has none. A system is off the front when one
that costs no more sustains more (or as much for less) beyond the two confidence intervals; where these overlap, that is
undecided. Prices in different currencies are never compared.

Deliberately not here: currency conversion, and cost at a demand (`size`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from plimsoll.analyse.cell_model import Bounds, Estimate
from plimsoll.analyse.cost_model import OnFront, SystemCost, WorkloadCost
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import SystemSummary
from plimsoll.record.price import Price

SECONDS_PER_MONTH = 365.25 / 12 * 86_400


def workload_costs(
    curves: Iterable[Curve], systems: Sequence[SystemSummary], utilisation: float
) -> tuple[WorkloadCost, ...]:
    """One for each workload under which a system with a price has a capacity."""
    by_workload: dict[str, dict[str, Curve]] = {}
    for curve in curves:
        if curve.peak is None or curve.peak.throughput_tps.value <= 0:
            continue
        own = by_workload.setdefault(curve.workload, {})
        if curve.system not in own or curve.kind.is_at_rate:  # a rate that was sustained says more than saturation
            own[curve.system] = curve
    found = (_workload(workload, own, systems, utilisation) for workload, own in by_workload.items())
    return tuple(one for one in found if one.systems)


def currency_of(price: Price) -> str:
    """A price's currency; empty where none is stated."""
    return price.currency or ""


def is_comparable(systems: Iterable[SystemSummary]) -> bool:
    """Whether all prices that are known are in one currency."""
    return len({currency_of(one.price) for one in systems if one.price is not None}) <= 1


def _workload(
    workload: str, curves: dict[str, Curve], systems: Sequence[SystemSummary], utilisation: float
) -> WorkloadCost:
    costs = [
        _cost(curves[one.name], one.price, utilisation)
        for one in systems
        if one.price is not None and one.name in curves
    ]
    ordered = sorted(costs, key=lambda one: (currency_of(one.price), one.per_million.value, one.system))
    groups = {currency: list(same) for currency, same in groupby(ordered, lambda one: currency_of(one.price))}
    return WorkloadCost(
        workload=workload,
        utilisation=utilisation,
        systems=tuple(_placed(one, same) for same in groups.values() for one in same),
        currencies=tuple(groups),
        undecided=tuple(currency for currency, same in groups.items() if not _is_order_known(same)),
        without_price=tuple(one.name for one in systems if one.price is None and one.name in curves),
    )


def _cost(curve: Curve, price: Price, utilisation: float) -> SystemCost:
    assert curve.peak is not None, "curves without a peak were left out"
    capacity = curve.peak.throughput_tps
    bounds = capacity.bounds
    if bounds is not None:
        low, high = (cost_per_million(price, tps * utilisation) for tps in (bounds.high, max(bounds.low, 1e-9)))
        bounds = Bounds(**{**bounds.model_dump(), "low": low, "high": high})
    per_million = cost_per_million(price, capacity.value * utilisation)
    return SystemCost(
        system=curve.system,
        price=price,
        capacity_tps=capacity,
        is_saturation=not curve.kind.is_at_rate,
        is_at_last_level=is_peak_open(curve),
        per_million=Estimate(value=per_million, bounds=bounds, trial_count=capacity.trial_count),
        on_front=OnFront.YES,
    )


def cost_per_1000_tps(curve: Curve, system: SystemSummary) -> Estimate | None:
    """What a month costs for each 1,000 transactions per second at the peak; None where that is not known."""
    if system.cost_per_month is None or curve.peak is None or curve.peak.throughput_tps.value <= 0:
        return None
    throughput, money = curve.peak.throughput_tps, system.cost_per_month * 1000
    bounds = throughput.bounds
    if bounds is not None:
        edges = {"low": money / bounds.high, "high": money / max(bounds.low, 1e-9)}
        bounds = bounds.model_copy(update=edges)
    return Estimate(value=money / throughput.value, bounds=bounds, trial_count=throughput.trial_count)


def is_peak_open(curve: Curve) -> bool:
    """Whether throughput was highest at the last of several levels, so that the peak may be higher."""
    return curve.peak is not None and not curve.peak.is_inside_range and len(curve.cells) > 1


def _is_order_known(same: Sequence[SystemCost]) -> bool:
    return is_cheapest_known([one.per_million for one in same], is_open=any(one.is_at_last_level for one in same))


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
    return not is_open and all(high < (one.value if one.bounds is None else one.bounds.low) for one in others)


def cost_per_million(price: Price, tps: float) -> float:
    """Cost of a million transactions of a system that runs at so many per second all month."""
    return price.per_month / (tps * SECONDS_PER_MONTH) * 1e6


def _placed(one: SystemCost, same: Sequence[SystemCost]) -> SystemCost:
    better = [other for other in same if other is not one and _dominates(other, one)]
    if not better:
        return one
    best = max(better, key=lambda other: (_is_sure(other, one), other.capacity_tps.value))
    place = OnFront.NO if _is_sure(best, one) else OnFront.UNDECIDED
    return one.model_copy(update={"on_front": place, "beaten_by": best.system})


def _dominates(other: SystemCost, one: SystemCost) -> bool:
    cheaper, more = other.price.per_month - one.price.per_month, other.capacity_tps.value - one.capacity_tps.value
    return cheaper <= 0 and more >= 0 and (cheaper < 0 or more > 0)


def _is_sure(other: SystemCost, one: SystemCost) -> bool:
    """Without intervals nothing can be said of chance, and the figures stand as they are."""
    mine, theirs = one.capacity_tps.bounds, other.capacity_tps.bounds
    return mine is None or theirs is None or theirs.low > mine.high


def cost_figures(system: SystemSummary, tps: float) -> dict[str, Any]:
    """What a system costs at a load, as fields of `SystemFit`."""
    million = None if system.price is None else cost_per_million(system.price, tps)
    return {"cost_per_month": system.cost_per_month, "price": system.price, "cost_per_million": million}
