"""A recording that is not complete yet, as the analysis reads it: what a trial wrote so far."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from plimsoll.analyse.trial_summary import TrialSummary, summarise
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, TrialRecord
from plimsoll.record.partial import PartialRecording
from plimsoll.run.progressing import Progressing, outcome_of
from plimsoll.run.spool import Spool
from plimsoll.run.unanswered import why_unanswered


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

    def histograms(self, measures: Collection[str] | None = None) -> pl.DataFrame:
        """Durations by interval, type and measure; only of some measures, or of all."""
        rows = self.partial.rows("histograms.parquet")
        return rows if measures is None else rows.filter(pl.col("measure").is_in(list(measures)))

    def telemetry(self) -> pl.DataFrame:
        """What the host, the server and the engine said of themselves."""
        return self.partial.rows("telemetry.parquet")

    def turns(self) -> pl.DataFrame | None:
        """Turns of a duet; None for other trials."""
        rows = self.partial.rows("turns.parquet")
        return None if rows.is_empty() else rows

    def replication(self) -> pl.DataFrame | None:
        """What was seen of replicas; None for trials without any."""
        rows = self.partial.rows("replication.parquet")
        return None if rows.is_empty() else rows


def measured_until_the_end(
    progressing: Progressing, spool: Spool, trial: TrialRecord, environment: Environment
) -> tuple[TrialSummary | None, str | None]:
    """What was measured, None where nothing was; and why the server did not answer any more when the load ended.

    Raises:
        StorageError: The disk is full, or the folder is gone.
    """
    spool.flush()
    outcome = outcome_of(progressing)
    summary = summarise(_Spooled(trial, outcome, environment, spool.partial))
    return summary, why_unanswered(outcome, progressing.rows.connected, summary)
