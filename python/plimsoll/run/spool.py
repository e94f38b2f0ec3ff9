"""What a trial measures, on its way to the disk: a segment of each table every few intervals, readable before the end.

So memory does not grow with a trial's length, and a crash loses no more than a segment. A trial whose server was gone
or silent when its load ended is refused: what was measured before is no result of the trial. Deliberately not here: how
segments become a recording (`record.partial`), when a server counts as silent (`analyse.trial.stalls`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from plimsoll.analyse.trial.trial_summary import TrialSummary, summarise
from plimsoll.drive.protocol import Interval
from plimsoll.errors import TargetError
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, TrialRecord, Window
from plimsoll.record.partial import PartialRecording
from plimsoll.run.live import LiveFeed, LiveSample, live_interval
from plimsoll.run.rows import IntervalRows
from plimsoll.run.trial_progress import TrialProgress, TrialTask, outcome_of, trial_record
from plimsoll.run.watch import Watch

_LOG = logging.getLogger(__name__)

SEGMENT_INTERVALS = 10
"""A crash loses at most so many; docs/recordings.md says the same."""


class Spool:
    """Gathers the rows of a few intervals and appends them to a partial recording.

    Attributes:
        partial: Where they go.
        rows: Those of the engine.
        watch: Gives those of telemetry.
        intervals_count: How many intervals there were.
        driver: Drives the load where this machine does not; rows of telemetry name it then.
    """

    def __init__(self, partial: PartialRecording, rows: IntervalRows, watch: Watch) -> None:
        """Makes sure that every table will be there, if only without rows."""
        self.partial, self.rows, self.watch = partial, rows, watch
        self.intervals_count = 0
        self.driver: str | None = None
        self._unwritten: dict[str, pl.DataFrame] = {}
        self._live = LiveFeed(partial.path)
        self.flush()

    def add(self, interval: Interval, *, began_unix_s: float, window: Window | None = None) -> None:
        """Takes one interval in, and tells viewers of it.

        Args:
            interval: As the engine sent it.
            began_unix_s: When interval 0 began, wall clock.
            window: The measured window, with this interval where that counts; None in the warm-up.

        Raises:
            StorageError: The disk is full, or the folder is gone.
        """
        self.rows.add(interval, began_unix_s=began_unix_s)
        self._tell(interval, began_unix_s, window)
        self.intervals_count += 1
        if self.intervals_count % SEGMENT_INTERVALS == 0:
            self.flush()

    def _tell(self, interval: Interval, began_unix_s: float, window: Window | None) -> None:
        latest = self.watch.latest().items()
        samples = (
            LiveSample(host=host, instance=of, metric=name, value=value)
            for (host, of, name), value in latest
            if math.isfinite(value)
        )
        try:
            self._live.tell(
                live_interval(
                    interval,
                    trial_id=self.partial.trial_id,
                    trial=self.partial.drafted,
                    began_unix_s=began_unix_s,
                    window=window,
                    telemetry=samples,
                )
            )
        except Exception:  # whatever viewers miss, the trial goes on
            _LOG.exception("an interval could not be told to viewers")

    def flush(self) -> None:
        """Writes what was not written yet, also what an interruption kept from being written; raises as `add`."""
        self._write()
        taken = self.rows.take()
        taken["telemetry.parquet"] = self._watched(taken["telemetry.parquet"])
        self._unwritten = taken
        self._write()

    def _write(self) -> None:
        for name in tuple(self._unwritten):
            self.partial.add(name, self._unwritten[name])
            del self._unwritten[name]

    def _watched(self, engines: pl.DataFrame) -> pl.DataFrame:
        """All telemetry, with that of the engines."""
        rows = self.watch.take(engines)
        if self.driver is None:
            return rows
        of_engines = pl.col("source") == "engine"
        return rows.with_columns(pl.when(of_engines).then("driver").otherwise(pl.lit(self.driver)).alias("driver"))


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
    progressing: TrialProgress, spool: Spool, trial: TrialRecord, environment: Environment
) -> tuple[TrialSummary | None, str | None]:
    """What was measured, None where nothing was; and why the server did not answer any more when the load ended.

    Raises:
        StorageError: The disk is full, or the folder is gone.
    """
    spool.flush()
    outcome = outcome_of(progressing)
    summary = summarise(_Spooled(trial, outcome, environment, spool.partial))
    return summary, why_unanswered(outcome, progressing.rows.connected, summary)


def why_unanswered(outcome: Outcome, connected: Mapping[str, int], summary: TrialSummary | None) -> str | None:
    """Why nobody answered any more when the load ended, as a sentence with its cure; None when somebody did.

    Args:
        outcome: With the outages of the trial.
        connected: Connections that were open at the end of the last interval, by instance.
        summary: What was measured; None where nothing was.
    """
    end_s = outcome.account.duration_s if outcome.account is not None else 0.0
    for outage in outcome.outages:
        if outage.to_s is None and connected.get(outage.instance) == 0:
            return (
                f"{outage.instance}: no connection to the server could be opened again from {outage.from_s:.1f} s until"
                f" the load ended at {end_s:.1f} s; check the server's error log"
            )
    silence = None if summary is None else summary.quiet.silence
    if silence is not None:
        return (
            f"{silence.instance}: the server answered nothing from {silence.from_s:.1f} s until the load ended at"
            f" {end_s:.1f} s, and its connections stayed open; check the server, its error log, its disks, and"
            " the network"
        )
    return None


def refuse_unanswered(task: TrialTask, progressing: TrialProgress, spool: Spool) -> None:
    """Sums the measured window up, and refuses it where the server was gone or silent when the load ended.

    Raises:
        TargetError: It was.
    """
    trial, environment = trial_record(task, progressing), progressing.environment
    progressing.summary, reason = measured_until_the_end(progressing, spool, trial, environment)
    if reason is not None:
        raise TargetError(reason)
