"""A server that is none: it wants the password, or a file of the client's machine, from whoever connects.

It keeps every byte that it is sent, behind TLS too. Deliberately not here: who connects to it.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from support.certificates import Files

_SSL = 0x0800
_CAPABILITIES = 0xF7FF | 0x0008_0000 | 0x0010_0000 | 0x0020_0000
"""What a server of today offers, without TLS: methods by name, answers of any length, attributes of the client."""


def packet(payload: bytes, sequence: int) -> bytes:
    return len(payload).to_bytes(3, "little") + bytes([sequence & 0xFF]) + payload


def greeting(method: bytes, capabilities: int = _CAPABILITIES) -> bytes:
    low, high = struct.pack("<H", capabilities & 0xFFFF), struct.pack("<H", capabilities >> 16)
    salt = b"abcdefghijklmnopqrst"
    start = (
        b"\x0a8.0.30\0" + struct.pack("<I", 1) + salt[:8] + b"\0" + low + b"\x21\x02\0" + high + b"\x15" + b"\0" * 10
    )
    return start + salt[8:] + b"\0" + method + b"\0"


@dataclass
class Rogue:
    """What it wants, and what it was given.

    Attributes:
        greets: The method that its greeting names.
        asks: What it sends when a client has answered its greeting.
        then: What it sends after that, as long as the client answers; the same once more when left out.
        heard: Every packet that was sent to it, decrypted.
        asked: How many clients came as far as its question.
        port: Where it listens on this machine.
    """

    asks: bytes
    greets: bytes = b"mysql_native_password"
    then: bytes = b""
    certificate: Files | None = None
    heard: list[bytes] = field(default_factory=list)
    asked: int = 0
    port: int = 0

    @contextlib.contextmanager
    def listening(self) -> Iterator[Rogue]:
        """Serves each client in a thread until the end."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
            yield self
            listener.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        peer.settimeout(20)
        with contextlib.suppress(OSError, ssl.SSLError), peer:
            self._talk(peer)

    def _talk(self, peer: socket.socket) -> None:
        offered = _CAPABILITIES | (_SSL if self.certificate else 0)
        peer.sendall(packet(greeting(self.greets, offered), 0))
        sequence = self._hear(peer)
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate.cert, self.certificate.key)
            peer = context.wrap_socket(peer, server_side=True)
            sequence = self._hear(peer)
        self.asked += 1
        for sends in (self.asks, *(self.then or self.asks,) * 4):
            peer.sendall(packet(sends, sequence + 1))
            sequence = self._hear(peer)

    def _hear(self, peer: socket.socket) -> int:
        """Takes one packet; gives its number."""
        header = self._exactly(peer, 4)
        self.heard.append(self._exactly(peer, int.from_bytes(header[:3], "little")))
        return header[3]

    @staticmethod
    def _exactly(peer: socket.socket, count: int) -> bytes:
        received = b""
        while len(received) < count:
            more = peer.recv(count - len(received))
            if not more:
                raise ConnectionError
            received += more
        return received


def switch_to(method: bytes, data: bytes = b"ABCDEFGHIJKLMNOPQRST\0") -> bytes:
    """Asks a client to log in by another method."""
    return b"\xfe" + method + b"\0" + data


LOGIN_DONE = b"\x00\x00\x00\x02\x00\x00\x00"
"""An OK packet."""

QUESTIONS = {
    "mysql_clear_password": switch_to(b"mysql_clear_password"),
    "dialog": switch_to(b"dialog", b"\x04Password: "),
    "sha256_password": switch_to(b"sha256_password"),
    "mysql_old_password": switch_to(b"mysql_old_password"),
    "old switch without a name": b"\xfe",
}
"""Every way to ask for more than an answer to a challenge."""
