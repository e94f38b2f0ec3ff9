"""The documentation site: every page is in its navigation, and its check of links finds what is broken.

The site is not built here: that needs packages of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import site_finish
import site_navigation

from support.browser import browser
from support.repository import ROOT, shown

ELSEWHERE = ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "examples/README.md"]


def test_every_page_is_in_one_part() -> None:
    listed = Counter(site_navigation.pages())
    pages = [shown(path) for folder in ("docs", "docs/decisions") for path in sorted((ROOT / folder).glob("*.md"))]
    faults = [f"{page}: {listed[page]} times" for page in [*pages, *ELSEWHERE] if listed[page] != 1]
    assert not faults, "each is to be in tools/site_navigation.py once:\n" + "\n".join(faults)


def test_every_entry_is_on_disk() -> None:
    gone = [page for page in site_navigation.pages() if not (ROOT / page).is_file()]
    assert not gone, f"in tools/site_navigation.py, and not on disk: {', '.join(gone)}"


def test_entries_of_a_part_have_titles_of_their_own() -> None:
    for part, listed in site_navigation.PARTS.items():
        titles = Counter(entry.title for entry in site_navigation.entries(listed))
        assert max(titles.values()) == 1, f"{part}: {titles.most_common(1)}"


def test_programs_are_told_of_every_page() -> None:
    links = re.findall(r"\]\(([^)]+)\)", site_finish.llms_text())
    assert sorted(links) == sorted(site_navigation.pages())


def test_packages_of_the_site_are_pinned() -> None:
    lines = (ROOT / "tools" / "site" / "requirements.txt").read_text().splitlines()
    assert all(re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line) for line in lines)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('<a href="page.html#two-words">', None),
        ('<a href="#here"><b id="here">', None),
        ('<a href="../site/page.html?q=1">', None),
        ('<a href="https://example.org/gone.html">', None),
        ('<img src="data:image/png;base64,AA">', None),
        ('<a href="page.html#three-words">', "no such heading"),
        ('<a href="#gone">', "no such heading"),
        ('<a href="gone.html">', "no such file"),
        ('<a href="../outside.html">', "no such file"),
        ('<img src="gone.png">', "no such file"),
        ('<script src="https://example.org/x.js">', "from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "from elsewhere"),
    ],
)
def test_a_broken_link_of_the_site_would_be_found(line: str, fault: str | None, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "outside.html").write_text("")
    (site / "page.html").write_text('<h1 id="two-words">Two words</h1>')
    (site / "index.html").write_text(line)
    found = list(site_finish.broken(site))
    assert [fault in text for text in found] == [True] if fault else not found


SEARCH_PAGE = """<form><input id="query"></form><p id="found"></p><ol id="results"></ol>
<script>const SECTIONS = [
  ["docs/a", "Do", "A page", "A page", "", "of think time and more", 1],
  ["docs/a", "Do", "A page", "Think time", "think-time", "pauses between <b> and <i>", 1],
  ["docs/b", "Look up", "Another", "Time", "time", "without the other word", 1],
  ["docs/c", "Understand", "Think time", "Think time", "", "for developers", 0.3],
];</script><script src="SCRIPT"></script>"""


def test_search_lists_sections_that_have_all_words(tmp_path: Path) -> None:
    page_file = tmp_path / "search.html"
    script = ROOT / "tools" / "site" / "static" / "search.js"
    page_file.write_text(SEARCH_PAGE.replace("SCRIPT", script.as_uri()))
    links = "[...document.querySelectorAll('#results a')].map((link) => link.getAttribute('href')).join(' ')"
    with browser() as opened:
        page = opened.page(width=800)
        page.open(page_file)
        assert not page.value(links)
        page.value("field.value = 'THINK time'; field.dispatchEvent(new Event('input'))")
        assert page.value(links) == "docs/a.html#think-time docs/c.html docs/a.html"
        page.value("field.value = '<b>'; field.dispatchEvent(new Event('input'))")
        assert page.value("document.querySelector('#results mark').textContent") == "<b>"
        page.value("field.value = 'gone'; field.dispatchEvent(new Event('input'))")
        assert page.value("document.getElementById('found').textContent") == "No section has all of these words."
        assert not page.said("Runtime.exceptionThrown")


def test_a_style_that_loads_from_elsewhere_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "site.css").write_text("@import url('https://example.org/font.css'); b { background: url(data:x) }")
    assert list(site_finish.broken(tmp_path)) == ["site.css: loads https://example.org/font.css from elsewhere"]
