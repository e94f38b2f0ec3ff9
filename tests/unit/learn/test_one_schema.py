"""Tables of one name in several schemas are different tables of the one schema that a workload runs in."""

from __future__ import annotations

import pytest

from plimsoll.learn.names import OwnNames
from plimsoll.learn.schema_model import Catalog, ColumnKey
from plimsoll.learn.statement_facts import StatementFacts, statement_facts
from plimsoll.learn.workload import runnable_sql

A, B, PARTS = ("a", "orders"), ("b", "orders"), ("b", "parts")
CATALOG = Catalog({A: ("id", "state"), B: ("no", "note", "state"), PARTS: ("order_no",)})


def facts(text: str, schema: str) -> StatementFacts:
    found = statement_facts(text, text.count("?"), schema, CATALOG)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        ("a", "select state from orders", "SELECT state FROM orders"),
        ("b", "select state from orders", "SELECT state FROM b_orders"),
        ("", "select state from b.orders", "SELECT state FROM b_orders"),
        ("b", "select orders.state from a.orders", "SELECT orders.state FROM orders"),
        ("a", "select orders.state from b.orders", "SELECT b_orders.state FROM b_orders"),
        ("b", "select b.orders.* from orders", "SELECT b_orders.* FROM b_orders"),
        ("a", "select state from b.orders as orders where orders.no > 1", None),
        (
            "a",
            "select orders.id, b.orders.no from orders join b.orders on a.orders.id = b.orders.no",
            "SELECT orders.id, b_orders.no FROM orders JOIN b_orders ON orders.id = b_orders.no",
        ),
        (
            "b",
            "select o.state from orders o join parts on parts.order_no = o.no",
            "SELECT o.state FROM b_orders AS o JOIN parts ON parts.order_no = o.no",
        ),
        ("b", "insert into orders (no) select id from a.orders", "INSERT INTO b_orders (no) SELECT id FROM orders"),
        ("a", "update b.orders set orders.note = 1", "UPDATE b_orders SET b_orders.note = 1"),
        ("b", "delete from orders where no = 1", "DELETE FROM b_orders WHERE no = 1"),
    ],
)
def test_statements_are_run_on_their_own_table(schema: str, text: str, expected: str | None) -> None:
    as_it_is = "SELECT state FROM b_orders AS orders WHERE orders.no > 1"
    assert runnable_sql(facts(text, schema), {}, OwnNames()) == (expected or as_it_is)


def test_literals_are_of_columns_of_their_own_table() -> None:
    text = "select 1 from orders join b.orders on id = no where a.orders.state = ? and b.orders.state = ? and no = ?"
    expected: tuple[ColumnKey, ...] = ((A, "state"), (B, "state"), (B, "no"))
    assert facts(text, "a").columns == expected
    assert facts("update orders set note = ? where orders.no = ?", "b").columns == ((B, "note"), (B, "no"))


def test_the_one_that_is_meant_must_be_known() -> None:
    assert facts("select state from orders", "").tables == (("", "orders"),)
    assert not CATALOG.knows(("", "orders"))
