"""Response and service times of many intervals and trials as one distribution.

Percentiles come only from merged histograms: percentiles of parts can be neither averaged nor added. A percentile is
the value that at least that share of transactions did not exceed (nearest rank; Hyndman and Fan 1996, type 1). It is
the middle of the bucket that holds the transaction of that rank, or the exact maximum where that is smaller: within
0.05 % of the truth. It is left out when too few transactions were seen for one to lie beyond it: it would be the
maximum under another name. Mean and maximum are exact: from sums and maxima, not from buckets. Everything that shows a
percentile takes it from here, the live display of a running trial included.

Source of the layout: HdrHistogram (Gil Tene); `plimsoll.record.buckets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.analyse.duration_model import Durations
from plimsoll.record.buckets import BUCKET_COUNT, bucket_middle_ns

MEASURES = ("response", "service", "pool_wait", "dispatch_delay")
"""The measures that the analysis uses, as the recording calls them."""

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
_NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class SparseHistogram:
    """Durations as counts of the buckets that are not empty.

    Attributes:
        buckets: Bucket indexes, rising, shape (n,).
        counts: Transactions in each, shape (n,).
        sum_ns: Sum of all durations, nanoseconds.
        max_ns: The longest, nanoseconds.
    """

    buckets: NDArray[np.int64]
    counts: NDArray[np.int64]
    sum_ns: float
    max_ns: int

    @property
    def total(self) -> int:
        """Transactions counted."""
        return int(self.counts.sum())


def merge_rows(rows: pl.DataFrame) -> dict[str, SparseHistogram]:
    """Merges the rows of `histograms.parquet`, each measure for itself.

    Args:
        rows: With the columns measure, buckets, counts, sum_ns, max_ns; only those of the measured window.
    """
    found = {name: merge_measure(rows, name) for name in MEASURES}
    return {name: histogram for name, histogram in found.items() if histogram is not None}


def merge_measure(rows: pl.DataFrame, measure: str) -> SparseHistogram | None:
    """Merges the rows of one measure; None where no transaction was counted. The rows are those of `merge_rows`."""
    filled = rows.filter(pl.col("measure") == measure, pl.col("buckets").list.len() > 0)
    if filled.is_empty():
        return None
    counts = filled["counts"].explode().to_numpy().astype(np.float64)
    dense = np.bincount(filled["buckets"].explode().to_numpy(), weights=counts)
    used = np.flatnonzero(dense)
    sum_ns = float(filled["sum_ns"].cast(pl.Float64).sum())
    return SparseHistogram(used, dense[used].astype(np.int64), sum_ns, int(filled["max_ns"].to_numpy().max()))


def merge(histograms: Sequence[SparseHistogram]) -> SparseHistogram | None:
    """Merges histograms of several trials; None when there are none."""
    if not histograms:
        return None
    dense = np.zeros(BUCKET_COUNT, dtype=np.int64)
    for one in histograms:
        dense[one.buckets] += one.counts
    used = np.flatnonzero(dense)
    sum_ns = sum(one.sum_ns for one in histograms)
    return SparseHistogram(used, dense[used], sum_ns, max(one.max_ns for one in histograms))


def durations(histogram: SparseHistogram | None) -> Durations:
    """Percentiles, mean and maximum in milliseconds; all None without transactions."""
    if histogram is None or histogram.total == 0:
        return Durations()
    found = {name: percentile_ms(histogram, share) for name, share in _PERCENTILES.items()}
    mean_ms = histogram.sum_ns / histogram.total / _NS_PER_MS
    return Durations(**found, max=histogram.max_ns / _NS_PER_MS, mean=mean_ms)


def percentile_ms(histogram: SparseHistogram, share: float) -> float | None:
    """The duration that `share` (0..1) of the transactions did not exceed; None when none lies beyond it."""
    total = histogram.total
    rank = int(np.ceil(share * total))
    if rank >= total:
        return None
    place = int(np.searchsorted(np.cumsum(histogram.counts), rank))
    middle_ns = int(bucket_middle_ns(histogram.buckets[place : place + 1])[0])
    return min(middle_ns, histogram.max_ns) / _NS_PER_MS


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
    )


def _stated(stated: Mapping[str, float]) -> Durations:
    return Durations(**{name: stated.get(name) for name in ("mean", "max", *_PERCENTILES)})


def _single_runs(each: Sequence[Durations]) -> dict[str, tuple[float, ...]]:
    known = {name: tuple(v for one in each if (v := getattr(one, name)) is not None) for name in _PERCENTILES}
    return {name: values for name, values in known.items() if values}
