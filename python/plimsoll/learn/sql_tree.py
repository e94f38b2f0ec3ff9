"""Templates as syntax trees, what each literal in them is for, and one text by which statements are matched.

sqlglot parses the text of a template once (MySQL's dialect), with a name for each literal in the order of the text. A
literal is for the column that it is compared with or written to, a limit or an offset. Statements that differ in
literals, placeholders and layout only have one canonical text. Deliberately not here: values, and how statements were
told from each other when a log was read (the engine's lexer).
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

_TEXT_MAX = 20_000
"""Characters of a template that are parsed; longer ones are not."""


_REPLACE = re.compile(r"\s*REPLACE\b(?!\s*\()", re.IGNORECASE)
_IS_REPLACE = "is_replace"
_FOLDED = re.compile(r"\(\s*\.\.\.\s*\)")


def parsed(text: str) -> exp.Expr | None:
    """The tree of a statement; None where it cannot be parsed as a whole. That of REPLACE is an INSERT with a mark."""
    if (match := _REPLACE.match(text)) is not None:
        tree = parsed(f"INSERT{text[match.end() :]}")
        if tree is not None:
            tree.meta[_IS_REPLACE] = True
        return tree
    if len(text) > _TEXT_MAX:
        return None
    log = logging.getLogger("sqlglot")
    level = log.level
    log.setLevel(logging.CRITICAL)  # it warns of what it does not know, with the text
    try:
        tree = sqlglot.parse_one(text, read="mysql")
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError, AttributeError, TypeError):
        return None
    finally:
        log.setLevel(level)
    return None if tree is None or tree.find(exp.Command) is not None else tree


def with_marks(text: str) -> str:
    """A template as SQL: a mark for each literal, also where it has `(...)` for several."""
    return _FOLDED.sub("(?)", text)


def sql_of(tree: exp.Expr, text: str) -> str:
    """What was written of a tree, REPLACE for what came from one."""
    return text.replace("INSERT", "REPLACE", 1) if is_replace(tree) else text


def is_replace(tree: exp.Expr) -> bool:
    """Whether a tree is that of a REPLACE."""
    return bool(tree.meta.get(_IS_REPLACE))


_LITERAL = re.compile(r"\?|\(\s*\.\.\.\s*\)")


@dataclass(frozen=True, slots=True)
class Slot:
    """One literal of a template.

    Attributes:
        use: `equal`, `range`, `list`, `written`, `added`, `limit` or `other`.
        column: Whose value it is, as the statement names it; None where it is of no column.
        qualifier: The table or alias before that name; empty for none.
    """

    use: str
    column: str | None = None
    qualifier: str = ""


def slots_of(text: str) -> list[Slot]:
    """The literals of a template, in the order of its text; `other` for all where it cannot be parsed."""
    return slots_in(parsed(numbered(text)), len(_LITERAL.findall(text)))


def slots_in(tree: exp.Expr | None, count: int) -> list[Slot]:
    """The same of the tree of a text whose literals have names.

    Args:
        tree: Of what `numbered` gave; None where that could not be parsed.
        count: Literals of the text.
    """
    slots = dict[int, Slot]()
    for node in tree.find_all(exp.Placeholder) if tree is not None else ():
        if (number := slot_number(node)) is not None:
            slots[number] = _slot(node)
    return [slots.get(number, Slot("other")) for number in range(count)]


def numbered(text: str) -> str:
    """The text with a name for each literal: `:p0`, `:p1`, …; a folded list is `(:p2)`."""
    names = iter(range(text.count("?") + text.count("...")))

    def name(match: re.Match[str]) -> str:
        return f":p{next(names)}" if match[0] == "?" else f"(:p{next(names)})"

    return _LITERAL.sub(name, text)


def slot_number(node: exp.Expr) -> int | None:
    """Which literal a placeholder stands for."""
    match = re.fullmatch(r"p(\d+)", node.name)
    return int(match[1]) if match else None


def _slot(node: exp.Expr) -> Slot:
    child, parent = node, node.parent
    while isinstance(parent, exp.Paren | exp.Tuple | exp.Neg | exp.Cast):
        child, parent = parent, parent.parent
    match parent:
        case exp.Limit() | exp.Offset():
            slot = Slot("limit")
        case exp.Add() | exp.Sub() if _is_written(parent):
            slot = _slot_of("added", _column_of(parent.parent))
        case exp.EQ() if _is_written(child):
            slot = _slot_of("written", _column_of(parent))
        case exp.In():
            slot = _slot_of("list", _column_of(parent))
        case exp.EQ() | exp.NullSafeEQ():
            slot = _slot_of("equal", _beside(node, child, parent))
        case exp.Values():
            slot = Slot("written", _inserted(node, parent))
        case exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.Between() | exp.Like():
            slot = _slot_of("range", _column_of(parent))
        case _:
            slot = Slot("other")
    return slot


def _slot_of(use: str, column: exp.Column | None) -> Slot:
    return Slot(use) if column is None else Slot(use, column.name, column.table)


def _beside(node: exp.Expr, side: exp.Expr, equality: exp.Expr) -> exp.Column | None:
    """The column that a literal is equal to; of rows `(a, b) = (?, ?)` the one at the same place."""
    other = equality.right if side is equality.left else equality.left  # type: ignore[attr-defined]
    if isinstance(side, exp.Tuple) and isinstance(other, exp.Tuple) and node in side.expressions:
        place = side.expressions.index(node)
        return _column_of(other.expressions[place]) if place < len(other.expressions) else None
    return _column_of(equality)


def _is_written(node: exp.Expr) -> bool:
    """Whether it stands right of `column =` in SET."""
    parent = node.parent
    return isinstance(parent, exp.EQ) and parent.arg_key == "expressions" and isinstance(parent.parent, exp.Update)


def _column_of(node: exp.Expr | None) -> exp.Column | None:
    return None if node is None else node.find(exp.Column)


def _inserted(node: exp.Expr, values: exp.Values) -> str | None:
    """The column of a literal in VALUES, where it stands by itself and columns are named."""
    schema = values.parent.find(exp.Schema) if values.parent is not None else None
    row = node.parent
    if schema is None or not isinstance(row, exp.Tuple):
        return None
    names = [expression.name for expression in schema.expressions]
    place = row.expressions.index(node)
    return names[place] if place < len(names) and len(row.expressions) == len(names) else None


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
    return all(isinstance(node, exp.Placeholder) for node in nodes)
