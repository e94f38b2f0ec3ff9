"""Generators in the form that the engine reads (`Generator` of its protocol), and what their values must fit.

Values must fit column types, 64-bit integers, the calendar, and what the load engine chooses from. Ranges follow from
several keys and the number of rows; they are checked where a generator has no other fault. Deliberately not here: what
each way needs (`generators`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import Fault
from plimsoll.spec.generators import (
    INT64,
    Characters,
    Choice,
    CountedKey,
    Decimal,
    DistributionSpec,
    Generator,
    Integer,
    Null,
    NumberSequence,
    Placeholder,
    Reference,
    Text,
    Timestamp,
    Way,
    WrittenDistribution,
    template_parts,
    time_us,
)
from plimsoll.units import parse_duration_s

SECOND_US = 1_000_000
_ALPHABETS = {"digits": "digits", "letters": "letters", "hex": "hexadecimal"}
_ROW_DIGITS = 10
"""Of the largest number of a row."""

VARCHAR_MAX = 16_000
"""Longer text gets the type LONGTEXT: a VARCHAR has at most 65,535 bytes, four for each character."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The different values of a column that a reference chooses from: numbers, or one text around each number.

    Attributes:
        first: The number in the first row.
        step: From number to number.
        count: How many there are.
        around: The text before and after each number; None where numbers alone are values.
    """

    first: int
    step: int
    count: int
    around: tuple[str, str] | None = None


def generator_plan(spec: Generator, keys: Keys | None = None) -> dict[str, Any]:
    """A generator without faults.

    Args:
        spec: What was written.
        keys: What a reference chooses from.
    """
    return _PLANS[type(spec)](spec, keys)


def null_ratio(spec: Generator) -> float:
    """How many values are NULL."""
    return 1.0 if isinstance(spec, Null) else spec.null_ratio


def keys_of(spec: Generator, rows: int) -> Keys | None:
    """The different values of a column over so many rows; None where they do not follow from numbers of rows alone."""
    if isinstance(spec, NumberSequence):
        sequence = _sequence(spec)
        return Keys(sequence["first"], sequence["step"], values_count(sequence, rows))
    if not isinstance(spec, Text):
        return None
    parts = template_parts(spec.template)
    if [part for part in parts if not isinstance(part, str)] != [Placeholder("row")]:
        return None
    at = parts.index(Placeholder("row"))
    return Keys(1, 1, rows, ("".join(map(str, parts[:at])), "".join(map(str, parts[at + 1 :]))))


def values_count(sequence: Mapping[str, int], rows: int) -> int:
    """How many different values a sequence of the engine's protocol has in so many rows."""
    values = -(-rows // sequence.get("each", 1))
    return min(values, sequence.get("cycle", values))


def sql_type(spec: Generator, keys: Keys | None = None) -> str:
    """The type of a column that holds all values of a generator; of a reference, all that it chooses from."""
    match spec:
        case Decimal():
            digits = max(len(str(abs(end))) for end in spec.range)
            return f"DECIMAL({max(digits, spec.scale + 1)},{spec.scale})"
        case Timestamp():
            return "DATETIME" if _resolution_us(spec) == SECOND_US else "DATETIME(6)"
        case Choice() if isinstance(spec.values[0], str):
            return _text_type(max(len(str(value)) for value in spec.values))
        case Text():
            return _text_type(sum(_part_length(part) for part in template_parts(spec.template)))
        case Characters():
            return _text_type(spec.length[1])
        case _:
            around = keys.around if keys is not None else None
            return "BIGINT" if around is None else _text_type(sum(map(len, around)) + _ROW_DIGITS)


def _text_type(length: int) -> str:
    return f"VARCHAR({max(length, 1)})" if length <= VARCHAR_MAX else "LONGTEXT"


def _sequence(spec: NumberSequence) -> dict[str, int]:
    """What changes nothing is left out: tables are known by what is said of them."""
    later = {"each": spec.each if spec.each != 1 else None, "cycle": spec.cycle}
    return {
        "first": 1 if spec.start is None else spec.start,
        "step": 1 if spec.step is None else spec.step,
        **{key: value for key, value in later.items() if value is not None},
    }


def _integers(first: int, last: int, distribution: Any) -> dict[str, Any]:
    return {"kind": "integer", "first": first, "step": 1, "count": last - first + 1, "distribution": distribution}


def _characters(way: str, low: int, high: int) -> dict[str, Any]:
    return {"kind": "characters", "alphabet": _ALPHABETS[way], "length_min": low, "length_max": high}


def _resolution_us(spec: Timestamp) -> int:
    """The distance of neighbouring points in time: a second unless something finer was written."""
    points = [time_us(spec.from_), time_us(spec.to) if spec.to is not None else 0, _every_us(spec)]
    return SECOND_US if all((point or 0) % SECOND_US == 0 for point in points) else 1


def _every_us(spec: Timestamp) -> int:
    return round(parse_duration_s(spec.every) * SECOND_US) if spec.every else 0


def _times(spec: Timestamp, distribution: Any) -> dict[str, Any]:
    first = time_us(spec.from_)
    assert first is not None, "a time without faults"
    if spec.every is not None:
        return {"kind": "timestamp_sequence", "first_us": first, "step_us": _every_us(spec)}
    step = _resolution_us(spec)
    count = ((time_us(spec.to) or 0) - first) // step + 1
    return {"kind": "timestamp", "first_us": first, "step_us": step, "count": count, "distribution": distribution}


def _part(part: str | Placeholder) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    if part.way == "row":
        return {"generated": {"kind": "sequence", "first": 1, "step": 1}}
    if part.way == "integer":
        return {"generated": _integers(part.low, part.high, DistributionSpec().line())}
    return {"generated": _characters(part.way, part.low, part.high)}


def _part_length(part: str | Placeholder) -> int:
    if isinstance(part, str):
        return len(part)
    if part.way == "row":
        return _ROW_DIGITS
    return len(str(part.high)) if part.way == "integer" else part.high


def _decimals(spec: Decimal) -> dict[str, Any]:
    first, last = spec.range
    drawn = {"first": first, "count": last - first + 1, "distribution": _distribution(spec.distribution)}
    return {"kind": "decimal", "scale": spec.scale, **drawn}


def _reference(spec: Reference, keys: Keys | None) -> dict[str, Any]:
    assert keys is not None, "a reference without faults"
    drawn = {
        "first": keys.first,
        "step": keys.step,
        "count": keys.count,
        "distribution": _distribution(spec.distribution),
    }
    number = {"kind": "integer", **drawn}
    if keys.around is None:
        return number
    before, after = keys.around
    parts: list[dict[str, Any]] = [{"text": before}, {"generated": number}, {"text": after}]
    return {"kind": "template", "parts": [part for part in parts if part.get("text") != ""]}


def _distribution(written: WrittenDistribution | None) -> Any:
    return (written or DistributionSpec()).line()


_PLANS: dict[type[Way], Callable[[Any, Keys | None], dict[str, Any]]] = {
    NumberSequence: lambda spec, _: {"kind": "sequence", **_sequence(spec)},
    Integer: lambda spec, _: _integers(spec.from_, spec.to, _distribution(spec.distribution)),
    Decimal: lambda spec, _: _decimals(spec),
    Characters: lambda spec, _: _characters(spec.generate, *spec.length),
    Text: lambda spec, _: {"kind": "template", "parts": [_part(part) for part in template_parts(spec.template)]},
    Timestamp: lambda spec, _: _times(spec, _distribution(spec.distribution)),
    Choice: lambda spec, _: {
        "kind": "choice",
        "values": spec.values,
        "weights": spec.weights or [1.0] * len(spec.values),
    },
    Reference: _reference,
    Null: lambda *_: {"kind": "choice", "values": [0], "weights": [1.0]},
}

PARTS_MAX = 10_000
"""Most pieces of a template."""

CHOSEN_MAX = 2**32 - 1
"""Most values that a distribution other than uniform chooses from."""

_TIME_US = range(-62_167_219_200_000_000, 253_402_300_800_000_000)
"""The years 0 to 9999, microseconds since 1970."""


def reach_faults(spec: Generator, rows: int | None) -> Iterator[Fault]:
    """What is wrong, each line behind the name of its key.

    Args:
        spec: A generator without other faults.
        rows: Of the table whose column it fills; None where it makes values of statements.
    """
    if isinstance(spec, Reference | Null | CountedKey):
        return
    plan = generator_plan(spec)
    match plan["kind"]:
        case "sequence":
            yield from _sequence_faults(plan, rows or 0)
        case "timestamp_sequence":
            yield from _time_faults(plan["first_us"], plan["step_us"], rows or 0)
        case "integer" | "decimal" | "timestamp":
            yield from _range_faults(plan["count"], plan["distribution"])
        case "template" if len(plan["parts"]) > PARTS_MAX:
            yield Fault(("template",), f"must have at most {PARTS_MAX} pieces, has {len(plan['parts'])}")
        case "choice" if not math.isfinite(sum(plan["weights"])):
            yield Fault(("weights",), "must have a finite sum; write smaller ones")


def _sequence_faults(plan: dict[str, Any], rows: int) -> Iterator[Fault]:
    last = plan["first"] + plan["step"] * max(values_count(plan, rows) - 1, 0)
    if last not in INT64:
        yield Fault(("step",), f"leads to {last} within {rows} rows; it must be a whole number of 64 bits")


def _time_faults(first_us: int, step_us: int, rows: int) -> Iterator[Fault]:
    if first_us + step_us * max(rows - 1, 0) not in _TIME_US:
        yield Fault(("every",), f"leads beyond the year 9999 within {rows} rows; write a shorter time or fewer rows")


def _range_faults(count: int, distribution: dict[str, Any]) -> Iterator[Fault]:
    is_uniform = distribution == DistributionSpec().line()
    values_max = INT64[-1] if is_uniform else CHOSEN_MAX
    if count > values_max:
        cure = "" if is_uniform else '; distribution = "uniform" takes more'
        yield Fault(("to",), f"makes {count} values to choose from, at most {values_max} are possible{cure}")
