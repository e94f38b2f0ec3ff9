"""Trials that are part of no number: those that failed, and those that a plan holds and that never ran.

Which trials are planned is told by whoever asks; imports have no plan. Deliberately not here: reading recordings and
plans.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from plimsoll.analyse.model import MissingTrial
from plimsoll.analyse.prose import listed
from plimsoll.units import format_exact

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
    def connections(self) -> int: ...  # noqa: D102

    @property
    def rate_tps(self) -> float | None: ...  # noqa: D102

    @property
    def repetition(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingGroup:
    """Missing trials of one system and workload that differ in level and repetition only.

    Attributes:
        system: Empty when nothing is known of the trial; so are the three below.
        level: Such as `4 and 16 connections`.
        repetitions: Such as `1 to 3`, counted from 1.
        trial_ids: In the order of levels and repetitions.
    """

    system: str
    workload: str
    level: str
    repetitions: str
    reason: str
    trial_ids: tuple[str, ...]


def missing_trial(planned: PlannedLike, reason: str, *, has_run: bool = True) -> MissingTrial:
    """A planned trial that is part of no number."""
    return MissingTrial(
        trial_id=planned.trial_id,
        system=planned.system,
        workload=planned.workload,
        connections=planned.connections,
        rate_tps=planned.rate_tps,
        repetition=planned.repetition,
        reason=reason,
        has_run=has_run,
    )


def never_ran(planned: Iterable[PlannedLike], present_ids: Collection[str]) -> list[MissingTrial]:
    """The trials of a plan that left no recording, in the plan's order."""
    return [missing_trial(one, NOT_RUN, has_run=False) for one in planned if one.trial_id not in present_ids]


def preliminary(planned: Sequence[PlannedLike], missing: Sequence[MissingTrial]) -> Iterator[str]:
    """What to know before any figure of a study that is not complete, in whole sentences; nothing of others."""
    unrun = [one for one in missing if not one.has_run]
    if not unrun:
        return
    ran = len(planned) - len(unrun)
    yield (
        f"This study is not complete: {ran:,} of {len(planned):,} planned trials have run."
        f"{_not_measured(planned, {one.trial_id for one in unrun})}"
    )


def unmeasured_systems(missing: Iterable[MissingTrial], measured: Collection[str]) -> list[str]:
    """Planned systems of which no trial has run."""
    return [name for name in dict.fromkeys(one.system for one in missing if not one.has_run) if name not in measured]


def missing_groups(missing: Iterable[MissingTrial]) -> list[MissingGroup]:
    """Missing trials in as few rows as name each of them."""
    alike: dict[tuple[str, str, str], list[MissingTrial]] = {}
    for one in missing:
        alike.setdefault((one.system, one.workload, one.reason), []).append(one)
    return [group for own in alike.values() for group in _by_repetitions(own)]


def group_words(group: MissingGroup) -> str:
    """A group of missing trials in one line."""
    place = ", ".join(part for part in (group.system, group.workload, group.level) if part)
    noun = "repetition" if group.repetitions.isdigit() else "repetitions"
    return f"{place}, {noun} {group.repetitions}" if group.repetitions else place or group.trial_ids[0]


def _not_measured(planned: Sequence[PlannedLike], unrun_ids: Collection[str]) -> str:
    """Systems without any trial; of the other systems the workloads without any."""
    ran = {(one.system, one.workload) for one in planned if one.trial_id not in unrun_ids}
    with_trials = {system for system, _ in ran}
    names = [name for name in dict.fromkeys(one.system for one in planned) if name not in with_trials]
    pairs = dict.fromkeys((one.system, one.workload) for one in planned)
    names += [
        f"{system} under {workload}"
        for system, workload in pairs
        if system in with_trials and (system, workload) not in ran
    ]
    return f" Nothing was measured of {listed(names)}." if names else ""


def _by_repetitions(alike: Sequence[MissingTrial]) -> Iterator[MissingGroup]:
    """Levels that lack the same repetitions stand together."""
    levels: dict[tuple[float, int], list[MissingTrial]] = {}
    for one in alike:
        levels.setdefault((one.rate_tps or 0.0, one.connections), []).append(one)
    lacking: dict[tuple[int, ...], list[list[MissingTrial]]] = {}
    for _, own in sorted(levels.items()):
        own.sort(key=lambda one: one.repetition or 0)
        lacking.setdefault(tuple(one.repetition for one in own if one.repetition is not None), []).append(own)
    for repetitions, together in lacking.items():
        first = together[0][0]
        yield MissingGroup(
            system=first.system,
            workload=first.workload,
            level=_level_words([own[0] for own in together]),
            repetitions=_spans([repetition + 1 for repetition in repetitions]),
            reason=first.reason,
            trial_ids=tuple(one.trial_id for own in together for one in own),
        )


def _level_words(levels: Sequence[MissingTrial]) -> str:
    rates = [format_exact(one.rate_tps) for one in levels if one.rate_tps is not None]
    if rates:
        return f"{listed(rates)} tps wanted"
    counts = [f"{one.connections:,}" for one in levels if one.connections]
    return f"{listed(counts)} connection{'' if counts == ['1'] else 's'}" if counts else ""


def _spans(numbers: Sequence[int]) -> str:
    """Rising whole numbers.

    >>> _spans([1, 2, 3, 5]), _spans([2]), _spans([1, 2])
    ('1 to 3 and 5', '2', '1 and 2')
    """
    spans = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        span = [str(number) for _, number in run]
        spans += [f"{span[0]} to {span[-1]}"] if len(span) > 2 else span
    return listed(spans)
