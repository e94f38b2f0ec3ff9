"""Columns of which nearly each row has a value of its own: made so where an index shows it, and not where none does."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.data_model import LearnedTables, learned_tables
from plimsoll.learn.schema_model import SchemaFacts, TableFacts
from support.learned import column, is_sound

USERS = """
CREATE TABLE `users` (`id` int NOT NULL, PRIMARY KEY (`id`));
CREATE TABLE `profiles` (`id` int NOT NULL, `user_id` int, `town` int, PRIMARY KEY (`id`), KEY `u` (`user_id`),
  KEY `t` (`town`), CONSTRAINT `p` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`));
"""
ORDERS = """
CREATE TABLE `customers` (`shop` int NOT NULL, `id` int NOT NULL, PRIMARY KEY (`shop`, `id`));
CREATE TABLE `orders` (`shop` int NOT NULL, `id` int NOT NULL, `customer` int NOT NULL, PRIMARY KEY (`shop`, `id`),
  KEY `c` (`shop`, `customer`),
  CONSTRAINT `o` FOREIGN KEY (`shop`, `customer`) REFERENCES `customers` (`shop`, `id`));
"""


def known(
    table: TableFacts, rows: int, ends: dict[str, tuple[int, int]], counts: dict[str, tuple[int, ...]]
) -> TableFacts:
    """The table with its rows, the ends of columns, and what is counted of indexes."""
    columns = tuple(
        one.model_copy(
            update={
                "minimum": str(ends[one.name][0]),
                "maximum": str(ends[one.name][1]),
                "distinct_count": ends[one.name][1] - ends[one.name][0] + 1,
            }
        )
        if one.name in ends
        else one
        for one in table.columns
    )
    indexes = tuple(one.model_copy(update={"prefix_counts": counts.get(one.name, ())}) for one in table.indexes)
    return table.model_copy(update={"rows": rows, "rows_are": "exact", "columns": columns, "indexes": indexes})


def named(learned: LearnedTables, name: str) -> dict[str, Any]:
    return next(table for table in learned.tables if table["name"] == name)


@pytest.mark.parametrize(
    ("distinct", "null_ratio", "is_in_turn"),
    [(5000, 0.0, True), (4600, 0.0, True), (3160, 0.0, False), (3160, 0.37, True), (None, 0.0, False)],
)
def test_one_profile_for_each_user(distinct: int | None, null_ratio: float, is_in_turn: bool) -> None:
    """Of 5,000 users random draws for 5,000 rows take 3,161, those for 3,150 rows 2,337."""
    users, profiles = read_create_tables(USERS).tables
    counts = {} if distinct is None else {"u": (distinct,)}
    profiles = known(profiles, 5000, {"user_id": (1, 5000), "town": (1, 5000)}, counts)
    columns = tuple(
        one.model_copy(update={"null_ratio": null_ratio}) if one.name == "user_id" else one for one in profiles.columns
    )
    tables = (known(users, 5000, {"id": (1, 5000)}, {}), profiles.model_copy(update={"columns": columns}))
    learned = learned_tables(SchemaFacts(tables=tables), scale=0.5)
    user = column(named(learned, "profiles"), "user_id")
    if is_in_turn:
        turns = {"generate": "sequence", "start": 1, "each": 1, "cycle": 2500}
        assert {key: user[key] for key in turns} == turns
    else:
        assert user["generate"] == "reference"
    assert user.get("null_ratio", 0.0) == null_ratio
    assert column(named(learned, "profiles"), "town")["generate"] == "integer", "of this nothing is known"
    assert named(learned, "profiles")["foreign_key"], "it still refers to users"
    assert is_sound(learned.tables)


def test_one_order_for_each_customer_of_a_shop() -> None:
    customers, orders = read_create_tables(ORDERS).tables
    tables = (
        known(customers, 2000, {"shop": (1, 20), "id": (1, 100)}, {}),
        known(orders, 2000, {"shop": (1, 20), "id": (1, 100), "customer": (1, 100)}, {"c": (20, 2000)}),
    )
    learned = learned_tables(SchemaFacts(tables=tables), scale=0.5)
    made = column(named(learned, "orders"), "customer")
    assert (made["generate"], made["each"], made["cycle"]) == ("sequence", 1, 50)
    assert named(learned, "orders")["foreign_key"]
    assert is_sound(learned.tables)
