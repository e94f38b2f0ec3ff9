"""A recording that is not written, or not yet: what a trial left, as the analysis reads it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from plimsoll.record.model import Environment, Outcome, TrialRecord
from plimsoll.run.rows import IntervalRows


@dataclass(frozen=True, slots=True)
class InMemory:
    """A recording without a folder."""

    trial: TrialRecord
    outcome: Outcome
    rows: IntervalRows
    environment: Environment

    def intervals(self) -> pl.DataFrame:
        """Counts by interval and transaction type."""
        return self.rows.intervals()

    def errors(self) -> pl.DataFrame:
        """Failed statements."""
        return self.rows.errors()

    def histograms(self) -> pl.DataFrame:
        """Durations by interval, type and measure."""
        return self.rows.histograms()

    def telemetry(self) -> pl.DataFrame:
        """What the engine says of itself and of what waits."""
        return self.rows.client_telemetry()
