"""A workload file as users write it: tables, statements, and where values come from; all faults at once.

Deliberately not here: what must hold between its parts (`workload_checks`), where files lie (`statements`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, field_validator

from plimsoll.errors import SpecError
from plimsoll.spec.fields import DurationS, Name, Written, faults_of, name_fault
from plimsoll.spec.generators import GeneratorSpec, Whole
from plimsoll.spec.sound_part import Loc, untouched, without
from plimsoll.spec.workload_parameters import filled, overridden
from plimsoll.units import format_ms

PARAMETERS_MAX = 256
REPEAT_MAX = 1_000_000
NAME_MAX = 64
COLUMNS_MAX = 1_000
TABLES_MAX = 10_000
ROWS_MAX = 2**32 - 1
THINK_S_MAX = 3600.0

Isolation = Literal["read_uncommitted", "read_committed", "repeatable_read", "serializable"]
NoRow = Literal["continue", "skip", "fail"]

ValueName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
"""A name as it stands behind the colon in a statement."""


def _plain_name(name: str) -> str:
    """Servers take 64 characters of Unicode's first plane; people must be able to tell names from each other."""
    if fault := name_fault(name):
        raise ValueError(fault)
    if len(name) > NAME_MAX or any(ord(one) > 0xFFFF for one in name):
        raise ValueError(
            f"must be 1 to {NAME_MAX} characters, none beyond U+FFFF, which servers do not take, is {name!r}"
        )
    return name


SqlName = Annotated[str, AfterValidator(_plain_name)]
"""The name of a table, a column or an index; it is quoted, whatever is in it."""

ColumnType = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_ ,()]*$")]
"""A type in SQL, without default, comment or collation clause that would need quotes."""


def _a_list(value: object) -> object:
    """TOML has lists, the models have tuples."""
    return tuple(value) if isinstance(value, list) else value


def _names(value: object) -> object:
    """One name stands for a list of one."""
    return (value,) if isinstance(value, str) else _a_list(value)


SqlNames = Annotated[tuple[SqlName, ...], BeforeValidator(_names), Field(min_length=1)]


def _pair(value: object) -> object:
    return _a_list(value) if isinstance(value, list) else (value, value)


def _rising(value: tuple[float, float]) -> tuple[float, float]:
    if value[0] > value[1]:
        raise ValueError(f"must rise, is {value[0]:g} to {value[1]:g}")
    return value


RepeatCount = Annotated[int, Field(ge=0, le=REPEAT_MAX)]
Repeat = Annotated[tuple[RepeatCount, RepeatCount], BeforeValidator(_pair), AfterValidator(_rising)]
"""Written as 3 or [1, 5]."""

ThinkTime = Annotated[tuple[DurationS, DurationS], BeforeValidator(_pair), AfterValidator(_rising)]
"""Written as "50ms" or ["10ms", "100ms"]; kept in seconds."""


class ColumnSpec(GeneratorSpec):
    """One `[[table.column]]`: its name, and how its values are made.

    Attributes:
        type: Its type in SQL; one that fits the values when not given.
        auto_increment: The server numbers rows that are inserted later.
    """

    name: SqlName
    type: ColumnType | None = None
    auto_increment: bool = False


class IndexSpec(Written):
    """One `[[table.index]]`.

    Attributes:
        name: Made from the columns when not given.
    """

    columns: SqlNames
    unique: bool = False
    name: SqlName | None = None


class TableSpec(Written):
    """One `[[table]]`.

    Attributes:
        primary_key: Its columns; the first column of all when not given.
    """

    name: SqlName
    rows: Annotated[int, Field(ge=0, le=ROWS_MAX)]
    primary_key: SqlNames | None = None
    column: Annotated[tuple[ColumnSpec, ...], BeforeValidator(_a_list), Field(min_length=1)]
    index: Annotated[tuple[IndexSpec, ...], BeforeValidator(_a_list)] = ()

    @property
    def index_names(self) -> tuple[str, ...]:
        """Those of its indexes, in their order; servers take 64 characters of a name."""
        return tuple(one.name or "_".join(one.columns)[:NAME_MAX] for one in self.index)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of its primary key."""
        return self.primary_key or (self.column[0].name,)


class ValueSpec(GeneratorSpec):
    """A value of a statement: generated, or the sum of an earlier one and a constant.

    Attributes:
        sum_of: Name of the earlier value, a whole number.
        add: The constant.
    """

    sum_of: ValueName | None = None
    add: Whole | None = None


Values = dict[ValueName, ValueSpec]


class StatementSpec(Written):
    """One `[[transaction.statement]]`.

    Attributes:
        sql: With `:name` where values go.
        values: Drawn each time before it runs.
        keep: By the name that later statements use: the column of its first row.
        keep_insert_id: The name under which later statements use the AUTO_INCREMENT value that it generated.
        no_row: What happens when it finds no row, or changes none.
        repeat: How often it runs.
    """

    sql: str
    values: Values = Field(default_factory=dict)
    keep: dict[ValueName, SqlName] = Field(default_factory=dict)
    keep_insert_id: ValueName | None = None
    no_row: NoRow | None = None
    repeat: Repeat = (1, 1)

    @property
    def when_no_row(self) -> NoRow:
        """What happens when it finds nothing."""
        return self.no_row or ("skip" if self.keep else "continue")


class TransactionSpec(Written):
    """One `[[transaction]]`.

    Attributes:
        name: Its name in recordings and guides.
        weight: How often it is chosen, relative to the others.
        begin: BEGIN before its statements and COMMIT after them.
        isolation: Its isolation level; the server's own when not given.
        think_time: A connection pauses for so long after it, seconds.
        values: Drawn once, before its first statement.
    """

    name: Name
    weight: Annotated[int, Field(gt=0, le=1_000_000)] = 1
    begin: bool = False
    isolation: Isolation | None = None
    think_time: ThinkTime | None = None
    values: Values = Field(default_factory=dict)
    statement: Annotated[tuple[StatementSpec, ...], BeforeValidator(_a_list), Field(min_length=1)]

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


class WorkloadFile(Written):
    """A whole workload file, its parameters put in.

    Attributes:
        description: What it is for; shown nowhere but in the file.
        prepared: Statements are prepared once for each connection; otherwise they are sent as text.
        parameters: Names for values: `"$name"` anywhere else stands for one.
    """

    description: str | None = None
    prepared: bool = True
    parameters: dict[ValueName, Any] = Field(default_factory=dict)
    table: Annotated[tuple[TableSpec, ...], BeforeValidator(_a_list)] = ()
    transaction: Annotated[tuple[TransactionSpec, ...], BeforeValidator(_a_list), Field(min_length=1)]


_GENERATOR = tuple(field.alias or name for name, field in GeneratorSpec.model_fields.items())
_VALUE = (*_GENERATOR, "sum_of", "add")
_KNOWN = {
    "": tuple(WorkloadFile.model_fields),
    "table": tuple(TableSpec.model_fields),
    "table.column": ("name", "type", "auto_increment", *_GENERATOR),
    "table.index": tuple(IndexSpec.model_fields),
    "transaction": tuple(TransactionSpec.model_fields),
    "transaction.statement": tuple(StatementSpec.model_fields),
}


def parse_workload(
    text: str, *, rows: Mapping[str, int] | None = None, parameters: Mapping[str, Any] | None = None
) -> WorkloadFile:
    """Checks the text of a workload file.

    Args:
        text: All of it.
        rows: By table, another number of rows than the file has.
        parameters: By name, other values than the file has.

    Raises:
        SpecError: All faults at once, one line each.
    """
    from plimsoll.spec.workload_checks import contradictions

    written = _loaded(text)
    faults = [*overridden(written, rows or {}, parameters or {})]
    written, unknown = filled(written)
    faults += unknown
    try:
        file = WorkloadFile.model_validate(written)
    except ValidationError as error:
        explained = {line.split(":")[0] for line in faults}
        found = _without_empty(faults_of(error, known=_KNOWN))
        faults += (line for line in found if line.split(":")[0] not in explained)
        faults += _between_sound_parts(written, [one["loc"] for one in error.errors()])
        raise SpecError(*faults) from None
    faults += contradictions(file)
    if faults:
        raise SpecError(*faults)
    return file


def _between_sound_parts(written: dict[str, Any], locs: list[Loc]) -> Iterator[str]:
    """What else does not hold in a file that is wrong at these places."""
    from plimsoll.spec.workload_checks import contradictions

    try:
        file = WorkloadFile.model_validate(without(written, locs))
    except ValidationError:
        return
    yield from untouched(contradictions(file), written, locs)


def _loaded(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"is not TOML: {error}") from None
    except ValueError as error:  # a number of thousands of digits
        raise SpecError(f"holds a value that cannot be read: {error}") from None
    except RecursionError:
        raise SpecError("is nested too deeply; this is no workload file") from None


def _without_empty(faults: tuple[str, ...]) -> list[str]:
    """Leaves out lists that count as empty only because their items are wrong."""
    inner = {line.split(":")[0].rpartition("[")[0] for line in faults if "[" in line.split(":")[0]}
    return [line for line in faults if not (line.split(":")[0] in inner and "must not be empty" in line)]
