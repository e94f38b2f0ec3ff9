"""Samples of the measured window, summed by place and metric."""

from __future__ import annotations

import pytest

from plimsoll.analyse.trial.samples import samples_of
from plimsoll.record.model import EngineAccount
from support.recordings import intervals, telemetry

ACCOUNT = EngineAccount(
    started_unix_s=10.0,
    duration_s=20.0,
    offered_count=0,
    unfinished_count=0,
    client_user_s=0.0,
    client_system_s=0.0,
    client_memory_bytes_max=0,
)


def test_a_sample_speaks_for_the_second_before_it() -> None:
    table = telemetry(0, 40, busy_ratio=0.5).with_columns(value="unix_s")
    found = samples_of(table, intervals(5, 3), ACCOUNT)
    assert found is not None
    assert [metric.unix_s.tolist() for metric in found.metrics] == [[16.0, 17.0, 18.0]]
    assert [(one.metric, one.total, one.size) for one in found.sums] == [("busy_ratio", 51.0, 3)]


def test_the_mean_is_of_all_places_and_of_a_source_where_one_is_named() -> None:
    host = telemetry(11, 3, "host", a=1.0, b=9.0)
    table = host.vstack(telemetry(11, 1, "engine", a=5.0))
    found = samples_of(table, intervals(0, 5), ACCOUNT)
    assert found is not None
    assert found.mean("a") == pytest.approx(2.0)
    assert found.mean("a", "engine") == 5.0
    assert found.mean("c") is None
    assert [one.values.tolist() for one in found.of(["host"], ["b"])] == [[9.0] * 3]


def test_without_telemetry_or_intervals_nothing_is_known() -> None:
    table = telemetry(0, 9, a=1.0)
    assert samples_of(None, intervals(0, 5), ACCOUNT) is None
    assert samples_of(table, intervals(0, 5), None) is None
    assert samples_of(table, intervals(0, 0), ACCOUNT) is None
