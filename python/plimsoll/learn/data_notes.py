"""What was assumed of a server's data, and what a workload's tables cannot have: codes and figures.

Tables and columns are named as in the workload. Deliberately not here: the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from plimsoll.learn.column_types import learned_type
from plimsoll.learn.schema_model import RowsAre, SchemaFacts, TableFacts, TableKey
from plimsoll.learn.table_keys import MadeTable
from plimsoll.learn.table_links import Links
from plimsoll.learn.written_tables import Written, is_nullable
from plimsoll.record.document import Document

_LEFT_OUT = "table-left-out"
_ROWS_FROM: dict[RowsAre, str] = {
    "unknown": "rows-assumed",
    "estimated": "rows-estimated",
    "numbered": "rows-from-auto-increment",
    "logged": "rows-from-log",
}


class DataNote(Document):
    """One assumption, or one thing that is otherwise than on the server.

    Attributes:
        code: Which, see docs/learn-data.md.
        table: Its name in the workload.
        column: Likewise; None where it is of the whole table.
        figures: By name.
    """

    code: str
    table: str
    column: str | None = None
    figures: dict[str, float | str] = Field(default_factory=dict)


def notes_of(
    schema: SchemaFacts, made: Mapping[TableKey, MadeTable], links: Links, written: Written
) -> tuple[DataNote, ...]:
    """All notes, table after table.

    Args:
        schema: The facts as they were read.
        made: The tables.
        links: Between their columns.
        written: Their names.
    """
    found: list[DataNote] = []
    as_read = {table.key: table for table in schema.tables}
    for key, table in made.items():
        name = written.names[key]
        for code, figures in (*_of_rows(table), *_of_parts(as_read[key], table, written.foreign_keys_left_out[key])):
            found.append(DataNote(code=code, table=name, figures=figures))
        for column, code, figures in _of_columns(key, table, links, written):
            found.append(DataNote(code=code, table=name, column=column, figures=figures))
    left_out = (
        DataNote(code=_LEFT_OUT, table=written.pseudonyms.of("t", one.name), figures={"reason": one.reason})
        for one in schema.left_out
    )
    return (*found, *left_out)


_Coded = tuple[str, dict[str, float | str]]


def _of_rows(table: MadeTable) -> Iterator[_Coded]:
    if (code := _ROWS_FROM.get(table.facts.rows_are)) is not None:
        yield code, {"rows": table.rows_before}
    if table.is_assumed:
        yield "key-assumed", {"columns": len(table.key)}
    if table.rows < table.rows_wanted:
        yield "rows-cut", {"rows": table.rows, "rows_wanted": table.rows_wanted}
    if not table.key:
        yield "primary-key-added", {}


def _of_parts(before: TableFacts, table: MadeTable, foreign_keys_left_out: int) -> Iterator[_Coded]:
    facts = table.facts
    assumed = sum(bool(one.assumed) for one in table.values.values())
    defaults = sum(is_nullable(table, one) and not one.is_nullable for one in facts.columns)
    not_unique = sum(one.is_unique for one in facts.indexes) - len(table.unique)
    counts = {
        "figures-assumed": assumed,
        "default-becomes-null": defaults,
        "generated-left-out": len(before.columns) - len(facts.columns),
        "index-left-out": len(before.indexes) - len(facts.indexes),
        "unique-left-out": not_unique,
        "foreign-key-left-out": foreign_keys_left_out,
    }
    for code, count in counts.items():
        if count:
            yield code, {"count": count}


def _of_columns(
    key: TableKey, table: MadeTable, links: Links, written: Written
) -> Iterator[tuple[str, str, dict[str, float | str]]]:
    for facts in table.facts.columns:
        name = facts.name.lower()
        shown, values = written.pseudonyms.of("c", facts.name), table.values[name]
        link = links.get((key, name))
        if link is not None and link.is_assumed and values.kind in ("reference", "key"):
            yield shown, "reference-assumed", {"table": written.names[link.table]}
        of_type, is_other = learned_type(facts, length=values.length)
        if values.target is None and (is_other or values.sql_type is not None):
            yield shown, "type-replaced", {"type": values.sql_type or of_type}
