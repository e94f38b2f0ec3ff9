"""Whether a capacity objective held in one run, and at which rate it ceases to hold, from all runs of a search.

A run holds, does not hold, or is undecided; the rate is that at which the share of arrivals over the objective crosses
what is allowed.

Unit: a second of the run. Of n_i arrivals that ended in second i, o_i were over the objective: answered too late,
failed, dropped, or still waiting at the end for longer than the objective. The objective holds when the share of all
arrivals over it is at most p (1 % for a 99th percentile), that is when the mean of d_i = o_i - p * n_i is at most 0.

Violations come in bursts (a checkpoint, a queue that drains), so the binomial error of their number is much too small.
The number of violations is taken as the sum of Poisson-distributed bursts of exponential size, approximated by a gamma
distribution: where the share is exactly p, its mean is p * n and its variance p * n * D. D, the dispersion (McCullagh
and Nelder 1989, section 6.2.3), is the variance of the sum of o_i less its share of n_i over the number of violations;
that variance is of `stats.variance` (effective sample size and overlapping batch means, the wider of the two), as a
ratio estimator's (Cochran 1977, section 2.11). D is never less than what arrives within the objective's response time:
a server that is so far behind needs about as long to catch up, and who arrives meanwhile waits too long as well. Of
that at most 60 ms count, so that a run of 30 s in which nothing is over the objective holds. The objective does not
hold where so many violations, or more, have a chance of at most 1 - `CERTAIN`; it holds where so few have. What lies
between is undecided, and a longer run may decide it.

"Does not hold" is wrong about as seldom as it says. "Holds" is only as sure as what the run shows: a run in which no
slow stretch fell tells nothing about how long and frequent they are, and at the very edge of the objective such a run
holds. `tests/truth/test_capacity.py` has both figures. A search therefore trusts no single run (`plan.capacity`).

Errors have a limit of their own and are too rare for a test of "less than 0.1 %" in a run of usual length: their share
itself must be within the limit; only being over it is tested.

Assumption: the run is stationary within its window; a queue that grows all the time only makes it worse than judged.

Model: the share over rises with the logarithm of the rate along a complementary log-log curve: below saturation its
logarithm is a straight line, as the tail of a queue's waiting time is (exponential in 1 - utilisation; Kingman 1962),
and above it nearly all arrivals are over. Two figures describe it: the rate at which the share is what is allowed, and
the slope there. Shares above `SATURATED` only say that the rate is above.

Violations come in bursts, and runs at one rate differ: the deviance of the runs from the curve, for each degree of
freedom, is how much more they vary than single arrivals would (quasi-likelihood; McCullagh and Nelder 1989, chapter
9). It is never less than what arrives while a queue of the objective's length drains. Runs of the approach lie far
from the crossing and fit any curve, so they add no degree of freedom. Slopes are drawn towards those that queues have.

The interval is that of the profile deviance (F, 1 and n - 2 degrees of freedom). Its level, `LEVEL`, is higher than
the 95 % that it is told as: shares are far from normal, and in `tests/truth/test_capacity.py` this is what holds the
truth in 95 of 100 searches. Where a run was far over at a rate that is clearly below one that held, the machine or the
server was another one meanwhile: what was over then says nothing about a rate, and there is no upper limit.

Everything is computed on a grid, so that the same runs always give the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from plimsoll.record.capacity import (
    P99_ALLOWED_RATIO,
    CapacityObjective,
    CapacityRun,
    RunRole,
    RunVerdict,
    held_between,
)
from plimsoll.record.frames import IN_FLIGHT
from plimsoll.record.histograms import bucket_of_ns
from plimsoll.stats.variance import Series, variance_of_mean

CERTAIN = 0.99
"""One less the chance, one-sided, of what a run showed at the edge of the objective, where it has a verdict."""

_LEAST_BURST_MS = 60.0
"""Violations come at least in bursts of what arrives within so long, or within the objective's response time."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What became of the arrivals of one run, second by second.

    Attributes:
        ended: Arrivals that ended in each second, in any way, shape (seconds,).
        over: Those of them that were over the objective's response time, shape (seconds,).
        lost: Those of them that failed, were dropped, or waited in vain at the end, shape (seconds,).
    """

    ended: Series = field(repr=False)
    over: Series = field(repr=False)
    lost: Series = field(repr=False)

    @property
    def over_ratio(self) -> float:
        """Share over the objective, 0..1; 1 where nothing arrived."""
        return _ratio(self.over, self.ended)

    @property
    def errors_ratio(self) -> float:
        """Share of those that were lost, 0..1; 1 where nothing arrived."""
        return _ratio(self.lost, self.ended)


def judge_run(arrivals: Arrivals, objective: CapacityObjective) -> RunVerdict:
    """Whether the objective held; undecided where the run is too short to tell."""
    if arrivals.ended.sum() == 0:
        return RunVerdict.DOES_NOT_HOLD
    least = least_burst(float(arrivals.ended.mean()), objective)
    verdict = _judge_share(arrivals.over, arrivals.ended, P99_ALLOWED_RATIO, least_dispersion=least)
    if objective.errors_ratio is None or verdict is RunVerdict.DOES_NOT_HOLD:
        return verdict
    if arrivals.errors_ratio <= objective.errors_ratio:
        return verdict
    errors = _judge_share(arrivals.lost, arrivals.ended, objective.errors_ratio)
    return RunVerdict.DOES_NOT_HOLD if errors is RunVerdict.DOES_NOT_HOLD else RunVerdict.UNDECIDED


def least_burst(arrivals_tps: float, objective: CapacityObjective) -> float:
    """How many arrivals are over the objective together at least, where any is, at so many arrivals per second."""
    return arrivals_tps * min(objective.response_ms_p99, _LEAST_BURST_MS) / 1e3


def _judge_share(over: Series, ended: Series, allowed_ratio: float, *, least_dispersion: float = 1.0) -> RunVerdict:
    from plimsoll.stats.special import gammainc, gammaincc

    count = float(over.sum())
    dispersion = max(1.0, least_dispersion, _dispersion(over, ended))
    bursts = allowed_ratio * float(ended.sum()) / dispersion
    so_few = max(float(gammainc(bursts, count / dispersion)), math.exp(-bursts))  # no burst at all is no gamma variate
    if so_few <= 1 - CERTAIN:
        return RunVerdict.HOLDS
    so_many = float(gammaincc(bursts, count / dispersion))
    return RunVerdict.DOES_NOT_HOLD if so_many <= 1 - CERTAIN else RunVerdict.UNDECIDED


def _dispersion(over: Series, ended: Series) -> float:
    """Variance of the number of violations over that number; 0 where there are none, or too few seconds to see it."""
    variance = variance_of_mean(over - _ratio(over, ended) * ended)
    if variance is None or not over.any():
        return 0.0
    return over.size**2 * variance.variance / float(over.sum())


def arrivals_of(
    intervals: pl.DataFrame, histograms: pl.DataFrame, *, first: int, last: int, limit_ms: float
) -> Arrivals:
    """Counts the arrivals of a measured window: those that ended in it, and those that waited in vain at its end.

    Args:
        intervals: All of the trial (`frames.INTERVALS`).
        histograms: All of the trial (`frames.HISTOGRAMS`).
        first: The first interval of the window.
        last: The last one.
        limit_ms: The objective's response time, milliseconds.
    """
    ended = ended_of(intervals, histograms, first=first, last=last, limit_ms=limit_ms)
    return with_waiting(ended, late_in_flight(histograms, first=first, last=last, limit_ms=limit_ms))


def with_waiting(ended: Arrivals, waiting: Series) -> Arrivals:
    """What ended, with those that waited in vain at the end.

    Args:
        ended: From `ended_of`.
        waiting: From `late_in_flight`, of the same window.
    """
    in_vain = np.zeros_like(waiting)
    in_vain[-1] = waiting[-1]
    return Arrivals(ended.ended + in_vain, ended.over + in_vain, ended.lost + in_vain)


def ended_of(intervals: pl.DataFrame, histograms: pl.DataFrame, *, first: int, last: int, limit_ms: float) -> Arrivals:
    """Counts the arrivals that ended in a measured window. Arguments as of `arrivals_of`."""
    size = last - first + 1
    counted = intervals.filter(pl.col("interval").is_between(first, last))
    place = counted["interval"].to_numpy().astype(np.int64) - first
    ended, lost = np.zeros(size), np.zeros(size)
    failed = (counted["failed"] + counted["dropped"]).to_numpy().astype(np.float64)
    np.add.at(lost, place, failed)
    np.add.at(ended, place, counted["completed"].to_numpy().astype(np.float64) + failed)
    late = _late(histograms.filter(pl.col("interval").is_between(first, last)), "response", first, size, limit_ms)
    return Arrivals(ended, late + lost, lost)


def late_in_flight(histograms: pl.DataFrame, *, first: int, last: int, limit_ms: float) -> Series:
    """How many had waited for longer than the limit at the end of each interval of a window, shape (intervals,).

    Arguments as of `arrivals_of`.
    """
    within = histograms.filter(pl.col("interval").is_between(first, last))
    return _late(within, f"{IN_FLIGHT}response", first, last - first + 1, limit_ms)


def _late(rows: pl.DataFrame, measure: str, first: int, size: int, limit_ms: float) -> Series:
    """How many of one measure took longer than the limit, in each second."""
    late_counts = np.zeros(size)
    bucket = int(bucket_of_ns(np.array([round(limit_ms * 1e6)]))[0])
    measure_rows = rows.filter((pl.col("measure") == measure) & (pl.col("buckets").list.len() > 0))
    if measure_rows.is_empty():
        return late_counts
    lengths = measure_rows["buckets"].list.len().to_numpy()
    place = np.repeat(measure_rows["interval"].to_numpy().astype(np.int64) - first, lengths)
    is_late = measure_rows["buckets"].explode().to_numpy() > bucket
    np.add.at(late_counts, place[is_late], measure_rows["counts"].explode().to_numpy().astype(np.float64)[is_late])
    return late_counts


def _ratio(part: Series, whole: Series) -> float:
    total = float(whole.sum())
    return float(part.sum()) / total if total else 1.0


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
    from plimsoll.stats.special import fdtri, stdtrit

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
