"""What a guide shows of systems that took turns."""

from __future__ import annotations

from typing import Any

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
from plimsoll.guide.figures import chart_spec, render_svg
from plimsoll.guide.headline import first_screen
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.marks import PAPER, Chart, Style
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


def drawn(analysis: Analysis, *rounds: tuple[float, ...]) -> Chart:
    """The chart of rounds with these ratios of pairs; the mean of a round is that in its middle."""
    of_rounds = tuple(
        DuetRound(repetition=number, ratio=sorted(pairs)[len(pairs) // 2], pair_ratios=pairs)
        for number, pairs in enumerate(rounds)
    )
    (compared,) = analysis.differences
    assert compared.duet is not None
    duet = compared.duet.model_copy(update={"rounds": of_rounds})
    made = analysis.model_copy(update={"differences": (compared.model_copy(update={"duet": duet}),)})
    ((_, chart),) = duet_charts(made, Style(width_px=600, height_px=240, palette=PAPER))
    return chart


def arrows(spec: dict[str, Any]) -> dict[str, list[float]]:
    """By sign, the ratios beyond that end of the axis."""
    signs = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    return {sign["mark"]["text"]: [row["ratio"] for row in sign["data"]["values"]] for sign in signs}


def test_pairs_that_differ_by_a_few_percent_have_a_scale_with_numbers(analysis: Analysis) -> None:
    spec = chart_spec(drawn(analysis, (0.97, 1.0, 1.04), (0.98, 1.01, 1.03)))
    assert spec["layer"][0]["encoding"]["y"]["axis"]["values"] == [0.95, 1.0, 1.05]
    assert arrows(spec) == {}


def test_pairs_beyond_the_axis_are_arrows_with_their_figure_and_no_points(analysis: Analysis) -> None:
    chart = drawn(analysis, (0.97, 0.99, 1.0, 1.04, 12.0), (0.98, 1.0, 1.01, 1.02, 1.03), (0.05, 1.0, 1.0, 1.01, 1.02))
    spec = chart_spec(chart)
    assert arrows(spec) == {"▼": [0.05], "▲": [12.0]}
    low, high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert all(low <= row["ratio"] <= high for row in spec["layer"][1]["data"]["values"])
    (up,) = (layer for layer in spec["layer"] if layer["mark"].get("text") == "▲")
    assert (up["data"]["values"][0]["edge"], up["data"]["values"][0]["shown"]) == (high, "+1100.0 %")
    assert "shown" in [line["field"] for line in up["encoding"]["tooltip"]]
    assert all(f">{label}<" in render_svg(chart) for label in ("equal", "+25 %", "+100 %")), "each tick has its label"


@pytest.mark.parametrize("far", [3.6, 1 / 3.6])
def test_the_mean_of_every_round_is_within_the_axis(far: float, analysis: Analysis) -> None:
    near = (0.97, 0.99, 1.0, 1.02, 1.04)
    spec = chart_spec(drawn(analysis, *[near] * 6, (far, far * 0.98, far, far * 1.02, far)))
    low, high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert all(low < row["ratio"] < high for row in spec["layer"][2]["data"]["values"])
    assert arrows(spec) == {}, "the pairs about it have room too"


def test_the_page_says_what_arrows_at_pairs_mark(analysis: Analysis) -> None:
    about = render_html(analysis).split("Each point is a pair of neighbouring turns")[1]
    assert "An arrow marks what goes on beyond the axis." in about.split("<svg")[0]


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
