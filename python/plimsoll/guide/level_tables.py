"""Levels as tables: a row for each level, a column for each figure; kinds of load differ in which figures they have.

Instances of a system have tables of their own, which show how evenly the load was spread; so have types of
transactions, where a workload has more than one. What the TPC-C specification asks of a type stands beside what was
measured, and a word marks what falls short of it. Of the TPC-C-derived workload there are new orders per minute, and
behind the results where it departs. Deliberately not here: what tables are (`tables`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.cell_model import Cell, RateFigures, TypeTotal
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.tpcc_clauses import NOTPM_PER_WAREHOUSE_MAX, SHARES_MIN, TpccFigures, TypeDemands
from plimsoll.guide.sections import Section
from plimsoll.guide.sources import cell_sources
from plimsoll.guide.tables import (
    NOT_KNOWN,
    PEAK,
    SHARE,
    STALLED,
    SUSTAINED,
    TIED,
    TOO_FEW,
    TOO_SLOW,
    Column,
    Entry,
    Table,
    per_unit,
    show_rate,
    show_ratio,
    show_share,
    show_statistic,
    text_column,
    whole,
)
from plimsoll.guide.words import unknown_words
from plimsoll.record.level import Level, LevelKind
from plimsoll.units import format_number

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
    return show_rate(cell.throughput_tps, rate_unit)


def _scale(cell: Cell, _: str) -> Entry:
    if cell.scale_factor is None:
        return Entry(NOT_KNOWN)
    return show_ratio(cell.scale_factor)


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


def system_tables(
    analysis: Analysis, systems: Sequence[SystemSummary], labels: Sequence[str] = ("",)
) -> tuple[Table | None, tuple[Table, ...]]:
    """All of a system in one table, as in HP's guides, and at target rates one for each workload.

    Args:
        analysis: Of the study.
        systems: One, or several that share a table.
        labels: What each of several is called in a column's heading.
    """
    closed: list[_Placed] = []
    at_rate: list[Table] = []
    notes: list[str] = []
    for system, label in zip(systems, labels, strict=True):
        for workload, curve in curves_of(analysis, system.name):
            heading = f"{workload.name}, {label}" if label else workload.name
            if curve.kind.is_at_rate:
                at_rate.append(_rates_table(system, (workload, curve), MEASURES))
            else:
                closed.append((workload.model_copy(update={"name": heading}), curve))
        notes += level_notes(analysis, system, label)
    order = [workload.name for workload in analysis.workloads]
    closed.sort(key=lambda placed: order.index(placed[1].workload))
    caption = "; ".join(system.name for system in systems)
    return _levels_table(caption, closed, notes=tuple(notes)) if closed else None, tuple(at_rate)


def workload_tables(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Iterator[Table]:
    """One system under one workload: the same figures in tables that are narrow enough for a terminal."""
    for curve in curves_of(analysis, system.name, workload.name):
        if curve[1].kind.is_at_rate:
            narrow = [measure for measure in MEASURES if not measure.is_wide and measure.heading != "CPU %"]
            yield _without_details(_rates_table(system, curve, narrow))
        else:
            yield _levels_table(workload.name, [curve], system=system.name)


def _rates_table(system: SystemSummary, placed: _Placed, measures: Sequence[Measure]) -> Table:
    connections = placed[1].cells[0].level.connections
    caption = f"{placed[0].name}: at target rates, over {connections:,} connections"
    return _levels_table(caption, [placed], system=system.name, measures=measures)


def _without_details(table: Table) -> Table:
    return replace(table, rows=tuple(tuple(replace(entry, detail=None) for entry in row) for row in table.rows))


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


def level_notes(analysis: Analysis, system: SystemSummary, label: str = "") -> tuple[str, ...]:
    """What to know of the levels of a system in a closed loop; `label` is what it is called beside others."""
    of = f"{label}: " if label else ""
    notes = [
        f"{workload.name}: {of}the peak may lie beyond {curve.peak.level.label()}, the last level measured."
        for workload, curve in curves_of(analysis, system.name)
        if not curve.kind.is_at_rate
        if curve.peak is not None and not curve.peak.is_inside_range and len(curve.cells) > 1
    ]
    if system.unknown and any(other.unknown != system.unknown for other in analysis.systems):
        notes.append(f"{of}Not known: {unknown_words(system)}.")
    return tuple(notes)


_NOTE = "Skew is the fastest over the slowest."


def instance_tables(analysis: Analysis, system: SystemSummary) -> Iterator[Table]:
    """One table for each workload of which it is known what each of several instances completed."""
    tables = (instance_table(analysis, system, workload) for workload in analysis.workloads)
    return (table for table in tables if table is not None)


def instance_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table | None:
    """One system under one workload, a row for each level; None where it is not known what each instance completed."""
    heading, cells = levels_of(analysis, system, workload)
    unit = workload.rate_unit
    rows = tuple(
        (
            Entry(level),
            *(replace(entry, sources=cell_sources(cell)) for entry in _instance_row(cell.instances_tps, unit)),
        )
        for level, cell in cells
        if cell.instances_tps
    )
    if not rows:
        return None
    columns = [Column(heading=heading), Column(heading=f"all {unit}"), Column(heading=f"mean {unit}")]
    for which in ("slowest", "fastest"):
        columns += [Column(heading=f"{which} {unit}"), text_column("which")]
    columns.append(Column(heading="skew"))
    caption = f"{workload.name}: each of {system.instances} instances"
    return Table(system=system.name, caption=caption, columns=tuple(columns), rows=rows, notes=(_NOTE,))


def _instance_row(instances_tps: Mapping[str, float], unit: str) -> Iterator[Entry]:
    total, slowest, fastest = sum(instances_tps.values()), min(instances_tps.values()), max(instances_tps.values())
    yield from (Entry(_rate(total, unit)), Entry(_rate(total / len(instances_tps), unit)))
    for name in (min(instances_tps, key=instances_tps.__getitem__), max(instances_tps, key=instances_tps.__getitem__)):
        yield from (Entry(_rate(instances_tps[name], unit)), Entry(name))
    yield Entry(NOT_KNOWN if slowest == 0 else f"{fastest / slowest:.2f}")


def _rate(tps: float, unit: str) -> str:
    return format_number(per_unit(tps, unit))


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


def _type_mean_without_percentiles(row: _Row) -> Entry:
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
    ("mean ms", _type_mean_without_percentiles),
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
    columns = [text_column("transaction"), Column(heading=level)]
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
    return all(entry.text in empty for entry in shown)


def _rows(cells: Sequence[tuple[str, Cell]], order: Sequence[str]) -> Iterator[_Row]:
    for level, cell in cells:
        totals = {total.name: total for total in cell.types}
        demands = {demand.name: demand for demand in cell.tpcc.types} if cell.tpcc else {}
        for name in dict.fromkeys((*order, *totals)):
            if name in totals:
                yield _Row(level=level, sources=cell_sources(cell), total=totals[name], demands=demands.get(name))


DEVIATIONS = "Deviations from the TPC-C specification"
DERIVED = "Derived from TPC-C: no TPC-C results."
"""Stands beside results; the section of deviations says it at length."""
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
    tables = (notpm_table(analysis, system, workload) for workload in analysis.workloads)
    return tuple(table for table in tables if table is not None)


def notpm_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table | None:
    """One system under one workload, a row for each level; None for workloads that have no new orders."""
    heading, cells = levels_of(analysis, system, workload)
    tpcc_levels = [(level, _of(cell), cell_sources(cell)) for level, cell in cells if cell.tpcc is not None]
    if not tpcc_levels:
        return None
    has_efficiency = any(figures.efficiency_ratio is not None for _, figures, _ in tpcc_levels)
    columns = [heading, "NOTPM", "warehouses in use", "NOTPM each"] + (["efficiency %"] if has_efficiency else [])
    notes = [_EFFICIENCY_WORDS] if has_efficiency else []
    notes += [_ABOVE_WORDS] if any(figures.is_above_maximum for _, figures, _ in tpcc_levels) else []
    return Table(
        system=system.name,
        caption=f"{workload.name}: new orders per minute (NOTPM)",
        columns=tuple(Column(heading=column) for column in columns),
        rows=tuple(
            (
                Entry(level),
                *(replace(entry, sources=sources) for entry in _notpm_row(figures, has_efficiency=has_efficiency)),
            )
            for level, figures, sources in tpcc_levels
        ),
        notes=tuple(notes),
    )


def deviations_section(analysis: Analysis) -> Section | None:
    """Each clause that TPC-C-derived workloads depart from, behind the results; None where there is none."""
    tables = tuple(_deviations(workload) for workload in analysis.workloads if workload.deviations)
    if not tables:
        return None
    return Section(anchor="deviations", title=DEVIATIONS, sentences=(), tables=tables, brief=tables, is_background=True)


def _deviations(workload: WorkloadSummary) -> Table:
    columns = (text_column("clause"), text_column("here"))
    return Table(
        caption=workload.name,
        columns=(*columns, text_column("asked for")),
        rows=tuple(
            (Entry(deviation.clause), Entry(deviation.chosen), Entry(deviation.asked))
            for deviation in workload.deviations
        ),
        notes=(NO_RESULT,),
    )


def _of(cell: Cell) -> TpccFigures:
    assert cell.tpcc is not None, "chosen so"
    return cell.tpcc


def _notpm_row(tpcc_figures: TpccFigures, *, has_efficiency: bool) -> tuple[Entry, ...]:
    each, efficiency = tpcc_figures.notpm_per_warehouse, tpcc_figures.efficiency_ratio
    entries = [
        Entry(format_number(tpcc_figures.notpm)),
        Entry(whole(tpcc_figures.warehouses_count)),
        Entry(
            NOT_KNOWN if each is None else format_number(each), mark=ABOVE if tpcc_figures.is_above_maximum else None
        ),
    ]
    if has_efficiency:
        entries.append(Entry(NOT_KNOWN if efficiency is None else f"{efficiency * 100:,.1f}"))
    return tuple(entries)
