"""What must hold within a table of a workload file and between it and others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from plimsoll.spec.foreign_keys import foreign_key_faults
from plimsoll.spec.generator_reach import reach_faults
from plimsoll.spec.references import Tables, reference_faults
from plimsoll.spec.unique_keys import unique_faults
from plimsoll.spec.workload_tables import COLUMNS_MAX, ColumnSpec, IndexSpec, TableSpec


def repeated(path: str, names: Iterable[str]) -> Iterator[str]:
    """Names that are there more than once; servers take those that differ in upper and lower case for the same."""
    for name, count in Counter(name.lower() for name in names).items():
        if count > 1:
            yield f"{path}: the name {name!r} is used {count} times; give each its own"


def table_faults(table: TableSpec, tables: Tables) -> Iterator[str]:
    """What is wrong with a table, each line behind its path within that."""
    found = [*_faults_of_parts(table, tables)]
    yield from found
    if not found:
        yield from unique_faults(table, tables)


def _faults_of_parts(table: TableSpec, tables: Tables) -> Iterator[str]:
    columns = [column.name for column in table.column]
    yield from repeated("column", (column.name for column in table.column))
    if len(columns) > COLUMNS_MAX:
        yield f"column: must be at most {COLUMNS_MAX}, are {len(columns)}"
    yield from repeated("index", table.index_names)
    for index, name in enumerate(table.index_names):
        if name.lower() == "primary":
            yield f"index[{index}].name: must not be {name!r}, which is the primary key's; choose another"
    lists = [("primary_key", table.key), *((f"index[{i}].columns", one.columns) for i, one in enumerate(table.index))]
    lists += [(f"foreign_key[{i}].columns", one.columns) for i, one in enumerate(table.foreign_key)]
    for place, names in lists:
        yield from repeated(place, names)
        unknown = [name for name in names if name not in columns]
        yield from (f"{place}: there is no column {name!r}; known are {', '.join(columns)}" for name in unknown)
    for index, one in enumerate(table.index):
        yield from (f"index[{index}].lengths: {fault}" for fault in _length_faults(one, table))
    yield from foreign_key_faults(table, tables)
    for index, column in enumerate(table.column):
        yield from (f"column[{index}].{fault}" for fault in _column_faults(column, table, tables))


def _column_faults(column: ColumnSpec, table: TableSpec, tables: Tables) -> Iterator[str]:
    found = list(column.faults(in_rows=True))
    yield from found
    if not found:
        yield from reference_faults(column, tables)
        yield from reach_faults(column, table.rows)
    if column.generate == "null" and column.type is None:
        yield "type: is missing; NULL alone tells no type"
    if column.name in table.key and column.nullable:
        yield "nullable: is true, but the column belongs to the primary key, which has no NULL"
    if column.name in table.key and (column.null_ratio > 0 or column.generate == "null"):
        yield f"null_ratio: is {column.null_ratio:g}, but the column belongs to the primary key, which has no NULL"
    rising = column.generate == "sequence" and (column.start or 1) > 0 and (column.step or 1) > 0
    is_plain = column.each in (None, 1) and column.cycle is None
    if column.auto_increment and not (rising and is_plain and column.name == (*table.key, None)[0]):
        yield (
            "auto_increment: belongs to a rising sequence from 1 or more, without each and cycle, that is first in the"
            " primary key"
        )


def _length_faults(index: IndexSpec, table: TableSpec) -> Iterator[str]:
    if index.lengths and len(index.lengths) != len(index.columns):
        count = len(index.columns)
        yield f"must be one for each of the {count} columns, are {len(index.lengths)}; 0 stands for all of a column"
        return
    for name, length in zip(index.columns, index.lengths, strict=False):
        column = table.column_named(name)
        if length > 0 and column is not None and not _is_text(column):
            yield f"{length} is for texts, and {name} is {column.type or 'a number or time'}; write 0"


def _is_text(column: ColumnSpec) -> bool:
    """Whether servers index the beginning of its values: of texts and bytes they do."""
    if column.type is not None:
        return column.type.upper().replace("(", " ").split()[0].endswith(("CHAR", "TEXT", "BLOB", "BINARY"))
    return column.generate in ("digits", "letters", "hex", "text", "choice", "reference", None)
