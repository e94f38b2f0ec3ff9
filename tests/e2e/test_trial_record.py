"""Single runs that are recorded: a guide of them, repetitions of them, and what is kept of one that is ended early."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import RECORD_FORMAT, Verdict
from plimsoll.record.store import Recording, read_study
from plimsoll.servers.managed_server import ManagedServer
from support.command import assert_one_clear_message, connecting, plimsoll, real_server, start_forked

pytestmark = pytest.mark.e2e

ROWS = "1000"
PASSWORD = "PLIMSOLL_TEST_RECORD"


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    with real_server(Path("/var/tmp/plimsoll-test-trial-record")) as running:
        ran = plimsoll("prepare", *where(running), "--table-size", ROWS, env=env(running))
        assert ran.returncode == 0, ran.stderr
        yield running


def where(server: ManagedServer) -> list[str]:
    target = server.target
    return ["--target", f"mysql://{target.user}@127.0.0.1:{target.port}/{target.database}", "--password-env", PASSWORD]


def env(server: ManagedServer) -> dict[str, str]:
    return {PASSWORD: server.target.password.get_secret_value()}


def trial(server: ManagedServer, study: Path, *more: str) -> subprocess.CompletedProcess[str]:
    pace = () if "--rate" in more else ("--think-time", "10ms")
    words = ("trial", *where(server), "--table-size", ROWS, "--duration", "2s", "--record", str(study), *pace, *more)
    return plimsoll(*words, env=env(server))


def recordings(study: Path) -> tuple[Recording, ...]:
    return read_study(study).recordings


def test_runs_of_one_folder_are_repetitions_and_levels_of_its_guide(server: ManagedServer, tmp_path: Path) -> None:
    study = tmp_path / "runs"
    for connections in ("1", "2", "2"):
        words = ("--connections", connections, "--record-system", "db1", "--label", "commit=3f2a91c")
        ran = trial(server, study, *words)
        assert ran.returncode == 0, ran.stderr
        assert "throughput" in ran.stdout
        assert f"recorded: db1, oltp_read_write, {connections} connection" in ran.stderr
    assert_one_clear_message(trial(server, study, "--label", "commit=b"), 2, "were measured with commit=3f2a91c")
    other = trial(server, study, "--workload", "oltp_read_only", "--rate", "20", "--json")
    assert other.returncode == 0, other.stderr
    assert json.loads(other.stdout)["verdict"] == "complete"
    assert {recording.trial.labels["commit"] for recording in recordings(study)} == {"3f2a91c"}
    found = [
        (
            recording.trial.system.name,
            recording.trial.level.connections,
            recording.trial.level.rate_tps,
            recording.trial.repetition,
        )
        for recording in recordings(study)
    ]
    address = f"127.0.0.1:{server.target.port}"
    assert found == [("db1", 1, None, 0), ("db1", 2, None, 0), ("db1", 2, None, 1), (address, 1, 20.0, 0)]
    for recording in recordings(study):
        check_recording(recording, server)
    assert len({recording.trial.session_id for recording in recordings(study)}) == 4
    assert len({recording.trial.block for recording in recordings(study)}) == 4
    guide = plimsoll("guide", study, "--json")
    assert guide.returncode == 0, guide.stderr
    analysis = json.loads(guide.stdout)
    assert [cell["level"]["connections"] for cell in analysis["curves"][0]["cells"]] == [1, 2]
    assert {curve["kind"] for curve in analysis["curves"]} == {"closed", "rate"}
    assert "environment-changed" not in {one["code"] for one in analysis["warnings"]}
    password = server.target.password.get_secret_value().encode()
    assert not [path for path in study.rglob("*") if path.is_file() and password in path.read_bytes()]


def check_recording(one: Recording, server: ManagedServer) -> None:
    intervals, telemetry = one.intervals(), one.telemetry()
    assert one.outcome.verdict is Verdict.COMPLETE
    assert one.outcome.window is not None
    assert (one.outcome.window.first, one.outcome.window.last) == (1, 2)
    assert intervals is not None
    assert telemetry is not None
    assert {"host", "process", "server", "engine"} <= set(telemetry["source"])
    (instance,) = one.environment.instances
    assert instance.variables["port"] == str(server.target.port)
    assert one.trial.server_start_id
    assert one.trial.record_format == RECORD_FORMAT
    assert one.trial.origin.detail == "plimsoll trial"


@pytest.mark.parametrize("recorded", [False, True])
def test_ctrl_c_prints_what_was_measured(server: ManagedServer, tmp_path: Path, recorded: bool) -> None:
    study = tmp_path / "runs"
    more = ("--record", str(study)) if recorded else ()
    running = start_forked(
        "trial",
        *where(server),
        "--table-size",
        ROWS,
        "--duration",
        "300s",
        "--think-time",
        "10ms",
        *more,
        env=env(server),
    )
    assert running.stderr is not None
    assert running.stderr.readline() == connecting(server)
    for _ in range(4):
        assert "tps" in running.stderr.readline()
    running.send_signal(signal.SIGINT)
    told, said = running.communicate(timeout=300)
    assert running.returncode == 130, said
    assert told.startswith("interrupted       what follows was measured until then")
    assert "response time" in told
    assert "Traceback" not in said
    if recorded:
        (one,) = recordings(study)
        assert one.outcome.verdict is Verdict.INTERRUPTED
        assert one.outcome.window is not None
        assert one.outcome.window.last >= 3
        assert one.outcome.account is not None
        assert "recorded as interrupted: stopped after" in said
    else:
        assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_the_warm_up_says_that_nothing_was_measured(server: ManagedServer) -> None:
    words = ("--table-size", ROWS, "--warm-up", "300s")
    running = start_forked("trial", *where(server), *words, env=env(server))
    assert running.stderr is not None
    assert running.stderr.readline() == connecting(server)
    assert "tps" in running.stderr.readline()
    running.send_signal(signal.SIGTERM)
    told, said = running.communicate(timeout=300)
    assert running.returncode == 130, said
    assert told == ""
    assert "nothing was measured: interrupted after" in said


def test_what_cannot_be_kept_is_refused_before_the_load(server: ManagedServer, tmp_path: Path) -> None:
    rates = trial(server, tmp_path / "runs", "--rate", "10 for 1s, 20")
    assert_one_clear_message(rates, 2, "--record: guides cannot compare a rate that changes")
    assert not (tmp_path / "runs").exists()
    name = plimsoll("trial", *where(server), "--record-system", "x", env=env(server))
    assert_one_clear_message(name, 2, "--record-system: needs --record")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "thesis.txt").touch()
    assert_one_clear_message(trial(server, tmp_path / "notes"), 2, "has no recordings; choose another folder")


def test_runs_of_a_newer_plimsoll_stay_as_they_are(server: ManagedServer, tmp_path: Path) -> None:
    study = tmp_path / "runs"
    assert trial(server, study).returncode == 0
    (path,) = (study / "recordings").glob("*/trial.json")
    newer = path.read_text().replace(f'"record_format": {RECORD_FORMAT}', '"record_format": 99')
    path.write_text(newer)
    (path.parent / "outcome.json").unlink()  # whose digest would call it damaged
    ran = trial(server, study)
    assert_one_clear_message(ran, 5, "written by a newer Plimsoll", "Upgrade")
    assert path.read_text() == newer
    assert len(list((study / "recordings").iterdir())) == 1
