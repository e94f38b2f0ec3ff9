"""Workload files: what they say, what is refused with path, value and cure, and what the engine gets of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.options import warm_up_of
from plimsoll.errors import SpecError
from plimsoll.spec.clients import CLIENTS
from plimsoll.spec.levels import pace_faults
from plimsoll.spec.transactions import read_sql
from plimsoll.spec.workload_file import WorkloadFile, parse_workload
from plimsoll.spec.workloads import StatementsSpec, data_sets, reader, shared_table_faults, shipped
from support.faults import assert_refused, faults_of

GOOD = """
[parameters]
size = 50

[[table]]
name = "a`table"
rows = "$size"
[[table.column]]
name = "id"
generate = "sequence"
start = 10
step = 10
[[table.column]]
name = "price"
generate = "decimal"
from = -1.5
to = 20
[[table.index]]
columns = ["price", "id"]

[[transaction]]
name = "read"
begin = true
isolation = "read_committed"
think_time = ["10ms", "1s"]
values.key = { generate = "reference", table = "a`table" }
[[transaction.statement]]
sql = "SELECT price FROM `a``table` WHERE id BETWEEN :key AND :last;"
values.last = { sum_of = "key", add = 30 }
keep = { cost = "price" }
repeat = [1, 3]
[[transaction.statement]]
sql = "SELECT :cost"
"""


def spec(text: str = GOOD, **changes: Any) -> StatementsSpec:
    return StatementsSpec(name="x", file="x.toml", text=text, **changes)


def test_the_engine_gets_ranges_instead_of_names() -> None:
    line = spec().line()
    assert line["tables"] == ["a`table"]
    (transaction,) = line["transactions"]
    assert transaction["isolation"] == "read_committed"
    assert transaction["think_time"] == {"min_ms": 10.0, "max_ms": 1000.0}
    key = transaction["values"][0]["source"]["drawn"]["generator"]
    assert (key["first"], key["step"], key["count"]) == (10, 10, 50)
    first, second = transaction["statements"]
    assert first["sql"] == "SELECT price FROM `a``table` WHERE id BETWEEN ? AND ?"
    assert first["parameters"] == ["key", "last"]
    assert first["values"] == [{"name": "last", "source": {"sum": {"value": "key", "add": 30}}}]
    assert first["keep"] == [{"column": "price", "name": "cost"}]
    assert (first["no_row"], first["repeat"]) == ("skip", {"range": {"min": 1, "max": 3}})
    assert (second["no_row"], second["repeat"]) == ("continue", {"range": {"min": 1, "max": 1}})


def test_tables_get_types_that_hold_their_values() -> None:
    (table,) = spec().data_line()["tables"]
    price = table["columns"][1]
    assert (price["sql_type"], price["generator"]["first"], price["generator"]["count"]) == ("DECIMAL(4,2)", -150, 2151)
    assert table["primary_key"] == ["id"]
    assert table["indexes"] == [{"name": "price_id", "columns": ["price", "id"], "unique": False}]


def test_a_workload_that_pauses_has_no_other_pace() -> None:
    expected = "file: transaction[0].think_time: {}; give only one of them"
    for is_open, has_think_time, reason in (
        (True, False, "a rate sets the pace"),
        (False, True, "the clients have a think time"),
    ):
        found = pace_faults(spec(), 4, is_open=is_open, has_think_time=has_think_time)
        assert [*map(str, found)] == [expected.format(reason)]
    assert not [*pace_faults(spec(), 4, is_open=False, has_think_time=False)]
    without = spec(GOOD.replace('["10ms", "1s"]', '"0s"'))
    assert not [*pace_faults(without, 4, is_open=True, has_think_time=False)]
    with pytest.raises(SpecError, match=r"--workload file: transaction\[0\].think_time: a rate sets the pace"):
        warm_up_of(spec(), None, 4, CLIENTS, is_open=True)


def test_pauses_are_stated_where_there_are_any() -> None:
    assert spec().options()["think_time"] == {"read": "10.0 ms to 1.00 s"}
    assert spec(GOOD.replace('["10ms", "1s"]', '"50ms"')).options()["think_time"] == {"read": "50.0 ms"}
    assert "think_time" not in spec(GOOD.replace('["10ms", "1s"]', '"0s"')).options()


@pytest.mark.parametrize(
    ("written", "sql_type"),
    [
        ('generate = "sequence"', "BIGINT"),
        ('generate = "digits"\nlength = [3, 9]', "VARCHAR(9)"),
        ('generate = "letters"\nlength = 20000', "LONGTEXT"),
        ('generate = "text"\ntemplate = "u{{{row}}}-{hex:4-8}"', "VARCHAR(22)"),
        ('generate = "choice"\nvalues = ["a", "abc"]', "VARCHAR(3)"),
        ('generate = "choice"\nvalues = [1, 2]', "BIGINT"),
        ('generate = "timestamp"\nfrom = 2026-01-01\nto = "2026-01-02T00:00:00"', "DATETIME"),
        ('generate = "timestamp"\nfrom = 2026-01-01\nevery = "100ms"', "DATETIME(6)"),
        ('generate = "decimal"\nfrom = 0\nto = 0.5\nplaces = 3', "DECIMAL(4,3)"),
    ],
)
def test_each_way_has_its_type(written: str, sql_type: str) -> None:
    text = f'[[table]]\nname = "t"\nrows = 5\n[[table.column]]\nname = "c"\n{written}\n{READ}'
    (table,) = spec(text).data_line()["tables"]
    assert table["columns"][0]["sql_type"] == sql_type


READ = '[[transaction]]\nname = "t"\n[[transaction.statement]]\nsql = "SELECT 1"\n'


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("rows = \"$size\"", "rows = \"$sise\"", "table[0].rows: '$sise' is no parameter; known are $size"),
        ("rows =", "row =", "table[0].row: is not a known key; did you mean rows?"),
        ('generate = "sequence"', 'generate = "sequense"', "table[0].column[0].generate: must be one of"),
        ("from = -1.5", "", "table[0].column[1].from: is missing; 'decimal' needs it"),
        ("to = 20", f"to = 1{'0' * 400}", "table[0].column[1].places: 2 leads to more than 18 digits"),
        ("from = -1.5", "from = 99", "table[0].column[1].to: must be at least 99, is 20"),
        ("start = 10", "length = 3", "table[0].column[0].length: does not belong to 'sequence'"),
        ('["price", "id"]', '["prize"]', "table[0].index[0].columns: there is no column 'prize'; known are id, price"),
        ('table = "a`table"', 'table = "b"', "transaction[0].values.key.table: there is no table 'b'"),
        (":last;", ":first;", "transaction[0].statement[0].sql: there is no value :first before it; known are"),
        ("begin = true", "", "transaction[0].isolation: belongs to a transaction with begin = true"),
        ('"SELECT :cost"', '"SELECT 1"', "transaction[0].statement[0].keep.cost: is used by no statement"),
        ('"SELECT :cost"', '"SELECT :cost, ?"', "transaction[0].statement[1].sql: must not hold a `?`"),
        ('"SELECT :cost"', '"COMMIT"', "transaction[0].statement[1].sql: must not be COMMIT; write begin = true"),
        ("repeat = [1, 3]", "repeat = [3, 1]", "transaction[0].statement[0].repeat: must rise, is 3 to 1"),
        ('"1s"]', '"2h"]', "transaction[0].think_time: must be at most \"1h\""),
        ('name = "id"', 'name = "PRICE"', "table[0].column: the name 'price' is used 2 times"),
        ('name = "id"', 'name = "id"\ntype = "INT); DROP TABLE x"', "table[0].column[0].type: "),
    ],
)  # fmt: skip
def test_faults_name_path_value_and_cure(old: str, new: str, fault: str) -> None:
    assert old in GOOD
    assert_refused(fault, parse_workload, GOOD.replace(old, new))


def test_all_faults_come_at_once() -> None:
    text = GOOD.replace("to = 20", "to = -20").replace(":last;", ":first;").replace('"price", "id"', '"x"')
    assert len(faults_of(parse_workload, text)) == 4, "what :last was for is used by nothing then"


@pytest.mark.parametrize(
    ("written", "faults"),
    [
        (
            'generate = "digits", lenght = 5, table = "t"',
            [
                "length: is missing; 'digits' needs it",
                "lenght: is not a known key; did you mean length?",
                "table: does not belong to 'digits'",
            ],
        ),
        ("from = 1", ["generate: is missing; one of sequence, integer, decimal, "]),
        ('generate = "sum"', ["generate: must be one of 'sequence', 'integer', 'decimal', "]),
        (
            'generate = "timestamp", from = "soon", to = 5',
            ["from: must be a date or a time", "to: must be a date or a"],
        ),
        (
            'generate = "decimal", from = true, to = "x"',
            ["from: must be a number, is True", "to: must be a number, is"],
        ),
        ('"(generator)" = { generate = "null" }', ["generate: is missing; one of "]),
    ],
)
def test_a_way_has_the_keys_that_belong_to_it(written: str, faults: list[str]) -> None:
    """What is wrong elsewhere is told at once with it."""
    text = f'[[table]]\nname = "t"\nrows = 5\ncolumn = [{{ name = "c", {written} }}]\n{READ.replace("1", ":nothing")}'
    with pytest.raises(SpecError) as error:
        parse_workload(text)
    *own, other = error.value.faults
    assert {fault.path[:4] for fault in own} == {("table", 0, "column", 0)}
    assert other.path == ("transaction", 0, "statement", 0, "sql")
    told = [str(fault).removeprefix("table[0].column[0].") for fault in own]
    assert all(any(one.startswith(fault) for one in told) for fault in faults), told
    assert len(told) == len(faults)


def test_a_value_that_is_a_sum_has_no_way() -> None:
    text = GOOD.replace('sum_of = "key", add = 30', 'sum_of = "key", add = 30, generate = "null", from = 1')
    value = "transaction[0].statement[0].values.last"
    assert faults_of(parse_workload, text) == [
        f"{value}.from: does not belong to sum_of",
        f"{value}.generate: does not belong to sum_of",
    ]


@pytest.mark.parametrize(
    "generator",
    [
        '{ generate = "sequence" }',
        '{ generate = "text", template = "{row}" }',
        '{ generate = "timestamp", from = 2026-01-01, every = "1s" }',
    ],
    ids=["sequence", "template", "timestamp"],
)
def test_values_of_statements_have_no_row_to_follow(generator: str) -> None:
    with pytest.raises(SpecError, match="which a value of a statement has not"):
        parse_workload(GOOD.replace('{ generate = "reference", table = "a`table" }', generator))


@pytest.mark.parametrize(
    "text", ["a = ", "", "[[transaction]]\n" * 3, 'table = 5\ntransaction = "x"', "x = " + "[" * 900]
)
def test_what_is_no_workload_file_is_told_without_a_trace(text: str) -> None:
    with pytest.raises(SpecError):
        parse_workload(text)


def test_rows_and_parameters_can_be_changed_from_outside() -> None:
    assert spec(parameters={"size": 7}).rows_count == 7
    assert spec(rows={"a`table": 9}).rows_count == 9


@pytest.mark.parametrize(("written", "rows"), [("$size * 3", 150), ("$size*1_000", 50_000)])
def test_a_parameter_may_be_multiplied(written: str, rows: int) -> None:
    text = GOOD.replace('rows = "$size"', f'rows = "{written}"')
    assert spec(text).rows_count == rows
    assert spec(text, parameters={"size": 100}).rows_count == 2 * rows


@pytest.mark.parametrize(
    ("written", "size", "fault"),
    [
        ("$size * 3", '"many"', "$size must be a whole number to be multiplied, is 'many'"),
        ("$size * 3", "1.5", "$size must be a whole number to be multiplied, is 1.5"),
        ("$size * 3", "true", "$size must be a whole number to be multiplied, is True"),
        ("$size * -3", "5", "'$size * -3' is no parameter; known are $size"),
        ("$size * 1__0", "5", "'$size * 1__0' is no parameter; known are $size"),
        (f"$size * 1{'0' * 18}", "5", f"'$size * 1{'0' * 18}' is no parameter; known are $size"),
        (f"$size * 1{'0' * 17}", "500", "must be <= 4294967295, is 5"),
    ],
)  # fmt: skip
def test_what_cannot_be_multiplied_is_told(written: str, size: str, fault: str) -> None:
    text = GOOD.replace('rows = "$size"', f'rows = "{written}"').replace("size = 50", f"size = {size}")
    assert_refused(f"table[0].rows: {fault}", parse_workload, text)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"rows": {"b": 1}}, "rows.b: there is no such table; the file has a`table"),
        ({"parameters": {"sise": 1}}, "parameters.sise: there is no such parameter; the file has size"),
        ({"rows": {"a`table": -1}}, "table[0].rows: must be >= 0, is -1"),
    ],
    ids=["no such table", "no such parameter", "no such number"],
)
def test_what_cannot_be_changed_from_outside(changes: dict[str, Any], fault: str) -> None:
    assert faults_of(lambda: spec(**changes).definition) == [fault]


def test_what_counts_is_what_a_file_says_and_not_where_it_lies() -> None:
    one = spec()
    other = StatementsSpec(name="x", file="elsewhere/y.toml", text="# a comment\n" + GOOD)
    assert one.identity() == other.identity()
    assert one.identity() != spec(parameters={"size": 7}).identity()
    assert one.identity() != spec(prepared=False).identity()
    assert one.options()["definition"] == GOOD


@pytest.mark.parametrize(
    ("text", "sql", "names"),
    [
        ("SELECT ':a', \":b\", `:c`, :d -- :e\n, :f # :g", "SELECT ':a', \":b\", `:c`, ? -- :e\n, ? # :g", ("d", "f")),
        ("SELECT 'it''s :a \\' :b', @x := :c /* :d */", "SELECT 'it''s :a \\' :b', @x := ? /* :d */", ("c",)),
        ("UPDATE t SET a = :x, b = :x WHERE c=:y_2", "UPDATE t SET a = ?, b = ? WHERE c=?", ("x", "x", "y_2")),
        ("SELECT '12:30:00'", "SELECT '12:30:00'", ()),
    ],
)
def test_values_stand_behind_a_colon_and_nowhere_in_quotes(text: str, sql: str, names: tuple[str, ...]) -> None:
    read = read_sql(text)
    assert (read.sql, read.names) == (sql, names)


def test_only_plain_queries_count_as_reading() -> None:
    assert not read_sql("/* hint */ SELECT 1").writes
    for text in ("UPDATE t SET a = 1", "WITH x AS (SELECT 1) DELETE FROM t", "REPLACE INTO t VALUES (1)", "CALL p()"):
        assert read_sql(text).writes


@pytest.mark.parametrize("name", shipped())
def test_shipped_files_are_good(name: str) -> None:
    one = StatementsSpec(name=name, file=name, text=reader(shipped()[name].parent)(name))
    assert isinstance(one.definition, WorkloadFile)
    assert one.writes == (name != "ycsb-c")
    assert one.rows_count > 1000


def test_there_are_shipped_files_and_the_root_shows_them() -> None:
    from support.repository import ROOT

    ycsb = {f"ycsb-{letter}" for letter in "abcdef"}
    assert set(shipped()) == {"key-value", "order-queue", "read-share", "time-series", "tpcb-like", *ycsb}
    assert sorted(path.name for path in (ROOT / "workloads").iterdir()) == [f"{name}.toml" for name in shipped()]


def test_all_of_ycsb_share_one_table() -> None:
    """A study may have all six: the table is made once."""
    names = [name for name in shipped() if name.startswith("ycsb-")]
    workloads = [StatementsSpec(name=name, file=name, text=reader(Path())(name)) for name in names]
    assert len(names) == 6
    assert not [*shared_table_faults(workloads)]
    assert len(data_sets(workloads)) == 1


def test_faults_of_parts_and_between_others_are_told_at_once() -> None:
    """What a wrong part brings about elsewhere is no fault of its own."""
    text = """
[[table]]
name = "a"
rows = "many"
[[table.column]]
name = "id"
generate = "sequense"
[[table]]
name = "b"
rows = 5
[[table.column]]
name = "id"
generate = "sequence"
[[table.index]]
columns = ["colour"]
[[transaction]]
name = "one"
weight = "1"
isolation = "serializable"
[[transaction.statement]]
sql = "SELECT :x"
nonsense = 1
[[transaction]]
name = "two"
values.y = { generate = "reference", table = "a" }
[[transaction.statement]]
sql = "SELECT :y"
"""
    with pytest.raises(SpecError) as caught:
        parse_workload(text)
    assert [fault.split(":")[0] for fault in caught.value.lines] == [
        "table[0].rows",
        "table[0].column[0].generate",
        "transaction[0].weight",
        "transaction[0].statement[0].nonsense",
        "table[1].index[0].columns",
        "transaction[0].isolation",
        "transaction[0].statement[0].sql",
    ]


@pytest.mark.parametrize("name", ["", " ", "a ", " a", "a\\u0000", "a\\u202e", "a\\u200b", "a\\U0001F600", "a" * 65])
def test_names_that_servers_or_people_cannot_take(name: str) -> None:
    with pytest.raises(SpecError, match=r"table\[0\]\.name: must "):
        parse_workload(
            f'[[table]]\nname = "{name}"\nrows = 1\n[[table.column]]\nname = "c"\ngenerate = "sequence"\n{READ}'
        )
