"""The text of a learned statement as a workload file has it: `:name` for each value that changes, new names.

Deliberately not here: where values come from (`value_sources`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL

from plimsoll.learn.names import Pseudonyms
from plimsoll.learn.slots import slot_number
from plimsoll.learn.sql_tree import sql_of
from plimsoll.learn.statement_facts import StatementFacts

Written = str | int | float | None
"""What stands for a literal: the name of a value, a number that is part of the statement, or NULL."""


def runnable_sql(
    facts: StatementFacts,
    written: Mapping[int, Written],
    names: Pseudonyms,
    *,
    row: Sequence[tuple[str, Written]] | None = None,
    more: Sequence[tuple[str, Written]] = (),
) -> str:
    """The statement.

    Args:
        facts: Of one template.
        written: By slot, what stands for it.
        names: New names of everything.
        row: Of an INSERT of several rows, the columns and what is written to them.
        more: Columns that an INSERT leaves out, and what is to be written to them.
    """
    tree = facts.tree.copy()
    if row is not None:
        _set_row(tree, row)
    for node in list(tree.find_all(exp.Placeholder)):
        number = slot_number(node)
        if number is not None and number in written:
            node.replace(_node(written[number]))
    if more:
        _add_columns(tree, facts.inserted, more)
    names.rename(tree)
    text: str = _ForBoth(dialect="mysql", comments=False).generate(tree)
    return sql_of(tree, text)


class _ForBoth(MySQL.Generator):  # type: ignore[misc, valid-type]  # made by sqlglot when it is imported
    """Writes what MySQL as well as MariaDB understand: MariaDB has neither FOR SHARE nor REGEXP_LIKE."""

    def lock_sql(self, expression: exp.Lock) -> str:
        is_plain = not any(expression.args.get(name) for name in ("update", "wait", "expressions"))
        if is_plain and expression.args.get("wait") is None:
            return "LOCK IN SHARE MODE"
        other: str = super().lock_sql(expression)
        return other

    def regexplike_sql(self, expression: exp.RegexpLike) -> str:
        if expression.args.get("flag"):
            call: str = self.function_fallback_sql(expression)
            return call
        sides = (expression.this, expression.expression)
        first, second = (exp.paren(one) if isinstance(one, exp.Binary | exp.Unary) else one for one in sides)
        return f"{self.sql(first)} REGEXP {self.sql(second)}"


def _node(written: Written) -> exp.Expr:
    if written is None:
        return exp.Null()
    if isinstance(written, str):
        return exp.Placeholder(this=written)
    number = exp.Literal.number(abs(written))
    return number if written >= 0 else exp.Neg(this=number)


def _set_row(tree: exp.Expr, row: Sequence[tuple[str, Written]]) -> None:
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    tree.set("this", exp.Schema(this=target, expressions=[_name(column) for column, _ in row]))
    tree.set("expression", exp.Values(expressions=[exp.Tuple(expressions=[_node(one) for _, one in row])]))


def _add_columns(tree: exp.Expr, named: Sequence[str], more: Sequence[tuple[str, Written]]) -> None:
    values = tree.expression
    if not named or not isinstance(values, exp.Values):
        return
    schema = tree.this
    schema.set("expressions", [*schema.expressions, *(_name(column) for column, _ in more)])
    for one in values.expressions:
        one.set("expressions", [*one.expressions, *(_node(value) for _, value in more)])


def _name(column: str) -> exp.Identifier:
    return exp.to_identifier(column, quoted=not column.isidentifier())
