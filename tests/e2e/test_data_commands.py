"""`plimsoll prepare`, killed and run again, and `plimsoll check`, as users do it, on each server."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import assert_one_clear_message, connecting, login, plimsoll, start
from support.servers import mysql_in_endure, running_server

__all__ = ["running_server"]
pytestmark = pytest.mark.e2e

ROWS = 150_000


@pytest.fixture
def target(running_server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return login(running_server, monkeypatch)


def execute(server: ManagedServer, statement: str) -> list[tuple[object, ...]]:
    with connect(server.target) as control:
        return control.rows(statement)


@mysql_in_endure
def test_check_says_by_its_exit_code_whether_rows_are_as_they_were_made(
    running_server: ManagedServer, target: list[str]
) -> None:
    size = ["--table-size", "52000"]
    assert_one_clear_message(plimsoll("check", *target, *size), 4, "sbtest1 does not exist", "plimsoll prepare")
    assert plimsoll("prepare", *target, *size).returncode == 0
    ran = plimsoll("check", *target, *size)
    assert (ran.returncode, ran.stderr) == (0, connecting(running_server))
    assert "52,000 rows in 1 table(s) are there, each as it was made" in ran.stdout
    execute(running_server, "UPDATE sbtest1 SET k = k + 1 WHERE id = 50007")
    assert_one_clear_message(plimsoll("check", *target, *size), 4, "sbtest1 id 50001 to 52000", "plimsoll cleanup")
    ran = plimsoll("check", *target, *size, "--count-only")
    assert ran.returncode == 0, ran.stderr
    execute(running_server, "DELETE FROM sbtest1 WHERE id = 50007")
    assert_one_clear_message(plimsoll("check", *target, *size, "--count-only"), 4, "51999 1 52000")
    assert plimsoll("cleanup", *target).returncode == 0


@mysql_in_endure
@pytest.mark.parametrize(("comment", "left"), [("plimsoll heartbeat 1", 0), ("mine", 1)])
def test_cleanup_takes_the_heartbeat_and_no_other_table_of_its_name(
    running_server: ManagedServer, target: list[str], comment: str, left: int
) -> None:
    execute(running_server, f"CREATE TABLE plimsoll_heartbeat (id INT) COMMENT '{comment}'")
    assert plimsoll("cleanup", *target).returncode == 0
    assert len(execute(running_server, "SHOW TABLES LIKE 'plimsoll_heartbeat'")) == left
    execute(running_server, "DROP TABLE IF EXISTS plimsoll_heartbeat")


@mysql_in_endure
def test_prepare_that_was_killed_goes_on(running_server: ManagedServer, target: list[str]) -> None:
    size = ["--table-size", str(ROWS)]
    killed = start("prepare", *target, *size, "--loaders", "1")  # one chunk of 50,000 rows after the other
    while not _has_rows(running_server):
        assert killed.poll() is None, killed.communicate()
    killed.kill()
    killed.communicate()
    (count,) = execute(running_server, "SELECT COUNT(*) FROM sbtest1")[0]
    assert isinstance(count, int)
    assert 0 < count < ROWS, "it was killed too late"
    assert_one_clear_message(plimsoll("check", *target, *size), 4, "unfinished", "plimsoll prepare")
    assert plimsoll("prepare", *target, *size).returncode == 0
    ran = plimsoll("check", *target, *size)
    assert ran.returncode == 0, ran.stderr
    assert plimsoll("cleanup", *target).returncode == 0


OWN = """
[[table]]
name = "readings"
rows = 60_000
primary_key = ["sensor", "at"]

[[table.column]]
name = "sensor"
generate = "integer"
from = 1
to = 200

[[table.column]]
name = "at"
generate = "timestamp"
from = 2026-01-01T00:00:00
every = "100ms"

[[table.column]]
name = "unit"
generate = "choice"
values = ["it's", "ä"]
null_ratio = 0.3

[[table]]
name = "sensors"
rows = 200

[[table.column]]
name = "id"
generate = "sequence"

[[transaction]]
name = "look"

[[transaction.statement]]
sql = "SELECT id FROM sensors WHERE id = :id"
values.id = { generate = "reference", table = "sensors" }
"""


@mysql_in_endure
def test_the_tables_of_a_workload_file_are_compared(
    running_server: ManagedServer, target: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN, encoding="utf-8")
    own = [*target, "--workload", str(file)]
    assert plimsoll("prepare", *own).returncode == 0
    ran = plimsoll("check", *own)
    assert (ran.returncode, ran.stderr) == (0, connecting(running_server))
    assert "60,200 rows in 2 table(s) are there, each as it was made" in ran.stdout
    execute(running_server, "UPDATE sensors SET id = 0 WHERE id = 7")
    execute(running_server, "UPDATE readings SET unit = 'kg' WHERE at = '2026-01-01 01:23:20'")
    told = ["readings rows 50001 to 60000", "sensors id 1 to 200", "plimsoll cleanup"]
    assert_one_clear_message(plimsoll("check", *own), 4, *told)
    ran = plimsoll("check", *own, "--count-only")
    assert ran.returncode == 0, ran.stderr
    execute(running_server, "DELETE FROM sensors WHERE id = 0")
    for command in (["check", *own, "--count-only"], ["prepare", *own]):
        assert_one_clear_message(plimsoll(*command), 4, "sensors has 199 rows and not 200", "plimsoll cleanup")
    assert plimsoll("cleanup", *own).returncode == 0


def _has_rows(server: ManagedServer) -> bool:
    if not execute(server, "SHOW TABLES LIKE 'sbtest1'"):
        return False
    return bool(execute(server, "SELECT 1 FROM sbtest1 LIMIT 1"))
