"""Tables are found by what statements call them, and get names that differ in one schema."""

from __future__ import annotations

from plimsoll.learn.schema_model import Catalog, other_names


def test_a_table_without_schema_is_the_only_one_of_its_name() -> None:
    two = Catalog({("a", "t"): ("x",), ("b", "t"): ("x",), ("", "u"): ("x",)})
    assert two.table("A", "T") == ("a", "t")
    assert two.table("", "t") == ("", "t")
    assert not two.knows(two.table("", "t"))
    assert two.table("any", "u") == ("", "u")
    assert two.table("", "u") == ("", "u")


def test_the_first_of_several_tables_keeps_the_name() -> None:
    tables = [("b", "orders"), ("a", "orders"), ("c", "orders"), ("b", "lines")]
    assert other_names(tables) == {("b", "orders"): "b_orders", ("c", "orders"): "c_orders"}
    assert Catalog(dict.fromkeys(tables, ("id",))).other_names == other_names(reversed(tables))


def test_no_made_name_is_that_of_another_table() -> None:
    tables = [("a", "orders"), ("b", "orders"), ("c", "b_orders"), ("b_b", "orders"), ("b", "b_orders")]
    found = other_names(tables)
    names = [found.get(table, table[1]) for table in tables]
    assert len(set(names)) == len(names)
    assert found["b", "orders"] == "b_orders_2"


def test_names_are_no_longer_than_servers_take() -> None:
    schemas, name = [f"{letter * 40}" for letter in "abc"], "x" * 60
    found = other_names([*((schema, name) for schema in schemas), ("b", "y"), ("c" * 40, "y")])
    assert all(len(one) <= 64 for one in found.values())
    assert len(set(found.values())) == len(found) == 3
