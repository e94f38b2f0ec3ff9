"""The pictures of a guide's page: for each workload its charts, each for the widths that it is shown in.

Deliberately not here: what charts show (`charts`, `rate_charts`), and the page around them (`html`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from plimsoll.analyse.model import Analysis, Curve
from plimsoll.guide.charts import cpu_chart, cpu_part_names, response_chart, response_statistics, throughput_chart
from plimsoll.guide.content import Content, WorkloadPart
from plimsoll.guide.look import PAGE, Look, series_colours, series_dashes, series_shapes
from plimsoll.guide.marks import Chart
from plimsoll.guide.pictures import chart_spec, inline_svg
from plimsoll.guide.rate_charts import completed_chart, rate_response_charts

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
class WorkloadFigures:
    """Words and charts of one workload.

    Attributes:
        at_rates: It was driven at rates, and the charts are against what was wanted.
        absent: A sentence for each chart that there is no data for.
    """

    words: WorkloadPart
    at_rates: bool
    throughput_title: str
    response_title: str
    key: tuple[KeyEntry, ...]
    throughput: Figure | None
    response: tuple[Figure, ...]
    cpu: tuple[Figure, ...]
    cpu_key: tuple[tuple[str, int], ...]
    absent: tuple[str, ...]


def workload_figures(content: Content, part: WorkloadPart, index: int) -> WorkloadFigures:
    """All pictures of one workload; `index` keeps their ids apart from those of others."""
    prefix = f"w{index}-"
    analysis, name = content.analysis, part.workload.name
    rate_systems = {curve.system for curve in analysis.rate_curves if curve.workload == name}
    curves = [curve for curve in analysis.curves if curve.workload == name]
    at_rates = bool(rate_systems)
    throughput = _throughput_figure(analysis, part, prefix, at_rates=at_rates)
    response = _rate_response_figures(analysis, part, prefix) if at_rates else _response_figures(analysis, part, prefix)
    cpu = _cpu_figures(curves, prefix)
    absent = (
        ("No throughput is known, so there is no chart of it.", throughput),
        ("Response times are not known, so there is no chart of them.", response),
        ("How busy the processors were is not known, so there is no chart of it.", cpu or at_rates),
    )
    return WorkloadFigures(
        words=part,
        at_rates=at_rates,
        throughput_title="Completed against wanted" if at_rates else "Throughput against connections",
        response_title="Response time against wanted" if at_rates else "Response time against throughput",
        key=_key(analysis, rate_systems | {curve.system for curve in curves}) if throughput else (),
        throughput=throughput,
        response=response,
        cpu=cpu,
        cpu_key=tuple(cpu_part_names(curves).items()),
        absent=tuple(sentence for sentence, there in absent if not there),
    )


def _throughput_figure(analysis: Analysis, part: WorkloadPart, prefix: str, *, at_rates: bool) -> Figure | None:
    chart = completed_chart if at_rates else throughput_chart
    wide = chart(analysis, part.workload, Look(width_px=None, height_px=340, labelled=True))
    narrow = chart(analysis, part.workload, Look(width_px=None, height_px=270))
    if wide is None or narrow is None:
        return None
    what = "Completed against wanted" if at_rates else "Throughput against connections"
    return Figure(
        title=None,
        label=f"{what}, {part.workload.name}",
        pictures=(
            _picture(wide, "wide", WIDE_PX, f"{prefix}t-"),
            _picture(narrow, "narrow", NARROW_PX, f"{prefix}n-"),
        ),
    )


def _rate_response_figures(analysis: Analysis, part: WorkloadPart, prefix: str) -> tuple[Figure, ...]:
    charts = rate_response_charts(analysis, part.workload, Look(width_px=None, height_px=220))
    return tuple(
        Figure(
            title=None,
            label=f"{title}, against the wanted rate, {part.workload.name}",
            pictures=(_picture(chart, "any", PANEL_PX, f"{prefix}{name}-"),),
        )
        for name, title, chart in charts
    )


def _response_figures(analysis: Analysis, part: WorkloadPart, prefix: str) -> tuple[Figure, ...]:
    look = Look(width_px=None, height_px=220)
    titles = response_statistics(analysis, part.workload)
    charts = ((name, title, response_chart(analysis, part.workload, name, look)) for name, title in titles.items())
    return tuple(
        Figure(
            title=None,
            label=f"{title}, against throughput, {part.workload.name}",
            pictures=(_picture(chart, "any", PANEL_PX, f"{prefix}{name}-"),),
        )
        for name, title, chart in charts
        if chart is not None
    )


def _cpu_figures(curves: list[Curve], prefix: str) -> tuple[Figure, ...]:
    charts = ((curve.system, cpu_chart(curve, Look(width_px=None, height_px=190))) for curve in curves)
    return tuple(
        Figure(
            title=system,
            label=f"Processor time of the host, {system}",
            pictures=(_picture(chart, "any", PANEL_PX, f"{prefix}c{index}-"),),
        )
        for index, (system, chart) in enumerate(charts)
        if chart is not None
    )


def _picture(chart: Chart, size: str, width_px: int, prefix: str) -> Picture:
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
