"""Trials that are part of no number: those that failed, and those that a plan holds and that never ran.

Which trials are planned is told by whoever asks; imports have no plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.record.document import Document
from plimsoll.record.level import Level

NOT_RUN = "has not run yet"


class PlannedLike(Protocol):
    """A trial of a plan: `plimsoll.plan.model.PlannedTrial` is one."""

    @property
    def trial_id(self) -> str: ...  # noqa: D102

    @property
    def system(self) -> str: ...  # noqa: D102

    @property
    def workload(self) -> str: ...  # noqa: D102

    @property
    def level(self) -> Level: ...  # noqa: D102

    @property
    def repetition(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingGroup:
    """Missing trials of one system and workload that differ in level and repetition only.

    Attributes:
        system: Empty when nothing is known of the trial; so are the three below.
        levels: Rising.
        repetitions: Counted from 0.
        trial_ids: In the order of levels and repetitions.
    """

    system: str
    workload: str
    levels: tuple[Level, ...]
    repetitions: tuple[int, ...]
    reason: str
    trial_ids: tuple[str, ...]


def missing_trial(planned: PlannedLike, reason: str, *, has_run: bool = True) -> MissingTrial:
    """A planned trial that is part of no number."""
    return MissingTrial(
        trial_id=planned.trial_id,
        system=planned.system,
        workload=planned.workload,
        level=planned.level,
        repetition=planned.repetition,
        reason=reason,
        has_run=has_run,
    )


def never_ran(planned: Iterable[PlannedLike], present_ids: Collection[str]) -> list[MissingTrial]:
    """The trials of a plan that left no recording, in the plan's order."""
    return [missing_trial(trial, NOT_RUN, has_run=False) for trial in planned if trial.trial_id not in present_ids]


def preliminary(planned: Sequence[PlannedLike], missing: Sequence[MissingTrial]) -> Iterator[Finding]:
    """What to know before any figure of a study that is not complete; nothing of others."""
    unrun_ids = {trial.trial_id for trial in missing if not trial.has_run}
    if unrun_ids:
        systems, pairs = _not_measured(planned, unrun_ids)
        ran_count = len(planned) - len(unrun_ids)
        yield make_finding(
            "incomplete", ran_count=ran_count, planned_count=len(planned), systems=systems, system_workloads=pairs
        )


def unmeasured_systems(missing: Iterable[MissingTrial], measured: Collection[str]) -> list[str]:
    """Planned systems of which no trial has run."""
    return [
        name for name in dict.fromkeys(trial.system for trial in missing if not trial.has_run) if name not in measured
    ]


def missing_groups(missing: Iterable[MissingTrial]) -> list[MissingGroup]:
    """Missing trials in as few rows as name each of them."""
    alike: dict[tuple[str, str, str], list[MissingTrial]] = {}
    for trial in missing:
        alike.setdefault((trial.system, trial.workload, trial.reason), []).append(trial)
    return [group for trials in alike.values() for group in _by_repetitions(trials)]


def _not_measured(
    planned: Sequence[PlannedLike], unrun_ids: Collection[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Systems without any trial; of the other systems the workloads without any."""
    ran = {(trial.system, trial.workload) for trial in planned if trial.trial_id not in unrun_ids}
    with_trials = {system for system, _ in ran}
    pairs = [pair for pair in dict.fromkeys((trial.system, trial.workload) for trial in planned) if pair not in ran]
    systems = dict.fromkeys(system for system, _ in pairs if system not in with_trials)
    return tuple(systems), tuple(pair for pair in pairs if pair[0] in with_trials)


def _by_repetitions(alike: Sequence[MissingTrial]) -> Iterator[MissingGroup]:
    """Levels that lack the same repetitions stand together."""
    levels: dict[tuple[bool, float], list[MissingTrial]] = {}
    for trial in alike:
        levels.setdefault((False, 0.0) if trial.level is None else trial.level.order, []).append(trial)
    lacking: dict[tuple[int, ...], list[list[MissingTrial]]] = {}
    for _, trials in sorted(levels.items()):
        trials.sort(key=lambda trial: trial.repetition or 0)
        lacking.setdefault(tuple(trial.repetition for trial in trials if trial.repetition is not None), []).append(
            trials
        )
    for repetitions, together in lacking.items():
        first = together[0][0]
        yield MissingGroup(
            system=first.system,
            workload=first.workload,
            levels=tuple(trials[0].level for trials in together if trials[0].level is not None),
            repetitions=repetitions,
            reason=first.reason,
            trial_ids=tuple(trial.trial_id for trials in together for trial in trials),
        )


class MissingTrial(Document):
    """A trial that is no part of any number here, and why.

    Attributes:
        trial_id: Name of its recording, or that which it would have.
        system: Empty when its recording does not even say that; so is the workload, and the level is null.
        workload: Its workload.
        level: Its level.
        repetition: 0, 1, 2, ...; None when not known.
        reason: Why it is missing.
        has_run: False for a planned trial of which there is no recording.
        replaced_by: The trial that measured it again and counts in its place; null for none.
    """

    trial_id: str
    system: str
    workload: str
    level: Level | None = None
    repetition: int | None = None
    reason: str
    has_run: bool = True
    replaced_by: str | None = None
