"""The data of a learned workload: from facts of a server's tables to tables of a workload file.

It also says where values of statements come from so that they find rows. Deliberately not here: how single tables are
made (`made_tables`), and statements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from plimsoll.learn.data_notes import DataNote, notes_of
from plimsoll.learn.made_tables import made_tables
from plimsoll.learn.names import OwnNames, Pseudonyms
from plimsoll.learn.schema_model import ColumnKey, SchemaFacts, TableKey
from plimsoll.learn.table_keys import MadeTable
from plimsoll.learn.written_tables import Written, written_tables

DomainKind = Literal["key", "reference", "choice", "integer", "decimal", "date", "text"]


@dataclass(frozen=True, slots=True)
class Domain:
    """Which values a column has.

    Attributes:
        kind: How they are made.
        generator: The keys of a value in a statement that takes each of them equally often; a distribution may be added
            where the generator is `reference`, `integer`, `decimal` or `timestamp`. Of `letters` and `hex` it finds no
            row.
        size: How many different values there are.
        is_unique: Each of them is in one row at most.
    """

    kind: DomainKind
    generator: dict[str, Any]
    size: int
    is_unique: bool


@dataclass(frozen=True, slots=True)
class LearnedTables:
    """The tables of a learned workload.

    Attributes:
        tables: As a workload file's `[[table]]`, those first that others refer to.
        notes: What was assumed, and what a workload cannot have.
    """

    tables: list[dict[str, Any]]
    notes: tuple[DataNote, ...]
    _made: Mapping[TableKey, MadeTable]
    _written: Written

    def domain(self, column: ColumnKey) -> Domain | None:
        """Which values a column has; None for one that there is not."""
        table, name = column
        made = self._made.get(table)
        values = None if made is None else made.values.get(name)
        if values is None:
            return None
        generator = self._written.finding(table, name)
        return Domain(cast("DomainKind", values.kind), generator, values.size, values.is_unique)

    def table_name(self, table: TableKey) -> str:
        """What a table is called in the workload.

        Raises:
            KeyError: There is no such table.
        """
        return self._written.names[table]


def learned_tables(
    schema: SchemaFacts,
    *,
    scale: float,
    choices: Mapping[ColumnKey, Sequence[float]] | None = None,
    names: Pseudonyms | None = None,
) -> LearnedTables:
    """The tables of a workload with data like a server's.

    Args:
        schema: Its facts.
        scale: Tables of more than 100 rows get so many times as many, above 0.
        choices: By column, how often each of its values occurs, the most frequent first.
        names: Gives the names; None to keep those of the server.
    """
    made, links = made_tables(schema, scale, choices or {})
    written = written_tables(made, names or OwnNames())
    return LearnedTables(written.tables, notes_of(schema, made, links, written), made, written)
