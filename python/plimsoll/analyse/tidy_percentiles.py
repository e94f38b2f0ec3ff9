"""Response and service times of each trial as a flat table: one row for each trial, type, measure and quantile.

Quantiles are of the merged histograms of a trial's measured window, as everywhere (`durations`). Those of different
rows can be neither averaged nor added. Deliberately not here: quantiles over several trials (`cells`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from plimsoll.analyse.histograms import MEASURES, SparseHistogram
from plimsoll.analyse.tidy_keys import TRIAL_KEYS, Planned, trial_keys
from plimsoll.analyse.trial_summary import RecordingLike, TrialSummary
from plimsoll.analyse.unfinished import statistics

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
    found = statistics(histogram, {str(share): share for share in QUANTILES})
    for quantile in (*QUANTILES, 1.0):
        one = found.get("max" if quantile == 1.0 else str(quantile))
        if one is not None:
            yield _row(transaction, measure, quantile, one.ms, is_lower_bound=one.is_lower_bound)


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
