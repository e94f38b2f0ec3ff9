"""Stalls in words: for the answer, where they stand first, and as the evidence of their warning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.units import format_level, format_percent


def stall_words(one: TrialSummary) -> str:
    """When, how long and how much of the window nothing completed, without a full stop; empty without a stall."""
    if not one.quiet.stalls or one.counts is None:
        return ""
    longest = max(one.quiet.stalls, key=lambda stall: stall.length_s)
    alike = [stall for stall in one.quiet.stalls if stall.instance == longest.instance]
    stalled_s, completed = sum(stall.length_s for stall in alike), sum(stall.completed for stall in alike)
    where = "" if longest.instance is None else f" on {longest.instance}"
    share = format_percent(stalled_s / one.counts.duration_s)
    span = f"{stalled_s:.1f} of {one.counts.duration_s:.1f} s ({share})"
    what = f"only {completed:,} transactions completed{where} in" if completed else f"nothing completed{where} for"
    text = f"{what} {span}"
    if len(alike) > 1:
        text += f" in {len(alike)} stretches; the longest lasted {longest.length_s:.1f} s"
    text += f", from {longest.from_s:.1f} s after the start of the load"
    others = len({stall.instance for stall in one.quiet.stalls}) - 1
    return text if not others else f"{text}; {others} more instance{'s' if others > 1 else ''} stalled as well"


def stall_sentences(trials: Sequence[TrialSummary]) -> Iterator[str]:
    """One sentence for each workload with a stall: the worst, and how many more there were."""
    for workload in dict.fromkeys(one.trial.workload.name for one in trials):
        stalled = [one for one in trials if one.trial.workload.name == workload and one.quiet.stalls]
        if stalled:
            worst = max(stalled, key=lambda one: one.quiet.stalled_ratio)
            rest = len(stalled) - 1
            more = f" {rest} more trial{'s' if rest > 1 else ''} of this workload stalled as well." if rest else ""
            hidden = worst.trial.level.rate_tps is None and not worst.is_published
            so = " Percentiles of response time hardly show it." if hidden else ""
            yield f"{workload}: {stall_words(worst)}, on {_place(worst)}.{so}{more}"


def _place(one: TrialSummary) -> str:
    level = format_level(one.trial.level.connections, one.trial.level.rate_tps)
    return f"{one.trial.system.name} at {level} (repetition {one.trial.repetition + 1})"
