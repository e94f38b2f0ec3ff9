"""How well an answer is known: one word for every answer, whatever was asked.

Deliberately not here: the answers, and what each of them rests on.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Grade(StrEnum):
    """What an answer rests on, the best first."""

    MEASURED = "measured"  # repetitions on an undisturbed machine say how much the next one may differ
    INDICATED = "indicated"  # single or published figures: nothing says how much another run would differ
    UNKNOWN = "unknown"  # nothing that answers was measured, or the machine was disturbed


RANKED = tuple(Grade)


def worst(grades: Iterable[Grade]) -> Grade:
    """The least of several grades: an answer is not better than what it rests on; unknown for nothing."""
    return max(grades, key=RANKED.index, default=Grade.UNKNOWN)


def best(grades: Iterable[Grade]) -> Grade:
    """The best of several grades, where one of them is answer enough; unknown for nothing."""
    return min(grades, key=RANKED.index, default=Grade.UNKNOWN)


def of_verdict(verdict: str, *, is_measured: bool) -> Grade:
    """The grade of a comparison: measured with an interval that may give a verdict, indicated with a ratio alone.

    Args:
        verdict: Of two systems whose ratio is known, such as `unresolved`.
        is_measured: Both were measured here, and not imported, and the ratio has an interval.
    """
    if verdict == "disturbed":
        return Grade.UNKNOWN
    return Grade.MEASURED if is_measured and verdict != "untestable" else Grade.INDICATED
