"""Statements on tables of several schemas as a workload runs them, in one schema: names lose their schemas.

Tables that would then have one name get different ones, the same as the made tables have. Deliberately not here:
pseudonyms (`names`).
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from plimsoll.learn.catalog import Catalog
from plimsoll.learn.report_model import LogReport
from plimsoll.learn.schema_model import TableKey
from plimsoll.learn.sql_tree import parsed, sql_of, with_marks


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
    texts = {one.template: _text(one.text, schemas.get(one.template, ""), catalog) for one in report.templates}
    templates = tuple(one.model_copy(update={"text": texts[one.template]}) for one in report.templates)
    return report.model_copy(update={"templates": templates})


def _text(text: str, schema: str, catalog: Catalog) -> str:
    """A template; as it is if all of its tables keep their names, or it cannot be parsed."""
    tree = parsed(with_marks(text))
    named = () if tree is None else tree.find_all(exp.Table)
    if tree is None or not any(catalog.table(one.db or schema, one.name) in catalog.other_names for one in named):
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
