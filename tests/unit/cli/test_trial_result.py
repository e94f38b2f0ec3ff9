"""What `plimsoll trial` prints of its result."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import numpy as np

from plimsoll.analyse.answers.trial_result import StallResult, Times, TrialResult, trial_result
from plimsoll.analyse.trial.trial_summary import summarise
from plimsoll.cli.trial_result import (
    OUTAGES_SHOWN,
    STALLS_SHOWN,
    connection_lines,
    result_text,
    stall_lines,
    times_text,
)
from plimsoll.record.model import ConnectionsRecord, OutageRecord
from plimsoll.spec.clients import OpenArrivals
from support.made import measured
from support.repository import ROOT

MADE = ConnectionsRecord(wanted_count=4, opened_count=4, connect_s=0.1)
SCHEMA = json.loads((ROOT / "docs" / "trial.schema.json").read_text(encoding="utf-8"))


def of_trial(wanted: OpenArrivals | None = None, **made: Any) -> TrialResult:
    summary = summarise(measured([100.0] * 10, connections_made=MADE, **made))
    assert summary is not None
    return trial_result(summary, wanted)


def test_nothing_is_said_where_all_came_and_stayed() -> None:
    assert connection_lines(MADE, ()) == []


def test_missing_connections_and_outages_have_a_line_each() -> None:
    over = OutageRecord(instance="a/0", from_s=1.25, to_s=3.75, connections_count=16, lost_count=1500)
    few = ConnectionsRecord(wanted_count=4096, opened_count=100, connect_s=0.1)
    assert connection_lines(few, [over, over.model_copy(update={"to_s": None})]) == [
        "connections       100 of 4,096",
        "outage            from 1.2 s for 2.5 s: 16 connections and 1,500 transactions lost",
        "outage            from 1.2 s to the end: 16 connections and 1,500 transactions lost",
    ]
    assert len(connection_lines(MADE, [over] * 99)) == OUTAGES_SHOWN


def test_response_times_have_a_line_and_the_keys_that_scripts_know() -> None:
    result = of_trial(response_ns=np.full(500, 4_000_000))
    document = json.loads(result.model_dump_json())
    names = ["p50", "p90", "p95", "p99", "p999", "max", "mean", "lower_bounds"]
    assert list(document["response_ms"]) == names
    assert document["response_ms"]["max"] == 4.0
    assert "response time     p50 4.00 ms, p90 4.00 ms" in result_text(result)


def test_what_does_not_apply_is_left_out_and_all_else_is_there() -> None:
    fields = set(TrialResult.model_fields)
    assert set(json.loads(of_trial().model_dump_json())) == fields - {"drivers", "notpm", "tpcc", "open_loop"}


def test_it_is_what_the_schema_says() -> None:
    document = json.loads(of_trial(response_ns=np.full(500, 4_000_000)).model_dump_json())
    jsonschema.validate(document, SCHEMA)
    assert set(SCHEMA["properties"]) == set(TrialResult.model_fields)


def test_lower_bounds_have_a_sign() -> None:
    known = {"p50": 1.5, "p99": 1560.0, "max": 1664.0, "lower_bounds": ("p99", "max")}
    times = Times(**{**dict.fromkeys(Times.model_fields), **known})
    assert times_text(times) == "p50 1.50 ms, p99 >= 1.56 s, max >= 1.66 s"


def test_stalls_are_told_with_their_share_and_when_they_were() -> None:
    one = StallResult(from_s=4.0, to_s=7.0, transactions=0)
    assert stall_lines((), 0.0) == []
    assert stall_lines([one], 0.5) == [
        "stalled           nothing completed for 50.0 % of the time",
        "                  from 4.0 s for 3.0 s: 0 transactions completed",
    ]
    first, *lines = stall_lines([one.model_copy(update={"transactions": 12})] * 99, 0.9)
    assert first.startswith("stalled           hardly anything completed for 90.0 %")
    assert len(lines) == STALLS_SHOWN
