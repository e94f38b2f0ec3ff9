"""The server's own counters: numeric global status variables, as they are.

They are kept raw, so that whoever judges a recording chooses the window. Deliberately not here: rates.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import ClassVar

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.spec.target import Target
from plimsoll.telemetry.sampler import Sample, Sampler

PATTERNS = (
    "aborted_*",
    "binlog_*",
    "bytes_*",
    "com_*",
    "connection*",
    "created_tmp_*",
    "handler_*",
    "innodb_*",
    "opened_tables",
    "qcache_*",
    "queries",
    "questions",
    "select_*",
    "slow_queries",
    "sort_*",
    "table_locks_*",
    "table_open_cache_*",
    "threads_*",
)
"""Status variables with such names are recorded; `*` stands for any rest."""

_REGULAR = "|".join(pattern.replace("*", ".*") for pattern in PATTERNS)
_STATEMENT = f"SHOW GLOBAL STATUS WHERE variable_name REGEXP '^({_REGULAR})$'"
_BACK_OFF_S = (1.0, 2.0, 5.0, 10.0)


class ServerStatusSampler(Sampler):
    """One control connection of its own, opened at the first sample and again after a failure, ever less often."""

    source: ClassVar[str] = "server"
    waits: ClassVar[bool] = True
    cost: ClassVar[str] = "one SHOW GLOBAL STATUS of some 400 rows"
    metrics: ClassVar[Mapping[str, str]] = dict.fromkeys(PATTERNS, "as the server documents it")

    def __init__(self, target: Target, *, open_connection: Callable[[Target], ControlConnection] | None = None) -> None:
        """Watches a server.

        Args:
            target: The server, with the password.
            open_connection: Opens a control connection that gives up within a second or two.
        """
        self._target = target
        self._open = open_connection or _open_impatiently
        self._connection: ControlConnection | None = None
        self._failures = 0
        self._not_before_s = 0.0

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`. Gives nothing while it waits before the next attempt to connect.

        Raises:
            TargetError: The server does not answer.
        """
        if self._connection is None and at_unix_s < self._not_before_s:
            return []
        try:
            self._connection = self._connection or self._open(self._target)
            rows = self._connection.rows(_STATEMENT, columns=2)
        except TargetError:
            self._failures += 1
            self._not_before_s = at_unix_s + _BACK_OFF_S[min(self._failures, len(_BACK_OFF_S)) - 1]
            self.close()
            raise
        self._failures = 0
        values = ((str(name).lower(), _number(value)) for name, value, *_ in rows)
        return [Sample(self.source, name, value) for name, value in values if value is not None]

    def close(self) -> None:
        """Closes the connection; never fails."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _number(text: object) -> float | None:
    """A status variable's number; None for text such as `ON`, or a time stamp."""
    with contextlib.suppress(ValueError):
        number = float(str(text))
        return number if abs(number) != float("inf") and number == number else None  # noqa: PLR0124
    return None


def _open_impatiently(target: Target) -> ControlConnection:
    return connect(target, connect_limit_s=2, read_limit_s=2)
