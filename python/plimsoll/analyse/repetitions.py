"""Repetitions that are far below their siblings: the same system, workload and level, measured again.

A repetition is far below when it completed less than 70 % of the median of its siblings, and

* chance does not explain it: with independent transactions at the siblings' rate so few would complete in fewer than 1
  of 1,000 studies (Poisson, over all repetitions of the study);
* repetitions of this workload do not usually differ as much: on the scale of natural logarithms it is more than five
  usual spreads below. The spread is the median difference between two repetitions of a cell over 0.954, which is the
  standard deviation of a normal distribution; the repetition in question is left out. Unlike a standard deviation it
  hardly changes when a few repetitions are outliers.

Source: differences of pairs in place of deviations from a centre, Rousseeuw and Croux 1993.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from plimsoll.analyse.chance import chance_of_at_most
from plimsoll.analyse.doubts import Code, Doubt, place_of
from plimsoll.analyse.trial_summary import TrialSummary

_FAR_RATIO = 0.7
_CHANCE = 0.001
_SPREADS = 5.0
_PAIR_TO_DEVIATION = 0.954

_Cells = list[list[TrialSummary]]


def check_repetitions(trials: Sequence[TrialSummary]) -> Iterator[Doubt]:
    """A doubt for each repetition that is far below the others of its cell."""
    yield from (_doubt(one, siblings_tps) for one, siblings_tps in _lagging(trials))


def lagging_trials(trials: Sequence[TrialSummary]) -> frozenset[str]:
    """The ids of those repetitions: they say nothing about how other cells vary."""
    return frozenset(one.trial.trial_id for one, _ in _lagging(trials))


def _lagging(trials: Sequence[TrialSummary]) -> Iterator[tuple[TrialSummary, float]]:
    """Each with the median of its siblings, transactions per second."""
    workloads: dict[str, dict[object, list[TrialSummary]]] = defaultdict(lambda: defaultdict(list))
    for one in trials:
        workloads[one.trial.workload.name][one.trial.system.name, one.trial.level.order].append(one)
    for cells in workloads.values():
        repeated = [cell for cell in cells.values() if len(cell) > 1]
        count = sum(map(len, repeated))
        for cell in repeated:
            for one in cell:
                siblings_tps = _median_tps([other for other in cell if other is not one])
                if _is_unlikely(one, siblings_tps, count) and _is_far_below(one, siblings_tps, repeated):
                    yield one, siblings_tps


def _is_unlikely(one: TrialSummary, siblings_tps: float, count: int) -> bool:
    if one.counts is None or not one.throughput_tps < _FAR_RATIO * siblings_tps:
        return False
    return chance_of_at_most(one.counts.completed, siblings_tps * one.counts.duration_s) < _CHANCE / count


def _is_far_below(one: TrialSummary, siblings_tps: float, cells: _Cells) -> bool:
    distance = math.inf if one.throughput_tps == 0 else math.log(siblings_tps / one.throughput_tps)
    return distance > _SPREADS * _usual_spread(cells, one)


def _usual_spread(cells: _Cells, besides: TrialSummary) -> float:
    """Of the logarithms of all repetitions but one; 0 where there are no others to tell it from."""
    differences = [
        abs(math.log(one.throughput_tps / other.throughput_tps))
        for cell in cells
        for one, other in combinations([one for one in cell if one is not besides and one.throughput_tps > 0], 2)
    ]
    return float(np.median(differences)) / _PAIR_TO_DEVIATION if differences else 0.0


def _median_tps(trials: Sequence[TrialSummary]) -> float:
    return float(np.median([one.throughput_tps for one in trials]))


def _doubt(one: TrialSummary, siblings_tps: float) -> Doubt:
    trial = one.trial
    return place_of(trial).doubt(
        Code.REPETITION_LAGS,
        "repetition-lags",
        1 - one.throughput_tps / siblings_tps,
        rate_unit=trial.workload.rate_unit,
        repetition=trial.repetition,
        throughput_tps=one.throughput_tps,
        others_tps_median=siblings_tps,
    )
