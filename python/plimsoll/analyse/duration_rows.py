"""The rows of a recording's histograms as arrays: taken apart once, and then used by whoever asks something of them.

Lists within a table are slow to filter and to join, and every question about durations (by measure, by type, by point
of a chart) is about some of the rows. Buckets and counts of all rows lie one after the other here, so that some rows
are a few pieces of two arrays. Deliberately not here: adding them up (`histograms`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
        return np.array([one in measures for one in self.measures], dtype=bool)

    def is_within(self, first: int, last: int) -> Mask:
        """Which rows are of the intervals from one to another, both included."""
        found: Mask = (self.intervals >= first) & (self.intervals <= last)
        return found

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
