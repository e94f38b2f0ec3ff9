"""Statements without the names of tables, columns, schemas, aliases, variables and functions of the user.

Each name is replaced by a letter for what it names and a number, the same one wherever it occurs: `t1`, `c3`. sqlglot
parses the text of a template, once for each. What it cannot parse is not shown at all: a name might be left in it.
Deliberately not here: literals, which templates never hold.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL

from plimsoll.learn.builtin_functions import BUILTIN_FUNCTIONS, CHARACTER_SETS, MODIFIERS, UNITS
from plimsoll.learn.report_model import LogDoubt, LogReport
from plimsoll.learn.sql_tree import parsed, sql_of, with_marks

_OWN_WORDS = MySQL.Tokenizer.KEYWORDS.keys() | UNITS | MODIFIERS | CHARACTER_SETS
"""Of the servers, in upper case."""


def without_names(report: LogReport, names: Pseudonyms | None = None) -> LogReport:
    """The same report, fit to be shared: no names, and of files only their number.

    Args:
        report: With names.
        names: Pseudonyms that were given already.
    """
    given = names or Pseudonyms()
    files = {one.name: f"log {number}" for number, one in enumerate(report.sources, start=1)}
    templates = tuple(one.model_copy(update={"text": given.statement(one.text, one.kind)}) for one in report.templates)
    return report.model_copy(
        update={
            "templates": templates,
            "sources": tuple(
                one.model_copy(update={"name": files[one.name], "program": None}) for one in report.sources
            ),
            "damaged_lines": tuple((files[name], line, reason) for name, line, reason in report.damaged_lines),
            "hot": tuple(
                one.model_copy(update={"column": None if one.column is None else given.of("c", one.column)})
                for one in report.hot
            ),
            "doubts": tuple(_doubt(one, files) for one in report.doubts),
        }
    )


def _doubt(doubt: LogDoubt, names: Mapping[str, str]) -> LogDoubt:
    figures = {key: names.get(str(one), one) for key, one in doubt.figures.items()}
    return doubt.model_copy(update={"figures": figures})


class Pseudonyms:
    """Gives each name its pseudonym."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}

    def of(self, letter: str, name: str) -> str:
        """The pseudonym of a name; `letter` says what it names."""
        given = self._given
        used = sum(one == letter for one, _ in given)
        return given.setdefault((letter, name.lower()), f"{letter}{used + 1}")

    def statement(self, text: str, kind: str) -> str:
        """A template's text with pseudonyms; its kind alone where it cannot be parsed."""
        tree = parsed(with_marks(text))
        if tree is None:
            return f"({kind}: not parsed, so not shown)"
        self.rename(tree)
        return sql_of(tree, tree.sql("mysql", comments=False))

    def rename(self, tree: exp.Expr) -> None:
        """Puts pseudonyms into a tree. Functions of the servers themselves keep their names.

        Optimizer hints are left out: sqlglot does not parse them, so that names would be left in them.
        """
        for hint in list(tree.find_all(exp.Hint)):
            hint.pop()
        for node in list(tree.walk()):
            self._rename(node)

    def _rename(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Identifier):
            node.replace(exp.to_identifier(self.of(_letter(node), node.name)))
        elif isinstance(node, exp.Anonymous) and node.name.upper() not in BUILTIN_FUNCTIONS:
            node.set("this", self.of("f", node.name))
        elif isinstance(node, exp.Var) and isinstance(node.parent, exp.Parameter):
            node.set("this", self.of("v", node.name))
        elif isinstance(node, exp.Var) and node.name.upper() not in _OWN_WORDS:
            node.set("this", "v")
        elif isinstance(node, exp.SessionParameter):
            node.set("kind", None)


def _letter(node: exp.Identifier) -> str:
    """What an identifier names: t for tables and their aliases, c for columns, s for schemas, x for the rest."""
    parent, role = node.parent, node.arg_key
    if isinstance(parent, exp.Table):
        return "t" if role == "this" else "s"
    if isinstance(parent, exp.Column):
        return {"this": "c", "table": "t"}.get(role or "", "s")
    if isinstance(parent, exp.TableAlias):
        return "t"
    if isinstance(parent, exp.Parameter | exp.SessionParameter):
        return "v"
    if isinstance(parent, exp.Join) and role == "using":
        return "c"
    is_values = isinstance(parent, exp.Anonymous) and parent.name.upper() == "VALUES"  # of ON DUPLICATE KEY UPDATE
    is_column = is_values or isinstance(parent, exp.Alias | exp.Schema | exp.Tuple | exp.Paren | exp.EQ)
    return "c" if is_column else "x"


class OwnNames(Pseudonyms):
    """Leaves all names as they are."""

    def of(self, letter: str, name: str) -> str:
        """The name itself."""
        del letter
        return name

    def rename(self, tree: exp.Expr) -> None:
        """Changes nothing."""
