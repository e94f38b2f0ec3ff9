"""A terminal of a given size that a program writes to, and what it wrote there.

Deliberately not here: an emulator. Lines are told by what ends them and by movements of the cursor to other lines.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from support.waiting import until

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A program whose standard error is a terminal; its other streams are pipes.

    Attributes:
        process: The program.
    """

    def __init__(self, command: Sequence[str], *, columns: int, lines: int = 24, env: Mapping[str, str] = {}) -> None:
        self._master, slave = pty.openpty()
        self.resize(columns, lines)
        os.set_blocking(self._master, False)
        unset = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
        inherited = {name: value for name, value in os.environ.items() if name not in unset}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=slave,
            text=True,
            env={**inherited, "TERM": "xterm-256color", **env},
            start_new_session=True,
        )
        os.close(slave)
        self._read = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        os.close(self._master)

    def resize(self, columns: int, lines: int = 24) -> None:
        """As when somebody drags the window's corner."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def written(self) -> str:
        """All that came so far."""
        while True:
            try:
                part = os.read(self._master, 65_536)
            except OSError:  # nothing yet, or nobody can write any more
                part = b""
            if not part:
                return self._read.decode(errors="ignore")
            self._read += part

    def tell(self, text: str) -> None:
        """Writes to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def wait_for(self, text: str, *, after: int = 0) -> int:
        """Waits until a text is written; returns where what follows it begins."""
        assert until(lambda: text in self.written()[after:] or self.process.poll() is not None)
        at = self.written().find(text, after)
        assert at >= 0, f"{text!r} was never written: {self.written()!r}"
        return at + len(text)

    def finish(self) -> tuple[str, str]:
        """Waits for the end; returns what came on standard output, and all that the terminal got."""
        if self.process.stdin is not None:
            self.process.stdin.close()
            self.process.stdin = None
        assert until(lambda: (self.written(), self.process.poll())[1] is not None)
        out, _ = self.process.communicate()
        return out, self.written()


def lines_of(written: str) -> list[str]:
    """The lines of text in what a terminal got, without colours and movements."""
    return [line for line in re.split(r"[\r\n]+", _CONTROL.sub("", written)) if line.strip()]
