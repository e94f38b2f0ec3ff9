"""Whether a response-time objective is met at a point of a curve.

Failed and dropped transactions count as over the objective: with more than 1 % of them, 99 % cannot be within it. With
fewer, the percentile of those that completed decides, which is a little too kind. Unknown response times meet nothing.
Where only the percentiles of single runs are known, that of all runs together lies between the lowest and the highest:
an objective outside of them is decided.
"""

from __future__ import annotations

from plimsoll.analyse.points import Point
from plimsoll.analyse.prose import ms_span
from plimsoll.analyse.size_model import Fit
from plimsoll.units import format_ms, format_percent

ALLOWED_FAILED_RATIO = 0.01
"""More of the transactions that failed or were dropped, and 99 % of them cannot be within anything."""


def judge_objective(point: Point, response_p99_ms: float | None) -> tuple[Fit, str]:
    """Whether the response-time objective is met at a point, and what is wrong when it is not."""
    if response_p99_ms is None:
        return Fit.FITS, ""
    objective = format_ms(response_p99_ms)
    if point.failed_ratio > ALLOWED_FAILED_RATIO:
        lost = format_percent(point.failed_ratio)
        return Fit.DOES_NOT_FIT, f"{lost} of its transactions failed or were dropped, which counts as over {objective}"
    known_ms = point.single_runs_ms if point.response_p99_ms is None else (point.response_p99_ms,)
    if not known_ms:
        return Fit.UNDECIDED, f"its response times are unknown, so it cannot be said to keep 99 % within {objective}"
    if max(known_ms) <= response_p99_ms:
        return Fit.FITS, ""
    found = f"99 % of transactions take up to {ms_span(known_ms)} there"
    if min(known_ms) > response_p99_ms:
        return Fit.DOES_NOT_FIT, f"{found}, over the objective of {objective}"
    return Fit.UNDECIDED, f"{found} in single runs, some within the objective of {objective} and some over it"
