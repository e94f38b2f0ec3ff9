"""Cost per million, the Pareto front, and currencies that are never compared."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from plimsoll.analyse.cost import SECONDS_PER_MONTH
from plimsoll.analyse.cost_model import OnFront
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.size import size
from plimsoll.analyse.study import analyse
from plimsoll.guide.answer import answer_sentence
from plimsoll.guide.cost import cost_section
from plimsoll.guide.size import answer_sentences
from plimsoll.record.price import Price
from unit.analyse.made import measured, published


def study(*systems: tuple[str, float, float | None, str | None]) -> Analysis:
    recordings = [published(tps, system=name, cost_per_month=cost) for name, tps, cost, _ in systems]
    priced = []
    for one, (_, _, cost, currency) in zip(recordings, systems, strict=True):
        price = None if cost is None else Price(per_month=cost, currency=currency)
        system = one.trial.system.model_copy(update={"price": price})
        priced.append(type(one)(one.trial.model_copy(update={"system": system}), one.environment, one.outcome))
    return analyse("s", priced)


def test_a_million_transactions() -> None:
    (cost,) = analyse("s", [measured([100.0] * 12, cost_per_month=SECONDS_PER_MONTH / 1e4)], utilisation=0.5).costs
    assert cost.systems[0].per_million.value == pytest.approx(2.0)  # 100 tps at half: 20,000 s for a million
    assert cost.systems[0].price == Price(per_month=SECONDS_PER_MONTH / 1e4)
    assert cost.systems[0].is_saturation


def test_front() -> None:
    (cost,) = study(
        ("small", 100, 10, None), ("bad", 90, 20, None), ("big", 300, 40, None), ("free", 5, None, None)
    ).costs
    places = {one.system: (one.on_front, one.beaten_by) for one in cost.systems}
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
    assert {one.system: one.on_front for one in cost.systems} == {"a": OnFront.YES, "b": OnFront.UNDECIDED}


def test_currencies_are_never_compared() -> None:
    analysis = study(("here", 100, 10, "EUR"), ("there", 90, 20, "USD"))
    assert [one.on_front for one in analysis.costs[0].systems] == [OnFront.YES, OnFront.YES]
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
            one, trial=one.trial.model_copy(update={"system": one.trial.system.model_copy(update={"price": euros})})
        )
        for one in recordings
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
    said = " ".join((told, *section.sentences))
    assert ("cheapest first: b" in said, "b is the cheapest per" in said) == (decided, decided)
    assert (said.count("Which system is the cheapest is not resolved") == 2) is not decided
