"""The guide as one HTML file that works offline: pictures, scripts and style are all within it.

Whatever comes from an analysis is escaped by the template engine; a content security policy lets only the guide's own
two scripts run and nothing be fetched. Deliberately not here: what is said (`content`), and the pictures (`figures`).
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup, escape

from plimsoll.analyse.model import Analysis
from plimsoll.guide.content import NO_ENVIRONMENTS, Content, describe
from plimsoll.guide.figures import trusted, workload_figures
from plimsoll.guide.pictures import chart_scripts
from plimsoll.guide.tables import Column


def render_html(analysis: Analysis) -> str:
    """The whole guide as the text of one HTML file."""
    content = describe(analysis)
    scripts = (_within_script(chart_scripts()), _within_script(_resource("guide.js")))
    return _template().render(
        content=content,
        no_environments=NO_ENVIRONMENTS,
        contents=_contents(content),
        summary=_summary(content.analysis),
        workloads=[workload_figures(content, part, index) for index, part in enumerate(content.workloads)],
        style=trusted(_resource("guide.css")),
        scripts=[trusted(script) for script in scripts],
        script_hashes=[trusted(_policy_hash(script)) for script in scripts],
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
    by_level = [cell for curve in analysis.curves for cell in curve.cells]
    by_rate = [cell for curve in analysis.rate_curves for cell in curve.cells]
    trials = {trial for cell in (*by_level, *by_rate) for trial in cell.trials}
    counts = [(len(analysis.systems), "system"), (len(analysis.workloads), "workload")]
    counts += [(len({cell.connections for cell in by_level}) + len({cell.rate_tps for cell in by_rate}), "level")]
    counts += [(len(trials), "trial")] if trials else []
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


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
