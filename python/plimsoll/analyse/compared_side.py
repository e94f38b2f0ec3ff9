"""One of the two systems of a comparison, with its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.analyse.compare_model import ComparedSide
from plimsoll.analyse.trial_summary import TrialSummary


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two systems.

    Attributes:
        facts: What it is.
        trials: Complete trials of one system, all in one environment; at least one.
    """

    facts: ComparedSide
    trials: Sequence[TrialSummary]
