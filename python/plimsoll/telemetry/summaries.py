"""What the performance schema has counted of waits, files and statements, where the server has it switched on.

Totals since the server's start: what happened in a trial is a difference, and its ends are all that it needs. They are
looked up every fifth second, and less often where a look takes long: the server adds up all its threads for it. Only
the events that took longest are recorded. Times of file operations are those of whichever thread did them: MySQL's redo
log is written and flushed by threads of its own, while transactions wait for these.
Deliberately not here: statements by their text (digests), which may hold what is nobody's business.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from plimsoll.servers.control import ControlConnection
from plimsoll.spec.target import Target
from plimsoll.telemetry.optional_tables import OptionalTables
from plimsoll.telemetry.sampler import Sample, Sampler

_EVERY, _EVERY_MOST = 5, 20
"""Samples from one look to the next, at least and at most."""

_LOOK_MS = 2.0
"""A look may take so long for each sample until the next one: 0.2 % of the time where a sample is taken each second."""

_PICOSECONDS_PER_MS = 1e9
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
        f"{one.metric}_*_{end}": unit for one in SUMMARIES for end, unit in one.columns.values()
    }

    def __init__(self, target: Target, *, open_connection: Callable[[Target], ControlConnection] | None = None) -> None:
        """Watches a server; `target` has the password."""
        self._tables = OptionalTables(target, [one.statement for one in SUMMARIES], open_connection)
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
        found = self._look()
        took_ms = (time.perf_counter() - began_s) * 1000
        self._rest = min(max(_EVERY, math.ceil(took_ms / _LOOK_MS)), _EVERY_MOST)
        return found

    def _look(self) -> list[Sample]:
        found = []
        for one in SUMMARIES:
            for event, *values in self._tables.rows(one.statement, columns=1 + len(one.columns)):
                for column, (end, _), value in zip(one.columns, one.columns.values(), values, strict=False):
                    scale = _PICOSECONDS_PER_MS if column.startswith("sum_timer") or column == "sum_lock_time" else 1.0
                    found.append(Sample(self.source, one.name(str(event), end), float(str(value or 0)) / scale))
        return found

    def close(self) -> None:
        """Closes the connection; never fails."""
        self._tables.close()
