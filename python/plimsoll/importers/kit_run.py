"""One run of a kit with a TPC-C-derived workload, as its log tells it, and its intervals as tables of a recording.

Tables have a row for each type of transaction. Deliberately not here: the formats (`go_tpc`, `tpcc_mysql`, `dbt2`),
histograms, which only mix logs of DBT-2 have (`dbt2`), and what becomes of a run (`tpcc`).
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from plimsoll.analyse.trial.tpcc_clauses import NEW_ORDER
from plimsoll.importers.text_files import UnreadLines
from plimsoll.record.frames import ERRORS, INTERVALS

COUNT_MAX = 10**12
NUMBER = r"(\d{1,12}(?:\.\d{1,9})?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFigures:
    """What a final report states about one type of transaction; None where it does not.

    Attributes:
        completed: With those that were rolled back because the workload wants it.
        failed: Ended in an error.
        retries: Tries that were repeated.
        response_ms: By statistic: `mean`, `p50`, `p90`, `p95`, `p99`, `p999`, `max`.
    """

    completed: int
    failed: int | None = None
    rolled_back: int | None = None
    retries: int | None = None
    response_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KitInterval:
    """Counts of an interval by type; its times are seconds since the measurement began."""

    from_s: float
    to_s: float
    completed: dict[str, int]
    failed: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class KitRun:
    """A run. What its log does not say is None or empty.

    Attributes:
        kit: As users call it.
        lines: First and last line in the file, counted from 1.
        warehouses: Scale of the tables.
        options: Others that change what was done, as a recording keeps them.
        duration_s: Measured, seconds.
        types: The final report; empty unless all of it was read.
        failed: Transactions that ended in an error, where the report does not say of which type.
        interval_s: Usual length of an interval, seconds.
        intervals: Their times rise.
        histograms: `frames.HISTOGRAMS`, where the log has each response time.
        refusals: Why nothing can be made of it.
        remarks: What the user should know of how it was taken or read.
        digest: Of all its bytes.
    """

    kit: str
    lines: tuple[int, int]
    connections: int | None = None
    warehouses: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    duration_s: float | None = None
    types: dict[str, TypeFigures] = field(default_factory=dict)
    failed: int | None = None
    interval_s: float = 1.0
    intervals: list[KitInterval] = field(default_factory=list)
    histograms: pl.DataFrame | None = None
    refusals: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    digest: str = ""

    @property
    def stated(self) -> dict[str, str | int | None]:
        """What the log says about where the run belongs."""
        return {"connections": self.connections, "warehouses": self.warehouses}

    @property
    def completed(self) -> int:
        """Transactions of all types, by the final report."""
        return sum(figures.completed for figures in self.types.values())

    @property
    def is_whole(self) -> bool:
        """Whether there is a final report from which throughput follows."""
        return bool(self.duration_s) and self.completed > 0

    @property
    def notpm(self) -> float | None:
        """New-order transactions per minute, by the final report."""
        if not self.is_whole or not self.duration_s or NEW_ORDER not in self.types:
            return None
        return self.types[NEW_ORDER].completed / self.duration_s * 60


class RunReader(ABC):
    """Reads a log line by line into runs.

    Attributes:
        runs: Those that are finished.
    """

    kit: str

    def __init__(self, unread: UnreadLines) -> None:
        self._skip = unread.skip
        self.runs: list[KitRun] = []
        self._begin(1)

    def feed(self, number: int, line: bytes, text: str) -> None:
        """Takes the next line of the file: its bytes, and its text without blanks around it."""
        if self._starts(text):
            self.finish()
            self._begin(number)
        self._digest.update(line.rstrip(b"\r") + b"\n")
        self._run.lines = (self._run.lines[0], number)
        if text:
            self._line(number, text)

    def finish(self) -> None:
        """Ends the last run."""
        self._close()
        self._run.digest = self._digest.hexdigest()
        if self._run.intervals or self._run.types or self._run.refusals:
            self.runs.append(self._run)

    def _begin(self, number: int) -> None:
        self._run = KitRun(self.kit, (number, number))
        self._digest = hashlib.sha256()

    @abstractmethod
    def _starts(self, text: str) -> bool:
        """Whether the line can only be the first of another run."""

    @abstractmethod
    def _line(self, number: int, text: str) -> None:
        """Takes a line that is not empty."""

    @abstractmethod
    def _close(self) -> None:
        """Completes the run before it is kept."""


def number(text: str) -> float | None:
    """A plain number that is not negative; None for anything else.

    >>> number("12.50"), number("-1"), number("nan")
    (12.5, None, None)
    """
    return float(text) if re.fullmatch(NUMBER, text, re.ASCII) else None


_NOWHERE = {"driver": "", "host": "", "instance": ""}
_NOT_STATED = ("dropped", "retries", "reads", "writes", "others", "rows_returned", "rows_affected")


def interval_rows(run: KitRun) -> pl.DataFrame | None:
    """`frames.INTERVALS`; None without intervals. What kits do not state is 0, or null where a reader can tell."""
    if not run.intervals:
        return None
    rows = [
        {
            **_NOWHERE,
            "interval": index,
            "from_s": interval.from_s,
            "to_s": interval.to_s,
            "transaction": name,
            "completed": completed,
            "failed": interval.failed.get(name, 0),
            **dict.fromkeys(_NOT_STATED, 0),
            "rolled_back": None,
        }
        for index, interval in enumerate(run.intervals)
        for name, completed in interval.completed.items()
    ]
    return pl.DataFrame(rows, schema=INTERVALS)


def error_rows(run: KitRun) -> pl.DataFrame | None:
    """`frames.ERRORS`, without codes, which kits do not print; None without intervals."""
    if not run.intervals:
        return None
    rows = [
        {**_NOWHERE, "interval": index, "class": "statement", "code": 0, "count": count}
        for index, interval in enumerate(run.intervals)
        if (count := sum(interval.failed.values()))
    ]
    return pl.DataFrame(rows, schema=ERRORS)
