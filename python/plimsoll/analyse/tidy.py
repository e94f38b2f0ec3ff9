"""Flat tables of trials, intervals, percentiles, telemetry, cells and comparisons, for Python and exports.

`plimsoll.open_study` and `plimsoll export` give them to users.

Trials and their intervals as flat tables: one row for each trial, and one for each interval and transaction type. What
a guide takes into account is what these tables hold: the measured window, recordings of the plan, trials that are
complete. Everything else is left out, or named in a column when it was asked for.

Response and service times of each trial as a flat table: one row for each trial, type, measure and quantile. Quantiles
are of the merged histograms of a trial's measured window, as everywhere (`histograms`). Those of different rows can
be neither averaged nor added.

Samples of host, processes and server as a flat table: one row for each trial, sample and metric. A sample speaks for
the second before it (`analyse.trial.samples`), so it belongs to the measured window when that second does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from plimsoll.analyse.model import Analysis, Difference
from plimsoll.analyse.study.cell_model import Cell, Estimate
from plimsoll.analyse.study.cells import level_of
from plimsoll.analyse.trial.histograms import MEASURES, SparseHistogram, durations, statistics
from plimsoll.analyse.trial.samples import LATE_S
from plimsoll.analyse.trial.trial_summary import RecordingLike, TrialSummary
from plimsoll.analyse.trial.window import inside
from plimsoll.record.level import Level
from plimsoll.record.model import Verdict, Window

LEVEL_KEYS: dict[str, pl.DataType] = {
    "level_kind": pl.String(),
    "connections": pl.Int64(),
    "rate_tps": pl.Float64(),
}
"""One offered load."""

TRIAL_KEYS: dict[str, pl.DataType] = {
    "trial_id": pl.String(),
    "system": pl.String(),
    "workload": pl.String(),
    **LEVEL_KEYS,
    "repetition": pl.Int64(),
    "in_plan": pl.Boolean(),
}
"""The first columns of every table with rows of single trials."""

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
    return pl.DataFrame(
        [_trial_row(recording, summary, planned) for recording, summary in trials], schema=TRIAL_COLUMNS
    )


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
    frames = [
        _of_recording(recording, planned) for recording in recordings if recording.outcome.verdict is Verdict.COMPLETE
    ]
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
    interval_numbers = intervals["interval"].to_numpy().astype(np.int64)
    first, last = int(interval_numbers.min()), int(interval_numbers.max())
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
    response = durations(SparseHistogram(buckets, counts, row["sum_ns"], row["max_ns"]))
    key = {name: row[name] for name in _KEY}
    return key | {f"response_ms_{name}": getattr(response, name) for name in ("mean", *_PERCENTILES, "max")}


def _trial_row(recording: RecordingLike, summary: TrialSummary | None, planned: Planned) -> dict[str, Any]:
    trial, outcome, environment = recording.trial, recording.outcome, recording.environment
    versions = dict.fromkeys(instance.version for instance in environment.instances if instance.version)
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


def _figures(trial_summary: TrialSummary) -> dict[str, Any]:
    counts, reported = trial_summary.counts, trial_summary.outcome.reported
    histogram = trial_summary.histograms.get("response")
    stated: dict[str, Any] = dict(reported.response_ms) if reported is not None else {}
    response = durations(histogram).of_one_run() if histogram is not None else stated
    figures: dict[str, Any] = {
        "throughput_tps": trial_summary.throughput_tps,
        "response_lower_bounds": " ".join(response.get("lower_bounds", ())) or None,
        "client_us_per_statement": trial_summary.client_us_per_statement,
        **{f"response_ms_{name}": response.get(name) for name in _RESPONSE},
        **{f"cpu_{name}_ratio": getattr(trial_summary.cpu, name) for name in _CPU},
    }
    if counts is not None:
        names = ("completed", "failed", "dropped", "retries", "statements")
        figures |= {"window_s": counts.duration_s, "stalled_ratio": trial_summary.quiet.stalled_ratio}
        figures |= {"unfinished": trial_summary.unfinished_count, **{name: getattr(counts, name) for name in names}}
    return figures


_STATISTICS = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
_CELL_COUNTS = ("completed", "failed", "dropped", "retries", "unfinished")
_BOUNDS: dict[str, pl.DataType] = {"low": pl.Float64(), "high": pl.Float64(), "confidence": pl.Float64()}

CELL_COLUMNS: dict[str, pl.DataType] = {
    "system": pl.String(),
    "workload": pl.String(),
    **LEVEL_KEYS,
    "trials_count": pl.Int64(),
    "throughput_tps": pl.Float64(),
    "low_tps": pl.Float64(),
    "high_tps": pl.Float64(),
    "confidence": pl.Float64(),
    "basis": pl.String(),
    **{f"response_ms_{name}": pl.Float64() for name in _STATISTICS},
    "response_lower_bounds": pl.String(),
    **{f"{name}_count": pl.Int64() for name in _CELL_COUNTS},
    "stalled_ratio": pl.Float64(),
    "is_sustained": pl.Boolean(),
    "is_peak": pl.Boolean(),
}
"""Columns of the table of cells; docs/export.md says what each means."""

COMPARISON_COLUMNS: dict[str, pl.DataType] = {
    "workload": pl.String(),
    "base": pl.String(),
    "system": pl.String(),
    "compared_at": pl.String(),
    **LEVEL_KEYS,
    "ratio": pl.Float64(),
    **_BOUNDS,
    "verdict": pl.String(),
    "equal_within_ratio": pl.Float64(),
    "smallest_effect": pl.Float64(),
    "repetitions_needed": pl.Int64(),
    "trials_count": pl.Int64(),
    "method": pl.String(),
}
"""Columns of the table of comparisons."""


def cell_table(analysis: Analysis) -> pl.DataFrame:
    """One row for each system, workload and level: all repetitions together."""
    rows = [
        {
            "system": curve.system,
            "workload": curve.workload,
            **_cell(cell),
            "is_peak": curve.peak is not None and curve.peak.level.order == cell.level.order,
        }
        for curve in analysis.curves
        for cell in curve.cells
    ]
    return pl.DataFrame(rows, schema=CELL_COLUMNS)


def comparison_table(analysis: Analysis) -> pl.DataFrame:
    """One row for each pair of systems that was compared: at their peaks, and at each level that both have."""
    return pl.DataFrame([_comparison(difference) for difference in analysis.differences], schema=COMPARISON_COLUMNS)


def _cell(cell: Cell) -> Mapping[str, Any]:
    throughput, response = cell.throughput_tps, cell.response_ms
    bounds = throughput.bounds
    return {
        **level_keys(cell.level),
        "trials_count": throughput.trial_count,
        "throughput_tps": throughput.value,
        "low_tps": None if bounds is None else bounds.low,
        "high_tps": None if bounds is None else bounds.high,
        "confidence": None if bounds is None else bounds.confidence,
        "basis": None if bounds is None or bounds.basis is None else bounds.basis.value,
        **{f"response_ms_{name}": getattr(response, name) for name in _STATISTICS},
        "response_lower_bounds": " ".join(response.lower_bounds) or None,
        **{f"{name}_count": getattr(cell, f"{name}_count") for name in _CELL_COUNTS},
        "stalled_ratio": cell.stalled_ratio,
        "is_sustained": None if cell.rate is None else cell.rate.is_sustained,
    }


def _comparison(difference: Difference) -> Mapping[str, Any]:
    at_level = {} if difference.level is None else level_keys(difference.level)
    return {
        "workload": difference.workload,
        "base": difference.base,
        "system": difference.system,
        "compared_at": "peak" if difference.level is None else "level",
        **at_level,
        **_ratio(difference.ratio),
        "verdict": difference.verdict.value,
        "equal_within_ratio": difference.equal_within,
        "smallest_effect": difference.smallest_effect,
        "repetitions_needed": difference.repetitions_needed,
    }


def _ratio(ratio: Estimate) -> Mapping[str, Any]:
    bounds = ratio.bounds
    return {
        "ratio": ratio.value,
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "confidence": None if bounds is None else bounds.confidence,
        "trials_count": ratio.trial_count,
        "method": None if bounds is None else bounds.method,
    }


CAPACITY_COLUMNS: dict[str, pl.DataType] = {
    "search_id": pl.String(),
    "system": pl.String(),
    "workload": pl.String(),
    "repetition": pl.Int64(),
    "is_finished": pl.Boolean(),
    "capacity_tps": pl.Float64(),
    "low_tps": pl.Float64(),
    "high_tps": pl.Float64(),
    "objective_ms_p99": pl.Float64(),
    "objective_errors_ratio": pl.Float64(),
    "trial_ids": pl.String(),
}
"""Columns of the table of capacities; docs/export.md says what each means."""


def capacity_table(analysis: Analysis) -> pl.DataFrame:
    """One row for each search of the study's plan, unfinished ones included."""
    rows = [
        {
            "search_id": search.search_id,
            "system": search.system,
            "workload": search.workload,
            "repetition": search.repetition,
            "is_finished": search.is_finished,
            "capacity_tps": search.capacity.capacity_tps,
            "low_tps": search.capacity.low,
            "high_tps": search.capacity.high,
            "objective_ms_p99": search.capacity.objective.response_ms_p99,
            "objective_errors_ratio": search.capacity.objective.errors_ratio,
            "trial_ids": " | ".join(run.trial_id for run in search.capacity.runs),
        }
        for system in analysis.capacities
        for search in system.searches
    ]
    return pl.DataFrame(rows, schema=CAPACITY_COLUMNS)


ALL_TYPES = ""
"""Stands for all types of transactions together."""

QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
"""Besides 1, the maximum."""

_STATED = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999, "max": 1.0}
"""Statistics that the sources of imports state."""

PERCENTILE_COLUMNS: dict[str, pl.DataType] = {
    **TRIAL_KEYS,
    "transaction": pl.String(),
    "measure": pl.String(),
    "quantile": pl.Float64(),
    "value_ms": pl.Float64(),
    "is_lower_bound": pl.Boolean(),
}
"""Columns of the table of percentiles; docs/export.md says what each means."""


def percentile_table(trials: Iterable[tuple[RecordingLike, TrialSummary | None]], planned: Planned) -> pl.DataFrame:
    """Quantiles of each trial that has a summary; those that too few transactions lie beyond have no row."""
    rows = [
        {**trial_keys(recording, planned), **row}
        for recording, summary in trials
        if summary is not None
        for row in _of_trial(summary)
    ]
    return pl.DataFrame(rows, schema=PERCENTILE_COLUMNS)


def _of_trial(summary: TrialSummary) -> Iterator[dict[str, Any]]:
    reported = summary.outcome.reported
    for measure in MEASURES:
        histogram = summary.histograms.get(measure)
        if histogram is not None:
            yield from _rows(ALL_TYPES, measure, histogram)
        elif measure == "response" and reported is not None:
            yield from _stated(ALL_TYPES, reported.response_ms)
    if len(summary.types) < 2:
        return
    for name, counts in summary.types.items():
        if counts.response is not None:
            yield from _rows(name, "response", counts.response)
        else:
            yield from _stated(name, counts.stated_ms)


def _rows(transaction: str, measure: str, histogram: SparseHistogram) -> Iterator[dict[str, Any]]:
    if histogram.total == 0 and histogram.in_flight is None:
        return
    statistics_by_name = statistics(histogram, {str(share): share for share in QUANTILES})
    for quantile in (*QUANTILES, 1.0):
        statistic = statistics_by_name.get("max" if quantile == 1.0 else str(quantile))
        if statistic is not None:
            yield _row(transaction, measure, quantile, statistic.ms, is_lower_bound=statistic.is_lower_bound)


def _stated(transaction: str, values_ms: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    for name, quantile in _STATED.items():
        if name in values_ms:
            yield _row(transaction, "response", quantile, values_ms[name], is_lower_bound=False)


def _row(transaction: str, measure: str, quantile: float, value_ms: float, *, is_lower_bound: bool) -> dict[str, Any]:
    return {
        "transaction": transaction,
        "measure": measure,
        "quantile": quantile,
        "value_ms": value_ms,
        "is_lower_bound": is_lower_bound,
    }


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


WARM, MEASURE, AFTER = "warm", "measure", "after"
"""Before the measured window, in it, and after it."""

Planned = Collection[str] | None
"""Ids of the trials that a plan holds; None where there is no plan, and every recording counts."""


def level_keys(level: Level) -> dict[str, Any]:
    """A level as columns; terminals count as a kind of their own."""
    return {"level_kind": level.kind.value, "connections": level.connections, "rate_tps": level.rate_tps}


def trial_keys(recording: RecordingLike, planned: Planned) -> dict[str, Any]:
    """The key of a trial by column."""
    trial = recording.trial
    return {
        "trial_id": trial.trial_id,
        "system": trial.system.name,
        "workload": trial.workload.name,
        **level_keys(level_of(trial)),
        "repetition": trial.repetition,
        "in_plan": planned is None or trial.trial_id in planned or trial.repeats in planned,
    }


def key_columns(recording: RecordingLike, planned: Planned) -> list[pl.Expr]:
    """The same as columns of one value, for a table of one trial."""
    keys = trial_keys(recording, planned).items()
    return [pl.lit(value, dtype=TRIAL_KEYS[name]).alias(name) for name, value in keys]
