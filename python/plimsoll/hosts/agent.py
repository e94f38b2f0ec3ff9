"""The other end of `channel`: runs on a host, does what it is asked over standard input, answers on standard output.

It ends when its standard input does, and when nothing came for `SILENCE_S`: a cable that was pulled out ends no
connection. Guardians of servers then end these, as they do when any Plimsoll ends. Requests run side by side, one
thread each: telemetry goes on while a server starts.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import select
import threading
import time
import traceback
from collections.abc import Callable
from typing import IO, Any

from plimsoll.errors import PlimsollError, SpecError, TargetError
from plimsoll.hosts.calls import plain, result_type, typed_arguments
from plimsoll.interruption import interrupt_once

_READ_BYTES = 2**20
PACKAGES = ("plimsoll.servers.", "plimsoll.telemetry.", "plimsoll.hosts.")
"""Functions of these are called."""

SILENCE_S = 45.0
"""The other end asks every few seconds what is in work, so a silence of this length means that it is gone."""


class Agent:
    """Does what requests ask for."""

    def __init__(self, answers: IO[bytes]) -> None:
        """Takes where answers go."""
        self._answers, self._lock = answers, threading.Lock()
        self._in_work: set[int] = set()
        self._objects: dict[int, Any] = {}
        self._numbers = itertools.count(1)

    def serve(self, requests: int, silence_s: float = SILENCE_S) -> None:
        """Takes requests, one a line, until there are no more.

        Args:
            requests: A file descriptor.
            silence_s: Ends also when nothing came for so long.
        """
        unread = bytearray()
        while select.select([requests], [], [], silence_s)[0] and (part := os.read(requests, _READ_BYTES)):
            unread += part
            *lines, rest = unread.split(b"\n")
            unread = bytearray(rest)
            for line in lines:
                self._begin(json.loads(line))

    def _begin(self, request: dict[str, Any]) -> None:
        """Works on a request, or says at once which are in work: those that came before and were not answered yet."""
        if request.get("do") == "alive":
            with self._lock:
                self._say({"id": request["id"], "result": sorted(self._in_work)})
            return
        with self._lock:
            self._in_work.add(request["id"])
        threading.Thread(target=self._answer, args=(request,), daemon=True).start()

    def _answer(self, request: dict[str, Any]) -> None:
        try:
            answer = {"id": request["id"], "result": self._do(request)}
        except BaseException as error:
            answer = {"id": request["id"], "error": _described(error)}
        with self._lock:
            self._in_work.discard(request["id"])
            self._say(answer)

    def _say(self, answer: dict[str, Any]) -> None:
        """Writes an answer; the caller has the lock."""
        self._answers.write(json.dumps(answer).encode() + b"\n")
        self._answers.flush()

    def _do(self, request: dict[str, Any]) -> Any:
        match request:
            case {"do": "time"}:
                return time.time_ns()
            case {"do": "call", "name": name, "arguments": arguments}:
                function = function_named(name)
                return plain(function(**typed_arguments(function, arguments)), result_type(function))
            case {"do": "make", "name": name, "arguments": arguments}:
                function = function_named(name)
                number = next(self._numbers)
                self._objects[number] = function(**typed_arguments(function, arguments))
                return number
            case {"do": "method", "object": number, "name": name, "arguments": arguments}:
                return self._method(self._objects[number], name, arguments)
            case {"do": "drop", "object": number}:
                return self._objects.pop(number, None) and None
        raise ValueError(f"no such request: {request.get('do')!r}")

    def _method(self, made: Any, name: str, arguments: dict[str, Any]) -> Any:
        member = getattr(type(made), name)
        function: Callable[..., Any] = member.fget if isinstance(member, property) else member  # type: ignore[assignment]
        return plain(function(made, **typed_arguments(function, arguments)), result_type(function))


def function_named(name: str) -> Callable[..., Any]:
    """The function `module:name` of one of `PACKAGES`."""
    module, _, function = name.partition(":")
    if not module.startswith(PACKAGES):
        raise ValueError(f"{module} is not called from elsewhere")
    resolved: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return resolved


def name_of(function: Callable[..., Any]) -> str:
    """How `function_named` finds a function."""
    return f"{function.__module__}:{function.__qualname__}"


def _described(error: BaseException) -> dict[str, Any]:
    message = str(error).encode(errors="backslashreplace").decode()  # names of files may be no text
    description: dict[str, Any] = {"kind": type(error).__name__, "message": message}
    match error:
        case SpecError():
            return description | {"faults": list(error.lines)}
        case TargetError():
            return description | {"code": error.code, "sqlstate": error.sqlstate}
        case PlimsollError():
            return description
        case OSError():
            return description | {"kind": "OSError"}
    return description | {"trace": "".join(traceback.format_exception(error))}


def main() -> None:
    """Serves standard input until it ends, or a signal asks to end. Whatever else prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    interrupt_once()
    with contextlib.suppress(KeyboardInterrupt):
        Agent(answers).serve(0)
