"""JSON that was written elsewhere, and JSON for there: numbers that a computation takes, and no deep nesting.

Python reads integers of thousands of digits, infinities and NaN, which end in an OverflowError far from where they were
read. Here they are refused at the door. Deliberately not here: types of documents (`calls`).
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

NUMBER_MAX = 2**64
"""No count, size or time is larger in either direction: counters of kernels and servers have 64 bits."""

_DIGITS_MAX = 21


def read(text: bytes | str) -> Any:
    """What a JSON text says.

    Raises:
        ValueError: It is no JSON, nests too deeply, or has a number that is NaN, infinite or beyond `NUMBER_MAX`.
    """
    try:
        return json.loads(text, parse_int=_integer, parse_float=_decimal, parse_constant=_refused)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def write(value: Any, **options: Any) -> str:
    """A value as JSON in one line.

    Args:
        value: What there is.
        options: As `json.dumps` has them.

    Raises:
        ValueError: It nests too deeply, or has a number that is NaN or infinite.
    """
    try:
        return json.dumps(value, allow_nan=False, **options)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS_MAX or abs(number := int(digits)) > NUMBER_MAX:
        _refused(digits)
    return number


def _decimal(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number) or abs(number) > NUMBER_MAX:
        _refused(digits)
    return number


def _refused(digits: str) -> NoReturn:
    shown = digits if len(digits) <= _DIGITS_MAX else f"{digits[:_DIGITS_MAX]}…"
    raise ValueError(f"the number {shown} is out of range")
