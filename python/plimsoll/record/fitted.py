"""That repetitions were reduced to fit a budget: part of a study's plan, told by its guide."""

from __future__ import annotations

from plimsoll.record.document import Document

REPETITIONS_MIN = 3
"""With fewer no interval is finite, and nobody believes a study of two."""


class FittedBudget(Document):
    """How a plan was made to fit its budget.

    Attributes:
        budget_s: What the study allows, seconds.
        repetitions_asked: As the study file says; in a duet rounds.
        repetitions: As planned.
        asked_s: What the study file's repetitions would take, seconds.
    """

    budget_s: float
    repetitions_asked: int
    repetitions: int
    asked_s: float
