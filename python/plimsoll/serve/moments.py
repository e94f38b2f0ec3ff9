"""The intervals of a trial, from wherever they are: its live file, the segments of a running trial, a recording.

All become the same `Moment`, so a page shows the same of each. Tables are read in slices: a recording of hours is never
in memory as a whole, and of its histograms only what the page needs. Deliberately not here: points (`course`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from plimsoll.analyse.trial.histograms import NOTHING, SparseHistogram, duration_rows, merge
from plimsoll.errors import RecordError
from plimsoll.record.files import DAMAGE_CURE
from plimsoll.record.frames import IN_FLIGHT, TABLES, scan_table
from plimsoll.record.model import State, Window
from plimsoll.record.store import Recording
from plimsoll.run.live import LiveInterval
from plimsoll.run.rows import merged
from plimsoll.run.watch import LATEST_METRICS, LATEST_S
from plimsoll.serve.course import Moment

SLICE_INTERVALS = 500
"""Histograms of so many intervals are in memory at once."""

_LAST = 2**32

Seen = Mapping[tuple[str, str, str], float]
"""The last values of telemetry, by host, instance and metric."""

_PAGES = ("innodb_buffer_pool_pages_dirty", "innodb_buffer_pool_pages_total")


def of_live(interval: LiveInterval) -> Moment:
    """An interval of a running trial."""
    counts = [transactions.counts for transactions in interval.transactions.values()]
    seen = {(sample.host, sample.instance, sample.metric): sample.value for sample in interval.telemetry}
    counted = {
        "waiting": float(interval.waiting_count),
        "in_flight": float(interval.in_flight_count),
        "connected": float(interval.connected_count),
    }
    lags = {"lag": max(interval.lag_s.values())} if interval.lag_s else {}
    return Moment(
        index=interval.index,
        unix_s=interval.unix_s,
        length_s=interval.length_s,
        state=interval.state,
        counts=_counts(interval.window, interval.index),
        completed=interval.completed,
        failed=sum(count.failed + count.dropped for count in counts),
        errors=_errors((error.error_class, error.code, error.count) for error in interval.errors),
        response=merged(transactions.response for transactions in interval.transactions.values()),
        gauges={**gauges_of(seen), **counted, **lags},
    )


def _errors(counted: Iterable[tuple[str, int, int]]) -> dict[str, int]:
    errors: dict[str, int] = defaultdict(int)
    for error_class, code, count in counted:
        errors[f"{code} {error_class}"] += count
    return dict(errors)


def gauges_of(seen: Seen) -> dict[str, float]:
    """What a page shows of telemetry. The machine is that of the server, where that is known."""
    hosts = {host for host, instance, _ in seen if instance}
    busy = {
        host: 1 - value - seen.get((host, "", "cpu_iowait_ratio"), 0.0)
        for (host, instance, metric), value in seen.items()
        if metric == "cpu_idle_ratio" and not instance
    }
    there = {host: value for host, value in busy.items() if host in hosts} or busy
    gauges: dict[str, float] = {}
    if there:
        machine = max(there, key=lambda host: there[host])
        gauges["machine"] = there[machine]
        gauges["steal"] = seen.get((machine, "", "cpu_steal_ratio"), 0.0)
    names = {
        "server": "server_cpu_ratio",
        "client": "client_cpu_ratio",
        "checkpoint_age": "innodb_checkpoint_age",
        "history": "innodb_history_list_length",
    }
    for name, metric in names.items():
        values = [value for (_, _, seen_metric), value in seen.items() if seen_metric == metric]
        if values:
            gauges[name] = sum(values)
    dirty, total = (
        sum(value for (_, _, seen_metric), value in seen.items() if seen_metric == metric) for metric in _PAGES
    )
    return gauges | ({"dirty": dirty / total} if total else {})


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a trial as they lie on the disk.

    Attributes:
        scan: A table by the name of its file, at least the rows of the intervals from one to another; None where it is
            not there.
        window: Which intervals count; None while none does.
        began_unix_s: When interval 0 began, wall clock; None where that is to be found in the tables.
    """

    scan: Callable[[str, int, int], pl.LazyFrame | None]
    window: Window | None
    began_unix_s: float | None

    def moments(self) -> Iterator[Moment]:
        """Its intervals, in their order.

        Raises:
            RecordError: A table is damaged.
        """
        try:
            yield from self._moments()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise RecordError(f"the recording cannot be read: {error}. {DAMAGE_CURE}") from error

    def _moments(self) -> Iterator[Moment]:
        counted = self._counted()
        if counted.is_empty():
            return
        errors, window = self._errors_by_interval(), self.window
        lags = self._lags()
        began_unix_s = self.began_unix_s
        telemetry = _Telemetry(self._whole("telemetry.parquet"))
        if began_unix_s is None:
            began_unix_s = telemetry.began_unix_s(float(counted["to_s"].to_list()[0]))
        for rows in counted.iter_slices(SLICE_INTERVALS):
            first, last = int(rows["interval"].to_list()[0]), int(rows["interval"].to_list()[-1])
            durations = self._durations(first, last)
            for index, from_s, to_s, completed, failed in rows.iter_rows():
                unix_s = began_unix_s + to_s
                gauges = telemetry.gauges_at(unix_s)
                lasting = durations.get((index, f"{IN_FLIGHT}service"))
                gauges["in_flight"] = 0.0 if lasting is None else float(lasting.total)
                if index in lags:
                    gauges["lag"] = lags[index]
                yield Moment(
                    index=index,
                    unix_s=unix_s,
                    length_s=to_s - from_s,
                    state=State.WARM if window is None or index < window.first else State.MEASURE,
                    counts=_counts(window, index),
                    completed=completed,
                    failed=failed,
                    errors=errors.get(index, {}),
                    response=durations.get((index, "response"), NOTHING),
                    gauges=gauges,
                )

    def _whole(self, name: str) -> pl.LazyFrame | None:
        return self.scan(name, 0, _LAST)

    def _counted(self) -> pl.DataFrame:
        rows = self._whole("intervals.parquet")
        if rows is None:
            return pl.DataFrame()
        return (
            rows.group_by("interval")
            .agg(
                pl.col("from_s").min(),
                pl.col("to_s").max(),
                pl.col("completed").sum(),
                (pl.col("failed") + pl.col("dropped")).sum().alias("failed"),
            )
            .sort("interval")
            .collect()
        )

    def _errors_by_interval(self) -> dict[int, dict[str, int]]:
        rows = self._whole("errors.parquet")
        by_interval: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
        if rows is not None:
            for index, *error in rows.select("interval", "class", "code", "count").collect().iter_rows():
                by_interval[index].append((error[0], error[1], error[2]))
        return {index: _errors(counted) for index, counted in by_interval.items()}

    def _lags(self) -> dict[int, float]:
        rows = self._whole("replication.parquet")
        if rows is None or "lag_end_s" not in rows.collect_schema():
            return {}
        known = rows.filter(pl.col("lag_end_s").is_not_null()).group_by("interval").agg(pl.col("lag_end_s").max())
        return dict(known.collect().iter_rows())

    def _durations(self, first: int, last: int) -> dict[tuple[int, str], SparseHistogram]:
        """Histograms of some intervals, by interval and measure."""
        rows = self.scan("histograms.parquet", first, last)
        if rows is None:
            return {}
        wanted = pl.col("interval").is_between(first, last) & pl.col("measure").is_in(
            ["response", f"{IN_FLIGHT}service"]
        )
        taken = duration_rows(rows.filter(wanted).select(list(TABLES["histograms.parquet"])).collect())
        ends = np.cumsum(taken.lengths)
        parts: dict[tuple[int, str], list[SparseHistogram]] = defaultdict(list)
        for row, (end, length) in enumerate(zip(ends.tolist(), taken.lengths.tolist(), strict=True)):
            if length:
                piece = slice(end - length, end)
                buckets, counts = taken.buckets[piece].astype(np.int64), taken.counts[piece].astype(np.int64)
                sparse = SparseHistogram(buckets, counts, float(taken.sums_ns[row]), int(taken.longest_ns[row]))
                parts[int(taken.intervals[row]), str(taken.measures[row])].append(sparse)
        return {key: same[0] if len(same) == 1 else merge(same) or NOTHING for key, same in parts.items()}


class _Telemetry:
    """What telemetry saw last, at any time."""

    def __init__(self, rows: pl.LazyFrame | None) -> None:
        wanted = [*LATEST_METRICS, "backlog_count", "connected_count"]
        table = None if rows is None else rows.filter(pl.col("metric").is_in(wanted)).collect()
        self._series: dict[tuple[str, str, str], tuple[Sequence[float], Sequence[float]]] = {}
        self._positions: dict[tuple[str, str, str], int] = {}
        self._first_of_engine = None
        if table is None or table.is_empty():
            return
        place = ["host", "instance", "metric"]
        for key, series in table.sort("unix_s").group_by(place, maintain_order=True):
            host, instance, metric = map(str, key)
            self._series[host, instance, metric] = (series["unix_s"].to_list(), series["value"].to_list())
        engine = table.filter(pl.col("source") == "engine")["unix_s"].to_list()
        self._first_of_engine = min(engine, default=None)

    def began_unix_s(self, first_to_s: float) -> float:
        """When interval 0 began: samples of the engine are taken at the ends of intervals."""
        return 0.0 if self._first_of_engine is None else self._first_of_engine - first_to_s

    def gauges_at(self, unix_s: float) -> dict[str, float]:
        """What was seen by then, and not long before; asked for with rising times."""
        seen: dict[tuple[str, str, str], float] = {}
        for key, (times, values) in self._series.items():
            position = self._positions.get(key, 0)
            while position < len(times) and times[position] <= unix_s + 1e-6:
                position += 1
            self._positions[key] = position
            if position and times[position - 1] >= unix_s - LATEST_S:
                seen[key] = values[position - 1]
        gauges = gauges_of(seen)
        for name, metric in (("waiting", "backlog_count"), ("connected", "connected_count")):
            values_of = [value for (_, _, seen_metric), value in seen.items() if seen_metric == metric]
            if values_of:
                gauges[name] = sum(values_of)
        return gauges


def tables_of_recording(recording: Recording) -> Tables:
    """The tables of a recording whose bytes are as they were written.

    Raises:
        RecordError: One was changed.
    """
    outcome = recording.outcome
    tables = {name: scan_table(recording.path / name, outcome.files[name]) for name in TABLES if name in outcome.files}

    def scan(name: str, _first: int, _last: int) -> pl.LazyFrame | None:
        return tables.get(name)

    began = None if outcome.account is None else outcome.account.started_unix_s
    return Tables(scan, outcome.window, began)


def tables_of_partial(folder: Path, window: Window | None) -> Tables:
    """The segments of a trial that runs, and which of its intervals count so far; None while it warms up."""
    spans: dict[Path, tuple[int, int]] = {}

    def scan(name: str, first: int, last: int) -> pl.LazyFrame | None:
        segments = sorted(folder.glob(f"{Path(name).stem}.*.parquet"))
        if name == "histograms.parquet":  # large, and asked for piece by piece
            for segment in segments:
                if segment not in spans:
                    spans[segment] = _span(segment)
            segments = [segment for segment in segments if spans[segment][0] <= last and spans[segment][1] >= first]
        return pl.scan_parquet(segments) if segments else None

    return Tables(scan, window, None)


def _span(segment: Path) -> tuple[int, int]:
    """The first and the last interval of a segment."""
    indexes = pl.read_parquet(segment, columns=["interval"])["interval"].to_numpy()
    return int(indexes.min()), int(indexes.max())


def _counts(window: Window | None, index: int) -> bool:
    return window is not None and window.first <= index <= window.last
