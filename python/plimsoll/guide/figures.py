"""The pictures of a guide's page: for each workload its charts, each for the widths that it is shown in.

Deliberately not here: what charts show (`charts`), those of the first screen (`first_figures`), and the page around
them (`html`).
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
from plimsoll.guide.comparison_charts import comparison_charts
from plimsoll.guide.content import Content, WorkloadPart
from plimsoll.guide.headline import is_duet
from plimsoll.guide.look import PAGE, SHAPES, Look, series_colours, series_dashes, series_shapes
from plimsoll.guide.marks import Chart
from plimsoll.guide.pictures import InlineSvg, chart_spec
from plimsoll.guide.strips import OPEN_COUNT, CellStrips, cell_strips
from plimsoll.record.level import LevelKind

WIDE_PX = 860
NARROW_PX = 350
PANEL_PX = 270


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart for one width: as it stands in the page, and as Vega-Lite for the script.

    Attributes:
        size: `wide`, `narrow`, or `any` where one picture serves both.
    """

    size: str
    drawing: InlineSvg
    spec: Markup

    @property
    def svg(self) -> Markup:
        """As it stands in the page; waits until it is drawn."""
        return trusted(self.drawing.text)


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
        capacity: The runs of the searches for capacities; None where there was none.
        capacity_key: How its systems are drawn.
        comparisons: Ratios of systems with their intervals; empty where none were compared.
        over_time: Cells over time that are shown at once.
        folded: The others.
    """

    words: WorkloadPart
    key: tuple[KeyEntry, ...]
    loads: tuple[LoadFigures, ...]
    capacity: Figure | None
    capacity_key: tuple[KeyEntry, ...]
    comparisons: tuple[Figure, ...]
    over_time: tuple[CellStrips, ...]
    folded: tuple[CellStrips, ...]


def workload_figures(content: Content, part: WorkloadPart, index: int) -> WorkloadFigures:
    """All pictures of one workload; `index` keeps their ids apart from those of others."""
    analysis = content.analysis
    curves = [curve for curve in analysis.curves if curve.workload == part.workload.name]
    is_searched = any(one.workload == part.workload.name for one in analysis.capacities)
    kinds = dict.fromkeys(curve.kind for curve in curves) or ([] if is_searched else [LevelKind.CLOSED])
    loads = tuple(_load_figures(analysis, part, kind, f"w{index}-{kind.value}-") for kind in kinds)
    drawn = {curve.system for curve in curves} if any(load.throughput for load in loads) else set()
    strips = cell_strips(analysis, part.workload)
    over_time = [one for one in strips if one.is_answer or len(strips) <= OPEN_COUNT]
    capacity = _capacity_figure(analysis, part, f"k{index}-")
    searched = {one.system for one in analysis.capacities if one.workload == part.workload.name}
    return WorkloadFigures(
        words=part,
        key=_key(analysis, drawn),
        loads=loads,
        capacity=capacity,
        capacity_key=_lines_key(analysis, searched) if capacity is not None else (),
        comparisons=_comparison_figures(analysis, part, f"w{index}-d"),
        over_time=tuple(over_time),
        folded=tuple(one for one in strips if one not in over_time),
    )


def _comparison_figures(analysis: Analysis, part: WorkloadPart, prefix: str) -> tuple[Figure, ...]:
    if is_duet(analysis, part.workload.name) and not _has_levels(analysis, part.workload):
        return ()  # its rounds say more
    looks = (Look(width_px=None, height_px=200, labelled=True), Look(width_px=None, height_px=200))
    both = zip(*(comparison_charts(analysis, part.workload, look) for look in looks), strict=True)
    return tuple(
        Figure(
            title=title,
            label=f"Systems compared, {part.workload.name}: {title}",
            pictures=(
                picture(wide, "wide", WIDE_PX, f"{prefix}{number}-w-"),
                picture(narrow, "narrow", NARROW_PX, f"{prefix}{number}-n-"),
            ),
        )
        for number, ((title, wide), (_, narrow)) in enumerate(both)
    )


def _capacity_figure(analysis: Analysis, part: WorkloadPart, prefix: str) -> Figure | None:
    """Response times against rates with the objective."""
    chart = capacity_chart(analysis, part.workload, Look(width_px=None, height_px=300))
    if chart is None:
        return None
    pictures = (picture(chart, "wide", WIDE_PX, f"{prefix}w-"), picture(chart, "narrow", NARROW_PX, f"{prefix}n-"))
    return Figure(title=None, label=f"p99 response time against rate, {part.workload.name}", pictures=pictures)


def _has_levels(analysis: Analysis, workload: WorkloadSummary, kind: LevelKind | None = None) -> bool:
    """Whether some curve has several; a curve of one level is a point, which tables and intervals show."""
    own = (one for one in analysis.curves if one.workload == workload.name and kind in (None, one.kind))
    return len({cell.level.order for curve in own for cell in curve.cells}) > 1


def _load_figures(analysis: Analysis, part: WorkloadPart, kind: LevelKind, prefix: str) -> LoadFigures:
    curves = [one for one in analysis.curves if (one.workload, one.kind) == (part.workload.name, kind)]
    against = kind.axis.lower()
    throughput_title = f"{'Completed' if kind.is_at_rate else 'Throughput'} against {against}"
    response_title = f"Response time against {against if kind.is_at_rate else 'throughput'}"
    is_point = bool(curves) and not _has_levels(analysis, part.workload, kind)
    throughput = None if is_point else _throughput_figure(analysis, part, kind, prefix, throughput_title)
    charts = [] if is_point else response_charts(analysis, part.workload, kind, Look(width_px=None, height_px=220))
    response = tuple(
        Figure(
            title=None,
            label=f"{title}, against {against if kind.is_at_rate else 'throughput'}, {part.workload.name}",
            pictures=(picture(chart, "any", PANEL_PX, f"{prefix}{name}-"),),
        )
        for name, title, chart in charts
    )
    cpu = _cpu_figures(analysis, curves, part.workload.rate_unit, prefix)
    absent = (
        ("No throughput is known, so there is no chart of it.", throughput or is_point),
        ("Response times are not known, so there is no chart of them.", response or is_point),
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
    drawing = InlineSvg({**spec, "width": width_px}, prefix)
    return Picture(size, drawing, trusted(_within_script_json(spec)))


def _key(analysis: Analysis, shown: set[str]) -> tuple[KeyEntry, ...]:
    names = [system.name for system in analysis.systems]
    styles = zip(
        names, series_colours(PAGE, len(names)), series_dashes(len(names)), series_shapes(len(names)), strict=True
    )
    return tuple(
        KeyEntry(name, colour, " ".join(map(str, dash)), shape) for name, colour, dash, shape in styles if name in shown
    )


def _lines_key(analysis: Analysis, shown: set[str]) -> tuple[KeyEntry, ...]:
    """The same for a chart whose shapes say something else."""
    return tuple(replace(one, shape=SHAPES[0]) for one in _key(analysis, shown))


def trusted(text: str) -> Markup:
    """Marks text of our own making as mark-up: style, scripts, and what was escaped for its place before."""
    return Markup(text)  # noqa: S704


def _within_script_json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
