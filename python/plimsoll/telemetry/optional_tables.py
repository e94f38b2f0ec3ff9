"""Statements that a server may refuse: they are asked once, and left alone where it does.

A refusal of what was answered before is a failure: a source has vanished. A lost connection is not told here (the
sampler of the server's status does) and is opened again, at first at once, then ever less often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection, Row
from plimsoll.spec.target import Target
from plimsoll.telemetry.asking import is_lost, open_impatiently


class OptionalTables:
    """One control connection, and what may be asked on it."""

    def __init__(
        self,
        target: Target,
        statements: Sequence[str],
        open_connection: Callable[[Target], ControlConnection] | None = None,
    ) -> None:
        self._target = target
        self._open = open_connection or open_impatiently
        self._connection: ControlConnection | None = None
        self._has_answered = dict.fromkeys(statements, False)
        self._failures = self._skips = 0

    def rows(self, statement: str, *, columns: int) -> list[Row]:
        """The rows of a statement; none where the server refuses it, or cannot be reached now.

        Raises:
            TargetError: It answered this statement before, and refuses it now. It is not asked again.
        """
        if statement not in self._has_answered:
            return []
        if self._connection is None and self._skips > 0:
            self._skips -= 1
            return []
        try:
            self._connection = self._connection or self._open(self._target)
            found = self._connection.rows(statement, columns=columns)
        except TargetError as error:
            if is_lost(error):
                self.close()
                self._failures += 1
                self._skips = self._failures
                return []
            if self._has_answered.pop(statement):
                raise
            return []
        self._failures, self._has_answered[statement] = 0, True
        return found

    def close(self) -> None:
        """Closes the connection; never fails."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
