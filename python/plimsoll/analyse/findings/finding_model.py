"""What an analysis says, as values: a code, what it is about, figures, and how well it is known.

A grade is one word for how well an answer is known, whatever was asked. `plimsoll.guide` makes sentences of findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.record.document import Document
from plimsoll.record.level import Level


class Grade(StrEnum):
    """What an answer rests on, the best first."""

    MEASURED = "measured"  # repetitions on an undisturbed machine say how much the next one may differ
    INDICATED = "indicated"  # single or published figures: nothing says how much another run would differ
    UNKNOWN = "unknown"  # nothing that answers was measured, or the machine was disturbed


Scalar = bool | int | float | str | None
Figure = Scalar | Estimate | Level | tuple[Scalar, ...] | tuple[tuple[Scalar, ...], ...]


class Finding(Document):
    """One thing that can be said.

    Attributes:
        code: What it is; guides say it in words.
        system: Which system it is about; None for all, as are workload and level.
        workload: Under which workload.
        level: At which level.
        figures: What there is to say, by names that end in the unit.
        text: The same as a sentence.
        grade: How well it is known; null for what is no answer.
    """

    code: str
    system: str | None = None
    workload: str | None = None
    level: Level | None = None
    figures: dict[str, Figure] = Field(default_factory=dict)
    text: str = ""
    grade: Grade | None = None

    @property
    def known(self) -> Mapping[str, Any]:
        """The figures, for whoever knows the code and so their types."""
        return self.figures


def make_finding(
    code: str, *, system: str | None = None, workload: str | None = None, level: Level | None = None, **figures: Figure
) -> Finding:
    """A finding with its figures by name."""
    return Finding(code=code, system=system, workload=workload, level=level, figures=figures)


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
    if verdict == RatioVerdict.DISTURBED:
        return Grade.UNKNOWN
    return Grade.MEASURED if is_measured and verdict != RatioVerdict.UNTESTABLE else Grade.INDICATED
