"""What is sustained within the study's response-time objective."""

from __future__ import annotations

import json

import numpy as np

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.study.cell_model import Cell, Durations, Estimate
from plimsoll.analyse.study.curve_model import Curve, Peak, PoolReason
from plimsoll.analyse.study.points import within_objective
from plimsoll.guide.answer import answer_sentence, pool_sentence
from plimsoll.guide.charts import peaks_chart, sustained_words
from plimsoll.guide.figures import chart_spec
from plimsoll.guide.headline import glance_table
from plimsoll.guide.marks import Style
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.level import Level, LevelKind
from support.analyses import measured_analysis
from support.made import measured, published


def curve(
    *levels: tuple[int, float, float | None], failed: int = 0, unfinished: int = 0, bounds: tuple[str, ...] = ()
) -> Curve:
    """Levels as (connections, tps, p99 in milliseconds)."""
    cells = tuple(
        Cell(
            level=Level(connections=connections),
            throughput_tps=Estimate(value=tps),
            scale_factor=Estimate(value=1.0),
            response_ms=Durations(p99=p99, lower_bounds=bounds),
            completed_count=1000,
            failed_count=failed,
            unfinished_count=unfinished,
        )
        for connections, tps, p99 in levels
    )
    peak = Peak(level=cells[-1].level, throughput_tps=cells[-1].throughput_tps, is_inside_range=False)
    return Curve(system="a", workload="w", kind=LevelKind.CLOSED, cells=cells, peak=peak)


def said(one: Curve, objective_ms: float | None = 20.0) -> list[str]:
    made = measured_analysis()
    return [answer_sentence(finding, made) for finding in within_objective([one], objective_ms)]


def test_the_best_level_that_keeps_it_is_named() -> None:
    assert said(curve((1, 100, 2.0), (8, 700, 19.9), (32, 900, 73.0))) == [
        "w: with p99 response time within 20.0 ms, a completes 700 tps at 8 connections."
    ]


def test_a_last_level_that_keeps_it_leaves_the_rest_open() -> None:
    assert said(curve((1, 100, 2.0), (8, 700, 19.9)))[0].endswith(
        "a completes 700 tps at 8 connections, perhaps more at levels that were not measured."
    )


def test_no_level_that_keeps_it_sustains_nothing() -> None:
    assert "a sustains no level that was measured" in said(curve((1, 100, 21.0), (8, 700, 50.0)))[0]


def test_failed_transactions_count_as_over_it() -> None:
    assert "a sustains no level that was measured" in said(curve((1, 100, 2.0), failed=50))[0]


def test_unfinished_transactions_count_as_over_it() -> None:
    assert "a sustains no level that was measured" in said(curve((1, 100, 2.0), unfinished=50))[0]
    assert "a completes 100 tps" in said(curve((1, 100, 2.0), unfinished=5))[0]


def test_a_lower_bound_within_it_keeps_nothing_and_one_above_it_is_over_it() -> None:
    assert said(curve((1, 100, 2.0), bounds=("p99",)))[0].endswith(
        "has no known capacity: some transactions had not ended."
    )
    assert "a sustains no level that was measured" in said(curve((1, 100, 21.0), bounds=("p99",)))[0]


def test_unknown_response_times_say_nothing() -> None:
    assert "has no known capacity: response times are unknown" in said(curve((1, 100, None)))[0]


def test_without_an_objective_nothing_is_said() -> None:
    assert said(curve((1, 100, 2.0)), None) == []


def test_what_no_system_keeps_is_said_once_with_the_nearest() -> None:
    curves = [curve((1, 100, 21.0), (8, 700, 50.0)), curve((1, 90, 24.0)).model_copy(update={"system": "b"})]
    (missed,) = within_objective(curves, 20.0)
    assert answer_sentence(missed, measured_analysis()) == (
        "w: neither system keeps p99 response time within 20.0 ms at any level that was measured; the lowest p99 is"
        " 21.0 ms, on a at 1 connection."
    )
    assert len(list(within_objective([*curves, curve((1, 100, 2.0))], 20.0))) == 3, "one system keeps it"
    assert [one.code for one in within_objective([*curves, curve((1, 100, None))], 20.0)] == ["within-objective"] * 3


def test_the_chart_the_table_and_the_pool_say_what_the_sentence_says() -> None:
    """400 and 480 tps at 4 connections miss the objective; so does the pool of 4."""
    recordings = [
        published(tps * level, system=name, connections=level, response_ms={"p99": level * 5.0}, cores=4)
        for name, tps in (("a", 100.0), ("b", 120.0))
        for level in (1, 2, 4)
    ]
    analysis = analyse("s", recordings, objective_ms_p99=12.0)
    (workload,) = analysis.workloads
    assert sustained_words(analysis, workload) == "throughput with p99 within 12.0 ms"
    chart = peaks_chart(analysis, workload, Style(width_px=None, height_px=200))
    assert chart is not None
    spec = json.dumps(chart_spec(chart))
    assert ('"figure": "200"' in spec, '"figure": "240"' in spec, '"figure": "480"' in spec) == (True, True, False)
    table = glance_table(analysis)
    column = [column.heading for column in table.columns].index("tps with p99 within 12.0 ms")
    assert [row[column].text for row in table.rows] == ["200", "240"]
    pools = [one.pool for one in analysis.curves]
    assert [(pool.connections, pool.reason) for pool in pools if pool] == [(2, PoolReason.SINGLE_FIGURES)] * 2


def test_levels_that_miss_the_objective_are_no_pool_however_fast_they_are() -> None:
    recordings = [
        measured(
            np.full(20, 100.0 * level * (1 + repetition / 100)),
            response_ns=np.full(2000, level * 5_000_000),
            connections=level,
            repetition=repetition,
        )
        for repetition in range(3)
        for level in (1, 2, 4)
    ]
    (curve,) = analyse("s", recordings, objective_ms_p99=12.0).curves
    assert curve.pool is not None
    assert (curve.pool.connections, curve.pool.reason) == (2, PoolReason.OBJECTIVE)
    assert "more connections are not known to keep the objective" in pool_sentence(curve)


def test_without_a_level_within_it_there_is_no_pool_and_the_chart_shows_the_peaks() -> None:
    recordings = [
        published(100.0 * level, system=name, connections=level, response_ms={"p99": 50.0})
        for name in ("a", "b")
        for level in (1, 2)
    ]
    analysis = analyse("s", recordings, objective_ms_p99=12.0)
    assert [one.pool for one in analysis.curves] == [None, None]
    assert sustained_words(analysis, analysis.workloads[0]) == "highest throughput"


def test_what_a_less_durable_system_may_lose_is_said_beside_what_it_sustains_within_it() -> None:
    """Of two systems that write, the one that flushes its log once in a second."""
    recordings = [
        measured(
            [100.0] * 12,
            system=name,
            kind="oltp_read_write",
            response_ns=np.full(400, 5_000_000),
            environment=Environment(
                instances=(InstanceFacts(name="one", variables={"innodb_flush_log_at_trx_commit": flush}),)
            ),
        )
        for name, flush in (("durable", "1"), ("relaxed", "2"))
    ]
    analysis = analyse("s", recordings, objective_ms_p99=12.0)
    said = {one.system: answer_sentence(one, analysis) for one in analysis.answer if one.code == "within-objective"}
    assert ["but may lose" in said[name] for name in ("durable", "relaxed")] == [False, True]
