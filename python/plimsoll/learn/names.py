"""Statements without the names of tables, columns, schemas, aliases, variables and functions of the user.

Each name is replaced by a letter for what it names and a number, the same one wherever it occurs: `t1`, `c3`. sqlglot
parses the text of a template, once for each. What it cannot parse is not shown at all: a name might be left in it.
Words of MySQL and MariaDB that sqlglot takes for names are listed here: functions, units of time, character sets,
modifiers. Any other unknown function, collation and so on may be the user's own. Deliberately not here: literals, which
templates never hold.

Sources: MySQL 9 Reference Manual, chapter 14 (functions and operators); MariaDB documentation, built-in functions.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL

from plimsoll.learn.report_model import LogDoubt, LogReport
from plimsoll.learn.sql_tree import parsed, sql_of, with_marks

UNITS = frozenset(
    ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"]
    + [f"{large}_MICROSECOND" for large in ("SECOND", "MINUTE", "HOUR", "DAY")]
    + ["MINUTE_SECOND", "HOUR_SECOND", "HOUR_MINUTE", "DAY_SECOND", "DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH"]
)
"""Of INTERVAL and of functions of times."""

MODIFIERS = frozenset(
    ["HIGH_PRIORITY", "SQL_SMALL_RESULT", "SQL_BIG_RESULT", "SQL_BUFFER_RESULT", "SQL_NO_CACHE", "SQL_CALC_FOUND_ROWS"]
)
"""After SELECT."""

_CHARACTER_SETS = "ASCII BINARY LATIN1 LATIN2 UCS2 UTF16 UTF32 UTF8 UTF8MB3 UTF8MB4"
_COLLATIONS = (
    "BIN GENERAL_CI UNICODE_CI UNICODE_520_CI SWEDISH_CI GENERAL_CS 0900_AI_CI 0900_AS_CI 0900_AS_CS 0900_BIN"
    " UCA1400_AI_CI UCA1400_AS_CI UCA1400_AS_CS"
)
CHARACTER_SETS = frozenset(
    [
        *_CHARACTER_SETS.split(),
        *(f"{charset}_{collation}" for charset in _CHARACTER_SETS.split() for collation in _COLLATIONS.split()),
    ]
)
"""And their collations."""

_OWN_WORDS = MySQL.Tokenizer.KEYWORDS.keys() | UNITS | MODIFIERS | CHARACTER_SETS
"""Of the servers, in upper case."""


def without_names(report: LogReport, names: Pseudonyms | None = None) -> LogReport:
    """The same report, fit to be shared: no names, and of files only their number.

    Args:
        report: With names.
        names: Pseudonyms that were given already.
    """
    given = names or Pseudonyms()
    files = {source.name: f"log {number}" for number, source in enumerate(report.sources, start=1)}
    templates = tuple(
        template.model_copy(update={"text": given.statement(template.text, template.kind)})
        for template in report.templates
    )
    return report.model_copy(
        update={
            "templates": templates,
            "sources": tuple(
                source.model_copy(update={"name": files[source.name], "program": None}) for source in report.sources
            ),
            "damaged_lines": tuple((files[name], line, reason) for name, line, reason in report.damaged_lines),
            "hot": tuple(
                hot.model_copy(update={"column": None if hot.column is None else given.of("c", hot.column)})
                for hot in report.hot
            ),
            "doubts": tuple(_doubt(doubt, files) for doubt in report.doubts),
        }
    )


def _doubt(doubt: LogDoubt, names: Mapping[str, str]) -> LogDoubt:
    figures = {key: names.get(str(figure), figure) for key, figure in doubt.figures.items()}
    return doubt.model_copy(update={"figures": figures})


class Pseudonyms:
    """Gives each name its pseudonym."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}

    def of(self, letter: str, name: str) -> str:
        """The pseudonym of a name; `letter` says what it names."""
        given = self._given
        used = sum(given_letter == letter for given_letter, _ in given)
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


BUILTIN_FUNCTIONS = frozenset(
    [
        "ADDTIME",
        "AES_DECRYPT",
        "AES_ENCRYPT",
        "ANY_VALUE",
        "ATAN2",
        "BENCHMARK",
        "BIN",
        "BIN_TO_UUID",
        "BIT_COUNT",
        "CHARSET",
        "COERCIBILITY",
        "COMPRESS",
        "CONNECTION_ID",
        "CONV",
        "CONVERT_TZ",
        "CRC32",
        "CURTIME",
        "DEFAULT",
        "ELT",
        "EXPORT_SET",
        "EXTRACTVALUE",
        "FIELD",
        "FIND_IN_SET",
        "FOUND_ROWS",
        "FROM_BASE64",
        "FROM_DAYS",
        "GET_FORMAT",
        "GET_LOCK",
        "GREATEST",
        "INET6_ATON",
        "INET6_NTOA",
        "INET_ATON",
        "INET_NTOA",
        "INTERVAL",
        "IS_FREE_LOCK",
        "IS_IPV4",
        "IS_IPV4_COMPAT",
        "IS_IPV4_MAPPED",
        "IS_IPV6",
        "IS_USED_LOCK",
        "IS_UUID",
        "JSON_APPEND",
        "JSON_ARRAYAGG",
        "JSON_ARRAY_APPEND",
        "JSON_ARRAY_INSERT",
        "JSON_COMPACT",
        "JSON_CONTAINS",
        "JSON_CONTAINS_PATH",
        "JSON_DEPTH",
        "JSON_DETAILED",
        "JSON_EXISTS",
        "JSON_INSERT",
        "JSON_KEYS",
        "JSON_LENGTH",
        "JSON_LOOSE",
        "JSON_MERGE",
        "JSON_MERGE_PATCH",
        "JSON_MERGE_PRESERVE",
        "JSON_OBJECTAGG",
        "JSON_OVERLAPS",
        "JSON_PRETTY",
        "JSON_QUERY",
        "JSON_QUOTE",
        "JSON_REMOVE",
        "JSON_REPLACE",
        "JSON_SCHEMA_VALID",
        "JSON_SEARCH",
        "JSON_SET",
        "JSON_STORAGE_SIZE",
        "JSON_TYPE",
        "JSON_UNQUOTE",
        "JSON_VALID",
        "JSON_VALUE",
        "LASTVAL",
        "LAST_INSERT_ID",
        "LINESTRING",
        "LOAD_FILE",
        "LOCALTIME",
        "LOCALTIMESTAMP",
        "LOCATE",
        "MAKEDATE",
        "MAKETIME",
        "MAKE_SET",
        "MASTER_POS_WAIT",
        "MATCH",
        "MBRCONTAINS",
        "MBRWITHIN",
        "MICROSECOND",
        "MID",
        "NAME_CONST",
        "NEXTVAL",
        "NOW",
        "OCT",
        "OCTET_LENGTH",
        "ORD",
        "PERIOD_ADD",
        "PERIOD_DIFF",
        "POINT",
        "POLYGON",
        "POSITION",
        "PREVIOUS_GTIDS",
        "QUOTE",
        "RANDOM_BYTES",
        "RELEASE_ALL_LOCKS",
        "RELEASE_LOCK",
        "ROW_COUNT",
        "SEC_TO_TIME",
        "SLEEP",
        "SOUNDEX",
        "STATEMENT_DIGEST",
        "STATEMENT_DIGEST_TEXT",
        "STRCMP",
        "ST_ASGEOJSON",
        "ST_ASTEXT",
        "ST_BUFFER",
        "ST_CONTAINS",
        "ST_DISTANCE",
        "ST_DISTANCE_SPHERE",
        "ST_GEOMFROMTEXT",
        "ST_INTERSECTS",
        "ST_SRID",
        "ST_WITHIN",
        "ST_X",
        "ST_Y",
        "SUBTIME",
        "SYSDATE",
        "TIMEDIFF",
        "TIME_FORMAT",
        "TIME_TO_SEC",
        "TO_DAYS",
        "TO_SECONDS",
        "UNCOMPRESS",
        "UNCOMPRESSED_LENGTH",
        "UNIX_TIMESTAMP",
        "UPDATEXML",
        "UTC_DATE",
        "UTC_TIME",
        "UTC_TIMESTAMP",
        "UUID_SHORT",
        "UUID_TO_BIN",
        "VALIDATE_PASSWORD_STRENGTH",
        "VALUES",
        "VEC_DISTANCE",
        "WEEKDAY",
        "WEIGHT_STRING",
        "YEARWEEK",
    ]
)
"""In upper case."""
