"""Pages from a server that behaves, and from one that does its worst: one error within the limits, never a hang."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from pydantic import SecretStr

from plimsoll.errors import HostError
from plimsoll.telemetry.exporters.page import fetch_page
from support.web import Answer, page, web_server

LIMIT_S = 0.5
"""For what never ends."""

LONG_S = 60.0
"""For what a busy machine takes its time for."""

HUNG_S = 4 * LONG_S


def fetched(answer: Answer, *, token: str | None = None, size_bytes_max: int = 1000, limit_s: float = LONG_S) -> str:
    with web_server(answer) as port:
        secret = None if token is None else SecretStr(token)
        url = f"http://127.0.0.1:{port}/metrics?collect[]=cpu"
        return fetch_page(url, secret, limit_s=limit_s, size_bytes_max=size_bytes_max).text


def test_a_page_with_a_token() -> None:
    seen: list[bytes] = []

    def answer(connection: socket.socket, request: bytes) -> None:
        seen.append(request)
        connection.sendall(page("a 1\n"))

    assert fetched(answer, token="t0k3n") == "a 1\n"
    assert seen[0].startswith(b"GET /metrics?collect[]=cpu HTTP/1.1\r\n")
    assert b"Authorization: Bearer t0k3n\r\n" in seen[0]


def test_a_page_in_chunks() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert fetched(lambda it, _: it.sendall(head + b"4\r\na 1\n\r\n0\r\n\r\n")) == "a 1\n"


def drip(connection: socket.socket, what: bytes, *, head: bytes = b"") -> None:
    """Sends something again and again, each time within any limit of a socket."""
    connection.sendall(head)
    end_s = time.monotonic() + HUNG_S
    while time.monotonic() < end_s:
        connection.sendall(what)
        threading.Event().wait(0.05)


def flood(connection: socket.socket, head: bytes, what: bytes) -> None:
    connection.sendall(head)
    while True:
        connection.sendall(what)


HEAD = b"HTTP/1.1 200 OK\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
WORST: dict[str, tuple[Answer, str]] = {
    "says nothing": (lambda it, _: threading.Event().wait(HUNG_S) and None, "no complete answer within"),
    "drips a head": (lambda it, _: drip(it, b"x"), "no complete answer within"),
    "drips headers": (lambda it, _: drip(it, b"a: b\r\n", head=b"HTTP/1.1 200 OK\r\n"), "127.0.0.1"),
    "drips a body": (lambda it, _: drip(it, b"a", head=HEAD), "no complete answer within"),
    "never ends": (lambda it, _: flood(it, HEAD, b"a" * 65536), "is longer than 1000 bytes"),
    "endless chunks": (lambda it, _: flood(it, CHUNKED, b"4\r\naaaa\r\n"), "is longer than 1000 bytes"),
    "endless line": (lambda it, _: flood(it, b"HTTP/1.1 ", b"2" * 65536), "no HTTP answer"),
    "chunk of negative size": (lambda it, _: it.sendall(CHUNKED + b"-5\r\nab\r\n"), "127.0.0.1"),
    "says too much": (lambda it, _: it.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc"), "ended early"),
    "redirects": (
        lambda it, _: it.sendall(page("", status="302 Found", headers="Location: file:///etc/passwd\r\n")),
        "HTTP 302",
    ),
    "refuses": (lambda it, _: it.sendall(page("no", status="401 Unauthorized")), "HTTP 401"),
    "compresses": (lambda it, _: it.sendall(page("a", headers="Content-Encoding: gzip\r\n")), "is compressed"),
    "no HTTP": (lambda it, _: it.sendall(b"\x00\x01\x02SSH-2.0-hello\r\n"), "no HTTP answer"),
    "hangs up": (lambda it, _: None, "no HTTP answer"),
}


ENDLESS = ("says nothing", "drips a head", "drips headers", "drips a body")


@pytest.mark.parametrize("name", WORST)
def test_whatever_answers_it_is_one_message(name: str) -> None:
    answer, words = WORST[name]
    began_s = time.monotonic()
    with pytest.raises(HostError) as raised:
        fetched(answer, token="t0k3n", limit_s=LIMIT_S if name in ENDLESS else LONG_S)
    assert words in str(raised.value)
    assert "t0k3n" not in str(raised.value)
    assert "collect" not in str(raised.value), "a query is not repeated"
    assert time.monotonic() - began_s < HUNG_S / 2, "the limit holds for all of it"


def test_a_token_that_cannot_be_sent_is_not_told() -> None:
    with pytest.raises(HostError) as raised:
        fetched(lambda it, _: it.sendall(page("a 1\n")), token="t0k3n\r\nX: y")
    assert "t0k3n" not in str(raised.value)


def test_nobody_listens() -> None:
    with pytest.raises(HostError, match="Connection refused"):
        fetch_page("http://127.0.0.1:1/metrics")


def test_no_tls_where_it_was_asked_for() -> None:
    with web_server(lambda it, _: it.sendall(page("a 1\n"))) as port, pytest.raises(HostError, match="127"):
        fetch_page(f"https://127.0.0.1:{port}/metrics", limit_s=LIMIT_S)
