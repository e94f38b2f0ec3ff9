"""What can be told of a query's result from its text: its columns, and what its rows are chosen by.

The text is scanned, not parsed: subqueries, joins and expressions are seen and not understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
      (?:--[ \t]|\#)[^\n]* | --(?=\n|$) | /\*.*?\*/         # comments
    | (?P<quoted>'(?:[^'\\]|''|\\.)*' | "(?:[^"\\]|""|\\.)*")
    | (?P<name>`(?:[^`]|``)*` | [A-Za-z_][A-Za-z0-9_$]*)
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<other>\S)
    """,
    re.VERBOSE | re.DOTALL,
)
_CLAUSES = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "FOR", "LOCK", "UNION", "INTO", "WINDOW", "EXCEPT"}
)
_OTHER_QUERIES = ("SHOW", "VALUES", "TABLE", "EXPLAIN", "DESCRIBE")
_MODIFIERS = frozenset({"DISTINCT", "ALL", "STRAIGHT_JOIN", "SQL_NO_CACHE", "HIGH_PRIORITY"})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a statement.

    Attributes:
        text: As it stands, but names without their quotes.
        kind: `quoted`, `name`, `number` or `other`.
        depth: How many parentheses it stands in.
        start: Where it begins in the statement.
        end: Where it ends.
        is_bare: A name that is not quoted, so that it may be a word of SQL.
    """

    text: str
    kind: str
    depth: int
    start: int
    end: int
    is_bare: bool

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words of SQL."""
        return self.is_bare and self.text.upper() in words


@dataclass(frozen=True, slots=True)
class Item:
    """One expression of a select list.

    Attributes:
        name: What the server calls the column.
        tokens: The expression without its alias.
    """

    name: str
    tokens: tuple[Token, ...]

    @property
    def is_everything(self) -> bool:
        """`*`, or that of one table."""
        return self.tokens[-1].text == "*" and (len(self.tokens) == 1 or self.tokens[-2].text == ".")

    @property
    def function(self) -> str:
        """The function around it, in upper case; empty when there is none."""
        first = self.tokens[0]
        return first.text.upper() if len(self.tokens) > 1 and first.is_bare and self.tokens[1].text == "(" else ""


@dataclass(frozen=True, slots=True)
class Query:
    """What is told of a query.

    Attributes:
        items: Its select list.
        clauses: The tokens behind each of its clauses, by its first word.
    """

    items: tuple[Item, ...] = ()
    clauses: dict[str, tuple[Token, ...]] = field(default_factory=dict)


def read_query(sql: str) -> Query | None:
    """Reads a statement with `?` where values go; None when it returns no rows."""
    tokens = _tokens(sql)
    if not tokens:
        return None
    heads = ("SELECT", "RETURNING") if tokens[0].is_word("SELECT", "WITH") else ("RETURNING",)
    start = next((at for at, one in enumerate(tokens) if one.depth == 0 and one.is_word(*heads)), None)
    if start is None:
        return Query() if tokens[0].text == "(" or tokens[0].is_word(*_OTHER_QUERIES) else None
    word = ""
    parts: dict[str, list[Token]] = {word: []}
    for token in tokens[start + 1 :]:
        if token.depth == 0 and token.is_word(*_CLAUSES):
            word = token.text.upper()
            parts.setdefault(word, [])
        else:
            parts[word].append(token)
    listed = parts.pop("")
    while listed and listed[0].is_word(*_MODIFIERS):
        del listed[0]
    return Query(tuple(_items(sql, listed)), {word: tuple(behind) for word, behind in parts.items()})


def _tokens(sql: str) -> list[Token]:
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(sql):
        if match.lastgroup is None:
            continue
        text = match[0]
        depth -= text == ")"
        is_bare = match.lastgroup == "name" and not text.startswith("`")
        plain = text[1:-1].replace("``", "`") if match.lastgroup == "name" and not is_bare else text
        found.append(Token(plain, match.lastgroup, depth, match.start(), match.end(), is_bare))
        depth += text == "("
    return found


def _items(sql: str, listed: list[Token]) -> list[Item]:
    parts: list[list[Token]] = [[]]
    for token in listed:
        if token.depth == 0 and token.text == "," and token.kind == "other":
            parts.append([])
        else:
            parts[-1].append(token)
    return [_item(sql, part) for part in parts if part]


def _item(sql: str, tokens: list[Token]) -> Item:
    last = tokens[-1]
    before = tokens[-2] if len(tokens) > 1 else None
    if before is not None and last.kind in ("name", "quoted") and last.depth == 0:
        if before.is_word("AS"):
            return Item(last.text.strip("'\""), tuple(tokens[:-2]) or (last,))
        if before.kind != "other" or before.text == ")":
            return Item(last.text.strip("'\""), tuple(tokens[:-1]))
        if before.text == "." and len(tokens) <= 5:
            return Item(last.text, tuple(tokens))
    name = last.text if before is None else sql[tokens[0].start : last.end]
    return Item(name, tuple(tokens))
