"""Cost per million, the Pareto front, and currencies that are never compared."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.cost import SECONDS_PER_MONTH
from plimsoll.analyse.answers.size import size
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.capacity_model import CapacityBasis, OnFront
from plimsoll.guide.answer import answer_sentence
from plimsoll.guide.cost import cost_section
from plimsoll.guide.size import answer_sentences
from plimsoll.record.capacity import Capacity, SearchRecord
from plimsoll.record.level import Level
from plimsoll.record.model import Price
from support.made import measured, published
from support.searched import OBJECTIVE


def study(*systems: tuple[str, float, float | None, str | None]) -> Analysis:
    recordings = [published(tps, system=name, cost_per_month=cost) for name, tps, cost, _ in systems]
    priced = []
    for recording, (_, _, cost, currency) in zip(recordings, systems, strict=True):
        price = None if cost is None else Price(per_month=cost, currency=currency)
        system = recording.trial.system.model_copy(update={"price": price})
        priced.append(
            type(recording)(
                recording.trial.model_copy(update={"system": system}), recording.environment, recording.outcome
            )
        )
    return analyse("s", priced)


def test_a_million_transactions() -> None:
    (cost,) = analyse("s", [measured([100.0] * 12, cost_per_month=SECONDS_PER_MONTH / 1e4)], utilisation=0.5).costs
    assert cost.systems[0].per_million.value == pytest.approx(2.0)  # 100 tps at half: 20,000 s for a million
    assert cost.systems[0].price == Price(per_month=SECONDS_PER_MONTH / 1e4)
    assert cost.basis is CapacityBasis.SATURATION


def test_front() -> None:
    (cost,) = study(
        ("small", 100, 10, None), ("bad", 90, 20, None), ("big", 300, 40, None), ("free", 5, None, None)
    ).costs
    places = {system.system: (system.on_front, system.beaten_by) for system in cost.systems}
    assert places == {
        "small": (OnFront.YES, None),
        "bad": (OnFront.NO, "small"),
        "big": (OnFront.YES, None),
    }
    assert cost.without_price == ("free",)


def test_overlapping_intervals_leave_the_front_open() -> None:
    recordings = [
        measured([tps + shift] * 12, system=name, repetition=repetition, cost_per_month=cost)
        for name, tps, cost in (("a", 100.0, 10.0), ("b", 98.0, 20.0))
        for repetition, shift in enumerate((-8.0, 0.0, 8.0))
    ]
    (cost,) = analyse("s", recordings).costs
    assert {system.system: system.on_front for system in cost.systems} == {"a": OnFront.YES, "b": OnFront.UNDECIDED}


def test_currencies_are_never_compared() -> None:
    analysis = study(("here", 100, 10, "EUR"), ("there", 90, 20, "USD"))
    assert [system.on_front for system in analysis.costs[0].systems] == [OnFront.YES, OnFront.YES]
    assert not {"cheapest", "costs"} & {one.code for one in analysis.answer}
    section = cost_section(analysis)
    assert section is not None
    assert any("EUR and USD are not compared" in sentence for sentence in section.sentences)
    answer = size(analysis, tps=50)
    assert not answer.is_cost_comparable
    assert not any("cheapest is" in sentence for sentence in answer_sentences(answer))


def test_cost_at_the_demand() -> None:
    euros, shifts = Price(per_month=10, currency="EUR"), (-1.0, 0.0, 1.0)
    recordings = [
        measured([100.0 + shift] * 12, repetition=index, cost_per_month=10) for index, shift in enumerate(shifts)
    ]
    priced = [
        replace(
            recording,
            trial=recording.trial.model_copy(
                update={"system": recording.trial.system.model_copy(update={"price": euros})}
            ),
        )
        for recording in recordings
    ]
    answer = size(analyse("s", priced), tps=50)
    assert answer.systems[0].cost_per_million == pytest.approx(10 / (50 * SECONDS_PER_MONTH) * 1e6)
    several = size(analyse("s", priced), tps=500)
    assert any("for 80 EUR per month" in sentence for sentence in answer_sentences(several))


def test_a_price_keeps_its_date() -> None:
    price = Price(per_month=1.0, currency="EUR", term="1 year", date=datetime.date(2026, 11, 1))
    assert Price.model_validate_json(price.model_dump_json()) == price


@pytest.mark.parametrize(
    ("noise", "connections", "decided"),
    [(0.1, (2,), True), (30.0, (2,), False), (0.1, (2, 4), False)],
)
def test_no_system_is_called_cheapest_while_that_is_open(
    noise: float, connections: tuple[int, ...], decided: bool
) -> None:
    """Where intervals overlap, or throughput still rose at the last level."""
    recordings = [
        measured(
            [(tps + shift) * level] * 12,
            system=name,
            repetition=repetition,
            connections=level,
            cost_per_month=10.0,
        )
        for name, tps in (("a", 100.0), ("b", 120.0))
        for level in connections
        for repetition, shift in enumerate((-noise, 0.0, noise))
    ]
    analysis = analyse("s", recordings)
    (told,) = (answer_sentence(one, analysis) for one in analysis.answer if one.code == "costs")
    section = cost_section(analysis)
    assert section is not None
    assert "highest throughput" in section.tables[0].columns[4].heading
    said = " ".join((told, *section.sentences))
    assert ("cheapest first: b" in said, "b is the cheapest per" in said) == (decided, decided)
    assert (said.count("Which system is the cheapest is not resolved") == 2) is not decided


def curves_and_searches(
    found: dict[str, float | None], *, objective_ms: float | None = None, high: float | None = 1e6
) -> Analysis:
    """`a` and `b` at two levels in a closed loop, the second above 20 ms, and searches where they found so much."""
    recordings = [
        measured(
            [tps * level] * 12,
            system=name,
            workload="w",
            connections=level,
            cost_per_month=100.0,
            response_ns=np.full(400, int(times_ms * 1e6)),
        )
        for name, tps in (("a", 100.0), ("b", 120.0))
        for level, times_ms in ((2, 10.0), (4, 30.0))
    ]
    searched = [
        SearchRecord(
            search_id=name,
            system=name,
            workload="w",
            repetition=0,
            is_finished=True,
            capacity=Capacity(capacity_tps=tps, low=tps, high=high, objective=OBJECTIVE, runs=()),
        )
        for name, tps in found.items()
    ]
    return analyse("s", recordings, searches=searched, objective_ms_p99=objective_ms)


def capacities_of(analysis: Analysis) -> dict[str, float]:
    (cost,) = analysis.costs
    return {system.system: round(system.capacity_tps.value) for system in cost.systems}


def test_a_searched_capacity_counts_before_all_else() -> None:
    analysis = curves_and_searches({"a": 150.0, "b": 120.0}, objective_ms=20.0)
    assert analysis.costs[0].basis is CapacityBasis.SEARCHED
    assert capacities_of(analysis) == {"a": 150, "b": 120}
    assert analysis.costs[0].systems[0].system == "a", "the throughputs of the curves would put b first"
    (told,) = (answer_sentence(one, analysis) for one in analysis.answer if one.code == "costs")
    assert "of the capacity, cheapest first: a " in told


def test_without_a_search_the_level_within_the_objective_counts() -> None:
    analysis = curves_and_searches({}, objective_ms=20.0)
    assert analysis.costs[0].basis is CapacityBasis.WITHIN_OBJECTIVE
    assert capacities_of(analysis) == {"a": 200, "b": 240}
    assert not any(system.may_be_higher for system in analysis.costs[0].systems), "a higher level misses the objective"


def test_without_either_the_highest_throughput_counts_and_is_called_so() -> None:
    analysis = curves_and_searches({})
    assert analysis.costs[0].basis is CapacityBasis.SATURATION
    assert capacities_of(analysis) == {"a": 400, "b": 480}
    section = cost_section(analysis)
    assert section is not None
    assert any("It is no capacity" in note for note in section.notes)
    assert section.tables[0].columns[4].heading == "highest throughput, tps"


def test_a_sustained_rate_counts_before_saturation() -> None:
    closed = measured([500.0] * 12, cost_per_month=100.0, connections=8)
    at_rate = measured([300.0] * 12, cost_per_month=100.0)
    level = Level(connections=8, rate_tps=300.0)
    at_rate = replace(at_rate, trial=at_rate.trial.model_copy(update={"trial_id": "r", "level": level}))
    analysis = analyse("s", [closed, at_rate])
    assert analysis.costs[0].basis is CapacityBasis.SUSTAINED_RATE
    assert capacities_of(analysis) == {"a": 300}
    assert analysis.costs[0].systems[0].trials == ("r",)


def test_a_system_that_lacks_what_the_others_are_judged_by_has_no_cost() -> None:
    analysis = curves_and_searches({"a": 150.0, "b": None})
    assert capacities_of(analysis) == {"a": 150}
    assert analysis.costs[0].without_capacity == ("b",)
    (told,) = (answer_sentence(one, analysis) for one in analysis.answer if one.code == "costs")
    assert told.endswith("No cost is known of b, without a searched capacity.")


def test_a_search_that_never_failed_leaves_the_order_open() -> None:
    analysis = curves_and_searches({"a": 150.0, "b": 120.0}, high=None)
    assert analysis.costs[0].undecided == ("",)


def test_small_amounts_keep_their_digits_and_the_same_price_is_said_so() -> None:
    (cost,) = study(("a", 4000, 310, "EUR"), ("b", 4100, 310, "EUR")).costs
    section = cost_section(study(("a", 4000, 310, "EUR"), ("b", 4100, 310, "EUR")))
    assert section is not None
    rows = {row[0].text: row for row in section.tables[0].rows}
    assert [rows[name][5].text for name in ("a", "b")] == ["0.0589 EUR", "0.0575 EUR"]
    assert rows["a"][6].detail == "b sustains more for the same price"
    assert cost.systems[0].system == "b"
