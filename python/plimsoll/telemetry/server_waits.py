"""What the server's transactions wait for, and what the performance schema has counted, where the server has it on.

Waits for files by kind, and which tables hold the rows that others want. File waits are totals of the performance
schema since the server's start; MySQL has it switched on, MariaDB has not. MariaDB from 10.8 on does not count its redo
log there. Waiters for row locks are those of the moment: such a look takes a latch of InnoDB.

Summaries of waits, files and statements are totals too: what happened in a trial is a difference, and its ends are all
that it needs. They are looked up every fifth second, and less often where a look takes long: the server adds up all its
threads for it. Only the events that took longest are recorded. Times of file operations are those of whichever thread
did them: MySQL's redo log is written and flushed by threads of its own, while transactions wait for these.

What a server does not know, or does not let the account read, is asked once and then left alone: these metrics are
extra, and no fault of the trial. What worked before and is refused now is one. A lost connection is not told here (the
sampler of the server's status does) and is opened again, at first at once, then ever less often. Deliberately not here:
statements by their text (digests), which may hold what is nobody's business.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection, Row
from plimsoll.spec.target import Target
from plimsoll.telemetry.sampler import Sample, Sampler
from plimsoll.telemetry.server_status import is_lost, open_impatiently

_PICOSECONDS_PER_MS = 1e9
_WAITS_EVERY = 5
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
        if self._looks % _WAITS_EVERY != 1:
            return []
        samples = [
            Sample(self.source, FILES[str(name)], float(str(total)) / _PICOSECONDS_PER_MS)
            for name, total in self._tables.rows(_FILE_STATEMENT, columns=2)
            if str(name) in FILES
        ]
        for statement in _LOCK_STATEMENTS:
            samples += [
                Sample(self.source, f"row_lock_waiters_{_table(str(name))}", float(str(count)))
                for name, count in self._tables.rows(statement, columns=2)[:_TABLES_MAX]
            ]
        return samples

    def close(self) -> None:
        """Closes the connection; never fails."""
        self._tables.close()


def _table(name: str) -> str:
    """A table's name without quotes and signs that names of metrics do not have.

    >>> _table("`plimsoll`.`sbtest1`")
    'plimsoll.sbtest1'
    """
    return re.sub(r"[^\w.$-]", "", name)[:120]


_EVERY, _EVERY_MOST = 5, 20
"""Samples from one look to the next, at least and at most."""

_LOOK_MS = 2.0
"""A look may take so long for each sample until the next one: 0.2 % of the time where a sample is taken each second."""

_EVENTS_MAX = 20


@dataclass(frozen=True, slots=True)
class _Summary:
    """A table of the performance schema.

    Attributes:
        table: Its name.
        prefix: Of names of its events, which the names of metrics leave out.
        metric: What names of metrics begin with.
        columns: Each with the end of its metric's name, and its unit.
    """

    table: str
    prefix: str
    metric: str
    columns: Mapping[str, tuple[str, str]]

    @property
    def statement(self) -> str:
        """Asks for the events that took longest."""
        return (
            f"SELECT event_name, {', '.join(self.columns)} FROM performance_schema.{self.table}"  # noqa: S608
            f" WHERE count_star > 0 AND event_name <> 'idle' ORDER BY sum_timer_wait DESC LIMIT {_EVENTS_MAX}"
        )

    def name(self, event: str, end: str) -> str:
        """The name of a metric, without signs that such names do not have."""
        rest = event.removeprefix(self.prefix).replace("/", ".")
        return f"{self.metric}_{re.sub(r'[^a-zA-Z0-9_.:-]', '', rest)[:100]}_{end}"


SUMMARIES = (
    _Summary(
        "events_waits_summary_global_by_event_name",
        "wait/",
        "wait",
        {"count_star": ("count", "waits"), "sum_timer_wait": ("ms", "ms")},
    ),
    _Summary(
        "file_summary_by_event_name",
        "wait/io/file/",
        "file",
        {
            "count_read": ("read_count", "operations"),
            "sum_timer_read": ("read_ms", "ms"),
            "sum_number_of_bytes_read": ("read_bytes", "bytes"),
            "count_write": ("write_count", "operations"),
            "sum_timer_write": ("write_ms", "ms"),
            "sum_number_of_bytes_write": ("write_bytes", "bytes"),
            "count_misc": ("other_count", "operations"),
            "sum_timer_misc": ("other_ms", "ms"),
        },
    ),
    _Summary(
        "events_statements_summary_global_by_event_name",
        "statement/",
        "statement",
        {
            "count_star": ("count", "statements"),
            "sum_timer_wait": ("ms", "ms"),
            "sum_lock_time": ("lock_ms", "ms"),
            "sum_errors": ("errors_count", "statements"),
            "sum_rows_examined": ("rows_examined_count", "rows"),
            "sum_rows_sent": ("rows_sent_count", "rows"),
            "sum_created_tmp_disk_tables": ("tmp_disk_tables_count", "tables"),
        },
    ),
)


class SummariesSampler(Sampler):
    """One control connection of its own, opened at the first sample and again after it was lost."""

    source: ClassVar[str] = "performance_schema"
    waits: ClassVar[bool] = True
    cost: ClassVar[str] = "three SELECTs of at most 20 rows every 5 to 20 seconds, by how long they take"
    metrics: ClassVar[Mapping[str, str]] = {
        f"{summary.metric}_*_{end}": unit for summary in SUMMARIES for end, unit in summary.columns.values()
    }

    def __init__(self, target: Target, *, open_connection: Callable[[Target], ControlConnection] | None = None) -> None:
        """Watches a server; `target` has the password."""
        self._tables = OptionalTables(target, [summary.statement for summary in SUMMARIES], open_connection)
        self._rest = 0

    def sample(self, at_unix_s: float) -> list[Sample]:  # noqa: ARG002
        """Looks once, see `Sampler`.

        Raises:
            TargetError: The server refuses what it answered before.
        """
        self._rest -= 1
        if self._rest > 0:
            return []
        began_s = time.perf_counter()
        samples = self._look()
        took_ms = (time.perf_counter() - began_s) * 1000
        self._rest = min(max(_EVERY, math.ceil(took_ms / _LOOK_MS)), _EVERY_MOST)
        return samples

    def _look(self) -> list[Sample]:
        samples = []
        for summary in SUMMARIES:
            for event, *values in self._tables.rows(summary.statement, columns=1 + len(summary.columns)):
                for column, (end, _), value in zip(summary.columns, summary.columns.values(), values, strict=False):
                    scale = _PICOSECONDS_PER_MS if column.startswith("sum_timer") or column == "sum_lock_time" else 1.0
                    samples.append(Sample(self.source, summary.name(str(event), end), float(str(value or 0)) / scale))
        return samples

    def close(self) -> None:
        """Closes the connection; never fails."""
        self._tables.close()


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
            rows = self._connection.rows(statement, columns=columns)
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
        return rows

    def close(self) -> None:
        """Closes the connection; never fails."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
