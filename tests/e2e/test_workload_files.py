"""Workload files on real servers: what the shipped ones do to the rows, the tutorial's example, a study of both."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from plimsoll.record.store import read_study
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import plimsoll
from support.repository import ROOT
from support.servers import running_server
from support.shipped_workloads import Ran

pytestmark = pytest.mark.e2e

__all__ = ["running_server"]


def number(control: ControlConnection, sql: str) -> int:
    ((value,),) = control.rows(sql)
    return int(value or 0)


def test_a_cache_is_read_and_set(running_server: ManagedServer) -> None:
    ran = Ran(running_server, "key-value", parameters={"items": 500, "value_length": 40}, transactions=2000)
    assert ran.completed["get"] > 10 * ran.completed["set"]
    with connect(running_server.target) as control:
        assert number(control, "SELECT COUNT(*) FROM kv_items") == 500
        assert number(control, "SELECT SUM(version - 1) FROM kv_items") == ran.completed["set"]
        first = number(control, "SELECT SUM(version - 1) FROM kv_items WHERE id <= 50")
        last = number(control, "SELECT SUM(version - 1) FROM kv_items WHERE id > 450")
        assert first > last


def test_each_order_is_done_once_and_for_its_customer(running_server: ManagedServer) -> None:
    ran = Ran(running_server, "order-queue", parameters={"waiting": 200, "customers": 20}, transactions=600)
    with connect(running_server.target) as control:
        done = number(control, "SELECT COUNT(*) FROM queue_orders WHERE state = 'done' AND done_at IS NOT NULL")
        assert done == number(control, "SELECT COUNT(*) FROM queue_orders WHERE state = 'done'")
        assert done == number(control, "SELECT SUM(orders_done) FROM queue_customers")
        assert 0 < done <= ran.completed["consume"]
        assert number(control, "SELECT COUNT(*) FROM queue_orders") - 200 == ran.completed["produce"]
        wrong = """SELECT COUNT(*) FROM queue_customers c WHERE orders_done <>
                   (SELECT COUNT(*) FROM queue_orders o WHERE o.customer = c.id AND o.state = 'done')"""
        assert number(control, wrong) == 0


def test_readings_arrive_in_batches_and_ranges_are_read(running_server: ManagedServer) -> None:
    parameters = {"readings": 2000, "sensors": 10, "batch": 5}
    ran = Ran(running_server, "time-series", parameters=parameters, transactions=500)
    assert ran.completed["range read"] > 0
    with connect(running_server.target) as control:
        assert number(control, "SELECT COUNT(*) FROM ts_readings") - 2000 == 5 * ran.completed["insert"]
        assert number(control, "SELECT COUNT(*) FROM ts_readings WHERE value NOT BETWEEN -40 AND 85") == 0


def example(name: str = "bank.toml") -> str:
    """A whole workload file that the page shows."""
    page = (ROOT / "docs" / "workloads.md").read_text(encoding="utf-8")
    found: list[str] = re.findall(
        rf"^<!-- example: {re.escape(name)} -->\n```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    )
    assert len(found) == 1, name
    return found[0]


def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "bank.toml").write_text(example(), encoding="utf-8")
    page = (ROOT / "docs" / "workloads.md").read_text(encoding="utf-8")
    words = [line.split()[1:] for line in re.findall(r"^plimsoll .*bank\.toml.*$", page, re.MULTILINE)]
    assert [word[0] for word in words] == ["workload", "trial"]
    checked = plimsoll(*words[0], cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "look (weight 9), transfer (weight 1)" in checked.stdout
    short = ["2s" if word.endswith("s") and word[:-1].isdigit() else word for word in words[1]]
    ran = plimsoll(*short, "--think-time", "10ms", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["failed"] == 0
    assert set(result["transaction_types"]) == {"look", "transfer"}
    look, transfer = result["transaction_types"]["look"], result["transaction_types"]["transfer"]
    assert look["transactions"] + transfer["transactions"] == result["transactions"]
    assert 2 < look["transactions"] / transfer["transactions"] < 40, "9; a busy machine completes few transfers"
    assert 0 < look["response_ms"]["p50"] < transfer["response_ms"]["p50"]


def test_the_shop_has_loops_lists_and_rows(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(example("shop.toml"), encoding="utf-8")
    load = ("--target", "managed", "--workload", "shop.toml", "--connections", "2", "--think-time", "10ms")
    ran = plimsoll("trial", *load, "--warm-up", "0s", "--duration", "2s", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    orders = json.loads(ran.stdout)["transaction_types"]["order"]
    assert orders["transactions"] > 0
    assert orders["failed"] <= 0.05 * orders["transactions"]


STUDY = """
[study]
name = "own"
levels = { connections = [2] }
clients = { think_time = "20ms" }
warm_up = "1s"
settle_limit = "1s"
duration = "2s"
repetitions = 1
reset = "per_system"

[[workload]]
name = "bank"
file = "files/bank.toml"
parameters = { accounts = 300 }

[[workload]]
name = "queue"
file = "order-queue"
parameters = { waiting = 50 }

[[system]]
name = "small"
server = { managed = "mariadb", profile = "bare", buffer_pool = "64M" }
"""


def test_a_study_keeps_the_files_and_goes_on_without_them(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(STUDY)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "bank.toml").write_text(example(), encoding="utf-8")
    folder = tmp_path / "result"
    ran = plimsoll("study", "run", file, "--to", folder, "-q")
    assert ran.returncode == 0, ran.stderr
    recordings = {recording.trial.workload.name: recording for recording in read_study(folder).recordings}
    assert set(recordings) == {"bank", "queue"}
    options: dict[str, Any] = recordings["bank"].trial.workload.options
    assert options["definition"] == example()
    assert options["parameters"] == {"accounts": 300}
    intervals = recordings["bank"].intervals()
    assert intervals is not None
    assert set(intervals["transaction"]) == {"look", "transfer"}
    (tmp_path / "files" / "bank.toml").unlink()
    again = plimsoll("study", "run", folder, "-q")
    assert again.returncode == 0, again.stderr
    assert len(read_study(folder).recordings) == 2, "nothing was to do"
    guide = plimsoll("guide", folder)
    assert guide.returncode == 0, guide.stderr
    text = (folder / "guide.md").read_text(encoding="utf-8")
    assert "transfer" in text
    assert "[[transaction]]" not in text
