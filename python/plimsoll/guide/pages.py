"""A page of sections that is no guide: what was found, for the terminal, as Markdown and as one HTML file.

Deliberately not here: what the sections say.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Group
from rich.text import Text

from plimsoll import __version__
from plimsoll.guide.html import page_template, style_sheet
from plimsoll.guide.markdown import section_lines
from plimsoll.guide.markdown_text import escape_markdown
from plimsoll.guide.section_figures import section_figures
from plimsoll.guide.sections import Section
from plimsoll.guide.terminal import section_blocks
from plimsoll.guide.words import clean


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
        version=__version__,
        sections=[section_figures(one) for one in page.sections],
        style=style_sheet(),
    )


def page_markdown(page: Page) -> str:
    """The page as Markdown (GitHub's dialect)."""
    facts = escape_markdown(" · ".join(f"{name}: {value}" for name, value in page.facts))
    doubts = "\n".join(f"- {escape_markdown(one)}" for one in page.doubts)
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
        *(part for one in page.sections for part in section_blocks(one.title, one.sentences, one.tables, one.notes)),
    )
