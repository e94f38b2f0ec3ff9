"""What all documents have in common, and the mark that tells whether a file is as it was written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

UnixSeconds = Annotated[float, Field(ge=0, le=253_402_300_799)]
"""A moment that a calendar has, wall clock, seconds since 1970: up to the end of the year 9999."""

_INTEGER_MAX = 2**64 - 1  # counters of servers and seeds are whole numbers of 64 bits without a sign
_FLOAT_MAX = 1e30
_SHOWN_MAX = 24


class Document(BaseModel):
    """A value that can be written as JSON and read back. Unknown fields are refused, and numbers that nothing measures.

    JSON bounds no number, and Python none of its integers: one of 400 digits would be read, and fail wherever it meets
    a floating-point number.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Reads a document. Whole numbers must be below 2^64 in either direction, others finite and at most 1e30.

        Raises:
            ValidationError: It is no such document.
        """
        check_numbers(json_data)
        return super().model_validate_json(json_data, **options)


def check_numbers(json_data: str | bytes | bytearray) -> None:
    """Refuses JSON with numbers that nothing measures. What is no JSON passes: its reader says where.

    Raises:
        ValidationError: It has such a number; the first is named with its place.
    """
    try:
        content = json.loads(json_data, parse_int=_integer, parse_float=_float, parse_constant=_Beyond)
        found = next(_beyond(content, ()), None)
    except (ValueError, RecursionError):
        return
    if found is not None:
        fault = PydanticCustomError("number_out_of_bounds", "is beyond what can be measured")
        details = InitErrorDetails(type=fault, loc=found[0], input=found[1].text)
        raise ValidationError.from_exception_data("number", [details])


class _Beyond:
    """A number beyond all bounds, as text."""

    def __init__(self, text: str) -> None:
        self.text = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}… ({len(text)} digits)"


def _integer(text: str) -> int | _Beyond:
    if len(text) > len(str(-_INTEGER_MAX)) or abs(number := int(text)) > _INTEGER_MAX:
        return _Beyond(text)
    return number


def _float(text: str) -> float | _Beyond:
    number = float(text)
    return number if math.isfinite(number) and abs(number) <= _FLOAT_MAX else _Beyond(text)


def _beyond(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], _Beyond]]:
    """The numbers beyond all bounds, each with its place."""
    if isinstance(value, _Beyond):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _beyond(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _beyond(item, (*place, index))


class FileMark(Document):
    """What a file of the recording must be like to be trusted: whoever finds it otherwise knows it was damaged.

    Attributes:
        size_bytes: Its length.
        sha256: Digest of its bytes, 64 hexadecimal digits.
    """

    size_bytes: int
    sha256: str


def is_newer(content: bytes, field: str, known: int) -> bool:
    """Whether a JSON document says that its format is newer than the one that is known, whatever else is in it."""
    try:
        version = json.loads(content)[field]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return isinstance(version, int) and version > known
