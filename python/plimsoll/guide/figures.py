"""The pictures of a guide's page: for each workload its charts, each for the widths that it is shown in.

Deliberately not here: what charts show (`charts`), and the page around them (`html`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.guide.capacity_chart import capacity_chart
from plimsoll.guide.chart_links import Links
from plimsoll.guide.charts import cpu_chart, cpu_part_names, response_charts, throughput_chart
from plimsoll.guide.content import Content, WorkloadPart
from plimsoll.guide.headline import is_duet
from plimsoll.guide.interval_charts import comparison_chart, peaks_chart, sustained_words
from plimsoll.guide.look import PAGE, Look, series_colours, series_dashes, series_shapes
from plimsoll.guide.marks import Chart
from plimsoll.guide.pictures import chart_spec, inline_svg
from plimsoll.guide.strips import OPEN_COUNT, SystemStrips, system_strips
from plimsoll.prose.phrases import capitalised
from plimsoll.record.level import LevelKind

WIDE_PX = 860
NARROW_PX = 350
PANEL_PX = 270
FIRST_PX = 430
FIRST_COUNT = 2
"""So many workloads have a chart on the first screen."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart for one width: as it stands in the page, and as Vega-Lite for the script.

    Attributes:
        size: `wide`, `narrow`, or `any` where one picture serves both.
    """

    size: str
    svg: Markup
    spec: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart with its caption.

    Attributes:
        label: What it shows, for those who cannot see it.
    """

    title: str | None
    label: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """How a system is drawn."""

    name: str
    colour: str
    dash: str
    shape: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigures:
    """The charts of one workload under one kind of load.

    Attributes:
        absent: A sentence for each chart that there is no data for.
    """

    kind: LevelKind
    throughput_title: str
    response_title: str
    throughput: Figure | None
    response: tuple[Figure, ...]
    cpu: tuple[Figure, ...]
    cpu_key: tuple[tuple[str, int], ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFigures:
    """Words and charts of one workload.

    Attributes:
        comparison: Pairs of systems with the intervals of their ratios; None where none was compared.
        over_time: Each cell over time, by system.
        is_open: There are few enough of these to show them all at once.
    """

    words: WorkloadPart
    key: tuple[KeyEntry, ...]
    loads: tuple[LoadFigures, ...]
    comparison: Figure | None
    over_time: tuple[SystemStrips, ...]
    is_open: bool


def first_figures(content: Content) -> tuple[Figure, ...]:
    """The charts of the first screen: what each system sustains; of a single system its curve, of a duet the ratios."""
    analysis = content.analysis
    workloads = analysis.workloads[:FIRST_COUNT]
    look = Look(width_px=None, height_px=300 // max(len(workloads), 1))
    charts = ((one, *_first_chart(analysis, one, look)) for one in workloads)
    return tuple(
        Figure(
            title=f"{one.name}: {shows}",
            label=f"{capitalised(shows, ())}, {one.name}",
            pictures=(picture(chart, "any", FIRST_PX, f"f{index}-"),),
        )
        for index, (one, shows, chart) in enumerate(charts)
        if chart is not None
    )


def _first_chart(analysis: Analysis, workload: WorkloadSummary, look: Look) -> tuple[str, Chart | None]:
    """What the chart of a workload on the first screen shows, and the chart."""
    if is_duet(analysis, workload.name):
        return "systems compared", comparison_chart(analysis, workload, look)
    if any(one.workload == workload.name for one in analysis.capacities):
        searched = capacity_chart(analysis, workload, replace(look, height_px=max(look.height_px, 220)))
        return "p99 response time against rate", searched
    if len(analysis.systems) == 1:
        return "throughput", _first_curve(analysis, workload, look)
    return sustained_words(analysis, workload), peaks_chart(analysis, workload, look)


def _first_curve(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Chart | None:
    kinds = (curve.kind for curve in analysis.curves if curve.workload == workload.name)
    kind = next(kinds, None)
    return None if kind is None else throughput_chart(analysis, workload, kind, look)


def workload_figures(content: Content, part: WorkloadPart, index: int) -> WorkloadFigures:
    """All pictures of one workload; `index` keeps their ids apart from those of others."""
    analysis = content.analysis
    curves = [curve for curve in analysis.curves if curve.workload == part.workload.name]
    is_searched = any(one.workload == part.workload.name for one in analysis.capacities)
    kinds = dict.fromkeys(curve.kind for curve in curves) or ([] if is_searched else [LevelKind.CLOSED])
    loads = tuple(_load_figures(analysis, part, kind, f"w{index}-{kind.value}-") for kind in kinds)
    drawn = {curve.system for curve in curves} if any(load.throughput for load in loads) else set()
    over_time = system_strips(analysis, part.workload)
    return WorkloadFigures(
        words=part,
        key=_key(analysis, drawn),
        loads=loads,
        comparison=_comparison_figure(analysis, part, f"w{index}-d-"),
        over_time=over_time,
        is_open=sum(len(one.cells) for one in over_time) <= OPEN_COUNT,
    )


def _comparison_figure(analysis: Analysis, part: WorkloadPart, prefix: str) -> Figure | None:
    wide = comparison_chart(analysis, part.workload, Look(width_px=None, height_px=200, labelled=True))
    narrow = comparison_chart(analysis, part.workload, Look(width_px=None, height_px=200))
    if wide is None or narrow is None:
        return None
    pictures = (
        picture(wide, "wide", WIDE_PX, f"{prefix}w-"),
        picture(narrow, "narrow", NARROW_PX, f"{prefix}n-"),
    )
    return Figure(title=None, label=f"Systems compared, {part.workload.name}", pictures=pictures)


def _load_figures(analysis: Analysis, part: WorkloadPart, kind: LevelKind, prefix: str) -> LoadFigures:
    curves = [one for one in analysis.curves if (one.workload, one.kind) == (part.workload.name, kind)]
    against = kind.axis.lower()
    throughput_title = f"{'Completed' if kind.is_at_rate else 'Throughput'} against {against}"
    response_title = f"Response time against {against if kind.is_at_rate else 'throughput'}"
    throughput = _throughput_figure(analysis, part, kind, prefix, throughput_title)
    response = tuple(
        Figure(
            title=None,
            label=f"{title}, against {against if kind.is_at_rate else 'throughput'}, {part.workload.name}",
            pictures=(picture(chart, "any", PANEL_PX, f"{prefix}{name}-"),),
        )
        for name, title, chart in response_charts(analysis, part.workload, kind, Look(width_px=None, height_px=220))
    )
    cpu = _cpu_figures(analysis, curves, part.workload.rate_unit, prefix)
    absent = (
        ("No throughput is known, so there is no chart of it.", throughput),
        ("Response times are not known, so there is no chart of them.", response),
        ("Processor utilisation is not known, so there is no chart of it.", cpu),
    )
    return LoadFigures(
        kind=kind,
        throughput_title=throughput_title,
        response_title=response_title,
        throughput=throughput,
        response=response,
        cpu=cpu,
        cpu_key=tuple(cpu_part_names(curves).items()),
        absent=tuple(sentence for sentence, there in absent if not there),
    )


def _throughput_figure(
    analysis: Analysis, part: WorkloadPart, kind: LevelKind, prefix: str, title: str
) -> Figure | None:
    wide = throughput_chart(analysis, part.workload, kind, Look(width_px=None, height_px=340, labelled=True))
    narrow = throughput_chart(analysis, part.workload, kind, Look(width_px=None, height_px=270))
    if wide is None or narrow is None:
        return None
    return Figure(
        title=None,
        label=f"{title}, {part.workload.name}",
        pictures=(
            picture(wide, "wide", WIDE_PX, f"{prefix}t-"),
            picture(narrow, "narrow", NARROW_PX, f"{prefix}n-"),
        ),
    )


def _cpu_figures(analysis: Analysis, curves: list[Curve], rate_unit: str, prefix: str) -> tuple[Figure, ...]:
    look, links = Look(width_px=None, height_px=190), Links(analysis)
    charts = ((curve.system, cpu_chart(curve, rate_unit, look, links)) for curve in curves)
    return tuple(
        Figure(
            title=system,
            label=f"Processor time of the host, {system}",
            pictures=(picture(chart, "any", PANEL_PX, f"{prefix}c{index}-"),),
        )
        for index, (system, chart) in enumerate(charts)
        if chart is not None
    )


def picture(chart: Chart, size: str, width_px: int, prefix: str) -> Picture:
    """A chart drawn without scripts, and its definition for the page's scripts; `prefix` keeps its ids apart."""
    spec = chart_spec(chart)
    svg = inline_svg({**spec, "width": width_px}, prefix)
    return Picture(size, trusted(svg), trusted(_within_script_json(spec)))


def _key(analysis: Analysis, shown: set[str]) -> tuple[KeyEntry, ...]:
    names = [system.name for system in analysis.systems]
    styles = zip(
        names, series_colours(PAGE, len(names)), series_dashes(len(names)), series_shapes(len(names)), strict=True
    )
    return tuple(
        KeyEntry(name, colour, " ".join(map(str, dash)), shape) for name, colour, dash, shape in styles if name in shown
    )


def trusted(text: str) -> Markup:
    """Marks text of our own making as mark-up: style, scripts, and what was escaped for its place before."""
    return Markup(text)  # noqa: S704


def _within_script_json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
