"""A recording that is not complete yet, as the analysis reads it: what a trial wrote so far."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from plimsoll.analyse.trial_summary import TrialSummary, summarise
from plimsoll.record.model import Environment, Outcome, TrialRecord
from plimsoll.record.partial import PartialRecording
from plimsoll.run.spool import Spool


@dataclass(frozen=True, slots=True)
class _Spooled:
    trial: TrialRecord
    outcome: Outcome
    environment: Environment
    partial: PartialRecording

    def intervals(self) -> pl.DataFrame:
        """Counts by interval and transaction type."""
        return self.partial.rows("intervals.parquet")

    def errors(self) -> pl.DataFrame:
        """Failed statements."""
        return self.partial.rows("errors.parquet")

    def histograms(self) -> pl.DataFrame:
        """Durations by interval, type and measure."""
        return self.partial.rows("histograms.parquet")

    def telemetry(self) -> pl.DataFrame:
        """What the host, the server and the engine said of themselves."""
        return self.partial.rows("telemetry.parquet")


def summary_of(spool: Spool, trial: TrialRecord, outcome: Outcome, environment: Environment) -> TrialSummary | None:
    """What was measured so far; None where nothing was.

    Raises:
        StorageError: The disk is full, or the folder is gone.
    """
    spool.flush()
    return summarise(_Spooled(trial, outcome, environment, spool.partial))
