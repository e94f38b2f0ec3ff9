"""What a server answers to the statements of a user's own workload, told from their text and the tables of the file.

It is for the fake server: as many rows, columns and bytes as a real one sends, so that the client has the same to do.
Values are made up, but of the type that the real ones have, so that they can be carried into later statements. Where
the number of rows cannot be told it is assumed, which is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.drive.plans import SimColumn, SimShape
from plimsoll.run.select_text import Item, Query, Token, read_query
from plimsoll.spec.statements import StatementsSpec
from plimsoll.units import parse_whole

ROWS_ASSUMED = 100
"""Rows of a query where they cannot be told, as many as a range of the OLTP workloads has."""

_RESULT_BYTES_MAX = 32_000_000
_COLUMN_BYTES = 10
_NUMBER_BYTES = 12
"""Sums, averages, and whatever else is no column."""

_AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX", "GROUP_CONCAT", "JSON_ARRAYAGG", "BIT_OR", "STDDEV"})
_COUNTS = frozenset({"COUNT", "LAST_INSERT_ID", "ROW_COUNT", "FOUND_ROWS"})
_INTEGERS = ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "BOOL", "YEAR")
_MORE_TABLES = ("JOIN", "UNION", "SELECT")

_Tables = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result set of one statement.

    Attributes:
        place: Where the statement stands in the file.
        shape: What the fake server sends.
        is_assumed: The number of rows could not be told.
    """

    place: str
    shape: SimShape
    is_assumed: bool


def answers(workload: StatementsSpec) -> tuple[Answer, ...]:
    """The result sets of all statements that give one, the longest texts first: a shorter one may be part of them."""
    tables = {table["name"].lower(): table for table in workload.data_line()["tables"]}
    found: list[Answer] = []
    for number, transaction in enumerate(workload.line()["transactions"]):
        for place, statement in enumerate(transaction["statements"]):
            query = read_query(statement["sql"])
            if query is None and not statement["keep"]:
                continue
            path = f"transaction[{number}].statement[{place}]"
            values = [*transaction["values"], *statement["values"]]
            found.append(_answer(path, statement, query or Query(), values, tables))
    return tuple(sorted(found, key=lambda one: -len(one.shape.contains)))


def _answer(path: str, statement: Any, query: Query, values: Iterable[Any], tables: _Tables) -> Answer:
    behind = query.clauses.get("FROM", ())
    ours = [tables[token.text.lower()] for token in behind if token.text.lower() in tables]
    kept = [str(keep["column"]) for keep in statement["keep"]]
    columns = tuple(_columns(query.items, ours, kept)) or (SimColumn("c", _NUMBER_BYTES),)
    sums = {one["name"]: one["source"]["sum"] for one in values if "sum" in one["source"]}
    rows = _rows(query, ours, statement["parameters"], sums)
    row_bytes = sum(_COLUMN_BYTES + (column.text_bytes or 0) for column in columns)
    count = min(ROWS_ASSUMED if rows is None else rows, _RESULT_BYTES_MAX // row_bytes)
    return Answer(path, SimShape(statement["sql"], count, columns), rows is None)


def _columns(items: Iterable[Item], tables: list[Mapping[str, Any]], kept: list[str]) -> Iterator[SimColumn]:
    """The columns of a result; those that are kept are whole numbers where nothing else is known."""
    named: set[str] = set()
    for item in items:
        if item.is_everything:
            found = [SimColumn(one["name"], _text_bytes(one)) for table in tables for one in table["columns"]]
        else:
            is_kept = item.name.lower() in (name.lower() for name in kept)
            found = [SimColumn(item.name, _item_bytes(item, tables, is_kept=is_kept))]
        named.update(column.name.lower() for column in found)
        yield from found
    yield from (SimColumn(name, None) for name in kept if name.lower() not in named)


def _item_bytes(item: Item, tables: list[Mapping[str, Any]], *, is_kept: bool) -> int | None:
    if item.function in _COUNTS or (len(item.tokens) == 1 and parse_whole(item.tokens[0].text) is not None):
        return None
    column = next((one for token in item.tokens if (one := _column(token, tables)) is not None), None)
    if column is not None and item.function not in ("SUM", "AVG"):
        return _text_bytes(column)
    return None if is_kept and column is None else _NUMBER_BYTES


def _column(token: Token, tables: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The column of this name, of the first table that has one."""
    if token.kind != "name":
        return None
    columns = (column for table in tables for column in table["columns"])
    return next((one for one in columns if one["name"].lower() == token.text.lower()), None)


def _text_bytes(column: Mapping[str, Any]) -> int | None:
    """Bytes of a value as text; None for whole numbers."""
    return None if column["sql_type"].upper().startswith(_INTEGERS) else _mean_bytes(column["generator"])


def _mean_bytes(generator: Mapping[str, Any]) -> int:
    match generator["kind"]:
        case "characters":
            return int((generator["length_min"] + generator["length_max"]) // 2)
        case "template":
            parts = generator["parts"]
            return sum(len(p["text"].encode()) if "text" in p else _mean_bytes(p["generated"]) for p in parts)
        case "choice":
            return sum(len(str(value).encode()) for value in generator["values"]) // len(generator["values"])
        case "timestamp" | "timestamp_sequence":
            return 19
        case _:
            return 8


def _rows(query: Query, tables: list[Mapping[str, Any]], parameters: list[str], sums: Mapping[str, Any]) -> int | None:
    """How many rows a query gives; None when that cannot be told."""
    if any(item.function in _AGGREGATES for item in query.items) and "GROUP" not in query.clauses:
        return 1
    limit = _limit(query.clauses.get("LIMIT", ()))
    rows = _chosen(query, tables, parameters, sums)
    return limit if rows is None else min(rows, rows if limit is None else limit)


def _limit(behind: tuple[Token, ...]) -> int | None:
    """The number behind LIMIT, or behind its comma."""
    numbers = [token.text for token in behind if token.depth == 0 and token.text != "OFFSET"]
    wanted = numbers[2] if numbers[1:2] == [","] else numbers[0] if numbers else ""
    return parse_whole(wanted)


def _chosen(
    query: Query, tables: list[Mapping[str, Any]], parameters: list[str], sums: Mapping[str, Any]
) -> int | None:
    """Rows of the one table that fit its conditions, all of which must be understood."""
    behind = [token for part in query.clauses.values() for token in part]
    if len(tables) != 1 or "GROUP" in query.clauses or any(token.is_word(*_MORE_TABLES, "OR") for token in behind):
        return None
    (table,) = tables
    rows = float(table["rows"])
    first = sum(token.text == "?" for item in query.items for token in item.tokens)
    names = iter(parameters[first:])
    for condition in _conditions(query.clauses.get("WHERE", ())):
        bound = [next(names, "") for token in condition if token.text == "?"]
        part = _part(condition, bound, table, sums)
        if part is None:
            return None
        rows *= part
    return max(round(rows), min(1, int(table["rows"])))


def _conditions(where: tuple[Token, ...]) -> Iterator[list[Token]]:
    """What stands between one AND and the next; that of BETWEEN belongs to it."""
    condition: list[Token] = []
    is_range = False
    for token in where:
        if token.depth == 0 and token.is_word("AND") and not is_range:
            yield condition
            condition = []
        else:
            is_range = (is_range or token.is_word("BETWEEN")) and not token.is_word("AND")
            condition.append(token)
    if condition:
        yield condition


def _part(condition: list[Token], bound: list[str], table: Mapping[str, Any], sums: Mapping[str, Any]) -> float | None:
    """The part of a table's rows that fit a condition, 0 to 1."""
    named = [at for at, token in enumerate(condition) if _column(token, [table]) is not None]
    if len(named) != 1 or (column := _column(condition[named[0]], [table])) is None:
        return None
    signs = [token.text.upper() for token in condition[named[0] + 1 :]]
    distinct = _distinct(column, table)
    if signs[0] == "=" and len(signs) == 2:
        return 1 / distinct
    if signs[0] == "IN" and set(signs[1:]) <= {"(", ")", ",", "?"}:
        return min(signs.count("?") / distinct, 1.0)
    if signs[0] == "BETWEEN" and len(bound) == 2 and (end := sums.get(bound[1])) and end["value"] == bound[0]:
        step = abs(column["generator"].get("step", 1)) or 1
        return float(min((end["add"] // step + 1) / distinct, 1.0))
    return None


def _distinct(column: Mapping[str, Any], table: Mapping[str, Any]) -> int:
    """How many different values a column has."""
    rows = max(int(table["rows"]), 1)
    generator = column["generator"]
    if table["primary_key"] == [column["name"]]:
        return rows
    match generator["kind"]:
        case "integer" | "decimal" | "timestamp":
            return min(int(generator["count"]), rows)
        case "choice":
            return min(len(generator["values"]), rows)
        case "characters":
            sizes = {"digits": 10, "letters": 26, "hexadecimal": 16}
            digits = generator["length_max"] * math.log(sizes[generator["alphabet"]])
            return round(min(math.exp(min(digits, 50.0)), rows))
        case _:
            return rows
