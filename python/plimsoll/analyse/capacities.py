"""The capacities of systems from their searches: over repetitions, and compared.

The unit is the search: one capacity for each repetition, on a scale of logarithms. Two searches that agree to the digit
do so by chance: even on a made-up server that is always equally fast answers of searches differ by 0.6 % (standard
deviation), which is the least that repetitions are taken to vary by.

Deliberately not here: how one search is made (`plimsoll.plan.capacity`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.cell_model import EQUAL_WITHIN, Estimate, SpreadKind
from plimsoll.analyse.comparison import compare_repetitions, repetition_ratio
from plimsoll.analyse.crossing import LEAST_VARIANCE
from plimsoll.analyse.log_ratio import ALPHA, LogRatio
from plimsoll.analyse.prediction import next_at_least
from plimsoll.analyse.ramps import has_pairs, ratio_of_ramps
from plimsoll.analyse.single_searches import ratio_of_single_searches
from plimsoll.analyse.throughput import log_bounds
from plimsoll.analyse.within_run import MeanVariance
from plimsoll.record.capacity import SearchRecord


def capacities(searches: Iterable[SearchRecord]) -> tuple[SystemCapacity, ...]:
    """The capacity of each system under each workload, in the order in which they were searched first.

    Args:
        searches: Those of a folder; unfinished ones count in no figure.
    """
    groups: dict[tuple[object, ...], list[SearchRecord]] = {}
    for one in searches:
        groups.setdefault((one.system, one.workload, one.capacity.objective.model_dump_json()), []).append(one)
    return tuple(_capacity(found) for found in groups.values())


def _capacity(searches: Sequence[SearchRecord]) -> SystemCapacity:
    finished = [one.capacity for one in searches if one.is_finished]
    known = [one.capacity_tps for one in finished if one.capacity_tps is not None]
    lows = [one.low for one in finished if one.low is not None]
    highs = [one.high for one in finished if one.high is not None]
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


def capacity_ratios(found: Sequence[SystemCapacity], workloads_count: int = 1) -> tuple[CapacityRatio, ...]:
    """Every two systems under the same workload and objective; corrected for how many there are (Bonferroni).

    Args:
        found: The capacities of a study.
        workloads_count: Of how many workloads there will be such ratios in the end, where `found` is of one of them.
    """
    pairs = list(_pairs(found))
    alpha = ALPHA / max(len(pairs) * workloads_count, 1)
    return tuple(
        ratio_of_ramps(base, system, alpha=alpha) or capacity_ratio(base, system, alpha=alpha) for base, system in pairs
    )


def _pairs(found: Sequence[SystemCapacity]) -> Iterator[tuple[SystemCapacity, SystemCapacity]]:
    for base, system in combinations(found, 2):
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
    if len(of_base) == len(of_system) == 1 and (single := ratio_of_single_searches(base, system, alpha=alpha)):
        return single
    compared = compare_repetitions(
        of_base, of_system, paired=in_pairs, alpha=alpha, equal_within=equal_within, least_variance=LEAST_VARIANCE
    )
    return CapacityRatio(
        workload=base.workload,
        base=base.system,
        system=system.system,
        ratio=compared.ratio,
        verdict=compared.verdict.value,
        repetitions_needed=compared.repetitions_needed,
    )


def capacity_log_ratio(base: SystemCapacity, system: SystemCapacity, *, paired: bool = True) -> LogRatio | None:
    """What `capacity_ratio` judges; None where it is unknown how searches vary."""
    of_base, of_system, in_pairs = _values(base, system, paired)
    return repetition_ratio(of_base, of_system, paired=in_pairs, least_variance=LEAST_VARIANCE)


def _values(base: SystemCapacity, system: SystemCapacity, paired: bool) -> tuple[list[float], list[float], bool]:
    """Capacities of both, and whether equal places belong together: only where both have the same repetitions."""
    of_base, of_system = capacities_by_repetition(base), capacities_by_repetition(system)
    both = sorted(of_base.keys() & of_system.keys())
    if paired and len(both) == len(of_base) == len(of_system):
        return [of_base[one] for one in both], [of_system[one] for one in both], True
    return list(of_base.values()), list(of_system.values()), False


def capacities_by_repetition(one: SystemCapacity) -> dict[int, float]:
    """What each finished search of a system found, by its repetition, transactions per second.

    Searches without a study have no number of their own: they are counted in their order.
    """
    numbers = [search.repetition for search in one.searches]
    is_numbered = len(set(numbers)) == len(numbers)
    return {
        number: search.capacity.capacity_tps
        for number, search in zip(numbers if is_numbered else range(len(numbers)), one.searches, strict=True)
        if search.is_finished and search.capacity.capacity_tps is not None
    }


def deciding_runs(found: Iterable[SystemCapacity]) -> frozenset[str]:
    """The longer runs at each answer or below: of a search's runs only these are as the guide's other trials."""
    return frozenset(run.trial_id for one in found for search in one.searches for run in search.capacity.deciding)
