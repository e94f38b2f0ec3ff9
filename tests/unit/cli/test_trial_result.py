"""What `plimsoll trial` prints of its result."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from plimsoll.analyse.trial_summary import summarise
from plimsoll.cli.trial_result import OUTAGES_SHOWN, _connection_lines, result_of, shown
from plimsoll.record.connections import ConnectionsRecord
from unit.analyse.made import measured


def result(**changes: Any) -> dict[str, Any]:
    return {"connections": {"wanted_count": 4096, "opened_count": 4096}, "outages": [], **changes}


def test_nothing_is_said_where_all_came_and_stayed() -> None:
    assert _connection_lines(result()) == []


def test_missing_connections_and_outages_have_a_line_each() -> None:
    over = {"from_s": 1.25, "to_s": 3.75, "connections_count": 16, "lost_count": 1500}
    lines = _connection_lines(
        result(connections={"wanted_count": 4096, "opened_count": 100}, outages=[over, {**over, "to_s": None}])
    )
    assert lines == [
        "connections       100 of 4,096",
        "outage            from 1.2 s for 2.5 s: 16 connections and 1,500 transactions lost",
        "outage            from 1.2 s to the end: 16 connections and 1,500 transactions lost",
    ]
    assert len(_connection_lines(result(outages=[over] * 99))) == OUTAGES_SHOWN


def test_response_times_have_a_line_and_the_keys_that_scripts_know() -> None:
    made = ConnectionsRecord(wanted_count=4, opened_count=4, connect_s=0.1)
    summary = summarise(measured([100.0] * 10, response_ns=np.full(500, 4_000_000), connections_made=made))
    assert summary is not None
    result = result_of(summary)
    assert list(result["response_ms"]) == ["p50", "p90", "p95", "p99", "p999", "max", "mean"]
    assert json.loads(shown(result, as_json=True))["response_ms"]["max"] == 4.0
    assert "response time     p50 4.00 ms, p90 4.00 ms" in shown(result, as_json=False)
