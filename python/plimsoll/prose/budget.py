"""What is said of a plan whose repetitions were reduced to fit its budget."""

from __future__ import annotations

from plimsoll.record.fitted import FittedBudget
from plimsoll.units import format_duration


def fitted_words(fitted: FittedBudget) -> str:
    """One sentence, without the full stop."""
    return (
        f"{fitted.repetitions} repetitions are planned instead of {fitted.repetitions_asked}, which would take about"
        f" {format_duration(fitted.asked_s)}: the budget is {format_duration(fitted.budget_s)}"
    )
