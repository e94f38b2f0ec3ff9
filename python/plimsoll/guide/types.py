"""Types of transactions as tables: where a workload has more than one, each stands apart from the others."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.duration_model import TypeTotal
from plimsoll.analyse.model import Analysis, Curve, SystemSummary, WorkloadSummary
from plimsoll.guide.numbers import NOT_KNOWN, show_ms
from plimsoll.guide.tables import SHARE, Column, Entry, Table

_COLUMNS = (
    Column(heading="connections"),
    Column(heading="transaction", numeric=False),
    Column(heading="p50 ms"),
    Column(heading="p95 ms"),
    Column(heading="p99 ms"),
    Column(heading=SHARE),
    Column(heading="completed"),
    Column(heading="failed"),
)


def type_tables(analysis: Analysis, system: SystemSummary) -> tuple[Table, ...]:
    """One table for each workload of more than one type that the system was measured under."""
    found = (type_table(analysis, system, workload) for workload in analysis.workloads)
    return tuple(table for table in found if table is not None)


def type_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table | None:
    """One system under one workload: a row for each level and type; None where there is one type only."""
    own = (one for one in analysis.curves if (one.system, one.workload) == (system.name, workload.name))
    curve = next(own, None)
    if curve is None or len(workload.types) < 2:
        return None
    caption = f"{system.name}, {workload.name}: types of transactions"
    return Table(caption=caption, columns=_COLUMNS, rows=tuple(_rows(curve, list(workload.types))))


def _rows(curve: Curve, order: list[str]) -> Iterator[tuple[Entry, ...]]:
    for cell in curve.cells:
        totals = {one.name: one for one in cell.types}
        yield from (_row(cell.connections, totals[name]) for name in order if name in totals)


def _row(connections: int, one: TypeTotal) -> tuple[Entry, ...]:
    times = one.response_ms
    return (
        Entry(f"{connections:,}"),
        Entry(one.name),
        *(Entry(show_ms(value)) for value in (times.p50, times.p95, times.p99)),
        Entry(NOT_KNOWN if one.completed_ratio is None else f"{one.completed_ratio * 100:.1f}"),
        Entry(f"{one.completed_count:,}"),
        Entry(f"{one.failed_count:,}"),
    )
