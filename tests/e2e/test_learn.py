"""A load that is known is run on a server that logs everything as `plimsoll capture` says; its log shows that load."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from plimsoll.servers.capture import CAPTURES
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import plimsoll
from support.servers import StartServer, server_base, start_server

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

SECONDS = 2


def load(server: ManagedServer, workload: str, *options: str) -> dict[str, Any]:
    """Runs a workload from its first transaction on, and says what it did."""
    words = ("--target", str(server.target), "--workload", workload, "--connections", "3", *options)
    environment = {"PW": server.target.password.get_secret_value()}
    told = (
        *words,
        "--password-env",
        "PW",
        "--warm-up",
        "0s",
        "--duration",
        f"{SECONDS}s",
        "--think-time",
        "2ms",
        "--json",
    )
    ran = plimsoll("trial", *told, env=environment)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def prepare(server: ManagedServer, workload: str, *options: str) -> None:
    words = ("--target", str(server.target), "--workload", workload, *options, "--password-env", "PW")
    ran = plimsoll("prepare", *words, env={"PW": server.target.password.get_secret_value()})
    assert ran.returncode == 0, ran.stderr


def settings(control: ControlConnection, names: list[str]) -> dict[str, str]:
    variables = control.variables()
    return {name: variables[name] for name in names}


@pytest.mark.parametrize("flavour", ["mariadb", "mysql"])
def test_a_log_shows_the_load_that_was_run(flavour: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(flavour)
    prepare(server, "order-queue")
    captured = CAPTURES[flavour]
    names = [name for name, _ in captured.values]
    with connect(server.socket_target) as control:
        before = settings(control, names)
        for statement in captured.on:
            control.rows(statement)
        during = settings(control, names)
        ran = load(server, "order-queue")
        log = Path(control.variables()["datadir"]) / control.variables()["slow_query_log_file"]
        for statement in captured.off:
            name = statement.split()[2]
            control.rows(
                statement.replace("'<value before>'", "<value before>").replace("<value before>", _quoted(before[name]))
            )
        assert settings(control, names) == before
    assert (during["slow_query_log"], float(during["long_query_time"])) == ("ON", 0)
    copy = tmp_path / "slow.log.1"
    shutil.copy(log, copy)
    report = _report(copy, tmp_path / "report")

    # The log also has what this test, the engine's preflight and its telemetry asked.
    types = ran["transaction_types"]
    assert set(types) == {"produce", "consume"}
    inserts = [one for one in report["templates"] if one["kind"] == "insert"]
    logged, completed = sum(insert["count"] for insert in inserts), types["produce"]["transactions"]
    assert completed <= logged <= completed + 3  # the load ends while one of each connection is under way
    locking = [one for one in report["templates"] if one["kind"] == "select_locking"]
    assert len(locking) == 1
    assert locking[0]["count"] >= types["consume"]["transactions"]
    consume = next(one for one in report["types"] if locking[0]["template"] in one["templates"])
    assert len(consume["templates"]) == 3
    in_part = 3 / consume["count"]  # the end of the load may come within the last of each connection
    assert consume["statements"] == pytest.approx(3, rel=0.01 + in_part)
    assert not consume["reads_only"]
    assert report["doubts"] == [] or {one["code"] for one in report["doubts"]} == {"times-in-seconds"}
    # They began while the load ran, and within the seconds that it was given.
    by_second, done = report["arrivals"]["steps_tps"], sum(one["transactions"] for one in types.values())
    assert report["arrivals"]["step_s"] == 1
    assert sum(by_second) == pytest.approx(report["transactions_count"])
    windows = [sum(by_second[begin : begin + SECONDS + 2]) for begin in range(len(by_second))]
    assert max(windows) >= 0.98 * done
    texts = (tmp_path / "report" / "report.html").read_text(), (tmp_path / "report" / "report.md").read_text()
    assert "queue_orders" not in "".join((*texts, json.dumps(report))), "names are replaced"


def test_compressed_logs_read_the_same_and_private_tables_are_gone(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mariadb", options={"slow_query_log": "ON", "long_query_time": 0, "log_output": "FILE"})
    prepare(server, "oltp_read_only", "--table-size", "100")
    load(server, "oltp_read_only", "--table-size", "100")
    with connect(server.socket_target) as control:
        log = Path(control.variables()["datadir"]) / control.variables()["slow_query_log_file"]
    plain, packed, work = tmp_path / "slow.log", tmp_path / "slow.log.gz", tmp_path / "work"
    shutil.copy(log, plain)
    packed.write_bytes(gzip.compress(plain.read_bytes(), 1))
    work.mkdir()
    found = [_report(one, tmp_path / one.name.replace(".", "-"), "--work-dir", work) for one in (plain, packed)]
    assert found[0] == found[1]
    assert list(work.iterdir()) == []
    shown = plimsoll("learn", "report", plain, "--work-dir", work)
    assert "FROM sbtest1 WHERE id = ?" in shown.stdout or "FROM `sbtest1` WHERE `id` = ?" in shown.stdout, shown.stdout


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)) * 1000)
    ran = plimsoll("learn", "report", noise, tmp_path / "none.log")
    assert ran.returncode == 2
    assert "none.log: cannot be read: No such file" in ran.stderr
    ran = plimsoll("learn", "report", noise)
    assert ran.returncode in (0, 2)
    assert "Traceback" not in ran.stderr


def _report(log: Path, folder: Path, *options: str | Path) -> dict[str, Any]:
    ran = plimsoll("learn", "report", log, "-o", folder, "--json", *options)
    assert ran.returncode == 0, ran.stderr
    report: dict[str, Any] = json.loads(ran.stdout)
    assert json.loads((folder / "report.json").read_text()) == report
    return report


def _quoted(value: str) -> str:
    return value if value.replace(".", "").isdigit() or value in ("ON", "OFF") else f"'{value}'"
