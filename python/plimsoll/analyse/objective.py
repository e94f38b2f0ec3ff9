"""Whether a response-time objective is met at a point of a curve.

Failed, dropped and unfinished transactions count as over the objective: with more than 1 % of them, 99 % cannot be
within it. With fewer, the percentile decides, which is a little too kind where some failed. Unknown response times meet
nothing, and neither does a percentile that is known to be at least so much, and perhaps more. Where only the
percentiles of single runs are known, that of all runs together lies between the lowest and the highest: an objective
outside of them is decided.
"""

from __future__ import annotations

from plimsoll.analyse.points import Point
from plimsoll.analyse.prose import ms_span
from plimsoll.analyse.size_model import Fit
from plimsoll.units import format_ms, format_percent

ALLOWED_FAILED_RATIO = 0.01
"""More of the transactions that failed, were dropped or never ended, and 99 % of them cannot be within anything."""


def judge_objective(point: Point, response_p99_ms: float | None) -> tuple[Fit, str]:
    """Whether the response-time objective is met at a point, and what is wrong when it is not."""
    if response_p99_ms is None:
        return Fit.FITS, ""
    objective = format_ms(response_p99_ms)
    if point.failed_ratio > ALLOWED_FAILED_RATIO:
        lost = format_percent(point.failed_ratio)
        what = "failed, were dropped or never ended" if point.has_unfinished else "failed or were dropped"
        return Fit.DOES_NOT_FIT, f"{lost} of its transactions {what}, which counts as over {objective}"
    known_ms = point.single_runs_ms if point.response_p99_ms is None else (point.response_p99_ms,)
    if not known_ms:
        return Fit.UNDECIDED, f"its response times are unknown, so it cannot be said to keep 99 % within {objective}"
    return _judge_times(known_ms, response_p99_ms, is_lower_bound=point.is_lower_bound)


def _judge_times(known_ms: tuple[float, ...], response_p99_ms: float, *, is_lower_bound: bool) -> tuple[Fit, str]:
    objective = format_ms(response_p99_ms)
    slowest = f"the slowest 1 % of transactions take at least {ms_span(known_ms)}"
    took = f"99 % of transactions take up to {ms_span(known_ms)}"
    if min(known_ms) > response_p99_ms:
        return Fit.DOES_NOT_FIT, f"{slowest if is_lower_bound else took} there, over the objective of {objective}"
    if is_lower_bound:
        some = f"some transactions had not ended when the measurement did: {slowest}"
        return Fit.UNDECIDED, f"{some}, and whether they keep to {objective} is unknown"
    if max(known_ms) <= response_p99_ms:
        return Fit.FITS, ""
    some = f"{took} there in single runs, some within the objective of {objective}"
    return Fit.UNDECIDED, f"{some} and some over it"
