"""An engine that is killed in any phase, a table that is locked, a server that hangs: none is a bug of ours."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.cli.options import workload_of
from plimsoll.drive import engine as engine_module
from plimsoll.drive.engine import LocalDriver, run_data_command
from plimsoll.drive.plans import data_line
from plimsoll.drive.protocol import Progress
from plimsoll.errors import HostError, TargetError
from plimsoll.run.single import SingleRun, run_single
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.workloads import Workload
from support.command import Running, assert_one_clear_message, engines_of, plimsoll, real_server, start_forked
from support.waiting import until

pytestmark = pytest.mark.e2e

ROWS = "1000"


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    with real_server(Path("/var/tmp/plimsoll-test-broken-off")) as running:
        prepared = plimsoll("prepare", *target(running), "--table-size", ROWS, env=password(running))
        assert prepared.returncode == 0, prepared.stderr
        yield running


def target(server: ManagedServer) -> list[str]:
    return ["--target", f"mysql://plimsoll@127.0.0.1:{server.target.port}/sbtest", "--password-env", "PW"]


def password(server: ManagedServer) -> dict[str, str]:
    return {"PW": server.target.password.get_secret_value()}


def kill_engine(process: Running, verb: str, *, when: Callable[[], bool]) -> None:
    """Kills the engine of a command that carries out one of its own, once something is so."""
    engines: list[int] = []

    def is_there() -> bool:
        engines.extend(engines_of(process, verb) if when() else ())
        return bool(engines) or process.poll() is not None

    assert until(is_there)
    assert process.poll() is None, process.communicate()
    (engine,) = engines
    os.kill(engine, signal.SIGKILL)


def ended(process: Running) -> subprocess.CompletedProcess[str]:
    out, errors = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


def has_rows(server: ManagedServer, table: str) -> bool:
    with connect(server.target) as control:
        found = control.rows("SELECT 1 FROM information_schema.tables WHERE table_name = %s", table)
        return bool(found and control.rows(f"SELECT 1 FROM {table} LIMIT 1"))


def test_the_engine_killed_while_it_loads(server: ManagedServer) -> None:
    kind = ["--workload", "oltp_0.4_simple", "--table-size", "20000000"]
    process = start_forked("prepare", *target(server), *kind, env=password(server))
    kill_engine(process, "prepare", when=lambda: has_rows(server, "sbtest"))
    assert_one_clear_message(ended(process), 3, "plimsoll-engine was ended by SIGKILL", "memory")
    removed = plimsoll("cleanup", *target(server), *kind, env=password(server))
    assert removed.returncode == 0, removed.stderr


def test_the_engine_killed_under_load(server: ManagedServer) -> None:
    """Under that of the trial: rows are checked, and the reference load is measured, before there is any."""

    def has_questions() -> bool:
        with connect(server.target) as control:
            ours = "info LIKE 'SELECT c FROM sbtest1 WHERE id%%' AND id <> CONNECTION_ID()"
            return bool(control.rows(f"SELECT 1 FROM information_schema.processlist WHERE {ours}"))

    process = start_forked("trial", *target(server), "--table-size", ROWS, "--duration", "60s", env=password(server))
    kill_engine(process, "trial", when=has_questions)
    assert_one_clear_message(ended(process), 3, "plimsoll-engine was ended by SIGKILL")


def test_the_fake_server_killed_while_a_client_is_measured(tmp_path: Path) -> None:
    """What was measured until then is no limit of the client, and is not kept."""
    process = start_forked("doctor", "--client", "--connections", "2", "--duration", "20s",
                    env={"XDG_STATE_HOME": str(tmp_path)})  # fmt: skip
    kill_engine(process, "sim", when=lambda: bool(engines_of(process)))
    ran = ended(process)
    assert ran.returncode == 3, ran.stderr
    assert "bug" not in ran.stderr
    assert not list(tmp_path.rglob("*.json"))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "SILENCE_S", 2.0)


def oltp() -> Workload:
    return workload_of("oltp_read_only", [], tables=1, table_size=int(ROWS), distribution=None, warehouses=None)


def single(server: ManagedServer) -> SingleRun:
    return SingleRun(workload=oltp(), target=server.target, connections=1, warm_up_s=0, duration_s=1, seed=1)


@pytest.mark.usefixtures("soon")
def test_a_locked_table_before_a_trial(server: ManagedServer) -> None:
    with connect(server.target) as holder:
        holder.rows("LOCK TABLES sbtest1 WRITE")
        with pytest.raises(TargetError, match="another connection holds a lock on a table"):
            run_single(single(server))


@pytest.mark.usefixtures("soon")
def test_a_server_that_hangs(server: ManagedServer) -> None:
    """The kernel still takes connections for it."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        with pytest.raises((TargetError, HostError)) as caught:
            run_single(single(server))
        with pytest.raises((TargetError, HostError)) as checked:
            run_data_command(LocalDriver(), "check", data_line(oltp(), server.target, loaders=1))
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert "answer" in str(caught.value)
    assert "answer" in str(checked.value)


def test_a_locked_table_while_rows_are_checked_is_told(server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for: whoever holds the lock may give it back."""
    monkeypatch.setattr("plimsoll.drive.engine.STALL_S", 1.0)
    told: list[str] = []
    with connect(server.target) as holder:
        holder.rows("LOCK TABLES sbtest1 WRITE")

        def unlock(_: Progress) -> None:
            if told:
                holder.rows("UNLOCK TABLES")

        line = data_line(oltp(), server.target, loaders=1)
        done = run_data_command(
            LocalDriver(), "check", line, progress=unlock, warn=lambda warning: told.append(warning.code)
        )
    assert told == ["no-progress"]
    assert done.rows_count == int(ROWS)
