"""What standard variables ask for, and what a collector gets: decoded by the protocol's own messages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from plimsoll.errors import HostError, SpecError
from plimsoll.metrics.families import BOUNDS_S, RESPONSE, Buckets
from plimsoll.metrics.otlp import GRPC, HTTP, Push, Pusher, wanted
from plimsoll.metrics.totals import Totals
from support.live_intervals import live_interval_of
from support.otlp import Requests, attributes, http_collector, metrics_of
from support.waiting import until

MS = 1_000_000
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
SELDOM_S = 3600.0


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({ENDPOINT: ""}, None),
        ({"OTEL_SERVICE_NAME": "x"}, None),
        ({ENDPOINT: "http://c:4318"}, Push(HTTP, 60.0)),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c:4318"}, Push(HTTP, 60.0)),
        ({"OTEL_METRICS_EXPORTER": "otlp"}, Push(HTTP, 60.0)),
        ({"OTEL_METRICS_EXPORTER": "none", ENDPOINT: "http://c:4318"}, None),
        ({"OTEL_SDK_DISABLED": "True", ENDPOINT: "http://c:4318"}, None),
        (
            {ENDPOINT: "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_METRIC_EXPORT_INTERVAL": "500"},
            Push(GRPC, 0.5),
        ),
        (
            {
                ENDPOINT: "http://c:4317",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/protobuf",
            },
            Push(HTTP, 60.0),
        ),
    ],
)
def test_only_what_is_asked_for_is_pushed(variables: dict[str, str], expected: Push | None) -> None:
    assert wanted(variables) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_METRICS_EXPORTER", "otlp,prometheus"),
        ("OTEL_METRICS_EXPORTER", "console"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "often"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "0"),
        ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta"),
        ("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram"),
    ],
)
def test_what_is_not_done_is_refused(name: str, value: str) -> None:
    with pytest.raises(SpecError, match=f"^{name}: "):
        wanted({ENDPOINT: "http://c:4318", name: value})


def test_a_missing_extra_is_refused_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.metric_exporter", None)
    with pytest.raises(HostError, match=r"pip install 'plimsoll\[otel\]', or set OTEL_METRICS_EXPORTER=none"):
        Pusher(Push(HTTP, SELDOM_S), dict, print)


@contextmanager
def grpc_collector() -> Iterator[tuple[str, Requests]]:
    requests: Requests = []

    class Collect(metrics_service_pb2_grpc.MetricsServiceServicer):
        def Export(self, request: ExportMetricsServiceRequest, context: Any) -> ExportMetricsServiceResponse:  # noqa: N802
            requests.append(request)
            return ExportMetricsServiceResponse()

    server = grpc.server(ThreadPoolExecutor(2))
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Collect(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"http://127.0.0.1:{port}", requests
    server.stop(None).wait()


@pytest.mark.parametrize(("protocol", "collector"), [(HTTP, http_collector), (GRPC, grpc_collector)], ids=[HTTP, GRPC])
def test_a_collector_gets_the_first_and_the_last_values(
    protocol: str,
    collector: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    totals = Totals()
    faults: list[str] = []
    with collector() as (url, requests):
        monkeypatch.setenv(ENDPOINT, url)
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=ci")
        with Pusher(Push(protocol, SELDOM_S), lambda: totals.readings, faults.append):
            assert until(lambda: bool(requests)), "the first ones are pushed at once"
            totals.observe(live_interval_of({"t": [MS, 3 * MS, 90_000 * MS]}, errors=[("retryable", 1213, 2)]))
        first, last = requests[0], requests[-1]
    assert not faults
    assert metrics_of(first).keys() == {"plimsoll.build.info", "plimsoll.trial.state"}
    metrics = metrics_of(last)
    transactions = metrics["plimsoll.transactions"].sum
    assert (transactions.is_monotonic, transactions.aggregation_temporality) == (True, 2)
    assert {attributes(point)["outcome"]: point.as_int for point in transactions.data_points} == {
        "completed": 3, "failed": 0, "dropped": 0,
    }  # fmt: skip
    response = metrics["plimsoll.response"]
    (point,) = response.histogram.data_points
    expected = totals.readings[RESPONSE]["a", "w", "t"]
    assert isinstance(expected, Buckets)
    assert (response.unit, response.histogram.aggregation_temporality) == ("s", 2)
    assert attributes(point) == {"system": "a", "workload": "w", "type": "t"}
    assert tuple(point.bucket_counts) == expected.counts
    assert tuple(point.explicit_bounds) == BOUNDS_S
    assert (point.count, point.sum) == (3, pytest.approx(90.004))
    assert not point.HasField("min")
    assert not point.HasField("max")
    assert 0 < point.start_time_unix_nano <= point.time_unix_nano
    (connections,) = metrics["plimsoll.connections.open"].gauge.data_points
    assert connections.as_int == 4
    resource = {pair.key: pair.value.string_value for pair in last.resource_metrics[0].resource.attributes}
    assert (resource["service.name"], resource["deployment.environment"]) == ("plimsoll", "ci")
    assert resource["service.instance.id"]


def test_the_name_of_the_users_service_goes_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
    with http_collector() as (url, requests):
        monkeypatch.setenv(ENDPOINT, url)
        with Pusher(Push(HTTP, SELDOM_S), dict, print):
            pass
    resource = {pair.key: pair.value.string_value for pair in requests[-1].resource_metrics[0].resource.attributes}
    assert resource["service.name"] == "nightly"


def test_a_collector_that_refuses_is_told_of_once_and_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    faults: list[str] = []
    with http_collector(code=400) as (url, requests):
        monkeypatch.setenv(ENDPOINT, url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")
        with Pusher(Push(HTTP, 0.01), dict, faults.append):
            assert until(lambda: len(requests) > 2)
    assert len(faults) == 1
    assert "metrics cannot be pushed by OTLP" in faults[0]
    assert "secret" not in faults[0] + "".join(capsys.readouterr())
