"""What guides say of an analysis, for tests that look for words."""

from __future__ import annotations

from plimsoll.analyse.findings.doubts import PlacedWarning
from plimsoll.analyse.model import Analysis
from plimsoll.guide.answer import answer_sentence, limit_sentence


def answer_of(analysis: Analysis) -> tuple[str, ...]:
    return tuple(answer_sentence(one, analysis) for one in analysis.answer)


def limits_of(analysis: Analysis) -> tuple[str, ...]:
    return tuple(limit_sentence(limit) for limit in analysis.limits)


def evidence_of(warning: PlacedWarning) -> str:
    """The strongest evidence."""
    return warning.evidence[0].text
