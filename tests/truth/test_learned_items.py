"""Loops, rows and lists of worlds that are known: what takes its values from a list is found, and nothing else is.

Most transactions of these worlds are small, and their values few, so that much is equal by chance.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.item_relations import ItemRelations, item_relations
from plimsoll.learn.learned_load import learned, summary_of
from plimsoll.learn.relations import Observed, Place, relations_of
from plimsoll.learn.transactions import Loop, Structure
from plimsoll.spec.workload_file import parse_workload
from support.endure import draws, in_endure
from support.logged import Logged, write_statements

SCHEMA = """
CREATE TABLE item (i_id int NOT NULL, price int NOT NULL, PRIMARY KEY (i_id));
CREATE TABLE stock (w_id int NOT NULL, i_id int NOT NULL, quantity int NOT NULL, PRIMARY KEY (i_id, w_id));
CREATE TABLE line (o_id int NOT NULL, number int NOT NULL, i_id int NOT NULL, PRIMARY KEY (o_id, number));
CREATE TABLE district (d_id int NOT NULL, ytd int NOT NULL, PRIMARY KEY (d_id));
"""
ITEMS, DISTRICTS = 5_000, 10

World = dict[Place, Observed]
STRUCTURE = Structure((1, 2, 3, 4), (Loop(1, 3),))
LIST, FIRST, SECOND, ROWS = Place(0, 0), Place(1, 0), Place(2, 0), Place(3, 0, 0)


def transaction_of(folder: Path, made: list[list[Logged]]) -> dict[str, Any]:
    found = learned(summary_of(write_statements(folder, made)), read_create_tables(SCHEMA, "s"), keep_names=True)
    assert found.workload is not None
    parse_workload(found.workload)
    transaction: dict[str, Any] = tomllib.loads(found.workload)["transaction"][0]
    return transaction


def new_order(chance: random.Random, order: int, *, is_sorted: bool) -> list[Logged]:
    """Looks items up by a list, which is filled up to 15; then locks and changes their stocks; then inserts lines."""
    items = [chance.randint(1, ITEMS) for _ in range(chance.randint(5, 15))]
    items = sorted(items) if is_sorted else items
    padded: list[Any] = items + items[-1:] * (15 - len(items))
    found = [Logged("select price from item where i_id in (...)", "select", (padded,))]
    for item in items:
        found += [
            Logged("select quantity from stock where i_id = ? and w_id = ? for update", "select_locking", (item, 1)),
            Logged("update stock set quantity = ? where i_id = ? and w_id = ?", "update", (5, item, 1)),
        ]
    rows: list[Any] = [value for number, item in enumerate(items, 1) for value in (order, number, item)]
    found.append(Logged("insert into line (o_id, number, i_id) values (...)", "insert", (rows,), rows_count=len(items)))
    return found


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("other", [in_endure(0.0), 0.02])
def test_a_loop_over_the_items_of_a_list(tmp_path: Path, other: float, is_sorted: bool) -> None:
    """Also where one of fifty transactions goes through its items in another order."""
    chance = random.Random(4)
    made = []
    for order in range(400):
        one = new_order(chance, order, is_sorted=is_sorted)
        if chance.random() < other:
            one[1:-1] = [each for at in range(len(one) - 3, 0, -2) for each in one[at : at + 2]]
        made.append(one)
    found = transaction_of(tmp_path, made)
    (name, articles), *others = found["values"].items()
    assert (articles["generate"], articles["table"]) == ("reference", "item")
    assert articles.get("sorted", False) is is_sorted
    assert set(articles["list"]["counts"]) == set(range(5, 16))
    assert not [other for other in others if "item" in other]
    assert list(found["loops"].values()) == [{"items_of": name}]
    looked_up, locked, changed, inserted = found["statement"]
    assert f"IN (:{name})" in looked_up["sql"]
    assert "values" not in looked_up
    (item,) = (one for one, value in locked["values"].items() if value == {"item_of": name})
    assert f":{item}" in locked["sql"]
    assert f":{item}" in changed["sql"], "the same item in one round"
    assert inserted["rows"] == {"items_of": name}
    assert {"item_of": name} in inserted["values"].values()


def test_a_loop_over_sorted_items_that_no_statement_lists(tmp_path: Path) -> None:
    """Items are locked one by one in their order. Nothing tells them before, so the loop has a list of its own."""
    chance = random.Random(4)
    made = [new_order(chance, order, is_sorted=True)[1:] for order in range(400)]
    found = transaction_of(tmp_path, made)
    ((name, items),) = ((name, one) for name, one in found["values"].items() if "list" in one)
    assert (items["sorted"], items["table"], items["column"]) == (True, "stock", "i_id")
    assert list(found["loops"].values()) == [{"items_of": name}]
    assert found["statement"][-1]["rows"] == {"items_of": name}
    assert {"item_of": name} in found["statement"][-1]["values"].values()


def test_a_loop_through_all_districts(tmp_path: Path) -> None:
    """All ten in their order, and what is paid is the same for all."""
    chance, made = random.Random(4), []
    for _ in range(200):
        paid = chance.randint(1, 5_000)
        text = "update district set ytd = ytd + ? where d_id = ?"
        made.append([Logged(text, "update", (paid, district)) for district in range(1, DISTRICTS + 1)])
    found = transaction_of(tmp_path, made)
    (name, districts), (paid_name, paid) = sorted(found["values"].items(), key=lambda item: "list" not in item[1])
    assert (districts["list"], districts["sorted"]) == (DISTRICTS, True)
    assert (paid["generate"], f":{paid_name}" in found["statement"][0]["sql"]) == ("integer", True)
    assert found["statement"][0]["repeat"] == {"items_of": name}


def found_in(worlds: list[World]) -> ItemRelations:
    lists = frozenset({LIST})
    known = relations_of(STRUCTURE, worlds, lists)
    return item_relations(STRUCTURE, worlds, lists, known=known)


def world(chance: random.Random, draw: Callable[[], int]) -> World:
    """A list, a loop of two statements and an INSERT of rows: mostly short ones, and each value by itself."""

    def some() -> list[tuple[str, int | str]]:
        return [("int", draw()) for _ in range(chance.choice((1, 1, 2, 2, 3, 5)))]

    rounds = len(some())
    loops: World = {place: {(at,): some()[:1] for at in range(rounds)} for place in (FIRST, SECOND)}
    return {LIST: {(): some()}, **loops, ROWS: {(): some()}}


@pytest.mark.parametrize("most", [0.95, 0.88, 0.7, 0.5])
@pytest.mark.parametrize("count", [20, 50, 200])
def test_unrelated_values_of_which_there_are_few(most: float, count: int) -> None:
    """Each value is 1 with that probability and else 2. Measured: none related in 2,400 such worlds."""
    found = 0
    for seed in range(draws(8, 20)):
        chance = random.Random(f"{seed} {most} {count}")
        draw = lambda chance=chance: 1 if chance.random() < most else 2  # noqa: E731
        found += bool(found_in([world(chance, draw) for _ in range(count)]).relations)
    assert found == 0


@pytest.mark.parametrize("exponent", [0.0, 0.8, 1.2])
@pytest.mark.parametrize("size", [10, 1_000])
def test_unrelated_values_some_of_which_are_hot(exponent: float, size: int) -> None:
    """Measured: none related in 1,200 such worlds."""
    weights, found = [rank**-exponent for rank in range(1, size + 1)], 0
    for seed in range(draws(8, 20)):
        chance = random.Random(f"{seed} {size} {exponent}")
        draw = lambda chance=chance: chance.choices(range(size), weights)[0]  # noqa: E731
        found += bool(found_in([world(chance, draw) for _ in range(50)]).relations)
    assert found == 0


def test_a_loop_that_hardly_ever_runs_twice_tells_nothing_of_an_order() -> None:
    """Of 200 transactions, 19 have a second round: one less than is needed. Its value is the second item."""

    def made(number: int, several: int) -> World:
        items: list[tuple[str, int | str]] = [("int", number % 97), ("int", 100 + number % 89)]
        rounds = 2 if number < several else 1
        return {LIST: {(): items}, FIRST: {(at,): [items[at]] for at in range(rounds)}}

    def of(several: int) -> ItemRelations:
        return item_relations(STRUCTURE, [made(number, several) for number in range(200)], {LIST}, known=())

    assert of(19) == ItemRelations()
    assert of(20).relations[FIRST].of == LIST


def test_lists_that_are_there_again_and_values_of_all_rounds() -> None:
    chance, again = random.Random(5), Place(1, 1)

    def made() -> World:
        items: list[tuple[str, int | str]] = [("int", chance.randint(1, 500)) for _ in range(chance.randint(1, 4))]
        day: tuple[str, int | str] = ("text", f"{chance.randint(1, 30)}")
        return {
            LIST: {(): items},
            again: {(at,): [*items[::-1], items[0]] for at in range(3)},
            SECOND: {(at,): [day] for at in range(3)},
        }

    found = item_relations(STRUCTURE, [made() for _ in range(100)], {LIST, again}, known=())
    assert {place: (relation.kind, relation.of) for place, relation in found.relations.items()} == {
        again: ("same", LIST),
        SECOND: ("once", None),
    }


def at_two_warehouses(chance: random.Random) -> list[Logged]:
    """Stocks are locked by one statement for each warehouse; nine of ten orders need only their own."""
    home = chance.randint(1, 4)
    items = chance.sample(range(1, ITEMS + 1), chance.randint(5, 15))
    away = chance.randint(1, 4) if chance.random() < 0.1 else home
    lines = [(home, items)] if away == home else [(home, items[:-1]), (away, items[-1:])]
    sql = "select quantity from stock where w_id = ? and i_id in (...) for update"
    return [
        Logged("select ytd from district where d_id = ?", "select", (home,)),
        Logged("select price from item where i_id in (...)", "select", (items,)),
        *(Logged(sql, "select_locking", (warehouse, list(each))) for warehouse, each in lines),
    ]


def test_a_list_that_mostly_is_an_earlier_one(tmp_path: Path) -> None:
    chance = random.Random(6)
    found = transaction_of(tmp_path, [at_two_warehouses(chance) for _ in range(600)])
    _, articles, locked = found["statement"]
    stock = locked["values"]["v3_2"]
    items = found["values"][stock["same_as"]]
    assert f"IN (:{stock['same_as']})" in articles["sql"]
    assert stock["same_ratio"] == pytest.approx(0.86, abs=0.04)
    own = {number for number, weight in zip(stock["list"]["counts"], stock["list"]["weights"], strict=True) if weight}
    assert {1, 4, 14} <= own <= {1, *range(4, 15)}
    assert set(items["list"]["counts"]) <= set(stock["list"]["counts"])


def test_a_warehouse_that_mostly_is_the_own_one(tmp_path: Path) -> None:
    def payment(chance: random.Random) -> list[Logged]:
        home = chance.randint(1, 10)
        other = home if chance.random() < 0.85 else chance.randint(1, 10)
        return [
            Logged("update district set ytd = ytd + ? where d_id = ?", "update", (chance.randint(1, 5000), home)),
            Logged("select quantity from stock where w_id = ?", "select", (other,)),
        ]

    chance = random.Random(8)
    found = transaction_of(tmp_path, [payment(chance) for _ in range(600)])
    paid, looked_up = found["statement"]
    (value,) = looked_up["values"].values()
    assert value["same_as"] in paid["values"]
    assert f"d_id = :{value['same_as']}" in paid["sql"]
    assert value["same_ratio"] == pytest.approx(0.85, abs=0.05)
    assert "same_as" not in str(paid["values"])
