"""Warnings in words, by how much they take from the figures: the gravest three open a guide, the rest is folded.

Commands that show an answer and write no guide say them in the same words. How grave a warning is says
`plimsoll.analyse.findings.catalogue`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.findings.catalogue import severity_of
from plimsoll.analyse.findings.curves import SINGLE_REPETITION
from plimsoll.analyse.findings.doubts import Severity
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.analyse.trial.trial_summary import RecordingLike
from plimsoll.guide.sources import Source, trial_source
from plimsoll.guide.words import WHOLE_STUDY, advice_of, evidence_sentence, place_words
from plimsoll.record.capacity import SearchRecord
from plimsoll.record.model import TrialWarning

GRAVEST_COUNT = 3
"""So many stand on the first screen."""

SOURCES_MAX = 6
"""A warning links to so many recordings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningPart:
    """A warning in full.

    Attributes:
        anchor: Its address within the page.
        place: What it is about.
        sources: The recordings in which it was seen, at most `SOURCES_MAX`.
        more_sources_count: How many others there are.
    """

    anchor: str
    code: str
    evidence: str
    advice: str
    place: str
    severity: Severity
    sources: tuple[Source, ...] = ()
    more_sources_count: int = 0

    @property
    def subject(self) -> str:
        """What stands before the evidence where nothing else says what it is about; empty for the whole study."""
        return "" if self.place == WHOLE_STUDY else f"{self.place}: "


@dataclass(frozen=True, slots=True)
class WarningGroup:
    """Warnings of one severity, the gravest first."""

    severity: Severity
    warnings: tuple[WarningPart, ...]


def warning_parts(analysis: Analysis) -> tuple[WarningPart, ...]:
    """Every warning in words, the gravest first."""
    trials = {trial.trial_id: trial for trial in analysis.trials}
    units = {workload.name: workload.rate_unit for workload in analysis.workloads}
    parts = []
    for number, placed in enumerate(analysis.warnings, start=1):
        known = [trials[name] for name in placed.trials if name in trials]
        shown = tuple(trial_source(trial, units[trial.workload]) for trial in known[:SOURCES_MAX])
        parts.append(
            WarningPart(
                anchor=f"warning-{number}",
                code=placed.code,
                evidence=evidence_sentence(placed, [system.name for system in analysis.systems]),
                advice=advice_of(placed),
                place=place_words(placed, analysis),
                severity=severity_of(placed.code),
                sources=shown,
                more_sources_count=len(known) - len(shown),
            )
        )
    return tuple(parts)


def warning_groups(warnings: tuple[WarningPart, ...]) -> tuple[WarningGroup, ...]:
    """The same by severity; severities without a warning are left out."""
    groups = (
        WarningGroup(severity, tuple(part for part in warnings if part.severity is severity)) for severity in Severity
    )
    return tuple(group for group in groups if group.warnings)


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
    (capacity,) = analysis.capacities
    return SearchDoubts(_in_words(analysis), capacity.disturbance, capacity.is_disturbed)


def load_warnings(recording: RecordingLike) -> tuple[TrialWarning, ...]:
    """What makes a single load doubtful, the gravest first; that it is a single one is known."""
    warnings = _in_words(analyse("load", [recording]))
    return tuple(warning for warning in warnings if warning.code != SINGLE_REPETITION.code)


def grave_warnings(analysis: Analysis) -> tuple[TrialWarning, ...]:
    """What makes the figures of a study doubtful, the gravest first; not what is only to be known of it."""
    return tuple(
        TrialWarning(
            code=warning_part.code,
            evidence=f"{warning_part.subject}{warning_part.evidence}",
            advice=warning_part.advice,
        )
        for warning_part in warning_parts(analysis)
        if warning_part.severity is not Severity.CONTEXT
    )


def warning_line(warning: TrialWarning) -> str:
    """A warning for people, one line."""
    return f"warning: {warning.code}: {warning.evidence.rstrip('.')}. {warning.advice}"


def _in_words(analysis: Analysis) -> tuple[TrialWarning, ...]:
    return tuple(
        TrialWarning(code=warning_part.code, evidence=warning_part.evidence, advice=warning_part.advice)
        for warning_part in warning_parts(analysis)
    )
