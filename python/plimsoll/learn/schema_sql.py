"""Tables of a learned workload as CREATE TABLE, for people and for whoever looks at plans: valid on both servers.

Plimsoll makes its tables from the workload file and not from this text. Deliberately not here: rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ON_DELETE = {"cascade": " ON DELETE CASCADE", "set_null": " ON DELETE SET NULL"}


def schema_sql(tables: Sequence[Mapping[str, Any]]) -> str:
    """All tables; foreign keys come last, so that the order of tables does not matter.

    Args:
        tables: As `LearnedTables.tables`.
    """
    parts = [_create(table) for table in tables]
    parts += [_alter(table) for table in tables if table.get("foreign_key")]
    return "\n\n".join(parts) + "\n" if parts else ""


def _create(table: Mapping[str, Any]) -> str:
    lines = [_column(column, table["primary_key"]) for column in table["column"]]
    lines.append(f"PRIMARY KEY ({_names(table['primary_key'])})")
    lines += _indexes(table)
    inner = ",\n  ".join(lines)
    return f"CREATE TABLE {_quoted(table['name'])} (  -- {table['rows']:,} rows\n  {inner}\n) ENGINE=InnoDB;"


def _column(column: Mapping[str, Any], primary_key: Sequence[str]) -> str:
    is_nullable = column.get("nullable", False) and column["name"] not in primary_key
    increment = " AUTO_INCREMENT" if column.get("auto_increment") else ""
    return f"{_quoted(column['name'])} {column['type']}{'' if is_nullable else ' NOT NULL'}{increment}"


def _indexes(table: Mapping[str, Any]) -> Iterator[str]:
    for index in table.get("index", ()):
        lengths = index.get("lengths") or [0] * len(index["columns"])
        parts = (
            _quoted(name) + (f"({length})" if length else "")
            for name, length in zip(index["columns"], lengths, strict=True)
        )
        yield f"{'UNIQUE ' if index.get('unique') else ''}KEY {_quoted(index['name'])} ({', '.join(parts)})"


def _alter(table: Mapping[str, Any]) -> str:
    added = (
        f"ADD FOREIGN KEY ({_names(one['columns'])}) REFERENCES {_quoted(one['table'])} ({_names(one['references'])})"
        + _ON_DELETE.get(one.get("on_delete", ""), "")
        for one in table["foreign_key"]
    )
    return f"ALTER TABLE {_quoted(table['name'])}\n  " + ",\n  ".join(added) + ";"


def _names(names: Sequence[str]) -> str:
    return ", ".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
