"""`plimsoll prepare`, killed and run again, and `plimsoll check`, as users do it, on each server."""

from __future__ import annotations

import pytest

from plimsoll.servers.control import connect
from plimsoll.servers.managed import ManagedServer
from support.command import assert_one_clear_message, plimsoll, start
from support.servers import running_server

__all__ = ["running_server"]
pytestmark = pytest.mark.e2e

ROWS = 400_000


@pytest.fixture
def target(running_server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("PW", running_server.target.password.get_secret_value())
    url = (
        f"mysql://{running_server.target.user}@127.0.0.1:{running_server.target.port}/{running_server.target.database}"
    )
    return ["--target", url, "--password-env", "PW"]


def execute(server: ManagedServer, statement: str) -> list[tuple[object, ...]]:
    with connect(server.target) as control:
        return control.rows(statement)


def test_check_says_by_its_exit_code_whether_rows_are_as_they_were_made(
    running_server: ManagedServer, target: list[str]
) -> None:
    size = ["--table-size", "60000"]
    assert_one_clear_message(plimsoll("check", *target, *size), 4, "sbtest1 does not exist", "plimsoll prepare")
    assert plimsoll("prepare", *target, *size).returncode == 0
    ran = plimsoll("check", *target, *size)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "60,000 rows in 1 table(s) are there, each as it was made" in ran.stdout
    execute(running_server, "UPDATE sbtest1 SET k = k + 1 WHERE id = 50007")
    assert_one_clear_message(plimsoll("check", *target, *size), 4, "sbtest1 id 50001 to 60000", "plimsoll cleanup")
    ran = plimsoll("check", *target, *size, "--count-only")
    assert ran.returncode == 0, ran.stderr
    execute(running_server, "DELETE FROM sbtest1 WHERE id = 50007")
    assert_one_clear_message(plimsoll("check", *target, *size, "--count-only"), 4, "59999 1 60000")
    assert plimsoll("cleanup", *target).returncode == 0


def test_prepare_that_was_killed_goes_on(running_server: ManagedServer, target: list[str]) -> None:
    size = ["--table-size", str(ROWS)]
    killed = start("prepare", *target, *size)
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


def _has_rows(server: ManagedServer) -> bool:
    if not execute(server, "SHOW TABLES LIKE 'sbtest1'"):
        return False
    return bool(execute(server, "SELECT 1 FROM sbtest1 LIMIT 1"))
