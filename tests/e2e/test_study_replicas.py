"""Systems of a source and replicas on real servers: studies of managed ones, and of servers that run already."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_study
from support.command import plimsoll
from support.endure import in_endure
from support.servers import server_command
from support.studies import wait_until_gone

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "small"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "2s"
repetitions = 2
reset = "{reset}"

[[workload]]
name = "read/write"
kind = "oltp_read_write"
tables = 1
table_size = 1000

[[system]]
name = "pair"
{system}
"""


@pytest.fixture
def data_dir() -> Iterator[dict[str, str]]:
    folder = Path(f"/var/tmp/plimsoll-test-replicas-{os.getpid()}")
    yield {"PLIMSOLL_DATA_DIR": str(folder)}
    if folder.exists():  # nothing is in it
        folder.rmdir()


def managed(flavour: str, more: str) -> str:
    command = server_command(flavour)
    own = f", command = {shlex.split(command)}" if command != flavour else ""
    server = f'managed = "{flavour}"{own}, profile = "bare", buffer_pool = "64M"'
    server += ", options = { performance_schema = true }"
    return f"server = {{ {server}, {more} }}"


def written(folder: Path, system: str, reset: str = "per_trial") -> Path:
    (folder / "s.toml").write_text(STUDY.format(reset=reset, system=system))
    return folder / "s.toml"


@pytest.mark.parametrize(
    ("flavour", "more"),
    [
        ("mariadb", 'replicas = 1, replica = { buffer_pool = "32M" }'),
        in_endure("mysql", 'replicas = 1, replication = "semisync", replication_delay = "2ms"'),
    ],
)
def test_replicas_repeat_their_source(flavour: str, more: str, tmp_path: Path, data_dir: dict[str, str]) -> None:
    study = tmp_path / "out"
    ran = plimsoll("study", "run", written(tmp_path, managed(flavour, more)), "--to", study, env=data_dir)
    assert ran.returncode == 0, ran.stderr
    recordings = read_study(study).recordings
    assert [recording.outcome.verdict for recording in recordings] == [Verdict.COMPLETE] * 2
    for recording in recordings:
        check_pair(recording, flavour)
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])


def check_telemetry(recording: Recording, flavour: str) -> None:
    telemetry = recording.telemetry()
    assert telemetry is not None
    found = telemetry.filter(source="replication")
    of_replica = set(found.filter(instance="pair/1")["metric"].to_list())
    assert {"replica_seconds_behind_s", "replica_applied_transactions_count"} <= of_replica
    assert "replica_apply_cpu_s" in of_replica
    applied = found.filter(metric="replica_applied_transactions_count")["value"]
    assert applied.max() > applied.min()  # type: ignore[operator]
    waits = found.filter(instance="pair/0", metric="semisync_waits_count")["value"].to_list()
    if flavour == "mysql":
        assert waits[-1] > waits[0]
    else:
        assert not waits


def check_pair(recording: Recording, flavour: str) -> None:
    source, replica = recording.environment.instances
    assert [(one.name, one.role) for one in (source, replica)] == [("pair/0", "source"), ("pair/1", "replica")]
    assert list(source.tables) == list(replica.tables) == ["sbtest1"]
    assert (source.variables["server_id"], replica.variables["server_id"]) == ("1", "2")
    assert replica.variables["read_only"] == "ON"
    if flavour == "mysql":
        assert source.variables["server_uuid"] != replica.variables["server_uuid"]
        assert source.variables["rpl_semi_sync_source_enabled"] == "ON"
    else:
        assert replica.variables["innodb_buffer_pool_size"] == str(32 * 2**20)
    check_telemetry(recording, flavour)
    note = recording.trial.states[-1].note
    assert note is not None
    assert "replicas had applied everything after" in note
    assert "equal rows by CHECKSUM TABLE" in note
