"""One workload and level of both sides of a comparison: figures, their ratio with its spread, conditions.

What a ratio rests on: where repetitions went on until an answer was decided, the confidence sequence of
`sequential`; in a duet the pairs of turns (`duets`); else repetitions, paired within one study and
independent otherwise; with one run of each the seconds within the runs. Between two studies that were measured one
after the other, how far sessions lie apart comes on top (`compare_sides`).

Whether both sides of a comparison met like conditions, in each place and over all of them. Two studies may have trials
of one id, so what trials met is kept by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.analyse.answers.capacity import met_in_ramps
from plimsoll.analyse.answers.compare_model import Sessions
from plimsoll.analyse.answers.compare_sides import Design, Side, session_variance
from plimsoll.analyse.study.capacities import deciding_runs, unlike_sides
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import SpreadKind
from plimsoll.analyse.study.cells import measured_cells
from plimsoll.analyse.study.comparison import NO_SPREAD, LogRatio, repetition_ratio, welch
from plimsoll.analyse.study.conditions import met_by, together, unlike
from plimsoll.analyse.study.duets import compare_turns, mean_of_rounds
from plimsoll.analyse.study.sequential import AnytimeRatio, log_ratios
from plimsoll.analyse.study.throughput import cell_figure
from plimsoll.analyse.trial.condition_model import Disturbance, UnlikeConditions
from plimsoll.analyse.trial.trial_summary import TrialSummary, p99_ms
from plimsoll.stats.variance import MeanVariance

CellKey = tuple[str, tuple[bool, float]]
"""Workload and order of the level."""

Values = Mapping[int, float]
"""A figure of each repetition."""

Figures = tuple[float | None, float | None]
"""Of the first side and of the second, in the unit of the metric; None where it is not known."""

ComparedRatio = LogRatio | AnytimeRatio


@dataclass(frozen=True, slots=True)
class Turns:
    """Two systems that took turns.

    Attributes:
        ratio: By the pairs of their turns.
        rounds: Logarithm of the ratio in each round.
    """

    ratio: LogRatio
    rounds: Values


@dataclass(frozen=True, slots=True)
class Sample:
    """A figure of both sides in one place.

    Attributes:
        base: By repetition; where sessions of two studies alternate, the mean of each session.
        system: The same.
        within: Variance of the logarithm of the ratio as it shows within one run of each side; None for more runs.
        turns: Where the two took turns.
        sessions: What other sessions of the first side found, by repetition.
        least_variance: Of the logarithm of one figure, however much repetitions agree.
    """

    base: Values
    system: Values
    within: MeanVariance | None = None
    turns: Turns | None = None
    sessions: Sequence[Values] = ()
    least_variance: float = 0.0

    def compared_values(self, design: Design) -> tuple[list[float], list[float]]:
        """The repetitions of each side that the ratio is of: those of both in one order, where they form pairs."""
        common = self._common(design)
        if len(common) >= 2:
            return [self.base[repetition] for repetition in common], [self.system[repetition] for repetition in common]
        return list(self.base.values()), list(self.system.values())

    def _common(self, design: Design) -> list[int]:
        """Repetitions of both that form pairs: those of two sessions have nothing in common."""
        if design.is_of_single_sessions:
            return []
        if design.at_any_look:
            return list(log_ratios(self.base, self.system))
        return sorted(self.base.keys() & self.system.keys()) if design.is_paired else []

    def figures(self, design: Design) -> Figures:
        """One figure of each side, whose ratio is that of the two.

        Systems that took turns are compared by pairs of turns, not by these figures: their common level is that of all
        repetitions, and the ratio of the turns parts them.
        """
        base, system = map(cell_figure, self.compared_values(design))
        if self.turns is None or not base or not system:
            return base, system
        level, ratio = math.sqrt(base * system), self.ratio(design)
        half = 1.0 if ratio is None else math.exp(ratio.value / 2)
        return level / half, level * half

    def ratio(self, design: Design) -> ComparedRatio | None:
        """By repetitions, else within the runs; None where neither is known."""
        base, system = self.base, self.system
        if min((*base.values(), *system.values()), default=0.0) <= 0.0:
            return None
        if design.is_of_single_sessions:
            return self._across_sessions(design)
        logs = log_ratios(base, system) if self.turns is None else self.turns.rounds
        if design.at_any_look and len(logs) >= 2:
            return AnytimeRatio(tuple(logs.values()))
        if self.turns is not None:
            return self.turns.ratio
        is_paired = design.is_paired and len(base.keys() & system.keys()) >= 2
        return self._within(design, paired=is_paired)

    def _within(self, design: Design, *, paired: bool) -> LogRatio | None:
        base, system = self.base, self.system
        ratio = repetition_ratio(*self.compared_values(design), paired=paired, least_variance=self.least_variance)
        if ratio is not None or self.within is None or self.within.variance == 0.0:
            return ratio
        return LogRatio(
            value=math.log(sum(system.values()) / sum(base.values())),
            variance=self.within,
            repetitions=1,
            basis=SpreadKind.WITHIN_RUN,
            method="Welch's t on logarithms, within one run of each: repetitions may differ more",
        )

    def _across_sessions(self, design: Design) -> LogRatio | None:
        """One session of each side: what they show within, and how far sessions lie apart where that is known."""
        within = self._within(design, paired=False)
        if design.sessions is Sessions.APART:
            if within is None or within.basis is SpreadKind.WITHIN_RUN:
                return within
            return replace(within, basis=SpreadKind.WITHIN_STUDY)
        between = session_variance([self.base, *self.sessions])
        if between is None or len(self.sessions) < len(design.baselines):
            return None
        parts = [] if within is None else [(within.variance.variance, within.variance.degrees)]
        variance = welch([*parts, (between.variance, between.degrees)])
        if variance.variance <= NO_SPREAD:
            return None
        base, system = (math.fsum(map(math.log, side.values())) / len(side) for side in (self.base, self.system))
        return LogRatio(
            value=system - base,
            variance=variance,
            repetitions=len(self.sessions) + 1,
            basis=SpreadKind.SESSIONS,
            method=f"t on logarithms, with the spread between {len(self.sessions) + 1} sessions of A",
        )


def by_cell(trials: Iterable[TrialSummary]) -> dict[CellKey, list[TrialSummary]]:
    """Trials by workload and level."""
    cells: dict[CellKey, list[TrialSummary]] = {}
    for trial in trials:
        cells.setdefault((trial.trial.workload.name, trial.trial.level.order), []).append(trial)
    return cells


def throughput(
    base: Sequence[TrialSummary],
    system: Sequence[TrialSummary],
    design: Design,
    baselines: Sequence[Sequence[TrialSummary]] = (),
) -> Sample:
    """Completed transactions per second of one workload and level."""
    within = [trial.within for trial in (*base, *system)]
    known = [variance for variance in within if variance is not None]
    is_single = len(base) == len(system) == 1 and len(known) == 2
    return Sample(
        *_of_both(base, system, [[trial.throughput_tps for trial in side] for side in (base, system)], design),
        welch([(variance.variance, variance.degrees) for variance in known]) if is_single else None,
        _turns(base, system) if design.is_paired else None,
        sessions=[_numbered(baseline, [trial.throughput_tps for trial in baseline]) for baseline in baselines],
    )


def response(
    base: Sequence[TrialSummary],
    system: Sequence[TrialSummary],
    design: Design,
    baselines: Sequence[Sequence[TrialSummary]] = (),
) -> Sample:
    """The p99 of one workload and level. Where one repetition has none, the others would be a choice: it has none."""
    of_base, of_system, *others = (_p99s(side) for side in (base, system, *baselines))
    if of_base is None or of_system is None:
        return Sample({}, {})
    sessions = [_numbered(side, known) for side, known in zip(baselines, others, strict=True) if known is not None]
    return Sample(*_of_both(base, system, [of_base, of_system], design), sessions=sessions)


def _p99s(trials: Sequence[TrialSummary]) -> list[float] | None:
    known = [value for trial in trials if (value := p99_ms(trial)) is not None]
    return known if len(known) == len(trials) else None


def samples_together(samples: Sequence[Sample]) -> Sample:
    """The geometric mean over places of each repetition that all of them have."""
    within = [sample.within for sample in samples]
    known = [variance for variance in within if variance is not None]
    turns = [sample.turns for sample in samples if sample.turns is not None]
    return Sample(
        geometric([sample.base for sample in samples]),
        geometric([sample.system for sample in samples]),
        _variance_of_mean(known) if len(known) == len(samples) else None,
        _turns_together(turns) if len(turns) == len(samples) else None,
        sessions=[geometric(places) for places in zip(*(sample.sessions for sample in samples), strict=True)],
    )


def geometric(places: Sequence[Values]) -> Values:
    """The geometric mean of several figures in each repetition that all of them have."""
    common = sorted(set.intersection(*(set(place) for place in places)))
    if any(place[number] <= 0.0 for place in places for number in common):
        return dict.fromkeys(common, 0.0)
    return {number: math.exp(_mean_log([place[number] for place in places])) for number in common}


def _mean_log(values: Sequence[float]) -> float:
    return sum(map(math.log, values)) / len(values)


def _of_both(
    base: Sequence[TrialSummary], system: Sequence[TrialSummary], values: Sequence[Sequence[float]], design: Design
) -> tuple[Values, Values]:
    """A figure of both sides by repetition, or by session where sessions alternate."""
    if design.session_numbers is None:
        return _numbered(base, values[0]), _numbered(system, values[1])
    base_numbers, system_numbers = design.session_numbers
    return _by_session(base, values[0], base_numbers), _by_session(system, values[1], system_numbers)


def _by_session(trials: Sequence[TrialSummary], values: Sequence[float], numbers: Mapping[str, int]) -> Values:
    return by_session((numbers[trial.trial.trial_id], value) for trial, value in zip(trials, values, strict=True))


def by_session(numbered: Iterable[tuple[int, float]]) -> Values:
    """The mean of a figure in each session, from its session and the figure."""
    sessions: dict[int, list[float]] = {}
    for number, value in numbered:
        sessions.setdefault(number, []).append(value)
    return {number: cell_figure(values) or 0.0 for number, values in sessions.items()}


def _numbered(trials: Sequence[TrialSummary], values: Sequence[float]) -> Values:
    """Values by repetition; by their place where the source gave several trials one number."""
    numbers = [trial.trial.repetition for trial in trials]
    return dict(zip(numbers if len(set(numbers)) == len(numbers) else range(len(values)), values, strict=True))


def _turns(base: Sequence[TrialSummary], system: Sequence[TrialSummary]) -> Turns | None:
    if any(trial.turns is None for trial in (*base, *system)):
        return None
    cells = [cell for side in (base, system) for cell in measured_cells(side)]
    comparison = compare_turns(cells[0], cells[1])
    if comparison is None:
        return None
    ratio, duet = comparison
    return Turns(ratio, {duet_round.repetition: math.log(duet_round.ratio) for duet_round in duet.rounds})


def _turns_together(places: Sequence[Turns]) -> Turns | None:
    """The mean over places, by the wider of two intervals, as in each of them: between rounds, and within them."""
    common = sorted(set.intersection(*(set(place.rounds) for place in places)))
    rounds = {number: sum(place.rounds[number] for place in places) / len(places) for number in common}
    between, within = (
        mean_of_rounds(list(rounds.values())),
        _variance_of_mean([place.ratio.variance for place in places]),
    )
    if between is None:
        return None
    ratio = LogRatio(
        value=sum(rounds.values()) / len(rounds),
        variance=max((within, between), key=MeanVariance.half_width),
        repetitions=len(rounds),
        basis=SpreadKind.REPETITIONS,
        method=f"duet: mean over {len(places)} places, t on logarithms over {len(rounds)} rounds or pairs of turns",
    )
    return Turns(ratio, rounds)


def _variance_of_mean(places: Sequence[MeanVariance]) -> MeanVariance:
    return welch([(place.variance / len(places) ** 2, place.degrees) for place in places])


@dataclass(frozen=True, slots=True)
class _SideConditions:
    """What the trials of one side met, each with its trial."""

    trials: tuple[tuple[TrialSummary, Disturbance | None], ...] = field(repr=False)

    def in_ramps(self, system_capacity: SystemCapacity) -> dict[tuple[int, int], Disturbance]:
        return met_in_ramps(
            [system_capacity], {trial.trial.trial_id: met for trial, met in self.trials if met is not None}
        )

    def where(self, counts: Callable[[TrialSummary], bool]) -> Disturbance | None:
        return together(met for trial, met in self.trials if counts(trial))


@dataclass(frozen=True, slots=True)
class ComparedConditions:
    """What both sides met."""

    base: _SideConditions
    system: _SideConditions

    def at(self, keys: Iterable[CellKey]) -> UnlikeConditions | None:
        """At some workloads and levels together; None where the conditions were alike, or are not known."""
        wanted = set(keys)

        def counts(trial_summary: TrialSummary) -> bool:
            return (
                trial_summary.trial.search_id is None
                and (trial_summary.trial.workload.name, trial_summary.trial.level.order) in wanted
            )

        return unlike(self.base.where(counts), self.system.where(counts))

    def of_capacities(
        self, base: Iterable[SystemCapacity], system: Iterable[SystemCapacity]
    ) -> UnlikeConditions | None:
        """Of the runs that capacities of both sides rest on."""
        ids = [deciding_runs(capacities) for capacities in (base, system)]
        return unlike(
            self.base.where(lambda trial: trial.trial.trial_id in ids[0]),
            self.system.where(lambda trial: trial.trial.trial_id in ids[1]),
        )

    def of_ramps(self, base: SystemCapacity, system: SystemCapacity) -> UnlikeConditions | None:
        """Of the ramps of both sides, pair by pair."""
        return unlike_sides(self.base.in_ramps(base), self.system.in_ramps(system))


def compared_conditions(base: Side, system: Side) -> ComparedConditions:
    """Judges the trials of both sides against each other."""
    trials, count = [*base.all_trials, *system.all_trials], len(base.all_trials)
    met = list(zip(trials, met_by(trials), strict=True))
    return ComparedConditions(_SideConditions(tuple(met[:count])), _SideConditions(tuple(met[count:])))
