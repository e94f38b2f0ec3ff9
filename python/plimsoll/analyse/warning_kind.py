"""What a kind of doubt about a number consists of; `catalogue` holds all of them."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.model import TrialWarning


@dataclass(frozen=True, slots=True)
class WarningKind:
    """A kind of doubt about a number.

    Attributes:
        code: Stable name.
        title: In a few words.
        meaning: Why the number may not mean what it seems to.
        advice: What to do about it, as one sentence.
    """

    code: str
    title: str
    meaning: str
    advice: str

    def seen(self, evidence: str) -> TrialWarning:
        """The warning with what was seen."""
        return TrialWarning(code=self.code, evidence=evidence, advice=self.advice)
