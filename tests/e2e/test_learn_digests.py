"""A load that is known runs between two snapshots of a server's counters: what they show is that load."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import plimsoll
from support.servers import FLAVOURS, StartServer, server_base, start_server

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

ROUNDS = 30
CONNECTIONS = 3


def digests(server: ManagedServer, *options: object) -> Any:
    """Runs `plimsoll learn digests` as the administrator of the server."""
    words = ("--target", str(server.target), "--password-env", "PW", *options)
    return plimsoll("learn", "digests", *words, env={"PW": server.target.password.get_secret_value()})


def report(server: ManagedServer, *options: object) -> dict[str, Any]:
    ran = digests(server, "--json", *options)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def send(one: ControlConnection) -> None:
    """Statements whose counts, rows and errors are known."""
    for number in range(ROUNDS):
        one.rows("BEGIN")
        one.rows(f"INSERT INTO shop.items VALUES ({number}, 1), ({number + 1000}, 2)")
        one.rows(f"SELECT id, n FROM shop.items WHERE id IN ({number}, {number + 1000}, 77777)")
        one.rows(f"UPDATE shop.items SET n = n + 1 WHERE id = {number}")
        one.rows("COMMIT")
    with pytest.raises(Exception, match="nosuch"):
        one.rows("SELECT 1 FROM shop.nosuch WHERE id = 5")


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_known_load_is_counted_exactly(flavour: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(flavour, options={"performance_schema": "ON"})
    load = ("--target", str(server.target), "--workload", "order-queue", "--password-env", "PW")
    secret = {"PW": server.target.password.get_secret_value()}
    assert plimsoll("prepare", *load, env=secret).returncode == 0
    with connect(server.socket_target) as one:
        one.rows("CREATE DATABASE shop")
        one.rows("CREATE TABLE shop.items (id INT PRIMARY KEY, n INT)")
        before = tmp_path / "before.json"
        assert digests(server, "--snapshot", before).returncode == 0
        assert before.stat().st_mode & 0o777 == 0o600
        send(one)
        told = (
            "--connections",
            str(CONNECTIONS),
            "--think-time",
            "1ms",
            "--warm-up",
            "0s",
            "--duration",
            "2s",
            "--json",
        )
        ran = plimsoll("trial", *load, *told, env=secret)
        assert ran.returncode == 0, ran.stderr
    found = report(server, "--since", before, "--keep-names", "-o", tmp_path / "named")
    by_text = {one["text"].replace("`", "").upper().replace(" . ", "."): one for one in found["templates"]}

    insert = next(one for text, one in by_text.items() if text.startswith("INSERT INTO SHOP.ITEMS"))
    assert (insert["count"], insert["rows_affected"], insert["errors_count"]) == (ROUNDS, 2, 0)
    select = next(one for text, one in by_text.items() if text.startswith("SELECT ID , N FROM SHOP.ITEMS"))
    assert (select["count"], select["rows_sent"], select["kind"]) == (ROUNDS, 2, "select")
    failed = next(one for text, one in by_text.items() if "NOSUCH" in text)
    assert (failed["count"], failed["errors_count"]) == (1, 1)
    # The engine prepares its statements. MariaDB does not count those, and that is told.
    transactions = {name: one["transactions"] for name, one in json.loads(ran.stdout)["transaction_types"].items()}
    produced = transactions["produce"]
    orders = sum(one["count"] for text, one in by_text.items() if text.startswith("INSERT INTO QUEUE_ORDERS"))
    doubts = {one["code"]: one for one in found["doubts"]}
    if flavour == "mariadb":
        assert orders == 0
        assert set(doubts) == {"digests-only", "digests-no-histograms", "digests-prepared"}
        assert doubts["digests-prepared"]["is_refusal"]
        share, counted = (
            doubts["digests-prepared"]["figures"]["share"],
            found["statements_count"] + found["other_count"],
        )
        assert share / (1 - share) * counted >= sum(transactions.values()), "each has at least one prepared statement"
    else:
        # Some were in flight when the load ended, and a busy server may count one that its client gave up.
        # Sessions add to a digest's count without a lock, so two that end a statement at one moment may lose one.
        assert produced * 0.995 <= orders <= produced + 2 * CONNECTIONS
        assert set(doubts) == {"digests-only"}
        assert all(one["p95_ms"] <= one["p99_ms"] for one in found["templates"])
        # One execution that waits for a processor lifts a mean far above its 95th percentile; it does so to few of all.
        assert median(one["p95_ms"] / one["mean_ms"] for one in found["templates"]) > 1 / 20

    plain = report(server, "--since", before, "-o", tmp_path / "plain")
    texts = [(tmp_path / "plain" / name).read_text() for name in ("report.html", "report.md", "report.json")]
    assert not any(name in text for name in ("queue_orders", "nosuch") for text in [*texts, json.dumps(plain)])


def test_counters_that_were_reset_and_a_full_table(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mariadb", options={"performance_schema": "ON", "performance_schema_digests_size": "200"})
    before = tmp_path / "before.json"
    assert digests(server, "--snapshot", before).returncode == 0
    with connect(server.socket_target) as one:
        one.rows("TRUNCATE TABLE performance_schema.events_statements_summary_by_digest")
        for number in range(400):
            one.rows(f"SELECT 1 AS column_{number}")
    found = report(server, "--since", before)
    doubts = {one["code"]: one for one in found["doubts"]}
    assert found["from_unix_s"] is None
    assert "digests-reset" in doubts
    assert doubts["digests-overflow"]["is_refusal"]
    assert doubts["digests-overflow"]["figures"]["size"] == 200
    assert 0.4 < doubts["digests-overflow"]["figures"]["share"] < 0.6
    shown = digests(server, "--for", "1s")
    assert "Before you rely on a figure" in shown.stdout, shown.stderr


def test_what_to_do_where_nothing_is_counted(start_server: StartServer, tmp_path: Path) -> None:
    off = start_server("mariadb")
    ran = digests(off, "--for", "1s")
    assert ran.returncode == 3
    assert "performance_schema=ON" in ran.stderr
    server = start_server("mariadb", name="on", options={"performance_schema": "ON"})
    with connect(server.socket_target) as control:
        control.rows("UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'")
        ran = digests(server, "--for", "1s")
        assert ran.returncode == 3
        cure = ran.stderr[ran.stderr.index("UPDATE performance_schema") :].split(";")[0]
        control.rows(" ".join(cure.split()))
        assert digests(server, "--for", "1s").returncode == 0
        control.rows("CREATE USER 'blind'@'localhost'")
        address = f"mysql://blind@/information_schema?socket={server.socket_target.socket}"
        ran = plimsoll("learn", "digests", "--target", address, "--for", "1s")
        assert ran.returncode == 3
        grant = ran.stderr[ran.stderr.index("GRANT SELECT") :].split(";")[0]
        control.rows(" ".join(grant.split()))
        ran = plimsoll("learn", "digests", "--target", address, "--for", "1s")
        assert ran.returncode == 0, ran.stderr
    ran = digests(server, "--for", "1s", "--snapshot", tmp_path / "x")
    assert (ran.returncode, "give one of them" in ran.stderr) == (2, True)
    (tmp_path / "no.json").write_text("{}")
    assert digests(server, "--since", tmp_path / "no.json").returncode == 5
