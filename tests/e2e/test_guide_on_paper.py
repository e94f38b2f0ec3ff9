"""The guide as a PDF by a real browser: how many sheets it takes, how full they are, and what must stand on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from plimsoll.guide.build import print_pdf
from plimsoll.guide.files import write_guide
from support.browser import browser, chromium_command
from support.busy_study import STUDY, busy_analysis
from support.command import plimsoll

ROOT = Path(__file__).parents[2]
SHEETS_MAX = 8
"""Of a study of twelve trials."""
HP_SHEETS_MAX = 10
"""Of 128 published figures."""
LEAST_FILLED_RATIO = 0.5
TYPE_PX_MIN = 10.0
"""7.5 pt."""
MARGIN_RATIO = 15 / 297
"""Of a sheet, above and below: the running title and the number of the page stand there."""

SMALL_TYPE = """
[...document.querySelectorAll("main *")]
  .filter((one) => one.checkVisibility() && !one.closest("svg"))
  .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .filter((one) => parseFloat(getComputedStyle(one).fontSize) < LEAST)
  .map((one) => one.outerHTML.slice(0, 120))
"""


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chromium_command()
    return write_guide(busy_analysis(), tmp_path_factory.mktemp("busy"))[0]


@pytest.fixture(scope="module")
def printed(guide: Path) -> Iterator[pypdfium2.PdfDocument]:
    with pypdfium2.PdfDocument(print_pdf(guide, guide.with_suffix(".pdf"))) as document:
        yield document


def _texts(document: pypdfium2.PdfDocument) -> list[str]:
    return [page.get_textpage().get_text_range().replace("\r\n", "\n") for page in document]


def _filled_ratio(page: pypdfium2.PdfPage) -> float:
    """How far down the ink between the margins reaches, 0..1."""
    grey = page.render(scale=1, grayscale=True).to_numpy().reshape(round(page.get_height()), -1)
    margin = round(MARGIN_RATIO * grey.shape[0])
    inked = np.flatnonzero((grey[margin:-margin] < 200).any(axis=1))
    return float(inked.max(initial=0)) / (grey.shape[0] - 2 * margin)


def _parts(texts: list[str]) -> list[range]:
    """The pages of the answer, and those behind it."""
    begin = next(number for number, text in enumerate(texts) if re.search(r"^Workload ", text, re.MULTILINE))
    return [range(begin), range(begin, len(texts))]


def _check_filled(document: pypdfium2.PdfDocument) -> None:
    filled = {number + 1: _filled_ratio(document[number]) for part in _parts(_texts(document)) for number in part[:-1]}
    assert min(filled.values()) >= LEAST_FILLED_RATIO, filled


def test_twelve_trials_on_a_busy_machine_take_at_most_eight_sheets(printed: pypdfium2.PdfDocument) -> None:
    assert len(busy_analysis().trials) == 12
    assert len(printed) <= SHEETS_MAX
    _check_filled(printed)


def test_128_published_figures_take_at_most_ten_sheets(tmp_path: Path) -> None:
    chromium_command()
    table = ROOT / "examples" / "published" / "hp-proliant-2008.csv"
    assert plimsoll("import", "table", str(table), "--to", str(tmp_path / "hp")).returncode == 0
    assert plimsoll("guide", str(tmp_path / "hp"), "--pdf").returncode == 0
    with pypdfium2.PdfDocument(tmp_path / "hp" / "guide.pdf") as document:
        assert len(document) <= HP_SHEETS_MAX
        _check_filled(document)


def test_paper_keeps_what_a_reader_decides_by_and_how_to_repeat_it(printed: pypdfium2.PdfDocument) -> None:
    analysis = busy_analysis()
    text = " ".join(" ".join(_texts(printed)).split())
    for title in ("The answer", "Systems at a glance", "Warnings in full", "Test environment", "Limitations"):
        assert title in text
    assert len(analysis.warnings) > 12
    for warning in analysis.warnings:
        assert warning.code in text
    for curve in analysis.curves:
        for cell in curve.cells:
            assert f"{cell.throughput_tps.value:,.0f}" in text
    for line in filter(None, STUDY.splitlines()):
        assert "".join(line.split())[:24] in text.replace(" ", "")
    assert "Trials that were not steady, were disturbed, or ran on a slower machine: 2 rows, in guide.html." in text
    assert "Each recording: 12 rows, in guide.html." in text


def test_each_sheet_has_its_number_and_each_after_the_first_the_title(printed: pypdfium2.PdfDocument) -> None:
    texts = _texts(printed)
    for number, text in enumerate(texts, start=1):
        assert f"{number} / {len(texts)}" in text
        assert ("Sizing guide: flush-at-commit" in text) == (number > 1)


def test_charts_are_drawn_with_lines(printed: pypdfium2.PdfDocument) -> None:
    kinds = [kind for page in printed for kind in (one.type for one in page.get_objects(max_depth=8))]
    assert kinds.count(pdfium.FPDF_PAGEOBJ_PATH) > 200
    assert pdfium.FPDF_PAGEOBJ_IMAGE not in kinds


def test_type_on_paper_can_be_read(guide: Path) -> None:
    with browser() as chromium:
        page = chromium.page(width=688)  # as wide as a sheet without its margins
        page.open(guide)
        page.wait_for("document.documentElement.dataset.charts === 'live'")
        page.media("print")
        small = page.value(SMALL_TYPE.replace("LEAST", str(TYPE_PX_MIN - 0.01)))
        width = page.value("document.documentElement.scrollWidth")
    assert small == []
    assert width <= 688, "what is wider makes the browser print everything smaller"
