"""Load at a rate: from made-up recordings to what systems carry, and how guides say it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import SizeEvidence
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.guide.charts import response_charts, throughput_chart
from plimsoll.guide.html import render_html
from plimsoll.guide.marks import PAPER, Chart, Style
from plimsoll.guide.terminal import render_terminal
from plimsoll.guide.words import place_words
from plimsoll.record import frames
from plimsoll.record.level import Level, LevelKind
from plimsoll.record.model import TrialWarning
from support.made import PLACE, STARTED_UNIX_S, Made, histogram_table, measured
from support.markdown import unlinked_markdown
from support.printed import printed
from support.told import answer_of, limits_of

SECONDS = 12
"""Of load: two of warm-up and ten that count."""


def at_rate(
    rate_tps: float,
    *,
    completed_tps: float | None = None,
    waiting: list[int] | None = None,
    dropped: int = 0,
    p99_ms: float = 5.0,
    **trial: object,
) -> Made:
    """A trial at a rate; `waiting` is the backlog at the end of each of its last seconds, none before."""
    done = rate_tps if completed_tps is None else completed_tps
    response_ns = np.linspace(1e6, p99_ms * 1e6, 1000).astype(np.int64)
    made = measured([done] * 10, connections=16, response_ns=response_ns, **trial)
    backlog = [0] * (SECONDS - len(waiting or [])) + (waiting or [])
    telemetry = pl.DataFrame(
        [
            {
                **PLACE,
                "unix_s": STARTED_UNIX_S + second + 1,
                "source": "engine",
                "metric": "backlog_count",
                "value": float(count),
            }
            for second, count in enumerate(backlog)
        ],
        schema=frames.TELEMETRY,
    )
    intervals = made.tables["intervals"].with_columns(
        completed=pl.lit(round(done), dtype=pl.UInt64),
        dropped=pl.when(pl.col("interval") == SECONDS // 2).then(dropped).otherwise(0).cast(pl.UInt64),
    )
    level = Level(connections=16, rate_tps=rate_tps)
    account = made.outcome.account
    assert account is not None
    return replace(
        made,
        trial=made.trial.model_copy(update={"level": level, "trial_id": f"{made.trial.trial_id}-{rate_tps}"}),
        outcome=made.outcome.model_copy(
            update={"account": account.model_copy(update={"offered_count": round(rate_tps * SECONDS)})}
        ),
        tables={**made.tables, "intervals": intervals, "telemetry": telemetry},
    )


def curve_of(*trials: Made) -> Curve:
    (curve,) = analyse("s", list(trials)).curves
    return curve


def sustained_tps(curve: Curve) -> float | None:
    return curve.peak.level.rate_tps if curve.peak else None


FALLING_BEHIND = [300, 600, 900, 1200, 1500]


def test_what_kept_up_with_every_arrival_is_sustained_up_to_the_first_rate_that_was_not() -> None:
    curve = curve_of(at_rate(100), at_rate(200), at_rate(400, completed_tps=250, waiting=FALLING_BEHIND), at_rate(300))
    assert [cell.level.rate_tps for cell in curve.cells] == [100, 200, 300, 400]
    assert [cell.rate.is_sustained for cell in curve.cells] == [True, True, True, False]
    assert (sustained_tps(curve), curve.peak.is_inside_range, curve.cells[0].level.connections) == (300, True, 16)


def test_a_rate_that_is_sustained_after_one_that_was_not_counts_for_nothing() -> None:
    curve = curve_of(at_rate(100), at_rate(200, completed_tps=150, waiting=FALLING_BEHIND), at_rate(300))
    assert (sustained_tps(curve), curve.peak.is_inside_range) == (100, True)


def test_a_stall_that_was_worked_off_is_no_falling_behind() -> None:
    (cell,) = curve_of(at_rate(100, waiting=[500, 300, 0])).cells
    assert (cell.rate.is_sustained, cell.rate.overloaded_count, cell.rate.waiting_max) == (True, 1, 500)


def test_a_single_dropped_arrival_is_a_rate_that_was_not_sustained() -> None:
    curve = curve_of(at_rate(100, dropped=1))
    assert curve.peak is None
    assert curve.cells[0].dropped_count == 1


def test_a_rate_is_sustained_only_if_it_was_in_every_repetition() -> None:
    curve = curve_of(at_rate(100), at_rate(100, completed_tps=60, waiting=FALLING_BEHIND, repetition=1))
    assert curve.peak is None
    (cell,) = curve.cells
    assert (cell.throughput_tps.trial_count, cell.rate.overloaded_count) == (2, 1)
    assert cell.throughput_tps.value == pytest.approx((100 * 60) ** 0.5)
    assert cell.rate.offered_tps == pytest.approx(100)


def test_failed_transactions_are_not_sustained() -> None:
    assert curve_of(at_rate(100, failed=5)).peak is None


def test_transactions_that_never_ended_are_not_sustained() -> None:
    """Two seconds of silence at the end of a low rate are no overload: fewer wait than there are connections."""
    hung = at_rate(4)
    ages = histogram_table(np.arange(1, 9) * 250_000_000, interval=SECONDS - 1, measure="in_flight_response")
    hung.tables["histograms"] = pl.concat([hung.tables["histograms"], ages])
    (cell,) = curve_of(hung).cells
    assert (cell.unfinished_count, cell.rate.waiting_max, cell.rate.is_sustained) == (8, 0, False)
    assert sustained_tps(curve_of(at_rate(4))) == 4
    said = answer_of(analyse("s", [hung], objective_ms_p99=2_500))
    assert any("sustains no level that was measured" in text for text in said), said
    assert "| 8 |" in unlinked_markdown(analyse("s", [hung]))


def two_systems(objective_ms_p99: float | None = None) -> Analysis:
    fast = [at_rate(100, system="a"), at_rate(200, system="a", p99_ms=30)]
    slow = [
        at_rate(100, system="b", p99_ms=8),
        at_rate(200, system="b", completed_tps=150, waiting=FALLING_BEHIND, dropped=7, p99_ms=900),
    ]
    return analyse("s", [*slow, *fast], objective_ms_p99=objective_ms_p99)


def test_the_answer_says_what_each_system_carries_the_best_first() -> None:
    first, second, third = answer_of(two_systems())
    assert first == (
        "read-write: a sustains every rate that was tried, up to 200 tps, p99 response time 29.7 ms (indicated)."
    )
    assert second.startswith("read-write: b sustains 100 tps, p99 response time 7.9")
    assert second.endswith("of 200 tps it completed 150 tps, and 7 transactions were dropped.")
    assert third.startswith(
        "read-write: at 100 tps, which all systems sustain, p99 response time is 4.96 ms on a and 7.9"
    )


def test_the_objective_counts_only_at_rates_that_are_sustained() -> None:
    said = [text for text in answer_of(two_systems(objective_ms_p99=20)) if "within 20.0 ms" in text]
    assert [text.split("within 20.0 ms, ")[1] for text in said] == [
        f"{name} sustains 100 tps (indicated)." for name in "ab"
    ]
    (strict,) = (text for text in answer_of(two_systems(objective_ms_p99=2)) if "within 2.00 ms" in text)
    assert strict.startswith("read-write: neither system keeps p99 response time within 2.00 ms at any level")


def test_a_rate_that_is_not_sustained_keeps_no_objective() -> None:
    trials = [at_rate(100), at_rate(200, completed_tps=150, waiting=FALLING_BEHIND)]
    said = answer_of(analyse("s", trials, objective_ms_p99=20))
    assert "read-write: with p99 response time within 20.0 ms, a sustains 100 tps (indicated)." in said


def test_what_rates_cannot_decide_is_said_and_nothing_about_connections_at_their_own_pace() -> None:
    limits = " ".join(limits_of(two_systems()))
    assert "A rate less than 8.3 % above what a system sustains does not show as overload within 12 s" in limits
    assert "How much more a (read-write) would sustain is unknown" in limits
    assert "Rates were served by 16 connections" in limits
    assert "at their own pace" not in limits


def test_warnings_name_rates_and_not_connections() -> None:
    own = TrialWarning(code="of-the-trial", evidence="e", advice="a")
    analysis = analyse("s", [at_rate(100, warnings=(own,)), at_rate(200)])
    placed = {warning.code: warning for warning in analysis.warnings}
    assert [level.rate_tps for level in placed["of-the-trial"].levels] == [100]
    assert [level.rate_tps for level in placed["single-repetition"].levels] == [100, 200]
    assert place_words(placed["of-the-trial"], analysis) == "a · read-write · target rate 100 tps"
    assert place_words(placed["single-repetition"], analysis) == "a · read-write · all target rates"


def test_rates_and_connections_of_one_study_do_not_mix() -> None:
    analysis = analyse("s", [at_rate(100), measured([90.0] * 10, connections=16)])
    closed, at_rates = analysis.curves
    assert (closed.kind, at_rates.kind) == (LevelKind.CLOSED, LevelKind.RATE)
    assert [cell.level for cell in closed.cells] == [Level(connections=16)]
    assert closed.cells[0].completed_count == 900


def test_a_study_at_rates_is_sized_by_them() -> None:
    found = size(two_systems(), tps=100)
    assert {system.evidence for system in found.systems} == {SizeEvidence.RATES}
    sustained = {system.system: (system.sustains_tps, system.sure_tps) for system in found.systems}
    assert sustained == {"a": (200, None), "b": (100, None)}, "of one repetition nothing is sure"
    strict = size(two_systems(), tps=100, response_p99_ms=20)
    assert {system.system: system.sustains_tps for system in strict.systems} == {"a": 100, "b": 100}
    assert all(system.sustains_is_lower_bound for system in found.systems)


def test_what_the_next_run_surely_sustains_is_the_highest_rate_that_was_in_every_repetition() -> None:
    trials = [at_rate(rate, repetition=number) for rate in (100, 200) for number in range(3)]
    failed = [at_rate(400, completed_tps=150, waiting=FALLING_BEHIND, dropped=7, repetition=n) for n in range(3)]
    (found,) = size(analyse("s", [*trials, *failed]), tps=50).systems
    assert (found.sustains_tps, found.sure_tps) == (200, 200)


def test_an_analysis_of_rates_survives_json() -> None:
    analysis = two_systems()
    assert Analysis.model_validate_json(analysis.model_dump_json()) == analysis


def test_every_guide_shows_target_and_completed() -> None:
    analysis = two_systems()
    html, markdown, terminal = render_html(analysis), unlinked_markdown(analysis), printed(render_terminal(analysis))
    assert "### b, read-write: at target rates, over 16 connections" in markdown
    assert "| 200 | 150 |" in markdown
    assert "| a | 4 | at least 200 | 29.7 |" in markdown
    assert ["100", "100", "3.00", "4.80", "4.96", "0", "sustained"] in [line.split() for line in terminal.splitlines()]
    assert "Completed against target rate" in html
    assert "Response time against target rate" in html
    assert "Throughput against connections" not in html


def test_charts_show_each_rate_and_the_line_where_all_was_completed() -> None:
    analysis = two_systems()
    look = Style(width_px=400, height_px=200, palette=PAPER)
    chart = throughput_chart(analysis, analysis.workloads[0], LevelKind.RATE, look)
    assert chart is not None
    rows = _rows(chart)
    assert {(row["system"], row["offered"], row["rate"]) for row in rows if "system" in row and "offered" in row} == {
        ("a", 100, 100),
        ("a", 200, 200),
        ("b", 100, 100),
        ("b", 200, 150),
    }
    assert [name for name, _, _ in response_charts(analysis, analysis.workloads[0], LevelKind.RATE, look)] == [
        "p50",
        "p95",
        "p99",
    ]


def _rows(chart: Chart) -> list[dict[str, object]]:
    return [row for layer in chart.to_dict()["layer"] for row in layer["data"]["values"]]
