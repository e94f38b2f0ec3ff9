"""Types of transactions as tables: where a workload has more than one, each stands apart from the others.

What the TPC-C specification asks of a type stands beside what was measured, and a word marks what falls short of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.analyse.cell_model import Cell
from plimsoll.analyse.duration_model import TypeTotal
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.tpcc_clauses import SHARES_MIN
from plimsoll.analyse.tpcc_model import TypeDemands
from plimsoll.guide.level_tables import levels_of
from plimsoll.guide.numbers import NOT_KNOWN, per_unit, show_statistic
from plimsoll.guide.sources import cell_sources
from plimsoll.guide.tables import SHARE, TOO_FEW, TOO_SLOW, Column, Entry, Table
from plimsoll.units import format_number


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One type at one level."""

    level: str
    sources: tuple[str, ...]
    total: TypeTotal
    demands: TypeDemands | None


_Figure = tuple[str, Callable[[_Row], Entry]]


def _count(count: int | None) -> Entry:
    return Entry(NOT_KNOWN if count is None else f"{count:,}")


def _ms(row: _Row, name: str, mark: str | None = None) -> Entry:
    return Entry(show_statistic(row.total.response_ms, name), mark=mark)


def _share(row: _Row) -> Entry:
    demands, ratio = row.demands, row.total.completed_ratio
    is_short = demands is not None and demands.has_share is False
    return Entry(NOT_KNOWN if ratio is None else f"{ratio * 100:.1f}", mark=TOO_FEW if is_short else None)


def _per_minute(row: _Row) -> Entry:
    tps = row.total.throughput_tps
    return Entry(NOT_KNOWN if tps is None else format_number(per_unit(tps, "tpm")))


def _p90(row: _Row) -> Entry:
    is_slow = row.demands is not None and row.demands.is_in_time is False
    return _ms(row, "p90", TOO_SLOW if is_slow else None)


def _longest_p90(row: _Row) -> Entry:
    return Entry(NOT_KNOWN if row.demands is None else f"{row.demands.response_ms_p90_max:,.0f}")


def _mean_without_percentiles(row: _Row) -> Entry:
    return _ms(row, "mean") if row.total.response_ms.p50 is None else Entry(NOT_KNOWN)


def _errors(row: _Row) -> Entry:
    counts = Counter[str]()
    for error in row.total.errors:
        code = str(error.code or "no code") if error.was_seen else "counted by hand"
        counts[code] += error.count
    return Entry(", ".join(f"{code}: {count:,}" for code, count in counts.items()) or NOT_KNOWN)


_COUNTS: tuple[_Figure, ...] = (
    (SHARE, _share),
    ("per minute", _per_minute),
    ("count", lambda row: _count(row.total.completed_count)),
    ("rolled back", lambda row: _count(row.total.rolled_back_count)),
    ("retries", lambda row: _count(row.total.retries_count)),
    ("failed", lambda row: _count(row.total.failed_count)),
    ("errors by code", _errors),
)
_TIMES: tuple[_Figure, ...] = (
    ("p50 ms", lambda row: _ms(row, "p50")),
    ("p90 ms", _p90),
    ("p90 at most", _longest_p90),
    ("p95 ms", lambda row: _ms(row, "p95")),
    ("p99 ms", lambda row: _ms(row, "p99")),
    ("p99.9 ms", lambda row: _ms(row, "p999")),
    ("max ms", lambda row: _ms(row, "max")),
    ("mean ms", _mean_without_percentiles),
)

_LEAST_SHARES = (
    "The TPC-C specification asks for at least "
    + ", ".join(f"{share * 100:.0f} % {name}" for name, share in SHARES_MIN.items())
    + " (clause 5.2.3)."
)


def type_tables(analysis: Analysis, system: SystemSummary) -> tuple[Table, ...]:
    """Tables for each workload of more than one type that the system was measured under."""
    return tuple(table for workload in analysis.workloads for table in type_tables_of(analysis, system, workload))


def type_tables_of(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> tuple[Table, ...]:
    """One system under one workload, a row for each level and type: counts, response times. None for one type."""
    level, cells = levels_of(analysis, system, workload)
    if not cells or len(workload.types) < 2:
        return ()
    rows = list(_rows(cells, list(workload.types)))
    tables = (("types of transactions", _COUNTS), ("response times by type", _TIMES))
    notes = (_LEAST_SHARES,) if any(row.demands is not None for row in rows) else ()
    return tuple(
        replace(
            _table(f"{workload.name}: {caption}", level, rows, figures),
            system=system.name,
            notes=notes if figures is _COUNTS else (),
        )
        for caption, figures in tables
    )


def _table(caption: str, level: str, rows: Sequence[_Row], figures: Sequence[_Figure]) -> Table:
    columns = [Column(heading="transaction", numeric=False), Column(heading=level)]
    entries = [[Entry(row.total.name), Entry(row.level)] for row in rows]
    for heading, show in figures:
        shown = [replace(show(row), sources=row.sources) for row in rows]
        if not _says_nothing(heading, shown):
            columns.append(Column(heading=heading))
            for entry, of_row in zip(shown, entries, strict=True):
                of_row.append(entry)
    return Table(caption=caption, columns=tuple(columns), rows=tuple(map(tuple, entries)))


def _says_nothing(heading: str, shown: Sequence[Entry]) -> bool:
    """Nowhere known; or rollbacks, which most workloads do not have."""
    empty = {NOT_KNOWN, "0"} if heading == "rolled back" else {NOT_KNOWN}
    return all(one.text in empty for one in shown)


def _rows(cells: Sequence[tuple[str, Cell]], order: Sequence[str]) -> Iterator[_Row]:
    for level, cell in cells:
        totals = {one.name: one for one in cell.types}
        demands = {one.name: one for one in cell.tpcc.types} if cell.tpcc else {}
        for name in dict.fromkeys((*order, *totals)):
            if name in totals:
                yield _Row(level=level, sources=cell_sources(cell), total=totals[name], demands=demands.get(name))
