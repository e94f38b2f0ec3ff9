"""What each instance of a system completed, as tables: how evenly the load was spread, and who is behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.guide.level_tables import levels_of
from plimsoll.guide.numbers import NOT_KNOWN, per_unit
from plimsoll.guide.sources import cell_sources
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.units import format_number

_NOTE = "Skew is the fastest over the slowest."


def instance_tables(analysis: Analysis, system: SystemSummary) -> Iterator[Table]:
    """One table for each workload of which it is known what each of several instances completed."""
    found = (instance_table(analysis, system, workload) for workload in analysis.workloads)
    return (table for table in found if table is not None)


def instance_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table | None:
    """One system under one workload, a row for each level; None where it is not known what each instance completed."""
    heading, cells = levels_of(analysis, system, workload)
    unit = workload.rate_unit
    rows = tuple(
        (Entry(level), *(replace(entry, sources=cell_sources(cell)) for entry in _row(cell.instances_tps, unit)))
        for level, cell in cells
        if cell.instances_tps
    )
    if not rows:
        return None
    columns = [Column(heading=heading), Column(heading=f"all {unit}"), Column(heading=f"mean {unit}")]
    for which in ("slowest", "fastest"):
        columns += [Column(heading=f"{which} {unit}"), Column(heading="which", numeric=False)]
    columns.append(Column(heading="skew"))
    caption = f"{workload.name}: each of {system.instances} instances"
    return Table(system=system.name, caption=caption, columns=tuple(columns), rows=rows, notes=(_NOTE,))


def _row(found: Mapping[str, float], unit: str) -> Iterator[Entry]:
    total, slowest, fastest = sum(found.values()), min(found.values()), max(found.values())
    yield from (Entry(_rate(total, unit)), Entry(_rate(total / len(found), unit)))
    for name in (min(found, key=found.__getitem__), max(found, key=found.__getitem__)):
        yield from (Entry(_rate(found[name], unit)), Entry(name))
    yield Entry(NOT_KNOWN if slowest == 0 else f"{fastest / slowest:.2f}")


def _rate(tps: float, unit: str) -> str:
    return format_number(per_unit(tps, unit))
