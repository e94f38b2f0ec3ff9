"""Lag, stale reads and waits as a flat table: one row for each trial, replica and interval.

Deliberately not here: whether a lag grows (`replication.lag`).
"""

from __future__ import annotations

import polars as pl

from plimsoll.analyse.tidy_keys import AFTER, MEASURE, TRIAL_KEYS, WARM, Planned, key_columns
from plimsoll.analyse.trial_summary import RecordingLike
from plimsoll.record.model import Verdict

REPLICATION_COLUMNS: dict[str, pl.DataType] = {
    **TRIAL_KEYS,
    "driver": pl.String(),
    "host": pl.String(),
    "instance": pl.String(),
    "role": pl.String(),
    "interval": pl.UInt32(),
    "state": pl.String(),
    "lag_s": pl.Float64(),
    "lag_end_s": pl.Float64(),
    "reads": pl.UInt64(),
    "stale_reads": pl.UInt64(),
    "waits": pl.UInt64(),
    "wait_s": pl.Float64(),
    "wait_timeouts": pl.UInt64(),
}
"""Columns of the table of replication; docs/export.md says what each means."""


def replication_table(recording: RecordingLike, planned: Planned, *, whole: bool = False) -> pl.DataFrame:
    """The replicas of one complete trial; no rows for trials without, and for those that are not complete.

    Args:
        recording: The trial.
        planned: Which trials belong to the study's plan.
        whole: With intervals from before and after the measured window.

    Raises:
        RecordError: A table of the recording is missing or damaged.
    """
    rows, window = recording.replication(), recording.outcome.window
    if recording.outcome.verdict is not Verdict.COMPLETE or rows is None:
        return pl.DataFrame(schema=REPLICATION_COLUMNS)
    interval, state = pl.col("interval"), pl.lit(MEASURE)
    if window is not None:
        before = pl.when(interval < window.first).then(pl.lit(WARM))
        state = before.when(interval > window.last).then(pl.lit(AFTER)).otherwise(state)
    table = rows.with_columns(*key_columns(recording, planned), state.alias("state")).select(list(REPLICATION_COLUMNS))
    table = table.sort("instance", "interval", "driver")
    return table if whole else table.filter(pl.col("state") == MEASURE)
