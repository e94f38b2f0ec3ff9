"""Templates as syntax trees, by sqlglot (MySQL's dialect).

Deliberately not here: what is found in a tree.
"""

from __future__ import annotations

import logging
import re

import sqlglot
from sqlglot import exp

_TEXT_MAX = 20_000
"""Characters of a template that are parsed; longer ones are not."""


_REPLACE = re.compile(r"\s*REPLACE\b(?!\s*\()", re.IGNORECASE)
_IS_REPLACE = "is_replace"
_FOLDED = re.compile(r"\(\s*\.\.\.\s*\)")


def parsed(text: str) -> exp.Expr | None:
    """The tree of a statement; None where it cannot be parsed as a whole. That of REPLACE is an INSERT with a mark."""
    if (found := _REPLACE.match(text)) is not None:
        tree = parsed(f"INSERT{text[found.end() :]}")
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
