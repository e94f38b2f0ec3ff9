"""A tunnel in small: takes connections on a loopback port and passes what they say to another. Run as a process."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def forwarder(to_port: int) -> Iterator[int]:
    """The port at which a process of its own passes connections on to a port of the loopback address."""
    command = [sys.executable, __file__, str(to_port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    while data := source.recv(65536):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)


def _serve(to_port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        while True:
            client, _ = listening.accept()
            server = socket.create_connection(("127.0.0.1", to_port))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=_pump, args=pair, daemon=True).start()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
