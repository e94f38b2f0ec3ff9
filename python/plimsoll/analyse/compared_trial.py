"""One recording reduced to what a comparison needs: throughput, its variance, response times, turns, its machine.

It gives the same figures as `trial_summary`, in a fraction of the time: errors are not read, and only response and
service times are merged. Deliberately not here: anything that looks at more than one trial.
"""

from __future__ import annotations

from plimsoll.analyse.duration_rows import duration_rows
from plimsoll.analyse.durations import durations
from plimsoll.analyse.histograms import merge_window
from plimsoll.analyse.machine_seconds import machine_seconds
from plimsoll.analyse.samples import samples_of
from plimsoll.analyse.trial_summary import RecordingLike, TrialSummary, relative_variance, reported_trial
from plimsoll.analyse.window import counts_of, inside, throughput_tps
from plimsoll.record.frames import IN_FLIGHT

_MEASURES = ("response", f"{IN_FLIGHT}response", "service")


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
    table, measured = recording.histograms(_MEASURES), inside(intervals, outcome.window)
    histograms = {} if table is None else merge_window(duration_rows(table), first=counts.first, last=counts.last)
    samples = samples_of(recording.telemetry(), measured, outcome.account)
    return TrialSummary(
        trial=recording.trial,
        environment=recording.environment,
        outcome=outcome,
        throughput_tps=throughput_tps(outcome, counts),
        within=relative_variance(counts),
        counts=counts,
        histograms=histograms,
        machine=machine_seconds(recording, samples, measured, counts, histograms.get("service")),
        turns=None if (turns := recording.turns()) is None else inside(turns, outcome.window),
    )


def p99_ms(trial: TrialSummary) -> float | None:
    """Its 99th percentile of response time; None where that is not known, or known as a lower bound only."""
    histogram, reported = trial.histograms.get("response"), trial.outcome.reported
    if histogram is None:
        return reported.response_ms.get("p99") if reported is not None else None
    found = durations(histogram)
    return None if "p99" in found.lower_bounds else found.p99
