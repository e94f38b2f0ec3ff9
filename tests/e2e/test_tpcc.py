"""The TPC-C-derived workload as users run it, on each server."""

from __future__ import annotations

import json

import pytest

from plimsoll.servers.control import connect
from plimsoll.servers.managed import ManagedServer
from support.command import assert_one_clear_message, plimsoll
from support.servers import running_server

__all__ = ["running_server"]
pytestmark = pytest.mark.e2e


@pytest.fixture
def target(running_server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("PW", running_server.target.password.get_secret_value())
    url = (
        f"mysql://{running_server.target.user}@127.0.0.1:{running_server.target.port}/{running_server.target.database}"
    )
    return ["--target", url, "--password-env", "PW", "--workload", "tpcc"]


def test_conditions_hold_after_a_trial_and_check_says_by_its_exit_code_when_not(
    running_server: ManagedServer, target: list[str]
) -> None:
    assert_one_clear_message(plimsoll("check", *target), 4, "warehouse does not exist", "plimsoll prepare")
    ran = plimsoll("prepare", *target)
    assert ran.returncode == 0, ran.stderr
    assert "rows in 9 table(s)" in ran.stdout
    ran = plimsoll("check", *target)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "All of 1 warehouse(s) is there, and the twelve consistency conditions hold" in ran.stdout
    ran = plimsoll("trial", *target, "--connections", "4", "--duration", "3s", "--json")
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
    # 100 terminals with a twentieth of 20.7 s each want 97 transactions a second, and their deliveries are two.
    assert 75 < result["throughput_tps"] < 125
    assert result["transaction_types"]["delivery_deferred"]["transactions"] > 0
    assert plimsoll("check", *target).returncode == 0
    ran = plimsoll("trial", *target, "--connections", "4", "-o", "terminals=2")
    assert_one_clear_message(ran, 2, "--option terminals", "at least as many as connections, 4, are 2")
    called = (*target, "-o", "mode=procedures")
    ran = plimsoll("trial", *called, "--connections", "4", "--duration", "2s")
    assert_one_clear_message(ran, 3, "plimsoll_payment does not exist", "plimsoll prepare", "mode=procedures")
    assert plimsoll("prepare", *called).returncode == 0
    ran = plimsoll("trial", *called, "--connections", "4", "--duration", "2s", "--json")
    assert (ran.returncode, json.loads(ran.stdout)["failed"]) == (0, 0)
    assert plimsoll("check", *called).returncode == 0
    assert_one_clear_message(plimsoll("check", *target, "--warehouses", "2"), 4, "warehouses=1", "plimsoll cleanup")
    with connect(running_server.target) as control:
        control.rows("UPDATE customer SET c_ytd_payment = 0 WHERE c_d_id = 3 AND c_id = 14")
    ran = plimsoll("check", *target)
    assert_one_clear_message(ran, 4, "consistency condition 12", "warehouse 1 district 3 customer 14")
    assert plimsoll("check", *target, "--count-only").returncode == 0
    assert plimsoll("cleanup", *target).returncode == 0
