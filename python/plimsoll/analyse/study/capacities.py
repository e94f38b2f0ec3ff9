"""The capacities of systems from their searches: runs judged, over repetitions, and compared.

The unit is the search: one capacity for each repetition, on a scale of logarithms. Two searches that agree to the
digit do so by chance: even on a made-up server that is always equally fast answers of searches differ by 0.6 %
(standard deviation), which is the least that repetitions are taken to vary by.

A run of a search for a capacity, from its recording: how much, how fast, and whether the objective held. Where the lag
of a replica grows, the objective does not hold: a rate that replicas do not keep up with is no capacity.

Ramps: the knee of each, and how the knees of two systems compare in pairs of ramps. A ramp's rate rises until most
answers are late (`knee_at`). That rate is no capacity at an objective: the queue needs about half a second to grow,
and the rate goes on rising meanwhile. It is about a seventh above what the server can do, and equally so for systems
that are compared, so that the ratio of two knees is that of two capacities.

The ramps of a pair ran next to each other in random order, all of them alike and none after another's result, so that
whatever else the machine did meets either side with the same chance. The logarithms of the ratios of equal systems are
then symmetric about 0, with heavy tails: a ramp in a slow minute has a knee that is far off. So each counts at most as
`_SPREADS` times their usual spread away from their median (winsorised; Tukey and McLaughlin 1963), and the interval of
`sequential` of these holds at every look. What starts of a server differ by (`STARTS_DIFFER`) is added to it as
independent errors are, with half of the error probability, since it is there at all looks.

A machine that is busier beside one of the systems is not symmetric. So there is no verdict while the slowness of the
ramps, as `conditions` finds it, differs between the sides in the mean over the pairs.

Winsorising follows the values that are judged, so that no theorem covers the interval: `tests/truth/test_ramps.py`
counts how often equal systems are told apart, and how often a planted difference is found.

How the capacities of two systems compare where each was searched once: by the intervals of the two searches. One
search says nothing about how starts of a server differ. So their speeds are taken to differ by `STARTS_DIFFER`
(standard deviation), and that is added to the error of the search, as its interval shows it: the wider side of it over
the quantile of Student's t that belongs to it. The logarithm of the ratio is then normal. Where several systems are
compared, its interval is that of all comparisons (Bonferroni). `tests/truth/test_single_searches.py` counts how often
equal servers are told apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

import numpy as np
import polars as pl

from plimsoll.analyse.explain.replication_model import LagState
from plimsoll.analyse.study.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, Bounds, Estimate, SpreadKind
from plimsoll.analyse.study.comparison import ALPHA, LogRatio, compare_repetitions, repetition_ratio
from plimsoll.analyse.study.conditions import UNLIKE_RATIO, is_disturbed, judged, together
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.analyse.study.sequential import anytime_interval, verdict_of
from plimsoll.analyse.study.throughput import log_bounds, next_at_least
from plimsoll.analyse.study.violations import (
    LEAST_VARIANCE,
    LEVEL,
    SEARCH_FREEDOM,
    ended_of,
    judge_run,
    late_in_flight,
    with_waiting,
)
from plimsoll.analyse.trial.condition_model import Disturbance, UnlikeConditions
from plimsoll.analyse.trial.histograms import SparseHistogram, duration_rows, durations, merge_window
from plimsoll.analyse.trial.replicas import lags_of
from plimsoll.analyse.trial.samples import MachineSeconds, machine_seconds, samples_of
from plimsoll.analyse.trial.trial_summary import RecordingLike
from plimsoll.analyse.trial.window import WindowCounts, counts_of, inside
from plimsoll.errors import RecordError
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunRole, RunVerdict, SearchRecord
from plimsoll.stats.variance import MeanVariance, Series


def capacities(searches: Iterable[SearchRecord]) -> tuple[SystemCapacity, ...]:
    """The capacity of each system under each workload, in the order in which they were searched first.

    Args:
        searches: Those of a folder; unfinished ones count in no figure.
    """
    groups: dict[tuple[object, ...], list[SearchRecord]] = {}
    for search in searches:
        groups.setdefault((search.system, search.workload, search.capacity.objective.model_dump_json()), []).append(
            search
        )
    return tuple(_capacity(group) for group in groups.values())


def _capacity(searches: Sequence[SearchRecord]) -> SystemCapacity:
    finished = [search.capacity for search in searches if search.is_finished]
    known = [capacity.capacity_tps for capacity in finished if capacity.capacity_tps is not None]
    lows = [capacity.low for capacity in finished if capacity.low is not None]
    highs = [capacity.high for capacity in finished if capacity.high is not None]
    is_whole = len(known) == len(finished)
    return SystemCapacity(
        system=searches[0].system,
        workload=searches[0].workload,
        objective=searches[0].capacity.objective,
        capacity_tps=_mean(known) if known and is_whole else None,
        low=min(lows) if lows and len(lows) == len(finished) else None,
        high=max(highs) if highs and len(highs) == len(finished) else None,
        next_low=_next_low(known) if is_whole and len(lows) == len(finished) else None,
        searches=tuple(searches),
    )


def _next_low(known: Sequence[float]) -> float | None:
    """What the next search finds at least, transactions per second."""
    return next_at_least(known, least_variance=LEAST_VARIANCE)


def _mean(values: Sequence[float]) -> Estimate:
    logs = np.log(values)
    value, count = math.exp(float(logs.mean())), len(values)
    if count == 1:
        return Estimate(value=value, trial_count=1)
    variance = MeanVariance(max(float(logs.var(ddof=1)), LEAST_VARIANCE) / count, count - 1)
    method = f"t on logarithms, {count} searches ({count - 1} degree{'s' if count > 2 else ''} of freedom)"
    bounds = log_bounds(value, variance, method, basis=SpreadKind.REPETITIONS)
    return Estimate(value=value, bounds=bounds, trial_count=count)


def capacity_ratios(
    system_capacities: Sequence[SystemCapacity], workloads_count: int = 1, *, equal_within: float = EQUAL_WITHIN
) -> tuple[CapacityRatio, ...]:
    """Every two systems under the same workload and objective; corrected for how many there are (Bonferroni).

    Args:
        system_capacities: The capacities of a study.
        workloads_count: Of how many workloads there will be such ratios in the end, where `system_capacities` is of one
            of them.
        equal_within: Share within which two capacities count as equal.
    """
    pairs = list(_pairs(system_capacities))
    alpha = ALPHA / max(len(pairs) * workloads_count, 1)
    return tuple(
        ratio_of_ramps(base, system, alpha=alpha, equal_within=equal_within)
        or capacity_ratio(base, system, alpha=alpha, equal_within=equal_within)
        for base, system in pairs
    )


def _pairs(system_capacities: Sequence[SystemCapacity]) -> Iterator[tuple[SystemCapacity, SystemCapacity]]:
    for base, system in combinations(system_capacities, 2):
        is_same = (base.workload, base.objective) == (system.workload, system.objective)
        is_known = base.capacity_tps is not None and system.capacity_tps is not None
        if is_same and (is_known or has_pairs(base, system)):
            yield base, system


def capacity_ratio(
    base: SystemCapacity,
    system: SystemCapacity,
    *,
    alpha: float,
    paired: bool = True,
    equal_within: float = EQUAL_WITHIN,
) -> CapacityRatio:
    """Compares two systems under the same workload and objective.

    Args:
        base: What is compared with; its capacity is known, as that of `system`.
        system: What is compared.
        alpha: Of both tests; with m comparisons side by side 0.05 / m.
        paired: Whether equal repetitions of both were searched in next to each other.
        equal_within: Share within which the two count as equal.
    """
    of_base, of_system, in_pairs = _values(base, system, paired)
    if len(of_base) == len(of_system) == 1:
        single = ratio_of_single_searches(base, system, alpha=alpha, equal_within=equal_within)
        if single is not None:
            return single
    compared = compare_repetitions(
        of_base, of_system, paired=in_pairs, alpha=alpha, equal_within=equal_within, least_variance=LEAST_VARIANCE
    )
    return CapacityRatio(**compared.as_fields, workload=base.workload, base=base.system, system=system.system)


def capacity_log_ratio(base: SystemCapacity, system: SystemCapacity, *, paired: bool = True) -> LogRatio | None:
    """What `capacity_ratio` judges; None where it is unknown how searches vary."""
    of_base, of_system, in_pairs = _values(base, system, paired)
    return repetition_ratio(of_base, of_system, paired=in_pairs, least_variance=LEAST_VARIANCE)


def _values(base: SystemCapacity, system: SystemCapacity, paired: bool) -> tuple[list[float], list[float], bool]:
    """Capacities of both, and whether equal places belong together: only where both have the same repetitions."""
    of_base, of_system = capacities_by_repetition(base), capacities_by_repetition(system)
    both = sorted(of_base.keys() & of_system.keys())
    if paired and len(both) == len(of_base) == len(of_system):
        return [of_base[repetition] for repetition in both], [of_system[repetition] for repetition in both], True
    return list(of_base.values()), list(of_system.values()), False


def capacities_by_repetition(system_capacity: SystemCapacity) -> dict[int, float]:
    """What each finished search of a system found, by its repetition, transactions per second.

    Searches without a study have no number of their own: they are counted in their order.
    """
    numbers = [search.repetition for search in system_capacity.searches]
    is_numbered = len(set(numbers)) == len(numbers)
    return {
        number: search.capacity.capacity_tps
        for number, search in zip(
            numbers if is_numbered else range(len(numbers)), system_capacity.searches, strict=True
        )
        if search.is_finished and search.capacity.capacity_tps is not None
    }


def deciding_runs(system_capacities: Iterable[SystemCapacity]) -> frozenset[str]:
    """The longer runs at each answer or below: of a search's runs only these are as the guide's other trials."""
    return frozenset(
        run.trial_id
        for system_capacity in system_capacities
        for search in system_capacity.searches
        for run in search.capacity.deciding
    )


def judged_run(
    recording: RecordingLike,
    role: RunRole,
    objective: CapacityObjective,
    machines: dict[str, MachineSeconds] | None = None,
    *,
    pair: int | None = None,
) -> CapacityRun:
    """What a complete recording says about an objective.

    Args:
        recording: At a rate; in a closed loop, in which nothing arrives by itself, no verdict is given.
        role: What the run was for.
        objective: What must hold.
        machines: What the machine did in it is added here by its trial id, where it is known; `mark_disturbed` says
            which runs were disturbed.
        pair: Of a ramp: its number.

    Raises:
        RecordError: A table is missing or damaged, or nothing was measured.
    """
    trial = recording.trial
    intervals, histograms = recording.intervals(), recording.histograms()
    counts = None if intervals is None else counts_of(trial, recording.outcome, intervals)
    if intervals is None or histograms is None or counts is None:
        raise RecordError(f"trial {trial.trial_id}: nothing was measured; remove its recording, and run again")
    at = {"first": counts.first, "last": counts.last}
    limit_ms = objective.response_ms_p99
    ended = ended_of(intervals, histograms, **at, limit_ms=limit_ms)
    waiting = late_in_flight(histograms, **at, limit_ms=limit_ms)
    seen = with_waiting(ended, waiting)
    rate_tps = trial.level.rate_tps
    lags = lags_of(recording.replication(), recording.outcome.window, trial.interval_s)
    lag_grows = any(lag.state is LagState.GROWING for lag in lags.values())
    merged = merge_window(duration_rows(histograms), **at)
    verdict = RunVerdict.NOT_JUDGED if rate_tps is None else judge_run(seen, objective)
    if machines is not None:
        measured = inside(intervals, recording.outcome.window)
        machine = _machine(recording, measured, counts, merged.get("service"))
        machines |= {} if machine is None else {trial.trial_id: machine}
    ramp, knee_tps = trial.ramp, None
    if ramp is not None:
        knee = knee_at(ended.ended, ended.over, waiting)
        knee_tps = None if knee is None else ramp.rate_tps(knee * trial.interval_s)
    return CapacityRun(
        trial_id=trial.trial_id,
        role=role,
        connections=trial.level.connections,
        rate_tps=rate_tps,
        throughput_tps=counts.throughput_tps,
        response_ms_p99=durations(merged.get("response")).p99,
        over_ratio=seen.over_ratio,
        errors_ratio=seen.errors_ratio,
        duration_s=trial.duration_s or counts.duration_s,
        verdict=RunVerdict.DOES_NOT_HOLD if lag_grows and rate_tps is not None else verdict,
        lag_grows=lag_grows,
        knee_tps=knee_tps,
        pair=None if ramp is None else pair,
    )


def _machine(
    recording: RecordingLike, measured: pl.DataFrame, counts: WindowCounts, service: SparseHistogram | None
) -> MachineSeconds | None:
    samples = samples_of(recording.telemetry(), measured, recording.outcome.account)
    return machine_seconds(recording, samples, measured, counts, service)


def mark_disturbed(runs: Sequence[CapacityRun], machines: Mapping[str, MachineSeconds]) -> list[CapacityRun]:
    """The runs, each with whether it was disturbed, against all of which it is known what the machine did.

    Args:
        runs: Of a search; those that `machines` does not name stay as they are.
        machines: What the machine did in runs that are compared with each other, by trial id.
    """
    return marked(runs, dict(zip(machines, judged(list(machines.values())), strict=True)))


def marked(runs: Iterable[CapacityRun], met: Mapping[str, Disturbance | None]) -> list[CapacityRun]:
    """The runs, each with whether it was disturbed.

    Args:
        runs: Of a search. Ramps, which are compared in pairs, stay as they are.
        met: What runs met, by trial id; those that it does not name stay as they are.
    """
    return [
        run.model_copy(update={"is_disturbed": is_disturbed(met[run.trial_id])})
        if run.trial_id in met and run.pair is None
        else run
        for run in runs
    ]


_Pair = TypeVar("_Pair", int, tuple[int, int])

WINDOW, WINDOW_MOST = 10, 30
"""Intervals of a ramp that are judged together; more of them where fewer than `WINDOW_ARRIVALS` ended in them. In a
shorter window a stall of a fifth of a second, and the late answers after it, would pass for the knee."""

WINDOW_ARRIVALS = 20

PAIRS_LEAST = 6
"""Fewer pairs decide nothing: their median deviation may be far too small."""

_LATE_RATIO = 0.5
_CLEARLY_UNLIKE = 2.0
"""Standard errors by which the slowness of the sides must differ."""

_SPREADS = 1.5
_NORMAL_MAD = 1.4826
"""Standard deviations of a normal distribution in its median absolute deviation."""

_METHOD = "t mixture over winsorised pairs of ramps, and what starts of a server are taken to differ by"


def knee_at(ended: Series, late: Series, waiting: Series) -> float | None:
    """Since when answers have been late in the first window of intervals in which most are; None where there is none.

    Args:
        ended: Arrivals that ended in each interval, shape (intervals,).
        late: Those of them that took longer than the limit, failed or were dropped, shape (intervals,).
        waiting: Those that had waited for longer than the limit at its end, shape (intervals,).

    Returns:
        Intervals since the begin, with a fraction: so much of the window's end as its share of late answers.
    """
    all_ended, all_late = (np.concatenate(([0.0], np.cumsum(values))) for values in (ended, late))
    for last in range(WINDOW - 1, len(ended)):
        size = WINDOW
        while size < min(WINDOW_MOST, last + 1) and _since(all_ended, last, size) + waiting[last] < WINDOW_ARRIVALS:
            size += 1
        seen = _since(all_ended, last, size) + waiting[last]
        late_ratio = (_since(all_late, last, size) + waiting[last]) / seen if seen else 0.0
        if late_ratio >= _LATE_RATIO:
            return float(last + 1 - size * late_ratio)
    return None


def _since(sums: Series, last: int, size: int) -> float:
    return float(sums[last + 1] - sums[last + 1 - size])


def has_pairs(base: SystemCapacity, system: SystemCapacity) -> bool:
    """Whether ramps of the two ran in pairs."""
    return any(_rounds(base, system))


def _rounds(base: SystemCapacity, system: SystemCapacity) -> list[list[float]]:
    """The logarithms of the ratios of their knees, in each start of the servers."""
    return [
        log_ratios(search.capacity.ramps, other.capacity.ramps)
        for search in base.searches
        for other in system.searches
        if search.repetition == other.repetition
    ]


def ratio_of_ramps(
    base: SystemCapacity, system: SystemCapacity, *, alpha: float, equal_within: float = EQUAL_WITHIN
) -> CapacityRatio | None:
    """How the knees of two systems compare; None where there is no pair of ramps of both.

    Args:
        base: What is compared with.
        system: What is compared.
        alpha: 0.05 for one comparison; with m of them side by side 0.05 / m.
        equal_within: Share within which the two count as equal.
    """
    rounds = _rounds(base, system)
    values = [value for round_values in rounds for value in round_values]
    if not values:
        return None
    starts = sum(bool(round_values) for round_values in rounds)
    ratio = judged_pairs(values, alpha=alpha, starts=starts, equal_within=equal_within)
    names = {"workload": base.workload, "base": base.system, "system": system.system}
    return CapacityRatio(**ratio.as_fields, **names, pairs_count=len(values))


def log_ratios(base: Sequence[CapacityRun], system: Sequence[CapacityRun]) -> list[float]:
    """The logarithm of the ratio of the knees of each pair, in their order; a ramp without a knee has no pair."""
    of_base, of_system = (
        {run.pair: run.knee_tps for run in runs if run.knee_tps is not None} for runs in (base, system)
    )
    return [math.log(of_system[pair] / knee) for pair, knee in of_base.items() if pair in of_system]


def judged_pairs(
    values: Sequence[float], *, alpha: float, starts: int = 1, equal_within: float = EQUAL_WITHIN
) -> Ratio:
    """The ratio of two systems with its interval, which holds at every look, and what it decides.

    Args:
        values: Logarithms of the ratios of the pairs, in their order; at least one.
        alpha: The probability, 0..1, that the true ratio is outside at any look.
        starts: So many starts of the servers they are from.
        equal_within: Share within which the two count as equal.
    """
    interval = anytime_interval(_winsorised(values), alpha)
    if len(values) < PAIRS_LEAST or not math.isfinite(interval.half_width):
        plain = Estimate(value=math.exp(interval.mean), trial_count=len(values))
        return Ratio(ratio=plain, verdict=RatioVerdict.UNTESTABLE, equal_within=equal_within)
    from plimsoll.stats.special import ndtri

    between_starts = float(ndtri(1 - alpha / 4)) * STARTS_DIFFER * math.sqrt(2 / starts)
    wide = replace(interval, half_width=math.hypot(interval.half_width, between_starts))
    bounds = Bounds(
        low=math.exp(wide.low),
        high=math.exp(wide.high),
        basis=SpreadKind.REPETITIONS,
        degrees=len(values) - 1,
        method=_METHOD,
    )
    estimate = Estimate(value=math.exp(wide.mean), bounds=bounds, trial_count=len(values))
    return Ratio(ratio=estimate, verdict=verdict_of(wide, math.log1p(equal_within)), equal_within=equal_within)


def _winsorised(values: Sequence[float]) -> list[float]:
    """The values, none further from their median than `_SPREADS` times their median absolute deviation, scaled."""
    seen = np.asarray(values, dtype=float)
    middle = float(np.median(seen))
    most = _SPREADS * _NORMAL_MAD * float(np.median(np.abs(seen - middle)))
    return [float(value) for value in np.clip(seen, middle - most, middle + most)]


def unlike_sides(base: Mapping[_Pair, Disturbance], system: Mapping[_Pair, Disturbance]) -> UnlikeConditions | None:
    """What the ramps of two sides met, where it was not alike; None where it was, or is not known.

    Args:
        base: What each ramp of the one system met, by its pair.
        system: The same of the other one.
    """
    pairs = sorted(base.keys() & system.keys())
    if len(pairs) < 2:
        return None
    differ = np.array([math.log(system[pair].slowness / base[pair].slowness) for pair in pairs])
    error = float(differ.std(ddof=1)) / math.sqrt(differ.size)
    is_clear = abs(float(differ.mean())) > max(math.log(UNLIKE_RATIO), _CLEARLY_UNLIKE * error)
    of_base, of_system = together(base[pair] for pair in pairs), together(system[pair] for pair in pairs)
    if not is_clear or of_base is None or of_system is None:
        return None
    return UnlikeConditions(base=of_base, system=of_system)


STARTS_DIFFER = 0.03
"""Standard deviation of the logarithm of a server's speed between its starts, as it is taken to be."""


def ratio_of_single_searches(
    base: SystemCapacity, system: SystemCapacity, *, alpha: float, equal_within: float = EQUAL_WITHIN
) -> CapacityRatio | None:
    """The ratio of two capacities, one search each; None unless both searches have both limits.

    Args:
        base: What is compared with.
        system: What is compared.
        alpha: 0.05 for one comparison; with m of them side by side 0.05 / m.
        equal_within: Share within which the two count as equal.
    """
    from plimsoll.stats.special import ndtri

    of_base, of_system = _variance(base), _variance(system)
    if of_base is None or of_system is None:
        return None
    value = _capacity_tps(system) / _capacity_tps(base)
    half = float(ndtri(1 - alpha / 2)) * math.sqrt(of_base + of_system)
    bounds = Bounds(
        low=value * math.exp(-half),
        high=value * math.exp(half),
        basis=SpreadKind.WITHIN_RUN,
        degrees=None,
        method="intervals of one search each, and what starts of a server are taken to differ by",
    )
    return CapacityRatio(
        workload=base.workload,
        base=base.system,
        system=system.system,
        ratio=Estimate(value=value, bounds=bounds, trial_count=1),
        verdict=_verdict(bounds),
        equal_within=equal_within,
    )


def _verdict(bounds: Bounds) -> RatioVerdict:
    if bounds.low > 1:
        return RatioVerdict.FASTER
    return RatioVerdict.SLOWER if bounds.high < 1 else RatioVerdict.UNTESTABLE


def _variance(system_capacity: SystemCapacity) -> float | None:
    """Of the logarithm of a capacity; None where a limit of its search is not known."""
    if system_capacity.capacity_tps is None or system_capacity.low is None or system_capacity.high is None:
        return None
    from plimsoll.stats.special import stdtrit

    quantile = float(stdtrit(SEARCH_FREEDOM, (1 + LEVEL) / 2))
    widest = max(
        math.log(_capacity_tps(system_capacity) / system_capacity.low),
        math.log(system_capacity.high / _capacity_tps(system_capacity)),
    )
    return (widest / quantile) ** 2 + STARTS_DIFFER**2


def _capacity_tps(system_capacity: SystemCapacity) -> float:
    assert system_capacity.capacity_tps is not None, "checked by the caller"
    return system_capacity.capacity_tps.value
