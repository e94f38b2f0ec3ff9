"""Ramps: the knee of each, and how the knees of two systems compare in pairs of ramps.

A ramp's rate rises until most answers are late (`knee_at`). That rate is no capacity at an objective: the queue needs
about half a second to grow, and the rate goes on rising meanwhile. It is about a seventh above what the server can do,
and equally so for systems that are compared, so that the ratio of two knees is that of two capacities.

The ramps of a pair ran next to each other in random order, all of them alike and none after another's result, so that
whatever else the machine did meets either side with the same chance. The logarithms of the ratios of equal systems are
then symmetric about 0, with heavy tails: a ramp in a slow minute has a knee that is far off. So each counts at most as
`_SPREADS` times their usual spread away from their median (winsorised; Tukey and McLaughlin 1963), and the interval
of `sequential` of these holds at every look. What starts of a server differ by (`single_searches.STARTS_DIFFER`) is
added to it as independent errors are, with half of the error probability, since it is there at all looks.

A machine that is busier beside one of the systems is not symmetric. So there is no verdict while the slowness of the
ramps, as `disturbance` finds it, differs between the sides in the mean over the pairs.

Winsorising follows the values that are judged, so that no theorem covers the interval: `tests/truth/test_ramps.py`
counts how often equal systems are told apart, and how often a planted difference is found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.cell_model import EQUAL_WITHIN, Bounds, Estimate, SpreadKind
from plimsoll.analyse.conditions import without_verdict
from plimsoll.analyse.disturbance import UNLIKE_RATIO, together
from plimsoll.analyse.disturbance_model import Disturbance, UnlikeConditions
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.sequential import anytime_interval
from plimsoll.analyse.sequential_verdicts import verdict_of
from plimsoll.analyse.single_searches import STARTS_DIFFER
from plimsoll.analyse.within_run import Series
from plimsoll.record.capacity import CapacityRun

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
        log_ratios(one.capacity.ramps, other.capacity.ramps)
        for one in base.searches
        for other in system.searches
        if one.repetition == other.repetition
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
    values = [value for one in rounds for value in one]
    if not values:
        return None
    starts = sum(bool(one) for one in rounds)
    ratio, verdict = judged_pairs(values, alpha=alpha, starts=starts, equal_within=equal_within)
    names = {"workload": base.workload, "base": base.system, "system": system.system}
    return CapacityRatio(**names, ratio=ratio, verdict=verdict.value, pairs_count=len(values))


def log_ratios(base: Sequence[CapacityRun], system: Sequence[CapacityRun]) -> list[float]:
    """The logarithm of the ratio of the knees of each pair, in their order; a ramp without a knee has no pair."""
    of_base, of_system = (
        {run.pair: run.knee_tps for run in runs if run.knee_tps is not None} for runs in (base, system)
    )
    return [math.log(of_system[pair] / knee) for pair, knee in of_base.items() if pair in of_system]


def judged_pairs(
    values: Sequence[float], *, alpha: float, starts: int = 1, equal_within: float = EQUAL_WITHIN
) -> tuple[Estimate, DifferenceVerdict]:
    """The ratio of two systems with its interval, which holds at every look, and what it decides.

    Args:
        values: Logarithms of the ratios of the pairs, in their order; at least one.
        alpha: The probability, 0..1, that the true ratio is outside at any look.
        starts: So many starts of the servers they are from.
        equal_within: Share within which the two count as equal.
    """
    found = anytime_interval(_winsorised(values), alpha)
    if len(values) < PAIRS_LEAST or not math.isfinite(found.half_width):
        return Estimate(value=math.exp(found.mean), trial_count=len(values)), DifferenceVerdict.UNTESTABLE
    from scipy.special import ndtri

    between_starts = float(ndtri(1 - alpha / 4)) * STARTS_DIFFER * math.sqrt(2 / starts)
    wide = replace(found, half_width=math.hypot(found.half_width, between_starts))
    bounds = Bounds(
        low=math.exp(wide.low),
        high=math.exp(wide.high),
        basis=SpreadKind.REPETITIONS,
        degrees=len(values) - 1,
        method=_METHOD,
    )
    estimate = Estimate(value=math.exp(wide.mean), bounds=bounds, trial_count=len(values))
    return estimate, verdict_of(wide, math.log1p(equal_within))


def _winsorised(values: Sequence[float]) -> list[float]:
    """The values, none further from their median than `_SPREADS` times their median absolute deviation, scaled."""
    seen = np.asarray(values, dtype=float)
    middle = float(np.median(seen))
    most = _SPREADS * _NORMAL_MAD * float(np.median(np.abs(seen - middle)))
    return [float(one) for one in np.clip(seen, middle - most, middle + most)]


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


def withheld(one: CapacityRatio, conditions: UnlikeConditions | None) -> CapacityRatio:
    """The ratio, without a verdict where its sides met unlike conditions."""
    return one if conditions is None else one.model_copy(update=without_verdict(one.ratio, conditions))
