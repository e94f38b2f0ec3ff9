"""Charts of figures with their intervals, a row for each: what systems sustain, and how they compare.

Deliberately not here: curves over levels (`charts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import Analysis, Difference, DifferenceVerdict, WorkloadSummary
from plimsoll.analyse.within_objective import best_within
from plimsoll.guide.chart_links import HREF, RECORDINGS, Links
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look, Palette
from plimsoll.guide.marks import Chart, Row, Series, finish, names
from plimsoll.guide.numbers import per_unit, show_change
from plimsoll.guide.words import clean, verdict_words
from plimsoll.prose.phrases import rate_with_interval, within_words
from plimsoll.units import format_number

COMPARED_MAX = 24
"""With more rows than that, only peaks are drawn; the table has all."""

_ROW_PX = 36
_NAME_PX, _NARROW_NAME_PX = 210, 260
_FIRST_PX, _CHARACTER_PX = 390, 7
_TICKS = (0.4, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 2.5)
_FEW_TICKS = (0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0)
_WIDEST = 3.0
_COLOURS = {"faster": 2, "slower": 1, "equal": 0, "not resolved": 6, "not testable": 6}
_SHAPES = {
    "faster": "triangle-right",
    "slower": "triangle-left",
    "equal": "diamond",
    "not resolved": "circle",
    "not testable": "cross",
}


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
    rows = [_sustained(curve, objective_ms, unit, links) for curve in curves]
    rows = [{**row, "place": f"{place}"} for place, row in enumerate(rows)]
    top = max((row["high"] or row["rate"] for row in rows), default=0.0)
    return _peaks(rows, names(analysis), top, unit, look) if top > 0 else None


def _drawn(analysis: Analysis, workload: WorkloadSummary) -> list[Curve]:
    return [one for one in analysis.curves if one.workload == workload.name and one.peak is not None]


def _objective_ms(analysis: Analysis, curves: list[Curve]) -> float | None:
    """The study's objective, unless no system is known to keep it anywhere."""
    objective_ms = analysis.objective_ms_p99
    if objective_ms is None or all(best_within(one, objective_ms) is None for one in curves):
        return None
    return objective_ms


def _sustained(curve: Curve, objective_ms: float | None, unit: str, links: Links) -> Row:
    """The row of one system: its peak, or its best level within an objective."""
    best = curve.peak if objective_ms is None else best_within(curve, objective_ms)
    if best is None:
        none = "no level is known to keep it"
        row: Row = {"rate": 0.0, "low": None, "high": None, "figure": none, "shown": none}
        return {"system": clean(curve.system), **row, **links.of(())}
    at_rate, estimate = curve.kind.is_at_rate, best.throughput_tps
    bounds = None if at_rate or estimate.bounds is None or estimate.bounds.is_vague else estimate.bounds
    is_last = best.level.order == curve.cells[-1].level.order
    rate = per_unit(best.level.offered if at_rate else estimate.value, unit)
    figure = f"{'≥ ' if at_rate and is_last else ''}{format_number(rate)}"
    cell = curve.cell_at(best.level)
    return {
        "system": clean(curve.system),
        "rate": rate,
        "low": None if bounds is None else per_unit(bounds.low, unit),
        "high": None if bounds is None else per_unit(bounds.high, unit),
        "figure": figure if at_rate else f"{figure}{_interval(estimate, unit)}",
        "shown": figure if at_rate else rate_with_interval(estimate, unit),
        **links.of(() if cell is None else cell.trials),
    }


def _interval(estimate: Estimate, unit: str) -> str:
    """A bar across the page would pass for knowledge, so a vague interval is said and not drawn."""
    if estimate.bounds is None:
        return ""
    if estimate.bounds.is_vague:
        return " (not known within a factor of 3)"
    return f" ({_edges(estimate.bounds.low, estimate.bounds.high, unit)})"


def _edges(low_tps: float, high_tps: float, unit: str) -> str:
    return f"{format_number(per_unit(low_tps, unit))} to {format_number(per_unit(high_tps, unit))}"


def _peaks(rows: list[Row], systems: list[str], top: float, unit: str, look: Look) -> Chart:
    palette = look.palette
    base = chart_of(rows)
    y = _rows_axis()
    has_interval = any(row["low"] is not None for row in rows)
    title = f"{unit}, with 95 % confidence interval" if has_interval else unit
    axis = alt.Axis(title=title, tickCount=4, format=",~r", labelFlush=False)
    x = alt.X("rate:Q", scale=alt.Scale(domain=[0, top * 1.03], nice=False), axis=axis)
    colour = Series(systems, look).colour
    tooltip = [alt.Tooltip("system:N", title="system"), alt.Tooltip("shown:N", title="sustains"), RECORDINGS]
    bar = base.mark_bar(size=9, yOffset=9, opacity=0.85).encode(x=x, y=y, color=colour, tooltip=tooltip, href=HREF)
    rule = base.mark_rule(strokeWidth=2, yOffset=9, y2Offset=9, color=palette.ink).encode(
        x=alt.X("low:Q"), x2="high:Q", y=y
    )
    ends = [
        base.mark_tick(size=11, thickness=2, yOffset=9, color=palette.ink).encode(x=alt.X(f"{edge}:Q"), y=y)
        for edge in ("low", "high")
    ]
    marks = [one.transform_filter("isValid(datum.low)") for one in (rule, *ends)]
    return _rows_chart(
        alt.layer(bar, *marks, *_row_words(base, "system:N", "figure:N", palette, _room_px(rows))), len(rows), look
    )


def _room_px(rows: list[Row]) -> int:
    """For names beside the longest figure, on the first screen."""
    return max(_FIRST_PX - _CHARACTER_PX * max(len(row["figure"]) for row in rows), _NAME_PX // 2)


def comparison_chart(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Chart | None:
    """The ratio of each pair of systems with its confidence interval, a line at equal, a band for equal enough.

    Args:
        analysis: Of the study.
        workload: Under which.
        look: How it is made.
    """
    own = _without_repeated([one for one in analysis.differences if one.workload == workload.name])
    if len(own) > COMPARED_MAX:
        own = [one for one in own if one.level is None][:COMPARED_MAX]
    if not own:
        return None
    equal_ratio = own[0].equal_within
    links = Links(analysis)
    rows = [
        {**_compared(one, place, workload.rate_unit), **links.of(_trials(one, analysis, links))}
        for place, one in enumerate(own)
    ]
    edges = [edge for row in rows for edge in (row["low"] or row["ratio"], row["high"] or row["ratio"])]
    low = max(min(*edges, 1 - 2 * equal_ratio) * 0.97, 1 / _WIDEST)
    high = min(max(*edges, 1 + 2 * equal_ratio) * 1.03, _WIDEST)
    scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    band = chart_of([{"from": 1 - equal_ratio, "to": 1 + equal_ratio}])
    band = band.mark_rect(color=look.palette.quiet, opacity=0.13).encode(x=alt.X("from:Q", scale=scale), x2="to:Q")
    line = chart_of([{"at": 1}]).mark_rule(color=look.palette.quiet, strokeWidth=1.2)
    layers = [band, line.encode(x=alt.X("at:Q", scale=scale)), *_ratios(rows, scale, look)]
    return _rows_chart(alt.layer(*layers), len(rows), look)


def _trials(one: Difference, analysis: Analysis, links: Links) -> Iterator[str]:
    """The recordings of both systems, those of the compared one first."""
    peaks = {(curve.system, curve.workload): curve.peak for curve in analysis.curves if not curve.kind.is_at_rate}
    for system, own in ((one.system, one.system_level), (one.base, one.base_level)):
        peak = peaks.get((system, one.workload))
        level = one.level or own or (None if peak is None else peak.level)
        yield from () if level is None else links.trials_of(system, one.workload, level)


def _without_repeated(differences: list[Difference]) -> list[Difference]:
    """Without comparisons of peaks that were read at one level of both, where that level has a row of its own."""
    levels = {(one.base, one.system, one.level.order) for one in differences if one.level is not None}

    def is_repeated(one: Difference) -> bool:
        of_base, of_system = one.base_level, one.system_level
        if one.level is not None or of_base is None or of_system is None:
            return False
        return of_base.order == of_system.order and (one.base, one.system, of_base.order) in levels

    kept = [one for one in differences if not is_repeated(one)]
    return kept if len(kept) <= COMPARED_MAX else differences


def _ratios(rows: list[Row], scale: alt.Scale, look: Look) -> list[alt.Chart]:
    """A point with its interval for each row, and what it is of above it."""
    palette, kinds = look.palette, list(_COLOURS)
    base, y = chart_of(rows), _rows_axis()
    percent = "datum.value == 1 ? 'equal' : format(100 * (datum.value - 1), '+.0f') + ' %'"
    marked = _TICKS if look.labelled else _FEW_TICKS
    ticks = [tick for tick in marked if scale.domain[0] <= tick <= scale.domain[1]]
    axis = alt.Axis(title="Ratio of throughputs", values=ticks, labelExpr=percent, labelFlush=False, grid=True)
    colours, shapes = [palette.series[_COLOURS[kind]] for kind in kinds], [_SHAPES[kind] for kind in kinds]
    colour = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), legend=None)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=shapes), legend=None)
    tooltip = [alt.Tooltip(f"{field}:N") for field in ("compared", "change", "verdict", "recordings")]
    interval = base.mark_rule(strokeWidth=2.4, yOffset=8, y2Offset=8).encode(
        x=alt.X("low:Q", scale=scale), x2="high:Q", y=y, color=colour
    )
    point = base.mark_point(filled=True, size=80, opacity=1, yOffset=8).encode(
        x=alt.X("ratio:Q", scale=scale, axis=axis), y=y, color=colour, shape=shape, tooltip=tooltip, href=HREF
    )
    layers = [interval.transform_filter("isValid(datum.low)"), point]
    figure, limit_px = ("change:N", 2 * _NAME_PX) if look.labelled else ("ratio_shown:N", _NARROW_NAME_PX)
    return layers + _row_words(base, "compared:N", figure, palette, limit_px)


def _compared(one: Difference, place: int, unit: str) -> Row:
    change, bounds = show_change(one.ratio), one.ratio.bounds
    level = "at their peaks" if one.level is None else f"at {one.level.label(unit)}"
    kinds = {
        DifferenceVerdict.FASTER: "faster",
        DifferenceVerdict.SLOWER: "slower",
        DifferenceVerdict.EQUAL: "equal",
        DifferenceVerdict.UNRESOLVED: "not resolved",
        DifferenceVerdict.UNTESTABLE: "not testable",
    }
    return {
        "place": f"{place:03d}",
        "compared": clean(f"{one.system} / {one.base}, {level}"),
        "ratio": one.ratio.value,
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "kind": kinds[one.verdict],
        "ratio_shown": change.value,
        "change": change.value if change.bounds is None else f"{change.value} ({change.bounds})",
        "verdict": verdict_words(one),
    }


def _rows_axis() -> alt.Y:
    return alt.Y("place:N", sort=None, axis=None, scale=alt.Scale(paddingInner=0.0, paddingOuter=0.0))


def _row_words(
    base: alt.Chart, name: str, figure: str | None, palette: Palette, limit_px: int = _NAME_PX
) -> list[alt.Chart]:
    """Above each row its name, and at the right its figure where there is room."""
    words = []
    halos: tuple[dict[str, Any], ...] = ({"stroke": palette.paper, "strokeWidth": 4}, {})
    for halo in halos:  # lines and bands end before the letters
        left = base.mark_text(align="left", dy=-7, fontSize=12, color=palette.ink, limit=limit_px, **halo)
        words.append(left.encode(x=alt.value(0), y=_rows_axis(), text=name))
    if figure is not None:
        right = base.mark_text(align="right", dy=-7, fontSize=12, color=palette.quiet)
        words.append(right.encode(x=alt.value("width"), y=_rows_axis(), text=figure))
    return words


def _rows_chart(chart: Chart, count: int, look: Look) -> Chart:
    """With as much height as its rows need."""
    finished = finish(chart, look)
    return finished.properties(height=count * _ROW_PX)
