"""What a statement does to which tables: of its literals the column, of a SELECT the columns that it gives.

sqlglot parses each template once. Statements on tables of several schemas lose their schemas, as a workload runs them
in one. Tables that would then have one name get different ones, the same as the made tables have. Deliberately not
here: pseudonyms (`names`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from plimsoll.learn.report_model import LogReport
from plimsoll.learn.schema_model import Catalog, ColumnKey, TableKey
from plimsoll.learn.sql_tree import Slot, numbered, parsed, slot_number, slots_in, sql_of, with_marks

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
    defined = {cte.alias.lower() for cte in tree.find_all(exp.CTE)} if tree is not None else set()
    tables = () if tree is None else tree.find_all(exp.Table)
    return {(table.db or schema, table.name) for table in tables if table.db or table.name.lower() not in defined}


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
        having = [table for table in tables if catalog.has(table, name)] or (tables if len(tables) == 1 else ())
        return (having[0], name.lower()) if len(having) == 1 else None

    slots = tuple(slots_in(tree, slots_count))
    insert = tree if isinstance(tree, exp.Insert) else None
    named = insert.find(exp.Schema) if insert is not None else None
    if insert is not None and named is None and tables and isinstance(tree.expression, exp.Values):
        columns = catalog.columns(tables[0])
        slots = tuple(_by_position(tree, slots, columns))
        named = exp.Schema(this=insert.this, expressions=[exp.to_identifier(column, quoted=True) for column in columns])
        insert.set("this", named)
    return StatementFacts(
        tree=tree,
        tables=tables,
        slots=slots,
        columns=tuple(None if slot.column is None else resolve(slot.column, slot.qualifier) for slot in slots),
        selected=tuple(_selected(tree, resolve)),
        inserts_into=tables[0] if insert is not None and tables else None,
        inserted=tuple(expression.name.lower() for expression in named.expressions) if named is not None else (),
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
    selected = []
    for expression in tree.expressions if isinstance(tree, exp.Select) else ():
        column = expression.this if isinstance(expression, exp.Alias) else expression
        if isinstance(column, exp.Column) and (key := resolve(column.name, column.table)):
            selected.append(Selected(key, expression.alias_or_name))
    return selected


def _added(tree: exp.Expr, resolve: Resolve) -> list[ColumnKey]:
    """Of `SET c = c + …`, or minus."""
    added = []
    for expression in tree.expressions if isinstance(tree, exp.Update) else ():
        if not isinstance(expression, exp.EQ) or not isinstance(expression.expression, exp.Add | exp.Sub):
            continue
        column, old = expression.this, expression.expression.this
        is_own = isinstance(column, exp.Column) and isinstance(old, exp.Column) and column.name == old.name
        if is_own and (key := resolve(column.name, column.table)):
            added.append(key)
    return added


def into_one_schema(tree: exp.Expr, schema: str, catalog: Catalog) -> dict[str, TableKey]:
    """Takes the schemas out of a tree.

    Args:
        tree: Of a statement; it is changed.
        schema: In which it ran; empty where the log does not say.
        catalog: The tables that are known.

    Returns:
        The tables by what the tree then calls them, which is the alias where there is one, in lower case.
    """
    places: dict[str, TableKey] = {}
    without_alias: list[TableKey] = []
    for node in list(tree.find_all(exp.Table)):
        table = catalog.table(node.db or schema, node.name)
        if not node.alias:
            without_alias.append(table)
        _rename(node, "this", catalog.other_names.get(table))
        places[(node.alias or node.name).lower()] = table
    for column in list(tree.find_all(exp.Column)):
        if column.table:
            meant = _meant(column, schema, catalog, without_alias)
            _rename(column, "table", None if meant is None else catalog.other_names.get(meant))
    for named in tree.find_all(exp.Table, exp.Column):
        named.set("db", None)
        named.set("catalog", None)
    return places


def report_in_one_schema(report: LogReport, schemas: Mapping[int, str], catalog: Catalog) -> LogReport:
    """The report with the names that tables have in one schema, by which its statements are found in a workload.

    Args:
        report: As the log has the names.
        schemas: By template, the schema that its statements ran in.
        catalog: The tables that are known.
    """
    if not catalog.other_names:
        return report
    texts = {
        template.template: _text(template.text, schemas.get(template.template, ""), catalog)
        for template in report.templates
    }
    templates = tuple(template.model_copy(update={"text": texts[template.template]}) for template in report.templates)
    return report.model_copy(update={"templates": templates})


def _text(text: str, schema: str, catalog: Catalog) -> str:
    """A template; as it is if all of its tables keep their names, or it cannot be parsed."""
    tree = parsed(with_marks(text))
    named = () if tree is None else tree.find_all(exp.Table)
    if tree is None or not any(catalog.table(table.db or schema, table.name) in catalog.other_names for table in named):
        return text
    into_one_schema(tree, schema, catalog)
    return sql_of(tree, tree.sql("mysql", comments=False))


def _meant(column: exp.Column, schema: str, catalog: Catalog, without_alias: list[TableKey]) -> TableKey | None:
    """The table before the name of a column; None where it is an alias."""
    if column.db:
        return catalog.table(column.db or schema, column.table)
    return next((table for table in without_alias if table[1] == column.table.lower()), None)


def _rename(node: exp.Expr, role: str, name: str | None) -> None:
    if name is not None:
        node.set(role, exp.to_identifier(name, quoted=not name.isidentifier()))
