"""Launches load engines, one for each command, and talks with each: what it is told, what it says, and how it ends.

The engine ends by itself when its standard input does: if this process dies, however it dies, the load ends. A data set
whose progress stands still is noticed, and nothing is ended for it: an index on a large table takes hours in which
nothing is counted. Deliberately not here: several engines that drive one trial (`shared`).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Literal, Protocol, TypeVar

from pydantic import ValidationError

from plimsoll.analyse.findings.recording_warnings import NO_PROGRESS
from plimsoll.drive.executable import ENGINE, EngineProcess, Launcher, LocalLauncher, ended, silent, unreached
from plimsoll.drive.plans import relay_line
from plimsoll.drive.protocol import (
    MESSAGE,
    PROTOCOL,
    Done,
    EngineMessage,
    EngineWarning,
    Failed,
    Hello,
    Interval,
    Listening,
    Pong,
    Progress,
    Ready,
)
from plimsoll.errors import DataError, EngineBugError, HostError, PlimsollError, SpecError, TargetError
from plimsoll.record.model import DriverRecord
from plimsoll.spec.target import Target

_LOG = logging.getLogger(__name__)

Command = Literal[
    "trial",
    "prepare",
    "check",
    "verify",
    "foresee",
    "foresee-reset",
    "cleanup",
    "faults",
    "sim",
    "relay",
    "ledger",
    "read-logs",
]


class Driver(Protocol):
    """Where engines run: on this machine, on another one, or on several that drive a trial together."""

    def launch(self, command: Command, plan: dict[str, Any]) -> EngineRun:
        """Starts an engine and hands the plan over. A trial may run on another machine, all else runs on this one.

        Raises:
            HostError: The engine cannot be started.
            EngineBugError: It speaks another version of the protocol.
        """

    def launch_trial(self, plan: dict[str, Any]) -> TrialRun:
        """Starts all engines of a trial, each with its part of the plan. Raises as `launch`."""


class TrialRun(Protocol):
    """What drives one trial: an engine, or several that are told and heard as one.

    Use it as a context manager: leaving it ends all processes, whatever happened. Each method is as in `EngineRun`.
    """

    @property
    def local_pid(self) -> int | None: ...  # noqa: D102
    @property
    def drivers(self) -> tuple[DriverRecord, ...]: ...  # noqa: D102
    def ready(self, warn: Callable[[EngineWarning], None]) -> Ready: ...  # noqa: D102
    def start(self) -> float: ...  # noqa: D102
    def stop(self) -> None: ...  # noqa: D102
    def messages(self) -> Iterator[EngineMessage]: ...  # noqa: D102
    def __enter__(self) -> TrialRun: ...
    def __exit__(self, *_: object) -> None: ...


class LocalDriver:
    """Runs engines on this machine, those that drive load on some of its CPUs."""

    def __init__(self, cpus: Sequence[int] | None = None) -> None:
        self._cpus = cpus

    def launch(self, command: Command, plan: dict[str, Any]) -> EngineRun:
        """Starts an engine here and hands the plan over. Raises as `Driver.launch`."""
        run = launched(LocalLauncher(self._cpus if command == "trial" else None), command)
        return begun(run, plan)

    def launch_trial(self, plan: dict[str, Any]) -> EngineRun:
        """Starts the one engine of a trial. Raises as `Driver.launch`."""
        return self.launch("trial", plan)


def launched(launcher: Launcher, command: Command) -> EngineRun:
    """Starts an engine; nothing was said to it yet.

    Raises:
        HostError: It cannot be started.
    """
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - the run closes it
    try:
        process = launcher.start((ENGINE, command), errors)
    except BaseException:
        errors.close()
        raise
    _LOG.info("engine %d begins: %s", process.pid, command)
    return EngineRun(process, errors, is_here=launcher.is_here)


def begun(run: EngineRun, plan: dict[str, Any]) -> EngineRun:
    """Hands the plan over to an engine that was just started, and ends it where that fails; raises as `begin`."""
    try:
        run.begin(plan)
    except BaseException:
        run.close()
        raise
    return run


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


def follow(
    run: TrialRun,
    *,
    take: Callable[[Interval], None],
    warn: Callable[[EngineWarning], None],
    end: Callable[[Done], None],
) -> None:
    """Takes in what is said of a load that has begun, to its end: several drivers are judged after the account.

    Args:
        run: What drives it.
        take: Is given each interval.
        warn: Is given each doubt.
        end: Is given the account.

    Raises:
        TargetError, HostError, InvalidTrialError, EngineBugError: The load ended otherwise.
    """
    for message in run.messages():
        match message:
            case Interval():
                take(message)
            case EngineWarning():
                warn(message)
            case Done():
                end(message)


SILENCE_S = 60.0
"""An engine that says nothing for so long is broken, or waits for a server: a running one speaks every second."""

LINE_BYTES_MAX = 64 * 2**20
"""Longest message that is read; an interval of a hundred thousand connections is far below it."""

M = TypeVar("M", bound=EngineMessage)


class EngineRun:
    """One engine process: what it is told, what it says, and how it ends.

    Use it as a context manager: leaving it ends the process, whatever happened.

    Attributes:
        hello: Who it is, once it was heard.
        is_here: It is the engine itself, and not what leads to one on another machine.
    """

    def __init__(self, process: EngineProcess, errors: IO[bytes], *, is_here: bool = True) -> None:
        """Takes a process that was just started.

        Args:
            process: With pipes for standard input and output.
            errors: Receives its standard error.
            is_here: As the attribute.
        """
        assert process.stdin is not None, "a pipe was asked for"
        assert process.stdout is not None, "a pipe was asked for"
        self._process, self._errors, self.is_here = process, errors, is_here
        self._stdin, self._stdout = process.stdin, process.stdout
        os.set_blocking(self._stdout.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._unread, self._searched = bytearray(), 0
        self._held: deque[EngineMessage] = deque()
        self._ping_ids = itertools.count()
        self._waits_for_server = False
        self.hello: Hello | None = None

    def begin(self, plan: dict[str, Any]) -> None:
        """Hands the plan over, to an engine that speaks the same protocol. Raises as `greet`."""
        self.greet()
        self._say(plan)
        self._waits_for_server = True

    def greet(self) -> None:
        """Hears who it is, and makes sure that both speak the same protocol.

        Raises:
            EngineBugError: It speaks another version, or none.
            HostError: It cannot be reached.
        """
        hello = self.hello = self.expect(Hello)
        if hello.protocol != PROTOCOL:
            raise EngineBugError(
                f"plimsoll-engine speaks protocol {hello.protocol}, not {PROTOCOL}; reinstall plimsoll"
            )

    @property
    def pid(self) -> int:
        """The process id of the engine, or of what leads to it."""
        return self._process.pid

    @property
    def local_pid(self) -> int | None:
        """That of an engine on this machine; None where it is on another one."""
        return self.pid if self.is_here else None

    @property
    def drivers(self) -> tuple[DriverRecord, ...]:
        """None: one engine on this machine is no more than that."""
        return ()

    def fileno(self) -> int:
        """Becomes readable when it says something, or ends."""
        return self._stdout.fileno()

    def ready(self, warn: Callable[[EngineWarning], None]) -> Ready:
        """Waits until all connections are open; warnings go to `warn`. Raises what the engine said instead."""
        for message in self.messages():
            if isinstance(message, EngineWarning):
                warn(message)
            elif isinstance(message, Ready):
                return message
        raise self._broken("ended before it was ready")

    def start(self, at_unix_ns: int | None = None) -> float:
        """Lets the load begin, now or at a time on the engine's wall clock. From here on it speaks every second.

        Returns when: seconds since 1970 on the clock of the machine that `at_unix_ns` is of, this one's for now.
        """
        self._waits_for_server = False
        began_unix_s = time.time() if at_unix_ns is None else at_unix_ns / 1e9
        self._say({"type": "start", "at_unix_ns": at_unix_ns})
        return began_unix_s

    def unix_ns(self) -> int:
        """Asks for the engine's wall clock, in nanoseconds since 1970; what else it says meanwhile is kept for later.

        Raises:
            PlimsollError: What the engine said instead.
        """
        ping_id = next(self._ping_ids)
        self._say({"type": "ping", "id": ping_id})
        later: list[EngineMessage] = []
        since_s = time.monotonic()
        while not (isinstance(message := self._next(), Pong) and message.id == ping_id):
            if isinstance(message, Failed):
                raise error_of(message)
            if time.monotonic() - since_s > SILENCE_S:
                raise self._broken(f"did not answer a ping for {SILENCE_S:.0f} s")
            later.append(message)
        self._held.extend(later)
        return message.unix_ns

    def go(self, turn: int) -> None:
        """Answers a `Handover`: the servers of that turn run, and no others."""
        self._say({"type": "go", "turn": turn})

    def promoted(self, target: dict[str, Any]) -> None:
        """Tells a ledger's workers that another server is the source now. The target holds the password."""
        self._say({"type": "promoted", "target": target})

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
        self.end_input()
        for end in (None, signal.SIGTERM, signal.SIGKILL):
            if end is not None:
                self._process.send_signal(end)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
                break
        _LOG.info("engine %d ended with %s", self.pid, self._process.returncode)
        self._stdout.close()
        self._errors.close()

    def end_input(self) -> None:
        """Lets it end; `close` waits for that."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

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

    def poll(self) -> EngineMessage | None:
        """The next message that has arrived; None where none has, without any waiting.

        Raises:
            PlimsollError: It ended without a last message, or says what is not in the protocol.
        """
        if self._held:
            return self._held.popleft()
        while (end := self._unread.find(b"\n", self._searched)) < 0:
            self._searched = len(self._unread)
            if not self._read():
                return None
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self._searched = 0
        return self._message(line)

    def _read(self) -> bool:
        """Takes in what has arrived; false where nothing has."""
        try:
            chunk = os.read(self._stdout.fileno(), 1 << 20)
        except BlockingIOError:
            return False
        if not chunk:
            raise self._broken("ended without a last message")
        self._unread += chunk
        if len(self._unread) > LINE_BYTES_MAX:
            raise self._broken(f"said a line of more than {LINE_BYTES_MAX} bytes")
        return True

    def _next(self) -> EngineMessage:
        while (message := self.poll()) is None:
            if not self._selector.select(timeout=SILENCE_S):
                raise self.silence(SILENCE_S)
        return message

    def silence(self, limit_s: float) -> PlimsollError:
        """What it means that it has said nothing for so long."""
        return silent(self.pid, limit_s, waits_for_server=self._waits_for_server)

    def _message(self, line: bytes) -> EngineMessage:
        try:
            message: EngineMessage = MESSAGE.validate_json(line)
        except ValidationError as error:
            raise self._broken(f"said something that is not in the protocol: {error.errors()[0]['msg']}") from None
        _LOG.debug("engine %d says %.500s", self.pid, message)
        return message

    def _broken(self, what: str) -> PlimsollError:
        """The engine broke off, or its word: who must act, with the last lines it wrote to standard error."""
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            code = None
        self._errors.seek(0)
        tail = self._errors.read()[-2000:].decode(errors="replace").strip()
        unreachable = None if self.is_here else unreached(code, tail)
        return unreachable or ended(what, code, tail)


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


STALL_S = 60.0
"""So long without progress is told."""


class Stall:
    """Compares each progress with the one before. Each phase is told of once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: Progress | None = None
        self._since_s = 0.0
        self._told_phase: str | None = None

    def seen(self, progress: Progress) -> EngineWarning | None:
        """What is to be told now; None as long as there is progress, or when it was told."""
        now_s = self._clock()
        if progress != self._last:
            self._last, self._since_s = progress, now_s
        if now_s - self._since_s < STALL_S or self._told_phase == progress.phase:
            return None
        self._told_phase = progress.phase
        return EngineWarning(
            type="warning",
            code=NO_PROGRESS.code,
            evidence=f"No progress for {STALL_S:.0f} s in the phase '{progress.phase}', at {progress.done_count:,} of"
            f" {progress.total_count:,}.",
            advice=NO_PROGRESS.advice,
        )


@contextmanager
def delayed(target: Target, *, delay_s: float) -> Iterator[int]:
    """A port of 127.0.0.1 that leads to a server on this machine or another, each byte so much later.

    The relay ends with the context, and with this process, however it dies.

    Args:
        target: The server; only its place is used.
        delay_s: Of one way, seconds, from 0 to 60. A round trip takes twice as long.

    Raises:
        SpecError: The delay is too long.
        HostError, EngineBugError: The relay cannot be had.
    """
    with LocalDriver().launch("relay", relay_line(target, delay_s=delay_s)) as run:
        yield run.expect(Listening).port
