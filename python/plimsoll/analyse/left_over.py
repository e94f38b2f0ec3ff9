"""What load at a rate left over: arrivals of the measured window that were offered and had not ended at its end.

A system that is a little too small for a rate completes nearly all of it. Its backlog grows by the shortage in every
second, and becomes an overload only when it is longer than a second's work (`overload`). The share that is left over
shows the shortage earlier: over a window it is about 1 - capacity / rate. In a system that keeps up it is about 0, and
may be a little below, where the window began with more in flight than it ended with.

Deliberately not here: whether a rate is sustained by that (`size_rates`).
"""

from __future__ import annotations

from plimsoll.analyse.trial_summary import TrialSummary


def left_ratio(one: TrialSummary) -> float | None:
    """The share of the arrivals of a window that are left over at its end, below 1; None where it is not known.

    Recordings without what was in flight (older ones) tell it for the whole load, warm-up and its backlog included.
    """
    counts, account = one.counts, one.outcome.account
    if counts is None:
        return None
    response = one.histograms.get("response")
    if one.unfinished_count is not None and response is not None:
        at_end, before = response.in_flight, response.in_flight_before
        left = (0 if at_end is None else at_end.total) - (0 if before is None else before.total)
        offered = counts.completed + counts.failed + counts.dropped + left
    elif account is not None:
        offered = account.offered_count
        left = offered - sum(counts.ended_of_trial.values())
    else:
        return None
    return left / offered if offered > 0 else None
