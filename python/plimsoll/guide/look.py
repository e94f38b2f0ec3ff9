"""How charts look: colours, shapes and dashes of systems, type, grid. Each system can be told without colour.

Deliberately not here: what a chart shows (`charts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    shares=("#0b62a8", "#e08a3c", "#2cc47d", "#5f2bc9", "#898d94", "#f5cb0c", "#e6eaf0"),
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
class Look:
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


def chart_config(look: Look) -> dict[str, Any]:
    """Vega-Lite's `config` for a look."""
    palette = look.palette
    text = {"labelColor": palette.quiet, "titleColor": palette.ink, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "background": palette.paper if look.legend else "transparent",
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
