"""When a running trial has been measured for long enough: its mean is known well, and no cycle is cut.

The half width of the 95 % confidence interval of the mean (`within_run`) has to be at most the target, after a minute
or more, and the window has to hold two whole cycles or more and end with a whole one. To look again and again and to
stop at the first narrow interval makes intervals of the run alone a little too narrow; what repetitions differ by,
which the guide's intervals rest on, is not touched by it.

Sources: fixed-width sequential intervals (Chow and Robbins 1965; Glynn and Whitt 1992).
Deliberately not here: limits of time and budget (`plimsoll.run`).
"""

from __future__ import annotations

from plimsoll.analyse.cycles import CYCLES_NEEDED, cycle_of
from plimsoll.analyse.within_run import Series, variance_of_mean

INTERVALS_LEAST = 60
"""An interval that is narrow after less than this may be so by luck, and a cycle has not shown yet."""


def half_width_ratio(rates: Series) -> float | None:
    """Half the width of the 95 % interval of the mean, over the mean; None while there are too few intervals."""
    variance, mean = variance_of_mean(rates), float(rates.mean()) if rates.size else 0.0
    return None if variance is None or mean == 0.0 else variance.half_width() / mean


def is_long_enough(rates: Series, target_ratio: float) -> bool:
    """Whether measuring may end after these intervals.

    Args:
        rates: Throughput of each interval measured so far.
        target_ratio: Half width of the 95 % confidence interval over the mean that is wanted.
    """
    width = half_width_ratio(rates)
    if rates.size < INTERVALS_LEAST or width is None or width > target_ratio:
        return False
    cycle = cycle_of(rates)
    if cycle is None:
        return True
    whole = int(rates.size / cycle.period)
    return whole >= CYCLES_NEEDED and rates.size - whole * cycle.period < 1
