"""Doubts about figures in the words of guides: for commands that show an answer and write no guide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.analyse.disturbance_model import Disturbance
from plimsoll.analyse.doubts import Code
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study import analyse
from plimsoll.analyse.trial_summary import RecordingLike
from plimsoll.guide.warnings import warning_parts
from plimsoll.prose.severity import Severity
from plimsoll.record.capacity import SearchRecord
from plimsoll.record.model import TrialWarning


@dataclass(frozen=True, slots=True)
class SearchDoubts:
    """What makes the answer of a search doubtful.

    Attributes:
        warnings: The gravest first.
        disturbance: What its deciding runs met; None where recordings do not say.
        is_disturbed: That withholds the answer.
    """

    warnings: tuple[TrialWarning, ...]
    disturbance: Disturbance | None
    is_disturbed: bool


def search_doubts(recordings: Sequence[RecordingLike], record: SearchRecord) -> SearchDoubts:
    """What makes the answer of a search doubtful.

    Args:
        recordings: Of its runs.
        record: What it found.
    """
    analysis = analyse(record.search_id, recordings, searches=[record])
    (found,) = analysis.capacities
    return SearchDoubts(_in_words(analysis), found.disturbance, found.is_disturbed)


def load_warnings(recording: RecordingLike) -> tuple[TrialWarning, ...]:
    """What makes a single load doubtful, the gravest first; that it is a single one is known."""
    found = _in_words(analyse("load", [recording]))
    return tuple(one for one in found if one.code != Code.SINGLE_REPETITION)


def grave_warnings(analysis: Analysis) -> tuple[TrialWarning, ...]:
    """What makes the figures of a study doubtful, the gravest first; not what is only to be known of it."""
    return tuple(
        TrialWarning(code=one.code, evidence=f"{one.subject}{one.evidence}", advice=one.advice)
        for one in warning_parts(analysis)
        if one.severity is not Severity.CONTEXT
    )


def warning_line(warning: TrialWarning) -> str:
    """A warning for people, one line."""
    return f"warning: {warning.code}: {warning.evidence.rstrip('.')}. {warning.advice}"


def _in_words(analysis: Analysis) -> tuple[TrialWarning, ...]:
    return tuple(
        TrialWarning(code=one.code, evidence=one.evidence, advice=one.advice) for one in warning_parts(analysis)
    )
