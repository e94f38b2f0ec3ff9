"""The charts of a guide, one definition each, for the page, for SVG and for PNG.

A chart without data is None, and the guide says so in words. Deliberately not here: colours and type (`look`),
and turning a chart into a picture (`pictures`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from plimsoll.analyse.model import Analysis, Cell, CpuShares, Curve, WorkloadSummary
from plimsoll.analyse.prose import rate_with_bounds
from plimsoll.guide.labels import chart_of, end_labels, labels_fit
from plimsoll.guide.look import Look, chart_config, series_colours, series_dashes, series_shapes
from plimsoll.guide.numbers import per_unit, show_ms, show_share
from plimsoll.guide.words import clean

PERCENTILES = {"p50": "Response time p50, ms", "p95": "Response time p95, ms", "p99": "Response time p99, ms"}
MEAN = {"mean": "Mean response time, ms"}

Row = dict[str, Any]
Chart = alt.Chart | alt.LayerChart | alt.FacetChart


def throughput_chart(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Chart | None:
    """Throughput against connections for all systems, with a band for the bounds."""
    rows = [
        _throughput_row(curve, cell, workload.rate_unit)
        for curve in _curves(analysis, workload)
        for cell in curve.cells
        if cell.connections > 0
    ]
    if not rows:
        return None
    top = max(row["high"] or row["rate"] for row in rows) * 1.06 or 1.0
    base = chart_of(rows)
    x = _levels_axis(sorted({row["connections"] for row in rows}))
    y = _axis_y("rate:Q", f"Throughput, {rate_words(workload.rate_unit)}", alt.Scale(domain=[0, top], nice=False))
    marks = _Series(_names(analysis), look)
    band = base.mark_area(opacity=0.16).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=marks.colour)
    band = band.transform_filter("isValid(datum.low)")
    layers = [band, *_lines_and_points(base, x, y, marks, _THROUGHPUT_TOOLTIP)]
    if look.labelled and labels_fit(len(marks.names), look.height_px):
        layers += end_labels(_last_rates(rows, marks.names), marks.colour, top=top, height_px=look.height_px)
    return _finish(alt.layer(*layers), look)


def response_statistics(analysis: Analysis, workload: WorkloadSummary) -> dict[str, str]:
    """Which statistics of response time are known, with the titles of their axes: percentiles, else the mean."""
    known = {row["statistic"] for row in _response_rows(analysis, workload)}
    return {
        name: title for name, title in (PERCENTILES if known & PERCENTILES.keys() else MEAN).items() if name in known
    }


def response_chart(analysis: Analysis, workload: WorkloadSummary, statistic: str, look: Look) -> Chart | None:
    """One statistic of response time against throughput for all systems, points in the order of their levels."""
    statistics = response_statistics(analysis, workload)
    if statistic not in statistics:
        return None
    rows = [row for row in _response_rows(analysis, workload) if row["statistic"] in statistics]
    times = [row["response"] for row in rows]
    base = chart_of([row for row in rows if row["statistic"] == statistic])
    x = alt.X(
        "rate:Q",
        scale=alt.Scale(domain=[0, max(row["rate"] for row in rows) * 1.06 or 1.0], nice=False),
        axis=alt.Axis(title=f"Throughput, {workload.rate_unit}", tickCount=4, labelFlush=False, format=",~r"),
    )
    scale = alt.Scale(type="log", domain=[min(times) * 0.8, max(times) * 1.25], nice=False)
    y = _axis_y("response:Q", statistics[statistic], scale, values=logarithmic_ticks(min(times), max(times)))
    marks = _Series(_names(analysis), look)
    return _finish(alt.layer(*_lines_and_points(base, x, y, marks, _RESPONSE_TOOLTIP)), look)


def cpu_chart(curve: Curve, look: Look) -> Chart | None:
    """Where the host's processor time went at each level of one system."""
    rows = [
        {
            "connections": cell.connections,
            "part": part,
            "share": share,
            "order": order,
            "shown": f"{show_share(share)} %",
        }
        for cell in curve.cells
        for order, (part, share) in enumerate(cpu_parts(cell.cpu).items())
    ]
    if not rows:
        return None
    parts = cpu_part_names([curve])
    total = max(1.0, *(sum(cpu_parts(cell.cpu).values()) for cell in curve.cells))
    chart = chart_of(rows).mark_bar(stroke=look.palette.paper, strokeWidth=1)
    chart = chart.encode(
        x=alt.X(
            "connections:O",
            sort="ascending",
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.15),
            axis=alt.Axis(title="Connections", labelAngle=0, ticks=False, format=",d"),
        ),
        y=_axis_y("share:Q", "Processor time of the host", alt.Scale(domain=[0, total]), format="%", tickCount=5),
        color=alt.Color(
            "part:N",
            scale=alt.Scale(domain=list(parts), range=[look.palette.shares[parts[part]] for part in parts]),
            legend=alt.Legend() if look.legend else None,
        ),
        order=alt.Order("order:Q"),
        tooltip=[
            alt.Tooltip("connections:O", title="connections"),
            alt.Tooltip("part:N", title="used by"),
            alt.Tooltip("shown:N", title="share"),
        ],
    )
    return _finish(chart, look)


def cpu_parts(cpu: CpuShares) -> dict[str, float]:
    """What the host's processor time divides into, as far as it is known; empty when idle time is not."""
    if cpu.idle is None:
        return {}
    waiting = cpu.iowait or 0.0
    busy = max(0.0, 1 - cpu.idle - waiting)
    if cpu.server is None:
        parts = {"user": cpu.user, "system": cpu.system}
    else:
        parts = {"server": cpu.server, "client": cpu.client}
    known = {name: share for name, share in parts.items() if share is not None}
    rest = {"other": max(0.0, busy - sum(known.values())), "waiting for storage": waiting, "idle": cpu.idle}
    return known | {name: share for name, share in rest.items() if share >= 0.0005 or name == "idle"}


def cpu_part_names(curves: Sequence[Curve]) -> dict[str, int]:
    """Which parts occur, in the order of their stack, each with the index of its colour."""
    found = {part for curve in curves for cell in curve.cells for part in cpu_parts(cell.cpu)}
    order = (
        ("server", 0),
        ("client", 1),
        ("user", 0),
        ("system", 1),
        ("other", 2),
        ("waiting for storage", 3),
        ("idle", 4),
    )
    return {name: index for name, index in order if name in found}


def rate_words(rate_unit: str) -> str:
    """A rate's unit in full, for axis titles."""
    return "transactions per minute (tpm)" if rate_unit == "tpm" else "transactions per second (tps)"


class _Series:
    """How systems are told apart: colour, shape and dash at once."""

    def __init__(self, names: list[str], look: Look) -> None:
        legend = alt.Legend() if look.legend and not look.labelled else None
        colours, shapes, dashes = (
            series_colours(look.palette, len(names)),
            series_shapes(len(names)),
            series_dashes(len(names)),
        )
        self.names = names
        self.colour = alt.Color("system:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
        self.shape = alt.Shape("system:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)
        self.dash = alt.StrokeDash("system:N", scale=alt.Scale(domain=names, range=dashes), legend=None)


_THROUGHPUT_TOOLTIP = [
    alt.Tooltip("system:N", title="system"),
    alt.Tooltip("connections:Q", title="connections", format=",d"),
    alt.Tooltip("shown:N", title="throughput"),
]
_RESPONSE_TOOLTIP = [*_THROUGHPUT_TOOLTIP, alt.Tooltip("shown_response:N", title="response time")]


def _lines_and_points(
    base: alt.Chart, x: alt.X, y: alt.Y, marks: _Series, tooltip: list[alt.Tooltip]
) -> list[alt.Chart]:
    line = base.mark_line(strokeWidth=2).encode(
        x=x, y=y, color=marks.colour, strokeDash=marks.dash, order=alt.Order("connections:Q")
    )
    point = base.mark_point(filled=True, size=58, opacity=1).encode(
        x=x, y=y, color=marks.colour, shape=marks.shape, tooltip=tooltip
    )
    return [line, point]


def _last_rates(rows: list[Row], names: list[str]) -> dict[str, float]:
    last = {row["system"]: row["rate"] for row in rows}
    return {name: last[name] for name in names if name in last}


def _curves(analysis: Analysis, workload: WorkloadSummary) -> list[Curve]:
    return [curve for curve in analysis.curves if curve.workload == workload.name]


def _names(analysis: Analysis) -> list[str]:
    return [clean(system.name) for system in analysis.systems]


def _throughput_row(curve: Curve, cell: Cell, rate_unit: str) -> Row:
    bounds = cell.throughput_tps.bounds
    return {
        "system": clean(curve.system),
        "connections": cell.connections,
        "rate": per_unit(cell.throughput_tps.value, rate_unit),
        "low": None if bounds is None else per_unit(bounds.low, rate_unit),
        "high": None if bounds is None else per_unit(bounds.high, rate_unit),
        "shown": rate_with_bounds(cell.throughput_tps, rate_unit),
    }


def _response_rows(analysis: Analysis, workload: WorkloadSummary) -> Iterator[Row]:
    for curve in _curves(analysis, workload):
        for cell in curve.cells:
            for statistic in (*PERCENTILES, *MEAN):
                response = getattr(cell.response_ms, statistic)
                if response is not None and response > 0:
                    yield {
                        **_throughput_row(curve, cell, workload.rate_unit),
                        "statistic": statistic,
                        "response": response,
                        "shown_response": f"{statistic} {show_ms(response)} ms",
                    }


def _levels_axis(levels: list[int]) -> alt.X:
    return alt.X(
        "connections:Q",
        scale=alt.Scale(type="log", base=2, domain=[levels[0], max(levels[-1], levels[0] * 2)], nice=False, padding=8),
        axis=alt.Axis(title="Connections", values=levels, format=",d", labelOverlap="greedy", labelFlush=False),
    )


def _axis_y(field: str, title: str, scale: alt.Scale, **axis: Any) -> alt.Y:
    placed = alt.Axis(
        title=title,
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleX=-36,
        titleY=-12,
        **{"format": ",~r", **axis},
    )
    return alt.Y(field, scale=scale, axis=placed)


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, …; fewer in each decade the more decades there are, so that their labels have room."""
    span = math.log10(high / low)
    steps = (1, 2, 5) if span <= 2 else (1, 3) if span <= 4 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return [tick for tick in ticks if low * 0.8 <= tick <= high * 1.25]


def _finish(chart: Chart, look: Look) -> Chart:
    return chart.properties(
        width="container" if look.width_px is None else look.width_px,
        height=look.height_px,
        padding={"left": 4, "right": 12, "top": 6, "bottom": 4},
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        config=chart_config(look),
    )
