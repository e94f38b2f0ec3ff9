"""When a running trial has been measured for long enough: its mean is known well, and no cycle is cut.

The half width of the 95 % confidence interval of the mean (`within_run`) has to be at most the target, after a minute
or more. Throughput has to hold two whole cycles or more and end with a whole one. What InnoDB puts off (checkpoint age,
dirty pages, history list length) shows cycles before throughput does: a minute without a checkpoint looks calm. So the
mean of each of them has to be known as well, to `INNODB_RATIO`, which it is not while it rises or falls, or the window
holds two whole cycles of it. The window then ends with a whole one of the longest of them: throughput follows it, and
its period is seen more sharply.

To look again and again and to stop at the first narrow interval makes intervals of the run alone a little too narrow;
what repetitions differ by, which the guide's intervals rest on, is not touched by it.

Sources: fixed-width sequential intervals (Chow and Robbins 1965; Glynn and Whitt 1992).
Deliberately not here: limits of time and budget (`plimsoll.run`).
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.analyse.cycles import CYCLES_NEEDED, cycle_of, period_of_likeness
from plimsoll.analyse.innodb_state import matters
from plimsoll.analyse.steady import INNODB_RATIO
from plimsoll.analyse.within_run import Series, variance_of_mean

INTERVALS_LEAST = 60
"""An interval that is narrow after less than this may be so by luck, and a cycle has not shown yet."""


def half_width_ratio(rates: Series) -> float | None:
    """Half the width of the 95 % interval of the mean, over the mean; None while there are too few intervals."""
    variance, mean = variance_of_mean(rates), float(rates.mean()) if rates.size else 0.0
    return None if variance is None or mean == 0.0 else variance.half_width() / mean


def is_long_enough(rates: Series, target_ratio: float, innodb: Mapping[str, Series] | None = None) -> bool:
    """Whether measuring may end after these intervals.

    Args:
        rates: Throughput of each interval measured so far.
        target_ratio: Half width of the 95 % confidence interval over the mean that is wanted.
        innodb: By status variable, InnoDB's state in these intervals, or in the last of them; None where it is unknown.
    """
    if rates.size < INTERVALS_LEAST or not _is_known(rates, target_ratio):
        return False
    periods = []
    for name, series in (innodb or {}).items():
        if not matters(name, series):
            continue
        period = _innodb_period(series)
        if period is None and not _is_known(series, INNODB_RATIO):
            return False
        periods += [] if period is None else [period]
    if (cycle := cycle_of(rates)) is not None and rates.size < CYCLES_NEEDED * cycle.period:
        return False
    longest = max(periods, default=None if cycle is None else cycle.period)
    return longest is None or _is_whole(rates.size, longest)


def _is_known(series: Series, target_ratio: float) -> bool:
    width = half_width_ratio(series)
    return width is not None and width <= target_ratio


def _innodb_period(series: Series) -> float | None:
    cycle = cycle_of(series)
    return None if cycle is None or cycle.swing_ratio < INNODB_RATIO else period_of_likeness(series, cycle.period)


def _is_whole(size: int, period: float) -> bool:
    """Whether a window is some whole cycles, and enough of them."""
    whole = int(size / period)
    return whole >= CYCLES_NEEDED and size - whole * period < 1
