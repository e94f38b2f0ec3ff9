"""Types of transactions as tables: where a workload has more than one, each stands apart from the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plimsoll.analyse.cell_model import CellFigures
from plimsoll.analyse.duration_model import TypeTotal
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.guide.numbers import NOT_KNOWN, per_unit, show_ms
from plimsoll.guide.rates import rate_curve
from plimsoll.guide.tables import SHARE, Column, Entry, Table, curves_of
from plimsoll.spec.tpcc import TPCC
from plimsoll.units import format_exact

_COLUMNS = (
    Column(heading="transaction", numeric=False),
    Column(heading="p50 ms"),
    Column(heading="p95 ms"),
    Column(heading="p99 ms"),
    Column(heading=SHARE),
    Column(heading="per minute"),
    Column(heading="completed"),
    Column(heading="failed"),
)
_MEAN = Column(heading="mean ms")
_ROLLED_BACK = Column(heading="rolled back")
_NEW_ORDER = "new_order"


def type_tables(analysis: Analysis, system: SystemSummary) -> tuple[Table, ...]:
    """One table for each workload of more than one type that the system was measured under."""
    found = (type_table(analysis, system, workload) for workload in analysis.workloads)
    return tuple(table for table in found if table is not None)


def type_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table | None:
    """One system under one workload: a row for each level and type; None where there is one type only."""
    cells = _levels(analysis, system, workload)
    if not cells or len(workload.types) < 2:
        return None
    at_rates = rate_curve(analysis, system.name, workload.name) is not None
    level = Column(heading=f"wanted {workload.rate_unit}" if at_rates else "connections")
    caption = f"{system.name}, {workload.name}: types of transactions"
    if workload.kind == TPCC and _NEW_ORDER in workload.types:
        caption = f"{caption}; {_NEW_ORDER} per minute is NOTPM"
    columns = (level, *_COLUMNS, *(column for column, _ in _more(cells)))
    return Table(caption=caption, columns=columns, rows=tuple(_rows(cells, list(workload.types))))


def _more(cells: list[tuple[str, CellFigures]]) -> list[tuple[Column, Callable[[TypeTotal], str]]]:
    """Columns of what only some trials have: rollbacks, and the mean where percentiles are missing."""
    types = [one for _, cell in cells for one in cell.types]
    more: list[tuple[Column, Callable[[TypeTotal], str]]] = []
    if any(one.response_ms.p50 is None and one.response_ms.mean is not None for one in types):
        more.append((_MEAN, lambda one: show_ms(one.response_ms.mean)))
    if any(one.rolled_back_count for one in types):
        more.append((_ROLLED_BACK, _rolled_back))
    return more


def _rolled_back(one: TypeTotal) -> str:
    return NOT_KNOWN if one.rolled_back_count is None else f"{one.rolled_back_count:,}"


def _levels(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> list[tuple[str, CellFigures]]:
    """Every level as it is shown, with its figures."""
    at_rates = rate_curve(analysis, system.name, workload.name)
    if at_rates is not None:
        return [(format_exact(per_unit(one.rate_tps, workload.rate_unit)), one) for one in at_rates.cells]
    curves = (curve for of, curve in curves_of(analysis, system.name) if of == workload)
    return [(f"{one.connections:,}", one) for curve in curves for one in curve.cells]


def _rows(cells: list[tuple[str, CellFigures]], order: list[str]) -> Iterator[tuple[Entry, ...]]:
    shown = [show for _, show in _more(cells)]
    for level, cell in cells:
        totals = {one.name: one for one in cell.types}
        found = [totals[name] for name in order if name in totals]
        yield from ((*_row(level, one), *(Entry(show(one)) for show in shown)) for one in found)


def _row(level: str, one: TypeTotal) -> tuple[Entry, ...]:
    times = one.response_ms
    return (
        Entry(level),
        Entry(one.name),
        *(Entry(show_ms(value)) for value in (times.p50, times.p95, times.p99)),
        Entry(NOT_KNOWN if one.completed_ratio is None else f"{one.completed_ratio * 100:.1f}"),
        Entry(NOT_KNOWN if one.throughput_tps is None else format_exact(per_unit(one.throughput_tps, "tpm"))),
        Entry(f"{one.completed_count:,}"),
        Entry(f"{one.failed_count:,}"),
    )
