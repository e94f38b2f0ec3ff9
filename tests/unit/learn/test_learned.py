"""What becomes of statements in a workload: what runs, what is left out, and what INSERTs write."""

from __future__ import annotations

import random
import tomllib
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import SpecError
from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.learned_load import LearnedLoad, learned, summary_of
from plimsoll.learn.schema_model import SchemaFacts
from plimsoll.learn.sql_tree import canonical
from plimsoll.run.learned_folder import files_of
from plimsoll.spec.workload_file import parse_workload
from support.learned import column
from support.logged import Logged, write_statements

SCHEMA = """
CREATE TABLE t (id int NOT NULL AUTO_INCREMENT, a int NOT NULL, b varchar(9) NOT NULL, c int, PRIMARY KEY (id))
AUTO_INCREMENT=1001;
CREATE TABLE d (a int NOT NULL, b decimal(8,2) NOT NULL, UNIQUE KEY (b));
CREATE TABLE u (x int NOT NULL, y int NOT NULL, z int NOT NULL DEFAULT 0, PRIMARY KEY (x, y));
"""


def learn(folder: Path, transactions: list[list[Logged]]) -> LearnedLoad:
    found = learned(
        summary_of(write_statements(folder, transactions)), read_create_tables(SCHEMA, "s"), keep_names=True
    )
    if found.workload is not None:
        parse_workload(found.workload)
    return found


def statements(folder: Path, made: list[list[Logged]]) -> list[dict[str, Any]]:
    workload = learn(folder, made).workload
    assert workload is not None
    found: list[dict[str, Any]] = tomllib.loads(workload)["transaction"][0]["statement"]
    return found


def test_an_insert_without_columns_names_them(tmp_path: Path) -> None:
    made = [[Logged("insert into u values (?, ?, ?)", "insert", (key, key % 7, 5))] for key in range(200)]
    (insert,) = statements(tmp_path, made)
    assert insert["sql"].startswith("INSERT INTO u (`x`, `y`, `z`) VALUES (:v1_1, :v1_2, :v1_3)")


def test_an_insert_gives_columns_that_need_a_value(tmp_path: Path) -> None:
    made = [[Logged("insert into t (c) values (?)", "insert", (key % 9,))] for key in range(200)]
    (insert,) = statements(tmp_path, made)
    assert insert["sql"] == "INSERT INTO t (c, a, b) VALUES (:v1_1, :d1_1, :d1_2)"


def test_new_keys_of_a_decimal_are_integers(tmp_path: Path) -> None:
    made = [[Logged("insert into d (a) values (?)", "insert", (key % 9,))] for key in range(200)]
    (insert,) = statements(tmp_path, made)
    assert insert["values"]["d1_2"] == {"generate": "next", "table": "d", "column": "b"}


def test_new_keys_are_new_but_not_where_a_row_may_be_there(tmp_path: Path) -> None:
    plain, upsert = tmp_path / "plain", tmp_path / "upsert"
    for folder in (plain, upsert):
        folder.mkdir()
    text, change = "insert into u (x, y) values (?, ?)", " on duplicate key update z = z + ?"
    chance = random.Random(2)
    keys = [(chance.randint(1, 500), chance.randint(1, 50)) for _ in range(300)]
    (new,) = statements(plain, [[Logged(text, "insert", key)] for key in keys])
    (old,) = statements(upsert, [[Logged(text + change, "insert", (*key, 1))] for key in keys])
    assert [one["generate"] for one in new["values"].values()].count("next") == 1
    assert "next" not in [one.get("generate") for one in old["values"].values()]
    assert old["sql"].endswith("ON DUPLICATE KEY UPDATE z = z + 1")


@pytest.mark.parametrize("is_listed", [True, False])
@pytest.mark.parametrize("is_new", [True, False])
def test_items_are_keys_of_new_rows_where_they_belong_to_a_new_key(
    tmp_path: Path, *, is_new: bool, is_listed: bool
) -> None:
    """What belongs to a row that is there already may be there, too: it gets a key that no row has."""
    chance, made = random.Random(2), []
    for number in range(300):
        key = 1_001 + number if is_new else chance.randint(1, 900)
        items: list[Any] = sorted(chance.sample(range(5_000), 5))
        found = [
            Logged("insert into t (id, a, b) values (?, ?, ?)", "insert", (key, 1, "b"))
            if is_new
            else Logged("update t set a = 1 where id = ?", "update", (key,))
        ]
        found += [Logged("select c from t where a in (...)", "select", (items,))] if is_listed else []
        made.append(found + [Logged("insert into u (x, y) values (?, ?)", "insert", (key, item)) for item in items])
    workload = learn(tmp_path, made).workload
    transaction = tomllib.loads(workload or "")["transaction"][0]
    ((name, items),) = transaction.get("values", {"v2_1": None}).items()
    insert = transaction["statement"][-1]
    if is_listed and not is_new:
        assert insert["values"]["v3_2"] == {"generate": "next", "table": "u", "column": "y"}
    else:
        assert insert["values"] == {name.replace("l", "v") if not is_listed else "v3_2": {"item_of": name}}
        assert (items["sorted"], items["generate"] == "next") == (True, not is_new)


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("call p(?)", "call", "not-run"),
        ("select from where ?", "select", "not-parsed"),
        ("select a from elsewhere where id = ?", "select", "table-unknown"),
    ],
)
def test_what_cannot_run_is_left_out_and_told(tmp_path: Path, text: str, kind: str, reason: str) -> None:
    runs = Logged("select a from t where id = ?", "select", (1,))
    found = learn(tmp_path, [[runs, Logged(text, kind, (key,))] for key in range(50)])
    (told,) = found.profile.types
    assert [one.left_out for one in told.statement] == [None, reason]
    assert found.workload is not None
    assert len(tomllib.loads(found.workload)["transaction"][0]["statement"]) == 1


def test_a_load_of_which_nothing_runs_is_no_workload(tmp_path: Path) -> None:
    found = learn(tmp_path, [[Logged("select a from elsewhere where id = ?", "select", (1,))]] * 20)
    assert found.workload is None
    assert found.profile.other_share == 1
    with pytest.raises(SpecError, match="no transaction of the log can be run"):
        files_of(found)


def test_files_have_what_was_learned(tmp_path: Path) -> None:
    found = learn(tmp_path, [[Logged("select a from t where id = ?", "select", (1,))]] * 20)
    files = files_of(found)
    assert {"workload.toml", "profile.json", "schema.sql"} <= set(files)
    assert found.workload is not None
    assert files["workload.toml"].startswith(found.workload)
    assert parse_workload(files["workload.toml"]).transaction
    assert "CREATE TABLE `t`" in files["schema.sql"]


def test_transactions_have_the_isolation_level_that_they_were_given(tmp_path: Path) -> None:
    given, none = tmp_path / "given", tmp_path / "none"
    for folder in (given, none):
        folder.mkdir()
    level = [Logged("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "set")]
    made = [[Logged("select a from t where id = ?", "select", (1,))]] * 30
    for folder, transactions, expected in ((given, [level, level, *made], "read_committed"), (none, made, None)):
        workload = learn(folder, transactions).workload
        assert workload is not None
        (transaction,) = tomllib.loads(workload)["transaction"]
        assert transaction.get("isolation") == expected


TWO_SCHEMAS = """
USE a; CREATE TABLE orders (id int NOT NULL PRIMARY KEY, state varchar(9) NOT NULL);
USE b; CREATE TABLE orders (no int NOT NULL PRIMARY KEY, state varchar(9) NOT NULL);
"""


def of_two_schemas(folder: Path, schema: SchemaFacts, *, keep_names: bool) -> tuple[LearnedLoad, list[dict[str, Any]]]:
    """What is learned of statements on `a.orders` and `b.orders`, and the statements of the workload."""
    statements = [
        Logged("select id from orders where state = ?", "select", ("new",), schema="a"),
        Logged("select no from orders where state = ?", "select", ("old",), schema="b"),
        Logged("select no from b.orders where orders.no = ?", "select", (5,), schema="a"),
    ]
    found = learned(summary_of(write_statements(folder, [statements] * 50)), schema, keep_names=keep_names)
    assert found.workload is not None
    parse_workload(found.workload)
    return found, tomllib.loads(found.workload)["transaction"][0]["statement"]


def with_states(schema: SchemaFacts, states: dict[str, tuple[str, ...]]) -> SchemaFacts:
    """A schema whose columns `state` have these values, by schema, each as often as the others."""
    tables = []
    for table in schema.tables:
        hashes = [blake2b(state.encode(), digest_size=8).hexdigest() for state in states[table.schema_name]]
        key, state = table.columns
        changed = {"frequencies": tuple((one, 10) for one in hashes), "distinct_count": len(hashes)}
        tables.append(table.model_copy(update={"rows": 100, "columns": (key, state.model_copy(update=changed))}))
    return schema.model_copy(update={"tables": tuple(tables)})


@pytest.mark.parametrize("keep_names", [True, False])
def test_tables_of_one_name_in_two_schemas_stay_two(tmp_path: Path, keep_names: bool) -> None:
    schema = with_states(read_create_tables(TWO_SCHEMAS), {"a": ("new", "done"), "b": ("x", "y", "z", "old")})
    found, (of_a, of_b, qualified) = of_two_schemas(tmp_path, schema, keep_names=keep_names)
    a, b = ("orders", "b_orders") if keep_names else ("t1", "t2")
    assert [f"FROM {a} " in of_a["sql"], f"FROM {b} " in of_b["sql"], f"FROM {b} " in qualified["sql"]] == [True] * 3
    assert [one["generate"] for one in of_a["values"].values()] == ["choice"]
    tables = {load["name"]: load for load in tomllib.loads(found.workload or "")["table"]}
    states = {name: column(tables[name], "state" if keep_names else "c2")["values"] for name in (a, b)}
    assert [len(states[name]) for name in (a, b)] == [2, 4]
    (choice,) = of_b["values"].values()
    assert choice["values"] == [states[b][3]], "old is the fourth of its table"
    of_report = {canonical(template.text) for template in found.report.templates}
    assert {canonical(one["sql"]) for one in (of_a, of_b, qualified)} <= of_report, "a check finds them in the report"


def test_definitions_without_a_schema_stand_for_those_of_all_and_say_so(tmp_path: Path) -> None:
    schema = read_create_tables("CREATE TABLE orders (id int NOT NULL PRIMARY KEY, no int, state varchar(9))")
    found, statements = of_two_schemas(tmp_path, schema, keep_names=True)
    assert all("FROM orders " in statement["sql"] for statement in statements)
    notes = [note for note in found.profile.notes if note.code == "schemas-as-one"]
    assert [(note.table, note.figures) for note in notes] == [("orders", {"schemas": 2})]
