"""Asks a server for the definitions and figures of tables.

It only reads, each statement has a time limit, and no value of a row is fetched but the smallest and largest of numbers
and times.

Deliberately not here: what the definitions mean (`plimsoll.learn.create_table`), figures of rows (`schema_samples`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection

from plimsoll.errors import TargetError
from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.schema_model import IndexFacts, LeftOut, SchemaFacts, TableFacts
from plimsoll.run.schema_keys import with_counted_keys
from plimsoll.run.schema_samples import STATEMENT_S, CutOffError, asked, quoted, with_figures
from plimsoll.servers.control import ControlConnection
from plimsoll.units import printable

_COUNTED_MAX = 100_000
"""Tables that the server estimates to be no larger are counted."""

_MISSING = frozenset({1049, 1109, 1146})
_DENIED = frozenset({1044, 1142, 1143, 1227})
_SESSION = (
    "SET SESSION TRANSACTION READ ONLY",
    "SET SESSION sql_mode = ''",
    "SET SESSION sql_quote_show_create = 1",
    f"SET SESSION max_statement_time = {STATEMENT_S}",  # MariaDB, seconds
    f"SET SESSION max_execution_time = {STATEMENT_S * 1000}",  # MySQL, milliseconds
    "SET SESSION information_schema_stats_expiry = 0",  # MySQL: figures of now, not of a day ago
)
_UNKNOWN_VARIABLE = 1193


def tables_of(control: ControlConnection, schema_name: str) -> set[tuple[str, str]]:
    """All tables of a schema that the account may see, views left out.

    Raises:
        TargetError: The server refused, or the connection was lost.
    """
    found = control.rows(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type = 'BASE TABLE'",
        schema_name,
    )
    return {(schema_name, str(row[0])) for row in found}


def read_schema(
    control: ControlConnection, tables: Collection[tuple[str, str]], *, progress: Callable[[str], None] = lambda _: None
) -> SchemaFacts:
    """What a server says of some tables.

    It counts tables of up to 100,000 rows, looks at up to 4,000 rows of each larger one, and gives up a statement after
    two seconds: figures that are then not known are None.

    Args:
        control: A connection of its own; its session is set to read only.
        tables: Schema and name of each.
        progress: Is told the name of each table before it is looked at.

    Raises:
        TargetError: The account may not read a table (the text has the GRANT), or the connection was lost.
    """
    for statement in _SESSION:
        _unless_unknown(control, statement)
    definitions: dict[tuple[str, str], str] = {}
    left_out: list[LeftOut] = []
    denied: list[tuple[str, str]] = []
    for schema_name, name in sorted(tables):
        if _is_view(control, schema_name, name):
            left_out.append(LeftOut(schema_name=schema_name, name=name, reason="view"))
            continue
        try:
            row = control.rows(f"SHOW CREATE TABLE {quoted(schema_name)}.{quoted(name)}", columns=2)[0]
        except TargetError as error:
            if error.code not in _MISSING | _DENIED:
                raise
            if error.code in _DENIED:
                denied.append((schema_name, name))
            else:
                left_out.append(LeftOut(schema_name=schema_name, name=name, reason="missing"))
            continue
        definitions[schema_name, name] = _text(row[1])
    if denied:
        raise _refusal(control, denied)
    server = printable(str(control.value("SELECT VERSION()")))[:100]
    found: list[TableFacts] = []
    for (schema_name, name), text in definitions.items():
        progress(f"{schema_name}.{name}")
        read = read_create_tables(text, schema_name)
        if read.tables:
            found.append(_with_statistics(control, read.tables[0], is_mariadb="MariaDB" in server))
        else:
            left_out.append(LeftOut(schema_name=schema_name, name=name, reason="not-parsed"))
    return SchemaFacts(
        server=server,
        taken_unix_s=int(time.time()),
        tables=tuple(found),
        left_out=tuple(left_out),
    )


def _unless_unknown(control: ControlConnection, statement: str) -> None:
    try:
        control.rows(statement)
    except TargetError as error:
        if error.code != _UNKNOWN_VARIABLE:
            raise


def _is_view(control: ControlConnection, schema_name: str, name: str) -> bool:
    """SHOW CREATE TABLE of a view wants a privilege of its own."""
    found = control.rows(
        "SELECT table_type FROM information_schema.tables WHERE table_schema = %s AND table_name = %s",
        schema_name,
        name,
    )
    return bool(found) and "VIEW" in str(found[0][0])


def _refusal(control: ControlConnection, denied: list[tuple[str, str]]) -> TargetError:
    """Which GRANT is missing. A server that denies a table does not say whether it exists."""
    names = ", ".join(printable(f"{schema_name}.{name}") for schema_name, name in denied[:3])
    more = f" and {len(denied) - 3} more" if len(denied) > 3 else ""
    account = printable(str(control.value("SELECT CURRENT_USER()")))
    user, _, host = account.rpartition("@")
    grants = "; ".join(
        printable(f"GRANT SELECT ON {quoted(one)}.* TO {_literal(user)}@{_literal(host)}")
        for one in sorted({schema_name for schema_name, _ in denied})
    )
    return TargetError(f"the account {account} may not read {names}{more}; let an administrator run: {grants}")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _with_statistics(control: ControlConnection, table: TableFacts, *, is_mariadb: bool) -> TableFacts:
    """The table with its rows, its indexes' counts and figures of its columns."""
    name = f"{quoted(table.schema_name)}.{quoted(table.name)}"
    row = next(
        iter(
            control.rows(
                "SELECT table_rows, avg_row_length FROM information_schema.tables"
                " WHERE table_schema = %s AND table_name = %s",
                table.schema_name,
                table.name,
                columns=2,
            )
        ),
        (None, None),
    )
    rows, is_exact = _whole(row[0]), False
    if rows is None or rows <= _COUNTED_MAX:
        with contextlib.suppress(CutOffError):
            counted = asked(control, f"SELECT COUNT(*) FROM {name}")  # noqa: S608
            rows, is_exact = _whole(counted[0][0]), True
    table = table.model_copy(
        update={
            "rows": rows,
            "rows_are": "unknown" if rows is None else "exact" if is_exact else "estimated",
            "row_bytes_mean": _whole(row[1]) or None,
        }
    )
    table = with_figures(control, _with_counts(control, table, is_mariadb=is_mariadb))
    return with_counted_keys(control, table)


def _with_counts(control: ControlConnection, table: TableFacts, *, is_mariadb: bool) -> TableFacts:
    """The table with what the server estimates of its indexes.

    MariaDB states twice as many different values as InnoDB found, so that its optimizer prefers indexes to scans
    (`ha_innobase::info_low` halves the rows for each value). Of whole unique indexes it says one row for each.
    """
    counts: dict[str, list[int]] = {}
    for index, count in control.rows(
        "SELECT index_name, cardinality FROM information_schema.statistics"
        " WHERE table_schema = %s AND table_name = %s ORDER BY index_name, seq_in_index",
        table.schema_name,
        table.name,
        columns=2,
    ):
        counts.setdefault(str(index).lower(), []).append(_whole(count) or 0)

    def counted(index: IndexFacts) -> IndexFacts:
        found = counts.get(index.name.lower(), [])
        is_known = len(found) == len(index.columns) and all(found)
        if is_mariadb:
            last = len(found) - 1
            found = [one if index.is_unique and at == last else max(1, one // 2) for at, one in enumerate(found)]
        return index.model_copy(update={"prefix_counts": tuple(found)}) if is_known else index

    return table.model_copy(
        update={
            "primary_key": None if table.primary_key is None else counted(table.primary_key),
            "indexes": tuple(counted(one) for one in table.indexes),
        }
    )


def _whole(value: object) -> int | None:
    try:
        return max(0, int(str(value)))
    except ValueError:
        return None


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
