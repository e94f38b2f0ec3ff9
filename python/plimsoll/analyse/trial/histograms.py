"""Durations as counts of buckets: of what ended, and of what was still in flight. Merged here, and nowhere else.

Histograms of parts are added bucket by bucket, and percentiles are read from the sum. Source of the layout:
HdrHistogram (Gil Tene); `plimsoll.record.histograms`.

The rows of a recording's histograms as arrays: taken apart once, and then used by whoever asks something of them. Lists
within a table are slow to filter and to join, and every question about durations (by measure, by type, by point of a
chart) is about some of the rows. Buckets and counts of all rows lie one after the other here, so that some rows are a
few pieces of two arrays.

Percentiles come only from merged histograms: percentiles of parts can be neither averaged nor added. A percentile is
the value that at least that share of transactions did not exceed (nearest rank; Hyndman and Fan 1996, type 1). It is
the middle of the bucket that holds the transaction of that rank, or the exact maximum where that is smaller: within
0.05 % of the truth. It is left out when too few transactions were seen for one to lie beyond it: it would be the
maximum under another name. Mean and maximum are exact: from sums and maxima, not from buckets. Everything that shows a
percentile takes it from here, the live display of a running trial included.

What had not ended at the end of the window counts with its age, which is a lower bound (right-censored data). A server
that stops answering completes nothing, so percentiles of what completed hide it. A transaction that was due before the
end of the window and had not ended by then has lasted at least until then. It counts as follows:

* A percentile is the smallest duration t that the given share of a sample did not exceed. The sample is what completed
  and, of what was in flight at the end of the window, whatever was older than t; what was younger says nothing about t.
  This is the reduced-sample estimate of Kaplan and Meier (1958). Of those in flight only the excess counts: as many as
  were in flight and older than t when the window began have completed in it and stand for them.
* A percentile is a *lower bound* when it would lie among the transactions in flight if none of them ever ended, and at
  least half of the transactions that lasted as long as it were in flight. Its value is then the percentile with each
  transaction in flight at its age, which cannot exceed the true one.
* Beyond a lower bound every percentile is one, and so are mean and maximum. The maximum is also one when a transaction
  in flight is older than the longest that completed; the mean includes it then, at its age.

A transaction is *unfinished* if it was due before the end of the window and had still not ended when the engine cut the
connections seconds later. A closed loop always has a transaction in flight on each connection, and at a rate a few may
wait when the load ends. So where they are at most two for each connection, only those count that were older, at the end
of the window, than 99 % of the transactions that completed took.

Sources: Kaplan and Meier 1958; Tene 2013 ("How not to measure latency") on coordinated omission: time counts from when
a transaction was due.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.analyse.study.cell_model import Durations
from plimsoll.record.frames import IN_FLIGHT
from plimsoll.record.histograms import BUCKET_COUNT, bucket_middle_ns, bucket_of_ns

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


_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def durations(histogram: SparseHistogram | None) -> Durations:
    """Percentiles, mean and maximum in milliseconds; all None without transactions."""
    if histogram is None or (histogram.total == 0 and histogram.in_flight is None):
        return Durations()
    by_name = statistics(histogram, _PERCENTILES)
    return Durations(
        **{name: statistic.ms for name, statistic in by_name.items()},
        lower_bounds=tuple(name for name, statistic in by_name.items() if statistic.is_lower_bound),
    )


def percentile_ms(histogram: SparseHistogram, share: float) -> float | None:
    """The duration that `share` (0..1) of the transactions did not exceed; None when none lies beyond it."""
    statistic = percentile(histogram, share)
    return None if statistic is None else statistic.ms


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
    means = [times.mean for times in each if times.mean is not None]
    return Durations(
        mean=sum(means) / len(means) if means else None,
        max=max((times.max for times in each if times.max is not None), default=None),
        single_runs=_single_runs(each),
        lower_bounds=tuple(dict.fromkeys(name for times in each for name in times.lower_bounds)),
    )


def _stated(stated: Mapping[str, float]) -> Durations:
    return Durations(**{name: stated.get(name) for name in ("mean", "max", *_PERCENTILES)})


def _single_runs(each: Sequence[Durations]) -> dict[str, tuple[float, ...]]:
    known = {
        name: tuple(value for times in each if (value := getattr(times, name)) is not None) for name in _PERCENTILES
    }
    return {name: values for name, values in known.items() if values}


_USUAL_SHARE = 0.99
_ORDINARY_EACH = 2
_NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic of durations, milliseconds.

    Attributes:
        is_lower_bound: It rests on what had not ended: the true value is this or more.
    """

    ms: float
    is_lower_bound: bool = False


def percentile(histogram: SparseHistogram, share: float) -> Statistic | None:
    """The duration that `share` (0..1) of the transactions did not exceed; None when none lies beyond it."""
    lasting = histogram.in_flight
    bound = None if lasting is None else _with_ages(histogram, lasting, share)
    if bound is not None and bound.is_lower_bound:
        return bound
    samples = histogram.total + _older(histogram)
    ranks = np.ceil(share * samples)
    reached = np.flatnonzero(np.cumsum(histogram.counts) >= ranks)
    if reached.size == 0:
        return None if bound is None else Statistic(bound.ms, is_lower_bound=True)
    if ranks[reached[0]] >= samples[reached[0]]:
        return None
    return Statistic(float(histogram.middles_ns()[reached[0]]) / _NS_PER_MS)


def statistics(histogram: SparseHistogram, shares: Mapping[str, float]) -> dict[str, Statistic]:
    """The percentiles of these shares, `max` and `mean`; those that are not known are left out.

    Where one percentile is a lower bound, so is whatever lies beyond it, and the mean.

    Args:
        histogram: Of one measure.
        shares: Each 0..1, rising, by name.
    """
    by_name: dict[str, Statistic] = {}
    least = Statistic(0.0)
    for name, share in shares.items():
        statistic = percentile(histogram, share)
        if statistic is not None and histogram.in_flight is not None and least.is_lower_bound:
            statistic = _with_ages(histogram, histogram.in_flight, share)
        if statistic is not None:
            least = by_name[name] = Statistic(
                max(statistic.ms, least.ms), statistic.is_lower_bound or least.is_lower_bound
            )
    oldest_ns = 0 if histogram.in_flight is None else histogram.in_flight.max_ns
    longest = Statistic(max(histogram.max_ns, oldest_ns) / _NS_PER_MS, oldest_ns > histogram.max_ns)
    by_name["max"] = Statistic(longest.ms, longest.is_lower_bound or least.is_lower_bound)
    return by_name | {"mean": _mean(histogram, is_lower_bound=least.is_lower_bound)}


def _mean(histogram: SparseHistogram, *, is_lower_bound: bool) -> Statistic:
    """The mean of what ended and of what was older than all of that; than most of it where percentiles are bounds."""
    ended, lasting = histogram.total, histogram.in_flight
    over, over_ns = 0, 0.0
    if lasting is not None:
        least = _usual_bucket(histogram) if is_lower_bound or not ended else histogram.buckets[-1]
        beyond = lasting.buckets > least
        over = int(lasting.counts[beyond].sum())
        over_ns = float(lasting.counts[beyond] @ lasting.middles_ns()[beyond].astype(np.float64))
    return Statistic((histogram.sum_ns + over_ns) / (ended + over) / _NS_PER_MS, over > 0)


def unfinished_count(
    response: SparseHistogram, at_end: SparseHistogram | None, *, waited_s: float, connections: int
) -> int:
    """How many transactions never ended, and are not just what a load that goes well has in flight.

    Args:
        response: Of the window, with what was in flight at its end.
        at_end: What was in flight when the engine gave up, by how long it had lasted by then; None for nothing.
        waited_s: From the end of the window until then, seconds.
        connections: That the load had.
    """
    if response.in_flight is None or at_end is None:
        return 0
    window_end = int(bucket_of_ns(np.array([round(waited_s * 1e9)]))[0])
    never_ended = at_end.above(window_end - 1)
    if never_ended > _ORDINARY_EACH * connections:
        return never_ended
    return min(never_ended, response.in_flight.above(_usual_bucket(response)))


def _older(histogram: SparseHistogram) -> NDArray[np.int64]:
    """For each bucket how many of those in flight at the end were older, beyond as many as were at the begin."""
    buckets = histogram.buckets
    older = np.zeros(buckets.size, dtype=np.int64)
    if histogram.in_flight is not None:
        older += histogram.in_flight.total - _up_to(histogram.in_flight, buckets)
    if histogram.in_flight_before is not None:
        older -= histogram.in_flight_before.total - _up_to(histogram.in_flight_before, buckets)
    return np.maximum(older, 0)


def _usual_bucket(response: SparseHistogram) -> int:
    if response.total == 0:
        return -1
    rank = math.ceil(_USUAL_SHARE * response.total)
    return int(response.buckets[np.searchsorted(np.cumsum(response.counts), rank)])


def _with_ages(histogram: SparseHistogram, lasting: SparseHistogram, share: float) -> Statistic | None:
    """The percentile when what had not ended counts at its age, and whether that is all that can be said."""
    total = histogram.total + lasting.total
    rank = math.ceil(share * total)
    if rank >= total:
        return None
    buckets = np.sort(np.concatenate([histogram.buckets, lasting.buckets]))
    up_to = _up_to(histogram, buckets) + _up_to(lasting, buckets)
    bucket = int(buckets[np.searchsorted(up_to, rank)])
    of_ended, of_lasting = histogram.above(bucket - 1), lasting.above(bucket - 1)
    both = SparseHistogram(
        np.array([bucket]), np.array([of_ended + of_lasting]), 0.0, max(histogram.max_ns, lasting.max_ns)
    )
    return Statistic(float(both.middles_ns()[0]) / _NS_PER_MS, rank > histogram.total and of_lasting >= of_ended)


def _up_to(histogram: SparseHistogram, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many transactions lie in each of the buckets or below it."""
    cumulated = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(histogram.counts)])
    return cumulated[np.searchsorted(histogram.buckets, buckets, side="right")]
