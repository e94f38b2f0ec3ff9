"""The address: who is answered and what, what is refused before it opens, and how long the last values stay."""

from __future__ import annotations

import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from plimsoll.errors import HostError, SpecError
from plimsoll.metrics import prometheus
from plimsoll.metrics.families import FAMILIES, Kind, Readings
from plimsoll.metrics.prometheus import ANSWERS_MAX, SCRAPER, Address, Endpoint, exposition, parse_address
from plimsoll.metrics.totals import Totals
from plimsoll.run.live import LiveSample
from plimsoll.run.watch import LATEST_METRICS
from support.live_intervals import live_interval_of
from support.waiting import until

MS = 1_000_000
HERE = Address("127.0.0.1", 0)


@pytest.fixture
def totals() -> Totals:
    totals = Totals()
    totals.observe(live_interval_of({"t": [MS, 3 * MS, 90_000 * MS]}, system='say "hi"\\\n'))
    return totals


@pytest.fixture
def endpoint(totals: Totals) -> Iterator[Endpoint]:
    with Endpoint(HERE, lambda: totals.readings) as endpoint:
        yield endpoint


def read(url: str, **headers: str) -> str:
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return str(answer.read().decode())


def scrape(url: str) -> str:
    return read(url, **{SCRAPER.replace("-", "_"): "1"})


def test_the_text_is_what_the_parser_of_prometheus_reads(totals: Totals) -> None:
    families = {family.name: family for family in text_string_to_metric_families(exposition(totals.readings).decode())}
    labels = {"system": 'say "hi"\\\n', "workload": "w", "type": "t"}
    assert families["plimsoll_transactions"].type == "counter"
    counted = {sample.labels["outcome"]: sample.value for sample in families["plimsoll_transactions"].samples}
    assert counted == {"completed": 3, "failed": 0, "dropped": 0}
    response = families["plimsoll_response_seconds"]
    assert response.type == "histogram"
    buckets = {s.labels["le"]: s.value for s in response.samples if s.name == "plimsoll_response_seconds_bucket"}
    assert [buckets[bound] for bound in ("0.0007", "0.0015", "0.002", "0.005", "60.0", "+Inf")] == [0, 1, 1, 2, 2, 3]
    assert list(buckets.values()) == sorted(buckets.values())
    others = {s.name.removeprefix("plimsoll_response_seconds"): s for s in response.samples if "le" not in s.labels}
    assert (others["_count"].value, others["_count"].labels) == (3, labels)
    assert others["_sum"].value == pytest.approx(90.004)


def test_every_family_has_a_name_and_labels_that_can_be_read(totals: Totals) -> None:
    readings = {
        family: {tuple("x" for _ in family.labels): 1.0} for family in FAMILIES if family.kind is not Kind.HISTOGRAM
    }
    text = exposition({**totals.readings, **readings}).decode()
    read_again = {
        sample.name: set(sample.labels) for family in text_string_to_metric_families(text) for sample in family.samples
    }
    for family in readings:
        assert read_again[family.prometheus_name] == set(family.labels)


def test_telemetry_of_now_is_shown_by_host_and_server() -> None:
    totals = Totals()
    samples = [LiveSample(host="h", instance="a/0", metric=metric, value=0.5) for metric in LATEST_METRICS]
    totals.observe(live_interval_of({}, telemetry=samples))
    assert 'plimsoll_telemetry_server_cpu_ratio{host="h",server="a/0"} 0.5' in exposition(totals.readings).decode()


def test_each_answer_is_of_now(totals: Totals, endpoint: Endpoint) -> None:
    before = read(endpoint.url)
    totals.observe(live_interval_of({"late": [MS]}, index=1))
    assert "late" not in before
    assert 'type="late"' in read(endpoint.url)


@pytest.mark.parametrize(
    ("path", "host", "code"),
    [
        ("/metrics?x=1", "127.0.0.1:9", 200),
        ("/metrics", "localhost", 200),
        ("/metrics", "[::1]:9", 200),
        ("/metrics", "attacker.example", 403),
        ("/metrics", "127.0.0.1.attacker.example:9464", 403),
        ("/", "127.0.0.1", 404),
        ("/../metrics/../x", "127.0.0.1", 404),
    ],
)
def test_a_page_elsewhere_cannot_read_by_a_name_that_it_made(
    endpoint: Endpoint, path: str, host: str, code: int
) -> None:
    with socket.create_connection((endpoint.address.host, endpoint.address.port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split()[1] == str(code).encode()
    assert (b"plimsoll_build_info" in answer) is (code == 200)


def test_connections_that_say_nothing_keep_nobody_from_reading(endpoint: Endpoint) -> None:
    place = (endpoint.address.host, endpoint.address.port)
    silent = [socket.create_connection(place) for _ in range(ANSWERS_MAX - 1)]

    def is_full() -> bool:
        silent.append(socket.create_connection(place))
        return _is_closed(silent[-1])

    try:
        assert "plimsoll_build_info" in read(endpoint.url)
        assert until(is_full), "so many and no more are answered at a time"
    finally:
        for connection in silent:
            connection.close()
    assert until(lambda: _is_answered(endpoint.url))


def _is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.1)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


def _is_answered(url: str) -> bool:
    try:
        return "plimsoll_build_info" in read(url)
    except OSError:
        return False


def test_an_address_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HostError, match=f"--metrics 127.0.0.1:{port}: cannot be listened on: Address already in"):
            Endpoint(Address("127.0.0.1", port), dict)


@pytest.mark.parametrize("text", ["9464", ":9464", "db1:9464", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "[::1]"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="--metrics: must be an address and a port such as"):
        parse_address(text)


def test_only_loopback_addresses_are_this_machines_own() -> None:
    assert [parse_address(text).is_loopback for text in ("127.0.0.2:1", "localhost:1", "[::1]:1")] == [True] * 3
    assert [parse_address(text).is_loopback for text in ("0.0.0.0:1", "[::]:1", "10.0.0.1:1")] == [False] * 3


def test_nobody_is_waited_for_who_does_not_come_again(endpoint: Endpoint) -> None:
    assert endpoint.last_read_limit_s == 0
    read(endpoint.url)  # a person, or curl
    assert endpoint.last_read_limit_s == 0
    scrape(endpoint.url)
    assert endpoint.last_read_limit_s == prometheus.LAST_READ_LIMIT_S
    scrape(endpoint.url)
    assert 1 < endpoint.last_read_limit_s < prometheus.LAST_READ_LIMIT_S


def test_a_read_that_came_late_does_not_shorten_the_wait(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    monkeypatch.setattr(prometheus, "time", SimpleNamespace(monotonic=lambda: now_s))
    limits_s = []
    for now_s in (0.0, 10.0, 20.0, 39.5, 40.0, 50.0, 60.0, 70.0, 80.0, 180.0):  # noqa: B007  (the clock reads it)
        scrape(endpoint.url)
        limits_s.append(endpoint.last_read_limit_s)
    longest = prometheus.LAST_READ_LIMIT_S
    assert limits_s == [longest, 21.0, 21.0, 40.0, 40.0, 40.0, 40.0, 21.0, 21.0, longest], "the last five reads count"


def test_a_reader_that_left_before_its_answer_has_not_read(totals: Totals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "LAST_READ_LIMIT_S", 0.2)
    left, done = threading.Event(), list[bool]()
    request = f"GET /metrics HTTP/1.0\r\n{SCRAPER}: 1\r\n\r\n".encode()

    def readings() -> Readings:
        left.wait()
        return totals.readings

    with Endpoint(HERE, readings) as endpoint:

        def come_and_leave() -> None:
            left.clear()
            with socket.create_connection((endpoint.address.host, endpoint.address.port)) as connection:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                left.set()
                assert b"plimsoll_build_info" in b"".join(iter(lambda: connection.recv(65536), b""))

        come_and_leave()
        waiting = threading.Thread(target=lambda: done.append(endpoint.wait_for_last_read()))
        waiting.start()
        while waiting.is_alive():
            come_and_leave()
    assert done == [False]


def test_the_last_values_stay_until_a_scraper_has_read_them(endpoint: Endpoint) -> None:
    scrape(endpoint.url)
    done: list[bool] = []
    waiting = threading.Thread(target=lambda: done.append(endpoint.wait_for_last_read()))
    waiting.start()
    read(endpoint.url)
    assert not done
    while waiting.is_alive():  # the wait may begin after a read; the next one counts
        scrape(endpoint.url)
        waiting.join(0.05)
    assert done == [True]


def test_a_scraper_that_does_not_come_again_is_given_up(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "LAST_READ_LIMIT_S", 0.05)
    scrape(endpoint.url)
    began_s = time.monotonic()
    assert not endpoint.wait_for_last_read()
    assert time.monotonic() - began_s >= 0.05


def test_the_address_is_free_again_at_the_end(totals: Totals) -> None:
    with Endpoint(HERE, lambda: totals.readings) as endpoint:
        url = endpoint.url
        read(url)
    with pytest.raises(urllib.error.URLError):
        read(url)
