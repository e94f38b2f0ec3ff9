"""What an analysis says, as values: a code, what it is about, and figures. `plimsoll.guide` makes sentences of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.grade import Grade
from plimsoll.record.document import Document
from plimsoll.record.level import Level

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


def found(
    code: str, *, system: str | None = None, workload: str | None = None, level: Level | None = None, **figures: Figure
) -> Finding:
    """A finding with its figures by name."""
    return Finding(code=code, system=system, workload=workload, level=level, figures=figures)
