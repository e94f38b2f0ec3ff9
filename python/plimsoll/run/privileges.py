"""What an account may do, asked without doing it: each statement would fail even if it were allowed.

A server looks at privileges before it looks whether a table exists. So a statement on a table that nobody has tells
whether it is allowed: 1142 means no, 1146 (no such table) means yes. Nothing is created, changed or dropped, whatever
the answer is. Roles and patterns in grants need not be understood that way.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping

from plimsoll.errors import TargetError
from plimsoll.servers.settle import Asked

_DENIED = frozenset({1044, 1142, 1227})
_READ_ONLY = frozenset({1290, 1836})

_PROBES: Mapping[str, str] = {
    "SELECT": "SELECT 1 FROM {none}",
    "INSERT": "INSERT INTO {none} VALUES (1)",
    "CREATE": "CREATE TABLE {none}_2 LIKE {none}",
    "DROP": "DROP TABLE {none}",
    "ALTER": "ALTER TABLE {none} COMMENT = 'x'",
    "INDEX": "CREATE INDEX i ON {none} (i)",
}

READING = ("SELECT",)
MAKING = ("SELECT", "INSERT", "CREATE", "ALTER", "INDEX")
"""To make tables, fill them, index them and mark them as complete."""

RESETTING = (*MAKING, "DROP")


def missing_privileges(control: Asked, wanted: Iterable[str]) -> tuple[str, ...]:
    """Which of some privileges the account does not have in the connection's database.

    Privileges on single tables cannot be asked for that way: an account that has some is taken at its word.

    Raises:
        TargetError: The server is read-only, or the connection was lost.
    """
    none = f"plimsoll_none_{secrets.token_hex(8)}"
    missing = tuple(name for name in wanted if _is_denied(control, _PROBES[name].format(none=none), name))
    return () if missing and _has_table_privileges(control) else missing


def _is_denied(control: Asked, statement: str, privilege: str) -> bool:
    try:
        control.rows(statement)
    except TargetError as error:
        if error.code in _READ_ONLY:
            raise
        # CREATE ... LIKE wants SELECT too; the message names the one that is missing.
        return error.code in _DENIED and (error.code != 1142 or f"{privilege} command denied" in str(error))
    return False


def _has_table_privileges(control: Asked) -> bool:
    return bool(
        control.rows("SELECT 1 FROM information_schema.table_privileges WHERE table_schema = DATABASE() LIMIT 1")
    )
