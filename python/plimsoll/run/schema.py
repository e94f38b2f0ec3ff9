"""Asks a server for the definitions and figures of tables, keeps them in a file, or reads them from one.

It only reads, each statement has a time limit, and no value of a row is fetched but the smallest and largest of numbers
and times; the server computes the figures. Method: tables of up to 4,000 rows are looked at as a whole; of larger ones
40 ranges at even distances over the primary key, 100 rows each. Values that are near each other in the key are often
alike, so distinct counts of such columns come out too small. Distinct counts are estimated by Haas and Stokes' Duj1
(IBM Research Report RJ 10025), as PostgreSQL's ANALYZE does; those of columns that an index begins with are the
server's own.

Values of indexes of several columns are counted where the server can do so by jumping through the index: its own
estimates of how many different values a part of an index has are often wrong by a factor of two. Files hold JSON that
only its owner can read, or a dump of definitions. Deliberately not here: what the definitions mean
(`plimsoll.learn.create_table`).
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import SpecError, TargetError
from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.event_log import text_hash
from plimsoll.learn.schema_model import (
    FEW_VALUES_MAX,
    SCHEMA_FORMAT,
    ColumnFacts,
    IndexFacts,
    SchemaFacts,
    TableFacts,
    UnknownTable,
)
from plimsoll.record.document import is_newer
from plimsoll.regular_file import text_regular
from plimsoll.servers.control import ControlConnection, Row, connect
from plimsoll.servers.private_file import write_private
from plimsoll.spec.target import Target
from plimsoll.units import printable

STATEMENT_S = 2
"""A statement that takes longer is given up."""

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


def schema_of(
    tables: Collection[tuple[str, str]],
    *,
    target: Target | None,
    file: Path | None,
    progress: Callable[[str], None] = lambda _: None,
) -> SchemaFacts:
    """The tables of a log, from a server or from a file.

    Args:
        tables: Schema and name of each; the schema is empty where the log does not say.
        target: The server; its database stands for an empty schema.
        file: What `plimsoll learn schema` wrote, or a dump without data.
        progress: Is told the name of each table before the server is asked for it.

    Raises:
        SpecError: The file is no schema.
        TargetError: The server cannot be asked.
    """
    if file is not None:
        return read_schema_file(file)
    assert target is not None, "one of both is given"
    named = {(schema or target.database, name) for schema, name in tables}
    with connect(target) as control:
        return read_schema(control, named, progress=progress)


def tables_of(control: ControlConnection, schema_name: str) -> set[tuple[str, str]]:
    """All tables of a schema that the account may see, views left out.

    Raises:
        TargetError: The server refused, or the connection was lost.
    """
    rows = control.rows(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type = 'BASE TABLE'",
        schema_name,
    )
    return {(schema_name, str(row[0])) for row in rows}


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
    left_out: list[UnknownTable] = []
    denied: list[tuple[str, str]] = []
    for schema_name, name in sorted(tables):
        if _is_view(control, schema_name, name):
            left_out.append(UnknownTable(schema_name=schema_name, name=name, reason="view"))
            continue
        try:
            row = control.rows(f"SHOW CREATE TABLE {quoted(schema_name)}.{quoted(name)}", columns=2)[0]
        except TargetError as error:
            if error.code not in _MISSING | _DENIED:
                raise
            if error.code in _DENIED:
                denied.append((schema_name, name))
            else:
                left_out.append(UnknownTable(schema_name=schema_name, name=name, reason="missing"))
            continue
        definitions[schema_name, name] = _text(row[1])
    if denied:
        raise _refusal(control, denied)
    server = printable(str(control.value("SELECT VERSION()")))[:100]
    table_facts: list[TableFacts] = []
    for (schema_name, name), text in definitions.items():
        progress(f"{schema_name}.{name}")
        read = read_create_tables(text, schema_name)
        if read.tables:
            table_facts.append(_with_statistics(control, read.tables[0], is_mariadb="MariaDB" in server))
        else:
            left_out.append(UnknownTable(schema_name=schema_name, name=name, reason="not-parsed"))
    return SchemaFacts(
        server=server,
        taken_unix_s=int(time.time()),
        tables=tuple(table_facts),
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
    rows = control.rows(
        "SELECT table_type FROM information_schema.tables WHERE table_schema = %s AND table_name = %s",
        schema_name,
        name,
    )
    return bool(rows) and "VIEW" in str(rows[0][0])


def _refusal(control: ControlConnection, denied: list[tuple[str, str]]) -> TargetError:
    """Which GRANT is missing. A server that denies a table does not say whether it exists."""
    names = ", ".join(printable(f"{schema_name}.{name}") for schema_name, name in denied[:3])
    more = f" and {len(denied) - 3} more" if len(denied) > 3 else ""
    account = printable(str(control.value("SELECT CURRENT_USER()")))
    user, _, host = account.rpartition("@")
    grants = "; ".join(
        printable(f"GRANT SELECT ON {quoted(schema)}.* TO {_literal(user)}@{_literal(host)}")
        for schema in sorted({schema_name for schema_name, _ in denied})
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
        estimates = counts.get(index.name.lower(), [])
        is_known = len(estimates) == len(index.columns) and all(estimates)
        if is_mariadb:
            last = len(estimates) - 1
            estimates = [
                count if index.is_unique and at == last else max(1, count // 2) for at, count in enumerate(estimates)
            ]
        return index.model_copy(update={"prefix_counts": tuple(estimates)}) if is_known else index

    return table.model_copy(
        update={
            "primary_key": None if table.primary_key is None else counted(table.primary_key),
            "indexes": tuple(counted(index) for index in table.indexes),
        }
    )


def _whole(value: object) -> int | None:
    try:
        return max(0, int(str(value)))
    except ValueError:
        return None


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


SAMPLE_ROWS = 4_000
_RANGES = 40
_COLUMNS_AT_ONCE = 20
_LOOSE_MAX = 1_000
"""Different values of an index's first column that are counted: the server jumps from one to the next."""

_CUT_OFF = frozenset({1028, 1317, 1969, 3024})
INTEGER = re.compile(r"(tiny|small|medium|big)?int|integer|serial|bool")
_ORDERED = re.compile(
    r"(tiny|small|medium|big)?int|integer|serial|bool|year|dec|fixed|numeric|float|double|real|date|time"
)
_SIZED = re.compile(r"(n|national )?(var)?char|varbinary|binary|(tiny|medium|long)?(text|blob)|json")
_LONG = re.compile(r"(tiny|medium|long)?(text|blob)|json")
_COMPARED = re.compile(rf"{_ORDERED.pattern}|bit|enum|set|(n|national )?(var)?char|(var)?binary|uuid|inet")
_COUNTED = re.compile(rf"{INTEGER.pattern}|enum|(n|national )?(var)?char")

_VALUE = re.compile(r"-?[0-9][0-9.:eE+ -]{0,40}")


class CutOffError(Exception):
    """A statement took longer than it may; what it would have said is not known."""


def quoted(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def asked(control: ControlConnection, statement: str, *, columns: int = 1) -> list[Row]:
    """The rows of a statement that has a time limit.

    Raises:
        CutOffError: It took too long.
        TargetError: The server refused it, or the connection was lost.
    """
    try:
        rows = control.rows(statement, columns=columns)
    except TargetError as error:
        if error.code in _CUT_OFF:
            raise CutOffError from None
        raise
    if not rows:
        raise CutOffError
    return rows


def with_figures(control: ControlConnection, table: TableFacts) -> TableFacts:
    """The table with figures of its columns, as far as the server tells them in time.

    Raises:
        TargetError: The server refused a statement, or the connection was lost.
    """
    by_name = {column.name: column for column in table.columns}
    try:
        _ends_of_indexes(control, table, by_name)
        _look_at_sample(control, table, by_name)
    except CutOffError:
        pass  # the figures until then stay
    return table.model_copy(update={"columns": tuple(by_name[column.name] for column in table.columns)})


def _ends_of_indexes(control: ControlConnection, table: TableFacts, by_name: dict[str, ColumnFacts]) -> None:
    """Smallest and largest of columns that an index begins with, exactly; how many differ, as the server estimates."""
    for index in (*([table.primary_key] if table.primary_key else []), *table.indexes):
        if index.kind != "btree" or not index.columns or (index.lengths and index.lengths[0]):
            continue
        column = next(
            (candidate for candidate in by_name.values() if candidate.name.lower() == index.columns[0].lower()), None
        )
        if column is None or column.distinct_count is not None:
            continue
        name, place = quoted(column.name), _place(table)
        changes: dict[str, object] = {}
        if _ORDERED.match(column.sql_type):
            ends = f"SELECT CAST(MIN({name}) AS CHAR), CAST(MAX({name}) AS CHAR) FROM {place}"  # noqa: S608
            low, high = asked(control, ends, columns=2)[0][:2]
            changes = {"minimum": _checked(low), "maximum": _checked(high)}
        count = index.prefix_counts[0] if index.prefix_counts else None
        if count is not None and count <= _LOOSE_MAX:
            count = _count(asked(control, f"SELECT COUNT(DISTINCT {name}) FROM {place}")[0][0])  # noqa: S608
        by_name[column.name] = column.model_copy(update={**changes, "distinct_count": count})


def _look_at_sample(control: ControlConnection, table: TableFacts, by_name: dict[str, ColumnFacts]) -> None:
    rows = table.rows or 0
    sources = [f"SELECT {{}} FROM {_place(table)} LIMIT {SAMPLE_ROWS}"]  # noqa: S608
    if rows > SAMPLE_ROWS:
        sources = _ranges(table, by_name) or sources
    stored = [column.name for column in table.columns if not column.is_generated]
    for names in _batched(stored):
        columns = [by_name[name] for name in names]
        for column, figures in zip(columns, _figures(control, sources, columns), strict=True):
            by_name[column.name] = _judged(control, sources, column, figures, rows)


def _batched(names: Sequence[str]) -> list[Sequence[str]]:
    return [names[at : at + _COLUMNS_AT_ONCE] for at in range(0, len(names), _COLUMNS_AT_ONCE)]


def _ranges(table: TableFacts, by_name: dict[str, ColumnFacts]) -> list[str]:
    """Queries of rows from places all over the primary key; {} stands for what they select."""
    if table.primary_key is None:
        return []
    key = ", ".join(quoted(name) for name in table.primary_key.columns)
    backwards = ", ".join(f"{quoted(name)} DESC" for name in table.primary_key.columns)
    select, half = f"SELECT {{}} FROM {_place(table)}", SAMPLE_ROWS // 2  # noqa: S608
    first = next(
        candidate for candidate in by_name.values() if candidate.name.lower() == table.primary_key.columns[0].lower()
    )
    low, high = _as_int(first.minimum), _as_int(first.maximum)
    if not INTEGER.match(first.sql_type) or low is None or high is None:
        return [f"{select} ORDER BY {key} LIMIT {half}", f"{select} ORDER BY {backwards} LIMIT {half}"]
    places = sorted({low + (high - low + 1) * part // _RANGES for part in range(_RANGES)})
    limit, name = SAMPLE_ROWS // len(places), quoted(first.name)
    return [
        f"{select} WHERE {name} >= {begin} AND {name} < {end} ORDER BY {key} LIMIT {limit}"
        for begin, end in itertools.pairwise([*places, high + 1])
    ]


def _sample(sources: Sequence[str], columns: Sequence[ColumnFacts]) -> str:
    names = ", ".join(quoted(column.name) for column in columns)
    return " UNION ALL ".join(f"({source.replace('{}', names, 1)})" for source in sources)


def _figures(control: ControlConnection, sources: Sequence[str], columns: Sequence[ColumnFacts]) -> list[list[object]]:
    """Of each column: rows, NULLs, different values, mean and largest length, smallest and largest value."""
    wanted: list[str] = []
    for column in columns:
        name, of_type = quoted(column.name), column.sql_type
        is_bytes = "blob" in of_type or "binary" in of_type
        length = f"{'LENGTH' if is_bytes else 'CHAR_LENGTH'}({name})" if _SIZED.match(of_type) else "NULL"
        is_compared, is_ordered = _COMPARED.match(of_type) and not _LONG.match(of_type), _ORDERED.match(of_type)
        wanted += [
            "COUNT(*)",
            f"SUM({name} IS NULL)",
            f"COUNT(DISTINCT {name})" if is_compared else "NULL",
            f"AVG({length})",
            f"MAX({length})",
            f"CAST(MIN({name}) AS CHAR)" if is_ordered else "NULL",
            f"CAST(MAX({name}) AS CHAR)" if is_ordered else "NULL",
        ]
    statement = f"SELECT {', '.join(wanted)} FROM ({_sample(sources, columns)}) AS looked_at"  # noqa: S608
    row = asked(control, statement, columns=len(wanted))[0]
    return [list(row[at : at + 7]) for at in range(0, len(wanted), 7)]


def _judged(
    control: ControlConnection, sources: Sequence[str], column: ColumnFacts, figures: list[object], rows: int
) -> ColumnFacts:
    looked_at, nulls, distinct = (_count(figure) for figure in figures[:3])
    if not looked_at:
        return column
    values = looked_at - (nulls or 0)
    count = column.distinct_count
    if count is None and distinct is not None:
        count = distinct
        if rows > looked_at and distinct:
            once = (
                f"SELECT COUNT(*) FROM (SELECT 1 FROM ({_sample(sources, [column])}) AS looked_at"  # noqa: S608
                f" WHERE {quoted(column.name)} IS NOT NULL GROUP BY {quoted(column.name)} HAVING COUNT(*) = 1) AS alone"
            )
            share = values / looked_at
            count = distinct_estimate(
                looked_at=values,
                distinct=distinct,
                once=_count(asked(control, once)[0][0]) or 0,
                rows=round(rows * share),
            )
    mean = _float(figures[3])
    has_few = distinct is not None and 0 < distinct <= FEW_VALUES_MAX and _COUNTED.match(column.sql_type)
    return column.model_copy(
        update={
            "frequencies": _frequencies(control, sources, column) if has_few else (),
            "distinct_count": count,
            "null_ratio": (nulls or 0) / looked_at,
            "length_mean": mean,
            "length_max": None if mean is None else _count(figures[4]),
            "minimum": column.minimum if column.minimum is not None else _checked(figures[5]),
            "maximum": column.maximum if column.maximum is not None else _checked(figures[6]),
        }
    )


def _frequencies(
    control: ControlConnection, sources: Sequence[str], column: ColumnFacts
) -> tuple[tuple[str, int], ...]:
    """How often the values of a column were seen. Texts leave this function as hashes only."""
    name = quoted(column.name)
    statement = (
        f"SELECT CAST({name} AS CHAR CHARACTER SET utf8mb4), COUNT(*) FROM ({_sample(sources, [column])}) AS looked_at"  # noqa: S608
        f" WHERE {name} IS NOT NULL GROUP BY {name}"
    )
    counts: dict[str, int] = {}
    for value, count in asked(control, statement, columns=2):
        text = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        key = text.decode() if INTEGER.match(column.sql_type) and _VALUE.fullmatch(text.decode()) else text_hash(text)
        counts[key] = counts.get(key, 0) + (_count(count) or 0)
    return tuple(sorted(counts.items(), key=lambda item: -item[1]))


def distinct_estimate(*, looked_at: int, distinct: int, once: int, rows: int) -> int:
    """How many values differ in a table: Duj1, n d / (n - f1 + f1 n / N).

    Args:
        looked_at: Rows of the sample, n.
        distinct: Different values in it, d.
        once: Those that occur once in it, f1.
        rows: Of the table, N.
    """
    estimate = looked_at * distinct / (looked_at - once + once * looked_at / max(rows, looked_at))
    return max(distinct, min(round(estimate), max(rows, distinct)))


def _place(table: TableFacts) -> str:
    return f"{quoted(table.schema_name)}.{quoted(table.name)}"


def _checked(value: object) -> str | None:
    """A number or a time as text; None for anything else that a server may send."""
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
    return text if _VALUE.fullmatch(text) else None


def _as_int(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,20}", text) else None


def whole(value: object, *, is_signed: bool = False) -> int | None:
    """A whole number that a server sent; None for anything else."""
    number = _as_int(str(value))
    return None if number is None or (number < 0 and not is_signed) else number


def _count(value: object) -> int | None:
    number = _float(value)
    return None if number is None else max(0, round(number))


def _float(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


PARTS_MAX = 200_000
"""Different values of a part of an index that are counted; of more the server's estimate stays."""

_MANY_RATIO = 0.3
"""Of an index that is not unique, parts are counted that have more values than this share of the rows, as the server
estimates."""


def with_counted_keys(control: ControlConnection, table: TableFacts) -> TableFacts:
    """The table with the counted parts of its indexes of integers, and the ends of their columns.

    Raises:
        TargetError: The server refused a statement, or the connection was lost.
    """
    key = table.primary_key
    if not table.rows:
        return table
    if key is not None and len(key.columns) > 1 and _is_plain(table, key):
        with contextlib.suppress(CutOffError):
            parts = _counts(control, table, key, len(key.columns) - 1)
            if parts is not None:
                whole_key = (*parts, max(table.rows, parts[-1]))
                counted = key.model_copy(update={"prefix_counts": whole_key, "is_counted": True})
                table = _with_ends(control, table, key).model_copy(update={"primary_key": counted})
    for place, index in enumerate(table.indexes):
        length = _open_length(table, index)
        if not length or not _is_plain(table, index):
            continue
        with contextlib.suppress(CutOffError):
            parts = _counts(control, table, index, length)
            if parts is not None:
                counted = index.model_copy(update={"prefix_counts": (*parts, *index.prefix_counts[length:])})
                indexes = (*table.indexes[:place], counted, *table.indexes[place + 1 :])
                table = _with_ends(control, table, index, length).model_copy(update={"indexes": indexes})
    return table


def _is_plain(table: TableFacts, index: IndexFacts) -> bool:
    """Whether it has whole columns of integers only."""
    types = {column.name.lower(): column.sql_type for column in table.columns}
    integers = all(INTEGER.match(types.get(name.lower(), "")) for name in index.columns)
    return index.kind == "btree" and integers and not any(index.lengths)


def _open_length(table: TableFacts, index: IndexFacts) -> int:
    """How many columns of an index have nearly as many values as there are rows, or some less; 0 for none."""
    many = (place for place, count in enumerate(index.prefix_counts) if count > _MANY_RATIO * (table.rows or 0))
    return 0 if index.is_unique else next(many, -1) + 1


def _counts(control: ControlConnection, table: TableFacts, index: IndexFacts, parts: int) -> tuple[int, ...] | None:
    """Different values of the first column, of the first two, and so on; None where there are too many."""
    counts: list[int] = []
    for length in range(1, parts + 1):
        names = ", ".join(quoted(column) for column in index.columns[:length])
        distinct = f"SELECT DISTINCT {names} FROM {_place(table)} LIMIT {PARTS_MAX + 1}"  # noqa: S608
        count = whole(asked(control, f"SELECT COUNT(*) FROM ({distinct}) AS parts")[0][0]) or 1  # noqa: S608
        if count > PARTS_MAX:
            return None
        counts.append(count)
    return tuple(counts)


def _ends(control: ControlConnection, table: TableFacts, index: IndexFacts, place: int) -> tuple[str, str] | None:
    """The smallest and the largest value of one of its columns."""
    name = quoted(index.columns[place])
    before = ", ".join(quoted(column) for column in index.columns[:place])
    grouped = f"SELECT MIN({name}) AS low, MAX({name}) AS high FROM {_place(table)}"  # noqa: S608
    grouped += f" GROUP BY {before}" if before else ""
    low, high = asked(control, f"SELECT MIN(low), MAX(high) FROM ({grouped}) AS ends", columns=2)[0][:2]  # noqa: S608
    first, last = whole(low, is_signed=True), whole(high, is_signed=True)
    return None if first is None or last is None else (str(first), str(last))


def _with_ends(
    control: ControlConnection, table: TableFacts, index: IndexFacts, parts: int | None = None
) -> TableFacts:
    """The table with the smallest and the largest value of the first columns of an index; None for all.

    Columns of which single values are known keep what is known, unless they are part of the primary key.
    """
    of_key = index is table.primary_key
    ends = {name.lower(): _ends(control, table, index, place) for place, name in enumerate(index.columns[:parts])}

    def ended(column: ColumnFacts) -> ColumnFacts:
        extremes = ends.get(column.name.lower())
        if extremes is None or (column.frequencies and not of_key):
            return column
        return column.model_copy(update={"minimum": extremes[0], "maximum": extremes[1], "frequencies": ()})

    return table.model_copy(update={"columns": tuple(ended(column) for column in table.columns)})


_BYTES_MAX = 64 * 2**20
_NAMED_MAX = 5


def write_schema(path: Path, schema: SchemaFacts) -> None:
    """Writes it as JSON with mode 0600: it has names, and members of ENUM.

    Raises:
        HostError: It cannot be written.
    """
    write_private(path, schema.model_dump_json(indent=1) + "\n", cure="choose another place with -o")


def read_schema_file(path: Path, schema_name: str = "") -> SchemaFacts:
    """What `write_schema` wrote, or the tables of a dump in SQL (`mysqldump --no-data`).

    Args:
        path: The file; its content tells which of the two it is.
        schema_name: Of tables in a dump that names none.

    Raises:
        SpecError: It cannot be read, is neither, or defines no table that can be understood.
    """
    try:
        text = text_regular(path, _BYTES_MAX)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is no text in UTF-8; give the output of plimsoll learn schema or mysqldump") from None
    if text.lstrip().startswith("{"):
        return _from_json(path, text)
    schema = read_create_tables(text, schema_name)
    if not schema.tables:
        failed = [printable(table.name) for table in schema.left_out]
        why = f"none of its tables can be understood ({', '.join(failed[:_NAMED_MAX])})" if failed else "has no tables"
        raise SpecError(f"{path}: {why}; give the output of plimsoll learn schema, or of mysqldump --no-data")
    return schema


def _from_json(path: Path, text: str) -> SchemaFacts:
    if is_newer(text.encode(), "schema_format", SCHEMA_FORMAT):
        raise SpecError(f"{path}: was written by a newer Plimsoll; update this one, or read the schema again")
    try:
        return SchemaFacts.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise SpecError(f"{path}: is no schema of plimsoll learn schema: {place}: {first['msg']}") from None
