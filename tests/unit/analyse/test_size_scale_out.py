"""Several systems where none sustains a load alone: they are judged at their share by the rule for one system."""

from __future__ import annotations

import pytest

from plimsoll.analyse.answers.size_model import Fit
from plimsoll.analyse.findings.finding_model import Grade
from unit.analyse.test_size import ONE, analysis, curve, size


@pytest.mark.parametrize(("each_tps", "count"), [(250.0, 2), (500 / 3, 3), (249.999, 3), (100.1, 5), (99.9, 6)])
def test_a_quotient_that_is_whole_but_for_rounding_takes_no_more_systems(each_tps: float, count: int) -> None:
    made = analysis(curve("a", (4, each_tps, None), spread=None))
    answer = size(made, tps=100, headroom=0.8)
    assert [one.count for one in answer.scale_out] == [count]


def test_scale_out_counts_with_what_the_next_run_surely_sustains_and_states_its_assumption() -> None:
    answer = size(ONE, tps=3801)
    assert answer.scale_out[0].count == 3
    assert answer.scale_out[0].connections_each == 16
    assert "split between them" in answer.scale_out[0].text
    assert answer.text[0] == "The only system is not shown to sustain 3,801 tps of w."


def test_one_system_at_another_level_is_no_scale_out() -> None:
    text = size(ONE, tps=1000, connections=64).scale_out[0].text
    assert text == "One a sustains it with 1,793 tps at 16 connections, which is not the 64 that were asked for."
    many = size(ONE, tps=3801, connections=4).scale_out[0].text
    assert "3 of a would sustain it with 1,793 tps at 16 connections on each (48 in all; 4 were asked for)" in many


@pytest.mark.parametrize("spread", [None, 0.0001, 0.05, 0.3])
@pytest.mark.parametrize(
    ("tps", "connections"), [(1000.0, 64), (1750.0, 64), (1950.0, 64), (3801.0, 4), (5000.0, None)]
)
def test_scale_out_says_no_more_than_the_verdict_on_one_system_at_its_share(
    spread: float | None, tps: float, connections: int | None
) -> None:
    made = analysis(curve("a", (4, 1000.0, 5.0), (16, 2000.0, 20.0), (32, 1500.0, 60.0), spread=spread))
    answer = size(made, tps=tps, connections=connections)
    assert not answer.fits
    (one,) = answer.scale_out
    (alone,) = size(made, tps=tps / one.count).systems
    assert (alone.verdict is Fit.FITS and alone.grade is Grade.MEASURED) == one.is_shown
    says_surely = " would sustain it " in one.text or " sustains it " in one.text
    assert says_surely == one.is_shown


def test_figures_without_repetitions_sustain_nothing_for_sure_in_several_systems_either() -> None:
    """First "none is shown to sustain it", then "one sustains it": the published tables of HP."""
    made = analysis(curve("a", (8, 3177.0, None), (128, 1634.0, None), spread=None))
    answer = size(made, tps=2000, connections=128)
    assert answer.text[0].startswith("The only system is not shown to sustain")
    assert answer.text[-1] == (
        "One a may sustain it with 3,177 tps at 8 connections, which is not the 128 that were asked for. Repetitions do"
        " not show that the next run sustains so much."
    )


def test_an_answer_is_in_the_unit_of_the_question() -> None:
    answer = size(ONE, tps=1000, connections=64, rate_unit="tpm")
    assert answer.text[0] == "The only system is not shown to sustain 60,000 tpm of w at 64 connections."
    assert "107,552 tpm at 16 connections" in answer.scale_out[0].text
    assert not any(" tps" in text for text in answer.text)
