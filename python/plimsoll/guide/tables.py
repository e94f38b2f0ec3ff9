"""What tables there are and what stands in them: one model for HTML, Markdown and terminal, so that they agree.

Deliberately not here: how a table looks anywhere, and how numbers with bounds read (`numbers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from plimsoll.analyse.cell_model import Cell, CellFigures, Estimate
from plimsoll.analyse.model import Analysis, Curve, SystemSummary, WorkloadSummary
from plimsoll.analyse.size_model import SizeAnswer, SystemFit
from plimsoll.guide.numbers import (
    NOT_KNOWN,
    SINGLE_RUNS,
    SINGLE_RUNS_NOTE,
    show_ms,
    show_rate,
    show_ratio,
    show_share,
    show_statistic,
)
from plimsoll.units import format_percent

PEAK = "peak"
TIED = "tied"
SHARE = "share %"
STALLED = "stalled %"
TOO_FEW = "too few"
TOO_SLOW = "too slow"


@dataclass(frozen=True, slots=True)
class Entry:
    """One field of a table.

    Attributes:
        text: The figure or words.
        detail: What belongs below or beside it in smaller type, such as bounds.
        mark: A word that makes it stand out, such as `peak`.
    """

    text: str
    detail: str | None = None
    mark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    Attributes:
        heading: Its name, with the unit.
        group: Heading above several columns, such as the workload's name.
        numeric: Figures, aligned right.
    """

    heading: str
    group: str | None = None
    numeric: bool = True

    @property
    def label(self) -> str:
        """The heading in full, for where it stands alone."""
        return self.heading if self.group is None else f"{self.group}: {self.heading}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with its caption. The first column names the row.

    Attributes:
        notes: Sentences below it.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Measure:
    """A kind of figure that cells have.

    Attributes:
        heading: Of its column; None where the workload's rate unit is the heading.
        show: A cell's figure in a given rate unit.
    """

    heading: str | None
    show: Callable[[Cell, str], Entry]


def _estimate_entry(shown: Estimate, rate_unit: str | None) -> Entry:
    text = show_ratio(shown) if rate_unit is None else show_rate(shown, rate_unit)
    return Entry(text.value, text.bounds)


def cpu_busy_ratio(cell: CellFigures) -> float | None:
    """Share of the host's processor time that was used, 0..1: neither idle nor waiting for storage."""
    return None if cell.cpu.idle is None else max(0.0, 1 - cell.cpu.idle - (cell.cpu.iowait or 0))


def _mean_without_percentiles(cell: Cell) -> str:
    return show_statistic(cell.response_ms, "mean") if cell.response_ms.p99 is None else NOT_KNOWN


def stalled_share(cell: CellFigures) -> str:
    """Share of the time in which nothing completed, percent; not shown where there was none."""
    return NOT_KNOWN if cell.stalled_ratio == 0 else f"{cell.stalled_ratio * 100:.1f}"


MEASURES = (
    Measure(None, lambda cell, unit: _estimate_entry(cell.throughput_tps, unit)),
    Measure("scale", lambda cell, _: _estimate_entry(cell.scale_factor, None)),
    Measure(STALLED, lambda cell, _: Entry(stalled_share(cell))),
    Measure("p50 ms", lambda cell, _: Entry(show_statistic(cell.response_ms, "p50"))),
    Measure("p95 ms", lambda cell, _: Entry(show_statistic(cell.response_ms, "p95"))),
    Measure("p99 ms", lambda cell, _: Entry(show_statistic(cell.response_ms, "p99"))),
    Measure("mean ms", lambda cell, _: Entry(_mean_without_percentiles(cell))),
    Measure("CPU %", lambda cell, _: Entry(show_share(cpu_busy_ratio(cell)))),
)


def system_table(analysis: Analysis, system: SystemSummary) -> Table:
    """All of a system in one table, in the shape of HP's: a row for each level, columns for each workload."""
    curves = curves_of(analysis, system.name)
    return _levels_table(system.name, curves, _notes(analysis, system, curves))


def workload_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table:
    """One system under one workload: the same figures in a table that is narrow enough for a terminal."""
    curves = [(of, curve) for of, curve in curves_of(analysis, system.name) if of == workload]
    return _levels_table(f"{system.name}, {workload.name}", curves, ())


def _levels_table(caption: str, curves: list[tuple[WorkloadSummary, Curve]], notes: tuple[str, ...]) -> Table:
    columns = [Column(heading="connections")]
    for workload, curve in curves:
        columns += [
            Column(heading=measure.heading or workload.rate_unit, group=workload.name) for measure in _known(curve)
        ]
    levels = sorted({cell.connections for _, curve in curves for cell in curve.cells})
    rows = tuple((_level_entry(level, curves), *_row(level, curves)) for level in levels)
    return Table(caption=caption, columns=tuple(columns), rows=rows, notes=notes)


def figures_note(tables: Iterable[Table]) -> str:
    """What the columns and marks of systems' tables mean, as far as they occur."""
    shown = list(tables)
    headings = {column.heading for table in shown for column in table.columns}
    marks = {entry.mark for table in shown for row in table.rows for entry in row}
    texts = {entry.text for table in shown for row in table.rows for entry in row}
    meanings = (
        ("scale" in headings, "Scale is throughput over that of the lowest level."),
        (
            "CPU %" in headings,
            "CPU is the share of the host's processor time that was neither idle nor waiting for storage.",
        ),
        (
            STALLED in headings,
            "Stalled is the share of the measured time in which nothing, or nearly nothing, completed.",
        ),
        (
            any(entry.text.startswith("≥") for table in shown for row in table.rows for entry in row),
            "Times marked “≥” are lower bounds: some transactions had not ended when the measurement did.",
        ),
        (SHARE in headings, "Count is of transactions that completed; share is that of all of them, at that level."),
        (TOO_FEW in marks, f"Types marked “{TOO_FEW}” have a smaller share than the TPC-C specification asks for."),
        (
            TOO_SLOW in marks,
            f"Those marked “{TOO_SLOW}” have a 90th percentile above what it allows.",
        ),
        (any(SINGLE_RUNS in text for text in texts), SINGLE_RUNS_NOTE),
        (TIED in marks, f"Levels marked “{TIED}” cannot be told from the peak."),
    )
    return " ".join(meaning for applies, meaning in meanings if applies)


def size_table(answer: SizeAnswer) -> Table:
    """Every system with what it carries of the load that was asked for."""
    with_cost = any(one.cost_per_month is not None for one in answer.systems)
    columns = [
        Column(heading="system", numeric=False),
        Column(heading="verdict", numeric=False),
        Column(heading="connections"),
        Column(heading=answer.asked.rate_unit),
        Column(heading="to spare"),
        Column(heading="p99 ms"),
    ]
    columns += [Column(heading="cost per month")] if with_cost else []
    rows = tuple(_size_row(one, answer.asked.rate_unit, with_cost=with_cost) for one in answer.systems)
    return Table(caption="Which systems carry it", columns=tuple(columns), rows=rows)


def _size_row(one: SystemFit, rate_unit: str, *, with_cost: bool) -> tuple[Entry, ...]:
    shown = None if one.throughput_tps is None else show_rate(one.throughput_tps, rate_unit)
    cost = [Entry(whole(one.cost_per_month))] if with_cost else []
    return (
        Entry(one.system),
        Entry(one.verdict.value.replace("_", " ")),
        Entry(whole(one.connections)),
        Entry(NOT_KNOWN) if shown is None else Entry(shown.value, shown.bounds),
        Entry(NOT_KNOWN if one.margin_ratio is None else format_percent(one.margin_ratio, signed=True)),
        Entry(show_ms(one.response_p99_ms, is_lower_bound=one.response_is_lower_bound)),
        *cost,
    )


def whole(count: float | None) -> str:
    """A count or a cost without decimals."""
    return NOT_KNOWN if count is None else f"{count:,.0f}"


def _notes(
    analysis: Analysis, system: SystemSummary, curves: Iterable[tuple[WorkloadSummary, Curve]]
) -> tuple[str, ...]:
    notes = [
        f"{workload.name}: the peak may lie beyond {curve.peak.connections:,} connections, the last level measured."
        for workload, curve in curves
        if not curve.peak.bracketed
    ]
    if system.unknown and any(other.unknown != system.unknown for other in analysis.systems):
        notes.append(f"Not known: {'; '.join(system.unknown)}.")
    return tuple(notes)


def curves_of(analysis: Analysis, system: str) -> list[tuple[WorkloadSummary, Curve]]:
    """The curves of a system, each with its workload."""
    return [
        (workload, curve)
        for workload in analysis.workloads
        for curve in analysis.curves
        if curve.workload == workload.name and curve.system == system
    ]


def _known(curve: Curve) -> list[Measure]:
    return [
        measure
        for measure in MEASURES
        if any(measure.show(cell, "tps").text != NOT_KNOWN or measure.heading is None for cell in curve.cells)
    ]


def _level_entry(level: int, curves: Iterable[tuple[WorkloadSummary, Curve]]) -> Entry:
    each = {cell.connections_per_instance for _, curve in curves for cell in curve.cells if cell.connections == level}
    named = sorted(count for count in each if count is not None)
    return Entry(f"{level:,}", f"{named[0]:,} each" if named else None)


def _row(level: int, curves: Iterable[tuple[WorkloadSummary, Curve]]) -> list[Entry]:
    entries: list[Entry] = []
    for workload, curve in curves:
        cell = next((cell for cell in curve.cells if cell.connections == level), None)
        entries += [_entry(measure, cell, curve, workload.rate_unit) for measure in _known(curve)]
    return entries


def _entry(measure: Measure, cell: Cell | None, curve: Curve, rate_unit: str) -> Entry:
    if cell is None:
        return Entry(NOT_KNOWN)
    entry = measure.show(cell, rate_unit)
    return Entry(entry.text, entry.detail, _mark(cell.connections, curve) if measure.heading is None else None)


def _mark(level: int, curve: Curve) -> str | None:
    if level == curve.peak.connections:
        return PEAK
    return TIED if level in curve.peak.tied_connections else None
