"""Whether a study that goes on until its answer is decided may stop, after each of its repetitions.

Two systems are compared at each level of each workload, within each repetition; every comparison has its own interval
that may be looked at after every repetition (`sequential`), and all of them together are wrong in at most 5 of 100
studies: each takes an equal part of that (Bonferroni), which is known before the study begins. A study of one system is
decided when each of its throughputs is known as closely as systems would have to agree to count as equal.

One repetition gives one value: the logarithm of the ratio of two throughputs, in a round of a duet the trimmed mean of
its pairs of turns (`duet_differences.round_log_ratio`), which does not contain turns against other systems.

Stopping follows from the recordings alone: a study that was killed and is run again stops where it would have stopped.
Deliberately not here: what a study does about it (`plimsoll.run`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from plimsoll.analyse.log_ratio import ALPHA
from plimsoll.analyse.sequential import AnytimeInterval, anytime_interval, more_values, more_values_for_width
from plimsoll.record.fitted import REPETITIONS_MIN
from plimsoll.record.level import Level

SYSTEMS_FOR_ALL_PAIRS = 6
"""With more systems each is compared with the first one."""

RepetitionsTps = Mapping[int, float]
"""Throughput of each complete repetition of a cell, by its number from 0."""

RepetitionValues = Mapping[int, float]
"""Natural logarithm of a ratio, or of a throughput, of each repetition that has one."""


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


Values = Mapping[Question, RepetitionValues]
"""What was measured, for all questions of a study, also those of which nothing was measured yet."""


@dataclass(frozen=True, slots=True)
class Interim:
    """What is known of a question after some repetitions.

    Attributes:
        interval: Of the natural logarithm of the ratio, or of the throughput; None while nothing was measured.
        is_decided: No further repetition is needed for it.
        more: How many further repetitions decide it four times out of five, if the ratio stays; None while the spread
            is not known, and for more than 100.
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


def values_of_cells(
    asked: Sequence[Question], cells: Mapping[CellKey, RepetitionsTps]
) -> dict[Question, RepetitionValues]:
    """The values of systems that ran one after the other."""
    return {one: _of_cells(one, cells) for one in asked}


def interim(values: Values, *, equal_within: float) -> tuple[Interim, ...]:
    """What is known of each question, by the repetitions that every question has.

    Args:
        values: Of all questions.
        equal_within: Share within which two systems count as equal.
    """
    alpha, margin, common = _alpha(values), math.log1p(equal_within), common_repetitions(values)
    return tuple(_interim(one, [own[index] for index in common], alpha, margin) for one, own in values.items())


def decided_after(values: Values, *, equal_within: float) -> int | None:
    """After how many repetitions every question was decided for the first time; None while one is open.

    A repetition that lacks a trial, because it failed, decides nothing.
    """
    alpha, margin, common = _alpha(values), math.log1p(equal_within), common_repetitions(values)
    for count in range(REPETITIONS_MIN, len(common) + 1):
        looked_at = common[:count]
        if all(
            _is_decided(one, anytime_interval([own[index] for index in looked_at], alpha), margin)
            for one, own in values.items()
        ):
            return looked_at[-1] + 1
    return None


def common_repetitions(values: Values) -> list[int]:
    """The repetitions of which every question has a value, rising."""
    return sorted(set.intersection(*(set(own) for own in values.values()))) if values else []


def log_ratios(base: RepetitionsTps, system: RepetitionsTps) -> dict[int, float]:
    """The logarithm of `system` over `base` for each repetition of both, in order.

    A repetition in which one of them completed nothing has none.
    """
    common = sorted(base.keys() & system.keys())
    return {one: math.log(system[one] / base[one]) for one in common if base[one] > 0 and system[one] > 0}


def _of_cells(one: Question, cells: Mapping[CellKey, RepetitionsTps]) -> dict[int, float]:
    system = cells.get(CellKey(one.system, one.workload, one.level), {})
    if one.base is None:
        return log_ratios(dict.fromkeys(system, 1.0), system)
    return log_ratios(cells.get(CellKey(one.base, one.workload, one.level), {}), system)


def _alpha(values: Values) -> float:
    return ALPHA / max(len(values), 1)


def _is_decided(one: Question, interval: AnytimeInterval, margin: float) -> bool:
    if one.base is None:
        return interval.half_width <= margin
    return interval.count >= REPETITIONS_MIN and interval.is_decided(margin)


def _interim(one: Question, values: Sequence[float], alpha: float, margin: float) -> Interim:
    if not values:
        return Interim(one, None, is_decided=False, more=None)
    interval = anytime_interval(values, alpha)
    if _is_decided(one, interval, margin):
        return Interim(one, interval, is_decided=True, more=0)
    more = (more_values_for_width if one.base is None else more_values)(interval, alpha, margin)
    return Interim(one, interval, is_decided=False, more=more)
