"""`plimsoll doctor`: this machine, and its client against the fake server, over both ways."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.drive.engine import LocalDriver
from plimsoll.run.calibrate import fake_server
from plimsoll.run.single import SingleRun, run_single
from plimsoll.spec.workload import WorkloadSpec
from support.command import plimsoll

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_the_machine_is_looked_at() -> None:
    ran = plimsoll("doctor")
    assert ran.returncode == 0, ran.stderr
    assert "load engine" in ran.stdout
    assert "flush" in ran.stdout


def test_the_clients_limit_is_measured_kept_and_compared_with(tmp_path: Path) -> None:
    words = ["--workload", "oltp_point_select", "--connections", "4", "--duration", "1s"]
    ran = plimsoll("doctor", "--client", *words, "--json")
    assert ran.returncode == 0, ran.stderr
    by_tcp, by_socket = json.loads(ran.stdout)
    assert (by_tcp["by_socket"], by_socket["by_socket"]) == (False, True)
    assert min(one["throughput_tps"] for one in (by_tcp, by_socket)) > 1000
    assert (tmp_path / "plimsoll/client-limits.json").exists()
    # Against the fake server itself a trial reaches the limit, and is warned about.
    workload = WorkloadSpec(name="points", kind="oltp_point_select")
    with fake_server(LocalDriver(), workload, by_socket=False) as target:
        lowered(tmp_path / "plimsoll/client-limits.json")
        run = SingleRun(workload=workload, target=target, connections=4, warm_up_s=1, duration_s=1, seed=1,
                        look_first=False)  # fmt: skip
        summary = run_single(run)
    assert "client-saturated" in {warning.code for warning in summary.outcome.warnings}


def lowered(file: Path) -> None:
    """The limit as a slower machine has it, so that noise cannot keep a trial below 80 % of it."""
    entries = json.loads(file.read_text())
    for limit in entries[0]["limits"]:
        limit["throughput_tps"] /= 2
    file.write_text(json.dumps(entries))


@pytest.mark.parametrize("wrong", ["0", "1,x", "", "8,-1"])
def test_numbers_of_connections_that_are_none_are_refused(wrong: str) -> None:
    ran = plimsoll("doctor", "--client", "--connections", wrong)
    assert ran.returncode == 2
    assert "--connections: must be whole numbers above 0" in ran.stderr
