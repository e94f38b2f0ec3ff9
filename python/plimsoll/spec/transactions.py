"""The transactions of a workload file as users write them: their statements, loops, counts and values.

Counts are drawn, or those of the items of a list. SQL has `:name` where values go, and becomes SQL with `?`, as servers
prepare it. Statements with rows or lists have one text for each combination of how many rows and items there are: `IN
(:ids)` becomes `IN (?, ?, ?)`, and the one group behind VALUES is repeated. Texts are scanned, not parsed: quoted text,
quoted names and comments are passed over. Deliberately not here: what must hold between the parts of a transaction
(`workload_file`), and the engine's form (`workloads`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, PlainValidator, field_validator

from plimsoll.errors import Fault
from plimsoll.spec.fields import DurationS, Name, SqlName, ValueName, WithLaterKeys, a_list
from plimsoll.spec.generators import GeneratedValue, Whole
from plimsoll.units import format_ms

COUNTS_MAX = 1_000
"""Most numbers with weights of their own."""


@dataclass(frozen=True, slots=True)
class Counts:
    """A whole number that is drawn.

    Attributes:
        low: The smallest.
        high: The largest.
        weights: By number, rising, how often each is drawn relative to the others; empty where each from the smallest
            to the largest is equally likely.
    """

    low: int
    high: int
    weights: tuple[tuple[int, float], ...] = ()

    @property
    def choices(self) -> int:
        """How many numbers there are."""
        return len(self.weights) or self.high - self.low + 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them, rising."""
        return tuple(number for number, _ in self.weights) or tuple(range(self.low, self.high + 1))

    def line(self) -> dict[str, Any]:
        """As the load engine reads it."""
        if not self.weights:
            return {"range": {"min": self.low, "max": self.high}}
        return {"weighted": {"counts": list(self.numbers), "weights": [weight for _, weight in self.weights]}}

    def plain(self) -> list[int] | dict[str, list[Any]]:
        """As recordings keep it."""
        return self.line()["weighted"] if self.weights else [self.low, self.high]


ONCE = Counts(1, 1)


@dataclass(frozen=True, slots=True)
class ItemsOf:
    """As many as a list of the transaction has items.

    Attributes:
        items_of: The list.
    """

    items_of: str

    def line(self) -> dict[str, Any]:
        """As the load engine reads it."""
        return {"items_of": self.items_of}

    def plain(self) -> dict[str, Any]:
        """As recordings keep it."""
        return self.line()


Times = Counts | ItemsOf
"""How often something runs, or how many rows there are."""


def times_reader(least: int, most: int) -> Callable[[object], Times]:
    """What reads the same as `counts_reader`, or { items_of = "list" }.

    >>> times_reader(0, 9)({"items_of": "ids"})
    ItemsOf(items_of='ids')
    """
    drawn = counts_reader(least, most)

    def read(value: object) -> Times:
        if isinstance(value, ItemsOf):
            return value
        if not isinstance(value, Mapping) or "items_of" not in value:
            return drawn(value)
        if unknown := sorted(set(value) - {"items_of"}):
            raise ValueError(f"{unknown[0]!r} does not belong to items_of")
        if not isinstance(value["items_of"], str):
            raise ValueError(f"items_of must be the name of a list, is {value['items_of']!r:.80}")
        return ItemsOf(value["items_of"])

    return read


def counts_reader(least: int, most: int) -> Callable[[object], Counts]:
    """What reads numbers within `least..=most`, written as 3, [1, 5] or { counts = [5, 6], weights = [1, 2] }.

    >>> counts_reader(0, 9)([1, 5])
    Counts(low=1, high=5, weights=())
    """

    def read(value: object) -> Counts:
        if isinstance(value, Counts):
            return value
        if isinstance(value, Mapping):
            return _weighted(value, least, most)
        ends = value if isinstance(value, list | tuple) else [value, value]
        if len(ends) != 2:
            raise ValueError(f"must be a whole number, or [smallest, largest], is {value!r:.80}")
        low, high = (_whole(end, least, most) for end in ends)
        if low > high:
            raise ValueError(f"must rise, is {low} to {high}")
        return Counts(low, high)

    return read


def _weighted(value: Mapping[str, object], least: int, most: int) -> Counts:
    if unknown := sorted(set(value) - {"counts", "weights"}):
        raise ValueError(f"{unknown[0]!r} is not a known key; known are counts, weights")
    counts, weights = value.get("counts"), value.get("weights")
    if not isinstance(counts, list) or not 1 <= len(counts) <= COUNTS_MAX:
        raise ValueError(f"counts must be a list of 1 to {COUNTS_MAX} whole numbers, is {counts!r:.80}")
    numbers = [_whole(count, least, most) for count in counts]
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"counts must be different numbers, are {counts!r:.80}")
    weights = [1.0] * len(numbers) if weights is None else weights
    if not isinstance(weights, list) or len(weights) != len(numbers):
        raise ValueError(f"weights must be one for each of the {len(numbers)} counts, are {weights!r:.80}")
    sound = all(type(weight) in (int, float) and 0 <= weight < math.inf for weight in weights)
    if not sound or not 0 < sum(weights) < math.inf:
        raise ValueError(f"weights must be 0 or more, and not all 0, are {weights!r:.80}")
    pairs = sorted((number, float(weight)) for number, weight in zip(numbers, weights, strict=True))
    return Counts(pairs[0][0], pairs[-1][0], tuple(pairs))


def _whole(value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"must be a whole number within {least}..={most}, is {value!r:.80}")
    return value


PARAMETERS_MAX = 256
ITEMS_MAX = 1_000
REPEAT_MAX = 1_000_000
THINK_S_MAX = 3600.0

Isolation = Literal["read_uncommitted", "read_committed", "repeatable_read", "serializable"]
NoRow = Literal["continue", "skip", "fail"]

_written = PlainSerializer(lambda times: times.plain(), return_type=list[int] | dict[str, list[float]] | dict[str, str])

Repeat = Annotated[Times, PlainValidator(times_reader(0, REPEAT_MAX)), _written]
"""Written as 3, [1, 5], { counts = [5, 6], weights = [1, 2] } or { items_of = "list" }."""

Items = Annotated[Times, PlainValidator(times_reader(1, ITEMS_MAX)), _written]
"""The same, for what there is at least one of."""


def _pair(value: object) -> object:
    return a_list(value) if isinstance(value, list) else (value, value)


def _rising(value: tuple[float, float]) -> tuple[float, float]:
    if value[0] > value[1]:
        raise ValueError(f"must rise, is {value[0]:g} to {value[1]:g}")
    return value


ThinkTime = Annotated[tuple[DurationS, DurationS], BeforeValidator(_pair), AfterValidator(_rising)]
"""Written as "50ms" or ["10ms", "100ms"]; kept in seconds."""


class ValueSpec(GeneratedValue):
    """A value of a statement: generated, an item of a list, or the sum of an earlier one and a constant.

    Attributes:
        sum_of: Name of the earlier value, a whole number.
        add: The constant.
        items: It is a list of so many values, each generated.
        sorted: The items of the list rise.
        distinct: No two items of the list are the same.
        item_of: It is an item of this list of the transaction: the next in each row, repetition or round of a loop.
        row_number: It is the number of the row in its statement, from 1.
        same_as: Name of an earlier value, which it is in a share of its draws; of a list, another list.
        same_ratio: That share, above 0 and below 1.
    """

    LATER: ClassVar = frozenset({"items", "sorted", "distinct", "item_of", "row_number", "same_as", "same_ratio"})
    INSTEAD: ClassVar = ("sum_of", "item_of", "row_number")

    sum_of: ValueName | None = None
    add: Whole | None = None
    items: Items | None = Field(default=None, alias="list")
    sorted: bool = False
    distinct: bool = False
    item_of: ValueName | None = None
    row_number: bool = False
    same_as: ValueName | None = None
    same_ratio: Annotated[float, Field(gt=0, lt=1)] | None = None


Values = dict[ValueName, ValueSpec]


class StatementSpec(WithLaterKeys):
    """One `[[transaction.statement]]`.

    Attributes:
        sql: With `:name` where values go; several statements with the same values where `by` chooses one.
        by: The value that says which of them runs, an integer from 1.
        values: Drawn each time before it runs.
        keep: By the name that later statements use: the column of its first row.
        keep_insert_id: The name under which later statements use the AUTO_INCREMENT value that it generated.
        no_row: What happens when it finds no row, or changes none.
        repeat: How often it runs.
        loop: The name of the loop that it belongs to.
        rows: How often its group behind VALUES is there, each time with values of its own.
    """

    LATER: ClassVar = frozenset({"loop", "rows", "by"})

    sql: Annotated[str | tuple[str, ...], BeforeValidator(a_list)]
    by: ValueName | None = None
    values: Values = Field(default_factory=dict)
    keep: dict[ValueName, SqlName] = Field(default_factory=dict)
    keep_insert_id: ValueName | None = None
    no_row: NoRow | None = None
    repeat: Repeat = ONCE
    loop: ValueName | None = None
    rows: Items | None = None

    @property
    def is_several(self) -> bool:
        """Whether it may run several times in a transaction, or have several rows."""
        return self.loop is not None or self.rows is not None or self.repeat != ONCE

    @property
    def texts(self) -> tuple[str, ...]:
        """Its text, or those of the statements of which one runs."""
        return (self.sql,) if isinstance(self.sql, str) else self.sql

    @property
    def when_no_row(self) -> NoRow:
        """What happens when it finds nothing."""
        return self.no_row or ("skip" if self.keep else "continue")


class TransactionSpec(WithLaterKeys):
    """One `[[transaction]]`.

    Attributes:
        name: Its name in recordings and guides.
        weight: How often it is chosen, relative to the others.
        begin: BEGIN before its statements and COMMIT after them.
        on_source: It runs on the source, also where it only reads and there are replicas.
        isolation: Its isolation level; the server's own when not given.
        think_time: A connection pauses for so long after it, seconds.
        rollback_ratio: So many end by ROLLBACK instead of COMMIT, 0 to 1.
        values: Drawn once, before its first statement.
        loops: By name, how often the statements of a loop run.
    """

    LATER: ClassVar = frozenset({"rollback_ratio", "loops"})

    name: Name
    weight: Annotated[int, Field(gt=0, le=1_000_000)] = 1
    begin: bool = False
    on_source: bool = False
    isolation: Isolation | None = None
    think_time: ThinkTime | None = None
    rollback_ratio: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    values: Values = Field(default_factory=dict)
    loops: dict[ValueName, Repeat] = Field(default_factory=dict)
    statement: Annotated[tuple[StatementSpec, ...], BeforeValidator(a_list), Field(min_length=1)]

    @property
    def pause(self) -> str | None:
        """How long a connection pauses after it, in words; None when it goes on at once."""
        if self.think_time is None or self.think_time[1] == 0:
            return None
        return " to ".join(dict.fromkeys(format_ms(seconds * 1e3) for seconds in self.think_time))

    @field_validator("think_time")
    @classmethod
    def _not_for_ever(cls, value: tuple[float, float] | None) -> tuple[float, float] | None:
        if value is not None and value[1] > THINK_S_MAX:
            raise ValueError(f'must be at most "1h", is {value[1]:g} s')
        return value


_TOKEN = re.compile(
    r"""
      '(?:[^'\\]|''|\\.)*'              # text
    | "(?:[^"\\]|""|\\.)*"              # text, or a name under ANSI_QUOTES
    | `(?:[^`]|``)*`                    # a name
    | (?:--[ \t]|\#)[^\n]*              # a comment to the end of the line
    | --(?=\n|$)
    | /\*.*?\*/                         # a comment
    | :(?P<name>[A-Za-z_][A-Za-z0-9_]*) # a value
    | :=|::                             # an assignment
    | .
    """,
    re.VERBOSE | re.DOTALL,
)

_CONTROL = frozenset({"BEGIN", "START", "COMMIT", "ROLLBACK", "XA", "PREPARE", "EXECUTE", "DEALLOCATE"})


@dataclass(frozen=True, slots=True)
class SqlText:
    """A statement.

    Attributes:
        sql: With `?` where values go.
        names: The values in the order of the question marks; one may be there several times.
    """

    sql: str
    names: tuple[str, ...]

    @property
    def first_word(self) -> str:
        """The word that says what it does, in upper case."""
        match = re.search(r"[A-Za-z]+", re.sub(r"/\*.*?\*/|(--[ \t]|#)[^\n]*", " ", self.sql, flags=re.DOTALL))
        return match[0].upper() if match else ""

    @property
    def writes(self) -> bool:
        """Whether it may change rows: all that is not plainly a query counts as if it did."""
        return self.first_word not in ("SELECT", "SHOW", "DO", "SET")


def read_sql(text: str) -> SqlText:
    """Reads a statement.

    Raises:
        ValueError: It cannot be prepared: it holds a `?`, or begins or ends a transaction by itself.

    >>> read_sql("SELECT ':no', a FROM t WHERE b = :b AND c > :b")
    SqlText(sql="SELECT ':no', a FROM t WHERE b = ? AND c > ?", names=('b', 'b'))
    """
    if "?" in text:
        raise ValueError("must not hold a `?`, not even quoted; write :name and give the value under values")
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    names: list[str] = []
    pieces: list[str] = []
    for token in _TOKEN.finditer(text.strip().rstrip(";")):
        if name := token["name"]:
            names.append(name)
        pieces.append("?" if token["name"] else token[0])
    read = SqlText("".join(pieces), tuple(names))
    if not read.first_word:
        raise ValueError("must not be empty")
    if read.first_word in _CONTROL:
        raise ValueError(f"must not be {read.first_word}; write begin = true for a transaction with several statements")
    return read


def masked(sql: str) -> str:
    """A statement in which what is quoted, and comments, are dots: as long as it, and nothing in it stands for more.

    >>> masked("SELECT 'VALUES (' /* ( */, `a(`")
    'SELECT .......... ......., ....'
    """
    return "".join(
        token[0] if len(token[0]) == 1 or token["name"] else "." * len(token[0]) for token in _TOKEN.finditer(sql)
    )


VARIANTS_MAX = 64
EXPANDED_MAX = 65_535
"""As many values as the protocol can number."""

_VALUES = re.compile(r"\bVALUES?\s*(?=\()", re.IGNORECASE)
_ON_DUPLICATE = re.compile(r"\bON\s+DUPLICATE\b", re.IGNORECASE)
_IN_BEFORE = re.compile(r"\bIN\s*\(\s*$", re.IGNORECASE)
_IN_BEHIND = re.compile(r"\s*\)")


@dataclass(frozen=True, slots=True)
class Group:
    """The group in parentheses behind VALUES.

    Attributes:
        begin: Where it begins in the text, its parenthesis included.
        end: Where it ends.
        first: The position of its first value among all of the statement.
        count: How many values it has.
    """

    begin: int
    end: int
    first: int
    count: int


def group_of(sql: SqlText) -> Group | None:
    """The one group behind VALUES of an INSERT or REPLACE; None where there is none, or more than one."""
    text = _ON_DUPLICATE.split(masked(sql.sql))[0]
    match = _VALUES.search(text)
    if sql.first_word not in ("INSERT", "REPLACE") or match is None:
        return None
    depth = 0
    for at in range(match.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            if text[at + 1 :].lstrip().startswith(","):
                return None
            first, count = text[: match.end()].count("?"), text[match.end() : at].count("?")
            return Group(match.end(), at + 1, first, count)
    return None


@dataclass(frozen=True, slots=True)
class Lists:
    """Values that are lists, and how many items they have.

    Attributes:
        known: Those that a statement can name.
        of_transaction: Those that are drawn before the first statement.
    """

    known: Mapping[str, Counts] = field(default_factory=dict)
    of_transaction: Mapping[str, Counts] = field(default_factory=dict)

    def after(self, name: str, value: ValueSpec, *, is_first: bool = False) -> Lists:
        """The same once this value was drawn, too.

        Args:
            name: What it is called.
            value: The value.
            is_first: It is drawn before the first statement.
        """
        counts = None if value.items is None else self.counts(value.items)
        added = {} if counts is None else {name: counts}
        others = {other: other_counts for other, other_counts in self.known.items() if other != name}
        return Lists(others | added, {**self.of_transaction, **added} if is_first else self.of_transaction)

    def counts(self, times: Times) -> Counts | None:
        """The numbers that there may be; None where a list that is not there says them."""
        return self.of_transaction.get(times.items_of) if isinstance(times, ItemsOf) else times


def lists_of(values: Values) -> Lists:
    """The lists that are drawn before the first statement."""
    lists = Lists()
    for name, value in values.items():
        lists = lists.after(name, value, is_first=True)
    return lists


def variants(spec: StatementSpec, sql: SqlText, lists: Lists) -> list[str]:
    """The texts of a statement without faults; none where it has neither rows nor lists.

    Args:
        spec: The statement.
        sql: Its text.
        lists: Those that are known to it.
    """
    drawn = _drawn(spec, sql, lists)
    if not drawn:
        return []
    group = group_of(sql) if spec.rows is not None else None
    combinations = product(*(counts.numbers for counts in drawn.values()))
    return [_text(sql, group, dict(zip(drawn, numbers, strict=True))) for numbers in combinations]


def variant_faults(spec: StatementSpec, sql: SqlText, lists: Lists) -> Iterator[Fault]:
    """What is wrong with the rows and lists of a statement, each line behind the name of its key."""
    drawn, rows = _drawn(spec, sql, lists), _rows(spec, lists)
    if not drawn:
        return
    group = group_of(sql)
    if rows is not None:
        if group is None:
            yield Fault(
                ("rows",), "belongs to an INSERT or REPLACE with one group behind VALUES, such as VALUES (:a, :b)"
            )
            return
        yield from _row_faults(spec, sql, group)
    yield from _place_faults(sql, lists.known)
    count = math.prod(counts.choices for counts in drawn.values())
    if count > VARIANTS_MAX:
        cure = "write { counts = […], weights = […] } with fewer"
        yield Fault(("sql",), f"has {count} lengths of its rows and lists, at most {VARIANTS_MAX} are possible; {cure}")
    longest = {name: counts.high for name, counts in drawn.items()}
    size = sum(longest.get(name, 1) for name in sql.names)
    if group is not None and rows is not None:
        size += (rows.high - 1) * group.count
    if size > EXPANDED_MAX:
        yield Fault(
            ("sql",), f"has up to {size} values with all its rows and items, at most {EXPANDED_MAX} are possible"
        )


def _rows(spec: StatementSpec, lists: Lists) -> Counts | None:
    return None if spec.rows is None else lists.counts(spec.rows)


def _drawn(spec: StatementSpec, sql: SqlText, lists: Lists) -> dict[str, Counts]:
    """What lengths follow from: its rows under the name "", then lists as they come."""
    count = _rows(spec, lists)
    rows = {} if count is None else {"": count}
    return rows | {name: lists.known[name] for name in sql.names if name in lists.known}


def _row_faults(spec: StatementSpec, sql: SqlText, group: Group) -> Iterator[Fault]:
    inside = set(sql.names[group.first : group.first + group.count])
    outside = {*sql.names[: group.first], *sql.names[group.first + group.count :]}
    for name, value in spec.values.items():
        if value.items is not None:
            cure = "give the list to the transaction"
            yield Fault(("values", name, "list"), f"the values of a statement with rows are drawn for each row; {cure}")
        if name in outside:
            yield Fault(
                ("values", name), "is drawn for each row, so it cannot stand outside of the group behind VALUES"
            )
    if not inside & spec.values.keys():
        yield Fault(
            ("rows",), "none of the statement's values stands in its group behind VALUES, so all rows would be the same"
        )


def _place_faults(sql: SqlText, lists: Mapping[str, Counts]) -> Iterator[Fault]:
    text = masked(sql.sql)
    marks = [match.start() for match in re.finditer(r"\?", text)]
    for name, at in zip(sql.names, marks, strict=True):
        if name in lists and not (_IN_BEFORE.search(text[:at]) and _IN_BEHIND.match(text[at + 1 :])):
            yield Fault(("sql",), f":{name} is a list, which must stand as IN (:{name})")


def _text(sql: SqlText, group: Group | None, numbers: Mapping[str, int]) -> str:
    names = iter(sql.names)

    def expanded(part: str) -> str:
        return re.sub(r"\?", lambda _: ", ".join("?" * numbers.get(next(names), 1)), part)

    if group is None:
        return expanded(sql.sql)
    before, row = expanded(sql.sql[: group.begin]), expanded(sql.sql[group.begin : group.end])
    return before + ", ".join([row] * numbers[""]) + expanded(sql.sql[group.end :])
