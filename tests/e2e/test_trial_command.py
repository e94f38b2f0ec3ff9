"""`plimsoll trial`, `prepare` and `cleanup` as scripts use them: on sysbench's own tables, with the promised JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.run.preflight import refuse_before_start
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.study import parse_study
from support.command import COMMAND, login, plimsoll, real_server, start_forked
from support.terminal import Terminal, lines_of
from support.warned import codes_of

pytestmark = pytest.mark.e2e

ROWS = 5000
TABLES = ("--tables", "2", "--table-size", str(ROWS))
ELSEWHERE = "elsewhere"
STATEMENTS = {"oltp_read_only": 16, "oltp_read_write": 20, "oltp_write_only": 6, "oltp_point_select": 1}
THINKING = ("--think-time", "10ms")
"""Leaves processors to others."""


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    with real_server(Path("/var/tmp/plimsoll-test-trial")) as running:
        yield running


@pytest.fixture
def target(server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return [*login(server, monkeypatch), *TABLES]


@pytest.fixture(scope="module")
def rows(server: ManagedServer) -> None:
    """Tables for tests that leave them there, and how many rows they have."""
    password = {"PW": server.target.password.get_secret_value()}
    ran = plimsoll("prepare", "--target", str(server.target), "--password-env", "PW", *TABLES, env=password)
    assert ran.returncode == 0, ran.stderr


@pytest.fixture
def elsewhere(server: ManagedServer, target: list[str]) -> Iterator[list[str]]:
    """The same target with an empty database."""
    with connect(server.target) as control:
        control.rows(f"CREATE DATABASE {ELSEWHERE}")
        yield [target[0], target[1].replace(f"/{server.target.database}", f"/{ELSEWHERE}"), *target[2:]]
        control.rows(f"DROP DATABASE {ELSEWHERE}")


def tables(server: ManagedServer) -> list[str]:
    with connect(server.target) as control:
        return sorted(name for (name,) in control.rows(f"SHOW TABLES IN {ELSEWHERE}"))


def test_tables_are_made_used_and_removed(server: ManagedServer, elsewhere: list[str]) -> None:
    prepared = plimsoll("prepare", *elsewhere)
    assert prepared.returncode == 0, prepared.stderr
    assert tables(server) == ["sbtest1", "sbtest2"]
    for kind in STATEMENTS:
        load = ("--workload", kind, "--connections", "4", "--duration", "2s", "--warm-up", "0s", *THINKING)
        ran = plimsoll("trial", *elsewhere, *load, "--json")
        assert ran.returncode == 0, f"{kind}: {ran.stderr}"
        check_result(json.loads(ran.stdout), kind)
    assert plimsoll("cleanup", *elsewhere).returncode == 0
    assert tables(server) == []


def check_result(result: dict[str, object], kind: str) -> None:
    """The keys are a promise to scripts; the figures must fit each other."""
    assert set(result) >= {
        "throughput_tps", "transactions", "statements", "errors", "response_ms", "service_ms", "client", "warnings",
    }  # fmt: skip
    transactions, duration_s = result["transactions"], result["duration_s"]
    assert isinstance(transactions, int)
    assert isinstance(duration_s, float)
    assert transactions > 0, kind
    assert result["throughput_tps"] == pytest.approx(transactions / duration_s)
    assert result["statements"] == pytest.approx(STATEMENTS[kind] * transactions, rel=0.05), kind
    for name in ("response_ms", "service_ms"):
        times = result[name]
        assert isinstance(times, dict)
        assert set(times) == {"p50", "p90", "p95", "p99", "p999", "max", "mean", "lower_bounds"}
        assert 0 < times["p50"] <= times["p95"] <= times["max"]
    assert isinstance(result["client"], dict)
    assert {"cpu_s", "cpu_us_per_statement", "memory_mb_peak"} <= set(result["client"])


def test_tables_that_sysbench_made_are_used_as_they_are(server: ManagedServer, elsewhere: list[str]) -> None:
    if shutil.which("sysbench") is None:
        if os.environ.get("CI"):
            pytest.fail("sysbench is missing")
        pytest.skip("SKIPPED: no sysbench here")
    subprocess.run(
        [
            "sysbench", "oltp_read_write", "--mysql-host=127.0.0.1", f"--mysql-port={server.target.port}",
            f"--mysql-user={server.target.user}", f"--mysql-password={os.environ['PW']}",
            f"--mysql-db={ELSEWHERE}", "--tables=2", f"--table-size={ROWS}", "prepare",
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    with connect(server.target) as control:
        before = control.rows(f"SHOW CREATE TABLE {ELSEWHERE}.sbtest1")
        ran = plimsoll("trial", *elsewhere, "--workload", "oltp_read_write", "--duration", "2s", *THINKING, "--json")
        assert ran.returncode == 0, ran.stderr
        assert codes_of(json.loads(ran.stdout)["warnings"]) == []
        assert control.rows(f"SHOW CREATE TABLE {ELSEWHERE}.sbtest1") == before
    refused = plimsoll("cleanup", *elsewhere)
    assert refused.returncode == 3
    assert "--drop-foreign" in refused.stderr
    assert tables(server) == ["sbtest1", "sbtest2"]
    assert plimsoll("cleanup", *elsewhere, "--drop-foreign").returncode == 0
    assert tables(server) == []


def test_keys_beyond_the_rows_are_refused_of_our_tables_and_warned_about_of_others(
    server: ManagedServer, elsewhere: list[str]
) -> None:
    assert plimsoll("prepare", *elsewhere).returncode == 0
    larger = [*elsewhere[:-1], str(ROWS * 8)]
    refused = plimsoll("trial", *larger, "--workload", "oltp_point_select", "--duration", "2s")
    assert refused.returncode == 3
    assert f"sbtest1 was prepared with {ROWS} rows, and table_size is {ROWS * 8}: set table_size to" in refused.stderr
    with connect(server.target) as control:
        for name in tables(server):
            control.rows(f"ALTER TABLE {ELSEWHERE}.{name} COMMENT = ''")
    ran = plimsoll("trial", *larger, "--workload", "oltp_point_select", "--duration", "2s", *THINKING, "--json")
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert codes_of(result["warnings"]) == ["key-range-misses-data"]
    assert result["rows_returned"] < 0.2 * result["transactions"]
    assert plimsoll("cleanup", *elsewhere, "--drop-foreign").returncode == 0


@pytest.mark.usefixtures("rows")
def test_statements_as_text_do_the_same(target: list[str]) -> None:
    ran = plimsoll("trial", *target, "--workload", "oltp_read_write", "--duration", "2s", *THINKING, "--text", "--json")
    assert ran.returncode == 0, ran.stderr
    check_result(json.loads(ran.stdout), "oltp_read_write")


def test_a_throwaway_server_needs_nothing() -> None:
    ran = plimsoll("trial", "--target", "managed", "--table-size", "1000", "--duration", "2s", *THINKING, "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["transactions"] > 0


@pytest.mark.usefixtures("rows")
def test_overload_is_measured_and_its_end_reported(target: list[str]) -> None:
    rate = ["--rate", "50000 for 1500ms, 10", "--arrivals", "uniform", "--backlog", "100", "--warm-up", "0s"]
    ran = plimsoll("trial", *target, "--workload", "oltp_read_write", "--connections", "4", "--duration", "10s",
                   *rate, "--json")  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    loop = json.loads(ran.stdout)["open_loop"]
    assert loop["offered"] == 75_000 + 85
    assert loop["offered"] == loop["completed"] + loop["failed"] + loop["dropped"] + loop["unfinished"]
    assert loop["dropped"] > 25_000
    overload = loop["overloads"][0]
    assert overload["from_s"] == 0.0
    assert 90 <= overload["backlog_max"] <= 100  # at the end of the first interval, when some may just have been taken
    assert overload["recovery_s"] == overload["to_s"] - 1.5


def test_a_rate_that_is_none_is_refused_before_anything_is_connected(target: list[str]) -> None:
    ran = plimsoll("trial", *target, "--rate", "fast")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--rate: must be transactions per second" in ran.stderr


@pytest.mark.usefixtures("rows")
def test_lost_connections_are_told_with_what_was_lost(server: ManagedServer, target: list[str]) -> None:
    arguments = ["--workload", "oltp_read_only", "--connections", "4", "--duration", "9s", "--warm-up", "0s", "--json"]
    ran = start_forked("trial", *target, *arguments, *THINKING)
    assert ran.stderr is not None
    assert "1.0 s" in ran.stderr.readline()
    with connect(server.target) as control:
        for (number,) in control.rows("SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()"):
            control.rows(f"KILL {number}")
    output, errors = ran.communicate(timeout=300)
    assert ran.returncode == 0, errors
    result = json.loads(output)
    assert sum(result["errors_by_class"]["connection"].values()) == 4
    assert (result["failed"], sum(one["lost_count"] for one in result["outages"])) == (4, 4)
    assert result["connections"]["opened_count"] == 4
    assert codes_of(result["warnings"]) == ["outage"]


@pytest.mark.usefixtures("rows")
def test_clients_that_think_wait_between_transactions(target: list[str]) -> None:
    arguments = ["--workload", "oltp_point_select", "--connections", "50", "--duration", "3s", "--connect-rate", "100"]
    ran = plimsoll("trial", *target, *arguments, "--think-time", "500ms..500ms", "--json")
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert 50 <= result["transactions"] <= 300  # each at most twice a second
    assert result["connections"]["connect_s"] >= 0.49


STUDY = """
[study]
name = "s"
levels = {{ connections = [1, {level}] }}
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
target = "{url}"
password_env = "PW"
"""


def test_a_level_that_a_running_server_would_not_let_in_is_told_before_the_study(elsewhere: list[str]) -> None:
    url = elsewhere[1]
    low = parse_study(STUDY.format(level=8, url=url))
    refuse_before_start(low, Path("/var/tmp"), 1)
    high = parse_study(STUDY.format(level=9000, url=url))
    with pytest.raises(HostError, match=r"max_connections is 2048, too few for the level of 9,000 .* set it to 9008"):
        refuse_before_start(high, Path("/var/tmp"), 1)


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        ((), 4, "plimsoll prepare"),
        (("--connections", "9000"), 3, "max_connections is 2048, too few for the level of 9,000"),
    ],
)
def test_a_search_on_a_server_that_is_not_ready_is_refused_before_its_first_run(
    tmp_path: Path, elsewhere: list[str], more: tuple[str, ...], code: int, told: str
) -> None:
    ran = plimsoll("capacity", *elsewhere, *more, "--response-p99", "20ms", "--record", str(tmp_path / "runs"))
    assert ran.returncode == code, ran.stderr
    assert told in ran.stderr
    assert not (tmp_path / "runs").exists()


def test_where_nothing_completes_the_errors_are_named(target: list[str]) -> None:
    legacy = [word for word in target if word not in ("--tables", "2")]
    kind = ["--workload", "oltp_0.4_sp", "-o", "procedure=nosuch"]
    assert plimsoll("prepare", *legacy, *kind).returncode == 0
    ran = plimsoll("trial", *legacy, *kind, "--connections", "2", "--duration", "1s")
    assert ran.returncode == 4, ran.stderr
    assert "no transaction completed within 1 s; errors: 1305 (statement) " in " ".join(ran.stderr.split())
    assert plimsoll("cleanup", *legacy, *kind).returncode == 0


def test_a_terminal_has_a_panel_while_the_load_runs(target: list[str], rows: None) -> None:
    words = [str(COMMAND), "trial", *target, "--connections", "2", "--warm-up", "1s", "--duration", "2s", *THINKING]
    with Terminal(words, columns=40) as terminal:
        out, written = terminal.finish()
    assert terminal.process.returncode == 0, written
    panel = written[written.index(" of 3 s") :]
    assert "throughput  " in panel
    assert max(map(len, lines_of(panel))) <= 40, panel
    assert panel[panel.rindex("p99") :].count("\x1b[2K") >= 4, "it is gone at the end"
    assert "throughput" in out
