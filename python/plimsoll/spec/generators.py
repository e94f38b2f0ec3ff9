"""Where values come from, as users write it: for columns of tables and for values of statements.

Each way has its keys; what belongs to another one is a fault. Deliberately not here: the engine's form
(`generator_plan`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from plimsoll.errors import SpecError
from plimsoll.spec.distribution import WrittenDistribution
from plimsoll.spec.fields import Extended
from plimsoll.spec.templates import LENGTH_MAX, Placeholder, template_parts
from plimsoll.units import parse_duration_s

Way = Literal[
    "sequence",
    "integer",
    "decimal",
    "digits",
    "letters",
    "hex",
    "text",
    "timestamp",
    "choice",
    "reference",
    "null",
    "next",
    "recent",
]
WAYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sequence": ((), ("start", "step", "each", "cycle")),
    "integer": (("from", "to"), ("distribution",)),
    "decimal": (("from", "to"), ("places", "distribution")),
    "digits": (("length",), ()),
    "letters": (("length",), ()),
    "hex": (("length",), ()),
    "text": (("template",), ()),
    "timestamp": (("from",), ("to", "every", "distribution")),
    "choice": (("values",), ("weights",)),
    "reference": (("table",), ("column", "distribution")),
    "null": ((), ()),
    "next": (("table",), ("column",)),
    "recent": (("table",), ("column", "within", "distribution")),
}
"""By way: the keys that it needs, and those that it may have."""

CHOICES_MAX = 10_000
INT64 = range(-(2**63), 2**63)
PLACES_MAX = 18
Whole = Annotated[int, Field(ge=INT64[0], le=INT64[-1])]
Positive = Annotated[int, Field(ge=1, le=INT64[-1])]
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the calendar without time zones, as DATETIME has it


def _a_range(value: object) -> object:
    """One number stands for a range of one; TOML has lists, the model has pairs."""
    if isinstance(value, list):
        return tuple(value)
    return (value, value) if isinstance(value, int) and not isinstance(value, bool) else value


def _rising(value: tuple[int, int]) -> tuple[int, int]:
    if value[0] > value[1]:
        raise ValueError(f"must rise, is {value[0]} to {value[1]}")
    return value


LengthRange = Annotated[
    tuple[Annotated[int, Field(ge=0, le=LENGTH_MAX)], Annotated[int, Field(ge=0, le=LENGTH_MAX)]],
    BeforeValidator(_a_range),
    AfterValidator(_rising),
]
"""Written as 8 or [8, 20]; both ends are included."""


class GeneratorSpec(Extended):
    """One way to make values.

    Attributes:
        generate: Which way; None where a value is no generated one.
        start: Of the sequence; 1 when not given.
        step: From value to value of the sequence; 1 when not given.
        each: So many rows in turn have the same value of the sequence; 1 when not given.
        cycle: The sequence begins again after so many values; it never does when not given.
        from_: Smallest integer or decimal, or earliest time.
        to: Largest, or latest; included.
        every: Distance of a row's time to that of the row before, such as "10s".
        places: Digits after the point of a decimal; 2 when not given.
        length: Characters, as a number or a range.
        template: Text with `{row}`, `{digits:8}`, `{letters:3-8}`, `{hex:32}` or `{integer:1-100}` in it.
        values: What a choice is made of.
        weights: How often each is chosen, relative to the others.
        table: The table that is referred to.
        column: Its column whose values are chosen from; its primary key when not given.
        within: From how many of the newest keys.
        distribution: How numbers are chosen.
        null_ratio: So many values are NULL, 0 to 1.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"each", "cycle", "column", "within"})

    generate: Way | None = None
    start: Whole | None = None
    step: Whole | None = None
    each: Positive | None = None
    cycle: Positive | None = None
    from_: Any = Field(default=None, alias="from")
    to: Any = None
    every: str | None = None
    places: Annotated[int, Field(ge=0, le=PLACES_MAX)] | None = None
    length: LengthRange | None = None
    template: str | None = None
    values: list[int | str] | None = None
    weights: list[Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = None
    table: str | None = None
    column: str | None = None
    within: Annotated[int, Field(ge=1, le=2**32 - 1)] | None = None
    distribution: WrittenDistribution | None = None
    null_ratio: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0

    def written(self, key: str) -> Any:
        """The value of a key by the name that users write."""
        return getattr(self, "from_" if key == "from" else key)

    def faults(self, *, in_rows: bool) -> Iterator[str]:
        """What is wrong, each line behind the name of its key.

        Args:
            in_rows: It fills a column; otherwise it makes values of statements, which have no row to follow.
        """
        if self.generate is None:
            yield f"generate: is missing; one of {', '.join(WAYS)}"
            return
        needed, allowed = WAYS[self.generate]
        keys = {key for way in WAYS.values() for part in way for key in part}
        misplaced = sorted(k for k in keys - {*needed, *allowed} if self.written(k) is not None)
        yield from (f"{key}: does not belong to {self.generate!r}" for key in misplaced)
        missing = [key for key in needed if self.written(key) is None]
        yield from (f"{key}: is missing; {self.generate!r} needs it" for key in missing)
        if not missing:
            yield from self._faults_of_way(in_rows=in_rows)

    def _faults_of_way(self, *, in_rows: bool) -> Iterator[str]:
        match self.generate:
            case "sequence" if not in_rows:
                yield "generate: 'sequence' follows the rows of a table, which a value of a statement has not"
            case "next" | "recent":
                yield from self._key_faults(in_rows=in_rows)
            case "sequence" if self.step == 0:
                yield "step: must not be 0"
            case "integer":
                yield from self._integer_faults()
            case "decimal":
                yield from self._decimal_faults()
            case "timestamp":
                yield from self._time_faults(in_rows=in_rows)
            case "text":
                yield from _template_faults(self.template or "", in_rows=in_rows)
            case "choice":
                yield from self._choice_faults()

    def _key_faults(self, *, in_rows: bool) -> Iterator[str]:
        if in_rows:
            yield f"generate: {self.generate!r} belongs to values of statements; columns have 'sequence'"
        if self.null_ratio > 0:
            yield f"null_ratio: does not belong to {self.generate!r}"
        if self.distribution is not None and self.distribution.scattered:
            yield "distribution.scattered: does not belong to 'recent', whose first rank is the newest key"

    def _integer_faults(self) -> Iterator[str]:
        ends = {"from": self.from_, "to": self.to}
        wrong = {key: end for key, end in ends.items() if type(end) is not int or end not in INT64}
        yield from (f"{key}: must be a whole number of 64 bits, is {end!r}" for key, end in wrong.items())
        if not wrong and self.from_ > self.to:
            yield f"to: must be at least {self.from_}, is {self.to}"

    def _decimal_faults(self) -> Iterator[str]:
        ends = {"from": self.from_, "to": self.to}
        wrong = {k: e for k, e in ends.items() if type(e) is not int and not (type(e) is float and math.isfinite(e))}
        yield from (f"{key}: must be a number, is {end!r}" for key, end in wrong.items())
        if wrong:
            return
        first, last = self.decimal_range
        if first > last:
            yield f"to: must be at least {self.from_}, is {self.to}"
        if first not in INT64 or last not in INT64:
            yield f"places: {self.decimal_places} leads to more than 18 digits"

    @property
    def decimal_range(self) -> tuple[int, int]:
        """Smallest and largest decimal in units of the last place."""
        unit = 10**self.decimal_places
        return math.ceil(round(self.from_ * unit, 6)), math.floor(round(self.to * unit, 6))

    @property
    def decimal_places(self) -> int:
        """Digits after the point."""
        return 2 if self.places is None else self.places

    def _time_faults(self, *, in_rows: bool) -> Iterator[str]:
        for key in ("from", "to"):
            if (end := self.written(key)) is not None and time_us(end) is None:
                yield f"{key}: must be a date or a time without zone, such as 2026-01-01T00:00:00, is {end!r}"
                return
        if (self.to is None) == (self.every is None):
            yield "to: must be given, or every (then each row is so much later than the one before), and not both"
            return
        if self.every is not None:
            yield from self._every_faults(in_rows=in_rows)
        elif (time_us(self.to) or 0) < (time_us(self.from_) or 0):
            yield f"to: must not be before {self.from_}, is {self.to}"

    def _every_faults(self, *, in_rows: bool) -> Iterator[str]:
        if not in_rows:
            yield "every: follows the rows of a table, which a value of a statement has not; use to"
        if self.distribution is not None:
            yield "distribution: does not belong to every: nothing is drawn"
        try:
            if round(parse_duration_s(self.every or "") * 1e6) < 1:
                yield f"every: must be at least a microsecond, is {self.every!r}"
        except SpecError as error:
            yield f"every: {error}"

    def _choice_faults(self) -> Iterator[str]:
        values = self.values or []
        if not 1 <= len(values) <= CHOICES_MAX:
            yield f"values: must be 1 to {CHOICES_MAX}, are {len(values)}"
        elif len({type(value) for value in values}) > 1:
            yield "values: must be all whole numbers or all text; write numbers with a point as text"
        if any(isinstance(value, int) and value not in INT64 for value in values):
            yield "values: must fit 64 bits"
        if self.weights is not None and (len(self.weights) != len(values) or sum(self.weights) <= 0):
            yield f"weights: must be one for each of the {len(values)} values, and not all 0"


def time_us(value: object) -> int | None:
    """A date or time of the calendar as microseconds since 1970; None when it is none, or has a zone.

    >>> time_us("1970-01-02"), time_us("1970-01-01T00:00:00.5"), time_us("soon")
    (86400000000, 500000, None)
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - see _EPOCH
    if not isinstance(value, datetime) or value.tzinfo is not None:
        return None
    return (value - _EPOCH) // timedelta(microseconds=1)


def _template_faults(template: str, *, in_rows: bool) -> Iterator[str]:
    try:
        parts = template_parts(template)
    except ValueError as error:
        yield f"template: {error}"
        return
    if not in_rows and Placeholder("row") in parts:
        yield "template: {row} follows the rows of a table, which a value of a statement has not"
