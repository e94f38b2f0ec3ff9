"""Tables of workload files: keys made of sequences, references to columns, and what of them cannot be made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plimsoll.spec.workload_file import parse_workload
from plimsoll.spec.workloads import StatementsSpec
from support.faults import assert_refused, faults_of

CUSTOMERS = """
[[table]]
name = "customers"
rows = 60_000
primary_key = ["w_id", "d_id", "c_id"]
column = [
  { name = "w_id", generate = "sequence", each = 30_000, type = "INT" },
  { name = "d_id", generate = "sequence", each = 3_000, cycle = 10 },
  { name = "c_id", generate = "sequence", start = 100, step = 5, cycle = 3_000 },
  { name = "email", generate = "text", template = "it{{s}}-{row}@example.org", type = "VARCHAR(80)" },
  { name = "name", generate = "letters", length = 8 },
]
index = [{ columns = "email", unique = true }]

[[table]]
name = "visits"
rows = 10
column = [
  { name = "id", generate = "sequence" },
  { name = "district", generate = "reference", table = "customers", column = "d_id" },
  { name = "email", generate = "reference", table = "customers", column = "email" },
]

[[transaction]]
name = "look"
[[transaction.statement]]
sql = "SELECT 1 FROM customers WHERE email = :email AND c_id = :c"
values.email = { generate = "reference", table = "customers", column = "email", distribution = "zipfian" }
values.c = { generate = "reference", table = "customers", column = "c_id" }
"""


def spec(text: str = CUSTOMERS, **changes: Any) -> StatementsSpec:
    return StatementsSpec(name="x", file="x.toml", text=text, **changes)


def changed(old: str, new: str) -> str:
    assert old in CUSTOMERS
    return CUSTOMERS.replace(old, new)


def test_keys_of_several_sequences_reach_the_engine() -> None:
    customers, _ = spec().data_line()["tables"]
    made = [column["generator"] for column in customers["columns"][:3]]
    assert made == [
        {"kind": "sequence", "first": 1, "step": 1, "each": 30_000},
        {"kind": "sequence", "first": 1, "step": 1, "each": 3_000, "cycle": 10},
        {"kind": "sequence", "first": 100, "step": 5, "cycle": 3_000},
    ]


def test_what_is_not_given_changes_no_identity() -> None:
    text = '[[table]]\nname = "t"\nrows = 5\ncolumn = [{ name = "c", generate = "sequence" }]\n'
    text += '[[transaction]]\nname = "t"\n[[transaction.statement]]\nsql = "SELECT 1"\n'
    (table,) = spec(text).identity()["table"]
    assert not {"each", "cycle", "column"} & table["column"][0].keys()
    (made,) = spec(text.replace('sequence"', 'sequence", each = 1')).data_line()["tables"]
    assert made == spec(text).data_line()["tables"][0]
    assert "cycle" in json.dumps(spec(text.replace('sequence"', 'sequence", cycle = 5')).identity())


def test_references_choose_from_the_different_values_of_a_column() -> None:
    _, visits = spec().data_line()["tables"]
    _, district, email = visits["columns"]
    uniform = {"kind": "uniform"}
    numbers = {"kind": "integer", "first": 1, "step": 1, "count": 10, "distribution": uniform}
    assert (district["sql_type"], district["generator"]) == ("BIGINT", numbers)
    parts = [
        {"text": "it{s}-"},
        {"generated": {**numbers, "count": 60_000}},
        {"text": "@example.org"},
    ]
    assert (email["sql_type"], email["generator"]) == ("VARCHAR(80)", {"kind": "template", "parts": parts})
    values = spec().line()["transactions"][0]["statements"][0]["values"]
    email, customer = (value["source"]["drawn"]["generator"] for value in values)
    assert email["parts"][1]["generated"]["distribution"] == {"kind": "zipfian", "exponent": 0.8}
    assert (customer["first"], customer["step"], customer["count"]) == (100, 5, 3_000)


def test_the_type_of_a_referring_column_holds_the_text() -> None:
    _, visits = spec(CUSTOMERS.replace(', type = "VARCHAR(80)"', "")).data_line()["tables"]
    assert visits["columns"][2]["sql_type"] == "VARCHAR(28)"


def test_fewer_rows_have_fewer_different_values() -> None:
    _, visits = spec(rows={"customers": 7_000}).data_line()["tables"]
    assert visits["columns"][1]["generator"]["count"] == 3


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("each = 30_000", "each = 0", "table[0].column[0].each: must be >= 1, is 0"),
        ("each = 30_000", "cycle = -1", "table[0].column[0].cycle: must be >= 1, is -1"),
        ('"letters", length', '"letters", cycle = 3, length', "table[0].column[4].cycle: does not belong to 'letters'"),
        ("each = 30_000", "each = 30_000, auto_increment = true", "table[0].column[0].auto_increment: belongs to a"),
        ("each = 30_000", "cycle = 1, each = 30_000",
         "table[0].primary_key: w_id, d_id, c_id have at most 30000 combinations of values, so 60000 rows cannot"),
        ("each = 30_000", "each = 30_000, cycle = 3, start = 9223372036854775807", "table[0].column[0].step: leads to"),
        ('primary_key = ["w_id", "d_id", "c_id"]', 'primary_key = ["w_id", "d_id"]',
         "table[0].primary_key: w_id, d_id have at most 20 combinations"),
        ('columns = "email"', 'columns = ["d_id", "c_id"]', "table[0].index[0].columns: d_id, c_id have at most 30000"),
        ('table = "customers", column = "d_id"', 'table = "customers", column = "x"',
         "table[1].column[1].column: there is no column 'x' in 'customers'; known are w_id, d_id, c_id, email, name"),
        ('table = "customers", column = "d_id"', 'table = "customers", column = "name"',
         "table[1].column[1].column: 'name' of 'customers' must be a sequence, or a text with one {row}"),
        ('table = "customers", column = "d_id"', 'table = "customers"',
         "table[1].column[1].table: 'customers' must have one column as primary key"),
        ("{row}@", "{row}{digits:2}@", "table[1].column[2].column: 'email' of 'customers' must be a sequence"),
        ("{row}@", "{row}-{row}@", "transaction[0].statement[0].values.email.column: 'email' of 'customers' must be a"),
        ('type = "VARCHAR(80)"', "null_ratio = 0.1", "table[1].column[2].column: 'email' of 'customers' has NULLs"),
        ("{row}@", "{rows}@", "table[0].column[3].template: '{rows}' is not known"),
        ("step = 5, cycle = 3_000", "step = 5, each = 2",
         "table[0].primary_key: w_id, d_id, c_id have the same values in the first two rows (each)"),
    ],
)  # fmt: skip
def test_faults_of_keys_and_references(old: str, new: str, fault: str) -> None:
    assert_refused(fault, parse_workload, changed(old, new))


def test_sequences_that_begin_again_together_are_no_key() -> None:
    found = faults_of(parse_workload, changed("each = 30_000", "cycle = 20, each = 1"))
    assert found == [
        "table[0].primary_key: w_id, d_id, c_id begin again after 30000 rows (cycle), so 60000 rows cannot all be"
        " different",
    ]
