"""Items of lists in workload files: what takes them, what runs as often, and what makes no sense."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.spec.workload_file import parse_workload
from plimsoll.spec.workloads import StatementsSpec
from support.faults import assert_refused

ITEMS = """
[[table]]
name = "articles"
rows = 9
column = [{ name = "id", generate = "sequence" }]
[[transaction]]
name = "t"
loops.lines = { items_of = "ids" }
values.ids = { list = [1, 3], sorted = true, distinct = true, generate = "reference", table = "articles" }
values.names = { list = 2, generate = "letters", length = 3 }
[[transaction.statement]]
sql = "SELECT a FROM t WHERE id IN (:ids)"
[[transaction.statement]]
sql = "UPDATE t SET b = 1 WHERE id = :id"
loop = "lines"
values.id = { item_of = "ids" }
[[transaction.statement]]
sql = "UPDATE t SET c = 1 WHERE id = :id AND name = :name"
loop = "lines"
repeat = { items_of = "names" }
values.name = { item_of = "names" }
[[transaction.statement]]
sql = "INSERT INTO u VALUES (:x, :number)"
rows = { items_of = "ids" }
values.x = { item_of = "ids" }
values.number = { row_number = true }
"""


def transaction_of(text: str) -> dict[str, Any]:
    line = StatementsSpec(name="x", file="x.toml", text=text).line()
    (transaction,) = line["transactions"]
    return dict(transaction)


def test_loops_repetitions_and_rows_take_the_items_of_a_list() -> None:
    transaction = transaction_of(ITEMS)
    ids, names = transaction["values"]
    assert (ids["sorted"], ids["distinct"], set(names)) == (True, True, {"name", "source", "items"})
    assert transaction["loops"] == [{"first": 1, "count": 2, "repeat": {"items_of": "ids"}}]
    _, update, named, insert = transaction["statements"]
    assert update["values"] == [{"name": "id", "source": {"item_of": {"list": "ids"}}}]
    assert named["repeat"] == {"items_of": "names"}
    assert insert["rows"] == {"first": 0, "count": 2, "rows": {"items_of": "ids"}}
    assert insert["variants"] == [f"INSERT INTO u VALUES {', '.join(['(?, ?)'] * rows)}" for rows in (1, 2, 3)]


def test_a_list_may_have_as_many_items_as_one_before_it() -> None:
    transaction = transaction_of(
        ITEMS.replace("list = 2,", "list = { items_of = 'ids' },").replace("id IN (:ids)", "name IN (:names)")
    )
    assert transaction["values"][1]["items"] == {"items_of": "ids"}
    assert len(transaction["statements"][0]["variants"]) == 3


def test_a_list_may_be_there_for_its_items_alone() -> None:
    parse_workload(ITEMS.replace("IN (:ids)", "= 1"))


def test_a_list_is_that_of_the_transaction_whatever_a_statement_calls_so() -> None:
    shadowed = ITEMS.replace(
        'loop = "lines"\nvalues.id =', 'loop = "lines"\nvalues.ids = { item_of = "ids" }\nvalues.id ='
    )
    parse_workload(shadowed.replace("b = 1", "b = :ids"))


def test_items_are_part_of_what_a_workload_is() -> None:
    said = StatementsSpec(name="x", file="x.toml", text=ITEMS).identity()["transaction"][0]
    assert said["loops"] == {"lines": {"items_of": "ids"}}
    assert (said["values"]["ids"]["sorted"], "sorted" in said["values"]["names"]) == (True, False)
    assert said["statement"][3]["rows"] == {"items_of": "ids"}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('lines = { items_of = "ids" }', 'lines = { items_of = "id" }', "transaction[0].loops.lines: there is no list"),
        ('lines = { items_of = "ids" }', "lines = { items_of = 3 }", "transaction[0].loops.lines: items_of must be"),
        ('of = "ids" }\nvalues.ids', 'of = "ids", weights = 1 }\nvalues.ids', "transaction[0].loops.lines: 'weights'"),
        ("list = 2,", "", "transaction[0].statement[2].repeat: there is no list 'names' among the values of the"),
        ("list = 2,", "", "transaction[0].statement[2].values.name.item_of: there is no list 'names' among the values"),
        ("list = 2,", "sorted = true,", "transaction[0].values.names.sorted: belongs to list"),
        ("list = 2,", "list = { items_of = 'ids' },", None),
        ("list = 2,", "list = { items_of = 'names' },", "transaction[0].values.names.list: there is no list 'names'"),
        ("list = [1, 3]", "list = { items_of = 'names' }", "transaction[0].values.ids.list: there is no list 'names'"),
        ('letters", length = 3', 'choice", values = ["a"]', None),
        ('2, generate = "letters", length = 3', '2, distinct = true, generate = "choice", values = ["a"]',
         "transaction[0].values.names.distinct: there are only 1 values for a list of up to 2"),
        ('2, generate = "letters", length = 3', '2, sorted = true, generate = "decimal", from = 1, to = 2',
         "transaction[0].values.names.sorted: does not belong to 'decimal'"),
        ("list = [1, 3]", "list = [1, 10]", "transaction[0].values.ids.distinct: there are only 9 values for a list"),
        ('rows = { items_of = "ids" }', "", "transaction[0].statement[3].values.x.item_of: belongs to a"),
        ('rows = { items_of = "ids" }', 'rows = { items_of = "x" }', "transaction[0].statement[3].rows: there is no"),
        ('loop = "lines"\nvalues.id', "values.id", "transaction[0].statement[1].values.id.item_of: belongs to a"),
        ('{ item_of = "names" }', '{ item_of = "names", add = 1 }', "transaction[0].statement[2].values.name.add: "),
        ('{ item_of = "names" }', '{ item_of = "names", list = 2 }', "transaction[0].statement[2].values.name.list: "),
        ("values.names = { list = 2,", 'values.y = { item_of = "ids" }\nvalues.names = { list = 2,',
         "transaction[0].values.y.item_of: belongs to a statement of a loop, with repeat or with rows"),
    ],
)  # fmt: skip
def test_items_that_make_no_sense_are_told(old: str, new: str, fault: str | None) -> None:
    assert old in ITEMS
    text = ITEMS.replace(old, new)
    if fault is None:
        parse_workload(text)
        return
    assert_refused(fault, parse_workload, text)
