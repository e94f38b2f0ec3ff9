"""Trials and their intervals as flat tables: one row for each trial, and one for each interval and transaction type.

What a guide takes into account is what these tables hold: the measured window, recordings of the plan, trials that are
complete. Everything else is left out, or named in a column when it was asked for. Deliberately not here: the other
tables (`tidy_percentiles`, `tidy_telemetry`, `tidy_cells`), reading recordings and plans, and writing files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from plimsoll.analyse.durations import durations
from plimsoll.analyse.histograms import SparseHistogram
from plimsoll.analyse.tidy_keys import AFTER, MEASURE, TRIAL_KEYS, WARM, Planned, key_columns, trial_keys
from plimsoll.analyse.trial_summary import RecordingLike, TrialSummary
from plimsoll.record.model import Verdict, Window

_COUNTS = (
    "completed",
    "rolled_back",
    "failed",
    "dropped",
    "retries",
    "reads",
    "writes",
    "others",
    "rows_returned",
    "rows_affected",
)
_PERCENTILES = ("p50", "p95", "p99")

_KEY: dict[str, pl.DataType] = {
    "driver": pl.String(),
    "host": pl.String(),
    "instance": pl.String(),
    "interval": pl.UInt32(),
    "transaction": pl.String(),
}
"""What tells rows of one recording apart."""

INTERVAL_COLUMNS: dict[str, pl.DataType] = {
    **TRIAL_KEYS,
    "driver": pl.String(),
    "host": pl.String(),
    "instance": pl.String(),
    "interval": pl.Int64(),
    "from_s": pl.Float64(),
    "to_s": pl.Float64(),
    "state": pl.String(),
    "transaction": pl.String(),
    **dict.fromkeys(_COUNTS, pl.Int64()),
    "response_ms_mean": pl.Float64(),
    **{f"response_ms_{name}": pl.Float64() for name in _PERCENTILES},
    "response_ms_max": pl.Float64(),
}
"""Columns of the table of intervals; docs/export.md says what each means."""

_RESPONSE = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
_CPU = ("user", "system", "iowait", "idle", "steal", "server", "client")

TRIAL_COLUMNS: dict[str, pl.DataType] = {
    **TRIAL_KEYS,
    "verdict": pl.String(),
    "reason": pl.String(),
    "origin": pl.String(),
    "began_unix_s": pl.Float64(),
    "position": pl.Int64(),
    "block": pl.Int64(),
    "search_id": pl.String(),
    "search_role": pl.String(),
    "instances_count": pl.Int64(),
    "connections_per_instance": pl.Int64(),
    "window_s": pl.Float64(),
    "throughput_tps": pl.Float64(),
    **dict.fromkeys(("completed", "failed", "dropped", "retries", "statements", "unfinished"), pl.Int64()),
    "stalled_ratio": pl.Float64(),
    **{f"response_ms_{name}": pl.Float64() for name in _RESPONSE},
    "response_lower_bounds": pl.String(),
    **{f"cpu_{name}_ratio": pl.Float64() for name in _CPU},
    "client_us_per_statement": pl.Float64(),
    "on_server_host": pl.Boolean(),
    "host": pl.String(),
    "server_version": pl.String(),
    "cost_per_month": pl.Float64(),
    "warnings": pl.String(),
}
"""Columns of the table of trials."""


def trial_table(trials: Iterable[tuple[RecordingLike, TrialSummary | None]], planned: Planned) -> pl.DataFrame:
    """One row for each recording; figures are those of the measured window, and null where there is no summary."""
    return pl.DataFrame([_trial_row(one, summary, planned) for one, summary in trials], schema=TRIAL_COLUMNS)


def interval_table(recordings: Iterable[RecordingLike], planned: Planned, *, whole: bool = False) -> pl.DataFrame:
    """One row for each complete trial, instance, interval and transaction type.

    An interval in which nothing of a type ended has a row with zeros: recordings have none, and a mean over rows would
    be too high without it.

    Args:
        recordings: Of a study; those without intervals, such as published figures, have no rows.
        planned: Which of them belong to its plan.
        whole: With the warm-up and what followed the measured window.

    Raises:
        RecordError: A table of a recording is missing or damaged.
    """
    frames = [_of_recording(one, planned) for one in recordings if one.outcome.verdict is Verdict.COMPLETE]
    table = pl.concat([pl.DataFrame(schema=INTERVAL_COLUMNS), *(frame for frame in frames if frame is not None)])
    return table if whole else table.filter(pl.col("state") == MEASURE)


def _of_recording(recording: RecordingLike, planned: Planned) -> pl.DataFrame | None:
    intervals = recording.intervals()
    if intervals is None or intervals.is_empty():
        return None
    rows = _without_gaps(intervals, recording.outcome.window, recording.trial.interval_s)
    rows = rows.join(_response_times(recording.histograms()), on=list(_KEY), how="left")
    states = _state(recording.outcome.window).alias("state")
    table = rows.with_columns(*key_columns(recording, planned), states).sort("interval", "instance", "transaction")
    return table.select([pl.col(name).cast(kind) for name, kind in INTERVAL_COLUMNS.items()])


def _state(window: Window | None) -> pl.Expr:
    if window is None:
        return pl.lit(MEASURE)
    before, after = pl.col("interval") < window.first, pl.col("interval") > window.last
    return pl.when(before).then(pl.lit(WARM)).when(after).then(pl.lit(AFTER)).otherwise(pl.lit(MEASURE))


def _without_gaps(intervals: pl.DataFrame, window: Window | None, interval_s: float) -> pl.DataFrame:
    """The rows with those of intervals in which nothing of a type ended, from the first interval to the last."""
    found = intervals["interval"].to_numpy().astype(np.int64)
    first, last = int(found.min()), int(found.max())
    if window is not None:
        first, last = min(first, window.first), max(last, window.last)
    times = intervals.group_by("interval").agg(pl.col("from_s").min(), pl.col("to_s").max())
    every = pl.DataFrame({"interval": np.arange(first, last + 1)}, schema={"interval": pl.UInt32()})
    every = every.join(times, on="interval", how="left").with_columns(
        pl.col("from_s").fill_null(pl.col("interval") * interval_s),
        pl.col("to_s").fill_null((pl.col("interval") + 1) * interval_s),
    )
    counted = pl.col("rolled_back").is_not_null().any().alias("is_counted")
    kinds = intervals.group_by("driver", "host", "instance", "transaction").agg(counted)
    grid = kinds.join(every, how="cross")
    rows = grid.join(intervals.select(*_KEY, *_COUNTS), on=list(_KEY), how="left")
    zero = [pl.col(name).fill_null(0) for name in _COUNTS if name != "rolled_back"]
    rolled_back = pl.when(pl.col("is_counted")).then(pl.col("rolled_back").fill_null(0)).otherwise(None)
    return rows.with_columns(*zero, rolled_back.alias("rolled_back"))


def _response_times(histograms: pl.DataFrame | None) -> pl.DataFrame:
    """Response times by instance, interval and type; percentiles as guides define them, null where too few ended."""
    rows = []
    if histograms is not None:
        wanted = histograms.filter(pl.col("measure") == "response", pl.col("buckets").list.len() > 0)
        rows = [_response_row(row) for row in wanted.iter_rows(named=True)]
    names = ("mean", *_PERCENTILES, "max")
    return pl.DataFrame(rows, schema={**_KEY, **{f"response_ms_{name}": pl.Float64() for name in names}})


def _response_row(row: Mapping[str, Any]) -> dict[str, Any]:
    buckets, counts = np.asarray(row["buckets"], dtype=np.int64), np.asarray(row["counts"], dtype=np.int64)
    found = durations(SparseHistogram(buckets, counts, row["sum_ns"], row["max_ns"]))
    key = {name: row[name] for name in _KEY}
    return key | {f"response_ms_{name}": getattr(found, name) for name in ("mean", *_PERCENTILES, "max")}


def _trial_row(recording: RecordingLike, summary: TrialSummary | None, planned: Planned) -> dict[str, Any]:
    trial, outcome, environment = recording.trial, recording.outcome, recording.environment
    versions = dict.fromkeys(one.version for one in environment.instances if one.version)
    row = trial_keys(recording, planned) | {
        "verdict": outcome.verdict.value,
        "reason": outcome.reason,
        "origin": trial.origin.kind,
        "began_unix_s": None if outcome.account is None else outcome.account.started_unix_s,
        "position": trial.position,
        "block": trial.block,
        "search_id": trial.search_id,
        "search_role": None if trial.search_role is None else trial.search_role.value,
        "instances_count": trial.system.instances,
        "connections_per_instance": trial.level.connections_per_instance,
        "on_server_host": environment.client.on_server_host,
        "host": environment.host.name,
        "server_version": " | ".join(versions) or None,
        "cost_per_month": trial.system.cost_per_month,
        "warnings": " ".join(dict.fromkeys(warning.code for warning in outcome.warnings)) or None,
    }
    return row if summary is None else row | _figures(summary)


def _figures(one: TrialSummary) -> dict[str, Any]:
    counts, reported = one.counts, one.outcome.reported
    histogram = one.histograms.get("response")
    stated: dict[str, Any] = dict(reported.response_ms) if reported is not None else {}
    response = durations(histogram).of_one_run() if histogram is not None else stated
    figures: dict[str, Any] = {
        "throughput_tps": one.throughput_tps,
        "response_lower_bounds": " ".join(response.get("lower_bounds", ())) or None,
        "client_us_per_statement": one.client_us_per_statement,
        **{f"response_ms_{name}": response.get(name) for name in _RESPONSE},
        **{f"cpu_{name}_ratio": getattr(one.cpu, name) for name in _CPU},
    }
    if counts is not None:
        names = ("completed", "failed", "dropped", "retries", "statements")
        figures |= {"window_s": counts.duration_s, "stalled_ratio": one.quiet.stalled_ratio}
        figures |= {"unfinished": one.unfinished_count, **{name: getattr(counts, name) for name in names}}
    return figures
