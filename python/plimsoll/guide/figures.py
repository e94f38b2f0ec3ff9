"""The pictures of a guide's page: its charts as SVG or PNG, each for the widths that it is shown in.

They are those of each workload, of the first screen, and of sections beside the workloads. The scripts that make charts
answer to a pointer take long to make and are always the same, so they stay in the user's cache directory; nothing is
fetched. A cache is never needed: where it cannot be read or written, or was changed, the text is made again. What
another user owns is not read: a script from there would run in the guide's page. Deliberately not here: what charts
show (`charts`), and the page around them (`html`).
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup

from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.guide.capacity import capacity_chart
from plimsoll.guide.charts import (
    capacities_chart,
    cpu_chart,
    cpu_part_names,
    peaks_chart,
    response_charts,
    sustained_words,
    throughput_chart,
)
from plimsoll.guide.comparisons import comparison_charts
from plimsoll.guide.content import Content, WorkloadPart
from plimsoll.guide.drawer import drawn
from plimsoll.guide.duets import duet_charts
from plimsoll.guide.headline import is_duet
from plimsoll.guide.marks import PAGE, SHAPES, Chart, Style, series_colours, series_dashes, series_shapes
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.sources import Links
from plimsoll.guide.system_pages import SystemPage
from plimsoll.guide.tables import Table
from plimsoll.guide.trials import OPEN_COUNT, CellStrips, cell_strips
from plimsoll.record.level import LevelKind
from plimsoll.regular_file import open_regular
from plimsoll.wording import capitalised, counted, listed

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
        title: Its caption; None where it stands below one with others.
        label: What it shows, for those who cannot see it.
        is_printed: It stands on paper too.
    """

    title: str | None
    label: str
    pictures: tuple[Picture, ...]
    is_printed: bool = True


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
    throughput_reading: str
    response_title: str
    response_reading: str
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
    is_searched = any(capacity.workload == part.workload.name for capacity in analysis.capacities)
    kinds = dict.fromkeys(curve.kind for curve in curves) or ([] if is_searched else [LevelKind.CLOSED])
    loads = tuple(_load_figures(analysis, part, kind, f"w{index}-{kind.value}-") for kind in kinds)
    drawn = {curve.system for curve in curves} if any(load.throughput for load in loads) else set()
    strips = cell_strips(analysis, part.workload)
    over_time = [strip for strip in strips if strip.is_answer or len(strips) <= OPEN_COUNT]
    capacity = _capacity_figure(analysis, part, f"k{index}-")
    searched = {capacity.system for capacity in analysis.capacities if capacity.workload == part.workload.name}
    return WorkloadFigures(
        words=part,
        key=_key(analysis, drawn),
        loads=loads,
        capacity=capacity,
        capacity_key=_lines_key(analysis, searched) if capacity is not None else (),
        comparisons=_comparison_figures(analysis, part, f"w{index}-d"),
        over_time=tuple(over_time),
        folded=tuple(strip for strip in strips if strip not in over_time),
    )


def _comparison_figures(analysis: Analysis, part: WorkloadPart, prefix: str) -> tuple[Figure, ...]:
    if is_duet(analysis, part.workload.name) and not _has_levels(analysis, part.workload):
        return ()  # its rounds say more
    looks = (Style(width_px=None, height_px=200, labelled=True), Style(width_px=None, height_px=200))
    both = zip(*(comparison_charts(analysis, part.workload, style) for style in looks), strict=True)
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
    chart = capacity_chart(analysis, part.workload, Style(width_px=None, height_px=300))
    if chart is None:
        return None
    pictures = (picture(chart, "wide", WIDE_PX, f"{prefix}w-"), picture(chart, "narrow", NARROW_PX, f"{prefix}n-"))
    return Figure(title=None, label=f"p99 response time against rate, {part.workload.name}", pictures=pictures)


def _has_levels(analysis: Analysis, workload: WorkloadSummary, kind: LevelKind | None = None) -> bool:
    """Whether some curve has several; a curve of one level is a point, which tables and intervals show."""
    curves = (curve for curve in analysis.curves if curve.workload == workload.name and kind in (None, curve.kind))
    return len({cell.level.order for curve in curves for cell in curve.cells}) > 1


def _load_figures(analysis: Analysis, part: WorkloadPart, kind: LevelKind, prefix: str) -> LoadFigures:
    curves = [curve for curve in analysis.curves if (curve.workload, curve.kind) == (part.workload.name, kind)]
    against = kind.axis.lower()
    throughput_title = f"{'Completed' if kind.is_at_rate else 'Throughput'} against {against}"
    response_title = f"Response time against {against if kind.is_at_rate else 'throughput'}"
    is_point = bool(curves) and not _has_levels(analysis, part.workload, kind)
    throughput = None if is_point else _throughput_figure(analysis, part, kind, prefix, throughput_title)
    charts = [] if is_point else response_charts(analysis, part.workload, kind, Style(width_px=None, height_px=220))
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
        throughput_reading=_throughput_reading(curves, kind),
        response_title=response_title,
        response_reading=(
            f"Each point is a level; lines join levels in the order of {against}. Where a line turns upwards, more load"
            " makes transactions wait. The scale of response time is logarithmic."
        ),
        throughput=throughput,
        response=response,
        cpu=cpu,
        cpu_key=tuple(cpu_part_names(curves).items()),
        absent=tuple(sentence for sentence, there in absent if not there),
    )


def _throughput_reading(curves: list[Curve], kind: LevelKind) -> str:
    """What to see in lines of throughput, and what else is drawn."""
    cells = [cell for curve in curves for cell in curve.cells]
    bounds = [cell.throughput_tps.bounds for cell in cells]
    is_one = len({curve.system for curve in curves}) == 1
    drawn = ["The line joins the levels" if is_one else "Each line is a system"]
    drawn += ["hollow points are single repetitions"] if any(len(cell.trials) > 1 for cell in cells) else []
    drawn += (
        ["a band is a 95 % confidence interval"] if any(of is not None and not of.is_vague for of in bounds) else []
    )
    see = (
        "On the dotted line the whole target rate was completed: a line that leaves it is overloaded."
        if kind.is_at_rate
        else "Where a line is flat or falls, more connections gain nothing."
    )
    return f"{listed(drawn)}. {see}"


def _throughput_figure(
    analysis: Analysis, part: WorkloadPart, kind: LevelKind, prefix: str, title: str
) -> Figure | None:
    wide = throughput_chart(analysis, part.workload, kind, Style(width_px=None, height_px=340, labelled=True))
    narrow = throughput_chart(analysis, part.workload, kind, Style(width_px=None, height_px=270))
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
    style, links = Style(width_px=None, height_px=190), Links(analysis)
    charts = ((curve.system, cpu_chart(curve, rate_unit, style, links)) for curve in curves)
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


def system_keys(analysis: Analysis) -> dict[str, KeyEntry]:
    """How each system is drawn in every chart, by its name; nothing of a single system, which needs no mark."""
    entries = _key(analysis, {system.name for system in analysis.systems})
    return {entry.name: entry for entry in entries} if len(entries) > 1 else {}


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
    return tuple(replace(entry, shape=SHAPES[0]) for entry in _key(analysis, shown))


def trusted(text: str) -> Markup:
    """Marks text of our own making as mark-up: style, scripts, and what was escaped for its place before."""
    return Markup(text)  # noqa: S704


def _within_script_json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


FIRST_PX = 430
FIRST_COUNT = 2
"""So many workloads have a chart on the first screen."""


def first_figures(content: Content) -> tuple[Figure, ...]:
    """The charts of the first screen: what each system sustains; of a single system its curve, of a duet its rounds."""
    analysis = content.analysis
    workloads = analysis.workloads[:FIRST_COUNT]
    style = Style(width_px=None, height_px=300 // max(len(workloads), 1))
    charts = ((workload, *_first_chart(analysis, workload, style)) for workload in workloads)
    return tuple(
        Figure(
            title=f"{workload.name}: {shows}",
            label=f"{capitalised(shows, ())}, {workload.name}",
            pictures=(picture(chart, "any", FIRST_PX, f"f{index}-"),),
        )
        for index, (workload, shows, chart) in enumerate(charts)
        if chart is not None
    )


def _first_chart(analysis: Analysis, workload: WorkloadSummary, style: Style) -> tuple[str, Chart | None]:
    """What the chart of a workload on the first screen shows, and the chart."""
    tall = replace(style, height_px=max(style.height_px, 220))
    if is_duet(analysis, workload.name):
        rounds = next(duet_charts(analysis, tall, workload.name), None)
        return "systems compared", None if rounds is None else rounds[1]
    if any(capacity.workload == workload.name for capacity in analysis.capacities):
        several = capacities_chart(analysis, workload, style) if len(analysis.systems) > 1 else None
        if several is not None:
            return "capacity of each system", several
        return "p99 response time against rate", capacity_chart(analysis, workload, tall)
    if len(analysis.systems) == 1:
        return "throughput", _first_curve(analysis, workload, style)
    return sustained_words(analysis, workload), peaks_chart(analysis, workload, style)


def _first_curve(analysis: Analysis, workload: WorkloadSummary, style: Style) -> Chart | None:
    kinds = (curve.kind for curve in analysis.curves if curve.workload == workload.name)
    kind = next(kinds, None)
    return None if kind is None else throughput_chart(analysis, workload, kind, style)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFigures:
    """Words and charts of a section.

    Attributes:
        key: What its charts stack, each with the index of its colour.
        tables: Neighbours that are folded together under a title, which is empty for those that stand open.
    """

    words: Section
    figures: tuple[Figure, ...]
    key: tuple[tuple[str, int], ...]
    tables: tuple[tuple[str, tuple[Table, ...]], ...]

    @property
    def unprinted(self) -> str:
        """What stands on a page and not on paper; empty where paper has it all."""
        charts_count = sum(not chart.is_printed for chart in self.words.charts)
        tables_count = sum(bool(table.fold) or not table.is_printed for table in self.words.tables)
        counts = ((tables_count, "more table"), (charts_count, "more chart"))
        return listed([counted(count, what) for count, what in counts if count])


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigures:
    """Words and charts of a system's page."""

    words: SystemPage
    figures: tuple[Figure, ...]


def page_figures(page: SystemPage, index: int) -> PageFigures:
    """A system's page with its pictures; `index` keeps their ids apart from those of others."""
    return PageFigures(words=page, figures=_charts(page.charts, f"s{index}-", (NARROW_PX, 150), f"{page.name}: "))


def _charts(
    charts: Sequence[SectionChart], prefix: str, size_px: tuple[int, int], subject: str = ""
) -> tuple[Figure, ...]:
    width_px, height_px = size_px
    style = Style(width_px=None, height_px=height_px)
    return tuple(
        Figure(
            title=chart.title,
            label=f"{subject}{chart.title}",
            pictures=_wide_pictures(chart, f"{prefix}{index}-")
            if chart.is_wide
            else (picture(chart.draw(style), "any", width_px, f"{prefix}{index}-"),),
            is_printed=chart.is_printed,
        )
        for index, chart in enumerate(charts)
    )


def _wide_pictures(chart: SectionChart, prefix: str) -> tuple[Picture, ...]:
    drawing = chart.draw(Style(width_px=None, height_px=240))
    return (picture(drawing, "wide", WIDE_PX, f"{prefix}w-"), picture(drawing, "narrow", NARROW_PX, f"{prefix}n-"))


def section_figures(section: Section) -> SectionFigures:
    """A section with its pictures."""
    key = tuple(dict.fromkeys(entry for chart in section.charts for entry in chart.key))
    open_first = sorted(section.tables, key=lambda table: bool(table.fold))
    tables = tuple((fold, tuple(group)) for fold, group in itertools.groupby(open_first, key=lambda table: table.fold))
    figures = _charts(section.charts, section.anchor, (PANEL_PX, 190))
    return SectionFigures(words=section, figures=figures, key=key, tables=tables)


def duet_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """A picture of the pairs of turns of each comparison of systems that took turns."""
    charts = duet_charts(analysis, Style(width_px=None, height_px=240))
    return tuple(
        Figure(
            title=title,
            label=f"Pairs of turns: {title}",
            pictures=(
                picture(chart, "wide", WIDE_PX, f"d{index}-"),
                picture(chart, "narrow", NARROW_PX, f"e{index}-"),
            ),
        )
        for index, (title, chart) in enumerate(charts)
    )


def chart_spec(chart: Chart) -> dict[str, Any]:
    """A chart as Vega-Lite, without the address of its schema: a page that works offline names no other place.

    Whether charts are valid is for the tests: here it would take longer than drawing them.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("$schema", None)
    return spec


def render_svg(chart: Chart) -> str:
    """A chart as an SVG picture."""
    return _without_base(drawn(chart_spec(chart), _VEGA_LITE).result())


class InlineSvg:
    """A chart as SVG to stand within a page: as wide as its place, and its ids begin with `prefix`."""

    def __init__(self, spec: dict[str, Any], prefix: str) -> None:
        """Begins to draw it."""
        self._drawn, self._prefix = drawn(spec, _VEGA_LITE), prefix

    @property
    def text(self) -> str:
        """The drawing; waits until it is there."""
        svg = _without_base(self._drawn.result())
        svg = re.sub(r'(<svg [^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg, count=1)
        return re.sub(r'(\bid="|url\(#|href="#(?!recording))', rf"\g<1>{self._prefix}", svg)


def _without_base(svg: str) -> str:
    return svg.replace(f'href="{_BASE}#', 'href="#')


@cache
def chart_scripts() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, from the library that also draws the pictures.

    Making it takes as long as drawing all pictures of a guide, so it is kept in the user's cache directory.
    """
    version = vl_convert.__version__  # type: ignore[attr-defined]
    script = cached(f"charts-{version}-{_VEGA_LITE}.js", _bundle)
    for address in _ADDRESSES:
        script = script.replace(address, "")
    return script


def _bundle() -> str:
    return str(vl_convert.javascript_bundle(vl_version=_VEGA_LITE))  # type: ignore[call-arg]


_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])

_BASE = "https://vega.github.io/vega-datasets/"
"""What the library puts before links that are relative; those of a guide lead to places within it."""

_ADDRESSES = ("https://vega.github.io", "https://github.com")
"""Of an editor, a schema and a report that the script names. No part of the guide goes there, and now none can."""

_BYTES_MAX = 8_000_000


def cached(name: str, make: Callable[[], str]) -> str:
    """A text from the cache, else made and kept there.

    Args:
        name: Of its file; it says all that the text depends on.
        make: Makes it.
    """
    path = _folder() / name
    text = _read(path)
    if text is None:
        text = make()
        with contextlib.suppress(OSError):
            _write(path, text)
    return text


def _folder() -> Path:
    """`plimsoll` in the user's cache directory (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path fails without a home
    return Path(base) / "plimsoll"


def _read(path: Path) -> str | None:
    """None unless the file is ours and whole: its first line is the digest of the others."""
    try:
        with open_regular(path) as file:
            content = file.read(_BYTES_MAX) if os.fstat(file.fileno()).st_uid == os.geteuid() else b""
        digest, _, text = content.partition(b"\n")
        return text.decode() if digest.decode() == hashlib.sha256(text).hexdigest() else None
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    content = text.encode()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
