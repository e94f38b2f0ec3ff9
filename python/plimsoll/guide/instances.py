"""What each instance of a system carried, as tables: how evenly the load was spread, and who is behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.guide.levels import levels_of
from plimsoll.guide.numbers import per_unit
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.units import format_number


def instance_tables(analysis: Analysis, system: SystemSummary) -> Iterator[Table]:
    """One table for each workload of which it is known what each of several instances carried."""
    found = (instance_table(analysis, system, workload) for workload in analysis.workloads)
    return (table for table in found if table is not None)


def instance_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table | None:
    """One system under one workload, a row for each level; None where it is not known what each instance carried."""
    heading, cells = levels_of(analysis, system, workload)
    unit = workload.rate_unit
    rows = tuple((Entry(level), *_row(cell.instances_tps, unit)) for level, cell in cells if cell.instances_tps)
    if not rows:
        return None
    columns = [Column(heading=heading), Column(heading=f"mean {unit}")]
    for which in ("slowest", "fastest"):
        columns += [Column(heading=f"{which} {unit}"), Column(heading="which", numeric=False)]
    caption = f"{system.name}, {workload.name}: each of {system.instances} instances"
    return Table(caption=caption, columns=tuple(columns), rows=rows)


def _row(found: Mapping[str, float], unit: str) -> Iterator[Entry]:
    yield Entry(_rate(sum(found.values()) / len(found), unit))
    for name in (min(found, key=found.__getitem__), max(found, key=found.__getitem__)):
        yield from (Entry(_rate(found[name], unit)), Entry(name))


def _rate(tps: float, unit: str) -> str:
    return format_number(per_unit(tps, unit))
