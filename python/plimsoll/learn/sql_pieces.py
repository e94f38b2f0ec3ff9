"""SQL text as pieces: statements of a dump, and the words of one statement. By sqlglot's tokenizer (MySQL's dialect).

CREATE TABLE is read from words and not from a syntax tree: sqlglot's parser refuses a table as a whole for one clause
that it does not know, such as PARTITION BY or a spatial column. Deliberately not here: what the words mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot.dialects.mysql import MySQL
from sqlglot.tokenizer_core import TokenType

_END = re.compile(
    r"'(?:[^'\\]|\\.|'')*(?:'|\Z)"
    r'|"(?:[^"\\]|\\.|"")*(?:"|\Z)'
    r"|`(?:[^`]|``)*(?:`|\Z)"
    r"|/\*.*?(?:\*/|\Z)"
    r"|(?:--(?=[\s]|\Z)|\#)[^\n]*"
    r"|;",
    re.DOTALL,
)
"""Quoted text and comments, which may hold semicolons, and the semicolons."""

_QUOTED = {TokenType.IDENTIFIER: "name", TokenType.STRING: "text"}
_BITS = (TokenType.BIT_STRING, TokenType.HEX_STRING, TokenType.BYTE_STRING, TokenType.NATIONAL_STRING)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a statement.

    Attributes:
        kind: `name` in backticks, `text` in quotes, or `word` for all else.
        text: Without quotes; words that are not quoted in lower case, `written` as they stand.
    """

    kind: str
    text: str
    written: str


def statements(text: str) -> Iterator[str]:
    """The statements of a file, without their semicolons."""
    begin = 0
    for found in _END.finditer(text):
        if found[0] == ";":
            yield text[begin : found.start()]
            begin = found.end()
    yield text[begin:]


def words(statement: str) -> list[Word]:
    """The words of a statement, comments left out, `/*! … */` too.

    Raises:
        ValueError: It cannot be divided into words.
    """
    try:
        tokens = MySQL().tokenize(statement)
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise ValueError("cannot be divided into words") from error
    found: list[Word] = []
    for token in tokens:
        if kind := _QUOTED.get(token.token_type):
            found.append(Word(kind, token.text, token.text))
        elif token.token_type in _BITS:
            found.append(Word("text", token.text, token.text))
        else:  # PRIMARY KEY and CHARACTER SET are one token each
            found.extend(Word("word", one.lower(), one) for one in token.text.split())
    return found


def divided(pieces: list[Word]) -> list[list[Word]]:
    """Words between the commas that stand in no parentheses."""
    parts: list[list[Word]] = [[]]
    for piece, depth in zip(pieces, depths(pieces), strict=True):
        if depth == 0 and piece.kind == "word" and piece.text == ",":
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def depths(pieces: list[Word]) -> list[int]:
    """In how many parentheses each word stands; a parenthesis itself stands in those around it."""
    depth, found = 0, []
    for piece in pieces:
        if piece.kind == "word" and piece.text == ")":
            depth -= 1
        found.append(depth)
        if piece.kind == "word" and piece.text == "(":
            depth += 1
    return found


def enclosed(pieces: list[Word], begin: int = 0) -> tuple[list[Word], int]:
    """What stands in the first parentheses at or after a place, and the place behind them.

    Raises:
        ValueError: There are none, or they do not end.
    """
    found = depths(pieces)
    opens = (at for at in range(begin, len(pieces)) if pieces[at].kind == "word" and pieces[at].text == "(")
    if (first := next(opens, None)) is None:
        raise ValueError("parentheses are missing")
    for at in range(first + 1, len(pieces)):
        if found[at] == found[first] and pieces[at].kind == "word" and pieces[at].text == ")":
            return pieces[first + 1 : at], at + 1
    raise ValueError("parentheses do not end")
