"""Every system in one row: what a guide shows first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plimsoll.analyse.answer import TOLD_ONE_BY_ONE, cost_per_1000_tps, peak_cell
from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.duration_model import has_p99
from plimsoll.analyse.model import Analysis, Curve, SystemSummary, WorkloadSummary
from plimsoll.analyse.within_objective import best_within
from plimsoll.guide.numbers import NOT_KNOWN, show_rate, show_statistic
from plimsoll.guide.rates import carried_entries, rate_curve
from plimsoll.guide.tables import Column, Entry, Table, curves_of, whole
from plimsoll.units import format_ms, format_number

_NOTHING = Entry(NOT_KNOWN)

_Figure = tuple[str, Callable[[Curve], Entry]]
"""The heading of a column, and what of a curve stands below it."""


def glance_table(analysis: Analysis) -> Table:
    """Every system in one row: its peak and pool under each workload, instances, cores and cost where known.

    Of a workload with too many systems to tell of each in sentences, it says what these would say as well.
    """
    with_cost = any(system.cost_per_month is not None for system in analysis.systems)
    several = any(system.instances > 1 for system in analysis.systems)
    columns = [Column(heading="system", numeric=False)]
    columns += [Column(heading="instances")] if several else []
    columns += [Column(heading="cores")]
    columns += [Column(heading="cost per month")] if with_cost else []
    columns += [
        Column(heading=heading, group=workload.name)
        for workload in analysis.workloads
        for heading in _headings(analysis, workload)
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
    meanings = []
    if analysis.curves:
        meanings.append("Peak is the highest throughput that was measured.")
        meanings.append("Pool is how many connections an application should keep open.")
    if analysis.rate_curves:
        meanings.append("Carried is the highest rate that was completed without falling behind.")
    return " ".join((rates, *meanings)).strip()


def _row(analysis: Analysis, system: SystemSummary, *, several: bool, with_cost: bool) -> tuple[Entry, ...]:
    entries = [Entry(system.name)]
    entries += [Entry(whole(system.instances))] if several else []
    entries.append(Entry(whole(system.cores)))
    if with_cost:
        entries.append(Entry(whole(system.cost_per_month)))
    for workload in analysis.workloads:
        entries += _entries(analysis, system, workload)
    return tuple(entries)


def _headings(analysis: Analysis, workload: WorkloadSummary) -> list[str]:
    if any(curve.workload == workload.name for curve in analysis.rate_curves):
        return [f"carried, {workload.rate_unit}", "p99 ms"]
    return [f"peak, {workload.rate_unit}", "pool", *(heading for heading, _ in _more(analysis, workload))]


def _entries(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> list[Entry]:
    """What stands below the headings of one workload."""
    if (at_rates := rate_curve(analysis, system.name, workload.name)) is not None:
        return carried_entries(at_rates, workload.rate_unit)
    curve = next((curve for of, curve in curves_of(analysis, system.name) if of == workload), None)
    if curve is None:
        return [_NOTHING] * len(_headings(analysis, workload))
    levels = dict.fromkeys((curve.pool.connections, curve.peak.connections))
    return [
        _rate(curve.peak.throughput_tps, workload.rate_unit),
        Entry(" to ".join(f"{level:,}" for level in levels)),
        *(show(curve) for _, show in _more(analysis, workload)),
    ]


def _more(analysis: Analysis, workload: WorkloadSummary) -> list[_Figure]:
    """What stands in no sentence when there are many systems."""
    if _is_told_one_by_one(analysis, workload):
        return []
    systems, unit = {one.name: one for one in analysis.systems}, workload.rate_unit
    own = [curve for curve in analysis.curves if curve.workload == workload.name]
    objective_ms = analysis.objective_ms_p99
    more: list[_Figure] = []
    if any(has_p99(cell.response_ms) for curve in own for cell in curve.cells):
        more.append(("p99 ms at the peak", lambda curve: Entry(show_statistic(peak_cell(curve).response_ms, "p99"))))
    if objective_ms is not None:
        heading = f"{unit} with p99 within {format_ms(objective_ms)}"
        more.append((heading, lambda curve: _within(curve, objective_ms, unit)))
    if any(systems[curve.system].cost_per_month is not None for curve in own):
        heading = "cost per month for each 1,000 tps"
        more.append((heading, lambda curve: _cost(cost_per_1000_tps(curve, systems[curve.system]))))
    return more


def _is_told_one_by_one(analysis: Analysis, workload: WorkloadSummary) -> bool:
    return len(_systems_under(analysis, workload)) <= TOLD_ONE_BY_ONE


def _systems_under(analysis: Analysis, workload: WorkloadSummary) -> set[str]:
    by_level = {curve.system for curve in analysis.curves if curve.workload == workload.name}
    return by_level | {curve.system for curve in analysis.rate_curves if curve.workload == workload.name}


def _rate(throughput_tps: Estimate, unit: str) -> Entry:
    shown = show_rate(throughput_tps, unit)
    return Entry(shown.value, shown.bounds)


def _within(curve: Curve, objective_ms: float, unit: str) -> Entry:
    best = best_within(curve, objective_ms)
    return _NOTHING if best is None else _rate(best.throughput_tps, unit)


def _cost(cost: float | None) -> Entry:
    return _NOTHING if cost is None else Entry(format_number(cost))
