"""Requests to an agent on a host, and its answers: JSON lines over the standard streams of a process.

Answers come in any order. When the process ends, whoever waits is told, and every later request is refused. What the
agent prints on its standard error is the reason that is given. Deliberately not here: starting the process (`ssh`).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from plimsoll import errors
from plimsoll.clocks import ClockOffset, compare_clocks
from plimsoll.errors import HostError, PlimsollError, SpecError, TargetError
from plimsoll.hosts.agent import SILENCE_S, name_of
from plimsoll.hosts.calls import plain_arguments, result_type, typed

LINE_BYTES_MAX = 64 * 2**20
"""No answer is longer."""

_SPEAKS_EVERY_S = 5.0
_CLOCK_LIMIT_S = 10.0


class Channel:
    """One agent."""

    def __init__(self, host: str, process: subprocess.Popen[bytes], reason: Callable[[], str]) -> None:
        """Takes a process whose standard streams an agent serves.

        Args:
            host: As messages call it.
            process: With pipes for standard input and output.
            reason: Says what the process printed on standard error.
        """
        assert process.stdin is not None, "a pipe was asked for"
        assert process.stdout is not None, "a pipe was asked for"
        self._host, self._process, self._reason = host, process, reason
        self._stdin, self._stdout = process.stdin, process.stdout
        self._waiting: dict[int, Future[Any]] = {}
        self._numbers, self._lock = itertools.count(1), threading.Lock()
        self._lost: HostError | None = None
        self._reader = threading.Thread(target=self._read, name=f"plimsoll-{host}", daemon=True)
        self._reader.start()
        self._ended = threading.Event()
        threading.Thread(target=self._speak, name=f"plimsoll-{host}-alive", daemon=True).start()

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
        return int(self.ask({"do": "make", "name": name_of(function), "arguments": arguments}))

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
        future: Future[Any] = Future()
        with self._lock:
            if self._lost is not None:
                raise self._lost
            number = next(self._numbers)
            self._waiting[number] = future
            with contextlib.suppress(OSError):  # the reader tells whoever waits
                self._stdin.write(json.dumps({"id": number, **request}).encode() + b"\n")
                self._stdin.flush()
        try:
            return future.result(limit_s)
        except TimeoutError:
            raise HostError(f"{self._host}: did not answer within {limit_s:g} s") from None

    def close(self, limit_s: float = 20) -> None:
        """Ends the agent, and what it started; waits until it has cleaned up."""
        self._ended.set()
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(limit_s)

    def _speak(self) -> None:
        """Says something every few seconds, and ends a connection over which no answer comes."""
        while not self._ended.wait(_SPEAKS_EVERY_S):
            try:
                self.ask({"do": "time"}, limit_s=SILENCE_S)
            except HostError:
                self._process.kill()
                return

    def _read(self) -> None:
        while True:
            line = self._stdout.readline(LINE_BYTES_MAX)
            if not line.endswith(b"\n"):
                break
            try:
                answer = json.loads(line)
                future = self._waiting.pop(answer["id"])
            except (ValueError, KeyError, TypeError):
                break
            if "error" in answer:
                future.set_exception(_raised(self._host, answer["error"]))
            else:
                future.set_result(answer.get("result"))
        self._end()

    def _end(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        with self._lock:
            self._lost = HostError(f"{self._host}: the connection was lost{self._reason()}")
            waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            future.set_exception(self._lost)


def _raised(host: str, told: Any) -> PlimsollError:
    """The error that an agent describes, with the host's name before its message."""
    kind, message = str(told.get("kind")), f"{host}: {told.get('message')}"
    if kind == "SpecError":
        return SpecError(*(f"{host}: {fault}" for fault in told.get("faults", ())))
    if kind in ("TargetError", "DataError"):
        error: type[TargetError] = getattr(errors, kind)
        return error(message, code=told.get("code"), sqlstate=told.get("sqlstate"))
    if kind == "OSError" or hasattr(errors, kind):
        return HostError(message)
    return HostError(f"{host}: failed in a way that Plimsoll did not foresee: {told.get('trace') or message}")
