"""The transactions of a workload file as users write them: their statements, loops and values.

Deliberately not here: what must hold between them (`transaction_checks`), and the engine's form (`transaction_plan`).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, PlainValidator, field_validator

from plimsoll.spec.counts import ONCE, Times, times_reader
from plimsoll.spec.fields import DurationS, Extended, Name
from plimsoll.spec.generators import GeneratorSpec, Whole
from plimsoll.spec.sql_names import SqlName, ValueName, a_list
from plimsoll.units import format_ms

PARAMETERS_MAX = 256
ITEMS_MAX = 1_000
REPEAT_MAX = 1_000_000
THINK_S_MAX = 3600.0

Isolation = Literal["read_uncommitted", "read_committed", "repeatable_read", "serializable"]
NoRow = Literal["continue", "skip", "fail"]

_written = PlainSerializer(lambda one: one.plain(), return_type=list[int] | dict[str, list[float]] | dict[str, str])

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


class ValueSpec(GeneratorSpec):
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

    LATER: ClassVar = GeneratorSpec.LATER | {
        "items",
        "sorted",
        "distinct",
        "item_of",
        "row_number",
        "same_as",
        "same_ratio",
    }

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


class StatementSpec(Extended):
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


class TransactionSpec(Extended):
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
