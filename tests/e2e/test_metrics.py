"""A run that a real Prometheus reads and that is pushed to a collector: both have the totals of its recording."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from plimsoll.drive.protocol import Histogram
from plimsoll.metrics.families import BOUNDS_S, Buckets
from plimsoll.record.store import Recording, read_study
from plimsoll.servers.managed_server import free_port
from support.command import login, plimsoll, real_server
from support.dashboard import expressions, rule_expressions
from support.otlp import attributes, http_collector, metrics_of
from support.prometheus import Prometheus, prometheus
from support.waiting import until

pytestmark = pytest.mark.e2e

EVER = "max_over_time({name}[10m])"
"""The last value of a counter whose target is gone by now."""


def test_prometheus_and_a_collector_have_the_totals_of_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"127.0.0.1:{free_port()}"
    with (
        prometheus(tmp_path, address) as reading,
        http_collector() as (url, requests),
        real_server(Path("/var/tmp/plimsoll-test-metrics")) as server,
    ):
        reach = login(server, monkeypatch)
        assert plimsoll("prepare", *reach, "--table-size", "20").returncode == 0
        assert until(lambda: bool(reading.query("up"))), "Prometheus tries to read"
        ran = plimsoll(
            "trial", *reach, "--table-size", "20", "--connections", "4", "--think-time", "5ms", "--duration", "4s",
            "--record", tmp_path / "runs", "--record-system", 'db "1"', "--metrics", address, "--json",
            env={"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_METRIC_EXPORT_INTERVAL": "500"},
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert "the metrics can be read for" in ran.stderr
        assert json.loads(ran.stdout)["verdict"] == "complete"
        (recording,) = read_study(tmp_path / "runs").recordings
        check_counters(reading, recording)
        check_buckets(reading, recording)
        for expression in expressions():
            assert reading.query(expression) or is_of_others(expression), f"nothing is shown: {expression}"
        for expression in rule_expressions():
            reading.query(expression)
    pushed = metrics_of(requests[-1])
    assert len(requests) > 2
    counted = {
        tuple(attributes(point).values()): point.as_int for point in pushed["plimsoll.transactions"].sum.data_points
    }
    assert counted == {(*key[:3], key[3]): value for key, value in transactions(recording).items()}


def transactions(recording: Recording) -> dict[tuple[str, ...], int]:
    """What the recording counts, by the labels of the metric."""
    intervals = recording.intervals()
    assert intervals is not None
    place = (recording.trial.system.name, recording.trial.workload.name)
    return {
        (*place, row["transaction"], outcome): row[outcome]
        for row in intervals.group_by("transaction").agg(pl.col("completed", "failed", "dropped").sum()).to_dicts()
        for outcome in ("completed", "failed", "dropped")
    }


def check_counters(reading: Prometheus, recording: Recording) -> None:
    read = reading.values(EVER.format(name="plimsoll_transactions_total"), "system", "workload", "type", "outcome")
    assert read == transactions(recording)
    assert sum(read.values()) > 100
    intervals, errors = recording.intervals(), recording.errors()
    assert intervals is not None
    assert errors is not None
    sums = intervals.sum()
    for name, columns in {
        "plimsoll_statements_total": ("reads", "writes", "others"),
        "plimsoll_rows_total": ("rows_returned", "rows_affected"),
        "plimsoll_retries_total": ("retries",),
        "plimsoll_transactions_rolled_back_total": ("rolled_back",),
    }.items():
        read = reading.values(EVER.format(name=name), "type", "kind", "direction")
        assert sorted(read.values()) == sorted(sums[column].item() for column in columns), name
    read = reading.values(EVER.format(name="plimsoll_errors_total"), "class", "code")
    by_kind = errors.group_by("class", "code").agg(pl.col("count").sum()).to_dicts()
    assert read == {(row["class"], str(row["code"])): row["count"] for row in by_kind}
    read = reading.values(EVER.format(name="plimsoll_intervals_total"), "state")
    assert sum(read.values()) == intervals["interval"].n_unique()


def check_buckets(reading: Prometheus, recording: Recording) -> None:
    """Each bucket has the durations of the recording that ended within it."""
    histograms = recording.histograms({"response"})
    assert histograms is not None
    expected = Buckets()
    for row in histograms.to_dicts():
        expected = expected.plus(
            Histogram(buckets=row["buckets"], counts=row["counts"], sum_ns=row["sum_ns"], max_ns=row["max_ns"])
        )
    read = reading.values(EVER.format(name="plimsoll_response_seconds_bucket"), "le")
    by_bound = {float(le.replace("+Inf", "inf")): value for (le,), value in read.items()}
    assert [by_bound[bound] for bound in sorted(by_bound)] == [
        sum(expected.counts[: index + 1]) for index in range(len(BOUNDS_S) + 1)
    ]
    (total_s,) = reading.values(EVER.format(name="plimsoll_response_seconds_sum")).values()
    assert total_s == pytest.approx(expected.sum_ns / 1e9)


OTHERS = r"study_trials|trials_total|run_remaining|search_rate|target_rate|replica_lag|errors_total|busy_ratio"
"""Metrics of studies, searches, rates and replicas; of errors and devices, which this run need not have had."""


def is_of_others(expression: str) -> bool:
    return bool(re.search(OTHERS, expression))
