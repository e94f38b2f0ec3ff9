"""Figures of a table's columns from a bounded number of its rows: how many differ, are NULL, how long they are.

The server computes the figures. Method: tables of up to 4,000 rows are looked at as a whole; of larger ones 40 ranges
at even distances over the primary key, 100 rows each. Values that are near each other in the key are often alike, so
distinct counts of such columns come out too small. Distinct counts are estimated by Haas and Stokes' Duj1 (IBM Research
Report RJ 10025), as PostgreSQL's ANALYZE does; those of columns that an index begins with are the server's own.

Deliberately not here: definitions and rows (`reading_schema`).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

from plimsoll.errors import TargetError
from plimsoll.learn.schema_model import FEW_VALUES_MAX, ColumnFacts, TableFacts
from plimsoll.learn.text_hash import text_hash
from plimsoll.servers.control import ControlConnection, Row

STATEMENT_S = 2
"""A statement that takes longer is given up."""

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
        found = control.rows(statement, columns=columns)
    except TargetError as error:
        if error.code in _CUT_OFF:
            raise CutOffError from None
        raise
    if not found:
        raise CutOffError
    return found


def with_figures(control: ControlConnection, table: TableFacts) -> TableFacts:
    """The table with figures of its columns, as far as the server tells them in time.

    Raises:
        TargetError: The server refused a statement, or the connection was lost.
    """
    found = {column.name: column for column in table.columns}
    try:
        _ends_of_indexes(control, table, found)
        _look_at_sample(control, table, found)
    except CutOffError:
        pass  # the figures until then stay
    return table.model_copy(update={"columns": tuple(found[column.name] for column in table.columns)})


def _ends_of_indexes(control: ControlConnection, table: TableFacts, found: dict[str, ColumnFacts]) -> None:
    """Smallest and largest of columns that an index begins with, exactly; how many differ, as the server estimates."""
    for index in (*([table.primary_key] if table.primary_key else []), *table.indexes):
        if index.kind != "btree" or not index.columns or (index.lengths and index.lengths[0]):
            continue
        column = next((one for one in found.values() if one.name.lower() == index.columns[0].lower()), None)
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
        found[column.name] = column.model_copy(update={**changes, "distinct_count": count})


def _look_at_sample(control: ControlConnection, table: TableFacts, found: dict[str, ColumnFacts]) -> None:
    rows = table.rows or 0
    sources = [f"SELECT {{}} FROM {_place(table)} LIMIT {SAMPLE_ROWS}"]  # noqa: S608
    if rows > SAMPLE_ROWS:
        sources = _ranges(table, found) or sources
    stored = [one.name for one in table.columns if not one.is_generated]
    for names in _batched(stored):
        columns = [found[name] for name in names]
        for column, figures in zip(columns, _figures(control, sources, columns), strict=True):
            found[column.name] = _judged(control, sources, column, figures, rows)


def _batched(names: Sequence[str]) -> list[Sequence[str]]:
    return [names[at : at + _COLUMNS_AT_ONCE] for at in range(0, len(names), _COLUMNS_AT_ONCE)]


def _ranges(table: TableFacts, found: dict[str, ColumnFacts]) -> list[str]:
    """Queries of rows from places all over the primary key; {} stands for what they select."""
    if table.primary_key is None:
        return []
    key = ", ".join(quoted(name) for name in table.primary_key.columns)
    backwards = ", ".join(f"{quoted(name)} DESC" for name in table.primary_key.columns)
    select, half = f"SELECT {{}} FROM {_place(table)}", SAMPLE_ROWS // 2  # noqa: S608
    first = next(one for one in found.values() if one.name.lower() == table.primary_key.columns[0].lower())
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
    names = ", ".join(quoted(one.name) for one in columns)
    return " UNION ALL ".join(f"({one.replace('{}', names, 1)})" for one in sources)


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
    looked_at, nulls, distinct = (_count(one) for one in figures[:3])
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
    found: dict[str, int] = {}
    for value, count in asked(control, statement, columns=2):
        text = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        key = text.decode() if INTEGER.match(column.sql_type) and _VALUE.fullmatch(text.decode()) else text_hash(text)
        found[key] = found.get(key, 0) + (_count(count) or 0)
    return tuple(sorted(found.items(), key=lambda one: -one[1]))


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
