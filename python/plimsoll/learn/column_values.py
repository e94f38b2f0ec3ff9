"""How values of a column are made that is part of no key: its type, and a generator from its facts.

Values are made up: texts are letters and numbers, only numbers and times keep their range. A workload's types have no
quotes in them, so ENUM and SET become VARCHAR. BIT becomes an integer, since servers take a number that is sent as text
for a string of bits. TIMESTAMP becomes DATETIME, because a made-up time may not exist in the server's time zone.
Deliberately not here: keys and references (`table_keys`), and names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from plimsoll.learn.schema_model import FEW_VALUES_MAX, ColumnFacts, ColumnKey

DAYS_MAX = 366
"""Different values of a column of dates."""

_GROWING_RATIO = 0.1
"""A column with more different values than this share of the rows gets more of them with more rows."""

_TEXT_LENGTH = 20
_PADDING = "abcdefghijklmnopqrstuvwxyz"
_FIRST, _LAST = datetime(2025, 1, 1), datetime(2025, 12, 31)  # noqa: DTZ001 - DATETIME has no zone
_DECIMAL_MAX = 10**15


@dataclass(slots=True)
class Values:
    """How values of a column are made.

    Attributes:
        generator: The keys of a workload file.
        kind: As `Domain.kind`.
        size: How many different values there are.
        assumed: Figures that were not known: `range` or `length`.
        is_unique: No two rows have the same value.
        length: Characters of the longest text; None for what is no text.
        sql_type: Instead of the type that it has.
        target: Of a reference: the column that it refers to.
    """

    generator: dict[str, Any]
    kind: str
    size: int
    assumed: list[str] = field(default_factory=list)
    is_unique: bool = False
    length: int | None = None
    sql_type: str | None = None
    target: ColumnKey | None = None


def column_values(
    column: ColumnFacts, *, rows_before: int, rows: int, weights: Sequence[float] | None, is_indexed: bool
) -> Values:
    """How values of a column are made.

    Args:
        column: Its facts.
        rows_before: Of the table on the server.
        rows: Of the table that is made.
        weights: How often each of so many values occurs, the most frequent first; None where that is not known.
        is_indexed: An index has it.
    """
    kind, distinct = kind_of(column), scaled_distinct(column, rows_before, rows)
    if weights is not None and kind in ("integer", "text", "choice"):
        return _choice(column, len(weights), list(weights))
    match kind:
        case "integer":
            values = _integers(column, distinct, rows)
        case "decimal":
            values = _decimals(column, rows)
        case "date":
            values = _times(column, distinct)
        case "choice":
            values = _choice(column, len(column.members) or distinct or 2, None)
        case "json":
            values = _json(column, rows)
        case "bytes":
            values = _letters(column, rows, "hex")
        case "text":
            values = _texts(column, distinct, rows, is_indexed=is_indexed)
        case _:
            values = _others(column, rows)
    return values


def _texts(column: ColumnFacts, distinct: int | None, rows: int, *, is_indexed: bool) -> Values:
    """Text that statements can look for, where an index has it: it takes only as many values as on the server."""
    limit = length_limit(column)
    if distinct is not None and distinct <= FEW_VALUES_MAX and limit > 0:
        return _choice(column, distinct, None)
    if is_indexed and distinct is not None and len(str(distinct)) <= limit:
        pad = padding(column, len(str(distinct)))
        generator = {"generate": "text", "template": f"{{integer:1-{distinct}}}{pad}"}
        return Values(generator, "text", distinct, length=len(pad) + len(str(distinct)))
    return _letters(column, rows, "letters")


def _others(column: ColumnFacts, rows: int) -> Values:
    if base_of(column) == "time":
        hours = [f"{hour:02}:00:00" for hour in range(24)]
        return Values({"generate": "choice", "values": hours}, "choice", 24)
    return Values({"generate": "hex", "length": 50}, "text", max(rows, 1), ["range"])


def scaled_distinct(column: ColumnFacts, rows_before: int, rows: int) -> int | None:
    """How many different values there are in a table of another size."""
    count = column.distinct_count
    if count is None:
        return None
    if rows_before and count > _GROWING_RATIO * rows_before:
        count = round(count * rows / rows_before)
    return max(1, min(count, max(rows, 1)))


def padding(column: ColumnFacts, used: int) -> str:
    """Letters that bring a text of so many characters to the column's mean length, as far as there is room."""
    if kind_of(column) == "choice":
        return ""  # servers store members of ENUM as numbers
    wanted = _TEXT_LENGTH if column.length_mean is None else round(column.length_mean)
    length = max(0, min(wanted, length_limit(column)) - used)
    return (_PADDING * (length // len(_PADDING) + 1))[:length]


def row_template(column: ColumnFacts, rows: int) -> Values:
    """A text that no two rows share: the number of the row and letters."""
    digits = len(str(max(rows, 1)))
    pad = padding(column, digits)
    generator = {"generate": "text", "template": f"{{row}}{pad}"}
    assumed = [] if column.length_mean is not None else ["length"]
    return Values(generator, "text", max(rows, 1), assumed, is_unique=True, length=digits + len(pad))


def time_range(column: ColumnFacts) -> tuple[datetime, datetime, bool]:
    """Earliest and latest time, to the second, and whether they are known."""
    low, high = _time(column.minimum), _time(column.maximum)
    if low is None or high is None or low > high:
        return _FIRST, _LAST, False
    return low, high, True


def _integers(column: ColumnFacts, distinct: int | None, rows: int) -> Values:
    possible = integer_range(column)
    low, high = whole(column.minimum), whole(column.maximum)
    is_known = low is not None and high is not None
    first = max(possible[0], min(low if low is not None else max(1, possible[0]), possible[-1]))
    last = high if high is not None else first + max(distinct or rows, 1) - 1
    last = max(first, min(last, possible[-1]))
    if distinct is not None and distinct < (last - first + 1) / 2:
        last = first + distinct - 1
    generator = {"generate": "integer", "from": first, "to": last}
    return Values(generator, "integer", last - first + 1, [] if is_known else ["range"])


def _decimals(column: ColumnFacts, rows: int) -> Values:
    digits, places = decimal_scale(column)
    most = min(10 ** (digits - places) - 10**-places, _DECIMAL_MAX / 10**places)
    least = 0.0 if "unsigned" in column.sql_type else -most
    low, high = _number(column.minimum), _number(column.maximum)
    first = max(least, min(low if low is not None else 0.0, most))
    last = max(first, min(high if high is not None else min(1000.0, most), most))
    unit = 10**places
    first, last = math.floor(first * unit) / unit, math.floor(last * unit) / unit
    generator = {"generate": "decimal", "from": first, "to": last, "places": places}
    size = round((last - first) * unit) + 1
    return Values(generator, "decimal", max(1, min(size, max(rows, 1))), [] if low is not None else ["range"])


def _times(column: ColumnFacts, distinct: int | None) -> Values:
    low, high, is_known = time_range(column)
    assumed = [] if is_known else ["range"]
    if base_of(column) == "date":
        days = (high - low).days + 1
        count = max(1, min(days, distinct or days, DAYS_MAX))
        values = [(low + timedelta(days=days * at // count)).date().isoformat() for at in range(count)]
        return Values({"generate": "choice", "values": values}, "date", count, assumed)
    seconds = int((high - low).total_seconds()) + 1
    generator = {"generate": "timestamp", "from": low.isoformat(), "to": high.isoformat()}
    return Values(generator, "date", seconds, assumed)


def _choice(column: ColumnFacts, count: int, weights: list[float] | None) -> Values:
    values: list[int] | list[str]
    if kind_of(column) == "integer":
        possible = integer_range(column)
        low = whole(column.minimum)
        first = low if low is not None and low in possible else max(possible[0], 1)
        values = list(range(first, min(first + count, possible[-1] + 1)))
    else:
        values = _codes(column, count)
    generator: dict[str, Any] = {"generate": "choice", "values": values}
    if weights is not None:
        generator["weights"] = weights[: len(values)]
    return Values(generator, "choice", len(values), length=max(len(str(value)) for value in values))


def _codes(column: ColumnFacts, count: int) -> list[str]:
    """Made-up values: v1, v2, … with letters behind; single characters where there is no room."""
    digits = len(str(count))
    limit = length_limit(column)
    if limit > digits:
        return [f"v{number}{padding(column, 1 + len(str(number)))}" for number in range(1, count + 1)]
    characters = _PADDING + "0123456789"
    width = max(1, limit)
    most = min(count, len(characters) ** width)
    return [_in_letters(number, characters, width) for number in range(most)]


def _in_letters(number: int, characters: str, width: int) -> str:
    text = ""
    for _ in range(width):
        number, place = divmod(number, len(characters))
        text = characters[place] + text
    return text


def _letters(column: ColumnFacts, rows: int, way: str) -> Values:
    limit = length_limit(column)
    mean = round(column.length_mean) if column.length_mean is not None else min(_TEXT_LENGTH, limit)
    most = min(limit, max(column.length_max or mean, mean))
    low = max(0, 2 * min(mean, limit) - most)
    high = max(low, 2 * min(mean, limit) - low)
    assumed = [] if column.length_mean is not None else ["length"]
    return Values({"generate": way, "length": [low, high]}, "text", max(rows, 1), assumed, length=high)


def _json(column: ColumnFacts, rows: int) -> Values:
    length = max(1, round(column.length_mean or _TEXT_LENGTH) - 16)
    template = f'{{{{"n": {{integer:1-999}}, "s": "{{letters:{min(length, 60_000)}}}"}}}}'
    return Values(
        {"generate": "text", "template": template},
        "text",
        max(rows, 1),
        [] if column.length_mean is not None else ["length"],
    )


def whole(text: str | None) -> int | None:
    """A whole number; None for anything else."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _time(text: str | None) -> datetime | None:
    try:
        timestamp = datetime.fromisoformat(text) if text is not None else None
    except ValueError:
        return None
    return None if timestamp is None or timestamp.tzinfo is not None else timestamp.replace(microsecond=0)


Kind = Literal["integer", "decimal", "date", "text", "bytes", "json", "choice", "other"]

_BITS = {"tinyint": 8, "bool": 8, "boolean": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}
_KINDS: dict[Kind, tuple[str, ...]] = {
    "integer": (*_BITS, "serial", "year", "bit"),
    "decimal": ("decimal", "dec", "fixed", "numeric", "float", "double", "real"),
    "date": ("date", "datetime", "timestamp"),
    "text": ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "uuid", "inet4", "inet6"),
    "bytes": ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"),
    "json": ("json",),
    "choice": ("enum", "set"),
}
_LENGTHS = {"tinytext": 255, "tinyblob": 255, "uuid": 36, "inet4": 15, "inet6": 39, "char": 1, "binary": 1}
LENGTH_MAX = 65_535
_INT64_MAX = 2**63 - 1
_FOR_BITS = ((8, "TINYINT"), (16, "SMALLINT"), (32, "INT"))
_WIDE = ("utf8mb4", "ucs2", "utf16", "utf16le", "utf32", "binary")
_REPLACED = {"uuid": "CHAR(36)", "inet4": "VARCHAR(15)", "inet6": "VARCHAR(39)"}


def base_of(column: ColumnFacts) -> str:
    """The first word of its type."""
    match = re.match(r"[a-z0-9_]+", column.sql_type)
    return match[0] if match else ""


def kind_of(column: ColumnFacts) -> Kind:
    """What kind of values it has."""
    base = base_of(column)
    return next((kind for kind, bases in _KINDS.items() if base in bases), "other")


def integer_range(column: ColumnFacts) -> range:
    """All integers that it can hold and a workload can make.

    >>> integer_range(ColumnFacts(name="a", sql_type="tinyint(1) unsigned"))
    range(0, 256)
    """
    base = base_of(column)
    if base == "year":
        return range(1901, 2156)
    if base == "bit":
        return range(2 ** min(_number_in_type(column, 1), 62))
    bits = _BITS.get(base, 64)
    if base == "serial" or "unsigned" in column.sql_type or "zerofill" in column.sql_type:
        return range(min(2**bits, _INT64_MAX))
    return range(-(2 ** (bits - 1)), 2 ** (bits - 1))


def length_limit(column: ColumnFacts) -> int:
    """Most characters of text, or bytes, that a workload puts into it."""
    base = base_of(column)
    if base in ("enum", "set"):
        return 16
    return min(_number_in_type(column, _LENGTHS.get(base, LENGTH_MAX)), LENGTH_MAX)


def decimal_scale(column: ColumnFacts) -> tuple[int, int]:
    """Digits in all and after the point; of floating-point types 15 and 2."""
    match = re.match(r"\w+(?: precision)?\((\d+)(?:,(\d+))?\)", column.sql_type)
    if base_of(column) in ("float", "double", "real"):
        return (15, 2) if match is None or match[2] is None else (min(int(match[1]), 15), min(int(match[2]), 15))
    return (10, 0) if match is None else (min(int(match[1]), 18), min(int(match[2] or 0), 18))


def learned_type(column: ColumnFacts, *, length: int | None = None) -> tuple[str, bool]:
    """The type in a workload's table, and whether it is another one than the server has.

    Args:
        column: The column.
        length: Text must hold so many characters.
    """
    base, kind = base_of(column), kind_of(column)
    limit = max(length_limit(column), length or 0)
    match kind:
        case "integer" | "decimal":
            column_type = _number_type(column), base == "bit"
        case "date":
            digits = re.search(r"\([1-6]\)", column.sql_type)
            time = f"DATETIME{digits[0] if digits else ''}", base == "timestamp"
            column_type = ("DATE", False) if base == "date" else time
        case "json":
            column_type = "JSON", False
        case "bytes":
            column_type = (f"VARBINARY({limit})", base == "binary") if "binary" in base else (base.upper(), False)
        case "choice":
            column_type = f"VARCHAR({limit})", True
        case "text" if base not in _REPLACED:
            widened = f"{base}({limit})" if base in ("char", "varchar") else base
            column_type = widened.upper() + _character_set(column), limit > length_limit(column)
        case "other" if base == "time":
            column_type = "TIME", False
        case _:
            column_type = _REPLACED.get(base, "BLOB"), True
    return column_type


def _number_type(column: ColumnFacts) -> str:
    base = base_of(column)
    unsigned = " UNSIGNED" if "unsigned" in column.sql_type or "zerofill" in column.sql_type else ""
    if base == "bit":
        bits = _number_in_type(column, 1)
        return next((name for most, name in _FOR_BITS if bits <= most), "BIGINT") + " UNSIGNED"
    if kind_of(column) == "decimal":
        scale = re.search(r"\(\d+(?:,\d+)?\)", column.sql_type)
        return f"{base.upper()}{scale[0] if scale else ''}{unsigned}"
    plain = {"serial": "BIGINT UNSIGNED", "year": "YEAR", "bool": "TINYINT", "boolean": "TINYINT"}
    return plain.get(base, base.upper() + unsigned)


def _character_set(column: ColumnFacts) -> str:
    """Sets with other sizes than utf8mb4's matter for rows and indexes; made-up text is ASCII."""
    name = column.character_set
    if name is None or name in _WIDE:
        return ""
    narrow = {"utf8": "utf8mb3", "utf8mb3": "utf8mb3", "ascii": "ascii"}
    return f" CHARACTER SET {narrow.get(name, 'latin1')}"


def _number_in_type(column: ColumnFacts, otherwise: int) -> int:
    match = re.match(r"\w+\((\d{1,9})\)", column.sql_type)
    return int(match[1]) if match else otherwise
