"""Outages of trials, from their recordings to the guide."""

from __future__ import annotations

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.trials import LISTED_MAX
from plimsoll.analyse.trial.trial_model import TrialOutage
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.terminal import render_terminal
from plimsoll.record.model import OutageRecord
from support.made import measured
from support.printed import printed

RATES = [100.0] * 10
"""Ten measured seconds, after two of warm-up."""


def outage(from_s: float, to_s: float | None) -> OutageRecord:
    return OutageRecord(instance="db", from_s=from_s, to_s=to_s, connections_count=4, lost_count=3)


def analysed(*outages: OutageRecord) -> Analysis:
    return analyse("s", [measured(RATES, system="a", outages=outages), measured(RATES, system="a", repetition=1)])


def test_an_outage_has_its_place_its_length_and_whether_it_was_measured() -> None:
    analysis = analysed(outage(0.5, 1.5), outage(1.5, 4.0), outage(11.0, None))
    assert {(one.system, one.level.connections, one.repetition, one.instance) for one in analysis.outages} == {
        ("a", 4, 0, "db")
    }
    assert [(one.from_s, one.length_s, one.is_over, one.is_measured) for one in analysis.outages] == [
        (0.5, 1.0, True, False),
        (1.5, 2.5, True, True),
        (11.0, 1.0, False, True),
    ]
    assert analysis.outages_count == 3


def test_of_many_the_longest_are_listed_in_their_order() -> None:
    many = tuple(outage(place * 0.01, place * 0.01 + (0.009 if place % 2 else 0.001)) for place in range(300))
    analysis = analysed(*many)
    assert (len(analysis.outages), analysis.outages_count) == (LISTED_MAX, 300)
    assert all(one.length_s > 0.005 for one in analysis.outages)
    begins = [one.from_s for one in analysis.outages]
    assert begins == sorted(begins)


def shown(analysis: Analysis) -> list[str]:
    return [render_html(analysis), render_markdown(analysis), printed(render_terminal(analysis), width=200)]


def test_every_guide_shows_them_where_there_are_any() -> None:
    for text in shown(analysed(outage(3.0, 5.5), outage(11.0, None))):
        assert "connections lost" in text
        assert "2.5 s" in text
        assert "1.0 s, to the end" in text
    assert not any("connections lost" in text for text in shown(analysed()))


def test_listed_outages_survive_json() -> None:
    analysis = analysed(outage(3.0, 5.5))
    assert Analysis.model_validate_json(analysis.model_dump_json()) == analysis
    assert isinstance(analysis.outages[0], TrialOutage)
