"""Charts of what systems sustain, one definition each for the page, for SVG and for PNG.

Curves over levels, whatever kind the levels are of, and a bar for each system's peak or capacity with its confidence
interval. A chart without data is None, and the guide says so in words. Deliberately not here: what charts have in
common (`marks`), how systems compare (`comparisons`), and turning a chart into a picture (`figures`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import Bounds, Cell, CpuShares
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.points import best_within
from plimsoll.guide.drawing import alt, at_x
from plimsoll.guide.marks import (
    LINE_PX,
    Chart,
    Palette,
    Row,
    Series,
    Style,
    axis_y,
    chart_of,
    end_labels,
    finish,
    in_lines,
    labels_fit,
    last_rates,
    lines_and_points,
    lines_of,
    logarithmic_ticks,
    lower_bound_signs,
    name_lines,
    names,
    objective_line,
    rate_words,
    repetition_points,
)
from plimsoll.guide.sources import Links, capacity_sources, href, recordings_line
from plimsoll.guide.tables import per_unit, show_share, show_statistic
from plimsoll.guide.words import clean
from plimsoll.prose.phrases import VAGUE_SHORT, rate_with_interval, within_words
from plimsoll.record.level import LevelKind
from plimsoll.units import format_ms, format_number, format_rate

PERCENTILES = {"p50": "Response time p50, ms", "p95": "Response time p95, ms", "p99": "Response time p99, ms"}
_SHOWN_FROM = 0.0005
MEAN = {"mean": "Mean response time, ms"}


class Charted:
    """The curves of one workload and one kind of load, and what its charts share."""

    def __init__(self, analysis: Analysis, workload: WorkloadSummary, kind: LevelKind) -> None:
        self.names = names(analysis)
        self._links = Links(analysis)
        self.unit = workload.rate_unit
        self.kind = kind
        self.curves = [curve for curve in analysis.curves if (curve.workload, curve.kind) == (workload.name, kind)]
        places = [(curve, cell) for curve in self.curves for cell in curve.cells if cell.level.offered > 0]
        self.rows = [self._row(curve, cell) for curve, cell in places]
        self.repetitions = list(self._repetitions(analysis, places))
        self.responses = [row for curve, cell in places for row in self._responses(curve, cell)]

    @property
    def tooltip(self) -> list[alt.Tooltip]:
        """What every point says."""
        return [
            alt.Tooltip("system:N", title="system"),
            alt.Tooltip("level:N", title=self.kind.axis.lower()),
            alt.Tooltip("shown:N", title="completed" if self.kind.is_at_rate else "throughput"),
            recordings_line(),
        ]

    def levels_axis(self, rows: Sequence[Row]) -> alt.X:
        """Connections on a scale of doublings; rates on a plain one, so that throughput can follow the diagonal."""
        levels = sorted({row["offered"] for row in rows})
        ends = [levels[0] / 2, levels[0] * 2] if len(levels) == 1 else [levels[0], max(levels[-1], levels[0] * 2)]
        scale: dict[str, Any] = {"type": "log", "base": 2, "domain": ends}
        axis: dict[str, Any] = {"values": levels, "format": ",d", "labelOverlap": "greedy", "title": self.kind.axis}
        if self.kind.is_at_rate:
            scale = {"domain": [0, levels[-1] * 1.06]}
            axis = {"tickCount": 4, "format": ",~r", "title": f"{self.kind.axis}, {self.unit}"}
        else:
            scale["padding"] = 8
        return alt.X("offered:Q", scale=alt.Scale(nice=False, **scale), axis=alt.Axis(labelFlush=False, **axis))

    def _row(self, curve: Curve, cell: Cell) -> Row:
        bounds = cell.throughput_tps.bounds
        if bounds is not None and bounds.is_vague:
            bounds = None  # a band that wide would flatten every line
        offered = cell.level.offered
        return {
            "system": clean(curve.system),
            "offered": per_unit(offered, self.unit) if self.kind.is_at_rate else offered,
            "level": cell.level.figure(self.unit) + (f" {self.unit}" if self.kind.is_at_rate else ""),
            "rate": per_unit(cell.throughput_tps.value, self.unit),
            "low": None if bounds is None else per_unit(bounds.low, self.unit),
            "high": None if bounds is None else per_unit(bounds.high, self.unit),
            "shown": rate_with_interval(cell.throughput_tps, self.unit),
            **self._links.of(cell.trials),
        }

    def _repetitions(self, analysis: Analysis, places: Sequence[tuple[Curve, Cell]]) -> Iterator[Row]:
        """A row for each trial of cells that have several."""
        trials = {trial.trial_id: trial for trial in analysis.trials}
        for curve, cell in places:
            cell_trials = [trials[name] for name in cell.trials if name in trials]
            for trial in cell_trials if len(cell_trials) > 1 else ():
                row = self._row(curve, cell)
                rate = per_unit(trial.throughput_tps, self.unit)
                p99 = "" if trial.response_ms_p99 is None else format_ms(trial.response_ms_p99)
                yield {
                    **{name: row[name] for name in ("system", "offered", "level")},
                    "rate": rate,
                    "response": trial.response_ms_p99,
                    "repetition": str(trial.repetition + 1),
                    "shown": ", p99 ".join(filter(None, (format_rate(trial.throughput_tps, self.unit), p99))),
                    **self._links.of([trial.trial_id]),
                }

    def _responses(self, curve: Curve, cell: Cell) -> Iterator[Row]:
        times = cell.response_ms
        for statistic in (*PERCENTILES, *MEAN):
            response = getattr(times, statistic)
            if response is not None and response > 0:
                yield {
                    **self._row(curve, cell),
                    "statistic": statistic,
                    "response": response,
                    "is_lower_bound": statistic in times.lower_bounds,
                    "shown_response": f"{statistic} {show_statistic(times, statistic)} ms",
                }


def throughput_chart(analysis: Analysis, workload: WorkloadSummary, kind: LevelKind, style: Style) -> Chart | None:
    """Throughput against levels for all systems, with a band for the confidence interval.

    At rates with a line where all that was asked for was completed.
    """
    charted = Charted(analysis, workload, kind)
    rows = charted.rows
    if not rows:
        return None
    highest = [*(row["high"] or row["rate"] for row in rows), *(row["rate"] for row in charted.repetitions)]
    top = max(highest) * 1.06 or 1.0
    base, x = chart_of(rows), charted.levels_axis(rows)
    title = f"{'Completed' if kind.is_at_rate else 'Throughput'}, {rate_words(charted.unit)}"
    y = axis_y("rate:Q", title, alt.Scale(domain=[0, top], nice=False, clamp=kind.is_at_rate))
    marks = Series(charted.names, style)
    band = base.mark_area(opacity=0.16).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=marks.colour)
    band = band.transform_filter("isValid(datum.low)")
    layers = [*_diagonal(rows, x, top, style)] if kind.is_at_rate else []
    layers += [band, *repetition_points(charted.repetitions, x, y, marks)]
    layers += lines_and_points(base, x, y, marks, charted.tooltip)
    labels = name_lines(marks.names)
    if style.labelled and labels_fit(labels, style.height_px):
        layers += end_labels(last_rates(rows, marks.names), labels, marks.colour, top=top, height_px=style.height_px)
    return finish(alt.layer(*layers), style)


def _diagonal(rows: Sequence[Row], x: alt.X, top: float, style: Style) -> Iterator[alt.Chart]:
    end = min(top, max(row["offered"] for row in rows) * 1.06)
    same = chart_of([{"offered": at, "rate": at} for at in (0.0, end)])
    yield same.mark_line(strokeDash=[3, 3], strokeWidth=1.5, color=style.palette.quiet).encode(x=x, y=alt.Y("rate:Q"))


def response_charts(
    analysis: Analysis, workload: WorkloadSummary, kind: LevelKind, style: Style
) -> Iterator[tuple[str, str, Chart]]:
    """Each known statistic of response time, percentiles else the mean: its name, the title of its axis, its chart.

    Points stand over throughput, in the order of their levels; at rates over the rate. At the 99th percentile each
    repetition has a faint point.
    """
    charted = Charted(analysis, workload, kind)
    known = {row["statistic"] for row in charted.responses}
    titles = PERCENTILES if known & PERCENTILES.keys() else MEAN
    rows = [row for row in charted.responses if row["statistic"] in titles]
    objective_ms = analysis.objective_ms_p99
    each = [row for row in charted.repetitions if row["response"]] if "p99" in titles else []
    times = [row["response"] for row in (*rows, *each)] + ([objective_ms] if objective_ms is not None else [])
    for statistic in (name for name in titles if name in known):
        shown = [row for row in rows if row["statistic"] == statistic]
        base = chart_of(shown)
        x = charted.levels_axis(rows) if kind.is_at_rate else _throughput_axis([*rows, *each], charted.unit)
        scale = alt.Scale(type="log", domain=[min(times) * 0.8, max(times) * 1.25], nice=False)
        ticks = logarithmic_ticks(min(times), max(times))
        y = axis_y("response:Q", titles[statistic], scale, values=ticks)
        marks = Series(charted.names, style)
        tooltip = [*charted.tooltip, alt.Tooltip("shown_response:N", title="response time")]
        layers = repetition_points(each if statistic == "p99" else [], x, y, marks, are_links=False)
        layers += [*lines_and_points(base, x, y, marks, tooltip), *lower_bound_signs(base, shown, x, y, marks)]
        layers += objective_line(objective_ms, style) if objective_ms is not None and statistic == "p99" else []
        yield statistic, titles[statistic], finish(alt.layer(*layers), style)


def _throughput_axis(rows: Sequence[Row], unit: str) -> alt.X:
    return alt.X(
        "rate:Q",
        scale=alt.Scale(domain=[0, max(row["rate"] for row in rows) * 1.06 or 1.0], nice=False),
        axis=alt.Axis(title=f"Throughput, {unit}", tickCount=4, labelFlush=False, format=",~r"),
    )


def cpu_chart(curve: Curve, rate_unit: str, style: Style, links: Links) -> Chart | None:
    """Where the host's processor time went at each level of one system."""
    unit = f", {rate_unit}" if curve.kind.is_at_rate else ""
    rows = [
        {
            "level": cell.level.figure(rate_unit),
            "part": part,
            "share": share,
            "order": order,
            "shown": f"{show_share(share)} %",
            **links.of(cell.trials),
        }
        for cell in curve.cells
        for order, (part, share) in enumerate(cpu_parts(cell.cpu).items())
    ]
    if not rows:
        return None
    parts = cpu_part_names([curve])
    chart = chart_of(rows).mark_bar(stroke=style.palette.paper, strokeWidth=1)
    chart = chart.encode(
        x=alt.X(
            "level:O",
            sort=None,
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.15),
            axis=alt.Axis(title=f"{curve.kind.axis}{unit}", labelAngle=0, ticks=False, labelOverlap="greedy"),
        ),
        y=axis_y("share:Q", "Processor time of the host", alt.Scale(domain=[0, 1]), format="%", tickCount=5),
        color=alt.Color(
            "part:N",
            scale=alt.Scale(domain=list(parts), range=[style.palette.shares[parts[part]] for part in parts]),
            legend=alt.Legend() if style.legend else None,
        ),
        order=alt.Order("order:Q"),
        tooltip=[
            alt.Tooltip("level:O", title=f"{curve.kind.axis.lower()}{unit}"),
            alt.Tooltip("part:N", title="used by"),
            alt.Tooltip("shown:N", title="share"),
            recordings_line(),
        ],
        href=href(),
    )
    return finish(chart, style)


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
    parts = {part for curve in curves for cell in curve.cells for part in cpu_parts(cell.cpu)}
    order = ("server", "client", "user", "system", "other", "waiting for storage", "idle")
    return {name: index for index, name in enumerate(order) if name in parts}


_ROW_PX, _BAR_PX, _NAME_PX = 36, 9, 16
"""Height of a row with a name of one line, from its lower end to the middle of the bar, and from there to the name."""

_CLIPPED_ROOM = 1.25
"""So far beyond the longest bar the axis goes on where an interval goes on beyond it."""

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
    return "highest sustained rate" if all(curve.kind.is_at_rate for curve in curves) else "highest throughput"


def peaks_chart(analysis: Analysis, workload: WorkloadSummary, style: Style) -> Chart | None:
    """What each system sustains under one workload: a bar, with its confidence interval; None when nothing is known.

    With an objective that some system keeps, it is what each sustains within it.
    """
    unit, links = workload.rate_unit, Links(analysis)
    curves = _drawn(analysis, workload)
    objective_ms = _objective_ms(analysis, curves)
    rows = [_numbered(_sustained(curve, objective_ms, unit, links), place) for place, curve in enumerate(curves)]
    title = f"{unit}, with 95 % confidence interval" if any(row["low"] is not None for row in rows) else unit
    return _bars(rows, names(analysis), title, style)


def capacities_chart(analysis: Analysis, workload: WorkloadSummary, style: Style) -> Chart | None:
    """The capacity of each system: a bar with its confidence interval, and a band from lower to upper limit.

    None where no system has one.
    """
    unit, links = workload.rate_unit, Links(analysis)
    capacities = (capacity for capacity in analysis.capacities if capacity.workload == workload.name)
    rows = [_numbered(_capacity(capacity, unit, links), place) for place, capacity in enumerate(capacities)]
    title = f"{unit}, with 95 % CI" if any(row["low"] is not None for row in rows) else unit
    title += "; pale: lower to upper limit" if any(row["from"] is not None for row in rows) else ""
    return _bars(rows, names(analysis), title, style)


def _drawn(analysis: Analysis, workload: WorkloadSummary) -> list[Curve]:
    return [curve for curve in analysis.curves if curve.workload == workload.name and curve.peak is not None]


def _objective_ms(analysis: Analysis, curves: list[Curve]) -> float | None:
    """The study's objective, unless no system is known to keep it anywhere."""
    objective_ms = analysis.objective_ms_p99
    if objective_ms is None or all(best_within(curve, objective_ms) is None for curve in curves):
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


def _capacity(system_capacity: SystemCapacity, unit: str, links: Links) -> Row:
    edges = {"from": _scaled(system_capacity.low, unit), "to": _scaled(system_capacity.high, unit)}
    if system_capacity.capacity_tps is None:
        row = {**_row(system_capacity.system, None, None, unit), "figure": _NOT_KNOWN, "shown": _NOT_KNOWN}
    else:
        rate = system_capacity.capacity_tps
        row = {**_row(system_capacity.system, rate.value, rate.bounds, unit), "shown": rate_with_interval(rate, unit)}
    edges = edges if None not in edges.values() else dict.fromkeys(edges)
    return {**row, **edges, **links.of(capacity_sources(system_capacity))}


def _row(system: str, tps: float | None, bounds: Bounds | None, unit: str) -> Row:
    """A bar with its figure; of an interval that would press the bars together it says so in words."""
    interval = ""
    if bounds is not None:
        low, high = (format_number(per_unit(edge, unit)) for edge in (bounds.low, bounds.high))
        interval = f" ({VAGUE_SHORT if bounds.is_vague else f'{low} to {high}'})"
    return {
        "system": clean(system),
        "rate": _scaled(tps, unit),
        "low": None if bounds is None else per_unit(bounds.low, unit),
        "high": None if bounds is None else per_unit(bounds.high, unit),
        "is_vague": bounds is not None and bounds.is_vague,
        "from": None,
        "to": None,
        "figure": "" if tps is None else f"{format_number(per_unit(tps, unit))}{interval}",
    }


def _scaled(tps: float | None, unit: str) -> float | None:
    return None if tps is None else per_unit(tps, unit)


def _bars(rows: list[Row], systems: list[str], title: str, style: Style) -> Chart | None:
    """None where nothing is known of any system. An interval that goes on beyond the axis ends in an arrow."""
    edges = [row[name] for row in rows for name in ("rate", "to") if row[name] is not None]
    edges += [row["high"] for row in rows if row["high"] is not None and not row["is_vague"]]
    if max(edges, default=0.0) <= 0 or all(row["rate"] is None for row in rows):
        return None
    top = max(edges) * (_CLIPPED_ROOM if any((row["high"] or 0.0) > max(edges) for row in rows) else 1.03)
    labels = name_lines(systems, _room_characters(rows))
    shown = [
        {
            **row,
            **lines_of(labels[row["system"]]),
            "end": row["high"] and min(row["high"], top),
            "is_beyond": (row["high"] or 0.0) > top,
        }
        for row in rows
    ]
    height_px = _ROW_PX + LINE_PX * max(row["more_lines"] for row in shown)
    palette, base, y, below_px = style.palette, chart_of(shown), _rows_axis(), height_px // 2 - _BAR_PX
    axis = alt.Axis(title=title, tickCount=4, format=",~r", labelFlush=False)
    x = alt.X("rate:Q", scale=alt.Scale(domain=[0, top], nice=False), axis=axis)
    colour = Series(systems, style).colour
    tooltip = [alt.Tooltip("system:N", title="system"), alt.Tooltip("shown:N", title="throughput"), recordings_line()]
    bar = base.mark_bar(size=9, yOffset=below_px, opacity=0.85)
    bar = bar.encode(x=x, y=y, color=colour, tooltip=tooltip, href=href())
    limits = base.mark_bar(size=17, yOffset=below_px, opacity=0.28).encode(
        x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=y, color=colour
    )
    layers = [bar.transform_filter("isValid(datum.rate)"), limits.transform_filter("isValid(datum.from)")]
    layers += [*_whiskers(base, y, below_px, palette), *_row_words(base, below_px, palette)]
    return finish(alt.layer(*layers), style).properties(height=len(rows) * height_px)


def _whiskers(base: alt.Chart, y: alt.Y, below_px: int, palette: Palette) -> list[alt.Chart]:
    """The interval of each bar with its two ends, the upper one an arrow where it lies beyond the axis."""
    known = base.transform_filter("isValid(datum.low)")
    rule = known.mark_rule(strokeWidth=2, yOffset=below_px, y2Offset=below_px, color=palette.ink)
    tick: dict[str, Any] = {"size": 11, "thickness": 2, "yOffset": below_px, "color": palette.ink}
    inside = known.transform_filter("!datum.is_beyond").mark_tick(**tick)
    arrow = known.transform_filter("datum.is_beyond").mark_text(
        text="▶", align="right", baseline="middle", fontSize=11, yOffset=below_px, color=palette.ink
    )
    return [
        rule.encode(x=alt.X("low:Q"), x2=alt.X2("end:Q"), y=y),
        known.mark_tick(**tick).encode(x=alt.X("low:Q"), y=y),
        inside.encode(x=alt.X("high:Q"), y=y),
        arrow.encode(x=alt.X("end:Q"), y=y),
    ]


def _room_characters(rows: list[Row]) -> int:
    """For names beside the longest figure."""
    return max(_FIRST_PX // _CHARACTER_PX - max(len(row["figure"]) for row in rows), _NAME_CHARACTERS_MIN)


def _rows_axis() -> alt.Y:
    return alt.Y("place:N", sort=None, axis=None, scale=alt.Scale(paddingInner=0.0, paddingOuter=0.0))


def _row_words(base: alt.Chart, below_px: int, palette: Palette) -> list[alt.Chart]:
    """Above each bar the name of its system, and at the right its figure."""
    left = base.mark_text(align="left", fontSize=12, color=palette.ink, **in_lines(below_px - _NAME_PX))
    right = base.mark_text(align="right", dy=below_px - _NAME_PX, fontSize=12, color=palette.quiet)
    return [
        left.encode(x=at_x(0), y=_rows_axis(), text=alt.Text("label:N")),
        right.encode(x=at_x("width"), y=_rows_axis(), text=alt.Text("figure:N")),
    ]
