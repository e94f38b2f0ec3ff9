"""What an analysis says of cells and of comparisons, as flat tables: one row for each.

Deliberately not here: any calculation. The figures are those of the analysis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from plimsoll.analyse.cell_model import Cell, Estimate
from plimsoll.analyse.model import Analysis, Difference
from plimsoll.analyse.tidy_keys import LEVEL_KEYS, level_keys

_STATISTICS = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
_COUNTS = ("completed", "failed", "dropped", "retries", "unfinished")
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
    **{f"{name}_count": pl.Int64() for name in _COUNTS},
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
    return pl.DataFrame([_comparison(one) for one in analysis.differences], schema=COMPARISON_COLUMNS)


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
        **{f"{name}_count": getattr(cell, f"{name}_count") for name in _COUNTS},
        "stalled_ratio": cell.stalled_ratio,
        "is_sustained": None if cell.rate is None else cell.rate.is_sustained,
    }


def _comparison(one: Difference) -> Mapping[str, Any]:
    at_level = {} if one.level is None else level_keys(one.level)
    return {
        "workload": one.workload,
        "base": one.base,
        "system": one.system,
        "compared_at": "peak" if one.level is None else "level",
        **at_level,
        **_ratio(one.ratio),
        "verdict": one.verdict.value,
        "equal_within_ratio": one.equal_within,
        "smallest_effect": one.smallest_effect,
        "repetitions_needed": one.repetitions_needed,
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
