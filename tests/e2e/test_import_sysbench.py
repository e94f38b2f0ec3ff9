"""Logs of real runs of sysbench are imported, and the study answers as a measured one does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.store import read_study
from plimsoll.servers.managed_server import ManagedServer
from support.command import assert_one_clear_message, plimsoll, real_server

pytestmark = pytest.mark.e2e

LEVELS = (1, 4)
SECONDS = 3
WAITING = """
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT SLEEP(0.01)") end
"""
"""It leaves processors to others."""
HOOK = "sysbench.hooks.report_intermediate = sysbench.report_{name}\n"


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    if shutil.which("sysbench") is None:
        if os.environ.get("CI"):
            pytest.fail("sysbench is missing")
        pytest.skip("SKIPPED: no sysbench here")
    with real_server(Path("/var/tmp/plimsoll-test-sysbench-logs")) as running:
        yield running


def sysbench(server: ManagedServer, test: str, *arguments: str) -> str:
    """What sysbench prints, whether it ends well or not."""
    target = server.target
    where = [f"--mysql-{name}={value}" for name, value in (("host", "127.0.0.1"), ("port", target.port))]
    who = [f"--mysql-user={target.user}", f"--mysql-password={target.password.get_secret_value()}"]
    options = [*where, *who, f"--mysql-db={target.database}", *arguments]
    return subprocess.run(["sysbench", test, *options], capture_output=True, text=True, check=False).stdout


def test_levels_with_repetitions_become_a_guide(server: ManagedServer, tmp_path: Path) -> None:
    script = tmp_path / "waiting.lua"
    script.write_text(WAITING)
    (tmp_path / "prepare.txt").write_text(sysbench(server, "oltp_read_only", "--table-size=100", "prepare"))
    for connections in LEVELS:
        for repetition in (1, 2):
            run = (
                f"--threads={connections}",
                f"--time={SECONDS}",
                "--report-interval=1",
                "--percentile=99",
                "--histogram",
                "run",
            )
            path = tmp_path / f"db1-waiting-{connections}-{repetition}.log"
            path.write_text(sysbench(server, str(script), *run))
    logs = sorted(tmp_path.glob("*.log"))
    pattern = "{system}-{workload}-{connections}-{any}.log"
    study = tmp_path / "study"
    ran = plimsoll("import", "sysbench", *logs, "--to", study, "--pattern", pattern)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "histograms of 4 runs" in ran.stdout
    assert "system db1, workload waiting: connections 1 (2 times), 4 (2 times)" in ran.stdout

    for recording in read_study(study).recordings:
        reported, intervals = recording.outcome.reported, recording.intervals()
        assert reported is not None
        assert intervals is not None
        assert {"min", "mean", "max", "p99"} == set(reported.response_ms)
        # Sysbench does not always print the last one, and a busy machine's sysbench prints late, for a longer second.
        assert 1 <= intervals.height <= SECONDS + 1
        assert intervals["completed"].sum() > 0
        assert reported.counts["transactions"] >= 0.5 * intervals["completed"].sum()

    guide = plimsoll("guide", study, "--json")
    assert guide.returncode == 0, guide.stderr
    (curve,) = json.loads(guide.stdout)["curves"]
    assert [cell["level"]["connections"] for cell in curve["cells"]] == list(LEVELS)
    assert all(cell["throughput_tps"]["bounds"] and cell["response_ms"]["p99"] for cell in curve["cells"])
    (system,) = json.loads(plimsoll("size", study, "--tps", "1", "--json").stdout)["systems"]
    assert system["sustains_tps"] == max(cell["throughput_tps"]["value"] for cell in curve["cells"])
    assert system["verdict"] in {"fits", "undecided"}  # two repetitions on a busy machine may differ too much
    again = plimsoll("import", "sysbench", *logs, "--to", study, "--pattern", pattern)
    assert "0 recordings added" in again.stdout

    contradiction = plimsoll("import", "sysbench", logs[0], "--to", study, "--pattern", pattern, "--connections", "9")
    assert_one_clear_message(contradiction, 2, "connections is contradictory", "--connections says '9'")
    nothing = plimsoll("import", "sysbench", tmp_path / "prepare.txt", "--to", study)
    assert_one_clear_message(nothing, 2, "holds no run of sysbench")


@pytest.mark.parametrize("name", ["default", "csv", "json"])
def test_the_report_hooks_are_read(server: ManagedServer, tmp_path: Path, name: str) -> None:
    script = tmp_path / "select.lua"
    script.write_text(WAITING + HOOK.format(name=name))
    log = tmp_path / "select.log"
    # An interval that ends with the run can be printed into the middle of the final report.
    log.write_text(sysbench(server, str(script), "--threads=2", "--time=5", "--report-interval=2", "run"))
    ran = plimsoll("import", "sysbench", log, "--to", tmp_path / "s", "--system", "db1", "--workload", "select")
    assert (ran.returncode, ran.stderr) == (0, "")
    (recording,) = read_study(tmp_path / "s").recordings
    intervals = recording.intervals()
    assert intervals is not None
    assert intervals.height >= 2
    assert intervals["completed"].sum() > 0
    assert recording.trial.level.connections == 2


def test_a_run_that_fails_is_a_failed_trial_of_the_study(server: ManagedServer, tmp_path: Path) -> None:
    log = tmp_path / "failed.log"
    log.write_text(sysbench(server, "oltp_read_only", "--tables=9", "--threads=2", "--time=2", "run"))
    ran = plimsoll("import", "sysbench", log, "--to", tmp_path / "s", "--system", "db1", "--workload", "mix")
    assert ran.returncode == 0, ran.stderr
    assert "failed, and is kept as such" in ran.stdout
    (recording,) = read_study(tmp_path / "s").recordings
    assert recording.outcome.verdict == "failed"
    assert recording.outcome.reason is not None
    assert "doesn't exist" in recording.outcome.reason
