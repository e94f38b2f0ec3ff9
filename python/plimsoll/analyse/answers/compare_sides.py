"""The two sides of a comparison, what is not the same around them, and across what they were replicated.

Across what two sides of a comparison were replicated, and how far sessions of one system lie apart. A machine is not
equally fast in two sessions: its neighbours, its files and its caches are others. Repetitions within a study share its
session, so they say nothing of that. Two studies are therefore compared across sessions: where both took turns several
times, each stretch is a session; else other studies of the first side show how far sessions lie apart;
else nothing does, and there is no verdict.

Assumptions: the logarithms of what sessions find are about normal and independent of each other, and those of the
second side vary as those of the first.

What is not the same on the two sides of a comparison: the systems themselves, and the conditions around them. What the
systems differ in is what is compared: factors of the study file, and the server's version. Everything else should be
the same: host, storage, client, workload, length of the window, and variables that no study file states. What is
unknown of one side is no difference (`environments`, `variables`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from plimsoll.analyse.answers.compare_model import ComparedSide, ConditionDifference, Sessions
from plimsoll.analyse.explain.variables import variable_differences
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.study.capacities import capacities, deciding_runs
from plimsoll.analyse.study.environments import began_unix_s, changes
from plimsoll.analyse.study.factors import compare_factors, factors_of
from plimsoll.analyse.study.systems import option_text, summarise_systems
from plimsoll.analyse.study.throughput import cell_figure
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.errors import SpecError
from plimsoll.record.capacity import SearchRecord
from plimsoll.record.environment import Environment
from plimsoll.record.model import TrialRecord, WorkloadRecord
from plimsoll.stats.variance import MeanVariance


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two systems; it has a trial, or a run of a search.

    Attributes:
        facts: What it is.
        trials: Complete trials of one system, all in one environment, without those of searches.
        searched: Complete runs of searches for a capacity: no levels, since each search chooses its own.
        searches: Those searches.
    """

    facts: ComparedSide
    trials: Sequence[TrialSummary]
    searched: Sequence[TrialSummary] = ()
    searches: Sequence[SearchRecord] = ()

    @property
    def all_trials(self) -> Sequence[TrialSummary]:
        """Every complete trial, runs of searches included."""
        return (*self.trials, *self.searched)

    @property
    def answering(self) -> Sequence[TrialSummary]:
        """Without those runs of searches that are not the answer: what is wrong at other rates was asked for."""
        deciding = deciding_runs(capacities(self.searches))
        return (*self.trials, *(trial for trial in self.searched if trial.trial.trial_id in deciding))


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How two sides were measured against each other.

    Attributes:
        is_paired: Equal repetitions of both were measured next to each other, as within one study.
        at_any_look: Repetitions of a side went on until the answer of its study was decided.
        sessions: Across what they were replicated.
        session_numbers: Of the trials of both sides, by id, where sessions alternate: the unit is then the session.
        baselines: Other sessions of the first side, where sessions are apart.
        questions_count: How many comparisons share the 5 % of such a study: those of this pair alone where it is less.
    """

    is_paired: bool
    at_any_look: bool = False
    sessions: Sessions = Sessions.UNKNOWN
    session_numbers: tuple[Mapping[str, int], Mapping[str, int]] | None = None
    baselines: Sequence[Side] = ()
    questions_count: int = 0

    @property
    def is_of_single_sessions(self) -> bool:
        """Whether there was one session of each side, so that repetitions show only what is within them."""
        return self.sessions in (Sessions.APART, Sessions.BASELINE)

    @property
    def is_of_sessions(self) -> bool:
        """Whether two studies are compared of which it is known when they were measured."""
        return self.is_of_single_sessions or self.sessions is Sessions.ALTERNATING


LEAST_ALTERNATIONS = 3
"""Two sessions of each side, the least of which a spread is known."""

LEAST_BASELINES = 2


def design_of_two_studies(base: Side, system: Side, baselines: Sequence[Side], *, at_any_look: bool) -> Design:
    """How two studies were measured against each other.

    Args:
        base: What is compared with.
        system: What is compared.
        baselines: Other studies of what `base` is; none for no such.
        at_any_look: Repetitions of a side went on until the answer of its study was decided.

    Raises:
        SpecError: The baselines are too few, no repetitions of the base, or of no use.
    """
    sessions = sessions_between(base, system)
    if not baselines:
        numbers = session_numbers(base, system) if sessions is Sessions.ALTERNATING else None
        return Design(is_paired=False, at_any_look=at_any_look, sessions=sessions, session_numbers=numbers)
    if sessions is not Sessions.APART:
        why = "when these were measured is not known" if sessions is Sessions.UNKNOWN else "their sessions alternate"
        raise SpecError(f"--baseline: is for two studies that were measured one after the other; {why}. Leave it out")
    faults = [*_count_faults(baselines), *_faults(base, system, baselines)]
    if faults:
        raise SpecError(*faults)
    return Design(is_paired=False, at_any_look=at_any_look, sessions=Sessions.BASELINE, baselines=baselines)


def sessions_between(base: Side, system: Side) -> Sessions:
    """By when the trials of both began, whether two studies took turns or were made once each."""
    order = _in_time(base, system)
    if order is None:
        return Sessions.UNKNOWN
    alternations = sum(side != next_side for (_, side, _), (_, next_side, _) in pairwise(order))
    return Sessions.ALTERNATING if alternations >= LEAST_ALTERNATIONS else Sessions.APART


def session_numbers(base: Side, system: Side) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The session of each trial of both sides, by its id: trials between two of the other side share one."""
    numbers: tuple[dict[str, int], dict[str, int]] = ({}, {})
    counts, before = [-1, -1], None
    for _, side, trial_id in _in_time(base, system) or []:
        counts[side] += side != before
        numbers[side][trial_id] = counts[side]
        before = side
    return numbers


def session_variance(sessions: Sequence[Mapping[int, float]]) -> MeanVariance | None:
    """Of the logarithm of a ratio of two sessions of one system, by what sessions of it found.

    The difference of two sessions varies twice as much as one of them. Each mean holds its share of the noise of
    repetitions too, so the sum with the variance within studies is rather too large than too small.

    Args:
        sessions: What the repetitions of each found; at least two.

    Returns:
        None where a session found nothing.
    """
    means = [cell_figure(session.values()) for session in sessions]
    logs = [math.log(mean) for mean in means if mean]
    if len(logs) < len(sessions):
        return None
    return MeanVariance(2 * float(np.var(logs, ddof=1)), len(logs) - 1)


def span(side: Side) -> tuple[float, float] | None:
    """When the first and the last trial of a side began, seconds since 1970; None where that is not known."""
    times = [began_unix_s(trial.trial) for trial in side.all_trials]
    return (min(times), max(times)) if times and all(times) else None


def _in_time(base: Side, system: Side) -> list[tuple[float, int, str]] | None:
    """Every trial as (begin, 0 for the base and 1 for the system, id); None where a begin is not known."""
    order = sorted(
        (began_unix_s(trial.trial), number, trial.trial.trial_id)
        for number, side in enumerate((base, system))
        for trial in side.all_trials
    )
    return order if order[0][0] else None


def _count_faults(baselines: Sequence[Side]) -> Iterator[str]:
    if len(baselines) < LEAST_BASELINES:
        yield f"--baseline: name at least {LEAST_BASELINES} studies of what A is, given {len(baselines)}"


def _faults(base: Side, system: Side, baselines: Sequence[Side]) -> Iterator[str]:
    """What of the baselines is no other session of the base."""
    needed = _places(base) & _places(system)
    for baseline in baselines:
        name = f"--baseline {baseline.facts.name}"
        for difference in condition_differences(base.all_trials, baseline.all_trials):
            yield f"{name}: is not of what A is: {difference.what} is {difference.system}, not {difference.base}"
        missing = len(needed - _places(baseline))
        if missing:
            yield f"{name}: lacks {missing} of {len(needed)} levels and capacities that are compared"
        if span(baseline) is None:
            yield f"{name}: does not say when it was measured"
    for session, other in combinations((base, *baselines), 2):
        if _overlap(session, other):
            names = f"{session.facts.name} and {other.facts.name}"
            yield f"--baseline: {names} were measured at the same time, so they are one session"


def _places(side: Side) -> set[tuple[str, object]]:
    """Workloads and levels that were measured, and objectives that were searched for."""
    levels = {(trial.trial.workload.name, trial.trial.level.order) for trial in side.trials}
    return levels | {(search.workload, search.capacity.objective.model_dump_json()) for search in side.searches}


def _overlap(side: Side, other: Side) -> bool:
    spans = span(side), span(other)
    if spans[0] is None or spans[1] is None:
        return False
    return max(spans[0][0], spans[1][0]) <= min(spans[0][1], spans[1][1])


_VERSION = "version of "


def condition_differences(base: Sequence[TrialSummary], system: Sequence[TrialSummary]) -> list[ConditionDifference]:
    """What differs between two systems; what is not compared comes first.

    Args:
        base: Complete trials of the first system, all in one environment, runs of searches included.
        system: Of the second.
    """
    differences = [*_around(base, system), *_of_systems(_summary(base, "base"), _summary(system, "system"))]
    unique = {(difference.what, difference.base, difference.system): difference for difference in differences}
    return sorted(unique.values(), key=lambda difference: difference.is_compared)


def _summary(trials: Sequence[TrialSummary], name: str) -> SystemSummary:
    """The system under a name that tells the two apart even where they are called the same."""
    (summary,) = summarise_systems(trials)
    return summary.model_copy(update={"name": name})


def _around(base: Sequence[TrialSummary], system: Sequence[TrialSummary]) -> Iterator[ConditionDifference]:
    base_trial, system_trial = base[0], system[0]
    for change in changes(_without_variables(base_trial.environment), _without_variables(system_trial.environment)):
        if change.what != "instances":
            yield ConditionDifference(
                what="server version" if change.what.startswith(_VERSION) else change.what,
                base=change.before,
                system=change.after,
                is_compared=change.what.startswith(_VERSION),
            )
    workloads = {trial.trial.workload.name: trial.trial.workload for trial in reversed(system)}
    for workload in {trial.trial.workload.name: trial.trial.workload for trial in reversed(base)}.values():
        if workload.name in workloads:
            yield from _of_workloads(workload, workloads[workload.name])
    sides = [[trial.trial for trial in side] for side in (base, system)]
    yield from _of_windows("measured window", *map(_lengths_s, sides))
    yield from _of_windows("window of steady runs", *map(_steady_s, sides))
    yield from _of_rates(*sides)


def _without_variables(environment: Environment) -> Environment:
    """Without what is compared elsewhere: variables, and what servers may use of a machine, which factors say."""
    bare = tuple(instance.model_copy(update={"variables": {}, "placement": None}) for instance in environment.instances)
    return environment.model_copy(update={"instances": bare})


def _of_workloads(base: WorkloadRecord, system: WorkloadRecord) -> Iterator[ConditionDifference]:
    if base.kind is not None and system.kind is not None and base.kind != system.kind:
        yield _other(f"kind of workload {base.name}", base.kind, system.kind)
    for name in sorted(base.options.keys() & system.options.keys()):
        if base.options[name] != system.options[name]:
            texts = option_text(base.options[name]), option_text(system.options[name])
            yield _other(f"{name} of workload {base.name}", *texts)


def _of_windows(what: str, *lengths: Sequence[float]) -> Iterator[ConditionDifference]:
    if all(lengths) and lengths[0] != lengths[1]:
        yield _other(what, *(" and ".join(f"{length_s:g} s" for length_s in side) for side in lengths))


def _lengths_s(trials: Iterable[TrialRecord]) -> Sequence[float]:
    """Runs of searches are left out: how many of which length there are follows from what they found."""
    return sorted({trial.duration_s for trial in trials if trial.duration_s is not None and trial.search_id is None})


def _steady_s(trials: Iterable[TrialRecord]) -> Sequence[float]:
    """The shortest one: at a low rate they are longer."""
    longer = (trial for trial in trials if trial.search_role is not None and trial.search_role.is_long)
    return sorted(trial.duration_s for trial in longer if trial.duration_s is not None)[:1]


def _of_rates(base: Iterable[TrialRecord], system: Iterable[TrialRecord]) -> Iterator[ConditionDifference]:
    """Levels at one rate are the same level, whatever number of connections serves them."""
    of_base, of_system = _connections_by_rate(base), _connections_by_rate(system)
    for key in of_base:
        if key in of_system and of_base[key] != of_system[key]:
            texts = (" and ".join(map(str, sorted(side[key]))) for side in (of_base, of_system))
            yield _other(f"connections that serve the rates of {key[0]}", *texts)


def _connections_by_rate(trials: Iterable[TrialRecord]) -> dict[tuple[str, float], set[int]]:
    connections: dict[tuple[str, float], set[int]] = {}
    for trial in trials:
        if trial.level.rate_tps is not None and trial.search_id is None:
            connections.setdefault((trial.workload.name, trial.level.rate_tps), set()).add(trial.level.connections)
    return connections


def _of_systems(base: SystemSummary, system: SystemSummary) -> Iterator[ConditionDifference]:
    for name, base_value, system_value in compare_factors(factors_of(base), factors_of(system)).differing:
        yield ConditionDifference(what=name, base=base_value, system=system_value, is_compared=True)
    for variable in variable_differences([base, system]):
        if not variable.expected:
            values = [variable.values[name] for name in ("base", "system")]
            yield _other(variable.variable, *("(none)" if value is None else value for value in values))


def _other(what: str, base: str, system: str) -> ConditionDifference:
    return ConditionDifference(what=what, base=base, system=system, is_compared=False)
