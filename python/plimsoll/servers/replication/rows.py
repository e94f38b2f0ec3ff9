"""Rows of statements whose columns are many and differ between versions, by the names of their columns."""

from __future__ import annotations

from plimsoll.servers.control import ControlConnection


def first_named(control: ControlConnection, statement: str) -> dict[str, str] | None:
    """The first row as text, by column in lower case, NULL as nothing; None when there is no row.

    Raises:
        TargetError: As `ControlConnection.rows`.
    """
    reply = control.reply(statement, ())
    if not reply.rows:
        return None
    names = [name.lower() for name, _ in reply.columns]
    return {name: "" if value is None else str(value) for name, value in zip(names, reply.rows[0], strict=True)}
