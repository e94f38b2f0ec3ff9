"""The outages of the trials that a study's figures rest on."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.outage_model import TrialOutage
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.connections import OutageRecord

LISTED_MAX = 100
"""The longest are listed; a guide of thousands of short ones would be about nothing else."""


def longest_outages(trials: Sequence[TrialSummary]) -> tuple[tuple[TrialOutage, ...], int]:
    """The longest outages, in the order of their trials, and how many there were."""
    found = [_placed(trial, one) for trial in trials for one in trial.outcome.outages]
    order = sorted(range(len(found)), key=lambda place: -found[place].length_s)[:LISTED_MAX]
    count = sum(trial.outcome.outages_count for trial in trials)
    return tuple(found[place] for place in sorted(order)), count


def _placed(trial: TrialSummary, one: OutageRecord) -> TrialOutage:
    record, outcome = trial.trial, trial.outcome
    load_s = one.from_s if outcome.account is None else outcome.account.duration_s
    end_s = load_s if one.to_s is None else one.to_s
    window = outcome.window
    return TrialOutage(
        system=record.system.name,
        workload=record.workload.name,
        level=record.level,
        repetition=record.repetition,
        instance=one.instance,
        from_s=one.from_s,
        length_s=max(end_s - one.from_s, 0.0),
        is_over=one.to_s is not None,
        is_measured=window is not None
        and one.from_s < (window.last + 1) * record.interval_s
        and end_s > window.first * record.interval_s,
        connections_count=one.connections_count,
        lost_count=one.lost_count,
    )
