"""Samples as the telemetry table holds them."""

from __future__ import annotations

from dataclasses import asdict

import polars as pl

from plimsoll.record.frames import TELEMETRY
from plimsoll.telemetry.collector import Columns


def telemetry_frame(columns: Columns, *, driver: str, ahead_s: float = 0.0) -> pl.DataFrame:
    """Rows in order of time; schema `record.frames.TELEMETRY`.

    Args:
        columns: The samples.
        driver: The machine that drives the load.
        ahead_s: How far the clock of the machine that took them is ahead of this one's, seconds.
    """
    table = pl.DataFrame({"driver": [driver] * len(columns.value), **asdict(columns)}, schema=TELEMETRY)
    return table.with_columns(pl.col("unix_s") - ahead_s).sort("unix_s", maintain_order=True)
