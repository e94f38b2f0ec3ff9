"""Every system in one row: what a guide shows first."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis, Curve, SystemSummary, WorkloadSummary
from plimsoll.guide.numbers import NOT_KNOWN, show_rate
from plimsoll.guide.rates import carried_entries, rate_curve
from plimsoll.guide.tables import Column, Entry, Table, curves_of, whole


def glance_table(analysis: Analysis) -> Table:
    """Every system in one row: its peak and pool under each workload, instances, cores and cost where known."""
    with_cost = any(system.cost_per_month is not None for system in analysis.systems)
    several = any(system.instances > 1 for system in analysis.systems)
    columns = [Column(heading="system", numeric=False)]
    columns += [Column(heading="instances")] if several else []
    columns += [Column(heading="cores")]
    columns += [Column(heading="cost per month")] if with_cost else []
    for workload in analysis.workloads:
        at_rates = _is_at_rates(analysis, workload)
        headings = (f"carried, {workload.rate_unit}", "p99 ms") if at_rates else (f"peak, {workload.rate_unit}", "pool")
        columns += [Column(heading=heading, group=workload.name) for heading in headings]
    rows = tuple(_row(analysis, system, several=several, with_cost=with_cost) for system in analysis.systems)
    return Table(caption="Systems at a glance", columns=tuple(columns), rows=rows, notes=(_words(analysis),))


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
    curves = {workload.name: curve for workload, curve in curves_of(analysis, system.name)}
    for workload in analysis.workloads:
        if (at_rates := rate_curve(analysis, system.name, workload.name)) is not None:
            entries += carried_entries(at_rates, workload.rate_unit)
        else:
            entries += _peak_entries(curves.get(workload.name), workload.rate_unit)
    return tuple(entries)


def _peak_entries(curve: Curve | None, rate_unit: str) -> list[Entry]:
    if curve is None:
        return [Entry(NOT_KNOWN)] * 2
    shown = show_rate(curve.peak.throughput_tps, rate_unit)
    levels = dict.fromkeys((curve.pool.connections, curve.peak.connections))
    return [Entry(shown.value, shown.bounds), Entry(" to ".join(f"{level:,}" for level in levels))]


def _is_at_rates(analysis: Analysis, workload: WorkloadSummary) -> bool:
    return any(curve.workload == workload.name for curve in analysis.rate_curves)
