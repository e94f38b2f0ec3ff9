"""The tables of a workload file as users write them: columns and keys.

Deliberately not here: what must hold between them (`table_checks`).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from plimsoll.spec.fields import Extended, Written
from plimsoll.spec.generators import GeneratorSpec
from plimsoll.spec.sql_names import NAME_MAX, SqlName, a_list

COLUMNS_MAX = 1_000
ROWS_MAX = 2**32 - 1
PREFIX_MAX = 3_072
"""Bytes of the longest key of an index; a column's prefix is no longer."""


ColumnType = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_ ,()]*$")]
"""A type in SQL, without default, comment or collation clause that would need quotes."""


def _names(value: object) -> object:
    """One name stands for a list of one."""
    return (value,) if isinstance(value, str) else a_list(value)


SqlNames = Annotated[tuple[SqlName, ...], BeforeValidator(_names), Field(min_length=1)]

KeyNames = Annotated[tuple[SqlName, ...], BeforeValidator(_names)]
"""As `SqlNames`, or none at all."""

PrefixLength = Annotated[int, Field(ge=0, le=PREFIX_MAX)]

OnDelete = Literal["restrict", "cascade", "set_null"]


class ColumnSpec(GeneratorSpec):
    """One `[[table.column]]`: its name, and how its values are made.

    Attributes:
        type: Its type in SQL; one that fits the values when not given.
        auto_increment: The server numbers rows that are inserted later.
        nullable: It takes NULL, also where none is made.
    """

    LATER: ClassVar[frozenset[str]] = GeneratorSpec.LATER | {"nullable"}

    name: SqlName
    type: ColumnType | None = None
    auto_increment: bool = False
    nullable: bool = False

    @property
    def takes_null(self) -> bool:
        """Whether a row may have NULL there."""
        return self.nullable or self.null_ratio > 0 or self.generate == "null"


class IndexSpec(Extended):
    """One `[[table.index]]`.

    Attributes:
        name: Made from the columns when not given.
        lengths: For each column, how many of its first characters (of a BLOB, bytes) are indexed; 0 for all.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"lengths"})

    columns: SqlNames
    unique: bool = False
    name: SqlName | None = None
    lengths: Annotated[tuple[PrefixLength, ...], BeforeValidator(a_list)] = ()


class ForeignKeySpec(Written):
    """One `[[table.foreign_key]]`.

    Attributes:
        columns: Of this table.
        table: The table that they refer to; may be this one.
        references: Its columns, one for each; its primary key when not given.
        on_delete: What happens to rows when the row that they refer to is deleted.
    """

    columns: SqlNames
    table: SqlName
    references: SqlNames | None = None
    on_delete: OnDelete = "restrict"


class TableSpec(Extended):
    """One `[[table]]`.

    Attributes:
        primary_key: Its columns; the first column of all when not given, and no key at all when empty.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"foreign_key"})

    name: SqlName
    rows: Annotated[int, Field(ge=0, le=ROWS_MAX)]
    primary_key: KeyNames | None = None
    column: Annotated[tuple[ColumnSpec, ...], BeforeValidator(a_list), Field(min_length=1)]
    index: Annotated[tuple[IndexSpec, ...], BeforeValidator(a_list)] = ()
    foreign_key: Annotated[tuple[ForeignKeySpec, ...], BeforeValidator(a_list)] = ()

    @property
    def index_names(self) -> tuple[str, ...]:
        """Those of its indexes, in their order; servers take 64 characters of a name."""
        return tuple(one.name or "_".join(one.columns)[:NAME_MAX] for one in self.index)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of its primary key."""
        return (self.column[0].name,) if self.primary_key is None else self.primary_key

    def column_named(self, name: str) -> ColumnSpec | None:
        """A column; None when there is none of this name."""
        return next((column for column in self.column if column.name == name), None)
