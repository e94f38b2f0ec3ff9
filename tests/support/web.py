"""A server of HTTP for tests that answers as it is told, well or badly."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Answer = Callable[[socket.socket, bytes], None]
"""Is given a connection and the request that came over it."""


def page(text: str, *, status: str = "200 OK", headers: str = "") -> bytes:
    """A whole answer."""
    body = text.encode()
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


@contextmanager
def web_server(answer: Answer, port: int = 0) -> Iterator[int]:
    """A port of this machine on which each connection is answered in a thread of its own."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", port), reuse_port=False)
    listener.settimeout(0.1)

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(10)
            request = b""
            while b"\r\n\r\n" not in request and (part := connection.recv(65536)):
                request += part
            answer(connection, request)

    def accept() -> None:
        while not ended.is_set():
            with contextlib.suppress(TimeoutError):
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        ended.set()
        thread.join()
        listener.close()
