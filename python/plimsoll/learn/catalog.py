"""The tables and columns that are known, and which of them a statement means.

Deliberately not here: statements (`one_schema`, `statement_facts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.learn.schema_model import TableKey

_LENGTH_MAX = 64
"""Characters of a name, on both servers."""


def other_names(tables: Iterable[TableKey]) -> dict[TableKey, str]:
    """New names of tables that cannot keep theirs in the one schema of a workload.

    Of tables of one name in several schemas the first one keeps it, by the alphabet of the schemas; each other one has
    the name of its schema before its own.

    >>> other_names([("a", "orders"), ("b", "orders"), ("b", "lines")])
    {('b', 'orders'): 'b_orders'}
    """
    keys = sorted(tables)
    taken = {name for _, name in keys}
    kept, found = set[str](), dict[TableKey, str]()
    for schema, name in keys:
        if name not in kept:
            kept.add(name)
            continue
        long, number = f"{schema}_{name}"[:_LENGTH_MAX], 1
        while long in taken:
            number += 1
            end = f"_{number}"
            long = f"{schema}_{name}"[: _LENGTH_MAX - len(end)] + end
        taken.add(long)
        found[schema, name] = long
    return found


class Catalog:
    """The columns of known tables, to tell whose column an unqualified name is.

    Args:
        columns: By table, names of its columns.

    Attributes:
        other_names: Of tables that cannot keep their names in the one schema of a workload.
    """

    def __init__(self, columns: Mapping[TableKey, tuple[str, ...]]) -> None:
        self._columns = {table: {name.lower() for name in names} for table, names in columns.items()}
        self._order = {table: tuple(name.lower() for name in names) for table, names in columns.items()}
        self.other_names = other_names(columns)

    def table(self, schema: str, name: str) -> TableKey:
        """A table as it is known: one without schema stands for that of any, if there is only one."""
        key = (schema.lower(), name.lower())
        if key in self._columns:
            return key
        alike = [one for one in self._columns if one[1] == key[1] and (not key[0] or not one[0])]
        return alike[0] if len(alike) == 1 else key

    def has(self, table: TableKey, column: str) -> bool:
        """Whether a table has a column."""
        return column.lower() in self._columns.get(table, ())

    def knows(self, table: TableKey) -> bool:
        """Whether a table is known."""
        return table in self._columns

    def columns(self, table: TableKey) -> tuple[str, ...]:
        """The columns of a table in order, in lower case."""
        return self._order.get(table, ())
