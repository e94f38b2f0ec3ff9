"""A tunnel that writes down the statements that pass it. Run as a process; for connections without encryption."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_COM_QUERY = 3


@contextmanager
def recorder(to_port: int, file: Path, at: str = "127.0.0.1") -> Iterator[int]:
    """The port of an address at which connections are passed on; what they ask is in `file` when they are closed."""
    command = [sys.executable, __file__, str(to_port), str(file), at]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def statements(file: Path, beginning: str) -> Counter[str]:
    """How often each statement with that beginning was asked."""
    return Counter(line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith(beginning))


def _pump(source: socket.socket, sink: socket.socket) -> None:
    while data := source.recv(65536):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)


def _ask(client: socket.socket, server: socket.socket, file: Path, lock: threading.Lock) -> None:
    """Passes packets on, and notes those that are queries."""
    unread = b""
    while data := client.recv(65536):
        server.sendall(data)
        unread += data
        while len(unread) >= 4 and len(unread) >= 4 + (size := int.from_bytes(unread[:3], "little")):
            packet, unread = unread[4 : 4 + size], unread[4 + size :]
            if packet[:1] == bytes([_COM_QUERY]):
                with lock, file.open("ab") as noted:
                    noted.write(packet[1:] + b"\n")
    server.shutdown(socket.SHUT_WR)


def _serve(to_port: int, file: Path, at: str) -> None:
    lock = threading.Lock()
    with socket.create_server((at, 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        while True:
            client, _ = listening.accept()
            server = socket.create_connection(("127.0.0.1", to_port))
            threading.Thread(target=_ask, args=(client, server, file, lock), daemon=True).start()
            threading.Thread(target=_pump, args=(server, client), daemon=True).start()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
