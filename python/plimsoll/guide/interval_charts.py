"""Charts of what each system sustains, a bar for each with its confidence interval: peaks, and capacities.

Deliberately not here: curves over levels (`charts`), and how systems compare (`comparison_charts`).
"""

from __future__ import annotations

from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.cell_model import Bounds
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.analyse.within_objective import best_within
from plimsoll.guide.chart_links import Links, href, recordings_line
from plimsoll.guide.drawing import alt, at_x
from plimsoll.guide.labels import chart_of, shorten
from plimsoll.guide.look import Look, Palette
from plimsoll.guide.marks import Chart, Row, Series, finish, names
from plimsoll.guide.numbers import per_unit
from plimsoll.guide.sources import capacity_sources
from plimsoll.guide.words import clean
from plimsoll.prose.phrases import rate_with_interval, within_words
from plimsoll.units import format_number

_ROW_PX = 36
_NAME_CHARACTERS_MIN = 15
_FIRST_PX, _CHARACTER_PX = 320, 7
"""The narrowest that the chart becomes beside the answer; a character at most."""
_NOT_KNOWN = "not known"
_NOWHERE = "no level is known to keep it"


def sustained_words(analysis: Analysis, workload: WorkloadSummary) -> str:
    """What the bars of `peaks_chart` are."""
    curves = _drawn(analysis, workload)
    if (objective_ms := _objective_ms(analysis, curves)) is not None:
        return f"throughput {within_words(objective_ms)}"
    return "highest sustained rate" if all(one.kind.is_at_rate for one in curves) else "highest throughput"


def peaks_chart(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Chart | None:
    """What each system sustains under one workload: a bar, with its confidence interval; None when nothing is known.

    With an objective that some system keeps, it is what each sustains within it.
    """
    unit, links = workload.rate_unit, Links(analysis)
    curves = _drawn(analysis, workload)
    objective_ms = _objective_ms(analysis, curves)
    rows = [_numbered(_sustained(curve, objective_ms, unit, links), place) for place, curve in enumerate(curves)]
    title = f"{unit}, with 95 % confidence interval" if any(row["low"] is not None for row in rows) else unit
    return _bars(rows, names(analysis), title, look)


def capacities_chart(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Chart | None:
    """The capacity of each system: a bar with its confidence interval, and a band from lower to upper limit.

    None where no system has one.
    """
    unit, links = workload.rate_unit, Links(analysis)
    found = (one for one in analysis.capacities if one.workload == workload.name)
    rows = [_numbered(_capacity(one, unit, links), place) for place, one in enumerate(found)]
    title = f"{unit}, with 95 % CI" if any(row["low"] is not None for row in rows) else unit
    title += "; pale: lower to upper limit" if any(row["from"] is not None for row in rows) else ""
    return _bars(rows, names(analysis), title, look)


def _drawn(analysis: Analysis, workload: WorkloadSummary) -> list[Curve]:
    return [one for one in analysis.curves if one.workload == workload.name and one.peak is not None]


def _objective_ms(analysis: Analysis, curves: list[Curve]) -> float | None:
    """The study's objective, unless no system is known to keep it anywhere."""
    objective_ms = analysis.objective_ms_p99
    if objective_ms is None or all(best_within(one, objective_ms) is None for one in curves):
        return None
    return objective_ms


def _numbered(row: Row, place: int) -> Row:
    return {**row, "place": f"{place:03d}"}


def _sustained(curve: Curve, objective_ms: float | None, unit: str, links: Links) -> Row:
    """The row of one system: its peak, or its best level within an objective."""
    best = curve.peak if objective_ms is None else best_within(curve, objective_ms)
    if best is None:
        return {**_row(curve.system, None, None, unit), "figure": _NOWHERE, "shown": _NOWHERE, **links.of(())}
    cell = curve.cell_at(best.level)
    trials = () if cell is None else cell.trials
    if curve.kind.is_at_rate:
        is_last = best.level.order == curve.cells[-1].level.order
        figure = f"{'≥ ' if is_last else ''}{format_number(per_unit(best.level.offered, unit))}"
        row = _row(curve.system, best.level.offered, None, unit)
        return {**row, "figure": figure, "shown": figure, **links.of(trials)}
    rate = best.throughput_tps
    row = _row(curve.system, rate.value, rate.bounds, unit)
    return {**row, "shown": rate_with_interval(rate, unit), **links.of(trials)}


def _capacity(one: SystemCapacity, unit: str, links: Links) -> Row:
    edges = {"from": _scaled(one.low, unit), "to": _scaled(one.high, unit)}
    if one.capacity_tps is None:
        row = {**_row(one.system, None, None, unit), "figure": _NOT_KNOWN, "shown": _NOT_KNOWN}
    else:
        rate = one.capacity_tps
        row = {**_row(one.system, rate.value, rate.bounds, unit), "shown": rate_with_interval(rate, unit)}
    edges = edges if None not in edges.values() else dict.fromkeys(edges)
    return {**row, **edges, **links.of(capacity_sources(one))}


def _row(system: str, tps: float | None, bounds: Bounds | None, unit: str) -> Row:
    """A bar with its figure; an interval across the page would pass for knowledge, so that one is said in words."""
    interval = ""
    if bounds is not None:
        low, high = (format_number(per_unit(edge, unit)) for edge in (bounds.low, bounds.high))
        interval = " (not known within a factor of 3)" if bounds.is_vague else f" ({low} to {high})"
    known = None if bounds is None or bounds.is_vague else bounds
    return {
        "system": clean(system),
        "rate": _scaled(tps, unit),
        "low": None if known is None else per_unit(known.low, unit),
        "high": None if known is None else per_unit(known.high, unit),
        "from": None,
        "to": None,
        "figure": "" if tps is None else f"{format_number(per_unit(tps, unit))}{interval}",
    }


def _scaled(tps: float | None, unit: str) -> float | None:
    return None if tps is None else per_unit(tps, unit)


def _bars(rows: list[Row], systems: list[str], title: str, look: Look) -> Chart | None:
    """None where nothing is known of any system."""
    top = max((row[name] for row in rows for name in ("rate", "high", "to") if row[name] is not None), default=0.0)
    if top <= 0 or all(row["rate"] is None for row in rows):
        return None
    room = _room_characters(rows)
    labelled = [{**row, "label": shorten(row["system"], room)} for row in rows]
    palette, base, y = look.palette, chart_of(labelled), _rows_axis()
    axis = alt.Axis(title=title, tickCount=4, format=",~r", labelFlush=False)
    x = alt.X("rate:Q", scale=alt.Scale(domain=[0, top * 1.03], nice=False), axis=axis)
    colour = Series(systems, look).colour
    tooltip = [alt.Tooltip("system:N", title="system"), alt.Tooltip("shown:N", title="throughput"), recordings_line()]
    bar = base.mark_bar(size=9, yOffset=9, opacity=0.85).encode(x=x, y=y, color=colour, tooltip=tooltip, href=href())
    limits = base.mark_bar(size=17, yOffset=9, opacity=0.28).encode(
        x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=y, color=colour
    )
    rule = base.mark_rule(strokeWidth=2, yOffset=9, y2Offset=9, color=palette.ink).encode(
        x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y
    )
    ends = [
        base.mark_tick(size=11, thickness=2, yOffset=9, color=palette.ink).encode(x=alt.X(f"{edge}:Q"), y=y)
        for edge in ("low", "high")
    ]
    layers = [bar.transform_filter("isValid(datum.rate)"), limits.transform_filter("isValid(datum.from)")]
    layers += [one.transform_filter("isValid(datum.low)") for one in (rule, *ends)]
    chart = alt.layer(*layers, *_row_words(base, palette))
    return finish(chart, look).properties(height=len(rows) * _ROW_PX)


def _room_characters(rows: list[Row]) -> int:
    """For names beside the longest figure."""
    return max(_FIRST_PX // _CHARACTER_PX - max(len(row["figure"]) for row in rows), _NAME_CHARACTERS_MIN)


def _rows_axis() -> alt.Y:
    return alt.Y("place:N", sort=None, axis=None, scale=alt.Scale(paddingInner=0.0, paddingOuter=0.0))


def _row_words(base: alt.Chart, palette: Palette) -> list[alt.Chart]:
    """Above each bar the name of its system, and at the right its figure."""
    left = base.mark_text(align="left", dy=-7, fontSize=12, color=palette.ink)
    right = base.mark_text(align="right", dy=-7, fontSize=12, color=palette.quiet)
    return [
        left.encode(x=at_x(0), y=_rows_axis(), text=alt.Text("label:N")),
        right.encode(x=at_x("width"), y=_rows_axis(), text=alt.Text("figure:N")),
    ]
