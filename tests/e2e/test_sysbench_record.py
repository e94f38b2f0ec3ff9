"""Runs of sysbench's command line are kept, and the study of them answers as a measured one does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_study
from plimsoll.servers.managed_server import ManagedServer
from support.command import assert_one_clear_message, plimsoll, real_server, start
from support.endure import in_endure
from support.vanishing import children
from support.waiting import until
from support.warned import codes_of, warning_lines

pytestmark = pytest.mark.e2e

ROWS = 1000
DUPLICATES = """
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("INSERT INTO sbtest1 (id) VALUES (1)") end
"""


ALONE = """
ffi.cdef[[int usleep(unsigned);]]
sysbench.cmdline.options = { warmup_time = { "Mine", 1 } }
function event() ffi.C.usleep(1000) end
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    with real_server(Path("/var/tmp/plimsoll-test-sysbench-record")) as running:
        ran = plimsoll("sysbench", "oltp_read_only", *where(running), "prepare")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        yield running


def where(server: ManagedServer) -> list[str]:
    target = server.target
    options = {"host": "127.0.0.1", "port": target.port, "user": target.user, "db": target.database}
    password = target.password.get_secret_value()
    given = [f"--mysql-{name}={value}" for name, value in options.items()]
    return [*given, f"--mysql-password={password}", "--tables=2", f"--table-size={ROWS}"]


def recordings(study: Path) -> tuple[Recording, ...]:
    return read_study(study).recordings


def test_two_levels_become_a_guide(server: ManagedServer, tmp_path: Path) -> None:
    study = tmp_path / "study"
    names = ("--plimsoll-record", study, "--plimsoll-record-system=db1")
    run = ("--time=2", "--warmup-time=1", "--report-interval=1", "run")
    for threads in (1, 2, 2):
        ran = plimsoll("sysbench", *names, "oltp_read_only", *where(server), f"--threads={threads}", *run)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert ran.stdout.count("] thds: ") == 2
        assert "queries performed:" in ran.stdout
        assert f"recorded: db1, oltp_read_only, {threads} connection" in ran.stderr
    found = [
        (recording.trial.level.connections, recording.trial.repetition, recording.trial.position)
        for recording in recordings(study)
    ]
    assert found == [(1, 0, 0), (2, 0, 1), (2, 1, 2)]
    for recording in recordings(study):
        check_recording(recording, server)
    password = server.target.password.get_secret_value()
    assert not [path for path in study.rglob("*") if path.is_file() and password.encode() in path.read_bytes()]

    guide = plimsoll("guide", study, "--json")
    assert guide.returncode == 0, guide.stderr
    analysis = json.loads(guide.stdout)
    (curve,) = analysis["curves"]
    assert [cell["level"]["connections"] for cell in curve["cells"]] == [1, 2]
    assert all(cell["response_ms"]["p50"] > 0 for cell in curve["cells"])
    assert all(cell["cpu"]["client"] > 0 for cell in curve["cells"])
    codes = set(codes_of(analysis["warnings"]))
    assert "short-window" in codes
    assert all(recording.environment.client.on_server_host for recording in recordings(study))
    assert not codes & {"key-range-misses-data", "telemetry-missing", "host-not-watched"}


def check_recording(one: Recording, server: ManagedServer) -> None:
    outcome, intervals, telemetry = one.outcome, one.intervals(), one.telemetry()
    assert (outcome.verdict, outcome.reason, codes_of(outcome.warnings)) == (Verdict.COMPLETE, None, [])
    assert outcome.window is not None
    assert (outcome.window.first, outcome.window.last) == (1, 2)  # the first second was the warm-up
    assert intervals is not None
    assert intervals["completed"].sum() > 0
    assert (intervals["instance"] == "db1/0").all()
    assert one.histograms() is not None
    assert outcome.account is not None
    assert outcome.account.client_user_s > 0
    assert telemetry is not None
    assert {"host", "process", "server", "engine"} <= set(telemetry["source"])
    (instance,) = one.environment.instances
    assert instance.flavour == "mariadb"
    assert set(instance.tables) == {"sbtest1", "sbtest2"}
    assert one.environment.client.on_server_host
    workload = one.trial.workload
    assert (workload.kind, workload.options["table_size"]) == ("oltp_read_only", ROWS)
    assert workload.working_set
    assert one.trial.system.factors["target"] == f"127.0.0.1:{server.target.port}"


def test_a_rate_is_a_level_of_its_own(server: ManagedServer, tmp_path: Path) -> None:
    run = ("--threads=4", "--rate=40", "--time=2", "run", "--plimsoll-record", tmp_path / "study")
    ran = plimsoll("sysbench", "oltp_point_select", *where(server), *run)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (one,) = recordings(tmp_path / "study")
    assert one.trial.level.rate_tps == 40
    assert one.trial.system.name == f"127.0.0.1:{server.target.port}"
    histograms = one.histograms()
    assert histograms is not None
    assert {"response", "pool_wait", "dispatch_delay"} <= set(histograms["measure"])
    guide = plimsoll("guide", tmp_path / "study", "--json")
    assert [curve["kind"] for curve in json.loads(guide.stdout)["curves"]] == ["rate"]


def test_errors_of_a_script_are_kept_by_code(server: ManagedServer, tmp_path: Path) -> None:
    script, study = tmp_path / "duplicates.lua", tmp_path / "study"
    script.write_text(DUPLICATES)
    run = ("--time=1", "--scale=3", "run", f"--plimsoll-record={study}", "--plimsoll-record-workload", "mine")
    ignored = plimsoll("sysbench", script, *where(server)[:-2], "--mysql-ignore-errors=1062", *run)
    assert ignored.returncode == 0, ignored.stdout + ignored.stderr
    assert "recorded as invalid" in ignored.stderr
    assert "1062" in ignored.stderr
    failed = plimsoll("sysbench", script, *where(server)[:-2], *run)
    assert failed.returncode == 1
    invalid, one = recordings(study)
    errors = invalid.errors()
    assert errors is not None
    assert set(errors["code"]) == {1062}
    assert invalid.outcome.verdict is Verdict.INVALID
    assert (one.outcome.verdict, one.trial.workload.name) == (Verdict.FAILED, "mine, mysql_ignore_errors default")
    assert "Duplicate entry" in (one.outcome.reason or "")
    assert one.trial.workload.options == {"plimsoll_compat": "1.0", "scale": "3"}


def test_a_script_that_connects_to_no_server_says_nothing_of_one(server: ManagedServer, tmp_path: Path) -> None:
    script, study = tmp_path / "alone.lua", tmp_path / "study"
    script.write_text(ALONE)
    run = ("--time=2", "--warmup_time=1", "run", "--plimsoll-record", study)
    for place in (where(server)[:-2], ["--mysql-host=127.0.0.1", "--mysql-port=1"]):
        ran = plimsoll("sysbench", script, *place, *run)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert warning_lines(ran.stdout) == []
        assert "recorded: client alone, alone, 1 connection, repetition " in ran.stderr
    for recording in recordings(study):
        system, environment = recording.trial.system, recording.environment
        assert (system.name, system.factors, system.instances) == ("client alone", {"target": "none"}, 0)
        assert (environment.instances, environment.host.name, environment.client.on_server_host) == ((), None, None)
        assert codes_of(recording.outcome.warnings) == ["no-server"]
        assert recording.outcome.window is not None
        # A script's own warmup_time is none of ours.
        assert (recording.outcome.window.first, recording.outcome.window.last) == (0, 1)
        for table in (recording.intervals(), recording.histograms(), recording.telemetry()):
            assert table is not None
            assert not [name for name in table["instance"] if name]
    guide = plimsoll("guide", study, "--json")
    assert guide.returncode == 0, guide.stderr
    codes = set(codes_of(json.loads(guide.stdout)["warnings"]))
    assert "no-server" in codes
    assert not codes & {"client-on-server-host", "telemetry-missing"}
    assert plimsoll("guide", study).returncode == 0


def test_what_never_began_is_not_recorded(server: ManagedServer, tmp_path: Path) -> None:
    study = tmp_path / "study"
    for wrong in ("--no-such-option", "--mysql-user=nobody-known"):
        ran = plimsoll("sysbench", "oltp_read_only", *where(server), wrong, "run", "--plimsoll-record", study)
        assert ran.returncode == 1, ran.stdout + ran.stderr
        assert "nothing was recorded: it ended before its run began" in ran.stderr
        assert not recordings(study)


@pytest.mark.parametrize("number", [signal.SIGINT, in_endure(signal.SIGTERM)])
def test_an_interrupted_run_ends_with_its_report_and_counts_nowhere(
    server: ManagedServer, tmp_path: Path, number: signal.Signals
) -> None:
    study = tmp_path / "study"
    running = begun(server, study)
    running.send_signal(number)
    told, said = running.communicate(timeout=300)
    assert running.returncode == 128 + number
    assert "queries performed:" in told
    (one,) = recordings(study)
    assert "recorded as interrupted: stopped after" in said
    assert one.outcome.verdict is Verdict.INTERRUPTED
    guide = plimsoll("guide", study, "--json")
    assert json.loads(guide.stdout)["curves"] == []


def test_the_load_ends_when_whoever_records_it_is_gone(server: ManagedServer, tmp_path: Path) -> None:
    running = begun(server, tmp_path / "study")
    (engine,) = children(running.pid)
    assert "--mysql-password=xxx" in Path(f"/proc/{running.pid}/cmdline").read_text()
    assert "--mysql-password" not in Path(f"/proc/{engine}/cmdline").read_text()
    running.kill()
    running.wait()
    assert until(lambda: not _is_alive(engine))


def begun(server: ManagedServer, study: Path) -> subprocess.Popen[str]:
    """A recorded run of which there is an interval."""
    run = ("--time=60", "--report-interval=1", "run", "--plimsoll-record", study)
    running = start("sysbench", "oltp_read_only", *where(server), *run)
    assert running.stdout is not None
    while not running.stdout.readline().startswith("[ 1s ]"):
        assert running.poll() is None
    return running


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_study_with_a_plan_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").touch()
    ran = plimsoll("sysbench", "oltp_read_only", "run", "--plimsoll-record", tmp_path)
    assert_one_clear_message(ran, 2, str(tmp_path), "choose another folder")
    assert ran.stdout == ""


def test_names_without_a_recording_are_refused() -> None:
    ran = plimsoll("sysbench", "--plimsoll-record-system", "db1", "oltp_read_only", "run")
    assert_one_clear_message(ran, 2, "--plimsoll-record: missing")
    assert_one_clear_message(
        plimsoll("sysbench", "cpu", "run", "--plimsoll-record"), 2, "--plimsoll-record: the value is missing"
    )
