"""Whether a study that goes on until its answer is decided may stop, after each of its repetitions.

Two systems are compared at each level of each workload, within each repetition; every comparison has its own interval
that may be looked at after every repetition (`sequential`), and all of them together are wrong in at most 5 of 100
studies: each takes an equal part of that (Bonferroni), which is known before the study begins. A study of one system is
decided when each of its throughputs is known as closely as systems would have to agree to count as equal.

Stopping follows from the recordings alone: a study that was killed and is run again stops where it would have stopped.
Deliberately not here: what a study does about it (`plimsoll.run`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from plimsoll.analyse.comparison import ALPHA
from plimsoll.analyse.sequential import AnytimeInterval, anytime_interval, more_values
from plimsoll.record.level import Level

REPETITIONS_MIN = 3
"""With fewer no interval is finite, and nobody believes a study of two."""

SYSTEMS_FOR_ALL_PAIRS = 6
"""With more systems each is compared with the first one."""

RepetitionsTps = Mapping[int, float]
"""Throughput of each complete repetition of a cell, by its number from 0."""


@dataclass(frozen=True, slots=True)
class CellKey:
    """What is repeated."""

    system: str
    workload: str
    level: Level


@dataclass(frozen=True, slots=True)
class Question:
    """What a study is to decide: how one system compares with another at a level, or what one sustains there.

    Attributes:
        base: What is compared with; None where a throughput itself is asked for.
    """

    workload: str
    level: Level
    system: str
    base: str | None


@dataclass(frozen=True, slots=True)
class Interim:
    """What is known of a question after some repetitions.

    Attributes:
        interval: Of the natural logarithm of the ratio, or of the throughput; None while nothing was measured.
        is_decided: No further repetition is needed for it.
        more: How many further repetitions would decide it, if nothing changes; None where that is not known.
    """

    question: Question
    interval: AnytimeInterval | None
    is_decided: bool
    more: int | None


def questions(systems: Sequence[str], workloads: Sequence[str], levels: Sequence[Level]) -> tuple[Question, ...]:
    """All questions of a study; systems are compared each with each where they are few."""
    pairs: list[tuple[str | None, str]] = list(system_pairs(systems))
    if len(systems) == 1:
        pairs = [(None, systems[0])]
    return tuple(
        Question(workload, level, system, base) for workload in workloads for level in levels for base, system in pairs
    )


def system_pairs(systems: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Which systems are compared, the base first: nothing of it may follow from what was measured."""
    if len(systems) <= SYSTEMS_FOR_ALL_PAIRS:
        yield from combinations(systems, 2)
    else:
        yield from ((systems[0], other) for other in systems[1:])


def interim(
    asked: Sequence[Question],
    cells: Mapping[CellKey, RepetitionsTps],
    *,
    equal_within: float,
    among: Collection[int] | None = None,
) -> tuple[Interim, ...]:
    """What is known of each question.

    Args:
        asked: All questions of the study, also those of which nothing was measured yet.
        cells: What was measured.
        equal_within: Share within which two systems count as equal.
        among: Only these repetitions; None for all.
    """
    alpha = ALPHA / max(len(asked), 1)
    return tuple(_interim(one, _values(one, cells, among), alpha, math.log1p(equal_within)) for one in asked)


def decided_after(
    asked: Sequence[Question], cells: Mapping[CellKey, RepetitionsTps], *, equal_within: float
) -> int | None:
    """After how many repetitions every question was decided for the first time; None while one is open.

    A repetition that lacks a trial, because it failed, decides nothing.
    """
    complete = complete_repetitions(asked, cells)
    for count in range(REPETITIONS_MIN, len(complete) + 1):
        if all(one.is_decided for one in interim(asked, cells, equal_within=equal_within, among=complete[:count])):
            return complete[count - 1] + 1
    return None


def complete_repetitions(asked: Sequence[Question], cells: Mapping[CellKey, RepetitionsTps]) -> list[int]:
    """The repetitions that every cell has, rising."""
    keys = {CellKey(name, one.workload, one.level) for one in asked for name in (one.base, one.system) if name}
    return sorted(set.intersection(*(set(cells.get(key, {})) for key in keys))) if keys else []


def _values(one: Question, cells: Mapping[CellKey, RepetitionsTps], among: Collection[int] | None) -> list[float]:
    """A logarithm for each repetition, in order."""
    system = cells.get(CellKey(one.system, one.workload, one.level), {})
    if among is not None:
        system = {repetition: tps for repetition, tps in system.items() if repetition in among}
    if one.base is None:
        return log_ratios(dict.fromkeys(system, 1.0), system)
    return log_ratios(cells.get(CellKey(one.base, one.workload, one.level), {}), system)


def log_ratios(base: RepetitionsTps, system: RepetitionsTps) -> list[float]:
    """The logarithm of `system` over `base` for each repetition of both, in order.

    A repetition in which one of them completed nothing has none.
    """
    common = sorted(base.keys() & system.keys())
    return [math.log(system[one] / base[one]) for one in common if base[one] > 0 and system[one] > 0]


def _interim(one: Question, values: Sequence[float], alpha: float, margin: float) -> Interim:
    if not values:
        return Interim(one, None, is_decided=False, more=None)
    interval = anytime_interval(values, alpha)
    if one.base is None:
        is_decided = interval.half_width <= margin
        interval_of_width = AnytimeInterval(0.0, interval.half_width, interval.count)
        return Interim(one, interval, is_decided, 0 if is_decided else more_values(interval_of_width, alpha, margin))
    is_decided = len(values) >= REPETITIONS_MIN and interval.is_decided(margin)
    return Interim(one, interval, is_decided, 0 if is_decided else more_values(interval, alpha, margin))
