"""SQL with `:name` where values go, as users write it, into SQL with `?`, as servers prepare it.

Texts are scanned, not parsed: quoted text, quoted names and comments are passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      '(?:[^'\\]|''|\\.)*'              # text
    | "(?:[^"\\]|""|\\.)*"              # text, or a name under ANSI_QUOTES
    | `(?:[^`]|``)*`                    # a name
    | (?:--[ \t]|\#)[^\n]*              # a comment to the end of the line
    | --(?=\n|$)
    | /\*.*?\*/                         # a comment
    | :(?P<name>[A-Za-z_][A-Za-z0-9_]*) # a value
    | :=|::                             # an assignment
    | .
    """,
    re.VERBOSE | re.DOTALL,
)

_CONTROL = frozenset({"BEGIN", "START", "COMMIT", "ROLLBACK", "XA", "PREPARE", "EXECUTE", "DEALLOCATE"})


@dataclass(frozen=True, slots=True)
class SqlText:
    """A statement.

    Attributes:
        sql: With `?` where values go.
        names: The values in the order of the question marks; one may be there several times.
    """

    sql: str
    names: tuple[str, ...]

    @property
    def first_word(self) -> str:
        """The word that says what it does, in upper case."""
        found = re.search(r"[A-Za-z]+", re.sub(r"/\*.*?\*/|(--[ \t]|#)[^\n]*", " ", self.sql, flags=re.DOTALL))
        return found[0].upper() if found else ""

    @property
    def writes(self) -> bool:
        """Whether it may change rows: all that is not plainly a query counts as if it did."""
        return self.first_word not in ("SELECT", "SHOW", "DO", "SET")


def read_sql(text: str) -> SqlText:
    """Reads a statement.

    Raises:
        ValueError: It cannot be prepared: it holds a `?`, or begins or ends a transaction by itself.

    >>> read_sql("SELECT ':no', a FROM t WHERE b = :b AND c > :b")
    SqlText(sql="SELECT ':no', a FROM t WHERE b = ? AND c > ?", names=('b', 'b'))
    """
    if "?" in text:
        raise ValueError("must not hold a `?`, not even quoted; write :name and give the value under values")
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    names: list[str] = []
    pieces: list[str] = []
    for token in _TOKEN.finditer(text.strip().rstrip(";")):
        if name := token["name"]:
            names.append(name)
        pieces.append("?" if token["name"] else token[0])
    read = SqlText("".join(pieces), tuple(names))
    if not read.first_word:
        raise ValueError("must not be empty")
    if read.first_word in _CONTROL:
        raise ValueError(f"must not be {read.first_word}; write begin = true for a transaction with several statements")
    return read


def masked(sql: str) -> str:
    """A statement in which what is quoted, and comments, are dots: as long as it, and nothing in it stands for more.

    >>> masked("SELECT 'VALUES (' /* ( */, `a(`")
    'SELECT .......... ......., ....'
    """
    return "".join(
        token[0] if len(token[0]) == 1 or token["name"] else "." * len(token[0]) for token in _TOKEN.finditer(sql)
    )
