"""Studies that go on until their answer is decided: intervals that hold at every look, and when to stop.

Whether a study that goes on until its answer is decided may stop, after each of its repetitions. Two systems are
compared at each level of each workload, within each repetition; every comparison has its own interval that may be
looked at after every repetition, and all of them together are wrong in at most 5 of 100 studies: each takes an equal
part of that (Bonferroni), which is known before the study begins. A study of one system is decided when each of its
throughputs is known as closely as systems would have to agree to count as equal.

One repetition gives one value: the logarithm of the ratio of two throughputs, in a round of a duet the trimmed mean of
its pairs of turns (`duets.round_log_ratio`), which does not contain turns against other systems.

Stopping follows from the recordings alone: a study that was killed and is run again stops where it would have stopped.

A confidence interval that may be looked at after every repetition, and what it decides. A t test that is repeated after
every repetition "finds" a difference between equal systems in about one of four studies of 20 repetitions. This
sequence of intervals contains the true mean at *all* looks together with the stated probability, so a study may stop as
soon as its question is answered.

Assumptions: the values are independent of each other and about normal, with an unknown variance. One value is the
logarithm of a ratio of two systems within one repetition (or within one round of a duet): whatever both shared has
cancelled. The effect is taken to be of the order of `PRIOR_VARIANCE` variances of a value; another order makes the
intervals wider, never wrong.

Source: Gaussian mixture of t likelihood ratios, Wang and Ramdas 2023, arXiv 2310.03722 (theorem 4.7 and its closed
form); the idea is Robbins's (1970) and Lai's (1976).

Such a study is judged by the same intervals: by those for a fixed number of repetitions, equal systems would be called
different too often. Its comparisons share the 5 % equally, as they did while it ran. Systems that took turns are
compared by the pairs of their turns, one value for each round. Where values do not differ at all, a comparison is not
testable. Two peaks at different levels were chosen from the same data; each pair of levels takes its part there.

The same intervals test a ratio against any limit. Whatever value an interval excludes is rejected at the same level, so
the smallest level at which it excludes a value is a p value that holds at every look as well (Johari and others 2022,
Operations Research 70). A one-sided test uses the same two-sided interval, and so errs less often than stated.

Repetitions of equal number form a pair. In one study they were measured next to each other. In two studies they have
nothing in common, and any pairing that does not follow from the figures is as good; the further repetitions of the
longer study are left out. Both studies may stop when they like: an interval of the pairs holds after each of them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from plimsoll.analyse.study.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.comparison import ALPHA, LARGEST_LOG, MOST_FURTHER_REPETITIONS, NO_SPREAD, POWER, together
from plimsoll.analyse.study.duets import rounds_log_ratios, took_turns
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.record.level import REPETITIONS_MIN, Level

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
    return {question: _of_cells(question, cells) for question in asked}


def interim(values: Values, *, equal_within: float) -> tuple[Interim, ...]:
    """What is known of each question, by the repetitions that every question has.

    Args:
        values: Of all questions.
        equal_within: Share within which two systems count as equal.
    """
    alpha, margin, common = _alpha(values), math.log1p(equal_within), common_repetitions(values)
    return tuple(
        _interim(question, [value[index] for index in common], alpha, margin) for question, value in values.items()
    )


def decided_after(values: Values, *, equal_within: float) -> int | None:
    """After how many repetitions every question was decided for the first time; None while one is open.

    A repetition that lacks a trial, because it failed, decides nothing.
    """
    alpha, margin, common = _alpha(values), math.log1p(equal_within), common_repetitions(values)
    for count in range(REPETITIONS_MIN, len(common) + 1):
        looked_at = common[:count]
        if all(
            _is_decided(question, anytime_interval([value[index] for index in looked_at], alpha), margin)
            for question, value in values.items()
        ):
            return looked_at[-1] + 1
    return None


def common_repetitions(values: Values) -> list[int]:
    """The repetitions of which every question has a value, rising."""
    return sorted(set.intersection(*(set(value) for value in values.values()))) if values else []


def log_ratios(base: RepetitionsTps, system: RepetitionsTps) -> dict[int, float]:
    """The logarithm of `system` over `base` for each repetition of both, in order.

    A repetition in which one of them completed nothing has none.
    """
    common = sorted(base.keys() & system.keys())
    return {
        repetition: math.log(system[repetition] / base[repetition])
        for repetition in common
        if base[repetition] > 0 and system[repetition] > 0
    }


def _of_cells(question: Question, cells: Mapping[CellKey, RepetitionsTps]) -> dict[int, float]:
    system = cells.get(CellKey(question.system, question.workload, question.level), {})
    if question.base is None:
        return log_ratios(dict.fromkeys(system, 1.0), system)
    return log_ratios(cells.get(CellKey(question.base, question.workload, question.level), {}), system)


def _alpha(values: Values) -> float:
    return ALPHA / max(len(values), 1)


def _is_decided(question: Question, interval: AnytimeInterval, margin: float) -> bool:
    if question.base is None:
        return interval.half_width <= margin
    return interval.count >= REPETITIONS_MIN and interval.is_decided(margin)


def _interim(question: Question, values: Sequence[float], alpha: float, margin: float) -> Interim:
    if not values:
        return Interim(question, None, is_decided=False, more=None)
    interval = anytime_interval(values, alpha)
    if _is_decided(question, interval, margin):
        return Interim(question, interval, is_decided=True, more=0)
    more = (more_values_for_width if question.base is None else more_values)(interval, alpha, margin)
    return Interim(question, interval, is_decided=False, more=more)


PRIOR_VARIANCE = 10.0
"""Of the mean, in variances of a value: wide enough for differences that matter, so that 3 values can decide."""

SPREAD_TO_COME = 0.6
"""How probably the true spread is at most what is taken for it when further values are counted. Found by simulation, so
that a study is decided within the number named in about 80 of 100 cases: about 70 after two values, 90 after six."""


@dataclass(frozen=True, slots=True)
class AnytimeInterval:
    """Where a mean lies, at this look and at all others together.

    Attributes:
        mean: Of the values so far.
        half_width: Infinite while there are too few of them, or their spread is not known.
        count: How many values there were.
        deviation: Standard deviation of one value; None while that is not known: for a single value, and for equal
            ones, which are rounded or copied figures and no spread of zero.
    """

    mean: float
    half_width: float
    count: int
    deviation: float | None

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width

    def is_decided(self, equal_within: float) -> bool:
        """Whether it excludes 0, or lies within -`equal_within` to `equal_within`."""
        return self.low > 0.0 or self.high < 0.0 or (-equal_within <= self.low and self.high <= equal_within)


def anytime_interval(values: Sequence[float], alpha: float) -> AnytimeInterval:
    """The interval after these values, in the order in which they were measured.

    Args:
        values: Independent of each other; at least one.
        alpha: The probability, 0..1, that the true mean is outside at any look.
    """
    count, mean = len(values), float(np.mean(values))
    variance = float(np.var(values, ddof=1)) if count > 1 else 0.0
    if variance <= NO_SPREAD:
        return AnytimeInterval(mean, math.inf, count, None)
    deviation = math.sqrt(variance)
    return AnytimeInterval(mean, half_widths(alpha, count) * deviation, count, deviation)


@cache
def half_widths(alpha: float, count: int) -> float:
    """Half the width of the interval, in standard deviations of a value; infinite while there are too few.

    Args:
        alpha: The probability, 0..1, of ever being wrong.
        count: So many values.
    """
    mixed = 1.0 + count * PRIOR_VARIANCE
    bound = (mixed / alpha**2) ** (1.0 / count)
    if bound >= mixed:
        return math.inf
    return math.sqrt((count - 1) / count * mixed * (bound - 1.0) / (mixed - bound))


def more_values(interval: AnytimeInterval, alpha: float, equal_within: float) -> int | None:
    """How many further values decide four times out of five, if the mean stays.

    The mean may then be off by as much as it is in four of five cases (`POWER`). The spread of few values is more often
    too small than too large and is scaled (`SPREAD_TO_COME`).

    Returns:
        None while the spread is not known, and where more than `MOST_FURTHER_REPETITIONS` are needed.
    """
    from plimsoll.stats.special import ndtri

    deviation, distance = _deviation_to_come(interval), abs(interval.mean)

    def decides(count: int) -> bool:
        needed = deviation * (half_widths(alpha, count) + ndtri(POWER) / math.sqrt(count))
        return bool(distance > needed or distance + needed <= equal_within)

    return _fewest(interval.count, decides)


def more_values_for_width(interval: AnytimeInterval, alpha: float, half_width: float) -> int | None:
    """How many further values make an interval so narrow four times out of five; None as for `more_values`."""
    deviation = _deviation_to_come(interval)
    return _fewest(interval.count, lambda count: deviation * half_widths(alpha, count) <= half_width)


def _deviation_to_come(interval: AnytimeInterval) -> float:
    """What is taken for the standard deviation of a value; infinite while it is not known."""
    from plimsoll.stats.special import chdtri

    if interval.deviation is None:
        return math.inf
    degrees = interval.count - 1
    return interval.deviation * math.sqrt(degrees / float(chdtri(degrees, SPREAD_TO_COME)))


def _fewest(count: int, decides: Callable[[int], bool]) -> int | None:
    """The fewest further values after `count` with which it is decided; more values only make intervals narrower."""
    more = bisect_left(range(1, MOST_FURTHER_REPETITIONS + 1), True, key=lambda more: decides(count + more)) + 1
    return more if more <= MOST_FURTHER_REPETITIONS else None


def judge_at_any_look(
    base: MeasuredCell, system: MeasuredCell, *, tests_count: int, equal_within: float
) -> Ratio | None:
    """Compares two cells over the repetitions that both have; None where those are none.

    Args:
        base: What is compared with.
        system: What is compared.
        tests_count: How many comparisons share the 5 %.
        equal_within: Share within which the two count as equal.
    """
    values = rounds_log_ratios(base, system) if took_turns(base, system) else _log_ratios(base, system)
    return judge_values(list(values.values()), tests_count=tests_count, equal_within=equal_within)


def judge_values(values: Sequence[float], *, tests_count: int, equal_within: float) -> Ratio | None:
    """Judges a logarithm of a ratio by its values in each repetition; None where there are none.

    Args:
        values: In the order of the repetitions.
        tests_count: How many comparisons share the 5 %.
        equal_within: Share within which a ratio counts as 1.
    """
    if not values:
        return None
    corrected = anytime_interval(values, ALPHA / tests_count)
    return judge_interval(corrected, estimate_at_any_look(values), tests_count=tests_count, equal_within=equal_within)


def judge_interval(corrected: AnytimeInterval, ratio: Estimate, *, tests_count: int, equal_within: float) -> Ratio:
    """Judges a logarithm of a ratio by an interval of it that holds together with those of all other comparisons.

    Args:
        corrected: The interval.
        ratio: With the interval that stands for it alone.
        tests_count: How many comparisons share the 5 %.
        equal_within: Share within which a ratio counts as 1.
    """
    alpha, margin = ALPHA / tests_count, math.log1p(equal_within)
    verdict = verdict_of(corrected, margin)
    return Ratio(
        ratio=ratio,
        simultaneous=estimate_of(corrected, tests_count).bounds,
        verdict=verdict,
        equal_within=equal_within,
        repetitions_needed=0 if verdict.is_decided else more_values(corrected, alpha, margin),
    )


def _log_ratios(base: MeasuredCell, system: MeasuredCell) -> dict[int, float]:
    both = [{trial.trial.repetition: trial.throughput_tps for trial in cell.trials} for cell in (base, system)]
    return log_ratios(*both)


def verdict_of(interval: AnytimeInterval, margin: float) -> RatioVerdict:
    """What an interval of the logarithm of a ratio decides; equal within so much on that scale."""
    if interval.deviation is None:
        return RatioVerdict.UNTESTABLE
    if interval.count < REPETITIONS_MIN or not interval.is_decided(margin):
        return RatioVerdict.UNRESOLVED
    if interval.low > 0:
        return RatioVerdict.FASTER
    return RatioVerdict.SLOWER if interval.high < 0 else RatioVerdict.EQUAL


def estimate_at_any_look(values: Sequence[float]) -> Estimate:
    """The ratio, with an interval that stands for it alone.

    Args:
        values: Its logarithm in each repetition, at least one.
    """
    return estimate_of(anytime_interval(values, ALPHA))


def estimate_of(interval: AnytimeInterval, comparisons: int = 1) -> Estimate:
    """What an interval of a logarithm says, without bounds while it is infinite.

    Args:
        interval: Of the logarithm.
        comparisons: It holds for so many side by side.
    """
    bounds = None
    if math.isfinite(interval.half_width):
        bounds = Bounds(
            low=math.exp(max(interval.low, -LARGEST_LOG)),
            high=math.exp(min(interval.high, LARGEST_LOG)),
            basis=SpreadKind.REPETITIONS,
            degrees=interval.count - 1,
            method="confidence sequence on logarithms of repetitions, valid after each of them" + together(comparisons),
        )
    return Estimate(value=math.exp(interval.mean), bounds=bounds, trial_count=interval.count)


_HALVINGS = 60
"""So often the range of levels is halved to find a p value."""

_LEAST_LOG_CHANCE = math.log(1e-12)


@dataclass(frozen=True, slots=True)
class AnytimeRatio:
    """The logarithm of a ratio in each repetition, in their order; at least two."""

    values: tuple[float, ...]

    @property
    def basis(self) -> SpreadKind:
        """What its spread rests on."""
        return SpreadKind.REPETITIONS

    @property
    def value(self) -> float:
        """The mean logarithm."""
        return float(np.mean(self.values))

    def chance_at_most(self, log: float) -> float:
        """P value of "the ratio is at most exp(log)", at every look."""
        return self._chance(log) if self.value > log else 1.0

    def chance_at_least(self, log: float) -> float:
        """P value of "the ratio is at least exp(log)", at every look."""
        return self._chance(log) if self.value < log else 1.0

    def half_width(self, alpha: float) -> float:
        """Half the width of the interval, on the scale of logarithms; infinite with too few repetitions."""
        return anytime_interval(self.values, alpha).half_width

    def estimate(self) -> Estimate:
        """The ratio with its 95 % interval, which stands for this ratio alone."""
        return estimate_at_any_look(self.values)

    def further_beyond(self, log: float, alpha: float) -> int | None:
        """The fewest further repetitions after which the interval excludes a ratio, if mean and spread stay.

        Args:
            log: That ratio, as logarithm.
            alpha: Of the interval.
        """
        distance, deviation, count = abs(self.value - log), self._deviation, len(self.values)
        for further in range(1, MOST_FURTHER_REPETITIONS + 1):
            if deviation * half_widths(alpha, count + further) < distance:
                return further
        return None

    @property
    def _deviation(self) -> float:
        return float(np.std(self.values, ddof=1))

    def _chance(self, log: float) -> float:
        """The smallest level at which the interval excludes a ratio, by halving the range of its logarithm."""
        widest = abs(self.value - log) / self._deviation
        low, high, count = _LEAST_LOG_CHANCE, 0.0, len(self.values)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if half_widths(math.exp(middle), count) < widest else (middle, high)
        return math.exp(high)
