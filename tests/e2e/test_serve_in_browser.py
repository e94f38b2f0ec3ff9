"""Pages of `plimsoll serve` in a real browser: a running trial, its replay, a guide. Figures are those of recordings.

Screenshots are kept where PLIMSOLL_SCREENSHOTS says, for people to look at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from plimsoll.analyse.trial.histograms import durations
from plimsoll.analyse.trial.trial_summary import compared_trial
from plimsoll.record.model import SystemRecord, TrialRecord, Window
from plimsoll.record.store import read_recording
from plimsoll.run.folder import HeldFolder
from plimsoll.run.rows import response_ms_p99
from plimsoll.run.spool import Spool
from plimsoll.serve.process import beside
from plimsoll.units import format_ms, format_rate
from support.browser import Browser, Page, browser
from support.recordings import a_trial
from support.spools import begun, committed
from unit.run.test_spool import interval

BEGAN, WARM, COUNT = 1_700_000_000.0, 5, 30
DESKTOP, PHONE = 1280, 390
LIVE = "document.documentElement.dataset.intervals === '{}'"
TILE = "document.querySelector('.tile[data-column=\"{}\"] dd').textContent"
FACT = "document.querySelector('[data-fact=\"{}\"] dd').textContent"
FAULTS = ("Runtime.exceptionThrown", "Log.entryAdded")


@dataclass(slots=True)
class Fed:
    """A trial that runs because this test says so."""

    folder: Path
    trial: TrialRecord
    spool: Spool = field(init=False)

    def __post_init__(self) -> None:
        self.spool = begun(self.folder, self.trial)

    def feed(self, first: int, end: int) -> None:
        for index in range(first, end):
            window = Window(first=WARM, last=index) if index >= WARM else None
            self.spool.add(interval(index, completed=1000 + 10 * index), began_unix_s=BEGAN, window=window)

    def commit(self) -> Path:
        window = Window(first=WARM, last=COUNT - 1)
        return committed(self.spool, self.trial, began_unix_s=BEGAN, window=window)


def fed(folder: Path, trial_id: str, system: str) -> Fed:
    return Fed(folder, a_trial(trial_id).model_copy(update={"system": SystemRecord(name=system)}))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (folder / "runs").mkdir()
    recorded = fed(folder / "runs", "t0", "before")
    recorded.feed(0, COUNT)
    recorded.commit()
    return folder


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[str]:
    told: list[str] = []
    with beside(root, told.append):
        yield told[0].removeprefix("page: ").removesuffix("at/")


def keep_screenshot(page: Page, name: str) -> None:
    if folder := os.environ.get("PLIMSOLL_SCREENSHOTS"):
        page.screenshot(Path(folder) / f"{name}.png")


def shown_ms(milliseconds: float | None) -> str:
    """As a tile shows it, whose unit stands in an element of its own."""
    assert milliseconds is not None
    return format_ms(milliseconds).replace(" ", "")


def test_a_running_trial_and_its_replay_show_the_figures_of_its_recording(
    chromium: Browser, root: Path, address: str
) -> None:
    folder = root / "runs"
    running, page = fed(folder, "t1", "after"), chromium.page(width=DESKTOP)
    with HeldFolder(folder):
        running.feed(0, 12)
        page.visit(f"{address}at/runs/")
        page.wait_for(LIVE.format(12))
        running.feed(12, COUNT)
        page.wait_for(LIVE.format(COUNT))
        last = [interval(index, completed=1000 + 10 * index) for index in range(COUNT - 10, COUNT)]
        assert page.value(TILE.format("tps")) == format_rate(last[-1].throughput_tps).replace(" ", "")
        assert page.value(TILE.format("p99")) == shown_ms(response_ms_p99(last))
        assert page.value("document.querySelector('.trial .badge').textContent") == "measuring"
        assert page.value("document.querySelector('.what-runs').textContent").startswith("after, w, 4 connections")
        assert page.value("document.querySelectorAll('.plot canvas').length") >= 3
        measured = {name: page.value(FACT.format(name)) for name in ("throughput", "completed", "p50", "p95", "p99")}
        keep_screenshot(page, "serve-live")
    assert [*page.said(*FAULTS)] == []

    summary = compared_trial(read_recording(running.commit()))
    assert summary is not None
    assert summary.counts is not None
    times = durations(summary.histograms["response"])
    of_recording = {
        "throughput": format_rate(summary.throughput_tps),
        "completed": f"{summary.counts.completed:,}",
        **{name: format_ms(getattr(times, name)) for name in ("p50", "p95", "p99")},
    }
    assert measured == of_recording
    page.visit(f"{address}at/runs/recordings/t1/")
    page.wait_for(LIVE.format(COUNT))
    assert {name: page.value(FACT.format(name)) for name in measured} == of_recording
    assert page.value(TILE.format("p99")) == shown_ms(response_ms_p99(last))
    assert [*page.said(*FAULTS)] == []


def test_a_keyboard_moves_through_a_replay_at_the_width_of_a_phone_in_the_dark(chromium: Browser, address: str) -> None:
    page = chromium.page(width=PHONE, dark=True)
    page.visit(f"{address}at/runs/recordings/t0/")
    page.wait_for(LIVE.format(COUNT))
    keep_screenshot(page, "serve-phone")
    assert page.value("document.documentElement.scrollWidth") <= PHONE
    assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)"
    at = "document.querySelector('.scrub .at').textContent"
    assert page.value(at) == "0:30 of 0:30"
    page.value("document.querySelector('.scrub input').focus()")
    page.press("ArrowLeft", 37)
    page.wait_for(f"{at} === '0:29 of 0:30'")
    page.press("Home", 36)
    page.wait_for(f"{at} === '0:01 of 0:30'")
    assert page.value(TILE.format("tps")) == "1,000tps"


def test_a_saved_trial_needs_no_server(chromium: Browser, address: str, tmp_path: Path) -> None:
    page = chromium.page(width=DESKTOP)
    page.visit(f"{address}at/runs/recordings/t0/")
    page.value("fetch('trial.html').then((answer) => answer.text()).then((text) => { window.saved = text; })")
    page.wait_for("window.saved !== undefined")
    saved = tmp_path / "trial.html"
    saved.write_text(page.value("window.saved"), encoding="utf-8")
    alone = chromium.page(width=DESKTOP)
    alone.open(saved)
    alone.wait_for(LIVE.format(COUNT))
    page.wait_for(LIVE.format(COUNT))
    for name in ("throughput", "p99"):
        assert alone.value(FACT.format(name)) == page.value(FACT.format(name))
    assert [event["request"]["url"] for event in alone.said("Network.requestWillBeSent")] == [saved.as_uri()]
    assert [*alone.said(*FAULTS)] == []


def test_two_sides_are_compared_as_the_command_does(chromium: Browser, root: Path, address: str) -> None:
    other = fed(root / "runs", "t2", "other")
    other.feed(0, COUNT)
    other.commit()
    page = chromium.page(width=DESKTOP)
    page.visit(address)
    page.value("document.querySelector('select[name=a]').value = 'runs:before'")
    page.value("document.querySelector('select[name=b]').value = 'runs:other'")
    page.value("document.querySelector('.pair button').click()")
    page.wait_for("document.title === 'Comparison: runs:other against runs:before'")
    assert "runs:other against runs:before" in page.value("document.querySelector('#difference li').innerText")
    assert [*page.said(*FAULTS)] == []


def test_the_list_leads_to_a_guide_whose_charts_answer_and_to_recordings(chromium: Browser, address: str) -> None:
    page = chromium.page(width=DESKTOP)
    page.visit(address)
    keep_screenshot(page, "serve-home")
    assert page.value("document.querySelector('.entry .name').textContent") == "runs"
    page.value("[...document.querySelectorAll('.entry a')].find((link) => link.href.endsWith('guide.html')).click()")
    page.wait_for("document.documentElement?.dataset.charts === 'live'")
    assert page.value("document.querySelectorAll('figure.chart:not(.is-live)').length") == 0
    assert [*page.said(*FAULTS)] == []
    page.value("document.querySelector('#recordings tbody a').click()")
    page.wait_for(LIVE.format(COUNT).replace("Element.", "Element?."))
    assert "/at/runs/recordings/t" in page.value("location.href")
