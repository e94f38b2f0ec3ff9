"""Foreign keys, prefixes of indexes, NULL and tables without a key: what the engine gets, and what is refused."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.workload_file import parse_workload
from plimsoll.spec.workloads import StatementsSpec
from support.faults import assert_refused

SHOP = """
[[table]]
name = "customers"
rows = 50
column = [
  { name = "id", generate = "sequence", type = "INT UNSIGNED" },
  { name = "email", generate = "text", template = "{row}@example.org" },
  { name = "about", generate = "letters", length = 300, type = "TEXT" },
  { name = "friend", generate = "reference", table = "customers", nullable = true },
]
index = [{ columns = ["about", "id"], lengths = [20, 0] }, { columns = "email", unique = true }]
foreign_key = [{ columns = "friend", table = "customers", on_delete = "set_null" }]

[[table]]
name = "orders"
rows = 200
primary_key = ["customer", "number"]
column = [
  { name = "customer", generate = "sequence", each = 4 },
  { name = "number", generate = "sequence", cycle = 4 },
  { name = "email", generate = "reference", table = "customers", column = "email" },
]

[[table.foreign_key]]
columns = ["customer"]
table = "customers"
on_delete = "cascade"

[[table.foreign_key]]
columns = "email"
table = "customers"
references = ["email"]

[[table]]
name = "log"
rows = 9
primary_key = []
column = [
  { name = "customer", generate = "sequence", each = 4 },
  { name = "number", generate = "integer", from = 1, to = 4 },
]
foreign_key = [{ columns = ["customer", "number"], table = "orders" }]

[[transaction]]
name = "t"
[[transaction.statement]]
sql = "SELECT 1"
"""


def test_the_engine_gets_keys_with_the_columns_that_they_refer_to() -> None:
    customers, orders, log = StatementsSpec(name="x", file="x", text=SHOP).data_line()["tables"]
    assert (customers["indexes"][0]["columns"], customers["indexes"][0]["lengths"]) == (["about", "id"], [20, 0])
    assert "lengths" not in customers["indexes"][1]
    friend = customers["columns"][3]
    assert (friend["nullable"], friend["null_ratio"], friend["sql_type"]) == (True, 0.0, "INT UNSIGNED")
    assert customers["foreign_keys"] == [
        {"name": "fk_customers_1", "columns": ["friend"], "table": "customers", "references": ["id"],
         "on_delete": "set_null"}
    ]  # fmt: skip
    assert [(order["name"], order["references"], order["on_delete"]) for order in orders["foreign_keys"]] == [
        ("fk_orders_1", ["id"], "cascade"),
        ("fk_orders_2", ["email"], "restrict"),
    ]
    assert log["primary_key"] == []
    assert log["foreign_keys"][0]["references"] == ["customer", "number"]


def test_columns_have_the_type_of_those_that_they_refer_to() -> None:
    customers, orders, log = StatementsSpec(name="x", file="x", text=SHOP).data_line()["tables"]
    types = {f"{t['name']}.{c['name']}": c["sql_type"] for t in (customers, orders, log) for c in t["columns"]}
    assert types["orders.customer"] == types["log.customer"] == "INT UNSIGNED"
    assert types["orders.email"] == types["customers.email"] == "VARCHAR(22)"


CIRCLE = """
[[table]]
name = "a"
rows = 5
column = [{ name = "x", generate = "sequence" }]
foreign_key = [{ columns = "x", table = "b" }]
[[table]]
name = "b"
rows = 5
column = [{ name = "y", generate = "sequence" }]
foreign_key = [{ columns = "y", table = "a" }]
[[transaction]]
name = "t"
statement = [{ sql = "SELECT 1" }]
"""


def test_types_that_follow_from_each_other_have_an_end() -> None:
    tables = StatementsSpec(name="x", file="x", text=CIRCLE).data_line()["tables"]
    assert [table["columns"][0]["sql_type"] for table in tables] == ["BIGINT", "BIGINT"]


def test_what_is_not_given_is_no_part_of_an_identity() -> None:
    text = '[[table]]\nname = "t"\nrows = 5\ncolumn = [{ name = "c", generate = "sequence" }]\n'
    text += 'index = [{ columns = "c" }]\n[[transaction]]\nname = "t"\n[[transaction.statement]]\nsql = "SELECT 1"\n'
    one = StatementsSpec(name="x", file="x", text=text)
    (said,) = one.identity()["table"]
    assert said.keys() == {"name", "rows", "primary_key", "column", "index"}
    assert "nullable" not in said["column"][0]
    assert said["index"] == [{"columns": ["c"], "unique": False, "name": None}]
    (made,) = one.data_line()["tables"]
    assert made.keys() == {"name", "rows", "primary_key", "columns", "indexes"}


def test_long_names_of_tables_give_short_names_of_constraints() -> None:
    text = SHOP.replace('"orders"', f'"{"o" * 63}"')
    names = [key["name"] for table in StatementsSpec(name="x", file="x", text=text).data_line()["tables"]
             for key in table["foreign_keys"]]  # fmt: skip
    assert all(len(name) <= 64 for name in names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('["customer"]\ntable = "customers"', '["customer"]\ntable = "clients"',
         "table[1].foreign_key[0].table: there is no table 'clients'; known are customers, orders, log"),
        ('columns = ["customer"]', 'columns = ["client"]', "table[1].foreign_key[0].columns: there is no column"),
        ('references = ["email"]', 'references = ["mail"]',
         "table[1].foreign_key[1].references: there is no column 'mail' in 'customers'"),
        ('references = ["email"]', 'references = ["email", "id"]',
         "table[1].foreign_key[1].references: 'customers' is referred to by email, id, and from here by email; there"),
        ('references = ["email"]', 'references = ["about"]',
         "table[1].foreign_key[1].references: about must be the primary key of 'customers', or all columns"),
        ('columns = "email", unique = true', 'columns = "email", unique = true, lengths = [5]',
         "table[1].foreign_key[1].references: email must be the primary key"),
        ('columns = ["customer", "number"], table = "orders"', 'columns = ["customer"], table = "log"',
         "table[2].foreign_key[0].references: is missing; 'log' has no primary key"),
        (', nullable = true', "", "table[0].foreign_key[0].on_delete: 'set_null' needs columns that take NULL: write"),
        ('on_delete = "cascade"', 'on_delete = "delete"', "table[1].foreign_key[0].on_delete: must be one of"),
        ('generate = "sequence", each = 4 },\n  { name = "number", generate = "sequence"',
         'generate = "sequence", each = 4, type = "INT" },\n  { name = "number", generate = "sequence"',
         "table[1].foreign_key[0].columns: customer is INT, and id of 'customers' is INT UNSIGNED; give both"),
        ("lengths = [20, 0]", "lengths = [20]", "table[0].index[0].lengths: must be one for each of the 2 columns"),
        ("lengths = [20, 0]", "lengths = [20, 3]", "table[0].index[0].lengths: 3 is for texts, and id is INT UNSIGNED"),
        ("lengths = [20, 0]", "lengths = [-1, 0]", "table[0].index[0].lengths[0]: must be >= 0, is -1"),
        ('generate = "sequence", type = "INT UNSIGNED"', 'generate = "sequence", nullable = true',
         "table[0].column[0].nullable: is true, but the column belongs to the primary key"),
        ('cycle = 4 }', 'cycle = 4, auto_increment = true }', "table[1].column[1].auto_increment: belongs to a rising"),
        ("on_delete =", "on_remove =", "table[0].foreign_key[0].on_remove: is not a known key; known are columns, "),
    ],
)  # fmt: skip
def test_faults_name_path_value_and_cure(old: str, new: str, fault: str) -> None:
    assert old in SHOP
    assert_refused(fault, parse_workload, SHOP.replace(old, new))


def test_a_column_that_counts_itself_needs_a_key_to_be_first_in() -> None:
    with pytest.raises(SpecError, match=r"table\[2\]\.column\[0\]\.auto_increment: belongs to a rising sequence"):
        parse_workload(SHOP.replace('each = 4 },\n  { name = "number", generate = "integer"',
                                    'auto_increment = true },\n  { name = "number", generate = "integer"'))  # fmt: skip
