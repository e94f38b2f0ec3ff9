"""What a trial measures, on its way to the disk: a segment of each table every few intervals.

So memory does not grow with a trial's length, and a crash loses no more than a segment. Deliberately not here: how
segments become a recording (`record.partial`).
"""

from __future__ import annotations

import polars as pl

from plimsoll.drive.protocol import Interval
from plimsoll.record.partial import PartialRecording
from plimsoll.run.rows import IntervalRows
from plimsoll.run.watch import Watch

SEGMENT_INTERVALS = 10
"""A crash loses at most so many; docs/recordings.md says the same."""


class Spool:
    """Gathers the rows of a few intervals and appends them to a partial recording.

    Attributes:
        partial: Where they go.
        rows: Those of the engine.
        watch: Gives those of telemetry.
        intervals_count: How many intervals there were.
        driver: Drives the load where this machine does not; rows of telemetry name it then.
    """

    def __init__(self, partial: PartialRecording, rows: IntervalRows, watch: Watch) -> None:
        """Makes sure that every table will be there, if only without rows."""
        self.partial, self.rows, self.watch = partial, rows, watch
        self.intervals_count = 0
        self.driver: str | None = None
        self._unwritten: dict[str, pl.DataFrame] = {}
        self.flush()

    def add(self, interval: Interval, *, began_unix_s: float) -> None:
        """Takes one interval in.

        Raises:
            StorageError: The disk is full, or the folder is gone.
        """
        self.rows.add(interval, began_unix_s=began_unix_s)
        self.intervals_count += 1
        if self.intervals_count % SEGMENT_INTERVALS == 0:
            self.flush()

    def flush(self) -> None:
        """Writes what was not written yet, also what an interruption kept from being written; raises as `add`."""
        self._write()
        taken = self.rows.take()
        taken["telemetry.parquet"] = self._watched(taken["telemetry.parquet"])
        self._unwritten = taken
        self._write()

    def _write(self) -> None:
        for name in tuple(self._unwritten):
            self.partial.add(name, self._unwritten[name])
            del self._unwritten[name]

    def _watched(self, engines: pl.DataFrame) -> pl.DataFrame:
        """All telemetry, with that of the engines."""
        rows = self.watch.take(engines)
        if self.driver is None:
            return rows
        of_engines = pl.col("source") == "engine"
        return rows.with_columns(pl.when(of_engines).then("driver").otherwise(pl.lit(self.driver)).alias("driver"))
