"""Where values come from, as users write it: for columns of tables, for values of statements, and rows to choose.

Each way has its keys; what belongs to another one is a fault. Generated text has templates: what stands in them as it
is, and what is put in for each value. How rows are chosen is a name, or a table with the parameters of that
distribution. Deliberately not here: the engine's form (`generator_plan`), drawing (the load engine does it), and what
follows for the server (`analyse.trial.working_set`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
    model_validator,
)

from plimsoll.errors import Fault, SpecError
from plimsoll.spec.fields import GENERATOR, WithLaterKeys
from plimsoll.units import parse_duration_s

LENGTH_MAX = 65_535
"""The longest random string, characters."""

DistributionKind = Literal["uniform", "gaussian", "special-0.4", "special-1.0", "pareto", "zipfian", "hot"]


class DistributionSpec(WithLaterKeys):
    """How rows are chosen out of 1..=n.

    Attributes:
        draws: gaussian and special: how many uniform numbers are averaged for the bell (sysbench: rand-spec-iter).
        hot_rows_percent: special: share of the rows that is hot (sysbench: rand-spec-pct).
        hot_accesses_percent: special: share of the accesses meant for them (sysbench: rand-spec-res).
        h: pareto: the share 1 - h of the accesses goes to the share h of the rows (sysbench: rand-pareto-h).
        exponent: zipfian: row r is chosen in proportion to 1 / r^exponent (sysbench: rand-zipfian-exp); hot: the ranks
            behind those with shares are.
        shares: hot: the share of the accesses that rank 1, 2, … has.
        scattered: hot: neighbouring ranks are far apart; otherwise the first rows are the most frequent.
    """

    LATER: ClassVar = frozenset({"shares", "scattered"})

    kind: DistributionKind = "uniform"
    draws: Annotated[int, Field(ge=1, le=1000)] | None = None
    hot_rows_percent: Annotated[int, Field(ge=1, le=100)] | None = None
    hot_accesses_percent: Annotated[int, Field(ge=0, le=99)] | None = None
    h: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] | None = None
    exponent: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] | None = None
    shares: list[Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]] | None = None
    scattered: bool | None = None

    @model_validator(mode="after")
    def _own_parameters_only(self) -> Self:
        parameters = PARAMETERS[self.kind]
        for name in type(self).model_fields:
            if name != "kind" and name not in parameters and getattr(self, name) is not None:
                known = f"its parameters are {', '.join(parameters)}" if parameters else "it has no parameters"
                raise ValueError(f"{self.kind} has no {name}; {known}")
        for fault in self._share_faults():
            raise ValueError(fault)
        return self

    def _share_faults(self) -> Iterator[str]:
        shares = self.shares or []
        if len(shares) > _SHARES_MAX:
            yield f"shares must be at most {_SHARES_MAX}, are {len(shares)}"
        if shares != sorted(shares, reverse=True):
            yield "shares must fall or be equal: the first is that of the most frequent"
        if sum(shares) > 1 + _ROUNDING:
            yield f"shares must have a sum of at most 1, have {sum(shares):g}"

    def parameters(self) -> dict[str, Any]:
        """The parameters that are in force, defaults included."""
        written = {name: getattr(self, name) for name in PARAMETERS[self.kind]}
        return {name: PARAMETERS[self.kind][name] if value is None else value for name, value in written.items()}

    def line(self) -> dict[str, Any]:
        """As the load engine reads it."""
        return {"kind": self.kind, **self.parameters()}

    def plain(self) -> str | dict[str, Any]:
        """As recordings keep it: the name alone where there are no parameters."""
        return self.line() if PARAMETERS[self.kind] else self.kind


def _named(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


WrittenDistribution = Annotated[DistributionSpec, BeforeValidator(_named)]
"""Written as "zipfian" or as { kind = "zipfian", exponent = 0.9 }."""

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


_CHARACTERS = ("digits", "letters", "hex")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Something in braces in a template.

    Attributes:
        way: `row`, `digits`, `letters`, `hex` or `integer`.
        low: Smallest length or number.
        high: Largest.
    """

    way: str
    low: int = 0
    high: int = 0


_TEMPLATE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_PLACEHOLDER = re.compile(r"(row)|(digits|letters|hex|integer):(\d{1,18})(?:-(\d{1,18}))?")


def template_parts(template: str) -> list[str | Placeholder]:
    """Text and placeholders of a template, in their order.

    Raises:
        ValueError: Something in braces is not known, or a brace stands alone.
    """
    parts: list[str | Placeholder] = []
    at = 0
    for match in _TEMPLATE.finditer(template):
        parts.append(template[at : match.start()])
        at = match.end()
        parts.append(match[0][0] if match[0] in ("{{", "}}") else _placeholder(match[0], match[1]))
    parts.append(template[at:])
    return [part for part in parts if part != ""]


def _placeholder(braces: str, inner: str | None) -> Placeholder:
    read = _PLACEHOLDER.fullmatch(inner) if inner is not None else None
    if read is None:
        raise ValueError(
            f"{braces!r} is not known; {{row}}, {{digits:8}}, {{letters:3-8}}, {{hex:32}} and {{integer:1-100}} are;"
            " write {{ and }} for braces themselves"
        )
    if read[1]:
        return Placeholder("row")
    placeholder = Placeholder(read[2], int(read[3]), int(read[4] or read[3]))
    if placeholder.low > placeholder.high or (read[2] in _CHARACTERS and placeholder.high > LENGTH_MAX):
        raise ValueError(f"{braces!r} must rise, and lengths must be at most {LENGTH_MAX}")
    return placeholder


def _checked_template(template: str) -> str:
    template_parts(template)
    return template


def _number(value: object) -> object:
    if type(value) is not int and not (type(value) is float and math.isfinite(value)):
        raise ValueError(f"must be a number, is {value!r}")
    return value


Number = Annotated[Any, AfterValidator(_number)]
"""A number as it was written, whole or not."""


def _time(value: object) -> object:
    if time_us(value) is None:
        raise ValueError(f"must be a date or a time without zone, such as 2026-01-01T00:00:00, is {value!r}")
    return value


Time = Annotated[Any, AfterValidator(_time)]
"""A date or time as it was written."""

_NO_ROW = "follows the rows of a table, which a value of a statement has not"


class Way(WithLaterKeys):
    """What all ways to make values have in common.

    Attributes:
        null_ratio: So many values are NULL, 0 to 1.
    """

    null_ratio: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0

    def faults(self, *, in_rows: bool) -> Iterator[Fault]:
        """What is wrong between the keys of this way.

        Args:
            in_rows: It fills a column; otherwise it makes values of statements, which have no row to follow.
        """
        misplaced = self._fills_no_column() if in_rows else self._follows_rows()
        if misplaced is not None:
            yield misplaced
        yield from self._contradictions()

    def _follows_rows(self) -> Fault | None:
        """What keeps it from making values of statements; None where nothing does."""
        return None

    def _fills_no_column(self) -> Fault | None:
        """What keeps it from filling columns; None where nothing does."""
        return None

    def _contradictions(self) -> Iterator[Fault]:
        return iter(())


class NumberSequence(Way):
    """Numbers that follow the rows of a table.

    Attributes:
        start: 1 when not given.
        step: From value to value; 1 when not given.
        each: So many rows in turn have the same value; 1 when not given.
        cycle: It begins again after so many values; it never does when not given.
    """

    LATER: ClassVar = frozenset({"each", "cycle"})

    generate: Literal["sequence"]
    start: Whole | None = None
    step: Whole | None = None
    each: Positive | None = None
    cycle: Positive | None = None

    def _follows_rows(self) -> Fault:
        return Fault(("generate",), f"'sequence' {_NO_ROW}")

    def _contradictions(self) -> Iterator[Fault]:
        if self.step == 0:
            yield Fault(("step",), "must not be 0")


class Integer(Way):
    """Whole numbers; both ends are included."""

    generate: Literal["integer"]
    from_: Whole = Field(alias="from")
    to: Whole
    distribution: WrittenDistribution | None = None

    def _contradictions(self) -> Iterator[Fault]:
        if self.from_ > self.to:
            yield Fault(("to",), f"must be at least {self.from_}, is {self.to}")


class Decimal(Way):
    """Numbers with a point; both ends are included.

    Attributes:
        places: Digits after the point; 2 when not given.
    """

    generate: Literal["decimal"]
    from_: Number = Field(alias="from")
    to: Number
    places: Annotated[int, Field(ge=0, le=PLACES_MAX)] | None = None
    distribution: WrittenDistribution | None = None

    @property
    def scale(self) -> int:
        """Digits after the point."""
        return 2 if self.places is None else self.places

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest in units of the last place."""
        unit = 10**self.scale
        return math.ceil(round(self.from_ * unit, 6)), math.floor(round(self.to * unit, 6))

    def _contradictions(self) -> Iterator[Fault]:
        first, last = self.range
        if first > last:
            yield Fault(("to",), f"must be at least {self.from_}, is {self.to}")
        if first not in INT64 or last not in INT64:
            yield Fault(("places",), f"{self.scale} leads to more than 18 digits")


class Characters(Way):
    """Random strings of so many characters, a number or a range."""

    generate: Literal["digits", "letters", "hex"]
    length: LengthRange


class Text(Way):
    """Texts with `{row}`, `{digits:8}`, `{letters:3-8}`, `{hex:32}` or `{integer:1-100}` in a template."""

    generate: Literal["text"]
    template: Annotated[str, AfterValidator(_checked_template)]

    def _follows_rows(self) -> Fault | None:
        has_row = Placeholder("row") in template_parts(self.template)
        return Fault(("template",), f"{{row}} {_NO_ROW}") if has_row else None


class Timestamp(Way):
    """Times of the calendar.

    Attributes:
        from_: The earliest, or that of the first row.
        to: The latest; included.
        every: Distance of a row's time to that of the row before, such as "10s".
    """

    generate: Literal["timestamp"]
    from_: Time = Field(alias="from")
    to: Time | None = None
    every: str | None = None
    distribution: WrittenDistribution | None = None

    def _follows_rows(self) -> Fault | None:
        return None if self.every is None else Fault(("every",), f"{_NO_ROW}; use to")

    def _contradictions(self) -> Iterator[Fault]:
        if (self.to is None) == (self.every is None):
            reason = "must be given, or every (then each row is so much later than the one before), and not both"
            yield Fault(("to",), reason)
        elif self.every is not None:
            if self.distribution is not None:
                yield Fault(("distribution",), "does not belong to every: nothing is drawn")
            try:
                if round(parse_duration_s(self.every) * 1e6) < 1:
                    yield Fault(("every",), f"must be at least a microsecond, is {self.every!r}")
            except SpecError as error:
                yield Fault(("every",), str(error))
        elif (time_us(self.to) or 0) < (time_us(self.from_) or 0):
            yield Fault(("to",), f"must not be before {self.from_}, is {self.to}")


class Choice(Way):
    """One of some values; `weights` says how often each is chosen, relative to the others."""

    generate: Literal["choice"]
    values: list[int | str]
    weights: list[Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = None

    def _contradictions(self) -> Iterator[Fault]:
        values = self.values
        if not 1 <= len(values) <= CHOICES_MAX:
            yield Fault(("values",), f"must be 1 to {CHOICES_MAX}, are {len(values)}")
        elif len({type(value) for value in values}) > 1:
            yield Fault(("values",), "must be all whole numbers or all text; write numbers with a point as text")
        if any(isinstance(value, int) and value not in INT64 for value in values):
            yield Fault(("values",), "must fit 64 bits")
        if self.weights is not None and (len(self.weights) != len(values) or sum(self.weights) <= 0):
            yield Fault(("weights",), f"must be one for each of the {len(values)} values, and not all 0")


class Reference(Way):
    """Values of a column of another table, its primary key when no column is given."""

    LATER: ClassVar = frozenset({"column"})

    generate: Literal["reference"]
    table: str
    column: str | None = None
    distribution: WrittenDistribution | None = None


class Null(Way):
    """Nothing but NULL."""

    generate: Literal["null"]


class CountedKey(Way):
    """A key of a table that grows: of the primary key when no column is given."""

    LATER: ClassVar[frozenset[str]] = frozenset({"column"})

    generate: Any
    table: str
    column: str | None = None

    def _fills_no_column(self) -> Fault:
        return Fault(("generate",), f"{self.generate!r} belongs to values of statements; columns have 'sequence'")

    def _contradictions(self) -> Iterator[Fault]:
        if self.null_ratio > 0:
            yield Fault(("null_ratio",), f"does not belong to {self.generate!r}")


class NextKey(CountedKey):
    """The next key."""

    generate: Literal["next"]


class RecentKey(CountedKey):
    """One of the newest keys, of so many as `within` says."""

    LATER: ClassVar = CountedKey.LATER | {"within"}

    generate: Literal["recent"]
    within: Annotated[int, Field(ge=1, le=2**32 - 1)] | None = None
    distribution: WrittenDistribution | None = None

    def _contradictions(self) -> Iterator[Fault]:
        yield from super()._contradictions()
        if self.distribution is not None and self.distribution.scattered:
            reason = "does not belong to 'recent', whose first rank is the newest key"
            yield Fault(("distribution", "scattered"), reason)


def _tag(written: object) -> str:
    if not isinstance(written, dict):
        return f"({getattr(written, 'generate', '')})"
    return f"({written.get('generate', '')})"


Generator = Annotated[
    Annotated[NumberSequence, Tag("(sequence)")]
    | Annotated[Integer, Tag("(integer)")]
    | Annotated[Decimal, Tag("(decimal)")]
    | Annotated[Characters, Tag("(digits)")]
    | Annotated[Characters, Tag("(letters)")]
    | Annotated[Characters, Tag("(hex)")]
    | Annotated[Text, Tag("(text)")]
    | Annotated[Timestamp, Tag("(timestamp)")]
    | Annotated[Choice, Tag("(choice)")]
    | Annotated[Reference, Tag("(reference)")]
    | Annotated[Null, Tag("(null)")]
    | Annotated[NextKey, Tag("(next)")]
    | Annotated[RecentKey, Tag("(recent)")],
    Discriminator(_tag),
]
"""One way to make values, told by its key `generate`. Tags in parentheses are no part of a fault's path."""

MISPLACED = "(misplaced)"


class GeneratedValue(WithLaterKeys):
    """Something whose values are made: the keys of the way stand among its own.

    Attributes:
        generator: The way; None where a value is no generated one.
        misplaced: Keys of a way that stand there nevertheless.
    """

    INSTEAD: ClassVar[tuple[str, ...]] = ()
    """Its own keys that say something else than a way."""

    generator: Generator | None = Field(default=None, alias=GENERATOR)
    misplaced: tuple[str, ...] = Field(default=(), alias=MISPLACED, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _way_apart(cls, written: object) -> object:
        if not isinstance(written, dict):
            return written
        keys = {field.alias or name for name, field in cls.model_fields.items()} - {GENERATOR, MISPLACED}
        way = {key: value for key, value in written.items() if key not in keys}
        apart = {key: value for key, value in written.items() if key in keys}
        if any(written.get(key) for key in cls.INSTEAD):
            return {**apart, MISPLACED: tuple(way)}
        return {**apart, GENERATOR: way}

    @model_serializer(mode="wrap")
    def _as_written(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that ways had from the beginning are there, whichever the way: so ids of trials stay what they were."""
        fields = self.without_later(serialize(self))
        way = fields.pop(GENERATOR, None) or fields.pop("generator", None) or {}
        return {**dict.fromkeys(_FORMER_KEYS), "null_ratio": 0.0, **way, **fields}


_FORMER_KEYS = (
    *("generate", "start", "step", "from", "to", "every", "places", "length", "template", "values", "weights"),
    *("table", "distribution"),
)

GENERATOR_KEYS = tuple(
    dict.fromkeys(
        field.alias or name
        for tagged in get_args(get_args(Generator)[0])
        for name, field in get_args(tagged)[0].model_fields.items()
    )
)
"""The keys of all ways, as users write them."""


DISTRIBUTIONS: tuple[str, ...] = get_args(DistributionKind)

PARAMETERS: dict[str, dict[str, Any]] = {
    "uniform": {},
    "gaussian": {"draws": 12},
    "special-0.4": {"hot_rows_percent": 1, "hot_accesses_percent": 75, "draws": 12},
    "special-1.0": {"hot_rows_percent": 1, "hot_accesses_percent": 75, "draws": 12},
    "pareto": {"h": 0.2},
    "zipfian": {"exponent": 0.8},
    "hot": {"shares": [], "exponent": 0.0, "scattered": True},
}
"""The parameters of each distribution with sysbench's defaults; `hot` is not one of sysbench's."""

OF_TABLES = tuple(kind for kind in DISTRIBUTIONS if kind != "hot")
"""Those by which the rows of OLTP tables are chosen."""

_SHARES_MAX = 1_000
_ROUNDING = 1e-6


def _of_tables(value: DistributionSpec) -> DistributionSpec:
    if value.kind not in OF_TABLES:
        raise ValueError(f"{value.kind!r} belongs to workload files; here are {', '.join(OF_TABLES)}")
    return value


TableDistribution = Annotated[WrittenDistribution, AfterValidator(_of_tables)]
"""How rows of OLTP tables are chosen."""
