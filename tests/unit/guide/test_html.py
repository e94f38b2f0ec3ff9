"""The HTML file: whole in itself, its parts in order, hostile texts harmless."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from plimsoll.analyse.findings.finding_model import make_finding
from plimsoll.analyse.model import Analysis
from plimsoll.guide.answer import pool_sentence
from plimsoll.guide.content import describe
from plimsoll.guide.html import render_html
from plimsoll.guide.methods import methods_of
from plimsoll.guide.words import advice_of, clean, evidence_sentence
from support.analyses import HOSTILE, hostile_analysis, measured_analysis
from support.published import imported_analysis, per_minute_analysis
from support.told import limits_of

Maker = Callable[[], Analysis]
MAKERS: list[Maker] = [measured_analysis, imported_analysis, per_minute_analysis, hostile_analysis]
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", "http://www.w3.org/2000/xmlns/"}
"""Names, not places: no browser goes there."""


class Reader(HTMLParser):
    """Collects what a browser would find."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.ids: list[str] = []
        self.words = ""
        self._within: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within = tag if tag in ("script", "style") else None
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_endtag(self, tag: str) -> None:
        self._within = None

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self._within is None:
            self.words += data


def read(analysis: Analysis) -> Reader:
    reader = Reader()
    reader.feed(render_html(analysis))
    return reader


@pytest.mark.parametrize("make", MAKERS)
def test_no_other_place_is_named_and_nothing_is_fetched(make: Maker) -> None:
    text = render_html(make())
    assert set(re.findall(r"https?://[^\s\"'`<>)]+", text)) <= NAMESPACES
    reader = Reader()
    reader.feed(text)
    assert not [attribute for attribute in reader.attributes if attribute[1] in ("src", "srcset", "action", "data")]
    hrefs = {value or "" for _, name, value in reader.attributes if name.endswith("href")}
    assert all(href.startswith(("#", "recordings/")) for href in hrefs)
    assert {unquote(href[1:]) for href in hrefs if href.startswith("#") and "clip" not in href} <= set(reader.ids)
    assert len(text) < 3_000_000


@pytest.mark.parametrize("make", MAKERS)
def test_only_two_scripts_run_and_the_policy_names_them(make: Maker) -> None:
    reader = read(make())
    running = [text for attributes, text in reader.scripts if attributes.get("type") != "application/json"]
    assert len(running) == 2
    (policy,) = [value for tag, _, value in reader.attributes if tag == "meta" and value and "default-src" in value]
    for script in running:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]


def test_hostile_texts_are_shown_as_they_are() -> None:
    reader = read(hostile_analysis())
    assert clean(HOSTILE) in reader.words
    assert "\x1b" not in reader.words
    specs = [text for attributes, text in reader.scripts if attributes.get("type") == "application/json"]
    assert specs
    assert not any("<" in text for text in specs)


@pytest.mark.parametrize("make", MAKERS)
def test_ids_occur_once(make: Maker) -> None:
    ids = read(make()).ids
    assert len(ids) == len(set(ids))


def test_the_answer_comes_first_and_the_rest_in_order() -> None:
    ids = read(measured_analysis()).ids
    assert [one for one in ids if re.fullmatch("[a-z]+|workload-[0-9]", one)] == [
        "answer", "workload-1", "workload-2", "differences", "warnings", "systems", "configuration", "environments",
        "method", "limits", "missing", "recordings",
    ]  # fmt: skip


def test_every_fact_of_an_analysis_is_there() -> None:
    analysis = measured_analysis()
    words = " ".join(read(analysis).words.split())
    first = describe(analysis).first.headlines
    told = [one.text for one in describe(analysis).rest]
    wanted = [*told, *(one.without_workload for one in first), *limits_of(analysis)]
    wanted += [*(pool_sentence(curve) for curve in analysis.curves)]
    wanted += [part for placed in analysis.warnings for part in (placed.code, evidence_sentence(placed))]
    wanted += [advice_of(placed) for placed in analysis.warnings]
    wanted += [text for note in methods_of(analysis) for text in (note.text, note.source) if text]
    wanted += [one.reason for one in analysis.missing]
    wanted += ["innodb_io_capacity", "does not have it", "AMD EPYC 9B14", "10.11.14-MariaDB-0+deb12u2"]
    wanted += [
        "relaxed is faster",
        "not resolved",
        "not testable: no confidence interval",
        "plimsoll guide STUDY",
    ]
    assert [one for one in wanted if one not in words] == []


def test_a_guide_says_how_those_figures_are_found_that_it_has() -> None:
    measured, published = (
        {note.name for note in methods_of(make())} for make in (measured_analysis, imported_analysis)
    )
    assert {"Throughput", "Stalls", "Difference between systems", "Scale factor"} <= measured
    never = {"Systems that took turns", "Capacity at an objective", "Load at a target rate", "Cost"}
    assert not measured & never
    assert not published & {"Stalls", "Confidence interval of a throughput"}
    assert "The unit is the pair of neighbouring turns" not in render_html(measured_analysis())


def test_a_chart_without_data_is_a_sentence() -> None:
    text = render_html(imported_analysis())
    assert text.count("Response times are not known, so there is no chart of them.") == 2
    assert text.count("Processor utilisation is not known, so there is no chart of it.") == 2
    assert "Response time p99" not in text
    assert "Not known for any system: response times at the 99th percentile; processor utilisation; " in text


def test_a_study_without_a_complete_trial_still_has_a_guide() -> None:
    analysis = measured_analysis().model_copy(
        update={
            "curves": (),
            "differences": (),
            "warnings": (),
            "answer": (make_finding("nothing-completed"),),
            "limits": (),
        }
    )
    text = render_html(analysis)
    assert "No trial was completed, so nothing can be said" in text
    assert "No throughput is known" in text
    assert "No warnings were raised." in text


@pytest.mark.parametrize("make", MAKERS)
def test_a_picture_has_one_caption_and_no_heading_that_repeats_it(make: Maker) -> None:
    page = render_html(make())
    on_screen = r'(?:<span class="screen-only">[^<]+</span>)?'
    captions = re.findall(
        rf'<figure class="captioned">\n<figcaption><b>([^<]+)\.</b> ([^<]+){on_screen}</figcaption>', page
    )
    assert len(captions) == page.count('class="captioned"') > 0
    assert all(title not in reading for title, reading in captions)
    assert not re.findall(r"</h3>\s*(?:<p class=.note.>[^<]*</p>\s*)?(?:<div[^>]*>\s*)?<figure", page)


def test_tables_mark_systems_as_charts_draw_them() -> None:
    page = render_html(measured_analysis())
    glance = page[page.index("Systems at a glance") :]
    assert re.findall(r'<svg class="point"[^>]*><path d="[^"]+" fill="var\(--series-(\d)\)"', glance)[:2] == ["0", "1"]
    assert 'class="point"' not in render_html(per_minute_analysis())
