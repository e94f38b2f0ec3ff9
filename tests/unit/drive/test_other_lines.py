"""What the engine is told besides trials and data sets is what its schema takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import SecretStr

from plimsoll.drive.plans import GroupServers, ledger_line, read_logs_line, relay_line, trial_line
from plimsoll.drive.protocol import PROTOCOL
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.replicas import Reads
from plimsoll.spec.target import Target

ENGINE: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs" / "engine-protocol.schema.json").read_text())
TCP = Target(user="bench", database="sbtest", host="db", port=3307, password=SecretStr("pässword"))
SOCKET = Target(user="bench", database="sbtest", socket=Path("/run/mysqld/mysqld.sock"))


def valid(line: dict[str, Any], command: str) -> None:
    """Raises if the engine would refuse the line for its shape."""
    schema = {"$ref": f"#/$defs/{command}", "$defs": ENGINE["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(line)


def test_ledger_lines_are_valid() -> None:
    line = ledger_line(TCP, Path("/l/ledger"), connections=4, seed=1)
    assert line["protocol"] == PROTOCOL
    valid(json.loads(json.dumps(line)), "LedgerCommand")


def test_servers_with_replicas_are_valid_and_named() -> None:
    for reads in (None, Reads(), Reads(policy="least_outstanding", per="connection", read_your_writes="wait")):
        servers = [GroupServers("s/0", TCP, {"s/1": SOCKET, "s/2": TCP}, reads)]
        workload = WorkloadSpec(name="x", kind="oltp_read_only")
        line = trial_line(workload, servers, connections=1, duration_s=1, seed=1)
        valid(json.loads(json.dumps(line)), "TrialCommand")
        (group,) = line["groups"]
        assert [one.get("instance", group["instance"]) for one in group["targets"]] == ["s/0", "s/1", "s/2"]
        assert [one["role"] for one in group["targets"]] == ["source", "replica", "replica"]
        assert (group["reads"] is None) == (reads is None)


def test_reads_and_their_defaults_are_those_of_the_engine() -> None:
    plan = ENGINE["$defs"]["ReadsPlan"]["properties"]
    assert Reads().line() == {name: option["default"] for name, option in plan.items()}


@pytest.mark.parametrize("target", [TCP, SOCKET])
def test_relay_lines_are_valid(target: Target) -> None:
    line = relay_line(target, delay_s=0.0015)
    assert (line["delay_ns"], "password" in line["to"]) == (1_500_000, False)
    valid(json.loads(json.dumps(line)), "RelayCommand")


AUDIT = {"audit": {"columns": 10, "quote": "'", "escape": "backslash", "session": 4, "time": 0, "sql": 8, "user": 2}}


@pytest.mark.parametrize("form", ["auto", "slow", "general", AUDIT])
def test_lines_for_logs_are_valid(form: str | dict[str, Any]) -> None:
    inputs = [(Path("/l/slow.log.1"), "slow.log.1"), (Path("-"), "standard input")]
    line = read_logs_line(Path("/private"), inputs, form=form, time_zone_offset_s=-3600)
    assert line["protocol"] == PROTOCOL
    valid(json.loads(json.dumps(line)), "ReadLogsCommand")
