"""Values of workload files that are earlier ones in a share of their draws."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plimsoll.run.server_answers import draw, draw_first
from plimsoll.spec.workload_file import parse_workload
from plimsoll.spec.workloads import StatementsSpec
from support.faults import assert_refused

DRAWS = 1_000

FILE = """
[[transaction]]
name = "t"
values.home = { generate = "integer", from = 1, to = 1000000 }
values.ids = { list = [1, 3], generate = "integer", from = 1, to = 1000000 }
values.others = { list = { items_of = "ids" }, same_as = "ids", same_ratio = 0.9, generate = "digits", length = 9 }
[[transaction.statement]]
sql = "SELECT a FROM t WHERE b = :branch AND id IN (:ids) AND other IN (:others)"
values.branch = { same_as = "home", same_ratio = 0.85, generate = "integer", from = 1, to = 1000000, null_ratio = 0.5 }
"""
BRANCH = "transaction[0].statement[0].values.branch"
OTHERS = "transaction[0].values.others"


def transaction() -> dict[str, Any]:
    (found,) = StatementsSpec(name="x", file="x.toml", text=FILE).line()["transactions"]
    return dict(found)


def test_the_engine_is_told_the_earlier_value_and_the_share() -> None:
    found = transaction()
    home, _, others = found["values"]
    (branch,) = found["statements"][0]["values"]
    assert branch["same"] == {"value": "home", "ratio": 0.85}
    assert branch["source"]["drawn"]["null_ratio"] == 0.5
    assert (others["same"], others["items"]) == ({"value": "ids", "ratio": 0.9}, {"items_of": "ids"})
    assert "same" not in home


def test_draws_are_the_earlier_value_that_often() -> None:
    plan, chance = transaction(), random.Random(1)
    same, lists = 0, 0
    for _ in range(DRAWS):
        known: dict[str, Any] = {}
        draw_first(plan, known, chance)
        draw(plan["statements"][0]["values"], known, chance)
        same += known["branch"] == known["home"]
        lists += known["others"].values == known["ids"].values
        assert len(known["others"].values) == len(known["ids"].values)
    assert (same / DRAWS, lists / DRAWS) == (pytest.approx(0.85, abs=0.05), pytest.approx(0.9, abs=0.05))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('same_as = "home"', 'same_as = "away"', f"{BRANCH}.same_as: there is no value 'away' before it"),
        ('same_as = "home"', 'same_as = "ids"', f"{BRANCH}.same_as: 'ids' is a list; take its items with item_of"),
        ('same_as = "home", ', "", f"{BRANCH}.same_as: needs same_ratio, and that needs same_as"),
        ("same_ratio = 0.85, ", "", f"{BRANCH}.same_as: needs same_ratio, and that needs same_as"),
        ("same_ratio = 0.85", "same_ratio = 1.0", f"{BRANCH}.same_ratio: "),
        ("same_ratio = 0.85", "same_ratio = 0", f"{BRANCH}.same_ratio: "),
        (', generate = "integer", from = 1, to = 1000000, null_ratio = 0.5', "", f"{BRANCH}.generate"),
        ('{ items_of = "ids" }, same', "[1, 3], same", None),
        ('{ items_of = "ids" }, same', "[0, 9], same", f"{OTHERS}.list"),
        ('{ items_of = "ids" }, same', "[2, 9], same", f"{OTHERS}.list: must be able to have as many items as 'ids'"),
        ('same_as = "ids"', 'same_as = "home"', f"{OTHERS}.same_as: there is no list 'home' among the values of the"),
        (
            'same_as = "home", same_ratio = 0.85, generate = "integer", from = 1, to = 1000000, null_ratio = 0.5',
            'same_as = "home", same_ratio = 0.85, sum_of = "home", add = 1',
            f"{BRANCH}.same_as: does not belong to sum_of",
        ),
    ],
)
def test_what_makes_no_sense_is_told(old: str, new: str, fault: str | None) -> None:
    assert old in FILE
    if fault is None:
        parse_workload(FILE.replace(old, new))
        return
    assert_refused(fault, parse_workload, FILE.replace(old, new))
