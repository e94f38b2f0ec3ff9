"""The guide as one HTML file that works offline: pictures, scripts and style are all within it.

Whatever comes from an analysis is escaped by the template engine; a content security policy lets only the guide's own
two scripts run and nothing be fetched. Deliberately not here: what is said (`content`) and what charts show (`charts`).
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from plimsoll.analyse.model import Analysis, Curve
from plimsoll.guide.charts import (
    Chart,
    cpu_chart,
    cpu_part_names,
    response_chart,
    response_statistics,
    throughput_chart,
)
from plimsoll.guide.content import NO_ENVIRONMENTS, Content, WorkloadPart, describe
from plimsoll.guide.look import PAGE, Look, series_colours, series_dashes, series_shapes
from plimsoll.guide.pictures import chart_scripts, chart_spec, inline_svg
from plimsoll.guide.tables import Column

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
        absent: A sentence for each chart that there is no data for.
    """

    words: WorkloadPart
    key: tuple[KeyEntry, ...]
    throughput: Figure | None
    response: tuple[Figure, ...]
    cpu: tuple[Figure, ...]
    cpu_key: tuple[tuple[str, int], ...]
    absent: tuple[str, ...]


def render_html(analysis: Analysis) -> str:
    """The whole guide as the text of one HTML file."""
    content = describe(analysis)
    scripts = (_within_script(chart_scripts()), _within_script(_resource("guide.js")))
    return _template().render(
        content=content,
        no_environments=NO_ENVIRONMENTS,
        contents=_contents(content),
        summary=_summary(content.analysis),
        workloads=[_workload_figures(content, part, index) for index, part in enumerate(content.workloads)],
        style=_trusted(_resource("guide.css")),
        scripts=[_trusted(script) for script in scripts],
        script_hashes=[_trusted(_policy_hash(script)) for script in scripts],
    )


def _contents(content: Content) -> list[tuple[str, str]]:
    workloads = [(f"workload-{index}", part.workload.name) for index, part in enumerate(content.workloads, start=1)]
    return [
        ("answer", "The answer"),
        ("limits", "What is not decided"),
        *workloads,
        ("systems", "Every system in figures"),
        ("differences", "Differences"),
        ("configuration", "What differs"),
        ("environments", "Machines and servers"),
        ("warnings", "Warnings in full"),
        ("missing", "Missing trials"),
        ("method", "Method"),
    ]


def _summary(analysis: Analysis) -> str:
    trials = {trial for curve in analysis.curves for cell in curve.cells for trial in cell.trials}
    levels = {cell.connections for curve in analysis.curves for cell in curve.cells}
    counts = [(len(analysis.systems), "system"), (len(analysis.workloads), "workload"), (len(levels), "level")]
    counts += [(len(trials), "trial")] if trials else []
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


def _workload_figures(content: Content, part: WorkloadPart, index: int) -> WorkloadFigures:
    prefix = f"w{index}-"
    throughput = _throughput_figure(content.analysis, part, prefix)
    response = _response_figures(content.analysis, part, prefix)
    curves = [curve for curve in content.analysis.curves if curve.workload == part.workload.name]
    cpu = _cpu_figures(curves, prefix)
    absent = (
        ("No throughput is known, so there is no chart of it.", throughput),
        ("Response times are not known, so there is no chart of them.", response),
        ("How busy the processors were is not known, so there is no chart of it.", cpu),
    )
    return WorkloadFigures(
        words=part,
        key=_key(content.analysis, {curve.system for curve in curves}) if throughput else (),
        throughput=throughput,
        response=response,
        cpu=cpu,
        cpu_key=tuple(cpu_part_names(curves).items()),
        absent=tuple(sentence for sentence, there in absent if not there),
    )


def _throughput_figure(analysis: Analysis, part: WorkloadPart, prefix: str) -> Figure | None:
    wide = throughput_chart(analysis, part.workload, Look(width_px=None, height_px=340, labelled=True))
    narrow = throughput_chart(analysis, part.workload, Look(width_px=None, height_px=270))
    if wide is None or narrow is None:
        return None
    return Figure(
        title=None,
        label=f"Throughput against connections, {part.workload.name}",
        pictures=(
            _picture(wide, "wide", WIDE_PX, f"{prefix}t-"),
            _picture(narrow, "narrow", NARROW_PX, f"{prefix}n-"),
        ),
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
    return Picture(size, _trusted(svg), _trusted(_within_script_json(spec)))


def _key(analysis: Analysis, shown: set[str]) -> tuple[KeyEntry, ...]:
    names = [system.name for system in analysis.systems]
    styles = zip(
        names, series_colours(PAGE, len(names)), series_dashes(len(names)), series_shapes(len(names)), strict=True
    )
    return tuple(
        KeyEntry(name, colour, " ".join(map(str, dash)), shape) for name, colour, dash, shape in styles if name in shown
    )


def _trusted(text: str) -> Markup:
    """Marks text of our own making as mark-up: style, scripts, and what was escaped for its place before."""
    return Markup(text)  # noqa: S704


def _within_script_json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _within_script(script: str) -> str:
    if "</script" in script.lower() or "<!--" in script:
        script = script.replace("</", "<\\/").replace("<!--", "<\\!--")
    return script


def _policy_hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _resource(name: str) -> str:
    return resources.files("plimsoll.guide").joinpath("templates", name).read_text(encoding="utf-8")


def _breakable(text: str) -> Markup:
    """Text that may break after underscores, such as names of variables."""
    return escape(text).replace("_", Markup("_<wbr>"))


def _bound(text: str) -> str:
    """Prose in which a figure and its unit stay in one line."""
    return re.sub(r"(?<=\d) (?=(?:%|(?:ms|s|tps|tpm|connections?)\b))", "\u00a0", text)


def _runs(columns: tuple[Column, ...]) -> list[tuple[str | None, list[Column]]]:
    return [(group, list(members)) for group, members in itertools.groupby(columns, key=lambda column: column.group)]


def _column_class(columns: tuple[Column, ...], index: int) -> str:
    starts = index > 0 and columns[index].group is not None and columns[index].group != columns[index - 1].group
    classes = (("number", columns[index].numeric), ("start", starts))
    return " ".join(name for name, applies in classes if applies)


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("plimsoll.guide", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["runs"] = _runs
    environment.filters["breakable"] = _breakable
    environment.filters["bound"] = _bound
    environment.globals["column_class"] = _column_class
    return environment.get_template("guide.html.jinja")
