"""What charts have in common: colours, shapes and dashes of systems, type, axes, the frame, names at the ends of lines.

Each system can be told without colour, and a chart with names at its lines needs no legend. Deliberately not here: what
a chart shows (`charts` and the sections).
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from plimsoll.analyse.model import Analysis
from plimsoll.guide.drawing import alt, at_x
from plimsoll.guide.sources import href, recordings_line
from plimsoll.guide.words import clean
from plimsoll.units import format_ms

SERIES_COUNT = 8
"""How many systems have a colour of their own; the ninth looks like the first with another dash."""

SHARES_COUNT = 7
"""How many kinds of use of the processors there are."""

SHAPES = (
    "M0,-.9A.9,.9,0,1,1,0,.9A.9,.9,0,1,1,0,-.9Z",
    "M-.8,-.8H.8V.8H-.8Z",
    "M0,-1.1L1,.75H-1Z",
    "M0,-1.1L1.1,0L0,1.1L-1.1,0Z",
    "M0,1.1L1,-.75H-1Z",
    "M-.35,-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z",
    "M1.1,0L-.75,1V-1Z",
    "M-1.1,0L.75,1V-1Z",
)
"""Outlines within -1..1, used by charts and by the keys in the page alike."""

DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (5, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """Colours, as CSS understands them.

    Attributes:
        series: One for each system.
        shares: Of processor time, each its own: server, client, user, system, other, waiting for storage, idle.
    """

    ink: str
    quiet: str
    grid: str
    paper: str
    series: tuple[str, ...]
    shares: tuple[str, ...]


PAPER = Palette(
    ink="#1c2330",
    quiet="#5a6475",
    grid="#e3e7ed",
    paper="#ffffff",
    series=("#0b62a8", "#c2410c", "#00795c", "#8e3a86", "#a06600", "#2487b0", "#4a4f57", "#cf3d6e"),
    shares=("#0b62a8", "#e08a3c", "#2cc47d", "#5f2bc9", "#6b6f76", "#e8bd00", "#e6eaf0"),
)
"""For pictures that stand by themselves, on white."""

PAGE = Palette(
    ink="var(--ink)",
    quiet="var(--quiet)",
    grid="var(--grid)",
    paper="var(--paper)",
    series=tuple(f"var(--series-{index})" for index in range(SERIES_COUNT)),
    shares=tuple(f"var(--share-{index})" for index in range(SHARES_COUNT)),
)
"""For charts within the page: its style sheet has the colours, light and dark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one picture of a chart is made.

    Attributes:
        width_px: All of the picture; None follows what contains it.
        height_px: Of the plot.
        palette: Its colours.
        labelled: Systems are named at the ends of their lines; there must be room for that.
        legend: With a legend, for pictures that stand by themselves.
    """

    width_px: int | None
    height_px: int
    palette: Palette = PAGE
    labelled: bool = False
    legend: bool = False


def series_colours(palette: Palette, count: int) -> list[str]:
    """A colour for each of `count` systems."""
    return [palette.series[index % SERIES_COUNT] for index in range(count)]


def series_shapes(count: int) -> list[str]:
    """An outline for each of `count` systems."""
    return [SHAPES[index % len(SHAPES)] for index in range(count)]


def series_dashes(count: int) -> list[list[int]]:
    """A dash for each of `count` systems; out of step with the colours, so that the ninth differs from the first."""
    return [list(DASHES[index % len(DASHES)]) for index in range(count)]


def chart_config(style: Style) -> dict[str, Any]:
    """Vega-Lite's `config` for a style."""
    palette = style.palette
    text = {"labelColor": palette.quiet, "titleColor": palette.ink, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "background": palette.paper if style.legend else "transparent",
        "font": "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif",
        "view": {"stroke": None},
        "axis": {
            **text,
            "gridColor": palette.grid,
            "domainColor": palette.quiet,
            "tickColor": palette.quiet,
            "titleFontWeight": 500,
            "labelPadding": 6,
            "titlePadding": 8,
        },
        "axisX": {"grid": False},
        "axisY": {"domain": False, "ticks": False, "tickCount": 6},
        "legend": {**text, "orient": "bottom", "columns": 2, "title": None, "labelLimit": 320, "symbolSize": 90},
    }


LABEL_CHARACTERS = 26
LABEL_STEP_PX = 17
LINE_PX = 14
"""Between two lines of a name."""


class _Rows:
    """Rows as Altair takes foreign parts of a chart (its `SchemaLike`): it writes them down and looks into none.

    A plain list is copied value by value with each layer and each step of a chart.
    """

    _schema: ClassVar[dict[str, str]] = {"type": "array"}

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self._rows = list(rows)

    def to_dict(self, *_: object, **__: object) -> list[dict[str, Any]]:
        return self._rows


def chart_of(rows: Sequence[dict[str, Any]]) -> alt.Chart:
    """A chart of rows that are written into it; they are of plain numbers and texts."""
    return alt.Chart(alt.Data(values=_Rows(rows)))  # type: ignore[no-untyped-call]


def end_labels(
    rates: dict[str, float], labels: dict[str, list[str]], colour: alt.Color, *, top: float, height_px: int
) -> list[alt.Chart]:
    """Names at the right of a chart, each beside the last point of its line, none upon another.

    Args:
        rates: By system, in the unit of the axis.
        labels: The lines of each name.
        colour: How systems are coloured.
        top: Where the axis ends; it begins at 0.
        height_px: Of the plot.
    """
    places = spread(list(rates.values()), step=_label_step_px(labels) * top / height_px, top=top)
    values = [
        {"system": name, **lines_of(labels[name]), "place": place} for name, place in zip(rates, places, strict=True)
    ]
    base = chart_of(values)
    edge, end = at_x("width"), alt.X2Value("width")  # type: ignore[no-untyped-call]
    leader = base.mark_rule(xOffset=6, x2Offset=16, strokeWidth=1, opacity=0.7).encode(
        x=edge, x2=end, y=alt.Y("place:Q"), color=colour
    )
    text = base.mark_text(align="left", baseline="middle", dx=20, fontSize=12, **in_lines(half=True)).encode(
        x=edge, y=alt.Y("place:Q"), text=alt.Text("label:N"), color=colour
    )
    return [leader, text]


def labels_fit(labels: dict[str, list[str]], height_px: int) -> bool:
    """Whether these names find room beside a plot."""
    return len(labels) * _label_step_px(labels) <= height_px


def _label_step_px(labels: dict[str, list[str]]) -> int:
    return LABEL_STEP_PX + LINE_PX * (max(map(len, labels.values())) - 1)


def lines_of(lines: Sequence[str]) -> Row:
    """What a row has of a name for `in_lines`."""
    return {"label": "\n".join(lines), "more_lines": len(lines) - 1}


def in_lines(dy: int = 0, *, half: bool = False) -> dict[str, Any]:
    """How a text mark shows a name in lines.

    Args:
        dy: Of the last line, or of the middle.
        half: The lines stand around a place; else they stand above it.
    """
    lifted = LINE_PX / 2 if half else LINE_PX
    return {"lineBreak": "\n", "lineHeight": LINE_PX, "dy": {"expr": f"{dy} - {lifted:g} * datum.more_lines"}}


def spread(values: Sequence[float], *, step: float, top: float) -> list[float]:
    """Places near the values, in their order, at least `step` apart, and within 0..`top` when there is room.

    >>> spread([10.0, 11.0, 50.0], step=5.0, top=60.0)
    [10.0, 15.0, 50.0]
    """
    order = sorted(range(len(values)), key=lambda index: values[index])
    places: list[float] = []
    for index in order:
        places.append(max(values[index], places[-1] + step) if places else values[index])
    limit = top
    for at in reversed(range(len(places))):
        places[at] = min(places[at], limit)
        limit = places[at] - step
    result = [0.0] * len(values)
    for index, place in zip(order, places, strict=True):
        result[index] = place
    return result


_PART = re.compile(r"(?=, (?![^(]*\)))|(?= \()")
"""Before it a name can be parted: at commas, and before what is in brackets."""


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names for charts, where one is long: without what all have in common, and without an end that parts no two.

    An end is left out only while no other name begins like what is left. The whole names are in tables and keys.

    >>> short_names(["BL460c, internal SAS, battery-backed write cache", "BL460c, internal SAN (MSA1500), RAID 0"])
    {'BL460c, internal SAS, battery-backed write cache': 'internal SAS', ...: 'internal SAN'}
    """
    parts = {name: [part for part in _PART.split(name) if part] for name in names}
    if all(len(name) <= LABEL_CHARACTERS for name in names):
        return {name: name for name in names}
    common = (
        set.intersection(*({part.strip(" ,") for part in of} for of in parts.values())) if len(names) > 1 else set()
    )
    kept = {name: [part for part in of if part.strip(" ,") not in common] for name, of in parts.items()}
    if len({_joined(of) for of in kept.values() if of}) < len(names):
        kept = parts
    return {name: _joined(_without_end(name, kept)) for name in names}


def _without_end(name: str, parts: dict[str, list[str]]) -> list[str]:
    left, others = parts[name], [of for other, of in parts.items() if other != name]
    while len(_joined(left)) > LABEL_CHARACTERS and len(left) > 1:
        if not others or any(of[: len(left) - 1] == left[:-1] for of in others):
            break
        left = left[:-1]
    return left


def _joined(parts: Sequence[str]) -> str:
    return "".join(parts).strip(" ,")


def name_lines(names: Sequence[str], width: int = LABEL_CHARACTERS) -> dict[str, list[str]]:
    """The short names of all systems, each in lines of so many characters at most: nothing is cut off."""
    return {name: textwrap.wrap(short, width) or [short] for name, short in short_names(names).items()}


Row = dict[str, Any]
Chart: TypeAlias = "alt.Chart | alt.LayerChart | alt.FacetChart"


class Series:
    """How systems are told apart: colour, shape and dash at once."""

    def __init__(self, names: list[str], style: Style) -> None:
        legend = alt.Legend() if style.legend and not style.labelled else None
        colours, shapes, dashes = (
            series_colours(style.palette, len(names)),
            series_shapes(len(names)),
            series_dashes(len(names)),
        )
        self.names = names
        self.colours = dict(zip(names, colours, strict=True))
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


def objective_line(objective_ms: float, style: Style) -> list[alt.Chart]:
    """A line at the objective for response time, with its name."""
    base = chart_of([{"response": objective_ms, "text": f"objective {format_ms(objective_ms)}"}])
    y = alt.Y("response:Q")
    rule = base.mark_rule(strokeDash=[5, 3], strokeWidth=1.5, color=style.palette.ink).encode(y=y)
    name = base.mark_text(align="left", dx=3, dy=-7, fontSize=11, color=style.palette.ink)
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


RATIO_MAX = 3.0
"""Beyond this factor a ratio is clipped where the other ratios are nearer to 1."""

CLIPPED_OF = 5
"""One ratio in so many may be clipped, of fewer one: what many have in common is no exception."""

_RATIO_TICKS = (0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)
_FEW_RATIO_TICKS = (0.01, 0.1, 0.33, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 10.0, 100.0)
_TICKS_RATIO_MAX = 2.5
"""Where an axis goes further, ticks near 1 have no room."""

_LEAST_TICKS = 3
"""An axis with fewer has no scale that can be read: `equal` may be its only tick."""

_TICK_PERCENT = (10, 5, 2, 1)
"""Between two ticks of an axis that has too few others."""


def ratio_domain(rows: Sequence[Row], least: float, *, kept: Sequence[float] = ()) -> tuple[float, float]:
    """The ends of a logarithmic axis of ratios: of all of them, but of none that would press the others together.

    Args:
        rows: Each with `ratio`, and with `low` and `high`, which are None without an interval.
        least: The axis is at least 1 / `least` to `least`.
        kept: Those of the ratios that are never clipped.
    """
    edges = [[edge for edge in (row["low"], row["ratio"], row["high"]) if edge is not None] for row in rows]
    reach = sorted(max(*of, 1 / min(of)) for of in edges)
    clipped_count = max(len(reach) // CLIPPED_OF, 1)
    common = (reach[max(len(reach) - 1 - clipped_count, 0)], *(max(ratio, 1 / ratio) for ratio in kept))
    limit = max(RATIO_MAX, max(common) * 1.1)
    low, high = min(edge for of in edges for edge in of), max(edge for of in edges for edge in of)
    return max(min(low, 1 / least) * 0.97, 1 / limit), min(max(high, least) * 1.03, limit)


def clipped(row: Row, domain: tuple[float, float]) -> Row:
    """A row with the part of its interval that an axis has room for, and where it goes on beyond."""
    edges = [edge for edge in (row["low"], row["ratio"], row["high"]) if edge is not None]
    return {
        **row,
        "from": None if row["low"] is None else min(max(row["low"], domain[0]), domain[1]),
        "to": None if row["high"] is None else min(max(row["high"], domain[0]), domain[1]),
        "is_beyond_low": min(edges) < domain[0],
        "is_beyond_high": max(edges) > domain[1],
    }


def clip_signs(
    rows: Sequence[Row], domain: tuple[float, float], across: alt.X | alt.Y, colour: Any, **more: Any
) -> list[alt.Chart]:
    """An arrow at an end of the axis for each row that goes on beyond it; nothing where none does.

    Args:
        rows: As `clipped` gives them.
        domain: The ends of the axis.
        across: The other axis: of rows below each other, or the lower one where ratios are upright.
        colour: Of the arrows.
        more: What else they have, such as a tooltip.
    """
    is_upright = isinstance(across, alt.X)
    looks: tuple[Row, Row] = ({"text": "◀", "align": "left"}, {"text": "▶", "align": "right"})
    if is_upright:
        looks = ({"text": "▼", "baseline": "bottom"}, {"text": "▲", "baseline": "top"})
    signs = []
    for name, edge, look in zip(("is_beyond_low", "is_beyond_high"), domain, looks, strict=True):
        if beyond := [{**row, "edge": edge} for row in rows if row[name]]:
            places = {"x": across, "y": alt.Y("edge:Q")} if is_upright else {"x": alt.X("edge:Q"), "y": across}
            signs.append(chart_of(beyond).mark_text(fontSize=11, **look).encode(**places, color=colour, **more))
    return signs


def ratio_axis(domain: tuple[float, float], *, is_wide: bool) -> dict[str, Any]:
    """What the axis of a ratio has: its changes in percent."""
    percent = "datum.value == 1 ? 'equal' : format(100 * (datum.value - 1), '+,.0f') + ' %'"
    values = _ratio_ticks(domain, is_wide=is_wide)
    # with fewer than there are, every second one is left out, whether or not there is room
    return {
        "values": values,
        "tickCount": len(values),
        "labelExpr": percent,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    }


def _ratio_ticks(domain: tuple[float, float], *, is_wide: bool) -> list[float]:
    """The usual ticks within an axis; where it is too short for them, the widest even steps that give enough."""
    ticks = _RATIO_TICKS if is_wide and max(domain[1], 1 / domain[0]) <= _TICKS_RATIO_MAX else _FEW_RATIO_TICKS
    values = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
    for percent in _TICK_PERCENT:
        if len(values) >= _LEAST_TICKS:
            break
        steps = range(math.floor(100 * (domain[0] - 1) / percent), math.ceil(100 * (domain[1] - 1) / percent) + 1)
        even = ((100 + step * percent) / 100 for step in steps)
        values = [tick for tick in even if domain[0] <= tick <= domain[1]]
    return values


def finish(chart: Chart, style: Style) -> Chart:
    """Gives the chart its size and its style: in place, since each copy of layers takes as long as drawing them."""
    chart.width = "container" if style.width_px is None else style.width_px
    chart.height = style.height_px
    chart.padding = {"left": 4, "right": 12, "top": 6, "bottom": 4}
    chart.autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
    chart.config = chart_config(style)
    return chart


def rate_words(rate_unit: str) -> str:
    """A rate's unit in full, for axis titles."""
    return "transactions per minute (tpm)" if rate_unit == "tpm" else "transactions per second (tps)"
