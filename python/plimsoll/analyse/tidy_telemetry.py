"""Samples of host, processes and server as a flat table: one row for each trial, sample and metric.

A sample speaks for the second before it (`samples`), so it belongs to the measured window when that second does.
Deliberately not here: what a metric means (docs/telemetry.md).
"""

from __future__ import annotations

import polars as pl

from plimsoll.analyse.samples import LATE_S
from plimsoll.analyse.tidy_keys import AFTER, MEASURE, TRIAL_KEYS, WARM, Planned, key_columns
from plimsoll.analyse.trial_summary import RecordingLike
from plimsoll.analyse.window import inside
from plimsoll.record.model import Verdict

TELEMETRY_COLUMNS: dict[str, pl.DataType] = {
    **TRIAL_KEYS,
    "driver": pl.String(),
    "host": pl.String(),
    "instance": pl.String(),
    "unix_s": pl.Float64(),
    "elapsed_s": pl.Float64(),
    "state": pl.String(),
    "source": pl.String(),
    "metric": pl.String(),
    "value": pl.Float64(),
}
"""Columns of the table of telemetry; docs/export.md says what each means."""


def telemetry_table(recording: RecordingLike, planned: Planned, *, whole: bool = False) -> pl.DataFrame:
    """The samples of one complete trial; no rows for imports and for trials that are not complete.

    Args:
        recording: The trial.
        planned: Which trials belong to the study's plan.
        whole: With samples from before and after the measured window.

    Raises:
        RecordError: A table of the recording is missing or damaged.
    """
    account, telemetry = recording.outcome.account, recording.telemetry()
    intervals = recording.intervals()
    if recording.outcome.verdict is not Verdict.COMPLETE or account is None or telemetry is None or intervals is None:
        return pl.DataFrame(schema=TELEMETRY_COLUMNS)
    bounds_s = inside(intervals, recording.outcome.window).select(pl.col("from_s").min(), pl.col("to_s").max()).row(0)
    first_s, last_s = (0.0 if edge is None else edge + LATE_S for edge in bounds_s)
    rows = telemetry.with_columns(
        *key_columns(recording, planned), (pl.col("unix_s") - account.started_unix_s).alias("elapsed_s")
    )
    elapsed_s = pl.col("elapsed_s")
    state = (pl.when(elapsed_s <= first_s).then(pl.lit(WARM)).when(elapsed_s > last_s).then(pl.lit(AFTER))).otherwise(
        pl.lit(MEASURE)
    )
    rows = rows.with_columns(state.alias("state")).select(list(TELEMETRY_COLUMNS))
    return rows if whole else rows.filter(pl.col("state") == MEASURE)
