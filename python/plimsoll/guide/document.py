"""The guide as JSON: the analysis, with its findings also in words for people who read it."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.warning_model import PlacedWarning
from plimsoll.guide.answer import answer_sentence, limit_sentence
from plimsoll.guide.words import advice_of
from plimsoll.prose.evidence import evidence_text


def render_json(analysis: Analysis) -> str:
    """`guide.json`."""
    return worded(analysis).model_dump_json(indent=2) + "\n"


def worded(analysis: Analysis) -> Analysis:
    """The same analysis with the text of each finding."""
    return analysis.model_copy(
        update={
            "answer": tuple(one.model_copy(update={"text": answer_sentence(one, analysis)}) for one in analysis.answer),
            "limits": tuple(one.model_copy(update={"text": limit_sentence(one)}) for one in analysis.limits),
            "warnings": tuple(map(_worded, analysis.warnings)),
        }
    )


def _worded(placed: PlacedWarning) -> PlacedWarning:
    evidence = tuple(one.model_copy(update={"text": evidence_text(one)}) for one in placed.evidence)
    return placed.model_copy(update={"evidence": evidence, "advice": advice_of(placed)})
