"""Charts of how systems compare: for two systems a row for each level, for many a row for each system.

Names stand beside the plot, never within it: there is the band of what is equal enough. All charts of a workload have
one scale and one width of their columns, so that they can be read as one.

Deliberately not here: what each system sustains (`interval_charts`), and pairs of turns (`duets`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analyse.model import Analysis, Difference, DifferenceVerdict, WorkloadSummary
from plimsoll.guide.chart_links import Links, href
from plimsoll.guide.drawing import alt, at_x
from plimsoll.guide.labels import chart_of, shorten
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, Row, finish
from plimsoll.guide.numbers import show_change
from plimsoll.guide.words import clean, grouped, verdict_words

COMPARED_MAX = 24
"""With more rows than that, only peaks are drawn; the table has all."""

_ROW_PX = 26
_CHARACTER_PX, _GAP_PX = 6.9, 10
_LABEL_CHARACTERS, _NARROW_LABEL_CHARACTERS = 40, 18
_TICKS = (0.4, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 2.5)
_FEW_TICKS = (0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0)
_WIDEST = 3.0
_PLACE_DIGITS = 3
_KINDS = {
    DifferenceVerdict.FASTER: "faster",
    DifferenceVerdict.SLOWER: "slower",
    DifferenceVerdict.EQUAL: "equal",
    DifferenceVerdict.UNRESOLVED: "not resolved",
    DifferenceVerdict.UNTESTABLE: "not testable",
    DifferenceVerdict.DISTURBED: "disturbed",
}
_COLOURS = {"faster": 2, "slower": 1, "equal": 0, "not resolved": 6, "not testable": 6, "disturbed": 6}
_SHAPES = {
    "faster": "triangle-right",
    "slower": "triangle-left",
    "equal": "diamond",
    "not resolved": "circle",
    "not testable": "cross",
    "disturbed": "cross",
}


_Group = tuple[str, list[tuple[str, Difference]]]
"""A title, and the name of each row with what is compared."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all charts of a workload share.

    Attributes:
        label_px: Width of the column of names, at the left.
        figure_px: Width of the column of figures, at the right.
        last: Place of the last row, below which the axis has its title.
    """

    low: float
    high: float
    equal_ratio: float
    label_px: int
    figure_px: int
    figure: str
    last: str


def comparison_charts(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Iterator[tuple[str, Chart]]:
    """For each two systems, else for each that others are compared with, a title and the ratios with their intervals.

    Args:
        analysis: Of the study.
        workload: Under which.
        look: How it is made; labelled ones have room for the intervals in figures.
    """
    own = _without_repeated([one for one in analysis.differences if one.workload == workload.name])
    if len(own) > COMPARED_MAX:
        own = [one for one in own if one.level is None][:COMPARED_MAX]
    if not own:
        return
    links, unit = Links(analysis), workload.rate_unit
    longest = _LABEL_CHARACTERS if look.labelled else _NARROW_LABEL_CHARACTERS
    groups = _by_pair(own, unit) if any(one.level is not None for one in own) else _by_base(own)
    places = itertools.count()
    charts = [
        (
            clean(title),
            [
                {
                    "row": f"{next(places):03d}{shorten(clean(label), longest)}",
                    **_compared(one, unit),
                    **links.of(_trials(one, analysis, links)),
                }
                for label, one in compared
            ],
        )
        for title, compared in groups
    ]
    frame = _frame([row for _, rows in charts for row in rows], own[0].equal_within, look)
    yield from ((title, _chart(rows, frame, look)) for title, rows in charts)


def _by_pair(differences: Sequence[Difference], unit: str) -> list[_Group]:
    """A group for each two systems, a row for each level."""
    return [
        (f"{system} against {base}", [("peaks" if one.level is None else one.level.label(unit), one) for one in own])
        for (system, base), own in grouped(differences, lambda one: (one.system, one.base))
    ]


def _by_base(differences: Sequence[Difference]) -> list[_Group]:
    """A group for each system that others are compared with, a row for each of these."""
    return [
        (f"Peaks against that of {base}", [(one.system, one) for one in own])
        for base, own in grouped(differences, lambda one: one.base)
    ]


def _frame(rows: Sequence[Row], equal_ratio: float, look: Look) -> _Frame:
    edges = [edge for row in rows for edge in (row["low"] or row["ratio"], row["high"] or row["ratio"])]
    figure = "change" if look.labelled else "ratio_shown"
    label_length = max(len(row["row"]) for row in rows) - _PLACE_DIGITS
    return _Frame(
        low=max(min(*edges, 1 - 2 * equal_ratio) * 0.97, 1 / _WIDEST),
        high=min(max(*edges, 1 + 2 * equal_ratio) * 1.03, _WIDEST),
        equal_ratio=equal_ratio,
        label_px=round(_CHARACTER_PX * label_length) + _GAP_PX,
        figure_px=round(_CHARACTER_PX * max(len(row[figure]) for row in rows)) + _GAP_PX,
        figure=figure,
        last=max(row["row"] for row in rows),
    )


def _chart(rows: Sequence[Row], frame: _Frame, look: Look) -> Chart:
    """A band for equal enough, a line at equal; a point with its interval in each row, its figure at the right."""
    palette, kinds, base = look.palette, list(_COLOURS), chart_of(rows)
    scale = alt.Scale(type="log", domain=[frame.low, frame.high], nice=False, clamp=True)
    band = chart_of([{"from": 1 - frame.equal_ratio, "to": 1 + frame.equal_ratio}])
    band = band.mark_rect(color=palette.quiet, opacity=0.13).encode(x=alt.X("from:Q", scale=scale), x2=alt.X2("to:Q"))
    line = chart_of([{"at": 1}]).mark_rule(color=palette.quiet, strokeWidth=1.2).encode(x=alt.X("at:Q", scale=scale))
    y = _labels(rows, frame)
    colours, shapes = [palette.series[_COLOURS[kind]] for kind in kinds], [_SHAPES[kind] for kind in kinds]
    colour = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), legend=None)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=shapes), legend=None)
    tooltip = [alt.Tooltip(f"{field}:N") for field in ("compared", "change", "verdict", "recordings")]
    x = alt.X("ratio:Q", scale=scale, axis=_ratio_axis(frame, look, has_title=rows[-1]["row"] == frame.last))
    point = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip, href=href()
    )
    interval = base.mark_rule(strokeWidth=2.4).encode(
        x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), y=y, color=colour
    )
    figure = base.mark_text(align="right", dx=frame.figure_px, fontSize=12, color=palette.quiet)
    figure = figure.encode(x=at_x("width"), y=y, text=alt.Text(f"{frame.figure}:N"))
    layers = alt.layer(band, line, interval.transform_filter("isValid(datum.low)"), point, figure)
    return finish(layers, look).properties(height=len(rows) * _ROW_PX)


def _labels(rows: Sequence[Row], frame: _Frame) -> alt.Y:
    """The names of rows; their places before them keep apart what is called the same."""
    axis = alt.Axis(
        title=None,
        domain=False,
        ticks=False,
        labelExpr=f"slice(datum.value, {_PLACE_DIGITS})",
        labelLimit=frame.label_px,
        labelPadding=_GAP_PX,
        minExtent=frame.label_px,
        maxExtent=frame.label_px,
    )
    scale = alt.Scale(domain=[row["row"] for row in rows], paddingInner=0.0, paddingOuter=0.0)
    return alt.Y("row:N", sort=None, scale=scale, axis=axis)


def _ratio_axis(frame: _Frame, look: Look, *, has_title: bool) -> alt.Axis:
    percent = "datum.value == 1 ? 'equal' : format(100 * (datum.value - 1), '+.0f') + ' %'"
    marked = _TICKS if look.labelled else _FEW_TICKS
    ticks = [tick for tick in marked if frame.low <= tick <= frame.high]
    title = "Ratio of throughputs" if has_title else None
    return alt.Axis(title=title, values=ticks, labelExpr=percent, labelFlush=False, labelOverlap="greedy", grid=True)


def _compared(one: Difference, unit: str) -> Row:
    change, bounds = show_change(one.ratio), one.ratio.bounds
    level = "at their peaks" if one.level is None else f"at {one.level.label(unit)}"
    return {
        "compared": clean(f"{one.system} against {one.base}, {level}"),
        "ratio": one.ratio.value,
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "kind": _KINDS[one.verdict],
        "ratio_shown": change.value,
        "change": change.value if change.bounds is None else f"{change.value} ({change.bounds})",
        "verdict": verdict_words(one),
    }


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
