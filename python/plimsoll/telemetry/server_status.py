"""The server's own counters: numeric global status variables, as they are, and how samplers ask a server.

They are kept raw, so that whoever judges a recording chooses the window. Those of InnoDB are asked for each second, all
others each fifth: a server needs two to three times as long for all of them. MySQL has no status variable for the
history list length and for the checkpoint age: they come from its table of InnoDB metrics and from two positions in the
redo log, under the names that MariaDB has for them. Deliberately not here: rates.
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

REGULAR = "|".join(pattern.replace("*", ".*") for pattern in PATTERNS)
_ALL = f"SHOW GLOBAL STATUS WHERE variable_name REGEXP '^({REGULAR})$'"
_INNODB = "SHOW GLOBAL STATUS LIKE 'innodb%'"
ALL_EVERY = 5
"""Each so many-th sample has all variables, the first included."""

HISTORY, CHECKPOINT_AGE = "innodb_history_list_length", "innodb_checkpoint_age"
_HISTORY_STATEMENT = "SELECT name, `count` FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'"
_REDO_POSITIONS = ("innodb_redo_log_current_lsn", "innodb_redo_log_checkpoint_lsn")
_BACK_OFF_S = (1.0, 2.0, 5.0, 10.0)


class ServerStatusSampler(Sampler):
    """One control connection of its own, opened at the first sample and again after a failure, ever less often."""

    source: ClassVar[str] = "server"
    waits: ClassVar[bool] = True
    cost: ClassVar[str] = "one SHOW GLOBAL STATUS of some 100 rows each second, of some 400 each fifth"
    metrics: ClassVar[Mapping[str, str]] = dict.fromkeys(PATTERNS, "as the server documents it")

    def __init__(self, target: Target, *, open_connection: Callable[[Target], ControlConnection] | None = None) -> None:
        """Watches a server.

        Args:
            target: The server, with the password.
            open_connection: Opens a control connection that gives up within a second or two.
        """
        self._target = target
        self._open = open_connection or open_impatiently
        self._connection: ControlConnection | None = None
        self._failures = 0
        self._not_before_s = 0.0
        self._looks = 0
        self._has_history_metric = True

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`. Gives nothing while it waits before the next attempt to connect.

        Raises:
            TargetError: The server does not answer.
        """
        if self._connection is None and at_unix_s < self._not_before_s:
            return []
        try:
            self._connection = self._connection or self._open(self._target)
            rows = self._connection.rows(_INNODB if self._looks % ALL_EVERY else _ALL, columns=2)
            values = {str(name).lower(): _number(value) for name, value, *_ in rows}
            if HISTORY not in values:
                values[HISTORY] = self._history_length(self._connection)
        except TargetError:
            self._failures += 1
            self._not_before_s = at_unix_s + _BACK_OFF_S[min(self._failures, len(_BACK_OFF_S)) - 1]
            self.close()
            raise
        self._failures = 0
        self._looks += 1
        known = {name: value for name, value in values.items() if value is not None}
        return [Sample(self.source, name, value) for name, value in with_checkpoint_age(known).items()]

    def _history_length(self, connection: ControlConnection) -> float | None:
        """Of a server without a status variable for it; None where the account may not read the metric.

        Raises:
            TargetError: The connection is lost.
        """
        if not self._has_history_metric:
            return None
        try:
            rows = connection.rows(_HISTORY_STATEMENT, columns=2)
        except TargetError as error:
            if is_lost(error):
                raise
            rows = []
        self._has_history_metric = bool(rows)
        return _number(rows[0][1]) if rows else None

    def close(self) -> None:
        """Closes the connection; never fails."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def with_checkpoint_age(values: Mapping[str, float]) -> dict[str, float]:
    """Status variables with the checkpoint age, which MySQL does not state, from its positions in the redo log."""
    current, checkpoint = (values.get(name) for name in _REDO_POSITIONS)
    if current is None or checkpoint is None:
        return dict(values)
    return {CHECKPOINT_AGE: max(current - checkpoint, 0.0), **values}


def _number(text: object) -> float | None:
    """A status variable's number; None for text such as `ON`, or a time stamp."""
    with contextlib.suppress(ValueError):
        number = float(str(text))
        return number if abs(number) != float("inf") and number == number else None  # noqa: PLR0124
    return None


_NOT_NOW = frozenset({1040, 1053, 1129, 1158, 1159, 1160, 1161, 1203, 2002, 2003, 2006, 2013, None})
"""Codes of errors that say nothing about the statement: no connection could be opened, or it was lost."""


CONNECT_LIMIT_S, READ_LIMIT_S = 2, 5
"""With thousands of busy threads on a few processors, a status query took 0.6 s (4,096 connections on 2 CPUs)."""


def is_lost(error: TargetError) -> bool:
    """Whether the connection is lost, or none could be had; otherwise the server refused the statement."""
    return error.code in _NOT_NOW


def open_impatiently(target: Target) -> ControlConnection:
    """Opens a control connection that gives up within a few seconds. Raises as `connect`."""
    return connect(target, connect_limit_s=CONNECT_LIMIT_S, read_limit_s=READ_LIMIT_S)
