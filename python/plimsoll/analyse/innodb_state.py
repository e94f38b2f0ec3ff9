"""What InnoDB has put off or has to do again and again, second by second: as telemetry saw it in the measured window.

Deliberately not here: what follows from it (`steady`).
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.analyse.within_run import Series
from plimsoll.record.model import EngineAccount

_LEAST = {
    "innodb_checkpoint_age": 1_000_000.0,
    "innodb_buffer_pool_pages_dirty": 100.0,
    "innodb_history_list_length": 1_000.0,
    "innodb_buffer_pool_reads": 10.0,
}
"""Status variables, and the mean (bytes, pages, transactions, reads per second) below which they matter to nobody."""

_COUNTERS = ("innodb_buffer_pool_reads",)
_LATE_S = 0.5
"""A sample that was taken late still belongs to the second before it."""

_SEEN_RATIO = 0.9
"""Of the window's seconds; the others take the value before them."""


def matters(name: str, series: Series) -> bool:
    """Whether there is enough of it to matter to anybody."""
    return series.size > 0 and float(series.mean()) >= _LEAST.get(name, 0.0)


def innodb_series(
    telemetry: pl.DataFrame | None, account: EngineAccount | None, *, from_s: float, seconds: int
) -> dict[str, Series]:
    """State of InnoDB in each second of the window, all instances together; only what matters and was seen throughout.

    Args:
        telemetry: All of the trial (`frames.TELEMETRY`).
        account: Says when interval 0 began on the wall clock.
        from_s: Begin of the window, seconds since then.
        seconds: Its length.
    """
    if telemetry is None or account is None or seconds < 2:
        return {}
    rows = telemetry.filter((pl.col("source") == "server") & pl.col("metric").is_in(list(_LEAST)))
    instances: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for metric, instance, unix_s, value in rows.select("metric", "instance", "unix_s", "value").iter_rows():
        second = math.floor(unix_s - account.started_unix_s - from_s - _LATE_S)
        if -1 <= second < seconds:
            instances[metric, instance].append((second, value))
    found = {}
    for name, least in _LEAST.items():
        series = [_filled(np.array(one), seconds) for (metric, _), one in instances.items() if metric == name]
        known = [one for one in series if one is not None]
        if known and len(known) == len(series):
            total = np.sum([np.diff(one) if name in _COUNTERS else one[1:] for one in known], axis=0)
            if total.mean() >= least:
                found[name] = total
    return dict(sorted(found.items()))


def _filled(samples: NDArray[np.float64], seconds: int) -> Series | None:
    """One value for each second, and one for that before the window; None where too much is missing.

    Args:
        samples: In which second of the window, and what, shape (samples, 2).
        seconds: Length of the window.
    """
    at, values = samples[np.argsort(samples[:, 0], kind="stable")].T  # the last one of a second counts
    if np.unique(at).size < _SEEN_RATIO * seconds:
        return None
    filled: Series = values[np.maximum(np.searchsorted(at, np.arange(-1, seconds), side="right") - 1, 0)]
    return filled
