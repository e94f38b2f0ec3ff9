"""What a server says of a workload's tables (columns, indexes, rows, sizes), and how it executes statements.

Sizes are those of files, which change the moment a file grows; statistics of tables may be as old as a day (MySQL
caches them). Only reads. Deliberately not here: comparing servers (`plimsoll.analyse.explain.equivalence`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plimsoll.errors import TargetError
from plimsoll.record.server_facts import ColumnFacts, DataFacts, IndexFacts, PlanStep, StatementPlan, TableFacts
from plimsoll.servers.control import ControlConnection, Reply
from plimsoll.servers.settle import StatusSource
from plimsoll.spec.explain_statements import Explained
from plimsoll.units import parse_whole

TABLES_MAX = 64
"""Of more tables the first so many are described: those of a data set are alike."""

COUNTED_ROWS_MAX = 2_000_000
"""More rows, by the server's estimate, are not counted: that would read them all."""

_SYNTAX = 1064
_SOURCES_OF_DEFAULTS = ("COMPILED", "COMPILE-TIME", "AUTO")


def data_facts(control: ControlConnection, tables: Sequence[str], statements: Iterable[Explained]) -> DataFacts:
    """Describes tables of the connection's database.

    Args:
        control: A connection to the server.
        tables: Names; those that do not exist are left out.
        statements: To explain.

    Raises:
        TargetError: The server does not answer.
    """
    with contextlib.suppress(TargetError):
        control.rows("SET SESSION information_schema_stats_expiry = 0")  # MySQL 8 keeps them for a day
    named = list(dict.fromkeys(tables))[:TABLES_MAX]
    table_facts = _tables(control, named) if named else {}
    return DataFacts(
        database_collation=_text(control.value("SELECT @@collation_database")),
        tables=_counted(control, table_facts),
        tables_count=len(set(tables)),
        plans=tuple(_plan(control, statement) for statement in statements),
    )


def variables_set(control: ControlConnection) -> tuple[str, ...] | None:
    """Variables whose value somebody chose: an option file, the command line or a statement.

    None where the server does not say: before MySQL 8.0 and MariaDB 10.1.
    """
    for statement in (
        "SELECT variable_name, variable_source FROM performance_schema.variables_info",
        "SELECT variable_name, global_value_origin FROM information_schema.system_variables"
        " WHERE global_value_origin IS NOT NULL",
    ):
        with contextlib.suppress(TargetError):
            rows = control.rows(statement, columns=2)
            return tuple(sorted(str(name).lower() for name, source in rows if source not in _SOURCES_OF_DEFAULTS))
    return None


def variable_defaults(control: ControlConnection, names: Iterable[str]) -> dict[str, str]:
    """The server's own defaults of some variables; empty where it does not say, as MySQL."""
    asked = set(names)
    statement = "SELECT variable_name, default_value FROM information_schema.system_variables"
    with contextlib.suppress(TargetError):
        rows = control.rows(f"{statement} WHERE default_value IS NOT NULL", columns=2)
        return {str(name).lower(): str(value) for name, value in rows if str(name).lower() in asked}
    return {}


def _tables(control: ControlConnection, names: Sequence[str]) -> dict[str, TableFacts]:
    columns, indexes = _columns(control, names), _indexes(control, names)
    rows = _asked(
        control,
        "table_name, engine, row_format, table_collation, create_options, table_rows, data_length, index_length",
        "tables",
        names,
    )
    return {
        str(row[0]): TableFacts(
            engine=_text(row[1]),
            row_format=_text(row[2]),
            collation=_text(row[3]),
            options=str(row[4] or ""),
            rows_estimate=_whole(row[5]),
            data_bytes=_whole(row[6]),
            index_bytes=_whole(row[7]),
            columns=columns.get(str(row[0]), {}),
            indexes=indexes.get(str(row[0]), {}),
        )
        for row in rows
    }


def _columns(control: ControlConnection, names: Sequence[str]) -> dict[str, dict[str, ColumnFacts]]:
    by_table: dict[str, dict[str, ColumnFacts]] = {}
    chosen = "table_name, column_name, column_type, is_nullable, column_default, extra, character_set_name,"
    for row in _asked(control, f"{chosen} collation_name", "columns", names, order="ordinal_position"):
        by_table.setdefault(str(row[0]), {})[str(row[1])] = ColumnFacts(
            type=str(row[2]),
            nullable=row[3] == "YES",
            default=_text(row[4]),
            extra=str(row[5] or ""),
            character_set=_text(row[6]),
            collation=_text(row[7]),
        )
    return by_table


def _indexes(control: ControlConnection, names: Sequence[str]) -> dict[str, dict[str, IndexFacts]]:
    """The cardinality of an index is that of its last column: of all its columns together."""
    by_table: dict[str, dict[str, IndexFacts]] = {}
    chosen = "table_name, index_name, non_unique, column_name, sub_part, cardinality"
    for table, name, non_unique, column, part, cardinality in _asked(
        control, chosen, "statistics", names, order="seq_in_index"
    ):
        of_table = by_table.setdefault(str(table), {})
        before = of_table[str(name)].columns if str(name) in of_table else ()
        key_part = f"{column}({part})" if part is not None else str(column)
        of_table[str(name)] = IndexFacts(
            columns=(*before, key_part), unique=not int(non_unique), cardinality=_whole(cardinality)
        )
    return by_table


def _asked(
    control: ControlConnection, columns: str, table: str, names: Sequence[str], order: str = "table_name"
) -> list[tuple[Any, ...]]:
    places = ", ".join(["%s"] * len(names))
    statement = (
        f"SELECT {columns} FROM information_schema.{table}"  # noqa: S608 - names are ours, values are arguments
        f" WHERE table_schema = DATABASE() AND table_name IN ({places}) ORDER BY table_name, {order}"
    )
    return control.rows(statement, *names, columns=columns.count(",") + 1)


def _counted(control: ControlConnection, tables: Mapping[str, TableFacts]) -> dict[str, TableFacts]:
    """The tables with their rows counted where that is quick."""
    estimates = [table.rows_estimate for table in tables.values()]
    if None in estimates or sum(size or 0 for size in estimates) > COUNTED_ROWS_MAX:
        return dict(tables)
    return {
        name: table.model_copy(update={"rows_count": control.count(f"SELECT COUNT(*) FROM {_quoted(name)}")})  # noqa: S608
        for name, table in tables.items()
    }


def _plan(control: ControlConnection, explained: Explained) -> StatementPlan:
    plan = StatementPlan(workload=explained.workload, statement=explained.name, sql=explained.sql)
    try:
        return plan.model_copy(update={"steps": _steps(_answer(control, explained))})
    except TargetError as error:
        return plan.model_copy(update={"refused": str(error)})


def _answer(control: ControlConnection, explained: Explained) -> Reply:
    """As a table, whatever the server's default is; servers before MySQL 5.6 and MariaDB 10.0 know no other."""
    try:
        return control.reply(f"EXPLAIN FORMAT=TRADITIONAL {explained.sql}", explained.values)
    except TargetError as error:
        if error.code != _SYNTAX:
            raise
        return control.reply(f"EXPLAIN {explained.sql}", explained.values)


def _steps(reply: Reply) -> tuple[PlanStep, ...]:
    names = [name.lower() for name, _ in reply.columns]
    rows = [dict(zip(names, row, strict=True)) for row in reply.rows]
    return tuple(
        PlanStep(
            table=_text(row.get("table")),
            access=_text(row.get("type")),
            index=_text(row.get("key")),
            rows=_whole(row.get("rows")),
            extra=str(row.get("extra") or ""),
        )
        for row in rows
    )


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _text(value: object) -> str | None:
    return None if value is None else value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _whole(value: object) -> int | None:
    return None if value is None else parse_whole(str(value))


_VIEWS = ("innodb_tablespaces", "innodb_sys_tablespaces")
"""Of MySQL from 8.0 on; of MariaDB and older MySQL."""


def tables_bytes(control: StatusSource) -> int | None:
    """Size of the files of all InnoDB tables of the connection's database, bytes, partitions and indexes included.

    Returns:
        None where the server does not say, or not to this account (PROCESS is needed).
    """
    for view in _VIEWS:
        statement = f"SELECT SUM(file_size) FROM information_schema.{view} WHERE name LIKE CONCAT(DATABASE(), '/%')"  # noqa: S608
        try:
            rows = control.rows(statement)
        except TargetError:
            continue
        if rows and rows[0][0] is not None:
            return int(float(str(rows[0][0])))
    return None
