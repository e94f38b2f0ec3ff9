"""At which rate the share of arrivals over an objective crosses what is allowed, from all runs of a search.

Model: the share over rises with the logarithm of the rate along a complementary log-log curve: below saturation its
logarithm is a straight line, as the tail of a queue's waiting time is (exponential in 1 - utilisation; Kingman 1962),
and above it nearly all arrivals are over. Two figures describe it: the rate at which the share is what is allowed, and
the slope there. Shares above `SATURATED` only say that the rate is above.

Violations come in bursts, and runs at one rate differ: the deviance of the runs from the curve, for each degree of
freedom, is how much more they vary than single arrivals would (quasi-likelihood; McCullagh and Nelder 1989, chapter 9).
It is never less than what arrives while a queue of the objective's length drains. Runs of the approach lie far from the
crossing and fit any curve, so they add no degree of freedom. Slopes are drawn towards those that queues have.

The interval is that of the profile deviance (F, 1 and n - 2 degrees of freedom). Its level, `LEVEL`, is higher than the
95 % that it is told as: shares are far from normal, and in `tests/truth/test_capacity.py` this is what holds the truth
in 95 of 100 searches. Where a run was far over at a rate that is clearly below one that held, the machine or the server
was another one meanwhile: what was over then says nothing about a rate, and there is no upper limit.

Everything is computed on a grid, so that the same runs always give the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.violations import least_burst
from plimsoll.record.capacity import P99_ALLOWED_RATIO, CapacityObjective, CapacityRun, RunRole, held_between

SATURATED = 0.3
"""A share over from which on a rate is only known to be above."""

LEVEL = 0.99
"""Of the profile deviance, for an interval that is told as one of 95 %."""

SEARCH_FREEDOM = 10
"""Degrees of freedom of a whole search: its twelve steady runs less the two figures of the curve."""

LEAST_VARIANCE = 0.006**2
"""Of the logarithm of one answer: searches of a made-up server that is always equally fast differ by so much."""

_SLOPES = np.exp(np.linspace(math.log(8.0), math.log(300.0), 25))
_USUAL_SLOPE, _SLOPE_SPREAD = 60.0, 0.4
"""Median and spread of the logarithm: slopes of made-up queues with noise of 1 to 10 % lie between 25 and 150."""

_STEP = 0.001
_BEYOND = 0.12
"""Rates of the grid: ratios of 0.1 %, and so far beyond the lowest and the highest run, on the scale of logarithms."""

_FAR_OVER = 20.0
_CLEARLY_BELOW = 0.03
"""Runs with so many times as much over as is allowed, at rates lower by so much than one that held, contradict it."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where the objective is crossed.

    Attributes:
        tps: The rate, transactions per second.
        low: Lower end of its interval; None where the runs do not say.
        high: Upper end.
        slope: By how much the logarithm of the share rises for one of the rate.
    """

    tps: float
    low: float | None
    high: float | None
    slope: float


def times_allowed(run: CapacityRun, objective: CapacityObjective) -> float:
    """How many times as much as is allowed was over the objective in a run: at most 1 where it held, by its shares."""
    over = run.counted_over_ratio / P99_ALLOWED_RATIO
    if objective.errors_ratio is None or run.errors_ratio <= objective.errors_ratio:
        return over
    return max(over, run.errors_ratio / objective.errors_ratio if objective.errors_ratio else math.inf)


def contradict(runs: Sequence[CapacityRun], objective: CapacityObjective) -> bool:
    """Whether a run was far over at a rate that is clearly below one that held."""
    held, _ = held_between(runs, objective)
    far_over = [run.rate_tps or 0.0 for run in runs if times_allowed(run, objective) > _FAR_OVER]
    return min(far_over, default=math.inf) * (1 + _CLEARLY_BELOW) < held


def crossing(runs: Sequence[CapacityRun], objective: CapacityObjective) -> Crossing:
    """The rate at which just as much is over as is allowed.

    Args:
        runs: At rates; at least one.
        objective: What must hold.
    """
    from scipy.special import fdtri, stdtrit

    rate = np.log([run.rate_tps or 1.0 for run in runs])
    count = np.array([(run.rate_tps or 1.0) * run.duration_s for run in runs])
    over = np.minimum([times_allowed(run, objective) * P99_ALLOWED_RATIO for run in runs], SATURATED)
    grid = np.arange(rate.min() - _BEYOND, rate.max() + _BEYOND, _STEP)
    edge = math.log(-math.log1p(-P99_ALLOWED_RATIO))
    predictor = edge + _SLOPES[None, :, None] * (rate - grid[:, None, None])
    share = np.clip(-np.expm1(-np.exp(np.clip(predictor, -25.0, 2.0))), 1e-9, SATURATED)
    some = np.where(over > 0, over, 1.0)
    each = over * np.log(some / share) + (1 - over) * np.log((1 - over) / (1 - share))
    deviance = 2 * (count * each).sum(axis=-1)

    prior = ((np.log(_SLOPES) - math.log(_USUAL_SLOPE)) / _SLOPE_SPREAD) ** 2
    freedom = max(sum(run.role is RunRole.STEADY for run in runs) - 2, 1)
    dispersion = usual = max(least_burst(max(run.throughput_tps for run in runs), objective), 1.0)
    for _ in range(3):  # the prior weighs as much as the runs vary, and what they vary depends on the slope
        penalised = deviance + dispersion * prior
        best, slope = np.unravel_index(int(penalised.argmin()), penalised.shape)
        dispersion = max(usual, float(deviance[best, slope]) / freedom)
    profile = penalised.min(axis=1)
    inside = np.flatnonzero(profile - profile.min() <= dispersion * fdtri(1, freedom, LEVEL))
    middle = np.flatnonzero(profile - profile.min() <= 0.02 * dispersion)  # flat where all runs are on one side
    has_high = inside[-1] < len(grid) - 1 and not contradict(runs, objective)
    answer, least = float(grid[middle].mean()), float(stdtrit(freedom, 0.975)) * math.sqrt(LEAST_VARIANCE)
    return Crossing(
        tps=math.exp(answer),
        low=math.exp(min(grid[inside[0]], answer - least)) if inside[0] > 0 else None,
        high=math.exp(max(grid[inside[-1]], answer + least)) if has_high else None,
        slope=float(_SLOPES[slope]),
    )
