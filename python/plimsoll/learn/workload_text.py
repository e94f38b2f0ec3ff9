"""The text of a learned workload file, laid out as a person would write it. TOML by tomlkit.

Deliberately not here: what is in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.items import AoT, InlineTable, Table

_TABLES = ("column", "index", "foreign_key", "statement")
"""Keys that become tables of their own; all others stand on one line."""


def workload_text(
    description: str, *, prepared: bool, tables: Sequence[Mapping[str, Any]], transactions: Sequence[Mapping[str, Any]]
) -> str:
    """A workload file.

    Args:
        description: What it is.
        prepared: Statements are prepared.
        tables: As `[[table]]` has them.
        transactions: As `[[transaction]]` has them.
    """
    document = tomlkit.document()
    document.add("description", tomlkit.string(description))
    document.add("prepared", tomlkit.boolean("true" if prepared else "false"))
    for name, entries in (("table", tables), ("transaction", transactions)):
        if entries:
            document.add(name, _entries(entries))
    return tomlkit.dumps(document)


def _entries(entries: Sequence[Mapping[str, Any]]) -> AoT:
    found = tomlkit.aot()
    for entry in entries:
        found.append(_table(entry))
    return found


def _table(entry: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in entry.items():
        if key in _TABLES:
            table.add(key, _entries(value))
        elif key == "values" and isinstance(value, Mapping):
            for name, generator in value.items():
                table.append(tomlkit.key(["values", name]), _inline(generator))
        elif isinstance(value, Mapping):
            table.add(key, _inline(value))
        elif isinstance(value, str) and len(value) > 100:
            table.add(key, tomlkit.string(value, literal="'" not in value and "\n" not in value))
        else:
            table.add(key, value)
    return table


def _inline(value: Mapping[str, Any]) -> InlineTable:
    table = tomlkit.inline_table()
    for key, one in value.items():
        table.add(key, _inline(one) if isinstance(one, Mapping) else one)
    return table
