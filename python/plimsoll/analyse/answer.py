"""The advice in whole sentences: what carries how much, what differs, how large the pool should be, what it costs.

First things first, and nothing is said that the figures do not hold.
Deliberately not here: what the trials cannot decide (`limits`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analyse.across import across_workloads
from plimsoll.analyse.cell_model import Cell, Estimate
from plimsoll.analyse.curves import NOTABLE_SHORT_RATIO
from plimsoll.analyse.differences import SYSTEMS_FOR_ALL_PAIRS
from plimsoll.analyse.model import Curve, Difference, DifferenceVerdict, SystemSummary, WorkloadSummary
from plimsoll.analyse.prose import (
    at_connections,
    effect,
    factor_words,
    inverted,
    listed,
    more,
    p99_words,
    rate_with_bounds,
    ratio_span,
)
from plimsoll.analyse.within_objective import within_objective
from plimsoll.units import format_ms, format_number, format_percent, format_rate

TOLD_ONE_BY_ONE = 5
"""With more systems a table has each (`plimsoll.guide.glance`), and sentences tell what stands out."""

_SYSTEMS_IN_FULL = 4
_COMPARISONS_IN_FULL = 3
"""Comparisons with the best system that are told with every other factor; the guide's table has them all."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is known about one workload; curves by falling peak."""

    workload: WorkloadSummary
    curves: tuple[Curve, ...]
    differences: tuple[Difference, ...]
    systems: Mapping[str, SystemSummary]

    @property
    def unit(self) -> str:
        return self.workload.rate_unit

    @property
    def is_in_a_table(self) -> bool:
        """There are too many systems to tell of each in sentences."""
        return len(self.curves) > TOLD_ONE_BY_ONE


def answer(
    workloads: Sequence[WorkloadSummary],
    systems: Sequence[SystemSummary],
    curves: Sequence[Curve],
    differences: Sequence[Difference],
    *,
    objective_ms_p99: float | None = None,
) -> tuple[str, ...]:
    """The advice; nothing without curves."""
    if not curves:
        return ()
    by_name = {one.name: one for one in systems}
    asked = (_asked(one, curves, differences, by_name) for one in workloads)
    own = (text for one in asked for text in _of_workload(one, objective_ms_p99))
    return (*own, *across_workloads(workloads, by_name, curves))


def _asked(
    workload: WorkloadSummary,
    curves: Sequence[Curve],
    differences: Sequence[Difference],
    systems: Mapping[str, SystemSummary],
) -> _Asked:
    own = [curve for curve in curves if curve.workload == workload.name]
    return _Asked(
        workload,
        tuple(sorted(own, key=lambda curve: -curve.peak.throughput_tps.value)),
        tuple(one for one in differences if one.workload == workload.name and one.connections is None),
        systems,
    )


def _of_workload(asked: _Asked, objective_ms_p99: float | None) -> Iterator[str]:
    yield from _carried(asked)
    yield from within_objective(asked.curves, objective_ms_p99, asked.unit, only_best=asked.is_in_a_table)
    yield from _compared(asked)
    yield from _pool(asked)
    yield from _cost(asked)


def _carried(asked: _Asked) -> Iterator[str]:
    full = asked.curves if len(asked.curves) <= _SYSTEMS_IN_FULL else asked.curves[:1]
    for index, curve in enumerate(full):
        verb = "carries" if index or len(asked.curves) == 1 else _leads(asked)
        yield f"{asked.workload.name}: {curve.system} {verb} {_peak(curve, asked.unit)}."
    rest = asked.curves[len(full) :]
    if rest and not asked.is_in_a_table:
        peaks = (
            f"{curve.system} {rate_with_bounds(curve.peak.throughput_tps, asked.unit)} "
            f"{at_connections(curve.peak.connections)}"
            for curve in rest
        )
        yield f"{asked.workload.name}: the others carry at their peaks: {'; '.join(peaks)}."


def _leads(asked: _Asked) -> str:
    best = asked.curves[0].system
    verdicts = [one.verdict for one in asked.differences if best in (one.base, one.system)]
    decided = all(one in (DifferenceVerdict.FASTER, DifferenceVerdict.SLOWER) for one in verdicts)
    return "carries the most," if decided else "shows the highest figure,"


def _peak(curve: Curve, unit: str) -> str:
    at_least = "" if curve.peak.bracketed else "at least "
    text = f"{at_least}{rate_with_bounds(curve.peak.throughput_tps, unit)} {at_connections(curve.peak.connections)}"
    return f"{text}{_response(peak_cell(curve))}"


def peak_cell(curve: Curve) -> Cell:
    """The cell at the curve's peak."""
    return next(cell for cell in curve.cells if cell.connections == curve.peak.connections)


def _response(cell: Cell) -> str:
    if words := p99_words(cell.response_ms):
        return f", where {words}"
    if cell.response_ms.mean is not None:
        return f", with a mean response time of {format_ms(cell.response_ms.mean)}"
    return "; response times are unknown"


def _compared(asked: _Asked) -> Iterator[str]:
    if len(asked.curves) < 2:
        return
    if asked.is_in_a_table:
        yield from _range_of_others(asked)
    if len(asked.curves) > SYSTEMS_FOR_ALL_PAIRS:
        return
    pairs = [one for curve in asked.curves[1:] if (one := _with_best(asked, curve.system)) is not None]
    yield from (_difference(asked, one) for one in pairs[:_COMPARISONS_IN_FULL])
    rest = pairs[_COMPARISONS_IN_FULL:]
    if rest and not asked.is_in_a_table:
        yield f"{asked.workload.name}: {'; '.join(_verdict(asked, one, _oriented(asked, one)) for one in rest)}."


def _with_best(asked: _Asked, system: str) -> Difference | None:
    pair = {asked.curves[0].system, system}
    return next((one for one in asked.differences if {one.base, one.system} == pair), None)


def _range_of_others(asked: _Asked) -> Iterator[str]:
    peaks = [curve.peak.throughput_tps.value for curve in asked.curves]
    low, high = (format_percent(peak / peaks[0]) for peak in (peaks[-1], peaks[1]))
    best = asked.curves[0].system
    with_best = [one for one in asked.differences if best in (one.base, one.system) and _is_open(one)]
    tied = [one.base if one.system == best else one.system for one in with_best]
    open_words = f" Not told apart from it by these trials: {listed(tied)}." if tied else ""
    yield (
        f"{asked.workload.name}: at their peaks the other {len(peaks) - 1} systems carry from {low} to {high} of what "
        f"{best} carries.{open_words}"
    )


def _is_open(one: Difference) -> bool:
    return one.verdict is DifferenceVerdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class _Oriented:
    """A comparison of two peaks, the higher one first."""

    high: Curve
    low: Curve
    ratio: Estimate
    factors: tuple[tuple[str, str, str], ...]
    one_sided: tuple[tuple[str, str | None, str | None], ...]


def _oriented(asked: _Asked, one: Difference) -> _Oriented:
    curves = {curve.system: curve for curve in asked.curves}
    if one.ratio.value >= 1:
        factors = tuple((name, system, base) for name, base, system in one.other_factors)
        return _Oriented(curves[one.system], curves[one.base], one.ratio, factors, one.one_sided_factors)
    return _Oriented(
        curves[one.base], curves[one.system], inverted(one.ratio), one.other_factors, one.one_sided_factors
    )


def _difference(asked: _Asked, one: Difference) -> str:
    seen = _oriented(asked, one)
    return f"{asked.workload.name}: {_verdict(asked, one, seen)}.{factor_words(seen.factors, seen.one_sided)}"


def _verdict(asked: _Asked, one: Difference, seen: _Oriented) -> str:
    high, low = seen.high.system, seen.low.system
    bounds = seen.ratio.bounds
    span = "" if bounds is None else f" ({ratio_span(bounds, seen.ratio.value)})"
    if one.verdict is DifferenceVerdict.UNTESTABLE:
        peaks = " against ".join(
            f"{format_rate(curve.peak.throughput_tps.value, asked.unit)} {at_connections(curve.peak.connections)}"
            for curve in (seen.high, seen.low)
        )
        return (
            f"at its peak {high} shows {more(seen.ratio.value)} {low} ({peaks}); how much repetitions differ is "
            "unknown, so chance cannot be ruled out"
        )
    if one.verdict is DifferenceVerdict.UNDECIDED:
        smallest = effect(one.smallest_effect or 1.0)
        return (
            f"at their peaks {high} and {low} cannot be told apart: {high} shows {more(seen.ratio.value)} {low}{span}, "
            f"and the smallest difference that these trials could have seen is {smallest}"
        )
    return f"at its peak {high} carries {more(seen.ratio.value)} {low}{span}"


def _pool(asked: _Asked) -> Iterator[str]:
    name = asked.workload.name
    per_core = {curve.pool.per_core for curve in asked.curves}
    alike = per_core.pop() if len(per_core) == 1 else None
    if alike is not None and len(asked.curves) > 1 and all(_is_pool_decided(curve) for curve in asked.curves):
        yield f"{name}: connection pool = {_cores_words(alike)} on every system: more connections carry no more."
        return
    for curve in () if asked.is_in_a_table else asked.curves:
        yield f"Connection pool of {curve.system} for {curve.pool.text}."


def _is_pool_decided(curve: Curve) -> bool:
    """Whether the peak is known, and the lowest level tied with it is near it and not only lost in noise."""
    lowest = curve.peak.tied_connections[0]
    tied_cell = next(cell for cell in curve.cells if cell.connections == lowest)
    near_tps = (1 - NOTABLE_SHORT_RATIO) * curve.peak.throughput_tps.value
    return curve.peak.bracketed and near_tps > 0 and tied_cell.throughput_tps.value >= near_tps


def _cores_words(per_core: float) -> str:
    if per_core == 1:
        return "cores (one connection for each processor core)"
    if per_core == 2:
        return "twice the cores (two connections for each processor core)"
    return f"{format_number(per_core)} connections for each processor core"


def cost_per_1000_tps(curve: Curve, system: SystemSummary) -> float | None:
    """What a month costs for each 1,000 transactions per second at the peak; None where that is not known."""
    if system.cost_per_month is None or curve.peak.throughput_tps.value <= 0:
        return None
    return system.cost_per_month / (curve.peak.throughput_tps.value / 1000)


def _cost(asked: _Asked) -> Iterator[str]:
    known = {curve.system: cost_per_1000_tps(curve, asked.systems[curve.system]) for curve in asked.curves}
    costs = {system: cost for system, cost in known.items() if cost is not None}
    if not costs:
        return
    ordered = sorted(costs, key=lambda system: costs[system])
    if asked.is_in_a_table:
        cheapest = f"{ordered[0]}, {format_number(costs[ordered[0]])} per month for each 1,000 tps"
        yield f"{asked.workload.name}: the cheapest at its peak is {cheapest}."
        return
    figures = [f"{system} {format_number(costs[system])}" for system in ordered]
    without = [curve.system for curve in asked.curves if asked.systems[curve.system].cost_per_month is None]
    unknown = f" No cost is known for {listed(without)}." if without else ""
    yield (
        f"{asked.workload.name}: cost per month for each 1,000 tps at the peak, cheapest first: {listed(figures)}."
        f"{unknown}"
    )
