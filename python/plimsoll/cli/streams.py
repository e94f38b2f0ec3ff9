"""Standard output and standard error: nothing that is said can end a command.

Where nobody reads any more (`plimsoll study run … 2>&1 | head`), what is written is dropped and the command goes on: a
study is worth more than its progress. Characters that an encoding lacks become escapes. Deliberately not here: what is
said.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO


class _Unbroken(io.RawIOBase):
    """Writes to a descriptor; once its reader is gone, to nowhere.

    Any other fault, such as a full disk, is raised once where `faults_count`: what is lost of the data must be known.
    """

    def __init__(self, descriptor: int, *, faults_count: bool) -> None:
        self._descriptor, self._faults_count = descriptor, faults_count

    def fileno(self) -> int:
        """The descriptor, which whoever looks for a terminal asks for."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a person reads."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """It is all that it does."""
        return True

    def write(self, data: Any, /) -> int:
        """Writes some of the bytes, or drops all of them."""
        try:
            return os.write(self._descriptor, data)
        except OSError as error:
            if self._faults_count and not isinstance(error, BrokenPipeError):
                self._faults_count = False
                raise
            return memoryview(data).nbytes


def go_on_unread() -> None:
    """Lets this process write on where nobody reads any more."""
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        descriptor = os.open(os.devnull, os.O_WRONLY) if stream is None else stream.fileno()  # closed from the start
        encoding = "utf-8" if stream is None else stream.encoding
        raw = io.BufferedWriter(_Unbroken(descriptor, faults_count=name == "stdout"))
        setattr(sys, name, io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace", line_buffering=True))
