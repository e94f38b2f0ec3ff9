"""What kind of statement a digest is, by the words of its text.

The kinds are those that the engine finds in logs. Deliberately not here: logs, whose statements the engine tells apart.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z_]+")
_LOCKING = re.compile(r"\bFOR (UPDATE|SHARE)\b|\bLOCK IN SHARE MODE\b")
_QUOTED = re.compile(r"`(?:[^`]|``)*`")
_VERBS = ("SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE")

_KINDS = {
    **{word: word.lower() for word in (*_VERBS, "CALL", "LOAD", "COMMIT", "ROLLBACK", "SAVEPOINT", "SET", "USE")},
    **dict.fromkeys(("VALUES", "TABLE"), "select"),
    **dict.fromkeys(("BEGIN", "START"), "begin"),
    **dict.fromkeys(("SHOW", "DESCRIBE", "DESC", "EXPLAIN", "HELP"), "show"),
    **dict.fromkeys(("CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME"), "ddl"),
    **dict.fromkeys(("PREPARE", "DEALLOCATE"), "prepare"),
    "RELEASE": "savepoint",
    "LOCK": "lock_tables",
    "UNLOCK": "unlock_tables",
    "EXECUTE": "execute",
}
_ADMIN = (
    *("ANALYZE", "OPTIMIZE", "CHECK", "REPAIR", "FLUSH", "KILL", "RESET", "GRANT", "REVOKE", "INSTALL", "UNINSTALL"),
    *("PURGE", "CHANGE", "STOP", "SHUTDOWN", "CLONE", "BINLOG", "CACHE"),
)


_EXECUTED = re.compile(r"EXECUTE (?!IMMEDIATE\b)(?=[A-Z(])")


def executed_text(text: str) -> str:
    """The text of a statement without MySQL's mark that it was prepared: `EXECUTE SELECT ...` is a SELECT."""
    found = _EXECUTED.match(text)
    return text if found is None else text[found.end() :]


def digest_kind(text: str) -> str:
    """The kind of a statement, one of those that docs/logs.md lists."""
    bare = _QUOTED.sub("x", text)
    words = (found[0].upper() for found in _WORD.finditer(bare))
    first = next(words, "")
    if first == "WITH":
        first = next((word for word in words if word in _VERBS), "SELECT")
    if first == "ROLLBACK" and " TO " in bare:
        return "savepoint"
    if first in _ADMIN:
        return "admin"
    kind = _KINDS.get(first, "other")
    return "select_locking" if kind == "select" and _LOCKING.search(bare) else kind
