"""Tables with keys of several columns and relations on each server: killed while loading, checked, run, removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.drive.engine import LocalDriver
from plimsoll.run.system_data import DataKeeper
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.workloads import StatementsSpec
from support.command import assert_one_clear_message, connecting, login, plimsoll, start
from support.servers import mysql_in_endure, running_server

__all__ = ["running_server"]
pytestmark = pytest.mark.e2e

SHOP = """
[[table]]
name = "customers"
rows = 250_000
primary_key = ["w_id", "d_id", "c_id"]
column = [
  { name = "w_id", generate = "sequence", each = 25_000, type = "INT" },
  { name = "d_id", generate = "sequence", each = 2_500, cycle = 10, type = "TINYINT UNSIGNED" },
  { name = "c_id", generate = "sequence", cycle = 2_500, type = "INT" },
  { name = "email", generate = "text", template = "c-{row}@example.org" },
  { name = "about", generate = "letters", length = [20, 60], type = "TEXT" },
  { name = "last_visit", generate = "reference", table = "visits", null_ratio = 0.5 },
]
index = [{ columns = "email", unique = true }, { columns = "about", lengths = [10] }]
foreign_key = [{ columns = "last_visit", table = "visits", on_delete = "set_null" }]

[[table]]
name = "visits"
rows = 2_000
column = [
  { name = "id", generate = "sequence", auto_increment = true },
  { name = "email", generate = "reference", table = "customers", column = "email" },
  { name = "note", generate = "letters", length = 5, nullable = true },
]
foreign_key = [{ columns = "email", table = "customers", references = "email", on_delete = "cascade" }]

[[table]]
name = "log"
rows = 20_000
primary_key = []
column = [{ name = "visit", generate = "reference", table = "visits" }]
foreign_key = [{ columns = "visit", table = "visits", on_delete = "cascade" }]

[[transaction]]
name = "look"
[[transaction.statement]]
sql = "SELECT c_id FROM customers WHERE email = :email"
values.email = { generate = "reference", table = "customers", column = "email" }
no_row = "fail"

[[transaction]]
name = "visit"
values.email = { generate = "reference", table = "customers", column = "email" }
[[transaction.statement]]
sql = "INSERT INTO visits (email, note) VALUES (:email, NULL)"
"""


def number(server: ManagedServer, statement: str) -> int:
    with connect(server.target) as control:
        ((value,),) = control.rows(statement)
    return int(value or 0)


def foreign_keys(server: ManagedServer) -> int:
    return number(
        server,
        "SELECT COUNT(*) FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE()",
    )


def has_rows(server: ManagedServer, table: str) -> bool:
    tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = "
    return number(server, f"{tables}'{table}'") > 0 and number(server, f"SELECT COUNT(*) FROM {table}") > 0


@mysql_in_endure
def test_tables_with_keys_and_relations_have_a_whole_life(
    running_server: ManagedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "shop.toml"
    file.write_text(SHOP, encoding="utf-8")
    own = [*login(running_server, monkeypatch), "--workload", str(file)]
    killed = start("prepare", *own, "--loaders", "1")  # one chunk of 50,000 rows after the other
    while not has_rows(running_server, "customers"):
        assert killed.poll() is None, killed.communicate()
    killed.kill()
    killed.communicate()
    assert number(running_server, "SELECT COUNT(*) FROM customers") < 250_000, "it was killed too late"
    assert_one_clear_message(plimsoll("check", *own), 4, "unfinished", "plimsoll prepare")
    prepared = plimsoll("prepare", *own)
    assert prepared.returncode == 0, prepared.stderr
    assert foreign_keys(running_server) == 3
    checked = plimsoll("check", *own)
    assert (checked.returncode, checked.stderr) == (0, connecting(running_server))
    assert "272,000 rows in 3 table(s) are there, each as it was made" in checked.stdout
    ran = plimsoll(
        "trial", *own, "--connections", "4", "--think-time", "5ms", "--warm-up", "0s", "--duration", "1s", "--json"
    )
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["failed"] == 0, "every customer that was looked for is there, and every visit has one"
    assert result["transaction_types"]["look"]["transactions"] > 0
    added = number(running_server, "SELECT COUNT(*) FROM visits") - 2_000
    assert added >= result["transaction_types"]["visit"]["transactions"] > 0
    spec = StatementsSpec(name="shop", file=str(file), text=SHOP)
    DataKeeper(driver=LocalDriver(), data_sets=(spec,)).reset(running_server.target)
    assert plimsoll("check", *own).returncode == 0
    with connect(running_server.target) as control:
        control.rows("CREATE TABLE mine (v BIGINT, FOREIGN KEY (v) REFERENCES visits (id))")
        assert_one_clear_message(plimsoll("cleanup", *own), 3, "mine", "refers to visits", "nothing was dropped")
        assert foreign_keys(running_server) == 4
        control.rows("DROP TABLE mine")
    cleaned = plimsoll("cleanup", *own)
    assert cleaned.returncode == 0, cleaned.stderr
    with connect(running_server.target) as control:
        assert not control.rows("SHOW TABLES")
