"""The engine in the place of sysbench, as a process beside this one that also tells its trial in messages.

What it prints goes where this process prints. Deliberately not here: what becomes of the messages.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType
from typing import Self

from pydantic import ValidationError

from plimsoll.drive.executable import arguments_file, arguments_option, find_engine
from plimsoll.drive.protocol import MESSAGE, EngineMessage
from plimsoll.errors import EngineBugError, HostError
from plimsoll.interruption import handled_by

EVENTS_VARIABLE = "PLIMSOLL_EVENTS_FD"
"""Names the descriptor on which the engine tells its trial."""

_END_LIMIT_S = 5.0


class SysbenchProcess:
    """A running engine. Use it as a context manager: leaving it ends the process, whatever happened.

    It has a process group of its own, so that Ctrl-C in a terminal reaches it once: from here, where signals that ask
    to end are passed on for as long as it runs. What this process ignores, the engine ignores too.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        """Starts it. Its arguments, which may hold a password, are shown to nobody.

        Raises:
            HostError: It cannot be started.
        """
        engine = find_engine()
        messages, events_fd = os.pipe()
        words = arguments_file(["sysbench", *arguments])
        self._messages = os.fdopen(messages, "rb")
        self._process: subprocess.Popen[bytes] | None = None
        self._forwarding = handled_by(self._forward)
        self._forwarding.__enter__()
        try:
            self._process = subprocess.Popen(
                [str(engine), arguments_option(words)],
                pass_fds=(events_fd, words),
                env={**os.environ, EVENTS_VARIABLE: str(events_fd)},
                process_group=0,
            )
        except OSError as error:
            self.__exit__(None, None, None)
            raise HostError(f"{engine}: cannot be run: {error.strerror}; reinstall plimsoll") from None
        finally:
            os.close(events_fd)
            os.close(words)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._running().pid

    def messages(self) -> Iterator[EngineMessage]:
        """What it tells, until it ends.

        Raises:
            EngineBugError: It says something that is not in the protocol.
        """
        for line in self._messages:
            if not line.endswith(b"\n"):
                return  # it was ended while it wrote
            try:
                yield MESSAGE.validate_json(line)
            except ValidationError as error:
                text = error.errors()[0]["msg"]
                raise EngineBugError(f"plimsoll-engine said something that is not in the protocol: {text}") from None

    def wait(self) -> int:
        """Its exit code, as a shell would say it."""
        code = self._running().wait()
        return code if code >= 0 else 128 - code

    def __enter__(self) -> Self:
        """Nothing to do: the process runs already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the process, where it has not ended by itself."""
        self._messages.close()
        process = self._process
        for end in (signal.SIGTERM, signal.SIGKILL):
            if process is None or process.poll() is not None:
                break
            process.send_signal(end)
            try:
                process.wait(_END_LIMIT_S)
            except subprocess.TimeoutExpired:
                continue
        self._forwarding.__exit__(None, None, None)

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it was started"
        return self._process

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        """Before the process is there, a signal interrupts as it always does."""
        if self._process is None:
            raise KeyboardInterrupt
        self._process.send_signal(number)
