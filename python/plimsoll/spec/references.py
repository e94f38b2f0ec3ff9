"""What references of a workload file choose from: a column of another table, whose values follow from row numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plimsoll.spec.generator_plan import Keys, keys_of
from plimsoll.spec.generators import GeneratorSpec
from plimsoll.spec.workload_tables import ColumnSpec, TableSpec

Tables = Mapping[str, TableSpec]
"""The tables of a file by name."""


def referred_column(spec: GeneratorSpec, tables: Tables) -> ColumnSpec | None:
    """The column that a reference chooses from; None when there is none, or the generator is no reference."""
    table = tables.get(spec.table or "") if spec.generate == "reference" else None
    if table is None:
        return None
    name = spec.column if spec.column is not None else table.key[0] if len(table.key) == 1 else None
    return table.column_named(name) if name is not None else None


def referred_keys(spec: GeneratorSpec, tables: Tables) -> Keys | None:
    """What a reference chooses from; None when there is nothing, or the generator is no reference."""
    column = referred_column(spec, tables)
    if column is None or [*column.faults(in_rows=True)]:
        return None
    return keys_of(column, tables[spec.table or ""].rows)


def reference_faults(spec: GeneratorSpec, tables: Tables) -> Iterator[str]:
    """What is wrong with a reference that has all its keys, each line behind the name of a key."""
    if spec.generate != "reference":
        return
    table = tables.get(spec.table or "")
    if table is None:
        yield f"table: there is no table {spec.table!r}; known are {', '.join(tables) or 'none'}"
    elif table.rows == 0:
        yield f"table: {spec.table!r} is made without rows, so there is no key to refer to"
    elif spec.column is not None:
        yield from _column_faults(spec, tables)
    elif (column := referred_column(spec, tables)) is None or column.generate != "sequence":
        yield (
            f"table: {spec.table!r} must have one column as primary key, and that a sequence, to be referred to;"
            " otherwise name a column"
        )


def _column_faults(spec: GeneratorSpec, tables: Tables) -> Iterator[str]:
    column, table = referred_column(spec, tables), tables[spec.table or ""]
    if column is None:
        known = ", ".join(one.name for one in table.column)
        yield f"column: there is no column {spec.column!r} in {spec.table!r}; known are {known}"
    elif column.null_ratio > 0:
        yield f"column: {column.name!r} of {spec.table!r} has NULLs, so that not every row can be referred to by it"
    elif not [*column.faults(in_rows=True)] and keys_of(column, table.rows) is None:
        yield (
            f"column: {column.name!r} of {spec.table!r} must be a sequence, or a text with one {{row}} and no other"
            " placeholder, to be referred to"
        )
