"""Warnings: of which kind, what was seen, where; and how equal doubts become one warning that lists its places.

A *kind* of warning says once what it takes from the figures and what to do about it. An *observation* is what was seen
that gives rise to it: a class with typed figures and their sentence. Kinds, observations and the rules that make them
stand together, one module for each subject; `plimsoll.analyse.findings.catalogue` has all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import Enum, StrEnum
from typing import Any, ClassVar, dataclass_transform

from pydantic import Field

from plimsoll.analyse.findings.finding_model import Figure
from plimsoll.record.document import Document
from plimsoll.record.level import Level
from plimsoll.record.model import TrialRecord, TrialWarning


class Severity(Enum):
    """What warnings mean for the figures, the gravest first."""

    GRAVE = "Figures may not mean what they seem to"
    UNCERTAIN = "Figures are less certain than they seem"
    CONTEXT = "What to know about the measurement"


class Voids(StrEnum):
    """What a warning takes from the figures, the most first: so everything that lists warnings orders them.

    A warning that explains others comes before them: a busy machine makes a client late, so the machine comes first.
    """

    RUN = "run"  # what was measured is no run of the server that could go on
    MACHINE = "machine"  # something else than the server and its load set the figures
    ABSOLUTE = "absolute"  # figures hold for this set-up, and not for the systems that they are named after
    CERTAINTY = "certainty"  # figures are less certain than they seem
    NOTHING = "nothing"  # what to know about the measurement

    @property
    def severity(self) -> Severity:
        """How grave that is."""
        less = {Voids.CERTAINTY: Severity.UNCERTAIN, Voids.NOTHING: Severity.CONTEXT}
        return less.get(self, Severity.GRAVE)


@dataclass(frozen=True, slots=True)
class WarningKind:
    """What warnings with one code have in common.

    Attributes:
        code: Stable name; docs/warnings.md has a paragraph on each.
        voids: What it takes from the figures.
        advice: What to do about it, as sentences.
        consequence: What it does to figures, as a sentence; of pre-flight checks only.
    """

    code: str
    voids: Voids
    advice: str
    consequence: str = ""

    def warning(self, evidence: str) -> TrialWarning:
        """A warning for a recording, whose evidence is already in words."""
        return TrialWarning(code=self.code, evidence=evidence, advice=self.advice)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Observation:
    """What was seen that gives rise to a doubt. A subclass is a dataclass: its fields are figures, named by their unit.

    Attributes:
        kind: Which warning it is evidence of; a subclass has that of its parent unless it names its own.
        seen: What it is called in `guide.json`; likewise.
    """

    kind: ClassVar[WarningKind]
    seen: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, *, kind: WarningKind | None = None, seen: str | None = None) -> None:
        if kind is not None:
            cls.kind = kind
        if seen is not None:
            cls.seen = seen
        dataclass(frozen=True, kw_only=True)(cls)

    def __str__(self) -> str:
        """The same in words, without a full stop."""
        raise NotImplementedError

    def figures(self) -> dict[str, Figure]:
        """The fields by name; those that may be left out are, where they are not known."""
        known = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: value for field, value in known if value is not None or field.default is not None}

    def evidence(self) -> Evidence:
        """The same as an analysis holds it."""
        return Evidence(seen=self.seen, figures=self.figures(), text=str(self))


@dataclass(frozen=True, slots=True)
class Place:
    """What doubts are about; nothing for the whole study.

    Attributes:
        trials: Ids of the recordings in which it was seen.
    """

    system: str | None = None
    workload: str | None = None
    level: Level | None = None
    trials: tuple[str, ...] = ()

    def doubt(self, observation: Observation, weight: float = 0.0) -> Doubt:
        """A doubt in this place, with what was seen."""
        return Doubt(self, observation.kind, observation.evidence(), weight)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubt about a number.

    Attributes:
        kind: Which; made for the occasion for a warning that a recording holds, since its code may be any text.
        evidence: What was seen.
        weight: How strong the evidence is: the weightiest is shown first. Comparable within a kind.
    """

    place: Place
    kind: WarningKind
    evidence: Evidence
    weight: float = 0.0

    def as_warning(self) -> TrialWarning:
        """The same as recordings and results hold it."""
        return self.kind.warning(self.evidence.text)


def place_of(trial: TrialRecord) -> Place:
    """The place of a trial."""
    return Place(trial.system.name, trial.workload.name, trial.level, (trial.trial_id,))


def recorded(warning: TrialWarning, place: Place) -> Doubt:
    """A warning that a recording holds, with its own words."""
    kind = WarningKind(warning.code, Voids.NOTHING, warning.advice)
    return Doubt(place, kind, Evidence(text=warning.evidence))


def warning_of(same: Sequence[Doubt], advice: str) -> PlacedWarning:
    """One warning of doubts with one code.

    Args:
        same: At least one.
        advice: What to do, where the weightiest does not say it.
    """
    weightiest_first = sorted(same, key=lambda doubt: -doubt.weight)
    first = weightiest_first[0]
    return PlacedWarning(
        code=first.kind.code,
        evidence=tuple({doubt.evidence.model_dump_json(): doubt.evidence for doubt in weightiest_first}.values()),
        advice=first.kind.advice or advice,
        systems=_seen(doubt.place.system for doubt in same),
        workloads=_seen(doubt.place.workload for doubt in same),
        levels=_levels(doubt.place.level for doubt in same),
        trials=_seen(trial_id for doubt in weightiest_first for trial_id in doubt.place.trials),
    )


def _seen(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _levels(levels: Iterable[Level | None]) -> tuple[Level, ...]:
    by_order = {level.order: level for level in levels if level is not None and level.offered > 0}
    return tuple(by_order[order] for order in sorted(by_order))


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
