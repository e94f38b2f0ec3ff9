"""One recording reduced to what a comparison needs: throughput, its variance within the run, response times, turns.

It gives the same figures as `trial_summary`, in a fraction of the time: telemetry and errors are not read, and only
response times are merged. Deliberately not here: anything that looks at more than one trial.
"""

from __future__ import annotations

import polars as pl

from plimsoll.analyse.duration_rows import duration_rows
from plimsoll.analyse.durations import durations
from plimsoll.analyse.histograms import SparseHistogram, merge_window
from plimsoll.analyse.trial_summary import RecordingLike, TrialSummary, relative_variance, reported_trial
from plimsoll.analyse.window import WindowCounts, counts_of, inside, throughput_tps
from plimsoll.record.frames import IN_FLIGHT

_RESPONSE = ("response", f"{IN_FLIGHT}response")


def compared_trial(recording: RecordingLike) -> TrialSummary | None:
    """Reduces a complete trial; None when it holds neither measured intervals nor published figures.

    Raises:
        RecordError: A table is missing or damaged.
    """
    outcome, intervals = recording.outcome, recording.intervals()
    if intervals is None:
        return reported_trial(recording)
    counts = counts_of(recording.trial, outcome, intervals)
    if counts is None:
        return None
    histograms = recording.histograms(_RESPONSE)
    return TrialSummary(
        trial=recording.trial,
        environment=recording.environment,
        outcome=outcome,
        throughput_tps=throughput_tps(outcome, counts),
        within=relative_variance(counts),
        counts=counts,
        histograms={} if histograms is None else _response(histograms, counts),
        turns=None if (turns := recording.turns()) is None else inside(turns, outcome.window),
    )


def _response(histograms: pl.DataFrame, counts: WindowCounts) -> dict[str, SparseHistogram]:
    """Response times alone, of the window."""
    return merge_window(duration_rows(histograms), first=counts.first, last=counts.last)


def p99_ms(trial: TrialSummary) -> float | None:
    """Its 99th percentile of response time; None where that is not known, or known as a lower bound only."""
    histogram, reported = trial.histograms.get("response"), trial.outcome.reported
    if histogram is None:
        return reported.response_ms.get("p99") if reported is not None else None
    found = durations(histogram)
    return None if "p99" in found.lower_bounds else found.p99
