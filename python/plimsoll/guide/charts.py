"""The charts of a guide, one definition each, for the page, for SVG and for PNG.

A chart without data is None, and the guide says so in words. Deliberately not here: what they have in common (`marks`),
colours and type (`look`), load at a rate (`rate_charts`), and turning a chart into a picture (`pictures`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.analyse.cell_model import Cell, CpuShares
from plimsoll.analyse.duration_model import Durations
from plimsoll.analyse.model import Analysis, Curve, WorkloadSummary
from plimsoll.analyse.prose import rate_with_bounds
from plimsoll.guide.labels import chart_of, end_labels, labels_fit
from plimsoll.guide.look import Look
from plimsoll.guide.marks import (
    Chart,
    Row,
    Series,
    axis_y,
    finish,
    last_rates,
    lines_and_points,
    logarithmic_ticks,
    lower_bound_signs,
    names,
    rate_words,
)
from plimsoll.guide.numbers import per_unit, show_share, show_statistic
from plimsoll.guide.words import clean

PERCENTILES = {"p50": "Response time p50, ms", "p95": "Response time p95, ms", "p99": "Response time p99, ms"}
_SHOWN_FROM = 0.0005
MEAN = {"mean": "Mean response time, ms"}


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
    y = axis_y("rate:Q", f"Throughput, {rate_words(workload.rate_unit)}", alt.Scale(domain=[0, top], nice=False))
    marks = Series(names(analysis), look)
    band = base.mark_area(opacity=0.16).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=marks.colour)
    band = band.transform_filter("isValid(datum.low)")
    layers = [band, *lines_and_points(base, x, y, marks, _THROUGHPUT_TOOLTIP)]
    if look.labelled and labels_fit(len(marks.names), look.height_px):
        layers += end_labels(last_rates(rows, marks.names), marks.colour, top=top, height_px=look.height_px)
    return finish(alt.layer(*layers), look)


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
    shown = [row for row in rows if row["statistic"] == statistic]
    base = chart_of(shown)
    x = alt.X(
        "rate:Q",
        scale=alt.Scale(domain=[0, max(row["rate"] for row in rows) * 1.06 or 1.0], nice=False),
        axis=alt.Axis(title=f"Throughput, {workload.rate_unit}", tickCount=4, labelFlush=False, format=",~r"),
    )
    scale = alt.Scale(type="log", domain=[min(times) * 0.8, max(times) * 1.25], nice=False)
    y = axis_y("response:Q", statistics[statistic], scale, values=logarithmic_ticks(min(times), max(times)))
    marks = Series(names(analysis), look)
    layers = [*lines_and_points(base, x, y, marks, _RESPONSE_TOOLTIP), *lower_bound_signs(base, shown, x, y, marks)]
    return finish(alt.layer(*layers), look)


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
    chart = chart_of(rows).mark_bar(stroke=look.palette.paper, strokeWidth=1)
    chart = chart.encode(
        x=alt.X(
            "connections:O",
            sort="ascending",
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.15),
            axis=alt.Axis(title="Connections", labelAngle=0, ticks=False, format=",d"),
        ),
        y=axis_y("share:Q", "Processor time of the host", alt.Scale(domain=[0, 1]), format="%", tickCount=5),
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
    return finish(chart, look)


def cpu_parts(cpu: CpuShares) -> dict[str, float]:
    """What all of the host's processor time divides into, as far as it is known; empty when idle time is not.

    The time of processes is counted by other clocks of the kernel, and at other instants, than that of the host. Where
    it comes out as more than the host was busy, it is scaled down to that: the whole is never more than the host has.
    """
    if cpu.idle is None:
        return {}
    used = {"waiting for storage": cpu.iowait or 0.0, "idle": cpu.idle}
    whole = max(1.0, sum(used.values()))
    busy = whole - sum(used.values())
    if cpu.server is None:
        parts = {"user": cpu.user, "system": cpu.system}
    else:
        parts = {"server": cpu.server, "client": cpu.client}
    known = {name: share for name, share in parts.items() if share is not None}
    fits = min(1.0, busy / total) if (total := sum(known.values())) > 0 else 1.0
    known = {name: share * fits for name, share in known.items()}
    rest = {"other": busy - sum(known.values()), **used}
    shown = known | {name: share for name, share in rest.items() if share >= _SHOWN_FROM or name == "idle"}
    return {name: share / whole for name, share in shown.items()}


def cpu_part_names(curves: Sequence[Curve]) -> dict[str, int]:
    """Which parts occur, in the order of their stack, each with the index of its colour."""
    found = {part for curve in curves for cell in curve.cells for part in cpu_parts(cell.cpu)}
    order = ("server", "client", "user", "system", "other", "waiting for storage", "idle")
    return {name: index for index, name in enumerate(order) if name in found}


_THROUGHPUT_TOOLTIP = [
    alt.Tooltip("system:N", title="system"),
    alt.Tooltip("connections:Q", title="connections", format=",d"),
    alt.Tooltip("shown:N", title="throughput"),
]
_RESPONSE_TOOLTIP = [*_THROUGHPUT_TOOLTIP, alt.Tooltip("shown_response:N", title="response time")]


def _curves(analysis: Analysis, workload: WorkloadSummary) -> list[Curve]:
    return [curve for curve in analysis.curves if curve.workload == workload.name]


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
                        **response_fields(cell.response_ms, statistic),
                    }


def response_fields(times: Durations, statistic: str) -> Row:
    """One statistic of response time as fields of a chart's row."""
    return {
        "statistic": statistic,
        "response": getattr(times, statistic),
        "is_lower_bound": statistic in times.lower_bounds,
        "shown_response": f"{statistic} {show_statistic(times, statistic)} ms",
    }


def _levels_axis(levels: list[int]) -> alt.X:
    return alt.X(
        "connections:Q",
        scale=alt.Scale(type="log", base=2, domain=[levels[0], max(levels[-1], levels[0] * 2)], nice=False, padding=8),
        axis=alt.Axis(title="Connections", values=levels, format=",d", labelOverlap="greedy", labelFlush=False),
    )
