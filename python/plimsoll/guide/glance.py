"""Every system in one row: what a guide shows first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from plimsoll.analyse.answer import TOLD_ONE_BY_ONE
from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.cost_model import SystemCost
from plimsoll.analyse.curve_model import Curve, PoolReason
from plimsoll.analyse.duration_model import has_p99
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.within_objective import best_within
from plimsoll.guide.level_tables import curves_of
from plimsoll.guide.numbers import NOT_KNOWN, show_rate, show_statistic
from plimsoll.guide.pools import has_pool_advice
from plimsoll.guide.sources import capacity_sources, cell_sources
from plimsoll.guide.tables import PEAK, SUSTAINED, Column, Entry, Table, whole
from plimsoll.prose.cost import money_words, price_words
from plimsoll.prose.phrases import within_words

_NOTHING = Entry(NOT_KNOWN)

_Figure = tuple[str, Callable[[Curve], Entry]]
"""The heading of a column, and what of a curve stands below it."""


def glance_table(analysis: Analysis) -> Table:
    """Every system in one row: its peak and pool under each workload, instances, cores and cost where known.

    Of a workload with too many systems to tell of each in sentences, it says what these would say as well.
    """
    with_cost = any(system.price is not None for system in analysis.systems)
    several = any(system.instances > 1 for system in analysis.systems)
    columns = [Column(heading="system", numeric=False)]
    columns += [Column(heading="instances")] if several else []
    replicated = any(system.replicas for system in analysis.systems)
    columns += [Column(heading="replicas")] if replicated else []
    columns += [Column(heading="cores")]
    columns += [Column(heading="cost per month")] if with_cost else []
    columns += [
        Column(heading=heading, group=workload.name)
        for workload in analysis.workloads
        for heading in (*_capacity_headings(analysis, workload), *_headings(analysis, workload))
    ]
    rows = tuple(_row(analysis, system, several=several, with_cost=with_cost) for system in analysis.systems)
    return Table(caption="Systems at a glance", columns=tuple(columns), rows=rows, notes=(_words(analysis),))


def many_tables(analysis: Analysis) -> Iterator[Table]:
    """The same in a table for each workload that has too many systems for sentences: narrow enough for a terminal."""
    for workload in analysis.workloads:
        if _is_told_one_by_one(analysis, workload):
            continue
        columns = [Column(heading="system", numeric=False)]
        columns += [Column(heading=heading) for heading in _headings(analysis, workload)]
        rows = [
            (Entry(system.name), *_entries(analysis, system, workload))
            for system in analysis.systems
            if system.name in _systems_under(analysis, workload)
        ]
        yield Table(caption=workload.name, columns=tuple(columns), rows=tuple(rows))


def _words(analysis: Analysis) -> str:
    """What the headings mean, for those who read no other page."""
    units = dict.fromkeys(workload.rate_unit for workload in analysis.workloads)
    rates = " ".join(f"{unit} is transactions per {'minute' if unit == 'tpm' else 'second'}." for unit in units)
    headings = {heading for workload in analysis.workloads for heading in _headings(analysis, workload)}
    meanings = []
    if any(one.replicas for one in analysis.systems):
        meanings.append("Throughput is that of all servers of a system: instances divide its data, replicas repeat it.")
    if any(_capacity_headings(analysis, workload) for workload in analysis.workloads):
        meanings.append("Capacity is the rate at which the objective is just kept.")
    if any(heading.startswith(PEAK) for heading in headings):
        meanings.append("Peak is the highest throughput that was measured.")
    if "pool" in headings:
        limit = "" if analysis.objective_ms_p99 is None else ", of the levels within the objective"
        meanings.append(f"Pool is how many connections an application should keep open{limit}.")
    if any(heading.startswith(SUSTAINED) for heading in headings):
        meanings.append("Sustained is the highest target rate that was completed without falling behind.")
    return " ".join((rates, *meanings)).strip()


def _row(analysis: Analysis, system: SystemSummary, *, several: bool, with_cost: bool) -> tuple[Entry, ...]:
    entries = [Entry(system.name)]
    entries += [Entry(whole(system.instances))] if several else []
    entries += [Entry(str(system.replicas))] if any(one.replicas for one in analysis.systems) else []
    entries.append(Entry(whole(system.cores)))
    if with_cost:
        entries.append(_NOTHING if system.price is None else Entry(price_words(system.price)))
    for workload in analysis.workloads:
        entries += [_capacity(analysis, system, workload) for _ in _capacity_headings(analysis, workload)]
        entries += _entries(analysis, system, workload)
    return tuple(entries)


def _capacity_headings(analysis: Analysis, workload: WorkloadSummary) -> list[str]:
    is_searched = any(one.workload == workload.name for one in analysis.capacities)
    return [f"capacity, {workload.rate_unit}"] if is_searched else []


def _capacity(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Entry:
    own = (one for one in analysis.capacities if (one.system, one.workload) == (system.name, workload.name))
    found = next(own, None)
    if found is None:
        return _NOTHING
    if found.capacity_tps is None:
        return Entry("not known")
    return replace(_rate(found.capacity_tps, workload.rate_unit), sources=capacity_sources(found))


def _headings(analysis: Analysis, workload: WorkloadSummary) -> list[str]:
    return [heading for heading, _ in _figures(analysis, workload)]


def _entries(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> list[Entry]:
    """What stands below the headings of one workload."""
    own = {curve.kind.is_at_rate: curve for _, curve in curves_of(analysis, system.name, workload.name)}
    curve = own.get(_is_at_rate(analysis, workload))
    return [_NOTHING if curve is None else _sourced(show(curve), curve) for _, show in _figures(analysis, workload)]


def _sourced(entry: Entry, curve: Curve) -> Entry:
    """The entry with the recordings of the peak, unless it has others or is no figure."""
    return entry if entry.source or entry.text == NOT_KNOWN else replace(entry, sources=cell_sources(curve.peak_cell))


def _is_at_rate(analysis: Analysis, workload: WorkloadSummary) -> bool:
    return any(curve.kind.is_at_rate for curve in analysis.curves if curve.workload == workload.name)


def _figures(analysis: Analysis, workload: WorkloadSummary) -> list[_Figure]:
    unit = workload.rate_unit
    if not any(curve.workload == workload.name for curve in analysis.curves) and analysis.capacities:
        return []
    within = _within_figure(analysis.objective_ms_p99, unit)
    if _is_at_rate(analysis, workload):
        return [*within, (f"{SUSTAINED}, {unit}", lambda curve: _sustained(curve, unit)), ("p99 ms", _peak_p99)]
    own = [curve for curve in analysis.curves if curve.workload == workload.name]
    levels = {cell.level.order: cell.level for curve in own for cell in curve.cells}
    peak = f"{unit} at {next(iter(levels.values())).label()}" if len(levels) == 1 else f"{PEAK}, {unit}"
    return [
        *within,
        (peak, lambda curve: _rate(curve.peak.throughput_tps, unit) if curve.peak else _NOTHING),
        *([("pool", _pool)] if any(map(has_pool_advice, own)) else []),
        *_more(analysis, workload),
    ]


def _within_figure(objective_ms: float | None, unit: str) -> list[_Figure]:
    """The best level within the study's objective; nothing without one."""
    if objective_ms is None:
        return []
    return [(f"{unit} {within_words(objective_ms)}", lambda curve: _within(curve, objective_ms, unit))]


def _sustained(curve: Curve, unit: str) -> Entry:
    if curve.peak is None:
        return Entry("none")
    at_least = "" if curve.peak.is_inside_range else "at least "
    return Entry(f"{at_least}{curve.peak.level.figure(unit)}")


def _peak_p99(curve: Curve) -> Entry:
    cell = curve.peak_cell
    return _NOTHING if cell is None else Entry(show_statistic(cell.response_ms, "p99"))


def _pool(curve: Curve) -> Entry:
    if curve.pool is None or curve.peak is None or not has_pool_advice(curve):
        return _NOTHING
    if curve.pool.reason is PoolReason.SINGLE_FIGURES:
        return Entry(f"highest at {curve.pool.connections:,}")
    levels = dict.fromkeys(curve.pool.between or (curve.pool.connections,))
    return Entry(" to ".join(f"{level:,}" for level in levels))


def _more(analysis: Analysis, workload: WorkloadSummary) -> list[_Figure]:
    """What stands in no sentence when there are many systems."""
    if _is_told_one_by_one(analysis, workload):
        return []
    own = [curve for curve in analysis.curves if curve.workload == workload.name]
    more: list[_Figure] = []
    if any(has_p99(cell.response_ms) for curve in own for cell in curve.cells):
        more.append(("p99 ms at the peak", _peak_p99))
    for cost in (one for one in analysis.costs if one.workload == workload.name):
        by_system = {one.system: one for one in cost.systems}
        heading = f"cost per million at {cost.utilisation * 100:.3g} %"
        more.append((heading, partial(_cost, by_system)))
    return more


def _is_told_one_by_one(analysis: Analysis, workload: WorkloadSummary) -> bool:
    return len(_systems_under(analysis, workload)) <= TOLD_ONE_BY_ONE


def _systems_under(analysis: Analysis, workload: WorkloadSummary) -> set[str]:
    return {curve.system for curve in analysis.curves if curve.workload == workload.name}


def _rate(throughput_tps: Estimate, unit: str) -> Entry:
    shown = show_rate(throughput_tps, unit)
    return Entry(shown.value, shown.bounds)


def _within(curve: Curve, objective_ms: float, unit: str) -> Entry:
    best = best_within(curve, objective_ms)
    return (
        _NOTHING
        if best is None
        else replace(_rate(best.throughput_tps, unit), sources=cell_sources(curve.cell_at(best.level)))
    )


def _cost(by_system: Mapping[str, SystemCost], curve: Curve) -> Entry:
    cost = by_system.get(curve.system)
    if cost is None:
        return _NOTHING
    return Entry(money_words(cost.per_million.value, cost.price.currency), sources=cost.trials)
