"""The guide in a real browser: charts are drawn, nothing is fetched, nothing overflows, nothing foreign runs.

Screenshots are kept where PLIMSOLL_SCREENSHOTS says, for people to look at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.guide.build import print_pdf
from plimsoll.guide.files import write_guide
from support.analyses import HOSTILE, hostile_analysis, measured_analysis
from support.browser import Browser, Page, browser
from support.endure import in_endure
from support.published import imported_analysis
from support.tpcc import tpcc_analysis

DESKTOP, PHONE, A4_PX = 1280, 390, 794
SCREEN_PX = 800
GUIDES = {
    "measured": measured_analysis,
    "imported": imported_analysis,
    "hostile": hostile_analysis,
    "tpcc": tpcc_analysis,
}

OVERFLOWING = """
[...document.querySelectorAll("body *")]
  .filter((one) => !one.closest(".scroll, pre, .live:not(.is-live .live), thead"))
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 120))
"""
ON_PAPER = """
[...document.querySelectorAll("figure.chart")].map((figure) => figure.closest(".screen-only") ? 0 : 1)
"""
SHOWN_PICTURES = """
[...document.querySelectorAll("figure.chart")].map((figure) =>
  [...figure.querySelectorAll(".picture svg, .live svg")].filter((svg) => {
    const box = svg.getBoundingClientRect();
    return box.width > 100 && box.height > 60 && getComputedStyle(svg).visibility === "visible";
  }).length)
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def guides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("guides")
    return {name: _write(make(), folder / name) for name, make in GUIDES.items()}


def _write(analysis: Analysis, folder: Path) -> Path:
    return write_guide(analysis, folder)[0]


def _keep_screenshot(page: Page, name: str) -> None:
    folder = os.environ.get("PLIMSOLL_SCREENSHOTS")
    if folder:
        page.screenshot(Path(folder) / f"{name}.png")


@pytest.mark.parametrize(
    ("name", "width"),
    [
        *((name, PHONE) for name in GUIDES),
        ("measured", DESKTOP),
        *(in_endure(name, DESKTOP) for name in GUIDES if name != "measured"),
    ],
)
def test_charts_answer_and_nothing_is_fetched_or_runs_over(
    chromium: Browser, guides: dict[str, Path], name: str, width: int
) -> None:
    page = chromium.page(width=width)
    page.open(guides[name])
    page.wait_for("document.documentElement.dataset.charts === 'live'")
    _keep_screenshot(page, f"{name}-{width}")

    assert page.value("document.querySelectorAll('figure.chart:not(.is-live)').length") == 0
    assert set(page.value(SHOWN_PICTURES)) == {1}
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value(OVERFLOWING) == []
    requests = [event["request"]["url"] for event in page.said("Network.requestWillBeSent")]
    assert requests == [guides[name].as_uri()]
    assert page.said("Runtime.exceptionThrown", "Page.javascriptDialogOpening") == []
    assert [event["entry"]["text"] for event in page.said("Log.entryAdded")] == []
    assert [event["type"] for event in page.said("Runtime.consoleAPICalled") if event["type"] == "error"] == []


BELOW_THE_FIRST_SCREEN = f"""
[...document.querySelectorAll("h1, .what div, .lead, .first-charts .chart, .doubts li")]
  .filter((one) => one.getBoundingClientRect().bottom > {SCREEN_PX})
  .map((one) => one.outerHTML.slice(0, 120))
"""


@pytest.mark.usefixtures("chromium")
def test_a_browser_prints_the_guide(tmp_path: Path, guides: dict[str, Path]) -> None:
    to = print_pdf(guides["measured"], tmp_path / "guide.pdf")
    printed = to.read_bytes()
    assert printed.startswith(b"%PDF")
    width, height = map(float, re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed)[0])
    assert (round(width), round(height)) == (595, 842), "A4"
    pages_count = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 4 <= pages_count <= 12, "48 trials: the answer, and what it rests on"
    assert [path.name for path in tmp_path.iterdir()] == ["guide.pdf"]


UNDER_SOMETHING = """
[...document.querySelectorAll("figure.chart")].flatMap((figure) => {
  figure.scrollIntoView({block: "center"});
  const shown = [...figure.querySelectorAll(".picture svg")].find((svg) => svg.getBoundingClientRect().width > 100);
  return [...shown.querySelectorAll("a > *")].filter((mark) => {
    const box = mark.getBoundingClientRect();
    const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return !hit || !hit.closest("a");
  }).map((mark) => mark.getAttribute("aria-label"));
})
"""
"""Marks with a link whose middle does not lead anywhere."""

OUTLINED = """(() => {
  const mark = [...document.querySelectorAll("#workload-2 ROOT .mark-symbol path")]
    .find((one) => one.getAttribute("aria-label").endsWith("#recording-040f871"));
  mark.closest("figure").scrollIntoView({block: "center"});
  const box = mark.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_without_scripts_each_chart_is_a_picture_and_every_point_a_link(
    chromium: Browser, guides: dict[str, Path], width: int
) -> None:
    page = chromium.page(width=width, scripts=False)
    page.open(guides["measured"])
    _keep_screenshot(page, f"no-scripts-{width}")
    shown = "wide" if width == DESKTOP else "narrow"
    assert set(page.value(SHOWN_PICTURES)) == {1}
    assert page.value(f"getComputedStyle(document.querySelector('.picture.{shown}')).display") == "block"
    assert page.value(OVERFLOWING) == []
    assert page.value("document.querySelectorAll('.picture a > *').length") > 100
    assert page.value(UNDER_SOMETHING) == []
    if width == DESKTOP:
        click_into_an_outlined_point(page, ".picture.wide")
        page.media("print")  # at about the width of a sheet
        assert page.value(SHOWN_PICTURES) == page.value(ON_PAPER)


def click_into_an_outlined_point(page: Page, root: str) -> None:
    """It leads to a recording."""
    x, y = page.value(OUTLINED.replace("ROOT", root))
    for kind in ("mousePressed", "mouseReleased"):
        page.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    page.wait_for("document.querySelector('tr:target')?.id === 'recording-040f871'")


def test_on_a_screen_the_answer_comes_first_and_points_and_figures_lead_to_recordings(
    chromium: Browser, guides: dict[str, Path]
) -> None:
    page = chromium.page(width=DESKTOP, height=SCREEN_PX)
    page.open(guides["measured"])
    page.wait_for("document.documentElement.dataset.charts === 'live'")
    the_first_screen_holds_the_answer_a_chart_and_what_casts_doubt(page)
    a_policy_lets_no_foreign_script_run(page)
    assert page.value(LINE_COLOUR) == "rgb(11, 98, 168)", "of a screen that is not dark"
    click_into_an_outlined_point(page, ".is-live .live")
    a_figure_leads_to_its_recordings(page)


def the_first_screen_holds_the_answer_a_chart_and_what_casts_doubt(page: Page) -> None:
    assert page.value("document.querySelectorAll('.first-charts .live svg').length") == 2
    assert page.value("document.querySelectorAll('.doubts li').length") == 3
    assert page.value(BELOW_THE_FIRST_SCREEN) == []


def a_policy_lets_no_foreign_script_run(page: Page) -> None:
    page.value("""(() => {
      const script = document.createElement("script");
      script.textContent = "document.documentElement.dataset.foreign = 'ran'";
      document.body.append(script);
    })()""")
    assert page.value("document.documentElement.dataset.foreign === undefined")


def a_figure_leads_to_its_recordings(page: Page) -> None:
    page.value("document.querySelector('#systems a.source').click()")
    page.wait_for("document.querySelector('tr:target')?.id.startsWith('recording-010f1061')")
    row = page.value("document.querySelector('tr:target').innerText")
    assert row.startswith("recordings/010f1061/\tdurable\tread-only\t1 connection")
    place = page.value("document.querySelector('tr:target').getBoundingClientRect().y")
    assert 0 <= place < SCREEN_PX


def test_paper_has_what_the_screen_folds_no_stray_marks_no_screen_parts_and_no_word_broken(
    chromium: Browser, guides: dict[str, Path]
) -> None:
    page = chromium.page(width=A4_PX)
    page.open(guides["measured"])
    page.wait_for("document.documentElement.dataset.charts === 'live'")
    folded = "[...document.querySelectorAll('details:not([open]) > :not(summary)')]" + (
        ".filter((one) => !one.closest('.screen-only') && !one.checkVisibility({contentVisibilityAuto: true})).length"
    )
    assert page.value(folded) > 0
    assert "effective variables" in page.value("document.querySelector('main').innerText")
    page.media("print")
    page.wait_for(f"{folded} === 0")
    text = page.value("document.querySelector('main').innerText")
    assert not re.search(r"(^|\s)[;,]\s*($|[;,])", text, re.MULTILINE)
    assert "recordings:" not in text
    assert "innodb_io_capacity2000" not in text
    assert "guide.html has every effective server variable" in text
    assert "effective variables" not in text
    assert page.value("getComputedStyle(document.querySelector('tbody td')).overflowWrap") == "break-word"


def test_a_point_tells_its_figures_and_a_hostile_name_stays_text(chromium: Browser, guides: dict[str, Path]) -> None:
    page = chromium.page(width=DESKTOP, height=1200)
    page.open(guides["hostile"])
    page.wait_for("document.documentElement.dataset.charts === 'live'")
    page.value("document.querySelector('#workload-1 figure.chart').scrollIntoView({block: 'center'})")
    point = page.value("""(() => {
      const box = document.querySelector("#workload-1 .live .mark-symbol path").getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    })()""")
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=point[0], y=point[1])
    page.wait_for("document.querySelector('#vg-tooltip-element.visible') !== null")
    text = page.value("document.querySelector('#vg-tooltip-element').innerText")
    assert HOSTILE.split("\x1b")[0] in text
    assert "1,058 tps (95 % CI 1,026 to 1,093)" in text
    assert page.value("document.querySelectorAll('#vg-tooltip-element script').length") == 0


LINE_COLOUR = "getComputedStyle(document.querySelector('.is-live .live .mark-line path')).stroke"


def test_dark_screens_and_paper_change_the_colours_of_charts(chromium: Browser, guides: dict[str, Path]) -> None:
    dark = chromium.page(width=DESKTOP, dark=True)
    dark.open(guides["measured"])
    dark.wait_for("document.documentElement.dataset.charts === 'live'")
    _keep_screenshot(dark, "dark")
    assert dark.value(LINE_COLOUR) == "rgb(108, 178, 242)"
    dark.media("print", dark=True)
    assert dark.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert set(dark.value(SHOWN_PICTURES)) == {1}
    assert dark.value("getComputedStyle(document.querySelector('.picture.narrow')).display") == "block"
