"""Response and service times of many intervals and trials as one distribution.

Percentiles come only from merged histograms: percentiles of parts can be neither averaged nor added. A percentile is
the value that at least that share of transactions did not exceed (nearest rank; Hyndman and Fan 1996, type 1), within
0.05 % because of the width of a bucket. It is left out when too few transactions were seen for one to lie beyond it: it
would be the maximum under another name. Mean and maximum are exact: from sums and maxima, not from buckets.

What had not ended at the end of the window counts with its age (`unfinished`); merging is in `histograms`.
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.analyse.duration_model import Durations
from plimsoll.analyse.histograms import SparseHistogram
from plimsoll.analyse.unfinished import percentile, statistics

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def durations(histogram: SparseHistogram | None) -> Durations:
    """Percentiles, mean and maximum in milliseconds; all None without transactions."""
    if histogram is None or (histogram.total == 0 and histogram.in_flight is None):
        return Durations()
    found = statistics(histogram, _PERCENTILES)
    return Durations(
        **{name: one.ms for name, one in found.items()},
        lower_bounds=tuple(name for name, one in found.items() if one.is_lower_bound),
    )


def percentile_ms(histogram: SparseHistogram, share: float) -> float | None:
    """The duration that `share` (0..1) of the transactions did not exceed; None when none lies beyond it."""
    found = percentile(histogram, share)
    return None if found is None else found.ms


def reported_durations(statements: Iterable[dict[str, float]]) -> Durations:
    """What published sources state: percentiles only of a single source, mean of means, largest maximum."""
    stated = [one for one in statements if one]
    if len(stated) == 1:
        return Durations(**{name: stated[0].get(name) for name in ("mean", "p50", "p90", "p95", "p99", "p999", "max")})
    means = [one["mean"] for one in stated if "mean" in one]
    longest = [one["max"] for one in stated if "max" in one]
    return Durations(mean=sum(means) / len(means) if means else None, max=max(longest, default=None))
