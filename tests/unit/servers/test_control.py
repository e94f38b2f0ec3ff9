"""The control connection against servers that refuse, hang, or speak something else."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from plimsoll.errors import TargetError
from plimsoll.servers.control import connect
from plimsoll.spec.target import Target

GREETING = (
    b"\x0a"
    + b"9.9.9\0"
    + struct.pack("<I", 1)
    + b"a" * 8
    + b"\0"
    + b"\xff\xf7"
    + b"\x21\x02\x00\xff\x81"
    + b"\x15"
    + b"\0" * 10
)
GREETING += b"b" * 12 + b"\0" + b"mysql_native_password\0"


def packet(payload: bytes, sequence: int = 0) -> bytes:
    return len(payload).to_bytes(3, "little") + bytes([sequence]) + payload


def refusal(code: int, text: str, state: str = "#08004", sequence: int = 0) -> bytes:
    return packet(b"\xff" + struct.pack("<H", code) + state.encode() + text.encode(), sequence)


@contextmanager
def fake_server(*replies: bytes) -> Iterator[Target]:
    """Sends each reply, waiting for the client in between, and hangs up after the last."""

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.sendall(replies[0])
                for reply in replies[1:]:
                    if not peer.recv(65536):
                        return
                    peer.sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield Target(
            user="me", database="d", host="127.0.0.1", port=listener.getsockname()[1], password=SecretStr("top-secret")
        )
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def failure(target: Target) -> TargetError:
    with pytest.raises(TargetError) as caught:
        connect(target, connect_limit_s=60, read_limit_s=60).close()
    assert "top-secret" not in str(caught.value)
    assert str(target) in str(caught.value)
    return caught.value


def test_too_many_connections() -> None:
    with fake_server(refusal(1040, "Too many connections")) as target:
        error = failure(target)
    assert (error.code, error.sqlstate) == (1040, "08004")
    assert "raise max_connections" in str(error)


def test_wrong_password() -> None:
    with fake_server(packet(GREETING), refusal(1045, "Access denied for user", "#28000", 2)) as target:
        error = failure(target)
    assert (error.code, error.sqlstate) == (1045, "28000")
    assert "wrong user or password" in str(error)


def test_unknown_database() -> None:
    with fake_server(packet(GREETING), refusal(1049, "Unknown database 'd'", "#42000", 2)) as target:
        error = failure(target)
    assert (error.code, error.sqlstate) == (1049, "42000")


@pytest.mark.parametrize(
    "banner",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
        b"220 mail ESMTP\r\n",
        b"\0" * 64,
        b"\xff" * 64,
        packet(b"\x0a"),
        packet(b"\x0a9.9\0\1\2\3"),
        packet(b""),
        b"\x05\x00",
        b"",
    ],
)
def test_what_speaks_another_protocol(banner: bytes) -> None:
    with fake_server(banner) as target:
        error = failure(target)
    assert error.exit_code == 3
    assert "protocol" in str(error) or "closed the connection" in str(error) or "does not answer" in str(error)


def test_nobody_listens() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        error = failure(Target(user="me", database="d", host="127.0.0.1", port=port, password=SecretStr("top-secret")))
    assert "nothing listens there" in str(error)


def test_unknown_host() -> None:
    target = Target(user="me", database="d", host="no-such-host.invalid", password=SecretStr("top-secret"))
    assert "the host name no-such-host.invalid is unknown" in str(failure(target))


def test_no_such_socket() -> None:
    target = Target(user="me", database="d", socket=Path("/nonexistent/sock"), password=SecretStr("top-secret"))
    assert "the socket does not exist" in str(failure(target))


def test_a_server_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = Target(user="me", database="d", host="127.0.0.1", port=listener.getsockname()[1])
        with pytest.raises(TargetError, match="does not answer"):
            connect(target, connect_limit_s=1, read_limit_s=1)
