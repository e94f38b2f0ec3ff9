"""What charts of systems have in common: how a system is drawn, axes, and the frame.

Deliberately not here: what a chart shows (`charts`).
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from plimsoll.analyse.model import Analysis
from plimsoll.guide.chart_links import href, recordings_line
from plimsoll.guide.drawing import alt, at_x
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look, chart_config, series_colours, series_dashes, series_shapes
from plimsoll.guide.words import clean
from plimsoll.units import format_ms

Row = dict[str, Any]
Chart: TypeAlias = "alt.Chart | alt.LayerChart | alt.FacetChart"


class Series:
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


def lines_and_points(base: alt.Chart, x: alt.X, y: alt.Y, marks: Series, tooltip: list[alt.Tooltip]) -> list[alt.Chart]:
    """A line through the points of each system, in the order of their levels, and the points."""
    line = base.mark_line(strokeWidth=2).encode(
        x=x, y=y, color=marks.colour, strokeDash=marks.dash, order=alt.Order("offered:Q")
    )
    point = base.mark_point(filled=True, size=58, opacity=1).encode(
        x=x, y=y, color=marks.colour, shape=marks.shape, tooltip=tooltip, href=href()
    )
    return [line, point]


def lower_bound_signs(base: alt.Chart, rows: list[Row], x: alt.X, y: alt.Y, marks: Series) -> list[alt.Chart]:
    """A sign beside each point that is a lower bound; nothing where there is none."""
    if not any(row["is_lower_bound"] for row in rows):
        return []
    signs = base.mark_text(text="≥", dx=-11, fontSize=14).encode(x=x, y=y, color=marks.colour)
    return [signs.transform_filter("datum.is_lower_bound")]


def repetition_points(rows: list[Row], x: alt.X, y: alt.Y, marks: Series, *, are_links: bool = True) -> list[alt.Chart]:
    """A faint point for each repetition; nothing where there is none, or one only, which is the mean already.

    Args:
        rows: One for each.
        x: The lower axis.
        y: The upright axis.
        marks: How systems are drawn.
        are_links: They lead to their recordings; not where the point of the level lies upon them.
    """
    if not rows:
        return []
    tooltip = [
        alt.Tooltip("system:N", title="system"),
        alt.Tooltip("level:N", title="level"),
        alt.Tooltip("repetition:N", title="repetition"),
        alt.Tooltip("shown:N", title="throughput"),
        recordings_line(),
    ]
    points = chart_of(rows).mark_point(filled=False, size=22, strokeWidth=1.2, opacity=0.75)
    link = {"href": href()} if are_links else {}
    return [points.encode(x=x, y=y, color=marks.colour, shape=marks.shape, tooltip=tooltip, **link)]


def objective_line(objective_ms: float, look: Look) -> list[alt.Chart]:
    """A line at the objective for response time, with its name."""
    base = chart_of([{"response": objective_ms, "text": f"objective {format_ms(objective_ms)}"}])
    y = alt.Y("response:Q")
    rule = base.mark_rule(strokeDash=[5, 3], strokeWidth=1.5, color=look.palette.ink).encode(y=y)
    name = base.mark_text(align="left", dx=3, dy=-7, fontSize=11, color=look.palette.ink)
    return [rule, name.encode(x=at_x(0), y=y, text=alt.Text("text:N"))]


def last_rates(rows: list[Row], names: list[str]) -> dict[str, float]:
    """The rate at the end of each system's line."""
    last = {row["system"]: row["rate"] for row in rows}
    return {name: last[name] for name in names if name in last}


def names(analysis: Analysis) -> list[str]:
    """All systems, in their order."""
    return [clean(system.name) for system in analysis.systems]


def axis_y(field: str, title: str, scale: alt.Scale, **axis: Any) -> alt.Y:
    """The upright axis, its title above it."""
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


def finish(chart: Chart, look: Look) -> Chart:
    """Gives the chart its size and its look: in place, since each copy of layers takes as long as drawing them."""
    chart.width = "container" if look.width_px is None else look.width_px
    chart.height = look.height_px
    chart.padding = {"left": 4, "right": 12, "top": 6, "bottom": 4}
    chart.autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
    chart.config = chart_config(look)
    return chart


def rate_words(rate_unit: str) -> str:
    """A rate's unit in full, for axis titles."""
    return "transactions per minute (tpm)" if rate_unit == "tpm" else "transactions per second (tps)"
