"""Relative links in Markdown files lead somewhere, headings included."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.repository import files, prose, shown

LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
IMAGE = re.compile(r"<img[^>]+src=\"([^\"]+)\"")


@pytest.mark.parametrize("path", files(".md"), ids=shown)
def test_relative_links_resolve(path: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "`x`", prose(path))
    broken = [
        link
        for link in [*LINK.findall(text), *IMAGE.findall(text)]
        if not re.match(r"[a-z]+:", link) and not _resolves(path, link)
    ]
    assert not broken, f"{shown(path)}: these lead nowhere: {', '.join(broken)}"


def _resolves(source: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    goal = (source.parent / name).resolve() if name else source
    if not goal.exists():
        return False
    return not anchor or goal.suffix != ".md" or anchor in _anchors(goal)


def _anchors(path: Path) -> set[str]:
    """Headings as GitHub names them."""
    headings = re.findall(r"^#+ +(.+?) *#*$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_a_broken_link_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Two words\n")
    assert _resolves(page, "page.md#two-words")
    assert not _resolves(page, "page.md#three-words")
    assert not _resolves(page, "gone.md")
