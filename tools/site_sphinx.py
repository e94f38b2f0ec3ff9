"""Sphinx extension of the documentation site: the navigation, and Markdown as GitHub shows it.

Every page keeps the path of its Markdown file, so that links between pages are the same in both.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from site_navigation import HOME, PARTS, ROOT, Entry, entries
from sphinx import addnodes
from sphinx.application import Sphinx

BEFORE_COLLECTORS = 100
"""Priority of what changes a page: Sphinx's collectors of headings, pictures and navigation come at 500."""
AFTER_THEME = 900
PART = re.compile(
    r'<p class="caption" role="heading"><span class="caption-text">([^<]*)</span></p>'
    r'(.*?)(?=<p class="caption"|\Z)',
    re.DOTALL,
)
"""A part of the navigation as the theme writes it: its name, and its list."""
WEIGHTS = {r"docs/decisions/|CHANGELOG|STYLE|CONTRIBUTING|ARCHITECTURE": 0.3, r"docs/.*-json$": 0.6}
"""Pages that search lists below others: what programs read, and what developers of Plimsoll read."""
PICTURE = re.compile(r"<picture>.*?<img([^>]*)>.*?</picture>", re.DOTALL)


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers what follows."""
    app.connect("source-read", plain_pictures)
    for change in (github_anchors, links_within_the_site, dark_pictures, navigation):
        app.connect("doctree-read", _of_a_page(change), priority=BEFORE_COLLECTORS)
    app.connect("builder-inited", own_search)
    app.connect("html-page-context", markdown_twin)
    app.connect("html-page-context", parts_that_fold, priority=AFTER_THEME)
    app.connect("build-finished", write_search_sections)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _of_a_page(change: Callable[[nodes.document, str], None]) -> Callable[[Sphinx, nodes.document], None]:
    """What Sphinx calls for a change of a page."""
    return lambda app, page: change(page, app.env.current_document.docname)


def plain_pictures(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Pictures that name a dark twin for GitHub become plain pictures; dark_pictures finds the twin by its name."""
    attributes = re.compile(r'(\w+)="([^"]*)"')

    def plain(picture: re.Match[str]) -> str:
        named = dict(attributes.findall(picture[1]))
        return f"![{named.get('alt', '')}]({named['src']})"

    source[0] = PICTURE.sub(plain, source[0])


def github_anchors(page: nodes.document, _name: str) -> None:
    """Headings get the anchors that GitHub gives them."""
    for section in page.findall(nodes.section):
        if slug := section.get("slug"):
            section["ids"] = [slug]
            page.ids[slug] = section


def links_within_the_site(page: nodes.document, name: str) -> None:
    """Links to Markdown files lead to their pages, links to folders to their README; other folders have no link."""
    for link in list(page.findall(nodes.reference)):
        target, mark, anchor = link.get("refuri", "").partition("#")
        if not target or re.match(r"[a-z]+:", target):
            continue
        path = (ROOT / name).parent / target
        if path.is_dir() and not (path / HOME).exists():
            link.replace_self(link.children)
        elif path.is_dir():
            link["refuri"] = f"{target.rstrip('/')}/{HOME.removesuffix('.md')}.html{mark}{anchor}"
        elif path.suffix == ".md":
            link["refuri"] = f"{target.removesuffix('.md')}.html{mark}{anchor}"


def dark_pictures(page: nodes.document, name: str) -> None:
    """A picture whose dark twin exists is shown light or dark, as the page is."""
    for picture in list(page.findall(nodes.image)):
        dark = dark_twin(Path(picture["uri"]))
        if ((ROOT / name).parent / dark).exists():
            twin = picture.deepcopy()
            picture["classes"] = [*picture["classes"], "only-light"]
            twin["classes"] = [*twin["classes"], "only-dark"]
            twin["uri"] = str(dark)
            picture.parent.insert(picture.parent.index(picture) + 1, twin)


def dark_twin(picture: Path) -> Path:
    """The name that a picture's dark twin has: guide.png has guide-dark.png."""
    return picture.with_stem(f"{picture.stem}-dark")


def navigation(page: nodes.document, name: str) -> None:
    """The home page holds the four parts; a page with entries below it holds those. None is shown in the text."""
    section = next(page.findall(nodes.section))
    if f"{name}.md" == HOME:
        for part, listed in PARTS.items():
            section.append(_toctree(name, part, listed))
    for entry in (entry for part in PARTS.values() for entry in entries(part)):
        if entry.path == f"{name}.md" and entry.below:
            section.append(_toctree(name, None, entry.below))


def _toctree(name: str, caption: str | None, listed: tuple[Entry, ...]) -> nodes.compound:
    shown = list(_existing(listed))
    tree = addnodes.toctree(
        parent=name,
        entries=[(entry.title, "self" if entry.path == HOME else document) for entry, document in shown],
        includefiles=[document for entry, document in shown if entry.path != HOME],
        caption=caption,
        rawcaption=caption or "",
        maxdepth=2,
        glob=False,
        hidden=True,
        includehidden=False,
        numbered=0,
        titlesonly=True,
    )
    return nodes.compound("", tree, classes=["toctree-wrapper"])


def _existing(listed: tuple[Entry, ...]) -> Iterator[tuple[Entry, str]]:
    """Entries with the names that Sphinx gives their pages."""
    for entry in listed:
        if (ROOT / entry.path).exists():
            yield entry, entry.path.removesuffix(".md")


def markdown_twin(
    _app: Sphinx, name: str, _template: str, context: dict[str, Any], page: nodes.document | None
) -> None:
    """A page names its Markdown source, which the site has beside it."""
    if page is not None:
        twin = f"{os.path.basename(name)}.md"  # noqa: PTH119, the name of a page is no path of this machine
        context["metatags"] += f'<link rel="alternate" type="text/markdown" href="{twin}">'


def parts_that_fold(_app: Sphinx, _name: str, _template: str, context: dict[str, Any], _page: object) -> None:
    """In the navigation only the part of the page itself is unfolded, so that all four parts are seen."""

    def folding(part: re.Match[str]) -> str:
        is_open = " open" if "current-page" in part[2] else ""
        return f'<details class="part"{is_open}><summary class="caption">{part[1]}</summary>{part[2]}</details>'

    context["furo_navigation_tree"] = PART.sub(folding, context["furo_navigation_tree"])


def own_search(app: Sphinx) -> None:
    """Sphinx's search is left out: from the file system it shows no text, and it knows no sections."""
    app.builder.search = False


def write_search_sections(app: Sphinx, exception: Exception | None) -> None:
    """The text of every section, for tools/site/static/search.js."""
    if exception is None:
        rows = [
            row
            for part in PARTS
            for _, name in _existing(tuple(entries(PARTS[part])))
            for row in _rows(app, part, name)
        ]
        text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
        (Path(app.outdir) / "_static" / "search-sections.js").write_text(
            f"const SECTIONS = {text};\n", encoding="utf-8"
        )


def _rows(app: Sphinx, part: str, name: str) -> Iterator[tuple[str, str, str, str, str, str, float]]:
    """Page, part, title, heading, anchor, text and weight of each section of a page; the first has no anchor."""
    title = app.env.titles[name].astext()
    for section in app.env.get_doctree(name).findall(nodes.section):
        is_first = isinstance(section.parent, nodes.document)
        heading = next(section.findall(nodes.title)).astext()
        yield name, part, title, heading, "" if is_first else section["ids"][0], _text(section), _weight(name)


def _text(section: nodes.section) -> str:
    """What a section says itself, without the sections in it."""
    silent = (nodes.section, nodes.title, nodes.comment, nodes.raw, addnodes.toctree)
    blocks = [child for child in section.children if not isinstance(child, silent)]
    pieces = [text.astext() for block in blocks for text in block.findall(_holds_text)]
    return " ".join(" ".join(pieces).split())


def _holds_text(node: nodes.Node) -> bool:
    return isinstance(node, nodes.TextElement) and not isinstance(node.parent, nodes.TextElement | nodes.comment)


def _weight(name: str) -> float:
    return next((weight for pattern, weight in WEIGHTS.items() if re.match(pattern, name)), 1.0)
