"""When a trial is warm: throughput and the server's stocks no longer trend.

Method: the mean of the last `HALF` intervals is compared with that of the `HALF` before. They count as equal when they
differ by less than a tolerance or by less than twice the standard error of the difference, whichever is larger: noise
does not keep a trial warming for ever, and a slow rise of a calm series is still seen. A first, simple rule; the change
points of the whole series are judged after the trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

HALF = 5
"""Intervals in each of the two windows that are compared."""

THROUGHPUT_TOLERANCE = 0.03
STOCK_TOLERANCE = 0.10

STOCKS = (
    "innodb_buffer_pool_pages_dirty",
    "innodb_history_list_length",
    "innodb_checkpoint_age",
)
"""Status variables that a freshly settled server has to refill before it runs as it will go on running."""


def is_flat(series: Sequence[float], tolerance: float) -> bool:
    """Whether the last `HALF` values are like the `HALF` before them. False while there are fewer."""
    if len(series) < 2 * HALF:
        return False
    before = np.asarray(series[-2 * HALF : -HALF], dtype=float)
    last = np.asarray(series[-HALF:], dtype=float)
    difference = abs(last.mean() - before.mean())
    scale = max(abs(before.mean()), abs(last.mean()))
    if scale == 0:
        return True
    noise = np.sqrt((before.var(ddof=1) + last.var(ddof=1)) / HALF)
    return bool(difference <= max(tolerance * scale, min(2 * noise, 2 * tolerance * scale)))


def trends(throughput_tps: Sequence[float], stocks: Mapping[str, Sequence[float]]) -> tuple[str, ...]:
    """What still trends, by name; empty when the trial is warm.

    Args:
        throughput_tps: One value for each interval so far.
        stocks: By status variable, one value for each second so far. Missing ones are not judged.
    """
    works = any(throughput_tps[-2 * HALF :])  # a server that answers nothing is flat, and not warm
    moving = [] if works and is_flat(throughput_tps, THROUGHPUT_TOLERANCE) else ["throughput"]
    moving += [name for name, series in stocks.items() if len(series) > 0 and not is_flat(series, STOCK_TOLERANCE)]
    return tuple(moving)
