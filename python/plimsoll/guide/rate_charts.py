"""The charts of load at a rate: what was completed of what was wanted, and response times against what was wanted.

A chart without data is None, and the guide says so in words.
"""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.analyse.prose import rate_with_bounds
from plimsoll.analyse.rate_model import RateCell, RateCurve
from plimsoll.guide.charts import PERCENTILES, response_fields
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
from plimsoll.guide.numbers import per_unit
from plimsoll.guide.words import clean
from plimsoll.units import format_exact

_TOOLTIP = [
    alt.Tooltip("system:N", title="system"),
    alt.Tooltip("shown_wanted:N", title="wanted"),
    alt.Tooltip("shown:N", title="completed"),
]


def completed_chart(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Chart | None:
    """What was completed against what was wanted for all systems, with a line where both are the same."""
    rows = [_row(curve, cell, workload.rate_unit) for curve in _curves(analysis, workload) for cell in curve.cells]
    if not rows:
        return None
    top = max(row["high"] or row["rate"] for row in rows) * 1.06 or 1.0
    base, x = chart_of(rows), _wanted_axis(rows, workload)
    title = f"Completed, {rate_words(workload.rate_unit)}"
    y = axis_y("rate:Q", title, alt.Scale(domain=[0, top], nice=False, clamp=True))
    marks = Series(names(analysis), look)
    end = min(top, max(row["wanted"] for row in rows) * 1.06)
    same = chart_of([{"wanted": at, "rate": at} for at in (0.0, end)])
    diagonal = same.mark_line(strokeDash=[3, 3], strokeWidth=1.5, color=look.palette.quiet).encode(
        x=x, y=alt.Y("rate:Q")
    )
    band = base.mark_area(opacity=0.16).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=marks.colour)
    band = band.transform_filter("isValid(datum.low)")
    layers = [diagonal, band, *lines_and_points(base, x, y, marks, _TOOLTIP, order="wanted:Q")]
    if look.labelled and labels_fit(len(marks.names), look.height_px):
        layers += end_labels(last_rates(rows, marks.names), marks.colour, top=top, height_px=look.height_px)
    return finish(alt.layer(*layers), look)


def rate_response_charts(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Iterator[tuple[str, str, Chart]]:
    """Percentiles of response time against what was wanted: each with its name and the title of its axis."""
    rows = list(_response_rows(analysis, workload))
    times = [row["response"] for row in rows]
    for statistic, title in PERCENTILES.items():
        shown = [row for row in rows if row["statistic"] == statistic]
        if not shown:
            continue
        scale = alt.Scale(type="log", domain=[min(times) * 0.8, max(times) * 1.25], nice=False)
        y = axis_y("response:Q", title, scale, values=logarithmic_ticks(min(times), max(times)))
        marks = Series(names(analysis), look)
        tooltip = [*_TOOLTIP, alt.Tooltip("shown_response:N", title="response time")]
        x = _wanted_axis(rows, workload)
        base = chart_of(shown)
        signs = lower_bound_signs(base, shown, x, y, marks)
        chart = alt.layer(*lines_and_points(base, x, y, marks, tooltip, order="wanted:Q"), *signs)
        yield statistic, title, finish(chart, look)


def _wanted_axis(rows: list[Row], workload: WorkloadSummary) -> alt.X:
    return alt.X(
        "wanted:Q",
        scale=alt.Scale(domain=[0, max(row["wanted"] for row in rows) * 1.06], nice=False),
        axis=alt.Axis(title=f"Wanted, {workload.rate_unit}", tickCount=4, labelFlush=False, format=",~r"),
    )


def _curves(analysis: Analysis, workload: WorkloadSummary) -> list[RateCurve]:
    return [curve for curve in analysis.rate_curves if curve.workload == workload.name]


def _row(curve: RateCurve, cell: RateCell, rate_unit: str) -> Row:
    bounds = cell.throughput_tps.bounds
    return {
        "system": clean(curve.system),
        "wanted": per_unit(cell.rate_tps, rate_unit),
        "rate": per_unit(cell.throughput_tps.value, rate_unit),
        "low": None if bounds is None else per_unit(bounds.low, rate_unit),
        "high": None if bounds is None else per_unit(bounds.high, rate_unit),
        "shown_wanted": f"{format_exact(per_unit(cell.rate_tps, rate_unit))} {rate_unit}",
        "shown": rate_with_bounds(cell.throughput_tps, rate_unit),
    }


def _response_rows(analysis: Analysis, workload: WorkloadSummary) -> Iterator[Row]:
    for curve in _curves(analysis, workload):
        for cell in curve.cells:
            for statistic in PERCENTILES:
                response = getattr(cell.response_ms, statistic)
                if response is not None and response > 0:
                    yield {**_row(curve, cell, workload.rate_unit), **response_fields(cell.response_ms, statistic)}
