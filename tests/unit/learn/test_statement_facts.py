"""What statements do to which tables, and how they are written again."""

from __future__ import annotations

import pytest

from plimsoll.learn.names import OwnNames, Pseudonyms
from plimsoll.learn.schema_model import Catalog, ColumnKey
from plimsoll.learn.statement_facts import Selected, StatementFacts, statement_facts, tables_in
from plimsoll.learn.workload import Written, runnable_sql

ORDERS, LINES = ("shop", "orders"), ("shop", "lines")
CATALOG = Catalog({ORDERS: ("Id", "Customer", "State"), LINES: ("order_id", "line", "State")})


def facts(text: str, schema: str = "shop", catalog: Catalog = CATALOG) -> StatementFacts:
    found = statement_facts(text, text.count("?") + text.count("..."), schema, catalog)
    assert found is not None, text
    return found


def columns(text: str) -> list[str | None]:
    """Of its literals, as table.column."""
    return [None if column is None else f"{column[0][1]}.{column[1]}" for column in facts(text).columns]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select state from orders where id = ?", ["orders.id"]),
        ("select o.state from orders o join lines as l on l.order_id = o.id where o.state = ?", ["orders.state"]),
        ("select line from orders, lines where id = ? and line = ?", ["orders.id", "lines.line"]),
        ("select line from orders, lines where state = ?", [None]),  # both have it
        ("select line from orders, lines where x.state = ? and unknown = ?", [None, None]),
        ("select State from Orders where ID in (...) limit ?", ["orders.id", None]),
        ("select id from other.orders where id = ?", ["orders.id"]),
        (
            "update orders set state = ?, customer = customer + ? where id = ?",
            [f"orders.{c}" for c in ("state", "customer", "id")],
        ),
        ("delete from lines where (order_id, line) = (?, ?)", ["lines.order_id", "lines.line"]),
        ("insert into orders (id, state) values (?, ?)", ["orders.id", "orders.state"]),
        ("insert into orders values (?, ?, ?)", ["orders.id", "orders.customer", "orders.state"]),
        ("insert into orders values (?, now(), ?)", ["orders.id", "orders.state"]),
        ("insert into orders values (?, ?)", [None, None]),  # another number of columns
        (
            "insert into orders (id, state) values (?, ?) on duplicate key update state = ?",
            ["orders.id", "orders.state", "orders.state"],
        ),
        ("with q as (select id from orders where id = ?) select id from q", ["orders.id"]),
        ("select id from orders where id = (select order_id from lines where line = ?)", ["lines.line"]),
    ],
)
def test_whose_value_a_literal_is(text: str, expected: list[str | None]) -> None:
    assert columns(text) == expected


def test_an_insert_knows_its_table_and_its_columns() -> None:
    named = facts("insert into shop.orders (id, State) values (?, ?)")
    assert (named.inserts_into, named.inserted) == (ORDERS, ("id", "state"))
    assert facts("insert into orders values (?, ?, ?)").inserted == ("id", "customer", "state")
    assert facts("insert into orders set id = ?, state = ?").inserted == ("id", "state")
    assert facts("insert into lines select id, ?, state from orders where id = ?").inserts_into == LINES
    assert facts("select id from orders").inserts_into is None


def test_columns_of_a_result_under_their_names() -> None:
    found = facts("select o.id, state as s, count(*), o.customer + ? from orders o")
    assert found.selected == (Selected((ORDERS, "id"), "id"), Selected((ORDERS, "state"), "s"))


def test_what_is_added_to_columns() -> None:
    found = facts("update orders set customer = customer + ?, state = id - ?, id = id - ? where id = ?")
    expected: set[ColumnKey] = {(ORDERS, "customer"), (ORDERS, "id")}
    assert found.added == expected


def test_tables_that_a_statement_names() -> None:
    assert tables_in("select 1 from orders join other.lines", "shop") == {("shop", "orders"), ("other", "lines")}
    assert tables_in("with q as (select id from orders) select id from q", "shop") == {("shop", "orders")}
    assert tables_in("call x(?)", "shop") == tables_in("select from where", "shop") == set()
    assert facts("select o.id from orders o join orders p on o.id = p.customer").tables == (ORDERS,)


@pytest.mark.parametrize("text", ["select from where", "call x(?)", "load data infile ? into table t"])
def test_what_cannot_be_parsed(text: str) -> None:
    assert statement_facts(text, 1, "shop", CATALOG) is None


def written(text: str, **values: Written) -> str:
    """With own names; `p0=…` says what stands for the first literal."""
    return runnable_sql(facts(text), {int(name[1:]): value for name, value in values.items()}, OwnNames())


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("select id from orders where id = ?", {"p0": "v1"}, "SELECT id FROM orders WHERE id = :v1"),
        ("select id from orders where id in (...)", {"p0": "v1"}, "SELECT id FROM orders WHERE id IN (:v1)"),
        (
            "select id from shop.orders where shop.orders.id = ?",
            {"p0": "v"},
            "SELECT id FROM orders WHERE orders.id = :v",
        ),
        ("select id from orders limit ?, ?", {"p0": 5, "p1": "n"}, "SELECT id FROM orders LIMIT :n OFFSET 5"),
        (
            "update orders set state = ? where id = ?",
            {"p0": None, "p1": -3},
            "UPDATE orders SET state = NULL WHERE id = -3",
        ),
        (
            "select id from orders where id = ? for update",
            {"p0": 1.5},
            "SELECT id FROM orders WHERE id = 1.5 FOR UPDATE",
        ),
        ("select id from orders lock in share mode", {}, "SELECT id FROM orders LOCK IN SHARE MODE"),
        ("select id from orders for share", {}, "SELECT id FROM orders LOCK IN SHARE MODE"),
        ("select id from orders for share skip locked", {}, "SELECT id FROM orders FOR SHARE SKIP LOCKED"),
        ("select id from orders for update nowait", {}, "SELECT id FROM orders FOR UPDATE NOWAIT"),
        ("select id from orders where state regexp ?", {"p0": "v"}, "SELECT id FROM orders WHERE state REGEXP :v"),
        (
            "select id from orders where not state rlike ?",
            {"p0": "v"},
            "SELECT id FROM orders WHERE NOT state REGEXP :v",
        ),
        (
            "insert into orders values (?, ?, ?)",
            {"p0": "a", "p1": 2, "p2": None},
            "INSERT INTO orders (`id`, `customer`, `state`) VALUES (:a, 2, NULL)",
        ),
    ],
)
def test_statements_are_written_for_both_servers(text: str, values: dict[str, Written], expected: str) -> None:
    assert written(text, **values) == expected


def test_one_row_stands_for_all_of_an_insert() -> None:
    found = facts("insert into orders (id, state) values (...)")
    row: list[tuple[str, Written]] = [("id", "v1"), ("state", 7)]
    assert runnable_sql(found, {}, OwnNames(), row=row) == "INSERT INTO orders (id, state) VALUES (:v1, 7)"
    changed = facts("insert into orders (id, state) values (...) on duplicate key update state = values(state)")
    text = "INSERT INTO t1 (c1, c2) VALUES (:v1, 7) ON DUPLICATE KEY UPDATE c2 = VALUES(c2)"
    names = Pseudonyms()
    assert [names.of("t", "orders"), names.of("c", "id"), names.of("c", "state")] == ["t1", "c1", "c2"]
    assert runnable_sql(changed, {}, names, row=row) == text


def test_columns_that_need_a_value_are_added() -> None:
    found = facts("insert into orders (id) values (?)")
    more: list[tuple[str, Written]] = [("state", "d1"), ("my customer", 0)]
    text = runnable_sql(found, {0: "v1"}, OwnNames(), more=more)
    assert text == "INSERT INTO orders (id, state, `my customer`) VALUES (:v1, :d1, 0)"
    selected = facts("insert into lines select id, ?, state from orders")
    assert "d1" not in runnable_sql(selected, {0: 1}, OwnNames(), more=[("state", "d1")])


def test_the_facts_stay_as_they_are() -> None:
    found = facts("update orders set state = ? where id = ?")
    before = found.tree.sql("mysql")
    runnable_sql(found, {0: "a", 1: "b"}, Pseudonyms())
    assert found.tree.sql("mysql") == before
