"""Interval lines as the tables of a recording. sysbench prints rates; the counts are rate times length, rounded.

A line covers the time since the line before. Where something between them could not be read, and for the first line,
it covers one usual interval. The histogram of a run stands in its last interval; its buckets are 1.8 % wide.
Deliberately not here: percentiles of intervals, which cannot be put together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import polars as pl

from plimsoll.importers.sysbench_lines import IntervalLine
from plimsoll.importers.sysbench_log import Run
from plimsoll.record.buckets import BUCKET_COUNT, bucket_middle_ns
from plimsoll.record.frames import ERRORS, HISTOGRAMS, INTERVALS

_NOWHERE = {"driver": "", "host": "", "instance": ""}
_TRANSACTION = "transaction"
_ERROR_CLASSES = {"errors": "retryable", "reconnects": "connection"}


def interval_length_s(run: Run) -> float:
    """Usual length of an interval, seconds: as the header says, else the most frequent one."""
    stated = run.settings.get("report_interval_s")
    times = [one.stated.time_s for one in run.intervals]
    if stated or not times:
        return float(stated or 1)
    steps = Counter(after - before for before, after in pairwise(times))
    return float(steps.most_common(1)[0][0] if steps else times[0])


def interval_rows(run: Run) -> pl.DataFrame | None:
    """`frames.INTERVALS`; None without interval lines. What sysbench does not state is 0."""
    if not run.intervals:
        return None
    rows = [
        {
            **_NOWHERE,
            "interval": index,
            "from_s": from_s,
            "to_s": float(line.time_s),
            "transaction": _TRANSACTION,
            "completed": _count(line.tps, line.time_s - from_s),
            "rolled_back": None,
            "failed": 0,
            "dropped": 0,
            "retries": _count(line.errors, line.time_s - from_s),
            "reads": _count(line.reads, line.time_s - from_s),
            "writes": _count(line.writes, line.time_s - from_s),
            "others": _count(line.others, line.time_s - from_s),
            "rows_returned": 0,
            "rows_affected": 0,
        }
        for index, (from_s, line) in enumerate(_timed(run))
    ]
    return pl.DataFrame(rows, schema=INTERVALS)


def error_rows(run: Run) -> pl.DataFrame | None:
    """`frames.ERRORS`, without codes, which sysbench does not print; None without interval lines."""
    if not run.intervals:
        return None
    rows = [
        {**_NOWHERE, "interval": index, "class": kind, "code": 0, "count": count}
        for index, (from_s, line) in enumerate(_timed(run))
        for name, kind in _ERROR_CLASSES.items()
        if (count := _count(getattr(line, name), line.time_s - from_s))
    ]
    return pl.DataFrame(rows, schema=ERRORS)


def histogram_rows(run: Run) -> pl.DataFrame | None:
    """`frames.HISTOGRAMS`; None without a histogram that has exactly the transactions of the final report."""
    total = sum(count for _, count in run.histogram)
    if not has_histogram(run) or total != run.figures["transactions"]:
        return None
    middles_ns = bucket_middle_ns(np.arange(BUCKET_COUNT))
    counts: Counter[int] = Counter()
    for middle_ms, count in run.histogram:
        counts[int(np.abs(middles_ns - middle_ms * 1e6).argmin())] += count
    buckets = sorted(counts)
    row = {
        **_NOWHERE,
        "interval": max(len(run.intervals) - 1, 0),
        "transaction": _TRANSACTION,
        "measure": "response",
        "buckets": buckets,
        "counts": [counts[bucket] for bucket in buckets],
        "sum_ns": round(run.figures["sum"] * 1e6),
        "max_ns": round(run.figures["max"] * 1e6),
    }
    return pl.DataFrame([row], schema=HISTOGRAMS)


def has_histogram(run: Run) -> bool:
    """Whether the log has a histogram of the whole run."""
    known = run.is_whole and {"sum", "max"} <= run.figures.keys()
    return known and not run.has_checkpoints and sum(count for _, count in run.histogram) > 0


def _timed(run: Run) -> Iterator[tuple[float, IntervalLine]]:
    """Each interval line with its begin, seconds."""
    usual_s = interval_length_s(run)
    before_s: float | None = None
    for one in run.intervals:
        from_s = before_s if before_s is not None and one.follows else max(one.stated.time_s - usual_s, before_s or 0.0)
        yield from_s, one.stated
        before_s = float(one.stated.time_s)


def _count(rate: float, length_s: float) -> int:
    return round(rate * length_s)
