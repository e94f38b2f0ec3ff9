"""What all documents have in common, and the mark that tells whether a file is as it was written."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from plimsoll import strict_json

UnixSeconds = Annotated[float, Field(ge=0, le=253_402_300_799)]
"""A moment that a calendar has, wall clock, seconds since 1970: up to the end of the year 9999."""


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
        ValidationError: It has such a number; it is named with its place.
    """
    if not strict_json.may_be_beyond(json_data):
        return
    try:
        strict_json.read(json_data)
    except strict_json.NumberOutOfRangeError as error:
        fault = PydanticCustomError("number_out_of_bounds", "is beyond what can be measured")
        details = InitErrorDetails(type=fault, loc=error.place, input=error.shown)
        raise ValidationError.from_exception_data("number", [details]) from None
    except ValueError:
        return


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
