"""What a guide says about the TPC-C-derived workload alone: new orders per minute, and where it departs."""

from __future__ import annotations

from dataclasses import replace

from plimsoll.analyse.cell_model import Cell
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.tpcc_clauses import NOTPM_PER_WAREHOUSE_MAX
from plimsoll.analyse.tpcc_model import TpccFigures
from plimsoll.guide.level_tables import levels_of
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.sources import cell_sources
from plimsoll.guide.tables import Column, Entry, Table, whole
from plimsoll.units import format_number

DEVIATIONS = "Deviations from the TPC-C specification"
NO_RESULT = (
    "This workload is derived from TPC-C, revision 5.11. Its figures are not TPC-C results: compare them only with"
    " figures of the same workload."
)
ABOVE = f"over {NOTPM_PER_WAREHOUSE_MAX}"
_ABOVE_WORDS = (
    f"Terminals that keep the keying and think times of the specification enter at most {NOTPM_PER_WAREHOUSE_MAX} new"
    " orders per minute for each warehouse. Higher figures are outside the specification (clause 4.1)."
)
_EFFICIENCY_WORDS = (
    f"Efficiency is NOTPM over {NOTPM_PER_WAREHOUSE_MAX} for each warehouse in use, the most that terminals can enter."
)


def notpm_tables(analysis: Analysis, system: SystemSummary) -> tuple[Table, ...]:
    """One for each TPC-C-derived workload that the system was measured under."""
    found = (notpm_table(analysis, system, workload) for workload in analysis.workloads)
    return tuple(table for table in found if table is not None)


def notpm_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table | None:
    """One system under one workload, a row for each level; None for workloads that have no new orders."""
    heading, cells = levels_of(analysis, system, workload)
    found = [(level, _of(cell), cell_sources(cell)) for level, cell in cells if cell.tpcc is not None]
    if not found:
        return None
    has_efficiency = any(one.efficiency_ratio is not None for _, one, _ in found)
    columns = [heading, "NOTPM", "warehouses in use", "NOTPM each"] + (["efficiency %"] if has_efficiency else [])
    notes = [_EFFICIENCY_WORDS] if has_efficiency else []
    notes += [_ABOVE_WORDS] if any(one.is_above_maximum for _, one, _ in found) else []
    return Table(
        system=system.name,
        caption=f"{workload.name}: new orders per minute (NOTPM)",
        columns=tuple(Column(heading=one) for one in columns),
        rows=tuple(
            (Entry(level), *(replace(entry, sources=sources) for entry in _row(one, has_efficiency=has_efficiency)))
            for level, one, sources in found
        ),
        notes=tuple(notes),
    )


def deviation_table(workload: WorkloadSummary) -> Table | None:
    """Each clause that is departed from; None where there is none."""
    if not workload.deviations:
        return None
    columns = (Column(heading="clause", numeric=False), Column(heading="here", numeric=False))
    return Table(
        caption=f"{workload.name}: {DEVIATIONS[0].lower()}{DEVIATIONS[1:]}",
        columns=(*columns, Column(heading="asked for", numeric=False)),
        rows=tuple((Entry(one.clause), Entry(one.chosen), Entry(one.asked)) for one in workload.deviations),
        notes=(NO_RESULT,),
    )


def _of(cell: Cell) -> TpccFigures:
    assert cell.tpcc is not None, "chosen so"
    return cell.tpcc


def _row(one: TpccFigures, *, has_efficiency: bool) -> tuple[Entry, ...]:
    each, efficiency = one.notpm_per_warehouse, one.efficiency_ratio
    entries = [
        Entry(format_number(one.notpm)),
        Entry(whole(one.warehouses_count)),
        Entry(NOT_KNOWN if each is None else format_number(each), mark=ABOVE if one.is_above_maximum else None),
    ]
    if has_efficiency:
        entries.append(Entry(NOT_KNOWN if efficiency is None else f"{efficiency * 100:,.1f}"))
    return tuple(entries)
