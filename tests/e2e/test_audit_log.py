"""MariaDB's audit plug-in: what was sent is what `--format mariadb-audit` finds in its log."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import time
from pathlib import Path

import polars as pl
import pytest

from plimsoll.servers.control import ControlConnection, connect
from support.command import plimsoll
from support.servers import StartServer, missing, server_base, start_server
from support.waiting import until

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

TRANSACTIONS = 20
SLEEP_S = 1.4
LAST = "SELECT 'it''s over, friends' FROM shop.items LIMIT 1"


@pytest.fixture
def mariadb_with_plugins(tmp_path: Path) -> str:
    """The command of a MariaDB that finds the plug-ins that Debian keeps apart."""
    plugins, server = os.environ.get("PLIMSOLL_TEST_MARIADB_PLUGINS"), shutil.which("mariadbd", path="/usr/sbin")
    if server is None or plugins is None or not (Path(plugins) / "server_audit.so").exists():
        return missing("MariaDB's audit plug-in is not here: source tools/test-servers.sh")
    script = tmp_path / "mariadbd"
    # The folder of plug-ins is no option of a system, since a server would run what lies there.
    script.write_text(f'#!/bin/sh\nexec {server} "$@" --plugin-dir={shlex.quote(plugins)}\n')
    script.chmod(0o755)
    return str(script)


def send(one: ControlConnection) -> tuple[float, float]:
    """Transactions and a pause; returns when the pause began and ended."""
    one.rows("CREATE DATABASE shop")
    one.rows("CREATE TABLE shop.items (id INT PRIMARY KEY, note VARCHAR(40))")
    for number in range(TRANSACTIONS):
        one.rows("BEGIN")
        one.rows(f"SELECT note FROM shop.items WHERE id = {number}")
        one.rows(f"INSERT INTO shop.items VALUES ({number},\n\t'it\\'s, \"{number}\"')")
        one.rows("COMMIT")
    began = time.time()
    one.rows(f"SELECT SLEEP({SLEEP_S})")
    ended = time.time()
    one.rows(LAST)
    return began, ended


def test_what_was_sent_is_found(mariadb_with_plugins: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mariadb", server=mariadb_with_plugins)
    log = tmp_path / "audit.log"
    with connect(server.socket_target) as control:
        control.rows("INSTALL SONAME 'server_audit'")
        control.rows(f"SET GLOBAL server_audit_file_path = '{log}'")
        control.rows("SET GLOBAL server_audit_logging = ON")
        with connect(server.socket_target) as one:
            began, ended = send(one)
        assert until(lambda: "it\\'\\'s over" in log.read_text())
        control.rows("SET GLOBAL server_audit_logging = OFF")
    words = ("--format", "mariadb-audit", "--json", "--keep-names", "--keep", "--work-dir", tmp_path)
    ran = plimsoll("learn", "report", *words, log)
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    counts = {one["text"]: one["count"] for one in report["templates"]}
    assert counts["SELECT note FROM shop.items WHERE id = ?"] == TRANSACTIONS
    assert counts["INSERT INTO shop.items VALUES (?, ?)"] == TRANSACTIONS
    found = next(one for one in report["types"] if one["statements_max"] == 2)
    assert (found["count"], found["rollback_ratio"]) == (TRANSACTIONS, 0)
    assert report["damaged_lines"] == []
    (folder,) = tmp_path.glob("plimsoll-log-*")
    events = pl.read_parquet(folder / "events.parquet").join(pl.read_csv(folder / "templates.csv"), on="template")
    pause = events.filter(pl.col("text") == "SELECT SLEEP(?)").row(0, named=True)
    # The plug-in writes the second of the end, which is never that of the start; it may read a coarser clock.
    assert int(began + SLEEP_S - 0.1) <= pause["start_us"] // 1_000_000 <= int(ended)
    literals = pl.read_parquet(folder / "literals.parquet").filter(pl.col("kind") == "text")
    lengths = literals.join(events.filter(pl.col("kind") == "insert"), on="event")["length"].to_list()
    assert lengths == [len(f'it\'s, "{number}"') for number in range(TRANSACTIONS)], "escapes are undone"
