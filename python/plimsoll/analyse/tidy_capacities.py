"""Searches for capacities as a flat table: one row for each system, workload and repetition.

Deliberately not here: the runs of searches, which are rows of the table of trials, and means over repetitions.
"""

from __future__ import annotations

import polars as pl

from plimsoll.analyse.model import Analysis

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
            "search_id": one.search_id,
            "system": one.system,
            "workload": one.workload,
            "repetition": one.repetition,
            "is_finished": one.is_finished,
            "capacity_tps": one.capacity.capacity_tps,
            "low_tps": one.capacity.low,
            "high_tps": one.capacity.high,
            "objective_ms_p99": one.capacity.objective.response_ms_p99,
            "objective_errors_ratio": one.capacity.objective.errors_ratio,
            "trial_ids": " | ".join(run.trial_id for run in one.capacity.runs),
        }
        for system in analysis.capacities
        for one in system.searches
    ]
    return pl.DataFrame(rows, schema=CAPACITY_COLUMNS)
