"""Foreign keys between the tables of a workload file: what must hold, and the types of the columns on both sides.

Whether each row refers to one that is there is not foreseen: that is found when the key is made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from plimsoll.spec.generator_plan import sql_type
from plimsoll.spec.references import Tables, referred_column, referred_keys
from plimsoll.spec.sql_names import NAME_MAX
from plimsoll.spec.workload_tables import ColumnSpec, ForeignKeySpec, TableSpec


def foreign_key_faults(table: TableSpec, tables: Tables) -> Iterator[str]:
    """What is wrong with the foreign keys of a table, each line behind its path within that."""
    for index, key in enumerate(table.foreign_key):
        yield from (f"foreign_key[{index}].{fault}" for fault in _faults(key, table, tables))


def _faults(key: ForeignKeySpec, table: TableSpec, tables: Tables) -> Iterator[str]:
    referred = tables.get(key.table)
    if referred is None:
        yield f"table: there is no table {key.table!r}; known are {', '.join(tables)}"
        return
    references = _references(key, referred)
    if not references:
        yield f"references: is missing; {key.table!r} has no primary key"
        return
    if len(set(references)) != len(key.columns) or len(set(key.columns)) != len(key.columns):
        yield (
            f"references: {key.table!r} is referred to by {', '.join(references)}, and from here by"
            f" {', '.join(key.columns)}; there must be as many, each once"
        )
        return
    unknown = [name for name in references if referred.column_named(name) is None]
    yield from (f"references: there is no column {name!r} in {key.table!r}" for name in unknown)
    if not unknown and references not in _unique(referred):
        yield (
            f"references: {', '.join(references)} must be the primary key of {key.table!r}, or all columns of a unique"
            " index, in the same order"
        )
    own = [column for name in key.columns if (column := table.column_named(name)) is not None]
    if key.on_delete == "set_null" and (fixed := [column.name for column in own if not column.takes_null]):
        yield f"on_delete: 'set_null' needs columns that take NULL: write nullable = true for {', '.join(fixed)}"
    yield from _type_faults(key, table, referred)


def _references(key: ForeignKeySpec, referred: TableSpec) -> tuple[str, ...]:
    return referred.key if key.references is None else key.references


def _unique(table: TableSpec) -> list[tuple[str, ...]]:
    return [table.key, *(one.columns for one in table.index if one.unique and not any(one.lengths))]


def _type_faults(key: ForeignKeySpec, table: TableSpec, referred: TableSpec) -> Iterator[str]:
    """Of columns with a type: servers want the same kind of number, with the same sign, on both sides."""
    for name, other in zip(key.columns, _references(key, referred), strict=True):
        own, theirs = table.column_named(name), referred.column_named(other)
        if own is None or theirs is None or own.type is None:
            continue
        expected = theirs.type or ("BIGINT" if theirs.generate == "sequence" else None)
        if expected is not None and _family(own.type) != _family(expected):
            yield (
                f"columns: {name} is {own.type}, and {other} of {key.table!r} is {expected}; give both one type, or"
                f" {name} none"
            )


def _family(written: str) -> tuple[str, bool]:
    words = written.upper().replace("(", " ").split()
    name = {"INTEGER": "INT", "CHAR": "VARCHAR", "BINARY": "VARBINARY", "NUMERIC": "DECIMAL"}.get(words[0], words[0])
    return name, "UNSIGNED" in words


def column_type(
    table: TableSpec, column: ColumnSpec, tables: Tables, seen: frozenset[tuple[str, str]] = frozenset()
) -> str:
    """The type of a column without faults: what was written, that of the column it refers to, or what fits its values.

    Args:
        table: Whose column it is.
        column: The column.
        tables: All tables of the file.
        seen: Table and column on the way here: foreign keys may lead back to where they came from.
    """
    if column.type is not None:
        return column.type
    for key in table.foreign_key:
        if column.name in key.columns:
            referred = tables[key.table]
            name = _references(key, referred)[key.columns.index(column.name)]
            other = referred.column_named(name)
            if other is not None and (key.table, name) not in seen:
                return column_type(referred, other, tables, seen | {(table.name, column.name)})
    named = referred_column(column, tables) if column.column is not None else None
    return (named and named.type) or sql_type(column, referred_keys(column, tables))


def foreign_key_plans(table: TableSpec, tables: Tables) -> list[dict[str, Any]]:
    """The foreign keys of a table without faults, in the form that the engine reads."""
    return [
        {
            "name": _name(table.name, number),
            "columns": list(key.columns),
            "table": key.table,
            "references": list(_references(key, tables[key.table])),
            "on_delete": key.on_delete,
        }
        for number, key in enumerate(table.foreign_key, 1)
    ]


def _name(table: str, number: int) -> str:
    """No other constraint of the database may have it; servers take 64 characters."""
    name = f"fk_{table}_{number}"
    if len(name) <= NAME_MAX:
        return name
    digest = hashlib.sha256(table.encode()).hexdigest()[:12]
    return f"fk_{table[:40]}_{digest}_{number}"
