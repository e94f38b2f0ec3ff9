"""The section "Source and replicas" in all forms, its charts, and what the first screen says of a growing lag."""

from __future__ import annotations

import json

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.guide.answer import render_json
from plimsoll.guide.content import describe
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.marks import Style
from plimsoll.guide.replication import SHARED_WORDS, TOTALS_NOTE, replication_section
from support.replicated import GROWING_S, Fleet, recording


@pytest.fixture(scope="module")
def scaled() -> Analysis:
    """One to two replicas on shared processors, one of them too slow."""
    lags = {1: None, 2: GROWING_S}
    return analyse(
        "made",
        [
            recording(
                Fleet(
                    system=f"r{count}",
                    replicas=count,
                    tps=1000.0 + 10 * repetition + 20 * count,
                    lag_s=lags.get(count),
                    is_placed=False,
                ),
                repetition=repetition,
            )
            for repetition in range(3)
            for count in (0, 1, 2)
        ],
    )


def test_the_first_screen_says_that_a_lag_grows(scaled: Analysis) -> None:
    first = describe(scaled).first
    assert first.notices == (
        "The lag of a replica grows: r2/1, r2/2 under read-write from 4 connections on. What was measured there is not"
        " sustained, and is no capacity.",
    )
    assert first.warnings[0].code == "replica-lag-grows"


def test_every_form_has_the_section(scaled: Analysis) -> None:
    text, page = render_markdown(scaled), render_html(scaled)
    for words in ("Source and replicas", "r2, read-write: each server", "throughput by number of replicas"):
        assert words in text
        assert words in page
    assert TOTALS_NOTE in text
    document = json.loads(render_json(scaled))
    assert [one["replicas"] for one in document["replication"]["scaling"][0]["points"]] == [0, 1, 2]
    assert document["replication"]["levels"][0]["servers"][1]["lag"][0]["state"] == "bounded"


def test_shared_processors_are_said(scaled: Analysis) -> None:
    section = replication_section(scaled)
    assert section is not None
    assert any(SHARED_WORDS in sentence for sentence in section.sentences)


def test_its_charts_are_valid(scaled: Analysis) -> None:
    section = replication_section(scaled)
    assert section is not None
    assert [chart.title for chart in section.charts] == [
        "read-write: throughput by number of replicas",
        "r2, read-write, 4 connections: lag",
        "r1, read-write, 4 connections: lag",
    ]
    for chart in section.charts:
        assert chart.draw(Style(width_px=400, height_px=200)).to_dict()


def test_the_row_of_all_servers_adds_them_up(scaled: Analysis) -> None:
    section = replication_section(scaled)
    assert section is not None
    table = next(table for table in section.tables if table.system == "r2")
    shown = [float(row[3].text.replace(",", "")) for row in table.rows]
    assert shown[-1] == pytest.approx(sum(shown[:-1]), rel=0.01)


def test_without_replicas_there_is_no_section() -> None:
    assert replication_section(analyse("made", [recording(Fleet(replicas=0))])) is None
