"""One text for statements that differ in literals, placeholders and layout only, by which two logs are matched.

Deliberately not here: how statements were told from each other when a log was read (the engine's lexer).
"""

from __future__ import annotations

from sqlglot import exp

from plimsoll.learn.slots import numbered
from plimsoll.learn.sql_tree import parsed, sql_of


def canonical(text: str) -> str | None:
    """The statement with `?` for each literal and placeholder, lists and rows of them as one; None where it is no SQL.

    Names lose quotes, capitals and schemas: a workload runs in one schema.

    >>> canonical("SELECT `C1` FROM s1.t1 WHERE c2 IN (:a, 5) LIMIT 1")
    'SELECT c1 FROM t1 WHERE c2 IN (?) LIMIT ?'
    """
    tree = parsed(numbered(text))
    if tree is None:
        return None
    for node in list(tree.walk()):
        if isinstance(node, exp.Literal | exp.Placeholder):
            node.replace(exp.Placeholder())
        elif isinstance(node, exp.Identifier):
            node.replace(exp.to_identifier(node.name.lower(), quoted=False))
    for named in list(tree.find_all(exp.Table, exp.Column)):
        named.set("db", None)
        named.set("catalog", None)
    for sign in list(tree.find_all(exp.Neg)):
        if isinstance(sign.this, exp.Placeholder):
            sign.replace(exp.Placeholder())
    _fold_lists(tree)
    return sql_of(tree, tree.sql("mysql", comments=False))


def _fold_lists(tree: exp.Expr) -> None:
    for each in tree.find_all(exp.In):
        if each.expressions and _are_placeholders(each.expressions):
            each.set("expressions", [exp.Placeholder()])
    for rows in tree.find_all(exp.Values):
        if all(_are_placeholders(row.expressions or [row.this]) for row in rows.expressions):
            rows.set("expressions", [exp.Tuple(expressions=[exp.Placeholder()])])


def _are_placeholders(nodes: list[exp.Expr]) -> bool:
    return all(isinstance(one, exp.Placeholder) for one in nodes)
