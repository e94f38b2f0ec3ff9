"""What must hold between the parts of a workload file: names that are used exist, values come before their use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from plimsoll.spec.generator_reach import reach_faults
from plimsoll.spec.generators import GeneratorSpec
from plimsoll.spec.sql_text import SqlText, read_sql
from plimsoll.spec.workload_file import (
    COLUMNS_MAX,
    PARAMETERS_MAX,
    TABLES_MAX,
    ColumnSpec,
    StatementSpec,
    TableSpec,
    TransactionSpec,
    Values,
    ValueSpec,
    WorkloadFile,
)


def contradictions(file: WorkloadFile) -> Iterator[str]:
    """All faults, each with its path, value and cure."""
    tables = {table.name: table for table in file.table}
    if len(file.table) > TABLES_MAX:
        yield f"table: must be at most {TABLES_MAX}, are {len(file.table)}"
    yield from _repeated("table", (table.name for table in file.table))
    yield from _repeated("transaction", (one.name for one in file.transaction))
    for index, table in enumerate(file.table):
        yield from (f"table[{index}].{fault}" for fault in _table_faults(table, tables))
    for index, transaction in enumerate(file.transaction):
        yield from (f"transaction[{index}].{fault}" for fault in _TransactionCheck(transaction, tables).faults())


def _repeated(path: str, names: Iterable[str]) -> Iterator[str]:
    """Servers take names that differ in upper and lower case for the same."""
    for name, count in Counter(name.lower() for name in names).items():
        if count > 1:
            yield f"{path}: the name {name!r} is used {count} times; give each its own"


def _table_faults(table: TableSpec, tables: dict[str, TableSpec]) -> Iterator[str]:
    columns = [column.name for column in table.column]
    yield from _repeated("column", (column.name for column in table.column))
    if len(columns) > COLUMNS_MAX:
        yield f"column: must be at most {COLUMNS_MAX}, are {len(columns)}"
    yield from _repeated("index", table.index_names)
    for index, name in enumerate(table.index_names):
        if name.lower() == "primary":
            yield f"index[{index}].name: must not be {name!r}, which is the primary key's; choose another"
    lists = [("primary_key", table.key), *((f"index[{i}].columns", one.columns) for i, one in enumerate(table.index))]
    for place, names in lists:
        yield from _repeated(place, names)
        unknown = [name for name in names if name not in columns]
        yield from (f"{place}: there is no column {name!r}; known are {', '.join(columns)}" for name in unknown)
    for index, column in enumerate(table.column):
        yield from (f"column[{index}].{fault}" for fault in _column_faults(column, table, tables))


def _column_faults(column: ColumnSpec, table: TableSpec, tables: dict[str, TableSpec]) -> Iterator[str]:
    found = list(column.faults(in_rows=True))
    yield from found
    if not found:
        yield from _reference_faults(column, tables)
        yield from reach_faults(column, table.rows)
    if column.generate == "null" and column.type is None:
        yield "type: is missing; NULL alone tells no type"
    if column.name in table.key and (column.null_ratio > 0 or column.generate == "null"):
        yield f"null_ratio: is {column.null_ratio:g}, but the column belongs to the primary key, which has no NULL"
    rising = column.generate == "sequence" and (column.start or 1) > 0 and (column.step or 1) > 0
    if column.auto_increment and not (rising and column.name == table.key[0]):
        yield "auto_increment: belongs to a rising sequence from 1 or more that is first in the primary key"


def _reference_faults(spec: GeneratorSpec, tables: dict[str, TableSpec]) -> Iterator[str]:
    if spec.generate != "reference":
        return
    table = tables.get(spec.table or "")
    if table is None:
        yield f"table: there is no table {spec.table!r}; known are {', '.join(tables) or 'none'}"
    elif table.rows == 0:
        yield f"table: {spec.table!r} is made without rows, so there is no key to refer to"
    elif key_column(table) is None:
        yield f"table: {spec.table!r} must have one column as primary key, and that a sequence, to be referred to"


def key_column(table: TableSpec) -> ColumnSpec | None:
    """The column whose values a reference chooses from."""
    found = next((column for column in table.column if (column.name,) == table.key), None)
    return found if found is not None and found.generate == "sequence" else None


class _TransactionCheck:
    """One transaction: values are known from where they are made on."""

    def __init__(self, transaction: TransactionSpec, tables: dict[str, TableSpec]) -> None:
        self._transaction, self._tables = transaction, tables
        self._known: set[str] = set()
        self._used: set[str] = set()

    def faults(self) -> Iterator[str]:
        """All of them; what is made and never used comes last."""
        transaction = self._transaction
        if transaction.isolation is not None and not transaction.begin:
            yield "isolation: belongs to a transaction with begin = true"
        yield from self._values("values", transaction.values)
        for index, statement in enumerate(transaction.statement):
            yield from self._statement(f"statement[{index}]", statement)
        yield from (f"{path}: is used by no statement" for path, name in self._made() if name not in self._used)

    def _made(self) -> Iterator[tuple[str, str]]:
        yield from ((f"values.{name}", name) for name in self._transaction.values)
        for index, statement in enumerate(self._transaction.statement):
            place = f"statement[{index}]"
            yield from ((f"{place}.values.{name}", name) for name in statement.values)
            yield from ((f"{place}.keep.{name}", name) for name in statement.keep)
            if statement.keep_insert_id:
                yield f"{place}.keep_insert_id", statement.keep_insert_id

    def _statement(self, place: str, statement: StatementSpec) -> Iterator[str]:
        yield from self._values(f"{place}.values", statement.values)
        try:
            sql = read_sql(statement.sql)
        except ValueError as error:
            yield f"{place}.sql: {error}, is {statement.sql[:60]!r}"
        else:
            yield from self._sql(f"{place}.sql", sql)
        self._known |= statement.keep.keys()
        if statement.keep_insert_id:
            self._known.add(statement.keep_insert_id)

    def _sql(self, place: str, sql: SqlText) -> Iterator[str]:
        self._used.update(sql.names)
        for name in dict.fromkeys(sql.names):
            if name not in self._known:
                known = ", ".join(f":{one}" for one in sorted(self._known))
                yield f"{place}: there is no value :{name} before it; known are {known or 'none'}"
        if len(sql.names) > PARAMETERS_MAX:
            yield f"{place}: must have at most {PARAMETERS_MAX} values, has {len(sql.names)}"

    def _values(self, place: str, values: Values) -> Iterator[str]:
        for name, value in values.items():
            yield from (f"{place}.{name}.{fault}" for fault in self._value(value))
            self._known.add(name)

    def _value(self, value: ValueSpec) -> Iterator[str]:
        if value.sum_of is None:
            if value.add is not None:
                yield "add: belongs to sum_of"
            found = list(value.faults(in_rows=False))
            yield from found or (*_reference_faults(value, self._tables), *reach_faults(value, None))
            return
        self._used.add(value.sum_of)
        if value.sum_of not in self._known:
            yield f"sum_of: there is no value {value.sum_of!r} before it"
        others = value.model_fields_set - {"sum_of", "add"}
        yield from (f"{key.rstrip('_')}: does not belong to sum_of" for key in sorted(others))
