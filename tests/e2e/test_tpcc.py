"""The TPC-C-derived workload as users run it, on each server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.record.model import State, Verdict
from plimsoll.record.store import read_study
from plimsoll.run.events import DataProgressed, StateBegan, read_events
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import Running, assert_one_clear_message, connecting, login, plimsoll, start_forked
from support.servers import mysql_in_endure, running_server, server_base
from support.waiting import until, where_grown

__all__ = ["running_server", "server_base"]
pytestmark = pytest.mark.e2e


@pytest.fixture
def target(running_server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return [*login(running_server, monkeypatch), "--workload", "tpcc"]


@mysql_in_endure
def test_commands_and_a_study_of_one_warehouse(
    running_server: ManagedServer, target: list[str], tmp_path: Path
) -> None:
    """From prepare to cleanup; its procedures are called too, and at the end a condition does not hold any more."""
    called = (*target, "-o", "mode=procedures")
    assert_one_clear_message(plimsoll("check", *target), 4, "warehouse does not exist", "plimsoll prepare")
    ran = plimsoll("prepare", *called)
    assert ran.returncode == 0, ran.stderr
    assert "rows in 9 table(s)" in ran.stdout
    ran = plimsoll("check", *target)
    assert (ran.returncode, ran.stderr) == (0, connecting(running_server))
    assert "All of 1 warehouse(s) is there, and the twelve consistency conditions hold" in ran.stdout
    assert_one_clear_message(plimsoll("check", *target, "--warehouses", "2"), 4, "warehouses=1", "plimsoll cleanup")
    conditions_hold_after_a_trial(target)
    deliveries_are_deferred_with_terminals(target)
    procedures_are_called(running_server, called)
    a_trial_after_which_a_condition_does_not_hold_is_invalid_and_the_next_does_not_begin(running_server, tmp_path)
    check_says_what_no_longer_holds(target)
    assert plimsoll("cleanup", *target).returncode == 0


def conditions_hold_after_a_trial(target: list[str]) -> None:
    ran = plimsoll(
        *("trial", *target, "--connections", "4", "--duration", "3s", "--json"), *("-o", "consistency=each_trial")
    )
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    types = result["transaction_types"]
    assert set(types) == {"new_order", "payment", "order_status", "delivery", "stock_level"}
    assert result["notpm"] == pytest.approx(60 * types["new_order"]["throughput_tps"])
    assert types["new_order"]["rolled_back"] <= types["new_order"]["transactions"]
    assert {"2.7.2", "4.1", "4.2.2", "5.2.5.2, 5.2.5.4", "5.5.2.1"} <= {
        one["clause"] for one in result["tpcc"]["deviations"]
    }
    assert result["failed"] == 0


def deliveries_are_deferred_with_terminals(target: list[str]) -> None:
    terminals = ("-o", "terminals=100", "-o", "times=0.05", "-o", "delivery_connections=1", "--seed", "2")
    ran = plimsoll("trial", *target, "--connections", "4", "--duration", "3s", *terminals, "--json")
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    # 100 terminals with a twentieth of 20.7 s each want 97 transactions a second, so 291 in 3 s, with a standard
    # deviation of at most 17. On a busy machine fewer complete, or all of them are late when the window begins.
    assert 0 < result["throughput_tps"] < (100 + 291 + 5 * 17) / 3
    assert result["transaction_types"]["delivery_deferred"]["transactions"] > 0
    ran = plimsoll("trial", *target, "--connections", "4", "-o", "terminals=2")
    assert_one_clear_message(ran, 2, "--option terminals", "at least as many as connections, 4, are 2")


def procedures_are_called(server: ManagedServer, called: tuple[str, ...]) -> None:
    ran = plimsoll("trial", *called, "--connections", "4", "--duration", "2s", "--json")
    assert (ran.returncode, json.loads(ran.stdout)["failed"]) == (0, 0)
    assert plimsoll("check", *called).returncode == 0
    with connect(server.target) as control:
        control.rows("DROP PROCEDURE plimsoll_payment")
    ran = plimsoll("trial", *called, "--connections", "4", "--duration", "2s")
    assert_one_clear_message(ran, 3, "plimsoll_payment does not exist", "plimsoll prepare", "mode=procedures")


def check_says_what_no_longer_holds(target: list[str]) -> None:
    ran = plimsoll("check", *target)
    assert_one_clear_message(ran, 4, "consistency condition 12", "warehouse 1 district 3 customer 14")
    ran = plimsoll("trial", *target, "--duration", "1s", "-o", "consistency=each_trial")
    assert_one_clear_message(ran, 4, "before the load: ", "consistency condition 12")
    assert ran.stdout == ""
    assert plimsoll("check", *target, "--count-only").returncode == 0


STUDY = """
[study]
name = "orders"
levels = {{ connections = [1] }}
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


def a_trial_after_which_a_condition_does_not_hold_is_invalid_and_the_next_does_not_begin(
    server: ManagedServer, tmp_path: Path
) -> None:
    """In a study under whose first trial a customer is changed."""
    study = tmp_path / "out"
    (tmp_path / "s.toml").write_text(STUDY.format(target=server.target))
    process = start_forked("study", "run", tmp_path / "s.toml", "--to", study)
    wait_for_load(study, process)
    with connect(server.target) as control:
        control.rows("UPDATE customer SET c_ytd_payment = 0 WHERE c_d_id = 3 AND c_id = 14")
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 4, errors
    first, second = sorted(read_study(study).recordings, key=lambda recording: recording.trial.position)
    assert first.trial.states[0].note == "data as the last trial left it; the twelve conditions hold"
    assert (first.outcome.verdict, second.outcome.verdict) == (Verdict.INVALID, Verdict.FAILED)
    assert first.outcome.window is not None
    assert first.outcome.reason is not None
    assert first.outcome.reason.startswith("after the load, here/0: ")
    assert "consistency condition 12" in first.outcome.reason
    assert "warehouse 1 district 3 customer 14" in first.outcome.reason
    assert second.outcome.window is None
    assert (second.outcome.reason or "").startswith("before the load, here/0: ")
    assert [state.state for state in second.trial.states] == [State.RESET]
    events = [stamped.event for stamped in read_events(study / "events.jsonl")]
    assert "consistency" in {event.phase for event in events if isinstance(event, DataProgressed)}


def wait_for_load(study: Path, process: Running) -> None:
    def is_measured() -> bool:
        events = [stamped.event for stamped in read_events(study / "events.jsonl")]
        return any(isinstance(event, StateBegan) and event.state is State.MEASURE for event in events)

    has_begun = where_grown(study / "events.jsonl", is_measured)
    assert until(lambda: has_begun() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
