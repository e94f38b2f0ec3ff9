"""The metrics pushed to a collector by OpenTelemetry's protocol, as its standard environment variables ask for it.

The values are those of Prometheus: totals since the command began, with the same buckets. So what the SDK would count
is given to its exporter as data. Variables that the exporter reads itself (endpoint, headers, certificates, timeout,
compression, attributes of the resource) are left to it; what Plimsoll cannot do is refused. Nothing waits for a
collector: it is written to on a thread of its own. Deliberately not here: traces and logs.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from plimsoll import __version__
from plimsoll.errors import HostError, SpecError
from plimsoll.metrics.families import BOUNDS_S, Buckets, Family, Kind, Readings, Value
from plimsoll.telemetry.sampler import yield_to_others

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import Metric, MetricExporter, MetricsData
    from opentelemetry.sdk.resources import Resource

ENDPOINTS = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
EXPORTER = "OTEL_METRICS_EXPORTER"
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL"
_INTERVAL_MS = 60_000
GRPC, HTTP = "grpc", "http/protobuf"
_DISABLED = "OTEL_SDK_DISABLED"
_ONLY = {
    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "cumulative",
    "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "explicit_bucket_histogram",
}
"""What can be chosen elsewhere, and not here."""

LAST_PUSH_LIMIT_S = 5.0
"""At the end a collector has so long to take the last values."""


@dataclass(frozen=True, slots=True)
class Push:
    """What the environment asks for.

    Attributes:
        protocol: `GRPC` or `HTTP`.
        interval_s: Time between two pushes.
    """

    protocol: str
    interval_s: float


def wanted(environment: Mapping[str, str]) -> Push | None:
    """What standard variables ask for; None where they do not ask, or say no. Empty ones are as none.

    Raises:
        SpecError: They ask for something that is not done here; all faults at once.
    """
    given = {name: value.strip() for name, value in environment.items() if name.startswith("OTEL_") and value.strip()}
    exporters = [name.strip() for name in given.get(EXPORTER, "").split(",") if name.strip()]
    is_asked = bool(exporters) or any(name in given for name in ENDPOINTS)
    if not is_asked or exporters == ["none"] or given.get(_DISABLED, "").lower() == "true":
        return None
    faults = [
        f"{EXPORTER}: must be otlp or none, is {name!r}; for Prometheus there is --metrics"
        for name in exporters
        if name != "otlp"
    ]
    faults += [
        f"{name}: only {value} is done, is {given[name]!r}"
        for name, value in _ONLY.items()
        if given.get(name, value).lower() != value
    ]
    protocol = next((given[name] for name in _PROTOCOLS if name in given), HTTP)
    if protocol not in (GRPC, HTTP):
        faults.append(f"{_PROTOCOLS[1]}: must be {GRPC} or {HTTP}, is {protocol!r}")
    interval = given.get(_INTERVAL, str(_INTERVAL_MS))
    if not interval.isdecimal() or int(interval) == 0:
        faults.append(f"{_INTERVAL}: must be milliseconds, 1 or more, is {interval!r}")
    if faults:
        raise SpecError(*faults)
    return Push(protocol, int(interval) / 1e3)


class Pusher:
    """Pushes readings while it is entered: at once, at each interval, and at the end."""

    def __init__(self, push: Push, readings: Callable[[], Readings], say: Callable[[str], None]) -> None:
        """Makes the exporter; sends nothing yet.

        Args:
            push: How.
            readings: Gives those of now, from any thread.
            say: Is told, from another thread, when the collector does not take them: once, and never the values.

        Raises:
            HostError: The extra `otel` is not installed.
        """
        self._push, self._readings, self._say = push, readings, say
        self._exporter = _exporter(push.protocol)
        self._resource = _resource()
        self._began_ns, self._failures_count = time.time_ns(), 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plimsoll-otlp", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Pushes the last values, and gives up on a collector that does not take them in time."""
        self._ended.set()
        self._thread.join(LAST_PUSH_LIMIT_S)
        if self._thread.is_alive():
            self._say("the collector of OTLP did not take the last metrics in time")

    def _run(self) -> None:
        yield_to_others()
        while True:
            is_last = self._ended.is_set()
            self._send()
            if is_last:
                break
            self._ended.wait(self._push.interval_s)
        self._exporter.shutdown()

    def _send(self) -> None:
        from opentelemetry.sdk.metrics.export import MetricExportResult

        data = metrics_data(self._readings(), self._resource, began_ns=self._began_ns, now_ns=time.time_ns())
        try:
            is_taken = self._exporter.export(data) is MetricExportResult.SUCCESS
        except Exception:  # whatever an exporter of the user's choice does, the load goes on
            _LOG.debug("the exporter failed", exc_info=True)
            is_taken = False
        if is_taken:
            return
        self._failures_count += 1
        if self._failures_count == 1:
            self._say(
                "metrics cannot be pushed by OTLP: check OTEL_EXPORTER_OTLP_ENDPOINT; the load goes on without them"
            )


_LOG = logging.getLogger(__name__)


def _exporter(protocol: str) -> MetricExporter:
    """Of the SDK; it reads its own variables."""
    try:
        if protocol == GRPC:
            from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcExporter

            exporter: MetricExporter = GrpcExporter()
        else:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpExporter

            exporter = HttpExporter()
    except ImportError:
        raise HostError(
            "OTEL_* variables ask for metrics by OTLP, and the extra otel is not installed: pip install"
            " 'plimsoll[otel]', or set OTEL_METRICS_EXPORTER=none"
        ) from None
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # what fails is said once, by `Pusher`
    return exporter


def _resource() -> Resource:
    """What the metrics are of; what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say goes before."""
    from opentelemetry.sdk.resources import Resource

    given = Resource.create()
    attributes: dict[str, str] = {"service.version": __version__, "service.instance.id": str(uuid.uuid4())}
    if str(given.attributes.get("service.name", "unknown_service")).startswith("unknown_service"):
        attributes["service.name"] = "plimsoll"
        return given.merge(Resource(attributes))
    return Resource(attributes).merge(given)


def metrics_data(readings: Readings, resource: Resource, *, began_ns: int, now_ns: int) -> MetricsData:
    """Readings as the exporter takes them.

    Args:
        readings: Of one moment.
        resource: What they are of.
        began_ns: When the totals were 0, nanoseconds since 1970.
        now_ns: That moment.
    """
    from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    metrics = [_metric(family, series, began_ns, now_ns) for family, series in readings.items()]
    scope = ScopeMetrics(InstrumentationScope("plimsoll", __version__), metrics, "")
    return MetricsData([ResourceMetrics(resource, [scope], "")])


def _metric(family: Family, series: Mapping[tuple[str, ...], Value], began_ns: int, now_ns: int) -> Metric:
    from opentelemetry.sdk.metrics.export import (
        AggregationTemporality,
        Gauge,
        Histogram,
        HistogramDataPoint,
        Metric,
        NumberDataPoint,
        Sum,
    )

    points: list[Any] = []
    for labels, value in series.items():
        common = {
            "attributes": dict(zip(family.labels, labels, strict=True)),
            "start_time_unix_nano": began_ns,
            "time_unix_nano": now_ns,
        }
        if isinstance(value, Buckets):
            points.append(
                HistogramDataPoint(
                    **common,
                    count=value.count,
                    sum=value.sum_ns / 1e9,
                    bucket_counts=value.counts,
                    explicit_bounds=BOUNDS_S,
                    min=None,
                    max=None,
                )
            )
        else:
            points.append(NumberDataPoint(**common, value=value))
    total = AggregationTemporality.CUMULATIVE
    kinds = {
        Kind.COUNTER: lambda: Sum(points, total, is_monotonic=True),
        Kind.GAUGE: lambda: Gauge(points),
        Kind.HISTOGRAM: lambda: Histogram(points, total),
    }
    return Metric(family.otel_name, family.help, family.unit, kinds[family.kind]())
