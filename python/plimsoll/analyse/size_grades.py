"""How well it is known that a system sustains a load: by repetitions, by single or published figures, or not.

A verdict by repetitions is measured. One by figures that nobody repeated, or by a published table, is indicated: it
says on which side of the load the figures lie, and nothing of how much the next run may differ.
"""

from __future__ import annotations

from plimsoll.analyse.grade import Grade
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.prediction import is_repeated
from plimsoll.analyse.size_model import Fit, SizeEvidence, SystemFit

RATE_REPETITIONS_NEEDED = 3
"""Of load at a rate: a system that is a little too small keeps up in some repetitions."""

MEASURED_ORIGIN = "measured"

_ANSWERS_NOTHING = frozenset(
    {
        "not-measured",
        "objective-not-met",
        "capacity-of-stricter-objective",
        "capacity-not-sure",
        "lower-rate-not-sustained",
        "rates-end-below",
    }
)
"""Reasons for which a load stays undecided whatever figures say."""


def with_grade(one: SystemFit, system: SystemSummary) -> SystemFit:
    """The verdict with its grade."""
    return one.model_copy(update={"grade": _grade(one, system), "is_published": system.origin != MEASURED_ORIGIN})


def _grade(one: SystemFit, system: SystemSummary) -> Grade:
    is_open = one.verdict is Fit.UNDECIDED and one.reason.code in _ANSWERS_NOTHING
    if one.verdict is Fit.DISTURBED or is_open:
        return Grade.UNKNOWN
    is_measured = system.origin == MEASURED_ORIGIN and _rests_on_repetitions(one)
    return Grade.MEASURED if is_measured else Grade.INDICATED


def _rests_on_repetitions(one: SystemFit) -> bool:
    estimate = one.throughput_tps
    match one.evidence:
        case SizeEvidence.CAPACITY:  # of searches in which no rate holds there is no figure
            return bool(one.reason.known["repetitions_count"] > 1)
        case SizeEvidence.RATES:
            return estimate is not None and estimate.trial_count >= RATE_REPETITIONS_NEEDED
    return estimate is not None and is_repeated(estimate)
