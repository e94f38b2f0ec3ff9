"""What is carried within the study's response-time objective."""

from __future__ import annotations

from plimsoll.analyse.cell_model import Cell, Estimate
from plimsoll.analyse.duration_model import Durations
from plimsoll.analyse.model import Curve, Peak, PoolAdvice
from plimsoll.analyse.within_objective import within_objective


def curve(
    *levels: tuple[int, float, float | None], failed: int = 0, unfinished: int = 0, bounds: tuple[str, ...] = ()
) -> Curve:
    """Levels as (connections, tps, p99 in milliseconds)."""
    cells = tuple(
        Cell(
            connections=connections,
            throughput_tps=Estimate(value=tps),
            scale_factor=Estimate(value=1.0),
            response_ms=Durations(p99=p99, lower_bounds=bounds),
            completed_count=1000,
            failed_count=failed,
            unfinished_count=unfinished,
        )
        for connections, tps, p99 in levels
    )
    peak = Peak(connections=levels[-1][0], throughput_tps=cells[-1].throughput_tps, bracketed=False)
    return Curve(system="a", workload="w", cells=cells, peak=peak, pool=PoolAdvice(connections=1, text=""))


def said(one: Curve, objective_ms: float | None = 20.0) -> list[str]:
    return list(within_objective([one], objective_ms, "tps"))


def test_the_best_level_that_keeps_it_is_named() -> None:
    assert said(curve((1, 100, 2.0), (8, 700, 19.9), (32, 900, 73.0))) == [
        "w: with 99 % of transactions within 20.0 ms, a carries 700 tps at 8 connections."
    ]


def test_a_last_level_that_keeps_it_leaves_the_rest_open() -> None:
    assert said(curve((1, 100, 2.0), (8, 700, 19.9)))[0].endswith(
        "a carries 700 tps at 8 connections, perhaps more at levels that were not measured."
    )


def test_no_level_that_keeps_it_carries_nothing() -> None:
    assert "a carries nothing" in said(curve((1, 100, 21.0), (8, 700, 50.0)))[0]


def test_failed_transactions_count_as_over_it() -> None:
    assert "a carries nothing" in said(curve((1, 100, 2.0), failed=50))[0]


def test_unfinished_transactions_count_as_over_it() -> None:
    assert "a carries nothing" in said(curve((1, 100, 2.0), unfinished=50))[0]
    assert "a carries 100 tps" in said(curve((1, 100, 2.0), unfinished=5))[0]


def test_a_lower_bound_within_it_keeps_nothing_and_one_above_it_is_over_it() -> None:
    assert said(curve((1, 100, 2.0), bounds=("p99",)))[0].endswith("is unknown: some transactions had not ended.")
    assert "a carries nothing" in said(curve((1, 100, 21.0), bounds=("p99",)))[0]


def test_unknown_response_times_say_nothing() -> None:
    assert "is unknown" in said(curve((1, 100, None)))[0]


def test_without_an_objective_nothing_is_said() -> None:
    assert said(curve((1, 100, 2.0)), None) == []
