"""What transactions of workload files say besides their statements: loops, rollbacks, lists, rows, keys in order."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.workload_file import parse_workload
from plimsoll.spec.workloads import StatementsSpec
from support.faults import assert_refused, faults_of

LOOPS = """
[[transaction]]
name = "cart"
begin = true
rollback_ratio = 0.01
loops.lines = { counts = [6, 5], weights = [1, 2.5] }
loops.again = [1, 3]
[[transaction.statement]]
sql = "SELECT 1"
[[transaction.statement]]
sql = "SELECT 2"
loop = "lines"
repeat = { counts = [2, 4] }
[[transaction.statement]]
sql = "SELECT 3"
loop = "lines"
[[transaction.statement]]
sql = "SELECT 4"
loop = "again"
"""


def transaction_of(text: str) -> dict[str, Any]:
    line = StatementsSpec(name="x", file="x.toml", text=text).line()
    (transaction,) = line["transactions"]
    return dict(transaction)


def test_a_loop_is_a_block_of_statements_with_its_numbers() -> None:
    cart = transaction_of(LOOPS)
    assert cart["loops"] == [
        {"first": 1, "count": 2, "repeat": {"weighted": {"counts": [5, 6], "weights": [2.5, 1.0]}}},
        {"first": 3, "count": 1, "repeat": {"range": {"min": 1, "max": 3}}},
    ]
    assert cart["rollback_ratio"] == 0.01
    assert cart["statements"][1]["repeat"] == {"weighted": {"counts": [2, 4], "weights": [1.0, 1.0]}}
    assert transaction_of(LOOPS.replace("rollback_ratio = 0.01", ""))["rollback_ratio"] is None


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"SELECT 3"\nloop = "lines"', '"SELECT 3"', None),
        (
            '"SELECT 1"',
            '"SELECT 1"\nloop = "again"',
            "transaction[0].statement[3].loop: the statements of loop 'again'",
        ),
        ('loop = "again"', "", "transaction[0].loops.again: is used by no statement"),
        ('loop = "again"', 'loop = "agian"', "transaction[0].statement[3].loop: there is no loop 'agian'; known are"),
        ("[1, 3]", "[3, 1]", "transaction[0].loops.again: must rise, is 3 to 1"),
        ("[1, 3]", "-1", "transaction[0].loops.again: must be a whole number within 0..=1000000, is -1"),
        ("[1, 3]", '"x"', "transaction[0].loops.again: must be a whole number within 0..=1000000, is 'x'"),
        ("[1, 3]", "[1, 2, 3]", "transaction[0].loops.again: must be a whole number, or [smallest, largest], is"),
        ("[6, 5]", "[5, 5]", "transaction[0].loops.lines: counts must be different numbers, are [5, 5]"),
        ("[6, 5]", "[]", "transaction[0].loops.lines: counts must be a list of 1 to 1000"),
        ("[1, 2.5]", "[1]", "transaction[0].loops.lines: weights must be one for each of the 2 counts"),
        ("[1, 2.5]", "[0, 0]", "transaction[0].loops.lines: weights must be 0 or more, and not all 0"),
        ("weights =", "weight =", "transaction[0].loops.lines: 'weight' is not a known key; known are counts"),
        ("begin = true", "", "transaction[0].rollback_ratio: belongs to a transaction with begin = true"),
        ("0.01", "1.5", "transaction[0].rollback_ratio: must be <= 1"),
    ],
)
def test_loops_and_rollbacks_that_make_no_sense_are_told(old: str, new: str, fault: str | None) -> None:
    assert old in LOOPS
    text = LOOPS.replace(old, new)
    if fault is None:
        parse_workload(text)
        return
    assert_refused(fault, parse_workload, text)


def test_what_is_wrong_in_itself_brings_no_other_fault() -> None:
    assert len(faults_of(parse_workload, LOOPS.replace("[1, 3]", "-1"))) == 1


PLAIN = """
[[transaction]]
name = "t"
[[transaction.statement]]
sql = "SELECT 1"
"""


def test_keys_that_are_not_used_are_no_part_of_what_a_workload_is() -> None:
    said = StatementsSpec(name="x", file="x.toml", text=PLAIN).identity()["transaction"][0]
    assert set(said) == {
        *("name", "weight", "begin", "on_source", "isolation", "think_time", "values", "statement"),
    }
    assert said["statement"][0] == {
        "sql": "SELECT 1",
        "values": {},
        "keep": {},
        "keep_insert_id": None,
        "no_row": None,
        "repeat": [1, 1],
    }
    used = StatementsSpec(name="x", file="x.toml", text=LOOPS).identity()["transaction"][0]
    assert used["loops"] == {"lines": {"counts": [5, 6], "weights": [2.5, 1.0]}, "again": [1, 3]}
    assert (used["rollback_ratio"], used["statement"][1]["loop"]) == (0.01, "lines")


ROWS = """
[[transaction]]
name = "t"
values.shop = { generate = "integer", from = 1, to = 9 }
values.ids = { list = [1, 3], generate = "integer", from = 1, to = 9 }
[[transaction.statement]]
sql = "INSERT INTO t (a, b) VALUES (:shop, concat(')', :x)) ON DUPLICATE KEY UPDATE b = values(b)"
rows = { counts = [1, 3] }
values.x = { generate = "integer", from = 1, to = 9 }
[[transaction.statement]]
sql = "SELECT a FROM t WHERE shop = :shop AND id IN (:ids) AND b IN ( :more )"
values.more = { list = { counts = [4, 2], weights = [1, 2] }, generate = "integer", from = 1, to = 9 }
"""


def test_a_statement_with_rows_has_a_text_for_each_number_of_them() -> None:
    insert = transaction_of(ROWS)["statements"][0]
    row = "(?, concat(')', ?))"
    behind = " ON DUPLICATE KEY UPDATE b = values(b)"
    assert insert["variants"] == [
        f"INSERT INTO t (a, b) VALUES {row}{behind}",
        f"INSERT INTO t (a, b) VALUES {row}, {row}, {row}{behind}",
    ]
    assert insert["rows"] == {"first": 0, "count": 2, "rows": {"weighted": {"counts": [1, 3], "weights": [1.0, 1.0]}}}
    assert insert["parameters"] == ["shop", "x"]


def test_a_statement_with_lists_has_a_text_for_each_combination_of_their_lengths() -> None:
    transaction = transaction_of(ROWS)
    assert transaction["values"][1]["items"] == {"range": {"min": 1, "max": 3}}
    select = transaction["statements"][1]
    assert [sql.partition("IN ")[2] for sql in select["variants"]] == [
        f"({ids}) AND b IN ( {more} )" for ids in ("?", "?, ?", "?, ?, ?") for more in ("?, ?", "?, ?, ?, ?")
    ]
    assert select["rows"] is None


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("IN (:ids)", "= :ids", "transaction[0].statement[1].sql: :ids is a list, which must stand as IN (:ids)"),
        ("list = [1, 3]", "list = [1, 40]", "transaction[0].statement[1].sql: has 80 lengths of its rows and lists"),
        ("list = [1, 3]", "list = [0, 3]", "transaction[0].values.ids.list: must be a whole number within 1..=1000"),
        ("list = [1, 3]", "list = 1001", "transaction[0].values.ids.list: must be a whole number within 1..=1000"),
        ("counts = [1, 3]", "counts = [1, 2000]", "transaction[0].statement[0].rows: must be a whole number within"),
        ("VALUES (:shop", "SELECT (:shop", "transaction[0].statement[0].rows: belongs to an INSERT or REPLACE"),
        (")) ON", ")), (1, 2) ON", "transaction[0].statement[0].rows: belongs to an INSERT or REPLACE with one group"),
        ("b = values(b)", "b = :x", "transaction[0].statement[0].values.x: is drawn for each row, so it cannot stand"),
        ("values.x = { ", "values.x = { list = 2, ", "transaction[0].statement[0].values.x.list: the values of a"),
        ("', :x)", "', 1)", "transaction[0].statement[0].rows: none of the statement's values stands in its group"),
        ("shop = :shop", "shop = :x", "transaction[0].statement[1].sql: there is no value :x before it"),
        ("values.x = { ", "values.x = { sum_of = \"ids\" } #", "transaction[0].statement[0].values.x.sum_of: 'ids'"),
        ("values.x = { ", 'values.x = { sum_of = "shop", list = 2 } #', "transaction[0].statement[0].values.x.list: "),
    ],
)  # fmt: skip
def test_rows_and_lists_that_make_no_sense_are_told(old: str, new: str, fault: str) -> None:
    assert old in ROWS
    assert_refused(fault, parse_workload, ROWS.replace(old, new))


def test_so_many_rows_must_fit_the_protocol() -> None:
    columns = ", ".join(":x" for _ in range(66))
    text = ROWS.replace("concat(')', :x)", columns).replace("counts = [1, 3]", "counts = [1000]")
    (fault,) = faults_of(parse_workload, text)
    assert fault.startswith("transaction[0].statement[0].sql: has up to 67000 values"), fault


def test_texts_in_quotes_are_no_groups() -> None:
    text = ROWS.replace("concat(')', :x)", "'VALUES (', :x /* ) */").replace("INTO t", "INTO `VALUES (`")
    first = transaction_of(text)["statements"][0]["variants"][1]
    assert first.count("(?, 'VALUES (', ? /* ) */)") == 3


KEYS = """
[[table]]
name = "orders"
rows = 5
primary_key = "id"
column = [
    { name = "what", generate = "letters", length = 3 },
    { name = "id", type = "INT UNSIGNED", generate = "sequence", auto_increment = true },
    { name = "number", generate = "integer", from = 1, to = 9 },
]
[[table]]
name = "lines"
rows = 0
primary_key = ["a", "b"]
column = [{ name = "a", generate = "sequence" }, { name = "b", generate = "sequence" }]
[[transaction]]
name = "t"
values.new = { generate = "next", table = "orders", column = "number" }
[[transaction.statement]]
sql = "insert ignore into `orders` (what, number) VALUES ('x', :new)"
[[transaction.statement]]
sql = "SELECT what FROM orders WHERE id = :id"
values.id = { generate = "recent", table = "orders", within = 100, distribution = "zipfian" }
[[transaction.statement]]
sql = "INSERT INTO orders (number) SELECT a FROM `lines` WHERE b = :id"
"""


def test_keys_are_counted_by_table_and_column() -> None:
    line = StatementsSpec(name="x", file="x.toml", text=KEYS).line()
    assert line["counters"] == [{"table": "orders", "column": "number"}, {"table": "orders", "column": "id"}]
    (transaction,) = line["transactions"]
    assert transaction["values"][0]["source"] == {"next": {"counter": 0}}
    assert [one["given"] for one in transaction["statements"]] == [1, None, 1]
    zipfian = {"kind": "zipfian", "exponent": 0.8}
    recent = {"counter": 1, "within": 100, "distribution": zipfian}
    assert transaction["statements"][1]["values"][0]["source"] == {"recent": recent}


def test_the_first_rank_of_recent_keys_is_the_newest() -> None:
    text = KEYS.replace('"zipfian"', '{ kind = "hot", shares = [0.5], exponent = 1 }')
    source = transaction_of(text)["statements"][1]["values"][0]["source"]
    assert source["recent"]["distribution"] == {"kind": "hot", "shares": [0.5], "exponent": 1.0, "scattered": False}


HOT = "distribution = { kind = 'hot', scattered = true }"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('column = "number"', 'column = "what"', "transaction[0].values.new.column: must be an integer column"),
        ('column = "number"', 'column = "none"', "transaction[0].values.new.column: must be an integer column"),
        ('"orders", column = "number"', '"lines"', "transaction[0].values.new.column: is missing; 'lines' has"),
        ('"orders", column', '"other", column', "transaction[0].values.new.table: there is no table 'other'"),
        ('column = "number"', "within = 3", "transaction[0].values.new.within: does not belong to 'next'"),
        ('column = "number"', "null_ratio = 0.5", "transaction[0].values.new.null_ratio: does not belong to 'next'"),
        ("within = 100", "within = 0", "transaction[0].statement[1].values.id.within: must be >= 1"),
        ('distribution = "zipfian"', HOT, "transaction[0].statement[1].values.id.distribution.scattered: does"),
        ('name = "what", generate = "letters", length = 3', 'name = "what", generate = "next", table = "lines"',
         "table[0].column[0].generate: 'next' belongs to values of statements"),
    ],
)  # fmt: skip
def test_keys_that_cannot_be_counted_are_told(old: str, new: str, fault: str) -> None:
    assert old in KEYS
    assert_refused(fault, parse_workload, KEYS.replace(old, new))


def test_without_tables_any_may_be_named_with_its_column() -> None:
    text = PLAIN.replace('"SELECT 1"', '"INSERT INTO t VALUES (:id)"')
    value = 'values.id = { generate = "next", table = "t", column = "k" }\n'
    line = StatementsSpec(name="x", file="x.toml", text=text + value).line()
    assert line["counters"] == [{"table": "t", "column": "k"}]
    assert line["transactions"][0]["statements"][0]["given"] == 0
    (fault,) = faults_of(parse_workload, text + value.replace(', column = "k"', ""))
    assert fault == (
        "transaction[0].statement[0].values.id.column: is missing; the file does not describe the table 't'"
    )


@pytest.mark.parametrize(
    ("hot", "fault"),
    [
        ("shares = [0.1, 0.2]", "shares must fall or be equal"),
        ("shares = [0.6, 0.5]", "shares must have a sum of at most 1, have 1.1"),
        ("shares = [0.5, 0.0]", "must be > 0"),
        (f"shares = {[0.0005] * 1001}", "shares must be at most 1000, are 1001"),
        ("h = 0.2", "hot has no h; its parameters are shares, exponent, scattered"),
    ],
)
def test_shares_that_make_no_sense_are_told(hot: str, fault: str) -> None:
    value = 'values.a = { generate = "integer", from = 1, to = 9, distribution = { kind = "hot", %s } }\n'
    found = faults_of(parse_workload, PLAIN.replace('"SELECT 1"', '"SELECT :a"') + value % hot)
    assert any(fault in line and line.startswith("transaction[0].statement[0].values.a.distr") for line in found), found


def test_hot_values_are_no_part_of_oltp_workloads() -> None:
    with pytest.raises(ValidationError, match="'hot' belongs to workload files"):
        WorkloadSpec.model_validate({"name": "x", "kind": "oltp_read_only", "distribution": {"kind": "hot"}})
