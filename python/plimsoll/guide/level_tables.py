"""Levels as tables: a row for each level, a column for each figure; kinds of load differ in which figures they have.

Deliberately not here: what tables are (`tables`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.analyse.cell_model import Cell, RateFigures
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.guide.numbers import (
    NOT_KNOWN,
    show_rate,
    show_ratio,
    show_share,
    show_statistic,
)
from plimsoll.guide.sources import cell_sources
from plimsoll.guide.tables import PEAK, STALLED, SUSTAINED, TIED, Column, Entry, Table
from plimsoll.guide.words import unknown_words
from plimsoll.record.level import Level, LevelKind

SCALE = "scale"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A kind of figure that cells have.

    Attributes:
        heading: Of its column; None for throughput, whose heading depends on the kind of load.
        show: A cell's figure in a given rate unit.
        at_rate: Only there, or only elsewhere; None for both.
        is_wide: Left out on a terminal.
    """

    heading: str | None
    show: Callable[[Cell, str], Entry]
    at_rate: bool | None = None
    is_wide: bool = False


def _throughput(cell: Cell, rate_unit: str) -> Entry:
    shown = show_rate(cell.throughput_tps, rate_unit)
    return Entry(shown.value, shown.bounds)


def _scale(cell: Cell, _: str) -> Entry:
    if cell.scale_factor is None:
        return Entry(NOT_KNOWN)
    shown = show_ratio(cell.scale_factor)
    return Entry(shown.value, shown.bounds)


def _cpu(cell: Cell, _: str) -> Entry:
    """Processor time that was used: neither idle nor waiting for storage."""
    cpu = cell.cpu
    return Entry(show_share(None if cpu.idle is None else max(0.0, 1 - cpu.idle - (cpu.iowait or 0))))


def _mean_without_percentiles(cell: Cell, _: str) -> Entry:
    return Entry(show_statistic(cell.response_ms, "mean") if cell.response_ms.p99 is None else NOT_KNOWN)


def _stalled(cell: Cell, _: str) -> Entry:
    return Entry(NOT_KNOWN if cell.stalled_ratio == 0 else f"{cell.stalled_ratio * 100:.1f}")


def _response(heading: str, name: str) -> Measure:
    return Measure(heading=heading, show=lambda cell, _: Entry(show_statistic(cell.response_ms, name)))


def _at_rate(heading: str, show: Callable[[Cell, RateFigures], str], *, is_wide: bool = False) -> Measure:
    return Measure(
        heading=heading,
        show=lambda cell, _: Entry(NOT_KNOWN if cell.rate is None else show(cell, cell.rate)),
        at_rate=True,
        is_wide=is_wide,
    )


MEASURES = (
    Measure(heading=None, show=_throughput),
    Measure(heading=SCALE, show=_scale, at_rate=False),
    Measure(heading=STALLED, show=_stalled),
    _response("p50 ms", "p50"),
    _response("p95 ms", "p95"),
    _response("p99 ms", "p99"),
    Measure(heading="mean ms", show=_mean_without_percentiles),
    _at_rate("service p99 ms", lambda cell, _: show_statistic(cell.service_ms, "p99")),
    _at_rate("dispatch p99 ms", lambda _, rate: show_statistic(rate.dispatch_delay_ms, "p99")),
    _at_rate("waiting", lambda _, rate: f"{rate.waiting_max:,}", is_wide=True),
    _at_rate("dropped", lambda cell, _: f"{cell.dropped_count:,}"),
    _at_rate("failed", lambda cell, _: f"{cell.failed_count:,}", is_wide=True),
    _at_rate(
        "unfinished",
        lambda cell, _: f"{cell.unfinished_count:,}" * bool(cell.unfinished_count) or NOT_KNOWN,
        is_wide=True,
    ),
    Measure(heading="CPU %", show=_cpu),
)
"""Those that are known nowhere in a table are left out of it."""

RATES_NOTE = (
    "Target is the rate that was asked for, whether or not a connection was free. Response time counts from when a "
    "transaction was due, service time from when it was sent. Dispatch delay is the client's own: from when a "
    "connection was free until it sent the transaction. Waiting is the longest backlog of an overload. Rates marked "
    "“sustained” were completed in all trials, like every lower rate: nothing was dropped, and no overload lasted to "
    "the end."
)

_Placed = tuple[WorkloadSummary, Curve]


def system_tables(analysis: Analysis, system: SystemSummary) -> tuple[Table | None, tuple[Table, ...]]:
    """All of a system in one table, as in HP's guides, and at target rates one for each workload."""
    curves = curves_of(analysis, system.name)
    closed = [one for one in curves if not one[1].kind.is_at_rate]
    own = _levels_table(system.name, closed, notes=_notes(analysis, system, closed)) if closed else None
    return own, tuple(_rates_table(system, one, MEASURES) for one in curves if one[1].kind.is_at_rate)


def workload_tables(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Iterator[Table]:
    """One system under one workload: the same figures in tables that are narrow enough for a terminal."""
    for one in curves_of(analysis, system.name, workload.name):
        if one[1].kind.is_at_rate:
            narrow = [measure for measure in MEASURES if not measure.is_wide and measure.heading != "CPU %"]
            yield _without_details(_rates_table(system, one, narrow))
        else:
            yield _levels_table(workload.name, [one], system=system.name)


def _rates_table(system: SystemSummary, one: _Placed, measures: Sequence[Measure]) -> Table:
    connections = one[1].cells[0].level.connections
    caption = f"{one[0].name}: at target rates, over {connections:,} connections"
    return _levels_table(caption, [one], system=system.name, measures=measures)


def _without_details(table: Table) -> Table:
    return replace(table, rows=tuple(tuple(replace(one, detail=None) for one in row) for row in table.rows))


def _levels_table(
    caption: str,
    curves: Sequence[_Placed],
    *,
    system: str = "",
    measures: Sequence[Measure] = MEASURES,
    notes: tuple[str, ...] = (),
) -> Table:
    """A row for each level of curves of one kind of load, columns for each curve."""
    kind, unit = curves[0][1].kind, curves[0][0].rate_unit
    known = [(workload, curve, _known(curve, measures)) for workload, curve in curves]
    columns = [Column(heading=level_heading(kind, unit), detail="")]
    for workload, _, shown in known:
        throughput = f"completed {workload.rate_unit}" if kind.is_at_rate else workload.rate_unit
        group = None if kind.is_at_rate else workload.name
        columns += [Column(heading=measure.heading or throughput, group=group) for measure in shown]
    levels = {cell.level.order: cell.level for _, curve in curves for cell in curve.cells}
    rows = []
    for order in sorted(levels):
        row = [_level_entry(levels[order], [curve for _, curve in curves], unit)]
        for workload, curve, shown in known:
            cell = curve.cell_at(levels[order])
            row += [_entry(measure, cell, curve, workload.rate_unit) for measure in shown]
        rows.append(tuple(row))
    return Table(caption=caption, system=system, columns=tuple(columns), rows=tuple(rows), notes=notes)


def _known(curve: Curve, measures: Sequence[Measure]) -> list[Measure]:
    return [
        measure
        for measure in measures
        if measure.at_rate in (None, curve.kind.is_at_rate)
        and (measure.heading != SCALE or len(curve.cells) > 1)
        and (measure.heading is None or any(measure.show(cell, "tps").text != NOT_KNOWN for cell in curve.cells))
    ]


def _level_entry(level: Level, curves: Iterable[Curve], unit: str) -> Entry:
    cells = [cell for curve in curves if (cell := curve.cell_at(level)) is not None]
    each = sorted({count for cell in cells if (count := cell.level.connections_per_instance) is not None})
    return Entry(level.figure(unit), f"{each[0]:,} each" if each else None)


def _entry(measure: Measure, cell: Cell | None, curve: Curve, rate_unit: str) -> Entry:
    if cell is None:
        return Entry(NOT_KNOWN)
    entry = replace(measure.show(cell, rate_unit), sources=cell_sources(cell))
    return replace(entry, mark=_mark(cell, curve)) if measure.heading is None else entry


def _mark(cell: Cell, curve: Curve) -> str | None:
    if curve.peak is None:
        return None
    if curve.kind.is_at_rate:
        return SUSTAINED if cell in curve.sustained else None
    if len(curve.cells) == 1:
        return None
    if cell.level.order == curve.peak.level.order:
        return PEAK
    return TIED if cell.level in curve.peak.tied_levels else None


def curves_of(analysis: Analysis, system: str, workload: str | None = None) -> list[_Placed]:
    """The curves of a system, under one workload or all of them, each with its workload."""
    return [
        (of, curve)
        for of in analysis.workloads
        for curve in analysis.curves
        if (curve.workload, curve.system) == (of.name, system) and workload in (None, of.name)
    ]


def level_heading(kind: LevelKind, rate_unit: str) -> str:
    """The heading of a column of levels."""
    return f"target {rate_unit}" if kind.is_at_rate else "connections"


def levels_of(
    analysis: Analysis, system: SystemSummary, workload: WorkloadSummary
) -> tuple[str, list[tuple[str, Cell]]]:
    """The heading of the levels of one system under one workload, and every level as it is shown with its figures."""
    curves = curves_of(analysis, system.name, workload.name)
    if not curves:
        return "", []
    curve, unit = curves[-1][1], workload.rate_unit
    return level_heading(curve.kind, unit), [(cell.level.figure(unit), cell) for cell in curve.cells]


def _notes(analysis: Analysis, system: SystemSummary, curves: Iterable[_Placed]) -> tuple[str, ...]:
    notes = [
        f"{workload.name}: the peak may lie beyond {curve.peak.level.label()}, the last level measured."
        for workload, curve in curves
        if curve.peak is not None and not curve.peak.is_inside_range and len(curve.cells) > 1
    ]
    if system.unknown and any(other.unknown != system.unknown for other in analysis.systems):
        notes.append(f"Not known: {unknown_words(system)}.")
    return tuple(notes)
