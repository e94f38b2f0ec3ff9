"""What tells rows of different trials apart in every flat table, and which part of a trial a row is of."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import polars as pl

from plimsoll.analyse.cells import level_of
from plimsoll.analyse.trial_summary import RecordingLike
from plimsoll.record.level import Level

WARM, MEASURE, AFTER = "warm", "measure", "after"
"""Before the measured window, in it, and after it."""

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
