"""What `plimsoll trial` prints about connections and errors."""

from __future__ import annotations

from typing import Any

from plimsoll.cli.trial_result import OUTAGES_SHOWN, _connection_lines


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
