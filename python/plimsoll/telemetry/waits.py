"""What the server's transactions wait for: files by kind, and which tables hold the rows that others want.

File waits are totals of the performance schema since the server's start; MySQL has it switched on, MariaDB has not.
MariaDB from 10.8 on does not count its redo log there. Waiters for row locks are those of the moment: such a look takes
a latch of InnoDB. Both are looked up every fifth second. What a server does not know, or does not let the account read,
is asked once and then left alone: these metrics are extra, and no fault of the trial. What worked before and is refused
now is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from plimsoll.servers.control import ControlConnection
from plimsoll.spec.target import Target
from plimsoll.telemetry.optional_tables import OptionalTables
from plimsoll.telemetry.sampler import Sample, Sampler

PICOSECONDS_PER_MS = 1e9
_EVERY = 5
_TABLES_MAX = 5

FILES = {
    "wait/io/file/innodb/innodb_log_file": "wait_redo_file_ms",
    "wait/io/file/innodb/innodb_data_file": "wait_data_file_ms",
    "wait/io/file/innodb/innodb_dblwr_file": "wait_doublewrite_file_ms",
    "wait/io/file/sql/binlog": "wait_binlog_file_ms",
}
"""Instruments of the performance schema, and the metric of each."""

_FILE_STATEMENT = (  # names of our own only
    "SELECT event_name, sum_timer_wait FROM performance_schema.file_summary_by_event_name"  # noqa: S608
    f" WHERE event_name IN ({', '.join(repr(name) for name in FILES)}) AND count_star > 0"
)
_LOCK_STATEMENTS = (
    # MySQL 8 and later
    "SELECT CONCAT(l.object_schema, '.', l.object_name), COUNT(*) FROM performance_schema.data_locks l"
    " WHERE l.lock_status = 'WAITING' GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
    # MariaDB
    "SELECT l.lock_table, COUNT(*) FROM information_schema.innodb_lock_waits w JOIN information_schema.innodb_locks l"
    " ON l.lock_id = w.requested_lock_id GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
)


class WaitsSampler(Sampler):
    """One control connection of its own, opened at the first sample and again after it was lost."""

    source: ClassVar[str] = "waits"
    waits: ClassVar[bool] = True
    cost: ClassVar[str] = "one SELECT of at most four rows and one or two on row locks, every fifth second"
    metrics: ClassVar[Mapping[str, str]] = {**dict.fromkeys(FILES.values(), "ms"), "row_lock_waiters_*": "transactions"}

    def __init__(self, target: Target, *, open_connection: Callable[[Target], ControlConnection] | None = None) -> None:
        """Watches a server; `target` has the password."""
        self._tables = OptionalTables(target, (_FILE_STATEMENT, *_LOCK_STATEMENTS), open_connection)
        self._looks = 0

    def sample(self, at_unix_s: float) -> list[Sample]:  # noqa: ARG002
        """Looks once, see `Sampler`.

        Raises:
            TargetError: The server refuses what it answered before.
        """
        self._looks += 1
        if self._looks % _EVERY != 1:
            return []
        found = [
            Sample(self.source, FILES[str(name)], float(str(total)) / PICOSECONDS_PER_MS)
            for name, total in self._tables.rows(_FILE_STATEMENT, columns=2)
            if str(name) in FILES
        ]
        for statement in _LOCK_STATEMENTS:
            found += [
                Sample(self.source, f"row_lock_waiters_{_table(str(name))}", float(str(count)))
                for name, count in self._tables.rows(statement, columns=2)[:_TABLES_MAX]
            ]
        return found

    def close(self) -> None:
        """Closes the connection; never fails."""
        self._tables.close()


def _table(name: str) -> str:
    """A table's name without quotes and signs that names of metrics do not have.

    >>> _table("`plimsoll`.`sbtest1`")
    'plimsoll.sbtest1'
    """
    return re.sub(r"[^\w.$-]", "", name)[:120]
