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

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from plimsoll.errors import Fault, SpecError
from plimsoll.spec.fields import Extended
from plimsoll.units import parse_duration_s

LENGTH_MAX = 65_535
"""The longest random string, characters."""

DistributionKind = Literal["uniform", "gaussian", "special-0.4", "special-1.0", "pareto", "zipfian", "hot"]


class DistributionSpec(Extended):
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
        own = PARAMETERS[self.kind]
        for name in type(self).model_fields:
            if name != "kind" and name not in own and getattr(self, name) is not None:
                known = f"its parameters are {', '.join(own)}" if own else "it has no parameters"
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

    def faults(self, *, in_rows: bool) -> Iterator[Fault]:
        """What is wrong, each line behind the name of its key.

        Args:
            in_rows: It fills a column; otherwise it makes values of statements, which have no row to follow.
        """
        if self.generate is None:
            yield Fault(("generate",), f"is missing; one of {', '.join(WAYS)}")
            return
        needed, allowed = WAYS[self.generate]
        keys = {key for way in WAYS.values() for part in way for key in part}
        misplaced = sorted(k for k in keys - {*needed, *allowed} if self.written(k) is not None)
        yield from (Fault((key,), f"does not belong to {self.generate!r}") for key in misplaced)
        missing = [key for key in needed if self.written(key) is None]
        yield from (Fault((key,), f"is missing; {self.generate!r} needs it") for key in missing)
        if not missing:
            yield from self._faults_of_way(in_rows=in_rows)

    def _faults_of_way(self, *, in_rows: bool) -> Iterator[Fault]:
        match self.generate:
            case "sequence" if not in_rows:
                yield Fault(
                    ("generate",), "'sequence' follows the rows of a table, which a value of a statement has not"
                )
            case "next" | "recent":
                yield from self._key_faults(in_rows=in_rows)
            case "sequence" if self.step == 0:
                yield Fault(("step",), "must not be 0")
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

    def _key_faults(self, *, in_rows: bool) -> Iterator[Fault]:
        if in_rows:
            yield Fault(("generate",), f"{self.generate!r} belongs to values of statements; columns have 'sequence'")
        if self.null_ratio > 0:
            yield Fault(("null_ratio",), f"does not belong to {self.generate!r}")
        if self.distribution is not None and self.distribution.scattered:
            yield Fault(
                ("distribution", "scattered"), "does not belong to 'recent', whose first rank is the newest key"
            )

    def _integer_faults(self) -> Iterator[Fault]:
        ends = {"from": self.from_, "to": self.to}
        wrong = {key: end for key, end in ends.items() if type(end) is not int or end not in INT64}
        yield from (Fault((key,), f"must be a whole number of 64 bits, is {end!r}") for key, end in wrong.items())
        if not wrong and self.from_ > self.to:
            yield Fault(("to",), f"must be at least {self.from_}, is {self.to}")

    def _decimal_faults(self) -> Iterator[Fault]:
        ends = {"from": self.from_, "to": self.to}
        wrong = {k: e for k, e in ends.items() if type(e) is not int and not (type(e) is float and math.isfinite(e))}
        yield from (Fault((key,), f"must be a number, is {end!r}") for key, end in wrong.items())
        if wrong:
            return
        first, last = self.decimal_range
        if first > last:
            yield Fault(("to",), f"must be at least {self.from_}, is {self.to}")
        if first not in INT64 or last not in INT64:
            yield Fault(("places",), f"{self.decimal_places} leads to more than 18 digits")

    @property
    def decimal_range(self) -> tuple[int, int]:
        """Smallest and largest decimal in units of the last place."""
        unit = 10**self.decimal_places
        return math.ceil(round(self.from_ * unit, 6)), math.floor(round(self.to * unit, 6))

    @property
    def decimal_places(self) -> int:
        """Digits after the point."""
        return 2 if self.places is None else self.places

    def _time_faults(self, *, in_rows: bool) -> Iterator[Fault]:
        for key in ("from", "to"):
            if (end := self.written(key)) is not None and time_us(end) is None:
                yield Fault((key,), f"must be a date or a time without zone, such as 2026-01-01T00:00:00, is {end!r}")
                return
        if (self.to is None) == (self.every is None):
            yield Fault(
                ("to",), "must be given, or every (then each row is so much later than the one before), and not both"
            )
            return
        if self.every is not None:
            yield from self._every_faults(in_rows=in_rows)
        elif (time_us(self.to) or 0) < (time_us(self.from_) or 0):
            yield Fault(("to",), f"must not be before {self.from_}, is {self.to}")

    def _every_faults(self, *, in_rows: bool) -> Iterator[Fault]:
        if not in_rows:
            yield Fault(("every",), "follows the rows of a table, which a value of a statement has not; use to")
        if self.distribution is not None:
            yield Fault(("distribution",), "does not belong to every: nothing is drawn")
        try:
            if round(parse_duration_s(self.every or "") * 1e6) < 1:
                yield Fault(("every",), f"must be at least a microsecond, is {self.every!r}")
        except SpecError as error:
            yield Fault(("every",), str(error))

    def _choice_faults(self) -> Iterator[Fault]:
        values = self.values or []
        if not 1 <= len(values) <= CHOICES_MAX:
            yield Fault(("values",), f"must be 1 to {CHOICES_MAX}, are {len(values)}")
        elif len({type(value) for value in values}) > 1:
            yield Fault(("values",), "must be all whole numbers or all text; write numbers with a point as text")
        if any(isinstance(value, int) and value not in INT64 for value in values):
            yield Fault(("values",), "must fit 64 bits")
        if self.weights is not None and (len(self.weights) != len(values) or sum(self.weights) <= 0):
            yield Fault(("weights",), f"must be one for each of the {len(values)} values, and not all 0")


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


def _template_faults(template: str, *, in_rows: bool) -> Iterator[Fault]:
    try:
        parts = template_parts(template)
    except ValueError as error:
        yield Fault(("template",), str(error))
        return
    if not in_rows and Placeholder("row") in parts:
        yield Fault(("template",), "{row} follows the rows of a table, which a value of a statement has not")


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
    for found in _TEMPLATE.finditer(template):
        parts.append(template[at : found.start()])
        at = found.end()
        parts.append(found[0][0] if found[0] in ("{{", "}}") else _placeholder(found[0], found[1]))
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
