"""The texts of a learned workload: its file, laid out as a person would write it, `[learned]` in it, CREATE TABLE.

`[learned]` is put into the text of a workload file without any other change. TOML is by tomlkit. CREATE TABLE is for
people and for whoever reads plans, and valid on both servers; Plimsoll makes its tables from the workload file.
Deliberately not here: what is in a file (`workload`), what `[learned]` means (`spec.learned_section`), and rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import tomlkit
from tomlkit.items import AoT, InlineTable, Table

from plimsoll.learn.demand import Demand
from plimsoll.learn.fidelity import kinds_of
from plimsoll.learn.fidelity_model import Fidelity, LogPeriod
from plimsoll.learn.profile_model import Profile
from plimsoll.learn.report_model import LogReport

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
    tables = tomlkit.aot()
    for entry in entries:
        tables.append(_table(entry))
    return tables


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
    for key, item in value.items():
        table.add(key, _inline(item) if isinstance(item, Mapping) else item)
    return table


_DIGITS = 6


def period_of(profile: Profile, report: LogReport, demand: Demand | None) -> LogPeriod:
    """The log that a workload was learned from."""
    return LogPeriod(
        first_unix_s=None if demand is None else demand.first_unix_s,
        last_unix_s=None if demand is None else demand.last_unix_s,
        transactions_count=report.transactions_count,
        transaction_share=1 - profile.other_share,
        time_share=None if profile.other_time_share is None else 1 - profile.other_time_share,
    )


def with_learned(text: str, period: LogPeriod, fidelity: Fidelity | None = None) -> str:
    """The text of a workload file with `[learned]` at its end, or in place of the one that it has.

    Args:
        text: Of the file.
        period: Of the log.
        fidelity: What a run of it showed; None for none.
    """
    table = tomlkit.table()
    for key, value in _learned_fields(period).items():
        table.add(key, value)
    if fidelity is not None:
        table.add("check", _check(fidelity))
    document = tomlkit.parse(text)
    document["learned"] = table
    return tomlkit.dumps(document)


def _learned_fields(period: LogPeriod) -> dict[str, Any]:
    fields = {
        "from": _moment(period.first_unix_s),
        "to": _moment(period.last_unix_s),
        "transactions": round(period.transactions_count),
        "transaction_share": round(period.transaction_share, _DIGITS),
        "time_share": None if period.time_share is None else round(period.time_share, _DIGITS),
    }
    return {key: value for key, value in fields.items() if value is not None}


def _check(fidelity: Fidelity) -> Any:
    table, how = tomlkit.table(), fidelity.conditions
    table.add("at", _moment(how.checked_unix_s))
    table.add("server", how.server)
    table.add("connections", how.connections)
    table.add("duration_s", how.duration_s)
    figures = tomlkit.array()
    for kind in kinds_of(fidelity):
        entry = tomlkit.inline_table()
        for key, value in kind.model_dump(exclude_none=True).items():
            entry.append(key, round(value, _DIGITS) if isinstance(value, float) else value)
        figures.append(entry)
    table.add("figures", figures.multiline(multiline=True))
    return table


def _moment(unix_s: int | None) -> datetime | None:
    return None if unix_s is None else datetime.fromtimestamp(unix_s, UTC)


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
        f"ADD FOREIGN KEY ({_names(key['columns'])}) REFERENCES {_quoted(key['table'])} ({_names(key['references'])})"
        + _ON_DELETE.get(key.get("on_delete", ""), "")
        for key in table["foreign_key"]
    )
    return f"ALTER TABLE {_quoted(table['name'])}\n  " + ",\n  ".join(added) + ";"


def _names(names: Sequence[str]) -> str:
    return ", ".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
