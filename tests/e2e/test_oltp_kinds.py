"""Kinds of OLTP workload as users run them: by options of the command line, and in a study that changes its rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import login, plimsoll, real_server

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    with real_server(Path("/var/tmp/plimsoll-test-kinds")) as running:
        yield running


@pytest.mark.parametrize(
    ("kind", "options", "statements"),
    [
        ("oltp_insert", ["-o", "auto_increment=false", "--table-size", "1000"], 1),
        ("bulk_insert", ["--tables", "2"], 1),
        ("oltp_0.4_complex", ["--table-size", "1000", "--distribution", "special-0.4", "-o", "read_only=true"], 16),
    ],
)
def test_tables_are_made_used_and_removed(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch, kind: str, options: list[str], statements: int
) -> None:
    shared = [*login(server, monkeypatch), "--workload", kind, *options]
    prepared = plimsoll("prepare", *shared)
    assert prepared.returncode == 0, prepared.stderr
    load = ["--connections", "2", "--think-time", "10ms", "--warm-up", "0s", "--duration", "2s", "--json"]
    ran = plimsoll("trial", *shared, *load)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["transactions"] > 0
    assert result["failed"] == 0
    assert result["statements"] == statements * result["transactions"]
    assert plimsoll("cleanup", *shared).returncode == 0
    with connect(server.target) as control:
        assert list(control.rows("SHOW TABLES")) == []


STUDY = """
[study]
name = "rows go"
levels = { connections = [2] }
clients = { think_time = "10ms" }
warm_up = "0s"
settle_limit = "1s"
duration = "2s"
repetitions = 2
reset = "never"

[[workload]]
name = "deletes"
kind = "oltp_delete"
table_size = 20_000
distribution = "pareto"

[[workload]]
name = "inserts"
kind = "oltp_insert"
table_size = 20_000
distribution = "pareto"

[[system]]
name = "one"
server = { managed = "mariadb", profile = "bare", buffer_pool = "64M" }
"""


def test_a_study_may_change_how_many_rows_there_are(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-kinds-{os.getpid()}"}
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", tmp_path / "out", env=env)
    assert ran.returncode == 0, ran.stderr
    recordings = read_study(tmp_path / "out").recordings
    assert [recording.outcome.verdict for recording in recordings] == [Verdict.COMPLETE] * 4
    counted = {recording.trial.states[-1].note for recording in recordings}
    assert "20000 rows" not in counted
    by_name = {recording.trial.workload.name: recording.trial.workload for recording in recordings}
    assert by_name["deletes"].working_set["50"] == 135
    assert by_name["inserts"].working_set == {}
    guide = (tmp_path / "out" / "guide.html").read_text(encoding="utf-8")
    assert "half of the accesses go to 135 rows" in guide
