"""What an INSERT must know of a table: the columns that need a value, and those in which no two rows are alike."""

from __future__ import annotations

from plimsoll.learn.catalog import Catalog
from plimsoll.learn.schema_model import ColumnKey, SchemaFacts, TableKey


class InsertKeys:
    """Of all tables of a schema.

    Args:
        schema: Of the server.
    """

    def __init__(self, schema: SchemaFacts) -> None:
        self._tables = {one.key: one for one in schema.tables}

    def catalog(self) -> Catalog:
        """Their columns."""
        return Catalog({key: tuple(column.name for column in one.columns) for key, one in self._tables.items()})

    def required(self, table: TableKey) -> tuple[str, ...]:
        """Columns that an INSERT must give a value, in lower case."""
        return tuple(
            one.name.lower()
            for one in self._tables[table].columns
            if not (one.is_nullable or one.has_default or one.is_auto_increment or one.is_generated)
        )

    def unique(self, table: TableKey) -> tuple[tuple[str, ...], ...]:
        """The columns of the primary key and of unique indexes, in lower case."""
        facts = self._tables[table]
        indexes = [one for one in (facts.primary_key, *facts.indexes) if one is not None]
        return tuple(
            tuple(name.lower() for name in one.columns)
            for one in indexes
            if one is facts.primary_key or (one.is_unique and one.kind == "btree")
        )

    def references(self) -> dict[ColumnKey, ColumnKey]:
        """By column of a foreign key of one column, what it refers to."""
        return {
            (key, one.columns[0].lower()): (one.parent, one.references[0].lower())
            for key, facts in self._tables.items()
            for one in facts.foreign_keys
            if len(one.columns) == 1
        }
