"""Requests to an agent on a host, and its answers: JSON lines over the standard streams of a process.

Answers come in any order; each is checked before anything uses it, whatever was sent. When the process ends, or sends
what is no answer, whoever waits is told, and every later request is refused. What the agent prints on its standard
error is the reason that is given. Nobody waits for a write: a thread of its own does them, so an agent that reads
nothing keeps no caller and no end waiting. Nor does anybody wait for an answer that will not come: every few seconds
the agent says which requests it works on, and a request that it neither works on nor has answered ends the connection.
Deliberately not here: the types of results (`calls`), and starting the process (`ssh`).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from plimsoll import errors, strict_json
from plimsoll.clocks import ClockOffset, compare_clocks
from plimsoll.errors import HostError, PlimsollError, SpecError, TargetError
from plimsoll.hosts.agent import SILENCE_S, name_of
from plimsoll.hosts.calls import plain_arguments, result_type, typed

LINE_BYTES_MAX = 64 * 2**20
"""No answer is longer."""

_SPEAKS_EVERY_S = 5.0
_CLOCK_LIMIT_S = 10.0
_OPENING_LIMIT_S = 600.0


class Channel:
    """One agent."""

    def __init__(
        self, host: str, process: subprocess.Popen[bytes], reason: Callable[[], str], opening: bytes = b""
    ) -> None:
        """Takes a process whose standard streams an agent serves.

        Args:
            host: As messages call it.
            process: With pipes for standard input and output.
            reason: Says what the process printed on standard error.
            opening: Is sent before the first request.
        """
        assert process.stdin is not None, "a pipe was asked for"
        assert process.stdout is not None, "a pipe was asked for"
        self._host, self._process, self._reason = host, process, reason
        self._stdin, self._stdout = process.stdin, process.stdout
        self._waiting: dict[int, Future[Any]] = {}
        self._numbers, self._lock = itertools.count(1), threading.Lock()
        self._lost: str | None = None
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._outbox.put(opening)
        self._opened = threading.Event()
        self._ended = threading.Event()
        self._reader = self._thread(self._read, "answers")
        self._thread(self._write, "requests")
        self._thread(self._speak, "alive")

    def _thread(self, work: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=work, name=f"plimsoll-{self._host}-{name}", daemon=True)
        thread.start()
        return thread

    @property
    def is_lost(self) -> bool:
        """The process ended; nothing can be asked any more."""
        return self._lost is not None

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Runs a function there, see `Host.call`."""
        arguments = plain_arguments(function, args, kwargs)
        result = self.ask({"do": "call", "name": name_of(function), "arguments": arguments})
        return typed(result, result_type(function))

    def make(self, function: Callable[..., Any], **kwargs: Any) -> int:
        """Runs a function there that makes an object, which stays there; gives its number. Raises as `call`."""
        arguments = plain_arguments(function, (), kwargs)
        return int(typed(self.ask({"do": "make", "name": name_of(function), "arguments": arguments}), int))

    def method(self, number: int, function: Callable[..., Any] | property, /, **kwargs: Any) -> Any:
        """Calls a method of an object there, or reads a property. Raises as `call`."""
        plain_function = function.fget if isinstance(function, property) else function
        assert plain_function is not None, "a property can be read"
        given = plain_arguments(plain_function, (None,), kwargs)
        asked = {"do": "method", "object": number, "name": plain_function.__name__, "arguments": given}
        return typed(self.ask(asked), result_type(plain_function))

    def drop(self, number: int) -> None:
        """Forgets an object there."""
        self.ask({"do": "drop", "object": number})

    def clock(self) -> ClockOffset:
        """Compares the clock there with this machine's. Raises as `ask`."""
        return compare_clocks(lambda: typed(self.ask({"do": "time"}, limit_s=_CLOCK_LIMIT_S), int))

    def ask(self, request: dict[str, Any], *, limit_s: float | None = None) -> Any:
        """Sends a request and waits for its answer.

        Raises:
            PlimsollError: What it ended with there.
            HostError: The connection is lost, or no answer came within the limit.
        """
        _, future = self._send(request)
        try:
            return future.result(limit_s)
        except TimeoutError:
            raise HostError(f"{self._host}: did not answer within {limit_s:g} s") from None

    def _send(self, request: dict[str, Any]) -> tuple[int, Future[Any]]:
        """Sends a request; gives its number, which is higher than those of all requests sent before, and its answer.

        Raises:
            HostError: The connection is lost.
        """
        future: Future[Any] = Future()
        with self._lock:
            if self._lost is not None:
                raise HostError(self._lost)
            number = next(self._numbers)
            self._waiting[number] = future
            self._outbox.put(json.dumps({"id": number, **request}).encode() + b"\n")
        return number, future

    def close(self, limit_s: float = 20) -> None:
        """Ends the agent, and what it started; waits until it has cleaned up."""
        self._ended.set()
        self._outbox.put(None)
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(limit_s)
        self._end(": it was ended")

    def _speak(self) -> None:
        """Says something every few seconds, and ends a connection over which an answer will not come."""
        if not self._opened.wait(_OPENING_LIMIT_S):
            self._give_up(f"what it needs was not sent within {_OPENING_LIMIT_S:g} s")
        while not self._ended.wait(_SPEAKS_EVERY_S):
            if (why := self._fault()) is not None:
                self._give_up(why)
                return

    def _fault(self) -> str | None:
        """Why some answer will not come; None while each may.

        Answers come in the order in which they are written. So the answer of a request that was sent before this one,
        and that the agent does not work on any more, has come before this one's.
        """
        try:
            number, future = self._send({"do": "alive"})
            in_work = typed(future.result(SILENCE_S), list[int])
        except TimeoutError:
            return f"it did not answer for {SILENCE_S:g} s"
        except HostError as error:
            return str(error)
        unanswered = [request for request in list(self._waiting) if request < number]
        return None if set(unanswered) <= set(in_work) else "it dropped a request that it had not answered"

    def _write(self) -> None:
        """Sends requests in their order until the end; then the agent's input ends."""
        with contextlib.suppress(OSError):  # the reader tells whoever waits
            while (line := self._outbox.get()) is not None:
                self._stdin.write(line)
                self._stdin.flush()
                self._opened.set()
        with contextlib.suppress(OSError):
            self._stdin.close()

    def _read(self) -> None:
        """Hands out answers until they end, or until something comes that is none."""
        while (line := self._stdout.readline(LINE_BYTES_MAX)).endswith(b"\n"):
            try:
                answer = read_answer(line, self._host)
                future = self._waiting.pop(answer.number)
            except (HostError, KeyError) as error:
                self._give_up(f"the agent there sent what is no answer: {error}")
                return
            if answer.error is not None:
                future.set_exception(answer.error)
            else:
                future.set_result(answer.result)
        self._end()

    def _give_up(self, why: str) -> None:
        """Ends a connection that can be used no more; this is the reason, whatever ends it meanwhile."""
        with self._lock:
            self._lost = self._lost or f"{self._host}: the connection was lost: {why}"
        self._process.kill()
        self._end()

    def _end(self, why: str = "") -> None:
        """Tells whoever waits that the connection is lost, the first time with the reason.

        Args:
            why: Follows the words; what the process printed where it is empty.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        with self._lock:
            if self._lost is None:
                self._lost = f"{self._host}: the connection was lost{why or self._reason()}"
            waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            future.set_exception(HostError(self._lost))


_MESSAGE_LENGTH_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request.

    Attributes:
        number: Of the request.
        result: Of what was done, as JSON has it.
        error: What it ended with instead.
    """

    number: int
    result: Any = None
    error: PlimsollError | None = None


@dataclass(frozen=True, slots=True)
class _Described:
    """An error as an agent describes it."""

    kind: str
    message: str
    faults: tuple[str, ...] = ()
    code: int | None = None
    sqlstate: str | None = None
    trace: str = ""


def read_answer(line: bytes, host: str) -> Answer:
    """What a line says.

    Args:
        line: As it came.
        host: As messages call it.

    Raises:
        HostError: It is no answer.
    """
    try:
        answer = strict_json.read(line)
    except ValueError as error:
        raise HostError(_short(str(error))) from None
    match answer:
        case {"id": int(number), "error": description}:
            return Answer(number, error=_raised(host, typed(description, _Described)))
        case {"id": int(number), "result": result}:
            return Answer(number, result)
    raise HostError("it has no number, or neither a result nor an error")


def _raised(host: str, description: _Described) -> PlimsollError:
    """The error that an agent describes, with the host's name before its message."""
    message = f"{host}: {_short(description.message)}"
    if description.kind == "SpecError":
        return SpecError(*(f"{host}: {_short(fault)}" for fault in description.faults))
    if description.kind in ("TargetError", "DataError"):
        error: type[TargetError] = getattr(errors, description.kind)
        return error(message, code=description.code, sqlstate=description.sqlstate)
    if description.kind == "OSError" or hasattr(errors, description.kind):
        return HostError(message)
    return HostError(
        f"{host}: failed in a way that Plimsoll did not foresee: {_short(description.trace or description.message)}"
    )


def _short(text: str) -> str:
    return text if len(text) <= _MESSAGE_LENGTH_MAX else f"{text[:_MESSAGE_LENGTH_MAX]}…"
