"""Names at the ends of lines, so that a chart needs no legend.

Deliberately not here: the lines (`charts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from plimsoll.guide.drawing import alt, at_x

LABEL_WIDTH_PX = 190
LABEL_LENGTH = 26
LABEL_STEP_PX = 17


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


def end_labels(rates: dict[str, float], colour: alt.Color, *, top: float, height_px: int) -> list[alt.Chart]:
    """Names at the right of a chart, each beside the last point of its line, none upon another.

    Args:
        rates: By system, in the unit of the axis.
        colour: How systems are coloured.
        top: Where the axis ends; it begins at 0.
        height_px: Of the plot.
    """
    places = spread(list(rates.values()), step=LABEL_STEP_PX * top / height_px, top=top)
    values = [
        {"system": name, "label": shorten(name), "place": place} for name, place in zip(rates, places, strict=True)
    ]
    base = chart_of(values)
    edge, end = at_x("width"), alt.X2Value("width")  # type: ignore[no-untyped-call]
    leader = base.mark_rule(xOffset=6, x2Offset=16, strokeWidth=1, opacity=0.7).encode(
        x=edge, x2=end, y=alt.Y("place:Q"), color=colour
    )
    text = base.mark_text(align="left", baseline="middle", dx=20, fontSize=12, limit=LABEL_WIDTH_PX).encode(
        x=edge, y=alt.Y("place:Q"), text=alt.Text("label:N"), color=colour
    )
    return [leader, text]


def labels_fit(count: int, height_px: int) -> bool:
    """Whether so many names find room beside a plot."""
    return count * LABEL_STEP_PX <= height_px


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


def shorten(name: str, length: int = LABEL_LENGTH) -> str:
    """A name for where there is little room: both its ends, since names of systems often begin alike.

    >>> shorten("BL460c, internal SAS, battery-backed write cache")
    'BL460c, interna…rite cache'
    """
    if len(name) <= length:
        return name
    tail = length * 2 // 5
    return f"{name[: length - 1 - tail].rstrip()}…{name[-tail:].lstrip()}"
