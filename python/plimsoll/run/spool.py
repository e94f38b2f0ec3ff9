"""What a trial measures, on its way to the disk: a segment of each table every few intervals.

So memory does not grow with a trial's length, and a crash loses no more than a segment. Deliberately not here: how
segments become a recording (`record.partial`).
"""

from __future__ import annotations

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
    """

    def __init__(self, partial: PartialRecording, rows: IntervalRows, watch: Watch) -> None:
        """Makes sure that every table will be there, if only without rows."""
        self.partial, self.rows, self.watch = partial, rows, watch
        self.intervals_count = 0
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
        """Writes what was not written yet; raises as `add`."""
        taken = self.rows.take()
        taken["telemetry.parquet"] = self.watch.take(taken["telemetry.parquet"])
        for name, rows in taken.items():
            self.partial.add(name, rows)
