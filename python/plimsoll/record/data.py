"""What a trial began on and what it left: how data was put back, table sizes, redo log. Part of a recording."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.document import Document

Way = Literal["copy", "prepare", "fresh", "left", "hook"]
"""Restored from a copy of cleanly stopped data; loaded again; used for the first time; as the last trial left it; put
back by a hook."""


class DataReset(Document):
    """How data came to be as a trial met it; all instances of the system together.

    Attributes:
        way: Which.
        duration_s: How long that took, seconds; None where nothing was done.
        size_bytes: Of the files that were copied; None where none were.
        cloned_bytes: Of those whose blocks the copy shares with the original (reflink).
        other_s: How long the other way took the last time, seconds; None when that is unknown.
        is_aged: Data came from an earlier study and was not loaded in this one.
    """

    way: Way
    duration_s: float | None = None
    size_bytes: int | None = None
    cloned_bytes: int = 0
    other_s: float | None = None
    is_aged: bool = False


class DataState(Document):
    """The data of a trial, before and after; all instances of the system together.

    Attributes:
        reset: How it was made ready; None in older recordings and for imports.
        rows_before: Rows of the workload's tables when the trial began; None when nobody counted them.
        rows_after: The same when the load had ended.
        bytes_before: Size of the files of all tables of the database, as the server says it; None when it does not.
        bytes_after: The same when the load had ended.
        redo_warm_bytes: Redo written from the beginning of the load to that of the measured window (progress of the log
            sequence number); None when the server was not watched.
        redo_capacity_bytes: Size of the redo log; None when unknown.
    """

    reset: DataReset | None = None
    rows_before: int | None = None
    rows_after: int | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    redo_warm_bytes: int | None = None
    redo_capacity_bytes: int | None = None

    @property
    def redo_turns(self) -> float | None:
        """How often the redo log was filled while the server warmed up; from 1 on it wrapped. None when unknown."""
        if self.redo_warm_bytes is None or not self.redo_capacity_bytes:
            return None
        return self.redo_warm_bytes / self.redo_capacity_bytes
