"""Durations as counts of buckets: of what ended, and of what was still in flight. Merged here, and nowhere else.

Histograms of parts are added bucket by bucket; percentiles are read from the result (`durations`).
Source of the layout: HdrHistogram (Gil Tene); `plimsoll.record.buckets`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.analyse.duration_rows import DurationRows, Mask, duration_rows
from plimsoll.record.buckets import BUCKET_COUNT, bucket_middle_ns
from plimsoll.record.frames import IN_FLIGHT

MEASURES = ("response", "service", "pool_wait", "dispatch_delay")
"""The measures that the analysis uses, as the recording calls them."""


@dataclass(frozen=True, slots=True)
class SparseHistogram:
    """Durations as counts of the buckets that are not empty.

    Attributes:
        buckets: Bucket indexes, rising, shape (n,).
        counts: Transactions in each, shape (n,).
        sum_ns: Sum of all durations, nanoseconds.
        max_ns: The longest, nanoseconds.
        in_flight: Transactions that had not ended at the end of the window, by how long they had lasted by then; None
            for none. They are part of no other attribute.
        in_flight_before: The same at the begin of the window; those that ended in it are counted above as well.
    """

    buckets: NDArray[np.int64]
    counts: NDArray[np.int64]
    sum_ns: float
    max_ns: int
    in_flight: SparseHistogram | None = None
    in_flight_before: SparseHistogram | None = None

    @property
    def total(self) -> int:
        """Transactions counted."""
        return int(self.counts.sum())

    def above(self, bucket: int) -> int:
        """Transactions counted in buckets above that one."""
        return int(self.counts[np.searchsorted(self.buckets, bucket, side="right") :].sum())

    def middles_ns(self) -> NDArray[np.int64]:
        """The middle of each bucket, nanoseconds, none above the longest duration."""
        return np.minimum(bucket_middle_ns(self.buckets), self.max_ns)


NOTHING = SparseHistogram(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0.0, 0)


def merge_rows(table: pl.DataFrame) -> dict[str, SparseHistogram]:
    """Merges the rows of `histograms.parquet`, each measure for itself; what was in flight is left out.

    Args:
        table: With the columns of `frames.HISTOGRAMS`; only rows of the measured window.
    """
    rows = duration_rows(table)
    return _merged(rows, rows.is_of(MEASURES))


def merge_window(rows: DurationRows, *, first: int, last: int) -> dict[str, SparseHistogram]:
    """Merges the rows of a measured window, each measure for itself, with what was in flight at its begin and end.

    Args:
        rows: All of the trial.
        first: The first interval of the window.
        last: The last one.
    """
    ended = rows.is_of(MEASURES)
    found = _merged(rows, ended & rows.is_within(first, last))
    began, lasting = (_merged(rows, ~ended & (rows.intervals == interval)) for interval in (first - 1, last))
    for name in MEASURES:
        measure = IN_FLIGHT + name
        if name in found or measure in lasting:
            found[name] = replace(
                found.get(name, NOTHING), in_flight=lasting.get(measure), in_flight_before=began.get(measure)
            )
    return found


def merge_measure(rows: DurationRows, measure: str, among: Mask) -> SparseHistogram | None:
    """Merges the rows of one measure among those that are marked; None where no transaction was counted."""
    return _merged(rows, among & (rows.measures == measure)).get(measure)


def _merged(rows: DurationRows, among: Mask) -> dict[str, SparseHistogram]:
    """Each measure for itself, of the rows that are marked."""
    filled = among & (rows.lengths > 0)
    return {name: _sum(rows.only(filled & (rows.measures == name))) for name in dict.fromkeys(rows.measures[filled])}


def _sum(rows: DurationRows) -> SparseHistogram:
    dense = np.bincount(rows.buckets, weights=rows.counts)
    used = np.flatnonzero(dense)
    return SparseHistogram(used, dense[used].astype(np.int64), float(rows.sums_ns.sum()), int(rows.longest_ns.max()))


def merge(histograms: Sequence[SparseHistogram]) -> SparseHistogram | None:
    """Merges histograms of several trials; None when there are none."""
    if not histograms:
        return None
    dense = np.zeros(BUCKET_COUNT, dtype=np.int64)
    for one in histograms:
        dense[one.buckets] += one.counts
    used = np.flatnonzero(dense)
    sum_ns = sum(one.sum_ns for one in histograms)
    longest_ns = max(one.max_ns for one in histograms)
    in_flight = merge([one.in_flight for one in histograms if one.in_flight is not None])
    before = merge([one.in_flight_before for one in histograms if one.in_flight_before is not None])
    return SparseHistogram(used, dense[used], sum_ns, longest_ns, in_flight, before)
