"""The pictures of docs/reading-the-guide.md are those that tools/write_pictures.py takes, of parts that guides have."""

from __future__ import annotations

import re
from functools import cache

import pytest
from write_pictures import FOLDER, PICTURES, SERVED

from plimsoll.guide.html import render_html
from support.published import imported_analysis
from support.repository import ROOT

PAGE = (ROOT / "docs" / "reading-the-guide.md").read_text(encoding="utf-8")


@cache
def guide() -> str:
    return render_html(imported_analysis())


def test_the_page_shows_what_the_tool_takes() -> None:
    assert re.findall(r"\(images/([\w-]+\.png)\)", PAGE) == list(PICTURES)
    assert all((FOLDER / name).exists() for name in PICTURES)


def test_the_page_about_pages_shows_one() -> None:
    text = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    assert re.findall(r"\(images/([\w-]+\.png)\)", text) == [SERVED]
    assert (FOLDER / SERVED).exists()


@pytest.mark.parametrize("name", PICTURES)
def test_a_guide_has_the_part(name: str) -> None:
    part = PICTURES[name].part.split()[0].removeprefix("#")
    assert f'<section id="{part}"' in guide()
