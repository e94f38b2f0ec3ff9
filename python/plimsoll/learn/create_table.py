"""SHOW CREATE TABLE and `mysqldump --no-data` of both servers to facts. Only what a workload needs is understood.

A table of which a part cannot be understood is left out and named; it ends nothing. CREATE TABLE is read from words, by
sqlglot's tokenizer (MySQL's dialect), and not from a syntax tree: sqlglot's parser refuses a table as a whole for one
clause that it does not know, such as PARTITION BY or a spatial column. Deliberately not here: ALTER TABLE, how many
rows there are (but for AUTO_INCREMENT), and everything about values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot.dialects.mysql import MySQL
from sqlglot.tokenizer_core import TokenType

from plimsoll.learn.schema_model import (
    ColumnFacts,
    ForeignKeyFacts,
    IndexFacts,
    SchemaFacts,
    TableFacts,
    TableKey,
    UnknownTable,
)

_HEAD = re.compile(
    r"(?:\s|/\*.*?\*/|--[^\n]*|\#[^\n]*)*(?:create\s+(?:or\s+replace\s+)?table\b|use\b)", re.IGNORECASE | re.DOTALL
)
_NAME_IN_HEAD = re.compile(r"table\s+(?:if\s+not\s+exists\s+)?(`(?:[^`]|``)+`|[\w$.]+)", re.IGNORECASE)
_STATEMENT_MAX = 1_000_000
"""Characters; a server's longest definition of a table is far shorter."""

_KINDS = {"fulltext": "fulltext", "spatial": "spatial", "vector": "vector"}
_INDEX_WORDS = {"primary", "unique", "key", "index", "constraint", "foreign", *_KINDS}
_MODIFIERS = {"unsigned", "signed", "zerofill", "precision", "varying", "byte"}
_TEXT_TYPES = ("char", "varchar", "text", "tinytext", "mediumtext", "longtext", "enum", "set", "nchar", "nvarchar")


def read_create_tables(text: str, schema_name: str = "") -> SchemaFacts:
    """All tables that a text defines; columns have no figures.

    Args:
        text: Any statements, as `mysqldump --no-data` writes them; others than CREATE TABLE and USE are passed over.
        schema_name: Of tables before the first USE.
    """
    tables: dict[TableKey, TableFacts] = {}
    left_out: list[UnknownTable] = []
    for statement in statements(text):
        head = _HEAD.match(statement)
        if head is None:
            continue
        try:
            pieces = words(statement) if len(statement) <= _STATEMENT_MAX else []
            if not pieces:
                raise ValueError("is too long")
            if pieces[0].text == "use":
                schema_name = pieces[1].written
                continue
            table = _table(pieces, schema_name)
            tables[table.key] = table
        except (ValueError, IndexError):
            named = _NAME_IN_HEAD.search(statement)
            name = named[1].strip("`").replace("``", "`") if named else ""
            left_out.append(UnknownTable(schema_name=schema_name, name=name, reason="not-parsed"))
    return SchemaFacts(tables=tuple(tables.values()), left_out=tuple(left_out))


def _table(pieces: list[Word], schema_name: str) -> TableFacts:
    at = next(place for place, piece in enumerate(pieces) if piece.text == "table") + 1
    if [piece.text for piece in pieces[at : at + 3]] == ["if", "not", "exists"]:
        at += 3
    opens = next((place for place in range(at, len(pieces)) if _is(pieces[place], "(")), None)
    if opens is None:
        raise ValueError("has no columns")  # LIKE, or AS SELECT
    schema_name, name = _qualified(pieces[at:opens], schema_name)
    inner, behind = enclosed(pieces, opens)
    options = _options(pieces[behind:])
    made = _TableBuilder(schema_name, options.get("charset"))
    for part in divided(inner):
        made.add(part)
    if not made.columns:
        raise ValueError("has no columns")
    numbered = options.get("auto_increment", "")
    is_numbered = numbered.isdecimal() and any(column.is_auto_increment for column in made.columns)
    return TableFacts(
        schema_name=schema_name,
        name=name,
        rows=max(int(numbered) - 1, 0) if is_numbered else None,
        rows_are="numbered" if is_numbered else "unknown",
        columns=tuple(
            column.model_copy(update={"is_nullable": False})
            if made.primary and column.name.lower() in map(str.lower, made.primary.columns)
            else column
            for column in made.columns
        ),
        primary_key=made.primary,
        indexes=tuple(made.indexes),
        foreign_keys=tuple(made.foreign_keys),
    )


class _TableBuilder:
    """A table whose parts are read one after another."""

    def __init__(self, schema_name: str, charset: str | None) -> None:
        self.schema_name, self.charset = schema_name, charset
        self.columns: list[ColumnFacts] = []
        self.primary: IndexFacts | None = None
        self.indexes: list[IndexFacts] = []
        self.foreign_keys: list[ForeignKeyFacts] = []

    def add(self, part: list[Word]) -> None:
        """One column, index or constraint."""
        first = part[0]
        if first.kind == "word" and first.text in ("check", "period") and _is(part[1], "(", "for"):
            return
        if first.kind == "word" and first.text in _INDEX_WORDS:
            self._constraint(part)
        else:
            self._column(part)

    def _constraint(self, part: list[Word]) -> None:
        heads = [word.text for word in part if word.kind == "word"]
        if heads[0] == "constraint":
            if "check" in heads and not {"foreign", "unique", "primary"} & set(heads[: heads.index("check")]):
                return
            start = next(at for at, word in enumerate(part) if _is(word, "foreign", "unique", "primary"))
            name = part[1].written if start > 1 else ""
            part = part[start:]
        else:
            name = ""
        if _is(part[0], "foreign"):
            self.foreign_keys.append(_foreign_key(part, self.schema_name))
            return
        index = _index(part, name)
        if _is(part[0], "primary"):
            self.primary = index.model_copy(update={"name": "PRIMARY", "is_unique": True})
        else:
            self.indexes.append(index)

    def _column(self, part: list[Word]) -> None:
        name = part[0].written
        column, rest = _typed(name, part[1:], self.charset)
        flat = [word.text if word.kind == "word" else "" for word, depth in _with_depth(rest) if depth == 0]
        is_json = any(word.kind == "word" and word.text == "json_valid" for word in rest)
        generated = bool({"as", "generated"} & set(flat))
        has_default = "default" in flat and flat[flat.index("default") + 1 : flat.index("default") + 2] != ["null"]
        self.columns.append(
            column.model_copy(
                update={
                    "sql_type": "json" if is_json else column.sql_type,
                    "is_nullable": not _follow(flat, "not", "null") and "primary" not in flat,
                    "is_auto_increment": "auto_increment" in flat or column.sql_type == "serial",
                    "has_default": has_default and not generated,
                    "is_generated": generated,
                }
            )
        )
        if "primary" in flat:
            self.primary = IndexFacts(name="PRIMARY", columns=(name,), is_unique=True)
        elif "unique" in flat or column.sql_type == "serial":
            self.indexes.append(IndexFacts(name=name, columns=(name,), is_unique=True))
        place = next((at for at, word in enumerate(rest) if _is(word, "references")), None)
        if place is not None:
            self.foreign_keys.append(_references((name,), rest[place:], self.schema_name))


def _typed(name: str, rest: list[Word], charset: str | None) -> tuple[ColumnFacts, list[Word]]:
    """The column with its type, and what stands behind the type."""
    if not rest or rest[0].kind != "word" or not re.fullmatch(r"[a-z][a-z0-9_]*", rest[0].text):
        raise ValueError("has no type")
    base, at = rest[0].text, 1
    members: tuple[str, ...] = ()
    sql_type = base
    if at < len(rest) and _is(rest[at], "("):
        inner, at = enclosed(rest, at)
        if base in ("enum", "set"):
            members = tuple(word.text for word in inner if word.kind == "text")
        else:
            sql_type += "(" + "".join(word.text for word in inner if word.text.isdecimal() or word.text == ",") + ")"
    while at < len(rest) and rest[at].kind == "word" and rest[at].text in _MODIFIERS:
        sql_type += f" {rest[at].text}"
        at += 1
    rest = rest[at:]
    column_charset = _character_set(rest)
    is_text = base in _TEXT_TYPES
    column = ColumnFacts(
        name=name, sql_type=sql_type, members=members, character_set=(column_charset or charset) if is_text else None
    )
    return column, rest


def _character_set(rest: list[Word]) -> str | None:
    for at, word in enumerate(rest[:-1]):
        if _is(word, "charset"):
            return rest[at + 1].text
        if _is(word, "character") and _is(rest[at + 1], "set") and at + 2 < len(rest):
            return rest[at + 2].text
    return None


def _index(part: list[Word], name: str) -> IndexFacts:
    opens = next(at for at, word in enumerate(part) if _is(word, "("))
    heads = [word for word in part[:opens] if word.kind == "word"]
    kind = next((_KINDS[head.text] for head in heads if head.text in _KINDS), "btree")
    named = [word.written for word in part[:opens] if word.kind in ("name", "text")]
    if not named:
        behind = [head.written for head in heads if head.text not in {*_INDEX_WORDS, "using", "btree", "hash"}]
        named = behind[:1]
    columns: list[str] = []
    lengths: list[int] = []
    for key_part in divided(enclosed(part, opens)[0]):
        if _is(key_part[0], "("):
            kind = "functional"
            continue
        columns.append(key_part[0].written)
        lengths.append(
            int(key_part[2].text) if len(key_part) > 2 and _is(key_part[1], "(") and key_part[2].text.isdecimal() else 0
        )
    index_name = named[0] if named else name or (columns[0] if columns else "")
    return IndexFacts(
        name=index_name, kind=kind, columns=tuple(columns), lengths=tuple(lengths), is_unique=_is(part[0], "unique")
    )


def _foreign_key(part: list[Word], schema_name: str) -> ForeignKeyFacts:
    inner, behind = enclosed(part)
    return _references(tuple(column[0].written for column in divided(inner)), part[behind:], schema_name)


def _references(columns: tuple[str, ...], rest: list[Word], schema_name: str) -> ForeignKeyFacts:
    if not rest or not _is(rest[0], "references"):
        raise ValueError("a foreign key refers to nothing")
    opens = next((at for at, word in enumerate(rest) if _is(word, "(")), None)
    if opens is None:
        raise ValueError("a foreign key names no columns")
    schema_name, table = _qualified(rest[1:opens], schema_name)
    inner, behind = enclosed(rest, opens)
    flat = [word.text for word in rest[behind:]]
    at = next((at for at in range(len(flat) - 2) if flat[at : at + 2] == ["on", "delete"]), None)
    action = "no action"
    if at is not None:
        action = f"{flat[at + 2]} {flat[at + 3]}" if flat[at + 2] in ("set", "no") else flat[at + 2]
    return ForeignKeyFacts(
        columns=columns,
        schema_name=schema_name,
        table=table,
        references=tuple(column[0].written for column in divided(inner)),
        on_delete=action,
    )


def _qualified(pieces: Sequence[Word], schema_name: str) -> tuple[str, str]:
    names = [piece.written for piece in pieces if not _is(piece, ".")]
    if not 1 <= len(names) <= 2:
        raise ValueError("has no name")
    return (schema_name, names[0]) if len(names) == 1 else (names[0], names[1])


def _options(pieces: list[Word]) -> dict[str, str]:
    """AUTO_INCREMENT and the character set of a table, from what follows its columns."""
    options: dict[str, str] = {}
    flat = [piece for piece in pieces if not _is(piece, "=")]
    for at, word in enumerate(flat[:-1]):
        if _is(word, "auto_increment", "charset"):
            options.setdefault(word.text, flat[at + 1].text)
        elif _is(word, "character") and _is(flat[at + 1], "set") and at + 2 < len(flat):
            options.setdefault("charset", flat[at + 2].text)
    return options


def _with_depth(pieces: list[Word]) -> list[tuple[Word, int]]:
    return list(zip(pieces, depths(pieces), strict=True))


def _follow(flat: list[str], first: str, second: str) -> bool:
    return any(flat[at : at + 2] == [first, second] for at in range(len(flat) - 1))


def _is(piece: Word, *texts: str) -> bool:
    return piece.kind == "word" and piece.text in texts


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
    for match in _END.finditer(text):
        if match[0] == ";":
            yield text[begin : match.start()]
            begin = match.end()
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
    pieces: list[Word] = []
    for token in tokens:
        if kind := _QUOTED.get(token.token_type):
            pieces.append(Word(kind, token.text, token.text))
        elif token.token_type in _BITS:
            pieces.append(Word("text", token.text, token.text))
        else:  # PRIMARY KEY and CHARACTER SET are one token each
            pieces.extend(Word("word", part.lower(), part) for part in token.text.split())
    return pieces


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
    depth, levels = 0, []
    for piece in pieces:
        if piece.kind == "word" and piece.text == ")":
            depth -= 1
        levels.append(depth)
        if piece.kind == "word" and piece.text == "(":
            depth += 1
    return levels


def enclosed(pieces: list[Word], begin: int = 0) -> tuple[list[Word], int]:
    """What stands in the first parentheses at or after a place, and the place behind them.

    Raises:
        ValueError: There are none, or they do not end.
    """
    levels = depths(pieces)
    opens = (at for at in range(begin, len(pieces)) if pieces[at].kind == "word" and pieces[at].text == "(")
    if (first := next(opens, None)) is None:
        raise ValueError("parentheses are missing")
    for at in range(first + 1, len(pieces)):
        if levels[at] == levels[first] and pieces[at].kind == "word" and pieces[at].text == ")":
            return pieces[first + 1 : at], at + 1
    raise ValueError("parentheses do not end")
