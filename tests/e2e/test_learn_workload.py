"""A log of a made-up shop becomes a workload by the real command: what was planted is learned. It needs no server."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plimsoll.spec.workload_file import parse_workload
from support.command import plimsoll
from support.endure import in_endure
from support.shop_log import CUSTOMERS, NOTES, ORDERS, ROLLED_BACK, SCHEMA, SHARES, TABLE_WEIGHTS, ZIPF, Shop
from support.slow_logs import Ran, general_log, mariadb_slow_log, mysql_slow_log

pytestmark = pytest.mark.e2e

COUNT = 2_500
WRITERS: dict[str, Callable[[Sequence[Sequence[Ran]]], str]] = {
    "mysql": mysql_slow_log,
    "mariadb": mariadb_slow_log,
    "general": general_log,
}


@pytest.fixture(scope="module", params=sorted(WRITERS))
def learned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `plimsoll learn` wrote, with names."""
    folder: Path = tmp_path_factory.mktemp("shop")
    (folder / "server.log").write_text(WRITERS[request.param](Shop().transactions(COUNT)))
    (folder / "schema.sql").write_text(SCHEMA)
    words = ("--from", folder / "server.log", "--schema", folder / "schema.sql", "-o", folder / "prod", "--keep-names")
    ran = plimsoll("learn", *words)
    assert ran.returncode == 0, ran.stderr
    assert "4 types of transactions, 100.0% of all" in (folder / "prod" / "workload.toml").read_text()
    to: Path = folder / "prod"
    return to


def transactions(learned: Path) -> dict[str, dict[str, Any]]:
    """By what was planted, a transaction of the workload."""
    first = {"FROM customers WHERE id =": "order", "COUNT(*)": "look", " IN (": "browse", "notes_1": "note"}
    found = tomllib.loads((learned / "workload.toml").read_text())["transaction"]
    return {next(name for part, name in first.items() if part in str(one["statement"][0]["sql"])): one for one in found}


def weighed(counts: dict[str, list[int]]) -> dict[int, float]:
    """Shares of numbers."""
    total = sum(counts["weights"])
    return {number: weight / total for number, weight in zip(counts["counts"], counts["weights"], strict=True)}


def test_it_is_a_workload_file(learned: Path) -> None:
    ran = plimsoll("workload", "check", learned / "workload.toml")
    assert ran.returncode == 0, ran.stderr
    assert "is valid" in ran.stdout + ran.stderr
    names = {path.name for path in learned.iterdir()}
    assert names == {
        "workload.toml",
        "profile.json",
        "schema.sql",
        "demand.json",
        "report.html",
        "report.md",
        "report.json",
    }


def test_types_have_their_shares(learned: Path) -> None:
    found = transactions(learned)
    assert set(found) == set(SHARES)
    total = sum(one["weight"] for one in found.values())
    assert total == pytest.approx(100_000, abs=10)
    for name, share in SHARES.items():
        assert found[name]["weight"] / total == pytest.approx(share, abs=0.03)
    assert [found[name].get("begin", False) for name in ("order", "look", "browse", "note")] == [
        True,
        True,
        False,
        True,
    ]


def test_rollbacks(learned: Path) -> None:
    found = transactions(learned)
    assert found["order"]["rollback_ratio"] == pytest.approx(ROLLED_BACK, abs=0.03)
    assert all("rollback_ratio" not in found[name] for name in ("look", "browse", "note"))


def test_an_order_has_its_customer_and_its_lines_have_the_order(learned: Path) -> None:
    select, insert, lines = transactions(learned)["order"]["statement"]
    (customer,) = select["values"]
    generator = select["values"][customer]
    assert (generator["generate"], generator["table"]) == ("reference", "customers")
    hot = generator["distribution"]
    assert hot["kind"] == "hot"
    planted, learned_shares = np.arange(1, CUSTOMERS + 1, dtype=float) ** -ZIPF, np.asarray(hot["shares"])
    tail = np.arange(learned_shares.size + 1, CUSTOMERS + 1, dtype=float) ** -hot["exponent"]
    accesses = np.cumsum(np.concatenate([learned_shares, (1 - learned_shares.sum()) * tail / tail.sum()]))
    for customers, tolerance in ((1, 0.03), (10, 0.04), (200, 0.06)):
        expected = planted[:customers].sum() / planted.sum()
        assert accesses[customers - 1] == pytest.approx(expected, abs=tolerance), customers
    assert f":{customer}" in insert["sql"]
    (key,) = (name for name, one in insert["values"].items() if one.get("generate") == "next")
    assert insert["values"][key] == {"generate": "next", "table": "orders", "column": "id"}
    assert insert["sql"].startswith("INSERT INTO orders (id, customer, state, made) VALUES")
    assert lines["sql"].startswith(f"INSERT INTO order_lines (order_id, line, product, amount) VALUES (:{key},")
    rows = weighed(lines["rows"])
    assert set(rows) == {2, 3, 4, 5}
    assert all(share == pytest.approx(1 / 4, abs=0.04) for share in rows.values())
    assert [line for line in lines["values"].values() if line.get("row_number")] == [{"row_number": True}]


def test_a_loop_of_two_statements_with_one_key(learned: Path) -> None:
    transaction = transactions(learned)["look"]
    ranged, state, total = transaction["statement"]
    ((name, counts),) = transaction["loops"].items()
    assert (state["loop"], total["loop"]) == (name, name)
    assert "loop" not in ranged
    assert set(weighed(counts)) == {2, 3, 4}
    low, high = ranged["values"]
    assert ranged["values"][high] == {"sum_of": low, "add": 9}
    assert ranged["values"][low]["table"] == "orders"
    ((key, generator),) = state["values"].items()
    assert generator == {"generate": "reference", "table": "orders"}, "uniform"
    assert "values" not in total
    assert f"order_id = :{key}" in total["sql"]


def test_a_list_of_hot_keys(learned: Path) -> None:
    (browse,) = transactions(learned)["browse"]["statement"]
    ((_, generator),) = browse["values"].items()
    sizes = weighed(generator["list"])
    assert set(sizes) == {2, 3, 4, 5, 6}
    assert all(share == pytest.approx(1 / 5, abs=0.05) for share in sizes.values())
    assert generator["distribution"]["exponent"] == pytest.approx(ZIPF, abs=0.25)


def test_a_split_table_is_chosen_once(learned: Path) -> None:
    read, write = transactions(learned)["note"]["statement"]
    assert [len(one["sql"]) for one in (read, write)] == [4, 4]
    assert read["by"] == write["by"]
    chosen = read["values"][read["by"]]
    assert chosen["values"] == [1, 2, 3, 4]
    shares = np.asarray(chosen["weights"]) / sum(chosen["weights"])
    assert shares == pytest.approx(np.asarray(TABLE_WEIGHTS), abs=0.08)
    (key,) = set(read["values"]) - {read["by"]}
    assert all(f":{key}" in sql for sql in write["sql"])
    assert "seen = seen + 1 " in write["sql"][0], "a number that never changes is part of the statement"


def test_tables_have_rows_and_keys_as_the_schema_says(learned: Path) -> None:
    tables = parse_workload((learned / "workload.toml").read_text()).tables
    assert {name: table.rows for name, table in tables.items() if name != "order_lines"} == {
        "customers": CUSTOMERS,
        "orders": ORDERS,
        **{f"notes_{number}": NOTES for number in range(1, 5)},
    }
    assert tables["order_lines"].primary_key == ("order_id", "line")


def test_profile_and_demand_tell_the_same(learned: Path) -> None:
    profile = json.loads((learned / "profile.json").read_text())
    assert len(profile["types"]) == 4
    assert profile["other_share"] == pytest.approx(0, abs=1e-9)
    assert all(one["unlike_ratio"] == 0 for one in profile["types"])
    demand = json.loads((learned / "demand.json").read_text())
    assert demand["transactions_count"] == COUNT
    assert [one["share"] for one in demand["types"]] == pytest.approx([one["share"] for one in profile["types"]])


@pytest.mark.parametrize("learned", ["mysql", in_endure("mariadb"), in_endure("general")], indirect=True)
def test_a_tenth_of_the_rows(learned: Path, tmp_path: Path) -> None:
    """Tables of at most 100 rows keep theirs; keys of statements are those of the smaller tables."""
    words = ("--from", learned.parent / "server.log", "--schema", learned.parent / "schema.sql")
    ran = plimsoll("learn", *words, "-o", tmp_path / "small", "--scale", "0.1", "--prepared")
    assert ran.returncode == 0, ran.stderr
    written = tomllib.loads((tmp_path / "small" / "workload.toml").read_text())
    assert sorted(one["rows"] for one in written["table"])[:6] == [100, 100, 100, 100, 100, 500]
    assert written["prepared"] is True
    assert plimsoll("workload", "check", tmp_path / "small" / "workload.toml").returncode == 0
