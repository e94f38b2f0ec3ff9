"""The TPC-C-derived workload as users run it, on each server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from plimsoll.record.model import State, Verdict
from plimsoll.record.store import read_study
from plimsoll.run.events import DataProgressed, StateBegan, read_events
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import assert_one_clear_message, connecting, login, plimsoll, real_server, start
from support.servers import mysql_in_endure, running_server, server_base
from support.waiting import until

__all__ = ["running_server", "server_base"]
pytestmark = pytest.mark.e2e


@pytest.fixture
def target(running_server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return [*login(running_server, monkeypatch), "--workload", "tpcc"]


@mysql_in_endure
def test_conditions_hold_after_a_trial_and_check_says_by_its_exit_code_when_not(
    running_server: ManagedServer, target: list[str]
) -> None:
    assert_one_clear_message(plimsoll("check", *target), 4, "warehouse does not exist", "plimsoll prepare")
    ran = plimsoll("prepare", *target)
    assert ran.returncode == 0, ran.stderr
    assert "rows in 9 table(s)" in ran.stdout
    ran = plimsoll("check", *target)
    assert (ran.returncode, ran.stderr) == (0, connecting(running_server))
    assert "All of 1 warehouse(s) is there, and the twelve consistency conditions hold" in ran.stdout
    each_trial = ("-o", "consistency=each_trial")
    ran = plimsoll("trial", *target, "--connections", "4", "--duration", "3s", "--json", *each_trial)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert set(result["transaction_types"]) == {"new_order", "payment", "order_status", "delivery", "stock_level"}
    assert result["notpm"] == pytest.approx(60 * result["transaction_types"]["new_order"]["throughput_tps"])
    assert (
        result["transaction_types"]["new_order"]["rolled_back"]
        <= result["transaction_types"]["new_order"]["transactions"]
    )
    assert {"2.7.2", "4.1", "4.2.2", "5.2.5.2, 5.2.5.4", "5.5.2.1"} <= {
        one["clause"] for one in result["tpcc"]["deviations"]
    }
    assert (result["failed"], plimsoll("check", *target).returncode) == (0, 0)
    terminals = ("-o", "terminals=100", "-o", "times=0.05", "-o", "delivery_connections=1", "--seed", "2")
    ran = plimsoll("trial", *target, "--connections", "4", "--duration", "3s", *terminals, "--json")
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    # 100 terminals with a twentieth of 20.7 s each want 97 transactions a second; a busy machine completes fewer.
    assert 0 < result["throughput_tps"] < 125
    assert result["transaction_types"]["delivery_deferred"]["transactions"] > 0
    ran = plimsoll("trial", *target, "--connections", "4", "-o", "terminals=2")
    assert_one_clear_message(ran, 2, "--option terminals", "at least as many as connections, 4, are 2")
    called = (*target, "-o", "mode=procedures")
    ran = plimsoll("trial", *called, "--connections", "4", "--duration", "2s")
    assert_one_clear_message(ran, 3, "plimsoll_payment does not exist", "plimsoll prepare", "mode=procedures")
    assert plimsoll("check", *target).returncode == 0
    assert plimsoll("cleanup", *target).returncode == 0


@mysql_in_endure
def test_procedures_are_called_and_what_no_longer_holds_is_named(
    running_server: ManagedServer, target: list[str]
) -> None:
    called, each_trial = (*target, "-o", "mode=procedures"), ("-o", "consistency=each_trial")
    assert plimsoll("prepare", *called).returncode == 0
    ran = plimsoll("trial", *called, "--connections", "4", "--duration", "2s", "--json")
    assert (ran.returncode, json.loads(ran.stdout)["failed"]) == (0, 0)
    assert plimsoll("check", *called).returncode == 0
    assert_one_clear_message(plimsoll("check", *target, "--warehouses", "2"), 4, "warehouses=1", "plimsoll cleanup")
    with connect(running_server.target) as control:
        control.rows("UPDATE customer SET c_ytd_payment = 0 WHERE c_d_id = 3 AND c_id = 14")
    ran = plimsoll("check", *target)
    assert_one_clear_message(ran, 4, "consistency condition 12", "warehouse 1 district 3 customer 14")
    ran = plimsoll("trial", *target, "--duration", "1s", *each_trial)
    assert_one_clear_message(ran, 4, "before the load: ", "consistency condition 12")
    assert ran.stdout == ""
    assert plimsoll("check", *target, "--count-only").returncode == 0
    assert plimsoll("cleanup", *target).returncode == 0


STUDY = """
[study]
name = "orders"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
duration = "3s"
repetitions = 2
reset = "never"

[[workload]]
name = "orders"
kind = "tpcc"
consistency = "each_trial"

[[system]]
name = "here"
target = "{target}"
password_env = "PW"
"""


def test_a_trial_after_which_a_condition_does_not_hold_is_invalid_and_the_next_one_does_not_begin(
    server_base: Path, tmp_path: Path
) -> None:
    study = tmp_path / "out"
    with real_server(server_base) as server:
        (tmp_path / "s.toml").write_text(STUDY.format(target=server.target))
        password = server.target.password.get_secret_value()
        process = start("study", "run", tmp_path / "s.toml", "--to", study, env={"PW": password})
        wait_for_load(study, process)
        with connect(server.target) as control:
            control.rows("UPDATE customer SET c_ytd_payment = 0 WHERE c_d_id = 3 AND c_id = 14")
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 4, errors
    first, second = sorted(read_study(study).recordings, key=lambda recording: recording.trial.position)
    assert first.trial.states[0].note == "data as prepared; the twelve conditions hold"
    assert (first.outcome.verdict, second.outcome.verdict) == (Verdict.INVALID, Verdict.FAILED)
    assert first.outcome.window is not None
    assert first.outcome.reason is not None
    assert first.outcome.reason.startswith("after the load, here/0: ")
    assert "consistency condition 12" in first.outcome.reason
    assert "warehouse 1 district 3 customer 14" in first.outcome.reason
    assert second.outcome.window is None
    assert (second.outcome.reason or "").startswith("before the load, here/0: ")
    assert [state.state for state in second.trial.states] == [State.RESET]
    phases = {
        event.event.phase for event in read_events(study / "events.jsonl") if isinstance(event.event, DataProgressed)
    }
    assert {"load", "consistency"} <= phases


def wait_for_load(study: Path, process: subprocess.Popen[str]) -> None:
    def is_measured() -> bool:
        assert process.poll() is None, process.communicate()
        if not (study / "events.jsonl").exists():
            return False
        events = [stamped.event for stamped in read_events(study / "events.jsonl")]
        return any(isinstance(event, StateBegan) and event.state is State.MEASURE for event in events)

    assert until(is_measured)
