"""What `plimsoll trial` prints of its result."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from plimsoll.analyse.trial.trial_summary import summarise
from plimsoll.cli.trial_result import (
    OUTAGES_SHOWN,
    STALLS_SHOWN,
    _connection_lines,
    _stall_lines,
    _times_text,
    result_of,
    shown,
)
from plimsoll.record.model import ConnectionsRecord
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
    names = ["p50", "p90", "p95", "p99", "p999", "max", "mean", "lower_bounds"]
    assert list(result["response_ms"]) == names
    assert json.loads(shown(result, as_json=True))["response_ms"]["max"] == 4.0
    assert "response time     p50 4.00 ms, p90 4.00 ms" in shown(result, as_json=False)


def test_lower_bounds_have_a_sign() -> None:
    times = {"p50": 1.5, "p90": None, "p99": 1560.0, "max": 1664.0, "lower_bounds": ["p99", "max"]}
    assert _times_text(times) == "p50 1.50 ms, p99 >= 1.56 s, max >= 1.66 s"


def test_stalls_are_told_with_their_share_and_when_they_were() -> None:
    one = {"from_s": 4.0, "to_s": 7.0, "transactions": 0}
    assert _stall_lines({"stalls": [], "stalled_ratio": 0.0}) == []
    assert _stall_lines({"stalls": [one], "stalled_ratio": 0.5}) == [
        "stalled           nothing completed for 50.0 % of the time",
        "                  from 4.0 s for 3.0 s: 0 transactions completed",
    ]
    first, *lines = _stall_lines({"stalls": [{**one, "transactions": 12}] * 99, "stalled_ratio": 0.9})
    assert first.startswith("stalled           hardly anything completed for 90.0 %")
    assert len(lines) == STALLS_SHOWN
