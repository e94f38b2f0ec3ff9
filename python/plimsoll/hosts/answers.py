"""An answer of an agent as it came over the connection: checked before anything uses it, whatever was sent.

Deliberately not here: waiting for it (`channel`), and the types of results (`calls`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plimsoll import errors, strict_json
from plimsoll.errors import HostError, PlimsollError, SpecError, TargetError
from plimsoll.hosts.calls import typed

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
        said = strict_json.read(line)
    except ValueError as error:
        raise HostError(_short(str(error))) from None
    match said:
        case {"id": int(number), "error": told}:
            return Answer(number, error=_raised(host, typed(told, _Described)))
        case {"id": int(number), "result": result}:
            return Answer(number, result)
    raise HostError("it has no number, or neither a result nor an error")


def _raised(host: str, told: _Described) -> PlimsollError:
    """The error that an agent describes, with the host's name before its message."""
    message = f"{host}: {_short(told.message)}"
    if told.kind == "SpecError":
        return SpecError(*(f"{host}: {_short(fault)}" for fault in told.faults))
    if told.kind in ("TargetError", "DataError"):
        error: type[TargetError] = getattr(errors, told.kind)
        return error(message, code=told.code, sqlstate=told.sqlstate)
    if told.kind == "OSError" or hasattr(errors, told.kind):
        return HostError(message)
    return HostError(f"{host}: failed in a way that Plimsoll did not foresee: {_short(told.trace or told.message)}")


def _short(text: str) -> str:
    return text if len(text) <= _MESSAGE_LENGTH_MAX else f"{text[:_MESSAGE_LENGTH_MAX]}…"
