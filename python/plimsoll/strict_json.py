"""JSON that was written elsewhere, and JSON for there: numbers that a computation takes, and no deep nesting.

JSON bounds no number, and Python reads integers of thousands of digits, infinities and NaN, which end in an
OverflowError far from where they were read. Here they are refused at the door, by whoever reads: answers of hosts,
messages of engines, documents of recordings. Deliberately not here: types of documents (`record.document`,
`hosts.calls`).
"""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic_core import from_json

INTEGER_MAX: Final = 2**64 - 1
"""Largest whole number in either direction: counters of kernels and servers, and seeds, have 64 bits without a sign."""

FLOAT_MAX: Final = 1e30
"""Largest other number in either direction: nothing measures more."""

_ANY_DIGIT = bytes.maketrans(b"123456789E", b"000000000e")
_SUSPECT = (b"0" * 20, b"0e00", b"0e+00", b"NaN", b"Infinity")
"""Every number beyond the bounds, or none, has one of these, with 0 for any digit."""

_SHOWN_MAX = 24

_Place = tuple[()] | tuple[Any, str | int]
"""Leads to a value: the place of what holds it, and its key or index there."""


class NumberOutOfRangeError(ValueError):
    """A number is beyond the bounds, or none.

    Attributes:
        place: Keys and indexes that lead to it.
        shown: Its digits, shortened where they are many.
    """

    def __init__(self, place: tuple[str | int, ...], shown: str) -> None:
        super().__init__(f"the number {shown} is out of range")
        self.place, self.shown = place, shown


def read(data: bytes | bytearray | str) -> Any:
    """What a JSON text says.

    Raises:
        ValueError: It is no JSON, is no UTF-8, nests too deeply, or has a number that is NaN, infinite or beyond the
            bounds; the last as `NumberOutOfRangeError`, where it has less than 4,300 digits.
    """
    content = from_json(data)
    if may_be_beyond(data):
        _refuse_beyond(content)
    return content


def may_be_beyond(data: bytes | bytearray | str) -> bool:
    """Whether a JSON text may have a number beyond the bounds: a look at its characters, not at its values.

    Most documents have none, so nobody has to walk through thousands of numbers. False is certain.
    """
    content = data.encode(errors="replace") if isinstance(data, str) else data
    digits = content.translate(_ANY_DIGIT)
    return any(mark in digits for mark in _SUSPECT)


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


def _refuse_beyond(content: Any) -> None:
    """Raises for a number beyond the bounds. Places are links, since a document has thousands of them."""
    left: list[tuple[_Place, Any]] = [((), content)]
    while left:
        place, value = left.pop()
        kind = type(value)
        if kind is dict:
            left.extend([((place, key), item) for key, item in value.items()])
        elif kind is list:
            left.extend([((place, index), item) for index, item in enumerate(value)])
        elif kind is float:
            if not -FLOAT_MAX <= value <= FLOAT_MAX:
                raise NumberOutOfRangeError(_keys(place), repr(value))
        elif kind is int and not -INTEGER_MAX <= value <= INTEGER_MAX:
            raise NumberOutOfRangeError(_keys(place), _shortened(str(value)))


def _keys(place: _Place) -> tuple[str | int, ...]:
    return (*_keys(place[0]), place[1]) if place else ()


def _shortened(digits: str) -> str:
    return digits if len(digits) <= _SHOWN_MAX else f"{digits[:_SHOWN_MAX]}… ({len(digits.lstrip('-'))} digits)"
