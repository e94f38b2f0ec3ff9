"""Pages as one HTML file that works offline: the guide, and pages of sections that are no guide.

Pictures, scripts and style are all within the file. Whatever comes from an analysis is escaped by the template engine;
a content security policy lets only the guide's own two scripts run and nothing be fetched. A page that is no guide is
also there for the terminal and as Markdown. Deliberately not here: what is said (`content`), and the pictures
(`figures`).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

import jinja2
from altair.utils.schemapi import debug_mode
from markupsafe import Markup, escape
from rich.console import Group
from rich.text import Text

from plimsoll import __version__
from plimsoll.analyse.model import Analysis
from plimsoll.guide.content import RECORDINGS, Content, describe
from plimsoll.guide.figures import (
    chart_scripts,
    duet_figures,
    first_figures,
    page_figures,
    section_figures,
    system_keys,
    trusted,
    workload_figures,
)
from plimsoll.guide.markdown import section_lines
from plimsoll.guide.methods import methods_of
from plimsoll.guide.page_safety import policy_hash, template_environment
from plimsoll.guide.sections import Section
from plimsoll.guide.system_pages import PAGES_TITLE
from plimsoll.guide.tables import Column
from plimsoll.guide.terminal_blocks import section_blocks
from plimsoll.guide.words import clean, escape_markdown
from plimsoll.prose.phrases import plain_percent


def render_html(analysis: Analysis, recordings: str = RECORDINGS) -> str:
    """The whole guide as the text of one HTML file.

    Args:
        analysis: Of the study.
        recordings: The folder that holds its recordings, relative to the guide.
    """
    content = describe(analysis, recordings)
    with debug_mode(arg=False):  # charts are valid: their test looks at each, and looking takes longer than drawing
        return _page(content)


def _page(content: Content) -> str:
    scripts = _scripts()
    return page_template("guide.html.jinja").render(
        content=content,
        pages=[page_figures(page, index) for index, page in enumerate(content.pages)],
        pages_title=PAGES_TITLE,
        methods=methods_of(content.analysis),
        equal=next((plain_percent(difference.equal_within) for difference in content.analysis.differences), ""),
        contents=_contents(content),
        first_figures=first_figures(content),
        recorded=content.recorded,
        system_keys=system_keys(content.analysis),
        workloads=[workload_figures(content, part, index) for index, part in enumerate(content.workloads)],
        sections=[section_figures(result_section) for result_section in content.result_sections],
        background=[section_figures(background_section) for background_section in content.background_sections],
        duets=duet_figures(content.analysis),
        style=style_sheet(content.title, content.analysis.document.confidential),
        scripts=[trusted(script) for script in scripts],
        script_hashes=[trusted(policy_hash(script)) for script in scripts],
    )


def _scripts() -> tuple[str, str]:
    return _within_script(chart_scripts()), _within_script(_resource("guide.js"))


def script_hashes() -> tuple[str, ...]:
    """The scripts of every guide that this version writes, as a content security policy names them."""
    return tuple(map(policy_hash, _scripts()))


def _contents(content: Content) -> list[tuple[str, str]]:
    workloads = [(f"workload-{index}", part.workload.name) for index, part in enumerate(content.workloads, start=1)]
    return [
        ("answer", "The answer"),
        *workloads,
        *((result_section.anchor, result_section.title) for result_section in content.result_sections),
        *([("differences", "Differences")] if content.has_curves else []),
        ("warnings", "Warnings in full"),
        ("systems", PAGES_TITLE),
        ("configuration", "What differs"),
        *((background_section.anchor, background_section.title) for background_section in content.background_sections),
        ("method", "Method"),
        ("limits", "Limitations"),
        ("missing", "Missing trials"),
        ("recordings", "Recordings"),
    ]


def _within_script(script: str) -> str:
    if "</script" in script.lower() or "<!--" in script:
        script = script.replace("</", "<\\/").replace("<!--", "<\\!--")
    return script


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


def style_sheet(title: str, mark: str = "") -> Markup:
    """The style of a page; printed, each sheet after the first has the title at its top, and each the mark below."""
    running = f'@top-left {{ content: "{_in_style(title)}"; }} @bottom-left {{ content: "{_in_style(mark)}"; }}'
    return trusted(f"{_resource('guide.css')}@media print {{ @page {{ {running} }} }}\n")


def _in_style(text: str) -> str:
    """Text as a string of a style sheet: whatever it holds, it ends neither the string nor the style."""
    return "".join(letter if letter.isascii() and letter.isalnum() else f"\\{ord(letter):x} " for letter in text)


@cache
def page_template(name: str) -> jinja2.Template:
    """A template of this package."""
    environment = template_environment("plimsoll.guide")
    environment.filters["runs"] = _runs
    environment.filters["breakable"] = _breakable
    environment.filters["bound"] = _bound
    environment.globals["column_class"] = _column_class
    return environment.get_template(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What stands on a page.

    Attributes:
        brand: What kind of page it is.
        facts: Names and values below the title.
        doubts: What to know before relying on a figure.
    """

    brand: str
    title: str
    facts: tuple[tuple[str, str], ...]
    doubts: tuple[str, ...]
    sections: tuple[Section, ...]


def page_html(page: Page) -> str:
    """The page as the text of one HTML file without scripts, which works offline."""
    return page_template("page.html.jinja").render(
        page=page,
        recorded=(),
        system_keys={},
        version=__version__,
        sections=[section_figures(section) for section in page.sections],
        style=style_sheet(page.title),
    )


def page_markdown(page: Page) -> str:
    """The page as Markdown (GitHub's dialect)."""
    facts = escape_markdown(" · ".join(f"{name}: {value}" for name, value in page.facts))
    doubts = "\n".join(f"- {escape_markdown(doubt)}" for doubt in page.doubts)
    parts = [f"# {escape_markdown(page.title)}", facts]
    if doubts:
        parts += ["## Before you rely on a figure", doubts]
    for section in page.sections:
        parts += [f"## {escape_markdown(section.title)}", *section_lines(section, {})]
    return "\n\n".join(filter(None, parts)) + "\n"


def page_files(page: Page, document: str, name: str) -> dict[str, str]:
    """Names and texts of a page's files, the document first: NAME.json, NAME.md and NAME.html.

    Args:
        page: What the readable files show.
        document: The same as JSON.
        name: Of the files, without their endings.
    """
    return {f"{name}.json": document + "\n", f"{name}.md": page_markdown(page), f"{name}.html": page_html(page)}


def page_terminal(page: Page) -> Group:
    """The page on a terminal."""
    return Group(
        Text(clean(page.title), style="bold"),
        *(Text(f"{name}: {clean(value)}") for name, value in page.facts),
        *section_blocks("Before you rely on a figure", page.doubts),
        *(
            part
            for section in page.sections
            for part in section_blocks(section.title, section.sentences, section.tables, section.notes)
        ),
    )
