"""Whether a response-time objective is met at a point of a curve.

Where the lag of a replica grows, nothing is sustained, and no objective is met.

Failed, dropped and unfinished transactions count as over the objective: with more than 1 % of them, 99 % cannot be
within it. With fewer, the percentile decides, which is a little too kind where some failed. Unknown response times meet
nothing, and neither does a percentile that is known to be at least so much, and perhaps more. Where only the
percentiles of single runs are known, that of all runs together lies between the lowest and the highest: an objective
outside of them is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plimsoll.analyse.points import Point
from plimsoll.analyse.size_model import Fit

ALLOWED_FAILED_RATIO = 0.01
"""More of the transactions that failed, were dropped or never ended, and 99 % of them cannot be within anything."""


class Fault(StrEnum):
    """Why an objective is not known to be met."""

    LAG_GROWS = "lag-grows"
    FAILED = "failed"
    TIMES_UNKNOWN = "times-unknown"
    TOO_SLOW = "too-slow"
    UNFINISHED = "unfinished"
    SINGLE_RUNS = "single-runs"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether an objective is met.

    Attributes:
        fault: None when it is.
        times_ms: The 99th percentile, or those of single runs, that decided.
    """

    fit: Fit
    fault: Fault | None = None
    times_ms: tuple[float, ...] = ()


def judge_objective(point: Point, response_p99_ms: float | None) -> Judgement:
    """Whether the response-time objective is met at a point; without one it is, unless a replica's lag grows."""
    if point.lag_grows:
        return Judgement(Fit.DOES_NOT_FIT, Fault.LAG_GROWS)
    if response_p99_ms is None:
        return Judgement(Fit.FITS)
    if point.failed_ratio > ALLOWED_FAILED_RATIO:
        return Judgement(Fit.DOES_NOT_FIT, Fault.FAILED)
    known_ms = point.single_runs_ms if point.response_p99_ms is None else (point.response_p99_ms,)
    return _judge_times(point, known_ms, response_p99_ms)


def _judge_times(point: Point, known_ms: tuple[float, ...], response_p99_ms: float) -> Judgement:
    if not known_ms:
        return Judgement(Fit.UNDECIDED, Fault.TIMES_UNKNOWN)
    if min(known_ms) > response_p99_ms:
        return Judgement(Fit.DOES_NOT_FIT, Fault.TOO_SLOW, known_ms)
    if point.is_lower_bound:
        return Judgement(Fit.UNDECIDED, Fault.UNFINISHED, known_ms)
    if max(known_ms) <= response_p99_ms:
        return Judgement(Fit.FITS, None, known_ms)
    return Judgement(Fit.UNDECIDED, Fault.SINGLE_RUNS, known_ms)
