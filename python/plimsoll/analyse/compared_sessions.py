"""Across what two sides of a comparison were replicated, and how far sessions of one system lie apart.

A machine is not equally fast in two sessions: its neighbours, its files and its caches are others. Repetitions within
a study share its session, so they say nothing of that. Two studies are therefore compared across sessions: where both
went on after each other several times, each stretch is a session; else other studies of the first side show how far
sessions lie apart; else nothing does, and there is no verdict.

Assumptions: the logarithms of what sessions find are about normal and independent of each other, and those of the
second side vary as those of the first. Deliberately not here: reading studies, and the ratio itself (`compared_cells`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np

from plimsoll.analyse.cell_figure import cell_figure
from plimsoll.analyse.compare_model import Sessions
from plimsoll.analyse.compared_side import Design, Side
from plimsoll.analyse.differing_conditions import condition_differences
from plimsoll.analyse.environments import began_unix_s
from plimsoll.analyse.within_run import MeanVariance
from plimsoll.errors import SpecError

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
    """By when the trials of both began, whether two studies went on after each other or were made once each."""
    order = _in_time(base, system)
    if order is None:
        return Sessions.UNKNOWN
    alternations = sum(one != other for (_, one, _), (_, other, _) in pairwise(order))
    return Sessions.ALTERNATING if alternations >= LEAST_ALTERNATIONS else Sessions.APART


def session_numbers(base: Side, system: Side) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The session of each trial of both sides, by its id: trials between two of the other side share one."""
    found: tuple[dict[str, int], dict[str, int]] = ({}, {})
    counts, before = [-1, -1], None
    for _, side, trial_id in _in_time(base, system) or []:
        counts[side] += side != before
        found[side][trial_id] = counts[side]
        before = side
    return found


def session_variance(sessions: Sequence[Mapping[int, float]]) -> MeanVariance | None:
    """Of the logarithm of a ratio of two sessions of one system, by what sessions of it found.

    The difference of two sessions varies twice as much as one of them. Each mean holds its share of the noise of
    repetitions too, so the sum with the variance within studies is rather too large than too small.

    Args:
        sessions: What the repetitions of each found; at least two.

    Returns:
        None where a session found nothing.
    """
    means = [cell_figure(one.values()) for one in sessions]
    logs = [math.log(one) for one in means if one]
    if len(logs) < len(sessions):
        return None
    return MeanVariance(2 * float(np.var(logs, ddof=1)), len(logs) - 1)


def span(side: Side) -> tuple[float, float] | None:
    """When the first and the last trial of a side began, seconds since 1970; None where that is not known."""
    times = [began_unix_s(one.trial) for one in side.all_trials]
    return (min(times), max(times)) if times and all(times) else None


def _in_time(base: Side, system: Side) -> list[tuple[float, int, str]] | None:
    """Every trial as (begin, 0 for the base and 1 for the system, id); None where a begin is not known."""
    order = sorted(
        (began_unix_s(one.trial), number, one.trial.trial_id)
        for number, side in enumerate((base, system))
        for one in side.all_trials
    )
    return order if order[0][0] else None


def _count_faults(baselines: Sequence[Side]) -> Iterator[str]:
    if len(baselines) < LEAST_BASELINES:
        yield f"--baseline: name at least {LEAST_BASELINES} studies of what A is, given {len(baselines)}"


def _faults(base: Side, system: Side, baselines: Sequence[Side]) -> Iterator[str]:
    """What of the baselines is no other session of the base."""
    needed = _places(base) & _places(system)
    for one in baselines:
        name = f"--baseline {one.facts.name}"
        for difference in condition_differences(base.all_trials, one.all_trials):
            yield f"{name}: is not of what A is: {difference.what} is {difference.system}, not {difference.base}"
        missing = len(needed - _places(one))
        if missing:
            yield f"{name}: lacks {missing} of {len(needed)} levels and capacities that are compared"
        if span(one) is None:
            yield f"{name}: does not say when it was measured"
    for one, other in combinations((base, *baselines), 2):
        if _overlap(one, other):
            names = f"{one.facts.name} and {other.facts.name}"
            yield f"--baseline: {names} were measured at the same time, so they are one session"


def _places(side: Side) -> set[tuple[str, object]]:
    """Workloads and levels that were measured, and objectives that were searched for."""
    levels = {(one.trial.workload.name, one.trial.level.order) for one in side.trials}
    return levels | {(one.workload, one.capacity.objective.model_dump_json()) for one in side.searches}


def _overlap(one: Side, other: Side) -> bool:
    spans = span(one), span(other)
    if spans[0] is None or spans[1] is None:
        return False
    return max(spans[0][0], spans[1][0]) <= min(spans[0][1], spans[1][1])
