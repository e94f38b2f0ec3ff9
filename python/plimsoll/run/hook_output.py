"""What a hook wrote: its beginning and its end, without secrets, harmless to show.

Deliberately not here: running hooks (`hook_process`).
"""

from __future__ import annotations

from collections.abc import Collection

from plimsoll.units import format_bytes, printable

KEPT_BYTES = 64 * 1024
"""Of the beginning, and as much again of the end."""

TAIL_LINES = 15
TAIL_CHARACTERS = 1500


class HookOutput:
    """Output of a hook while it comes; memory does not grow with it."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._count = 0

    def add(self, data: bytes) -> None:
        """Takes more of it."""
        self._count += len(data)
        room = KEPT_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * KEPT_BYTES:
            del self._tail[:-KEPT_BYTES]

    def text(self, secrets: Collection[str] = ()) -> str:
        """All that is kept, with control characters as escapes, and stars in the place of secrets."""
        if self._count <= len(self._head) + len(self._tail):
            return _shown(_masked(bytes(self._head + self._tail), secrets))
        # Of a secret that was cut a part is left, which is not recognised: what may be one goes too. A character that
        # was cut is an escape of four for each of its bytes.
        edge = 4 * max((len(one.encode()) for one in secrets), default=0)
        head, tail = (_masked(bytes(one), secrets) for one in (self._head, self._tail[-KEPT_BYTES:]))
        left_out = format_bytes(self._count - 2 * KEPT_BYTES)
        return f"{_shown(head[: len(head) - edge])}\n[{left_out} left out]\n{_shown(tail[edge:])}"


def tail_of(text: str) -> str:
    """The last lines of output, for messages."""
    lines = [line for line in text.splitlines() if line.strip()]
    tail = "\n".join(lines[-TAIL_LINES:])
    return tail if len(tail) <= TAIL_CHARACTERS else f"…{tail[-TAIL_CHARACTERS:]}"


def _masked(data: bytes, secrets: Collection[str]) -> str:
    text = data.decode(errors="backslashreplace")
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "********") if secret else text
    return text


def _shown(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(printable, lines))
