"""Which values are assumed to come out of a row that was read before."""

from __future__ import annotations

import pytest

from plimsoll.learn.key_counters import RowRead, rows_read
from plimsoll.learn.relations import Place, Relation
from plimsoll.learn.statement_facts import Catalog, ColumnKey, StatementFacts, statement_facts
from plimsoll.learn.transactions import Loop, Structure

CATALOG = Catalog({("s", "orders"): ("id", "customer", "state"), ("s", "customers"): ("id", "name", "rank")})
REFERENCES: dict[ColumnKey, ColumnKey] = {(("s", "orders"), "customer"): (("s", "customers"), "id")}


def facts(text: str) -> StatementFacts:
    found = statement_facts(text, text.count("?") + text.count("..."), "s", CATALOG)
    assert found is not None
    return found


def read(
    *texts: str | None,
    one_row: frozenset[int] = frozenset({0, 1, 2}),
    relations: dict[Place, Relation] | None = None,
    loops: tuple[Loop, ...] = (),
) -> dict[Place, RowRead]:
    statements = [None if text is None else facts(text) for text in texts]
    return rows_read(Structure(tuple(range(len(texts))), loops), statements, relations or {}, REFERENCES, one_row)


NEXT = "select id, customer from orders where state = ? limit ? for update"


def test_the_key_of_a_row_that_was_read() -> None:
    assert read(NEXT, "delete from orders where id = ?") == {Place(1, 0): RowRead(0, "id")}


def test_under_the_name_that_the_result_gives_it() -> None:
    assert read("select o.id as it from orders as o where o.state = ?", "update orders set state = ? where id = ?") == {
        Place(1, 1): RowRead(0, "it")
    }


def test_a_column_that_refers_to_the_one_of_the_value() -> None:
    assert read(NEXT, "select name from customers where id = ?") == {Place(1, 0): RowRead(0, "customer")}


def test_the_latest_row_counts() -> None:
    found = read(NEXT, "select id from orders where state = ?", "delete from orders where id = ?")
    assert found == {Place(2, 0): RowRead(1, "id")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (NEXT, "delete from orders where id in (...)"),  # a list is none of one row
        (NEXT, "select state from orders limit ?"),
        (NEXT, "update customers set rank = rank + ?"),
        (NEXT, "delete from customers where rank = ?"),  # not read
        ("select max(id) from orders where state = ?", "delete from orders where id = ?"),  # no column of a table
        ("update orders set state = ? where id = ?", "delete from orders where id = ?"),  # gives no rows
    ],
)
def test_what_is_not_read(first: str, second: str) -> None:
    assert read(first, second) == {}


def test_a_value_of_the_statement_itself_or_of_a_later_one_is_not_read() -> None:
    assert read("select id from orders where id = ?") == {}
    assert read("delete from orders where id = ?", NEXT) == {}


def test_results_of_many_rows_are_not_read() -> None:
    assert read(NEXT, "delete from orders where id = ?", one_row=frozenset()) == {}


def test_what_follows_from_other_values_needs_no_row() -> None:
    relations = {Place(1, 0): Relation("same", Place(0, 0))}
    assert read(NEXT, "delete from orders where id = ?", relations=relations) == {}


def test_rows_of_a_loop_are_known_in_its_round_only() -> None:
    delete = "delete from orders where id = ?"
    assert read(NEXT, delete, loops=(Loop(0, 2),)) == {Place(1, 0): RowRead(0, "id")}
    assert read(NEXT, delete, loops=(Loop(0, 1),)) == {}
    assert read(NEXT, delete, loops=(Loop(1, 2),)) == {Place(1, 0): RowRead(0, "id")}


def test_statements_that_are_not_known_are_passed_over() -> None:
    assert read(NEXT, None, "delete from orders where id = ?") == {Place(2, 0): RowRead(0, "id")}
