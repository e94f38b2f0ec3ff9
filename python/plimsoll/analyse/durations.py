"""Response and service times of many intervals and trials as one distribution.

Percentiles come only from merged histograms: percentiles of parts can be neither averaged nor added. A percentile is
the value that at least that share of transactions did not exceed (nearest rank; Hyndman and Fan 1996, type 1). It is
the middle of the bucket that holds the transaction of that rank, or the exact maximum where that is smaller: within
0.05 % of the truth. It is left out when too few transactions were seen for one to lie beyond it: it would be the
maximum under another name. Mean and maximum are exact: from sums and maxima, not from buckets. Everything that shows a
percentile takes it from here, the live display of a running trial included.

What had not ended at the end of the window counts with its age (`unfinished`); merging is in `histograms`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.analyse.duration_model import Durations
from plimsoll.analyse.histograms import SparseHistogram, merge
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


Run = tuple[SparseHistogram | None, Mapping[str, float]]
"""One trial: its histogram if it has one, and what its source states, milliseconds by statistic."""


def durations_of_runs(runs: Sequence[Run]) -> Durations:
    """One measure over several trials.

    Percentiles are of all of them where each has its histogram. Where one has not, those of single trials are given as
    such. The mean is then the mean of the trials' means, the maximum the largest.
    """
    histograms = [histogram for histogram, _ in runs if histogram is not None]
    if len(histograms) == len(runs):
        return durations(merge(histograms))
    each = [_stated(stated) if histogram is None else durations(histogram) for histogram, stated in runs]
    if len(each) == 1:
        return each[0]
    means = [one.mean for one in each if one.mean is not None]
    return Durations(
        mean=sum(means) / len(means) if means else None,
        max=max((one.max for one in each if one.max is not None), default=None),
        single_runs=_single_runs(each),
        lower_bounds=tuple(dict.fromkeys(name for one in each for name in one.lower_bounds)),
    )


def _stated(stated: Mapping[str, float]) -> Durations:
    return Durations(**{name: stated.get(name) for name in ("mean", "max", *_PERCENTILES)})


def _single_runs(each: Sequence[Durations]) -> dict[str, tuple[float, ...]]:
    known = {name: tuple(v for one in each if (v := getattr(one, name)) is not None) for name in _PERCENTILES}
    return {name: values for name, values in known.items() if values}
