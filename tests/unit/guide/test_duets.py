"""What a guide shows of systems that took turns."""

from __future__ import annotations

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.findings.finding_model import make_finding
from plimsoll.analyse.model import Analysis, Difference
from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.analyse.study.curve_model import Duet, DuetBasis, DuetRound
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.answer import limit_sentence
from plimsoll.guide.comparisons import level_differences, peak_differences
from plimsoll.guide.duets import CANNOT_SEE, duet_charts, duet_table
from plimsoll.guide.headline import first_screen
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.marks import Style
from plimsoll.guide.words import difference_verdict
from plimsoll.record.level import Level
from support.made import measured

ROUNDS = tuple(
    DuetRound(repetition=number, ratio=ratio, pair_ratios=(ratio - 0.01, ratio, ratio + 0.02))
    for number, ratio in enumerate((1.05, 1.07))
)
DUET = Duet(turn_s=0.4, pair_count=6, basis=DuetBasis.ROUNDS, correlation=0.31, is_widened=True, rounds=ROUNDS)


@pytest.fixture
def analysis() -> Analysis:
    """Two systems under one workload, of which it is said that they took turns."""
    bounds = Bounds(low=1.02, high=1.1, method="duet")
    compared = Difference(
        workload="read-write",
        base="a",
        system="b",
        level=Level(connections=4),
        ratio=Estimate(value=1.06, bounds=bounds, trial_count=2),
        smallest_effect=1.05,
        verdict=RatioVerdict.FASTER,
        duet=DUET,
    )
    made = analyse("duet", [measured([100.0] * 12), measured([106.0] * 12, system="b")])
    return made.model_copy(update={"differences": (compared,)})


def test_a_row_has_the_interval_its_verdict_the_range_of_rounds_and_what_decides(analysis: Analysis) -> None:
    table = duet_table(analysis)
    assert table is not None
    (row,) = table.rows
    assert table.caption == "Systems that took turns at 4 connections"
    figures = {column.heading: entry for column, entry in zip(table.columns, row, strict=True)}
    assert {heading: entry.text for heading, entry in figures.items()} == {
        "compared": "b against a",
        "throughput": "+6.0 %",
        "verdict": "b is faster",
        "minimum detectable effect (80 % power)": "5.0 %",
        "each round": "+5.0 to +7.0 %",
        "interval from variation": "between rounds; neighbouring pairs correlate by +0.31; widened for that",
    }
    assert figures["throughput"].detail == "+2.0 to +10.0 %"
    assert figures["each round"].detail == "2 rounds of 6 pairs of turns"
    assert table.notes == CANNOT_SEE
    trials = {trial.system: trial.trial_id for trial in analysis.trials}
    sources = (trials["b"], trials["a"])
    assert figures["throughput"].sources == figures["each round"].sources == sources, "both systems, in the round run"
    assert figures["verdict"].sources == ()


def test_what_else_differs_is_said_of_the_systems(analysis: Analysis) -> None:
    (level,) = analysis.differences
    peaks = level.model_copy(update={"level": None, "other_factors": (("storage", "SATA", "NVMe"),)})
    table = duet_table(analysis.model_copy(update={"differences": (level, peaks)}))
    assert table is not None
    assert "storage: SATA → NVMe" in [entry.text for entry in table.rows[0]]


def test_systems_that_took_turns_at_one_level_are_compared_in_one_table(analysis: Analysis) -> None:
    (level,) = analysis.differences
    peaks = level.model_copy(update={"level": None})
    both = analysis.model_copy(update={"differences": (level, peaks)})
    assert (peak_differences(both), level_differences(both)) == (None, None)
    page = render_html(both)
    assert "Systems that took turns" in page
    assert "No two systems were compared" not in page
    assert "Ratio of throughputs" not in page, "a chart of one row says less than the rounds"


def test_what_is_open_asks_for_rounds() -> None:
    figures = {"undecided_count": 1, "all_count": 1}
    duet, other = (make_finding("comparisons-undecided", **figures, is_duet=is_duet) for is_duet in (True, False))
    assert "More rounds narrow" in limit_sentence(duet)
    assert "More repetitions narrow" in limit_sentence(other)


def test_all_pairs_are_in_the_chart_and_the_chart_is_in_the_page(analysis: Analysis) -> None:
    ((title, chart),) = duet_charts(analysis, Style(width_px=600, height_px=200))
    assert title == "b against a, read-write, 4 connections"
    shown = str(chart.to_dict())
    assert all(f"'shown': '{change}'" in shown for change in ("+4.0 %", "+5.0 %", "+7.0 %", "+6.0 %", "+9.0 %"))
    page = render_html(analysis)
    assert "Pairs of turns: b against a" in page
    assert "purge debt" in page
    assert "Systems that took turns" in render_markdown(analysis)


def test_without_turns_there_is_nothing_of_them(analysis: Analysis) -> None:
    plain = analysis.model_copy(update={"differences": ()})
    assert duet_table(plain) is None
    assert "Systems that took turns" not in render_html(plain).split('id="method"')[0]


def test_the_first_screen_says_which_system_is_faster_and_what_that_rests_on(analysis: Analysis) -> None:
    peaks = analysis.differences[0].model_copy(update={"level": None})
    compared = make_finding(
        "comparison",
        system="b",
        workload="read-write",
        base="a",
        verdict=RatioVerdict.FASTER.value,
        ratio=peaks.ratio,
        smallest_effect=1.05,
        repetitions_needed=0,
        differing=(),
        one_sided=(),
    )
    made = analysis.model_copy(update={"answer": (compared,)})
    (headline,) = first_screen(made, ()).headlines
    assert headline.text == (
        "read-write: at 4 connections, b is faster: its throughput is 6.0 % higher than that of a"
        " (95 % CI +2.0 % to +10.0 %, 6 pairs of turns in 2 rounds)."
    )
    assert 'aria-label="Systems compared, read-write"' in render_html(made).split("Systems at a glance")[0]


def test_an_open_comparison_asks_for_rounds(analysis: Analysis) -> None:
    (compared,) = analysis.differences
    opened = compared.model_copy(update={"verdict": RatioVerdict.UNRESOLVED, "repetitions_needed": 3})
    assert difference_verdict(opened) == "not resolved; about 3 more rounds would decide"
    sequential = opened.model_copy(update={"duet": None})
    assert difference_verdict(sequential) == "not resolved; about 3 more repetitions would decide"
