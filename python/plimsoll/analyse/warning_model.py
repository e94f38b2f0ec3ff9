"""Warnings as values: doubts about numbers, with what was seen. Part of the analysis."""

from __future__ import annotations

from pydantic import Field

from plimsoll.analyse.finding_model import Figure
from plimsoll.record.document import Document
from plimsoll.record.level import Level


class Evidence(Document):
    """What was seen that gives rise to a doubt.

    Attributes:
        seen: Which kind of evidence; empty for a warning that a recording holds as text.
        figures: By names that end in the unit.
        text: The same in words.
    """

    seen: str = ""
    figures: dict[str, Figure] = Field(default_factory=dict)
    text: str = ""


class PlacedWarning(Document):
    """A doubt about numbers and what it is about. Empty tuples mean the whole study.

    Attributes:
        code: Stable name; every code is described in docs/warnings.md.
        evidence: All that was seen, the strongest first.
        advice: What to do about it, in words.
        systems: Where it was raised.
        workloads: Where it was raised.
        levels: At which it was raised, rising.
        trials: Ids of the recordings in which it was seen, the strongest evidence first; empty where it is not about
            single ones.
    """

    code: str
    evidence: tuple[Evidence, ...]
    advice: str = ""
    systems: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ()
    trials: tuple[str, ...] = ()
