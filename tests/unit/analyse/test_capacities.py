"""Capacities compared: searches that agree to the digit still know their answers to a step only."""

from __future__ import annotations

import math

import pytest

from plimsoll.analyse.answers.capacity import capacity_answer
from plimsoll.analyse.study.capacities import capacities, capacities_by_repetition, capacity_ratios
from plimsoll.analyse.study.capacity_model import CapacityRatio
from plimsoll.analyse.tidy import CAPACITY_COLUMNS, capacity_table
from plimsoll.prose.capacity import capacities_compared_sentence, capacity_answer_sentence
from plimsoll.record.capacity import Capacity, CapacityObjective, SearchRecord
from support.searched import searched


def ratio_of(equal_within: float = 0.05, **found: list[float]) -> CapacityRatio:
    """Of two systems, each with what its searches found."""
    searches = [
        SearchRecord(
            search_id=f"{system}-{repetition}",
            system=system,
            workload="rw",
            repetition=repetition,
            is_finished=True,
            capacity=Capacity(capacity_tps=tps, objective=CapacityObjective(response_ms_p99=20)),
        )
        for system, capacities_tps in found.items()
        for repetition, tps in enumerate(capacities_tps)
    ]
    (ratio,) = capacity_ratios(capacities(searches), equal_within=equal_within)
    return ratio


@pytest.mark.parametrize(
    ("base", "system", "verdict"),
    [
        ([1000.0] * 3, [1500.0] * 3, "faster"),
        ([1000.0] * 3, [1000.0] * 3, "equal"),
        ([1000.0] * 3, [1050.0] * 3, "faster"),
        ([1000.0] * 2, [1050.0] * 2, "unresolved"),
        ([1000.0] * 2, [1500.0] * 3, "faster"),
    ],
)
def test_searches_that_all_agree_are_compared_by_their_resolution(
    base: list[float], system: list[float], verdict: str
) -> None:
    found = ratio_of(a=base, b=system)
    assert found.verdict == verdict
    assert found.ratio.bounds is not None


def test_capacities_count_as_equal_within_what_the_study_says() -> None:
    verdicts = {share: ratio_of(share, a=[1000.0] * 3, b=[1000.0] * 3).verdict for share in (0.05, 0.01)}
    assert verdicts == {0.05: "equal", 0.01: "unresolved"}
    assert ratio_of(0.03, a=[1000.0] * 3, b=[1000.0] * 3).equal_within == 0.03


@pytest.mark.parametrize(("count", "half_width_ratio"), [(2, 0.0792), (3, 0.0213)])
def test_such_an_interval_is_that_of_two_searches(count: int, half_width_ratio: float) -> None:
    bounds = ratio_of(a=[1000.0] * count, b=[1500.0] * count).ratio.bounds
    assert bounds is not None
    assert bounds.high / 1.5 - 1 == pytest.approx(half_width_ratio, abs=0.0005)


def test_one_search_of_each_without_limits_is_not_tested() -> None:
    assert ratio_of(a=[1000.0], b=[1500.0]).verdict == "untestable"


def single(system: str, tps: float, low: float | None, high: float | None) -> SearchRecord:
    capacity = Capacity(capacity_tps=tps, low=low, high=high, objective=CapacityObjective(response_ms_p99=20))
    return SearchRecord(search_id=system, system=system, workload="rw", is_finished=True, capacity=capacity)


def test_single_searches_are_compared_by_their_limits_and_one_sentence_says_so() -> None:
    found = capacities([single("durable", 1000.0, 943.0, 1050.0), single("relaxed", 1500.0, 1415.0, 1600.0)])
    (ratio,) = capacity_ratios(found)
    assert ratio.verdict == "faster"
    assert ratio.ratio.bounds is not None
    assert ratio.ratio.bounds.low == pytest.approx(
        1.5 * math.exp(-1.96 * math.sqrt(0.0646**2 / 3.169**2 + 0.0587**2 / 3.169**2 + 2 * 0.03**2)), rel=1e-3
    )
    said = capacities_compared_sentence(list(capacity_answer(found, (ratio,), lambda *_: None))[-1])
    assert said == (
        "rw: the capacity of relaxed is 50.0 % higher than that of durable, as far as one search each can tell; at the"
        " limits of the searches it is still 35.8 % higher."
    )


def test_single_searches_whose_limits_touch_or_are_unknown_decide_nothing() -> None:
    near = capacity_ratios(capacities([single("a", 1000.0, 943.0, 1050.0), single("b", 1080.0, 1019.0, 1140.0)]))
    assert near[0].verdict == "untestable"
    open_above = capacity_ratios(capacities([single("a", 1000.0, 943.0, None), single("b", 1500.0, 1415.0, 1600.0)]))
    assert open_above[0].verdict == "untestable"


def test_what_varies_more_than_a_step_is_judged_as_before() -> None:
    bounds = ratio_of(a=[1000.0, 1000.0, 1000.0], b=[1400.0, 1500.0, 1600.0]).ratio.bounds
    assert bounds is not None
    spread = math.log(1600 / 1400)
    assert math.log(bounds.high / bounds.low) > spread


def test_searches_without_a_study_are_counted_in_their_order() -> None:
    objective = CapacityObjective(response_ms_p99=20)
    searches = [
        SearchRecord(
            search_id=str(tps),
            system="a",
            workload="rw",
            is_finished=True,
            capacity=Capacity(capacity_tps=tps, objective=objective),
        )
        for tps in (1000.0, 1500.0)
    ]
    (found,) = capacities(searches)
    assert capacities_by_repetition(found) == {0: 1000.0, 1: 1500.0}


@pytest.mark.parametrize(("highs", "high"), [([1100.0, 1200.0], 1200.0), ([1100.0, None], None), ([None], None)])
def test_the_upper_limit_is_known_only_where_every_search_found_one(
    highs: list[float | None], high: float | None
) -> None:
    searches = [
        SearchRecord(
            search_id=str(number),
            system="a",
            workload="w",
            repetition=number,
            is_finished=True,
            capacity=Capacity(capacity_tps=1000.0, high=one, objective=CapacityObjective(response_ms_p99=20)),
        )
        for number, one in enumerate(highs)
    ]
    assert capacities(searches)[0].high == high


def test_the_next_highest_is_compared_first_and_what_may_be_lost_is_said() -> None:
    """The first system of the plan is the lowest; the highest may lose what the others keep."""
    found = capacities(
        [
            single("low", 500.0, 470.0, 520.0),
            single("next", 1000.0, 943.0, 1050.0),
            single("top", 1500.0, 1415.0, 1600.0),
        ]
    )
    answer = list(
        capacity_answer(
            found,
            capacity_ratios(found),
            lambda _, capacity_ratio, other: (
                "may lose the last second at power loss" if capacity_ratio == "top" != other else None
            ),
        )
    )
    told = [one for one in answer if one.code == "capacity-compared"]
    assert [(one.system, one.known["base"]) for one in told] == [("top", "next"), ("top", "low")]
    lost = ", but may lose the last second at power loss"
    assert ", but top may lose the last second" in capacities_compared_sentence(told[0])
    said = [capacity_answer_sentence(one, "tps") for one in answer if one.code == "capacity"]
    assert [lost in one for one in said] == [True, False, False]
    assert said[0].endswith("By the runs of one search it lies between 1,415 tps and 1,600 tps.")


def test_the_verdict_is_that_of_the_higher_capacity_wherever_it_stands_in_the_plan() -> None:
    found = capacities([single("high", 1500.0, 1415.0, 1600.0), single("low", 1000.0, 943.0, 1050.0)])
    (told,) = (one for one in capacity_answer(found, capacity_ratios(found), lambda *_: None) if "base" in one.figures)
    assert (told.system, told.known["base"], told.known["verdict"]) == ("high", "low", "faster")


def test_searches_are_rows_of_a_table() -> None:
    found = searched(a=(1000.0, 1010.0), b=(1500.0,))
    rows = capacity_table(found).to_dicts()
    assert [(row["system"], row["repetition"], row["capacity_tps"]) for row in rows] == [
        ("a", 0, 1000.0),
        ("a", 1, 1010.0),
        ("b", 0, 1500.0),
    ]
    assert (rows[1]["low_tps"], rows[1]["high_tps"]) == (1010.0, 1010.0 * 1.02)
    assert (rows[0]["search_id"], rows[0]["objective_ms_p99"], rows[0]["is_finished"]) == ("a0", 20.0, True)
    assert dict(capacity_table(found).schema) == CAPACITY_COLUMNS
