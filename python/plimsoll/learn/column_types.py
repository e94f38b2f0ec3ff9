"""Types of columns: what kind of values they have, how large these may be, and the type that a workload's table gets.

A workload's types have no quotes in them, so ENUM and SET become VARCHAR. BIT becomes an integer, since servers take a
number that is sent as text for a string of bits. TIMESTAMP becomes DATETIME, because a made-up
time may not exist in the server's time zone. Deliberately not here: values.
"""

from __future__ import annotations

import re
from typing import Literal

from plimsoll.learn.schema_model import ColumnFacts

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
    found = re.match(r"[a-z0-9_]+", column.sql_type)
    return found[0] if found else ""


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
        return range(2 ** min(_number(column, 1), 62))
    bits = _BITS.get(base, 64)
    if base == "serial" or "unsigned" in column.sql_type or "zerofill" in column.sql_type:
        return range(min(2**bits, _INT64_MAX))
    return range(-(2 ** (bits - 1)), 2 ** (bits - 1))


def length_limit(column: ColumnFacts) -> int:
    """Most characters of text, or bytes, that a workload puts into it."""
    base = base_of(column)
    if base in ("enum", "set"):
        return 16
    return min(_number(column, _LENGTHS.get(base, LENGTH_MAX)), LENGTH_MAX)


def decimal_scale(column: ColumnFacts) -> tuple[int, int]:
    """Digits in all and after the point; of floating-point types 15 and 2."""
    found = re.match(r"\w+(?: precision)?\((\d+)(?:,(\d+))?\)", column.sql_type)
    if base_of(column) in ("float", "double", "real"):
        return (15, 2) if found is None or found[2] is None else (min(int(found[1]), 15), min(int(found[2]), 15))
    return (10, 0) if found is None else (min(int(found[1]), 18), min(int(found[2] or 0), 18))


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
            found = _number_type(column), base == "bit"
        case "date":
            digits = re.search(r"\([1-6]\)", column.sql_type)
            time = f"DATETIME{digits[0] if digits else ''}", base == "timestamp"
            found = ("DATE", False) if base == "date" else time
        case "json":
            found = "JSON", False
        case "bytes":
            found = (f"VARBINARY({limit})", base == "binary") if "binary" in base else (base.upper(), False)
        case "choice":
            found = f"VARCHAR({limit})", True
        case "text" if base not in _REPLACED:
            widened = f"{base}({limit})" if base in ("char", "varchar") else base
            found = widened.upper() + _character_set(column), limit > length_limit(column)
        case "other" if base == "time":
            found = "TIME", False
        case _:
            found = _REPLACED.get(base, "BLOB"), True
    return found


def _number_type(column: ColumnFacts) -> str:
    base = base_of(column)
    unsigned = " UNSIGNED" if "unsigned" in column.sql_type or "zerofill" in column.sql_type else ""
    if base == "bit":
        bits = _number(column, 1)
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


def _number(column: ColumnFacts, otherwise: int) -> int:
    found = re.match(r"\w+\((\d{1,9})\)", column.sql_type)
    return int(found[1]) if found else otherwise
