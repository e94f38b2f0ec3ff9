"""A connection through the relay: what is sent arrives late and whole, and no relay outlives its context."""

from __future__ import annotations

import socket
import time

import pytest

from plimsoll.drive.engine import delayed
from plimsoll.spec.target import Target

pytestmark = pytest.mark.e2e


def test_a_relay_delays_as_long_as_its_context_lasts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        with (
            delayed(Target(user="", database="", host=host, port=port), delay_s=0.05) as relay_port,
            socket.create_connection((host, relay_port), timeout=60) as client,
        ):
            server, _ = listener.accept()
            begin_s = time.monotonic()
            client.sendall(b"there")
            assert server.recv(5, socket.MSG_WAITALL) == b"there"
            assert time.monotonic() - begin_s >= 0.05
            server.sendall(b"back")
            assert client.recv(4, socket.MSG_WAITALL) == b"back"
            assert time.monotonic() - begin_s >= 0.1
            server.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, relay_port))
