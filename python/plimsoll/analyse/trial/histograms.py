"""Durations as counts of buckets: of what ended, and of what was still in flight. Merged here, and nowhere else.

Histograms of parts are added bucket by bucket; percentiles are read from the result (`percentiles`). Source of the
layout: HdrHistogram (Gil Tene); `plimsoll.record.histograms`.

The rows of a recording's histograms as arrays: taken apart once, and then used by whoever asks something of them.
Lists within a table are slow to filter and to join, and every question about durations (by measure, by type, by point
of a chart) is about some of the rows. Buckets and counts of all rows lie one after the other here, so that some rows
are a few pieces of two arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.record.frames import IN_FLIGHT
from plimsoll.record.histograms import BUCKET_COUNT, bucket_middle_ns

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
    merged = _merged(rows, ended & rows.is_within(first, last))
    began, lasting = (_merged(rows, ~ended & (rows.intervals == interval)) for interval in (first - 1, last))
    for name in MEASURES:
        measure = IN_FLIGHT + name
        if name in merged or measure in lasting:
            merged[name] = replace(
                merged.get(name, NOTHING), in_flight=lasting.get(measure), in_flight_before=began.get(measure)
            )
    return merged


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
    for histogram in histograms:
        dense[histogram.buckets] += histogram.counts
    used = np.flatnonzero(dense)
    sum_ns = sum(histogram.sum_ns for histogram in histograms)
    longest_ns = max(histogram.max_ns for histogram in histograms)
    in_flight = merge([histogram.in_flight for histogram in histograms if histogram.in_flight is not None])
    before = merge([histogram.in_flight_before for histogram in histograms if histogram.in_flight_before is not None])
    return SparseHistogram(used, dense[used], sum_ns, longest_ns, in_flight, before)


Mask = NDArray[np.bool_]
"""Which rows, shape (rows,)."""


@dataclass(frozen=True, slots=True)
class DurationRows:
    """Rows of `histograms.parquet`, in their order.

    Attributes:
        intervals: Of each row, shape (rows,); so are `instances`, `transactions`, `measures` and `lengths`, and
            `sums_ns` and `longest_ns`, nanoseconds.
        lengths: Buckets of each row; 0 where nothing was counted.
        buckets: Indexes of all rows, one row after the other, shape (sum of lengths,); so are `counts`.
    """

    intervals: NDArray[np.int64]
    instances: NDArray[np.object_]
    transactions: NDArray[np.object_]
    measures: NDArray[np.object_]
    lengths: NDArray[np.int64]
    sums_ns: NDArray[np.float64]
    longest_ns: NDArray[np.uint64]
    buckets: NDArray[np.uint32]
    counts: NDArray[np.uint64]

    def is_of(self, measures: Collection[str]) -> Mask:
        """Which rows are of one of these measures."""
        return np.array([measure in measures for measure in self.measures], dtype=bool)

    def is_within(self, first: int, last: int) -> Mask:
        """Which rows are of the intervals from one to another, both included."""
        mask: Mask = (self.intervals >= first) & (self.intervals <= last)
        return mask

    def only(self, wanted: Mask) -> DurationRows:
        """Some of the rows."""
        if wanted.all():
            return self
        ends = np.concatenate(([0], np.cumsum(self.lengths)))
        edges = np.flatnonzero(np.diff(wanted, prepend=False, append=False)).reshape(-1, 2)
        pieces = [slice(*piece) for piece in ends[edges].tolist()]  # rows that are neighbours lie in one piece
        return DurationRows(
            self.intervals[wanted],
            self.instances[wanted],
            self.transactions[wanted],
            self.measures[wanted],
            self.lengths[wanted],
            self.sums_ns[wanted],
            self.longest_ns[wanted],
            _joined(self.buckets, pieces),
            _joined(self.counts, pieces),
        )


def duration_rows(table: pl.DataFrame) -> DurationRows:
    """Takes rows apart.

    Args:
        table: With the columns of `frames.HISTOGRAMS`.
    """
    lengths = table["buckets"].list.len().to_numpy().astype(np.int64)
    filled = table if lengths.all() else table.filter(pl.Series(lengths > 0))  # an empty list would become a null
    flat = filled.select(pl.col("buckets", "counts").explode())
    return DurationRows(
        table["interval"].to_numpy().astype(np.int64),
        table["instance"].to_numpy(),
        table["transaction"].to_numpy(),
        table["measure"].to_numpy(),
        lengths,
        table["sum_ns"].to_numpy().astype(np.float64),
        table["max_ns"].to_numpy(),
        flat["buckets"].to_numpy(),
        flat["counts"].to_numpy(),
    )


def _joined(values: NDArray[Any], pieces: list[slice]) -> NDArray[Any]:
    return np.concatenate([values[piece] for piece in pieces]) if pieces else values[:0]
