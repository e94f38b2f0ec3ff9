"""Binary logs of real servers: the transactions that were committed, with their tables, rows and times."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import plimsoll
from support.servers import FLAVOURS, StartServer, server_base, start_server

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

ROUNDS = 25


def send(server: ManagedServer, form: str) -> list[tuple[float, float]]:
    """Transactions of one session, a single write of another; gives when each COMMIT was sent and answered."""
    commits = []
    with connect(server.socket_target) as one, connect(server.socket_target) as other:
        for control in (one, other):
            control.rows(f"SET SESSION binlog_format = {form}")
        for number in range(ROUNDS):
            one.rows("BEGIN")
            one.rows(f"INSERT INTO shop.secretitems (id, n) VALUES ({number}, 1), ({number + 1000}, 2)")
            one.rows(f"SELECT n FROM shop.secretitems WHERE id = {number}")
            one.rows(f"UPDATE shop.secretstock SET n = n + 1 WHERE id <= {number % 3}")
            began = time.time()
            one.rows("COMMIT")
            commits.append((began, time.time()))
            other.rows(f"DELETE FROM shop.secretitems WHERE id = {number + 1000}")
            one.rows("BEGIN")
            one.rows("DELETE FROM shop.secretstock")
            one.rows("ROLLBACK")
    return commits


def report(*words: object) -> dict[str, Any]:
    ran = plimsoll("learn", "report", "--json", *words)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_transactions_are_those_that_were_committed(flavour: str, start_server: StartServer, tmp_path: Path) -> None:
    """In both forms of the log, by rows and by statements."""
    server = start_server(flavour, options={"log_bin": "binlog", "server_id": "7"})
    with connect(server.socket_target) as control:
        control.rows("CREATE DATABASE shop")
        for table in ("secretitems", "secretstock"):
            control.rows(f"CREATE TABLE shop.{table} (id INT PRIMARY KEY, n INT)")
        control.rows("INSERT INTO shop.secretstock VALUES (0, 0), (1, 0), (2, 0)")
        for form in ("ROW", "STATEMENT"):
            folder = tmp_path / form
            folder.mkdir()
            logs, commits = logged(server, control, form, folder)
            check_report(flavour, form, logs, commits, folder)


def logged(
    server: ManagedServer, control: ControlConnection, form: str, to: Path
) -> tuple[list[Path], list[tuple[float, float]]]:
    """Sends the load twice; gives copies of the two logs of it, and when each COMMIT was sent and answered."""
    control.rows("FLUSH BINARY LOGS")
    folder = Path(control.variables()["datadir"])
    before = len(list(folder.glob("binlog.0*"))) - 1
    commits = []
    for _ in range(2):
        remove_items(server)
        commits += send(server, form)
        control.rows("FLUSH BINARY LOGS")
    return [Path(shutil.copy(file, to)) for file in sorted(folder.glob("binlog.0*"))[before : before + 2]], commits


def check_report(flavour: str, form: str, logs: list[Path], commits: list[tuple[float, float]], tmp_path: Path) -> None:
    found = report(*logs, "--keep", "--work-dir", tmp_path, "--keep-names")
    assert found["damaged_lines"] == [], form
    assert [one["format"] for one in found["sources"]] == ["binlog", "binlog"]
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for one in found["templates"]:
        by_kind.setdefault(one["kind"], []).append(one)
    assert {kind: sum(one["count"] for one in every) for kind, every in by_kind.items()} == {
        "insert": 2 * ROUNDS,
        "update": 2 * ROUNDS,
        "delete": 2 * ROUNDS,
    }, "no reads, and nothing that was rolled back"
    if form == "ROW":
        assert {one["rows_affected"] for one in by_kind["insert"]} == {2}
        changed = 2 * sum(number % 3 + 1 for number in range(ROUNDS))
        assert sum(one["rows_affected"] * one["count"] for one in by_kind["update"]) == pytest.approx(changed)
    sizes = {one["statements"]: one["count"] for one in found["types"]}
    assert sizes == {2: 2 * ROUNDS, 1: 2 * ROUNDS}
    codes = {one["code"]: one["is_refusal"] for one in found["doubts"]}
    assert codes["writes-only"]
    assert codes["no-reads"]
    assert ("no-sessions" in codes) == (flavour == "mariadb")
    check_times(tmp_path, commits, is_exact=flavour == "mysql")
    assert sum(found["arrivals"]["steps_tps"]) * found["arrivals"]["step_s"] == pytest.approx(4 * ROUNDS)
    assert found["sessions"]["count"] == (4 if flavour == "mysql" else 1)

    shared = json.dumps(report(*logs, "-o", tmp_path / "shared"))
    texts = [(tmp_path / "shared" / name).read_text() for name in ("report.html", "report.md", "report.json")]
    assert not any("secret" in text for text in [shared, *texts])


def remove_items(server: ManagedServer) -> None:
    """What an earlier load inserted is removed, without a log of it."""
    with connect(server.socket_target) as control:
        control.rows("SET SESSION sql_log_bin = 0")
        control.rows("DELETE FROM shop.secretitems")


def check_times(folder: Path, commits: list[tuple[float, float]], *, is_exact: bool) -> None:
    """Each transaction lies where the client saw its COMMIT, within the resolution of the log."""
    (tables,) = folder.glob("plimsoll-log-*")
    templates = pl.read_csv(tables / "templates.csv").select("template", "kind")
    events = pl.read_parquet(tables / "events.parquet").join(templates, on="template").sort("event")
    inserted = (events.filter(pl.col("kind") == "insert")["start_us"] / 1e6).to_list()
    assert len(inserted) == len(commits)
    slack_s = 0.001 if is_exact else 1.0
    for (began, ended), at_s in zip(commits, inserted, strict=True):
        assert began - slack_s <= at_s <= ended + slack_s


def test_an_encrypted_log_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(b"\xfdbin\x01" + bytes(range(256)) * 4)
    ran = plimsoll("learn", "report", log)
    assert ran.returncode == 2
    assert "is encrypted" in ran.stderr
