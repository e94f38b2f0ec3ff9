"""A collector of OpenTelemetry's protocol in the test's own process, over HTTP."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

Requests = list[ExportMetricsServiceRequest]


@contextmanager
def http_collector(code: int = 200) -> Iterator[tuple[str, Requests]]:
    """Its URL, and what it gets; it answers with a status."""
    requests: Requests = []

    class Collect(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            assert self.path == "/v1/metrics"
            requests.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(code)
            self.end_headers()
            self.wfile.write(ExportMetricsServiceResponse().SerializeToString())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collect) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()
        thread.join()


def metrics_of(request: ExportMetricsServiceRequest) -> dict[str, Any]:
    """The metrics of a request by their names."""
    (resource_metrics,) = request.resource_metrics
    (scope_metrics,) = resource_metrics.scope_metrics
    return {metric.name: metric for metric in scope_metrics.metrics}


def attributes(point: Any) -> dict[str, str]:
    """The labels of a series."""
    return {pair.key: pair.value.string_value for pair in point.attributes}
