"""Launching the load engine on this machine and talking to it.

The engine ends by itself when its standard input does: if this process dies, however it dies, the load ends.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Any, Literal, Protocol, TypeVar

from pydantic import ValidationError

from plimsoll.drive.broken_off import ended, silent
from plimsoll.drive.executable import find_engine
from plimsoll.drive.protocol import (
    MESSAGE,
    PROTOCOL,
    Done,
    EngineMessage,
    EngineWarning,
    Failed,
    Hello,
    Progress,
    Ready,
)
from plimsoll.drive.stalls import Stall
from plimsoll.errors import DataError, EngineBugError, HostError, PlimsollError, SpecError, TargetError

SILENCE_S = 60.0
"""An engine that says nothing for so long is broken, or waits for a server: a running one speaks every second."""

LINE_BYTES_MAX = 64 * 2**20
"""Longest message that is read; an interval of a hundred thousand connections is far below it."""

_LOG = logging.getLogger(__name__)

Command = Literal["trial", "prepare", "check", "verify", "foresee", "foresee-reset", "cleanup", "faults", "sim"]
M = TypeVar("M", bound=EngineMessage)


class Driver(Protocol):
    """Where engines run: on this machine, or later on others."""

    def launch(self, command: Command, plan: dict[str, Any]) -> EngineRun:
        """Starts an engine and hands the plan over.

        Raises:
            HostError: The engine cannot be started.
            EngineBugError: It speaks another version of the protocol.
        """


class LocalDriver:
    """Runs engines on this machine."""

    def launch(self, command: Command, plan: dict[str, Any]) -> EngineRun:
        """Starts an engine here and hands the plan over. Raises as `Driver.launch`."""
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - the run closes it
        try:
            process = subprocess.Popen(
                [str(find_engine()), command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        except OSError as error:
            raise HostError(f"plimsoll-engine: cannot be started: {error.strerror}; reinstall plimsoll") from None
        _LOG.info("engine %d begins: %s", process.pid, command)
        run = EngineRun(process, errors)
        try:
            run.begin(plan)
        except BaseException:
            run.close()
            raise
        return run


class EngineRun:
    """One engine process: what it is told, what it says, and how it ends.

    Use it as a context manager: leaving it ends the process, whatever happened.
    """

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        """Takes a process that was just started.

        Args:
            process: With pipes for standard input and output.
            errors: Receives its standard error.
        """
        assert process.stdin is not None, "a pipe was asked for"
        assert process.stdout is not None, "a pipe was asked for"
        self._process, self._errors = process, errors
        self._stdin, self._stdout = process.stdin, process.stdout
        os.set_blocking(self._stdout.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._unread = bytearray()
        self._waits_for_server = False

    def begin(self, plan: dict[str, Any]) -> None:
        """Makes sure that both speak the same protocol, and hands the plan over.

        Raises:
            EngineBugError: It speaks another version, or none.
        """
        hello = self.expect(Hello)
        if hello.protocol != PROTOCOL:
            raise EngineBugError(
                f"plimsoll-engine speaks protocol {hello.protocol}, not {PROTOCOL}; reinstall plimsoll"
            )
        self._say(plan)
        self._waits_for_server = True

    @property
    def pid(self) -> int:
        """The engine's process id."""
        return self._process.pid

    def ready(self, warn: Callable[[EngineWarning], None]) -> Ready:
        """Waits until all connections are open; warnings on the way go to `warn`.

        Raises:
            PlimsollError: What the engine said instead.
        """
        for message in self.messages():
            if isinstance(message, EngineWarning):
                warn(message)
            elif isinstance(message, Ready):
                return message
        raise self._broken("ended before it was ready")

    def start(self, at_unix_ns: int | None = None) -> None:
        """Lets the load begin, now or at a time on the wall clock. From here on it speaks every second."""
        self._waits_for_server = False
        self._say({"type": "start", "at_unix_ns": at_unix_ns})

    def stop(self) -> None:
        """Asks for the end of the load. What was measured still comes, `Done` last."""
        self._say({"type": "stop"})

    def messages(self) -> Iterator[EngineMessage]:
        """All messages until the last one, which is `Done`.

        Raises:
            SpecError, TargetError, DataError, HostError, EngineBugError: The engine said `failed`, or broke.
        """
        while True:
            message = self._next()
            if isinstance(message, Failed):
                raise error_of(message)
            yield message
            if isinstance(message, Done):
                return

    def expect(self, kind: type[M]) -> M:
        """The next message, which must be of a kind.

        Raises:
            PlimsollError: It is another one.
        """
        message = self._next()
        if isinstance(message, Failed):
            raise error_of(message)
        if not isinstance(message, kind):
            raise self._broken(f"said {type(message).__name__} where {kind.__name__} was due")
        return message

    def close(self) -> None:
        """Ends the process: first by end of input, then by signals."""
        self._selector.close()
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        for end in (None, signal.SIGTERM, signal.SIGKILL):
            if end is not None:
                self._process.send_signal(end)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
                break
        _LOG.info("engine %d ended with %s", self.pid, self._process.returncode)
        self._stdout.close()
        self._errors.close()

    def __enter__(self) -> EngineRun:
        """Nothing to do: the process runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the process."""
        self.close()

    def _say(self, line: dict[str, Any]) -> None:
        try:
            self._stdin.write(json.dumps(line).encode() + b"\n")
            self._stdin.flush()
        except BrokenPipeError:
            return  # it has ended already: its last message or exit code says why

    def _next(self) -> EngineMessage:
        line = self._read_line()
        try:
            message: EngineMessage = MESSAGE.validate_json(line)
        except ValidationError as error:
            raise self._broken(f"said something that is not in the protocol: {error.errors()[0]['msg']}") from None
        _LOG.debug("engine %d says %.500s", self.pid, message)
        return message

    def _read_line(self) -> bytes:
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            if not self._selector.select(timeout=SILENCE_S):
                raise silent(self.pid, SILENCE_S, waits_for_server=self._waits_for_server)
            chunk = os.read(self._stdout.fileno(), 1 << 20)
            if not chunk:
                raise self._broken("ended without a last message")
            self._unread += chunk
            if len(self._unread) > LINE_BYTES_MAX:
                raise self._broken(f"said a line of more than {LINE_BYTES_MAX} bytes")
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def _broken(self, what: str) -> PlimsollError:
        """The engine broke off, or its word: who must act, with the last lines it wrote to standard error."""
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            code = None
        self._errors.seek(0)
        tail = self._errors.read()[-2000:].decode(errors="replace").strip()
        return ended(what, code, tail)


def error_of(failed: Failed) -> PlimsollError:
    """What `failed` means: who must act."""
    match failed.failure_class:
        case "spec":
            return SpecError(failed.message)
        case "target":
            return TargetError(failed.message, code=failed.code, sqlstate=failed.sqlstate)
        case "data":
            return DataError(failed.message, code=failed.code, sqlstate=failed.sqlstate)
        case "host":
            return HostError(failed.message)
        case "bug":
            return EngineBugError(failed.message)


def refuse_faults(driver: Driver, plan: dict[str, Any]) -> None:
    """Lets the engine look at a plan of a trial or of a data set; no server is needed.

    Raises:
        SpecError: What is wrong with it.
        HostError, EngineBugError: The engine cannot be run.
    """
    with driver.launch("faults", plan) as run:
        run.expect(Done)


def run_data_command(
    driver: Driver,
    command: Literal["prepare", "check", "verify", "foresee", "foresee-reset", "cleanup"],
    plan: dict[str, Any],
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    warn: Callable[[EngineWarning], None] = lambda _: None,
) -> Done:
    """Makes, looks at or removes a data set, and waits for it.

    Raises:
        SpecError, TargetError, DataError, HostError, EngineBugError: It could not be done.
    """
    stall = Stall()
    with driver.launch(command, plan) as run:
        for message in run.messages():
            match message:
                case Progress():
                    progress(message)
                    if (doubt := stall.seen(message)) is not None:
                        warn(doubt)
                case EngineWarning():
                    warn(message)
                case Done():
                    return message
    raise EngineBugError(f"plimsoll-engine {command} ended without a last message")
