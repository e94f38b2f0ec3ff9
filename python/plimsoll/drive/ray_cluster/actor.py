"""What runs on a node of a Ray cluster: it starts one engine there and passes on what it says and is told.

Deliberately not here: anything that knows what is passed on. Calls block and run in threads of their own, so they need
no event loop of Ray's. The engine ends when its standard input does, thus also when this process ends in any way.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Sequence

from plimsoll import __version__
from plimsoll.drive.executable import find_engine
from plimsoll.errors import HostError

CHUNK_BYTES = 64 * 1024
"""Passed on at once. Ray sends what is smaller than 100 KiB with the call and never keeps it in its object store, from
where it could be written to a disk: the plan has passwords."""

THREADS = 4
"""One each for reading, writing, signals, and the end."""

_LAST_WORDS_BYTES = 64 * 1024


class EngineActor:
    """One engine on a node."""

    def start(self, words: Sequence[str], version: str) -> str | None:
        """Starts it.

        Args:
            words: Its command line.
            version: Of Plimsoll, which must be the same here.

        Returns:
            What keeps it from starting, with the cure; None where it started.
        """
        if version != __version__:
            return f"this node has plimsoll {__version__}, and {version} drives the trial; install the same one on all"
        with contextlib.suppress(OSError):  # only root may; otherwise RAY_worker_niceness=0 does it (docs/drivers.md)
            os.setpriority(os.PRIO_PROCESS, 0, 0)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this process is
        try:
            command = [str(find_engine()), *words[1:]]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0
            )
        except HostError as error:
            return str(error)
        except OSError as error:
            return f"plimsoll-engine: cannot be started: {error.strerror}; reinstall plimsoll on this node"
        return None

    def read(self) -> bytes:
        """Waits for what it says next; empty at its end."""
        assert self._process.stdout is not None, "a pipe was asked for"
        return os.read(self._process.stdout.fileno(), CHUNK_BYTES)

    def write(self, data: bytes) -> None:
        """Tells it something. One that has ended hears nothing: its exit code says why."""
        assert self._process.stdin is not None, "a pipe was asked for"
        left = memoryview(data)
        with contextlib.suppress(BrokenPipeError):
            while left:
                left = left[os.write(self._process.stdin.fileno(), left) :]

    def end_input(self) -> None:
        """Lets it end."""
        assert self._process.stdin is not None, "a pipe was asked for"
        self._process.stdin.close()

    def send_signal(self, number: int) -> None:
        """Sends it a signal."""
        self._process.send_signal(number)

    def ended(self) -> tuple[int, bytes]:
        """Waits for its end: the exit code, negative for a signal, and the end of what it wrote to standard error."""
        code = self._process.wait()
        self._errors.seek(0)
        return code, self._errors.read()[-_LAST_WORDS_BYTES:]
