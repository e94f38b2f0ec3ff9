"""An address at which Prometheus reads the metrics: text of its format, over HTTP, one answer for each connection.

Loopback unless the user names another address. A browser's page elsewhere cannot read it through a name that it lets
point to this machine: at a loopback address only requests for a loopback name are answered. Answering takes no lock of
the run's, waits for nobody for long, and gives way to load on the same machine. Deliberately not here: the values
(`totals`), encryption and passwords, which a proxy adds.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, Self

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from plimsoll.errors import HostError, SpecError
from plimsoll.metrics.families import BOUNDS_S, Buckets, Family, Kind, Readings, Value
from plimsoll.spec.addresses import host_asked_for, in_url, is_loopback
from plimsoll.telemetry.sampler import yield_to_others

_LOG = logging.getLogger(__name__)
PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ANSWERS_MAX = 8
"""So many connections are answered at a time; more are closed at once."""

REQUEST_LIMIT_S = 5.0
"""A connection that sends nothing for so long is closed."""

LAST_READ_LIMIT_S = 60.0
"""The last values are kept for at most so long: Prometheus' own default of the time between two reads."""

READS_KEPT = 5
"""Of so many reads the longest time between two counts: after one that came late the next seems to come soon."""

SCRAPER = "X-Prometheus-Scrape-Timeout-Seconds"
"""The header by which programs that read again and again are known; browsers and curl do not send it."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the metrics are read.

    Attributes:
        host: A numeric address.
        port: 0 for any that is free.
    """

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Only this machine reaches it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"{in_url(self.host)}:{self.port}"


def parse_address(text: str) -> Address:
    """Reads `ADDRESS:PORT`.

    Raises:
        SpecError: It is none; a name other than localhost may stand for several addresses.

    >>> parse_address("localhost:9464"), str(parse_address("[::1]:9464"))
    (Address(host='127.0.0.1', port=9464), '[::1]:9464')
    """
    host, _, port = text.strip().rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    try:
        address = Address(ipaddress.ip_address(host).compressed, int(port))
    except ValueError:
        address = None
    if address is None or not 0 <= address.port < 2**16:
        raise SpecError(f"--metrics: must be an address and a port such as 127.0.0.1:9464, is {text[:60]!r}")
    return address


class _Collector(Collector):
    """Makes families of the client library from readings."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    def collect(self) -> Iterable[Metric]:
        """Every family that has a value."""
        return (_metric(family, series) for family, series in self._readings.items())


def exposition(readings: Readings) -> bytes:
    """Readings in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(readings))
    return generate_latest(registry)


def _metric(family: Family, series: dict[tuple[str, ...], Value]) -> Metric:
    kinds = {
        Kind.COUNTER: CounterMetricFamily,
        Kind.GAUGE: GaugeMetricFamily,
        Kind.HISTOGRAM: HistogramMetricFamily,
    }
    metric: Any = kinds[family.kind](family.prometheus_name, family.help, labels=family.labels)
    for labels, value in series.items():
        if isinstance(value, Buckets):
            metric.add_metric(labels, buckets=list(_cumulative(value)), sum_value=value.sum_ns / 1e9)
        else:
            metric.add_metric(labels, value)
    assert isinstance(metric, Metric)
    return metric


def _cumulative(buckets: Buckets) -> Iterator[tuple[str, int]]:
    below = 0
    for bound, count in zip((*map(str, BOUNDS_S), "+Inf"), buckets.counts, strict=True):
        below += count
        yield bound, below


class Endpoint:
    """The address, open from the moment that it is made; answers while it is entered.

    Attributes:
        address: With the port that it got.
    """

    def __init__(self, address: Address, readings: Callable[[], Readings]) -> None:
        """Takes the address, and answers nobody yet.

        Args:
            address: Where.
            readings: Gives those of now, from any thread.

        Raises:
            HostError: The address cannot be had.
        """
        try:
            self._server = _Server(address, readings)
        except OSError as error:
            raise HostError(
                f"--metrics {address}: cannot be listened on: {error.strerror}; choose another port"
            ) from None
        self.address = Address(address.host, self._server.server_port)
        self._thread = threading.Thread(target=self._serve, name="plimsoll-metrics", daemon=True)

    @property
    def url(self) -> str:
        """Of the metrics."""
        return f"http://{self.address}{PATH}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self) -> None:
        yield_to_others()
        self._server.serve_forever(poll_interval=0.1)

    @property
    def last_read_limit_s(self) -> float:
        """How long a scraper may take to come again: twice the longest time between its last reads; 0 without any."""
        return self._server.reads.expected_s

    def wait_for_last_read(self) -> bool:
        """Waits until a scraper has read the values of now; whether it did within the limit."""
        return self._server.reads.wait_since(time.monotonic(), self.last_read_limit_s)


class _Reads:
    """When scrapers came, and which of them got their answer; by the monotonic clock."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._began_s: deque[float] = deque(maxlen=READS_KEPT)
        self._answered_s = -math.inf

    def begin(self, began_s: float) -> None:
        """Notes one that came."""
        with self._changed:
            self._began_s.append(began_s)

    def end(self, began_s: float) -> None:
        """Notes that the one that came then got its answer."""
        with self._changed:
            self._answered_s = max(self._answered_s, began_s)
            self._changed.notify_all()

    @property
    def expected_s(self) -> float:
        """The next one comes within so long, if any does."""
        with self._changed:
            if len(self._began_s) < 2:
                return LAST_READ_LIMIT_S if self._began_s else 0.0
            longest_s = max(later_s - earlier_s for earlier_s, later_s in pairwise(self._began_s))
            return min(2 * longest_s + 1, LAST_READ_LIMIT_S)

    def wait_since(self, since_s: float, limit_s: float) -> bool:
        """Waits for an answer to one that came since then."""
        with self._changed:
            return self._changed.wait_for(lambda: self._answered_s >= since_s, limit_s)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: Address, readings: Callable[[], Readings]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self.is_loopback, self.readings, self.reads = address.is_loopback, readings, _Reads()
        self._free = threading.BoundedSemaphore(ANSWERS_MAX)
        super().__init__((address.host, address.port), _Handler)

    def server_bind(self) -> None:
        """Binds, without the library's look for a name of the address."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answers on a thread of its own, or not at all."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers, when nobody else wants the processor."""
        yield_to_others()
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  (the library passes it)
        """A reader that went away is nobody's fault."""
        _LOG.debug("a reader was not answered", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version, sys_version = "plimsoll", ""
    timeout = REQUEST_LIMIT_S

    def do_GET(self) -> None:
        """Gives the metrics."""
        if self.server.is_loopback and not is_loopback(host_asked_for(self.headers.get("Host", "localhost"))):
            self._answer(403, b"only loopback names are answered at a loopback address\n")
        elif self.path.partition("?")[0] != PATH:
            self._answer(404, f"the metrics are at {PATH}\n".encode())
        else:
            self._give_metrics(time.monotonic(), self.server.reads if SCRAPER in self.headers else _Reads())

    def _give_metrics(self, began_s: float, reads: _Reads) -> None:
        reads.begin(began_s)
        text = exposition(self.server.readings())
        is_left = self._is_left()  # before it has its answer: afterwards a reader may close at once
        self._answer(200, text, CONTENT_TYPE)
        if not is_left:
            reads.end(began_s)

    def _answer(self, code: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _is_left(self) -> bool:
        """Whether the reader closed the connection before the answer was sent: it took too long for it."""
        self.connection.setblocking(False)
        try:
            return not self.connection.recv(1)
        except BlockingIOError:
            return False
        finally:
            self.connection.settimeout(self.timeout)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the library's name)
        """Requests go to the log of details only."""
        _LOG.debug(format, *args)
