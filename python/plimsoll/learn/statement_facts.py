"""What a statement does to which tables: of its literals the column, of a SELECT the columns that it gives.

sqlglot parses each template once. Deliberately not here: names that may be shown (`names`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from plimsoll.learn.catalog import Catalog
from plimsoll.learn.one_schema import into_one_schema
from plimsoll.learn.schema_model import ColumnKey, TableKey
from plimsoll.learn.slots import Slot, numbered, slot_number, slots_in
from plimsoll.learn.sql_tree import parsed

Resolve = Callable[[str, str], ColumnKey | None]
"""From the name of a column and what qualifies it."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A column of a result that is a column of a table.

    Attributes:
        column: Of the table.
        output: What the result calls it, as written.
    """

    column: ColumnKey
    output: str


@dataclass(frozen=True, slots=True)
class StatementFacts:
    """One template.

    Attributes:
        tree: Its literals are placeholders `:p0`, `:p1`, …; it names tables as in one schema.
        tables: That it names, each once, in order.
        slots: Its literals.
        columns: By slot, whose value it is; None where it is of no column or that cannot be told.
        selected: Of its result; empty for what gives none.
        inserts_into: The table of an INSERT or REPLACE.
        inserted: The columns that it names, in order; empty where it names none.
        added: Columns that are written as their old value plus something.
    """

    tree: exp.Expr
    tables: tuple[TableKey, ...]
    slots: tuple[Slot, ...]
    columns: tuple[ColumnKey | None, ...]
    selected: tuple[Selected, ...] = ()
    inserts_into: TableKey | None = None
    inserted: tuple[str, ...] = ()
    added: frozenset[ColumnKey] = frozenset()


def tables_in(text: str, schema: str) -> set[tuple[str, str]]:
    """Schema and name of the tables that a template names, as it writes them; none where it cannot be parsed.

    Args:
        text: With `?` and `(...)` for literals.
        schema: In which it ran.
    """
    tree = parsed(numbered(text))
    defined = {one.alias.lower() for one in tree.find_all(exp.CTE)} if tree is not None else set()
    found = () if tree is None else tree.find_all(exp.Table)
    return {(one.db or schema, one.name) for one in found if one.db or one.name.lower() not in defined}


def statement_facts(text: str, slots_count: int, schema: str, catalog: Catalog) -> StatementFacts | None:
    """What a template does; None where it cannot be parsed.

    Args:
        text: With `?` and `(...)` for literals.
        slots_count: How many of them there are.
        schema: In which it ran; empty where the log does not say.
        catalog: The tables that are known.
    """
    tree = parsed(numbered(text))
    if tree is None:
        return None
    places = into_one_schema(tree, schema, catalog)
    tables = tuple(dict.fromkeys(places.values()))

    def resolve(name: str, qualifier: str) -> ColumnKey | None:
        if qualifier:
            table = places.get(qualifier.lower())
            return None if table is None else (table, name.lower())
        having = [one for one in tables if catalog.has(one, name)] or (tables if len(tables) == 1 else ())
        return (having[0], name.lower()) if len(having) == 1 else None

    slots = tuple(slots_in(tree, slots_count))
    insert = tree if isinstance(tree, exp.Insert) else None
    named = insert.find(exp.Schema) if insert is not None else None
    if insert is not None and named is None and tables and isinstance(tree.expression, exp.Values):
        columns = catalog.columns(tables[0])
        slots = tuple(_by_position(tree, slots, columns))
        named = exp.Schema(this=insert.this, expressions=[exp.to_identifier(one, quoted=True) for one in columns])
        insert.set("this", named)
    return StatementFacts(
        tree=tree,
        tables=tables,
        slots=slots,
        columns=tuple(None if one.column is None else resolve(one.column, one.qualifier) for one in slots),
        selected=tuple(_selected(tree, resolve)),
        inserts_into=tables[0] if insert is not None and tables else None,
        inserted=tuple(one.name.lower() for one in named.expressions) if named is not None else (),
        added=frozenset(_added(tree, resolve)),
    )


def _by_position(tree: exp.Expr, slots: tuple[Slot, ...], columns: tuple[str, ...]) -> Iterator[Slot]:
    """The literals of an INSERT that names no columns."""
    places = {
        slot_number(node): node.parent.expressions.index(node)
        for node in tree.find_all(exp.Placeholder)
        if isinstance(node.parent, exp.Tuple) and len(node.parent.expressions) == len(columns)
    }
    for number, slot in enumerate(slots):
        yield Slot("written", columns[places[number]]) if number in places else slot


def _selected(tree: exp.Expr, resolve: Resolve) -> list[Selected]:
    found = []
    for one in tree.expressions if isinstance(tree, exp.Select) else ():
        column = one.this if isinstance(one, exp.Alias) else one
        if isinstance(column, exp.Column) and (key := resolve(column.name, column.table)):
            found.append(Selected(key, one.alias_or_name))
    return found


def _added(tree: exp.Expr, resolve: Resolve) -> list[ColumnKey]:
    """Of `SET c = c + …`, or minus."""
    found = []
    for one in tree.expressions if isinstance(tree, exp.Update) else ():
        if not isinstance(one, exp.EQ) or not isinstance(one.expression, exp.Add | exp.Sub):
            continue
        column, old = one.this, one.expression.this
        is_own = isinstance(column, exp.Column) and isinstance(old, exp.Column) and column.name == old.name
        if is_own and (key := resolve(column.name, column.table)):
            found.append(key)
    return found
