"""What a trial measures reaches the disk as it goes, and memory does not grow with its length."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from plimsoll.drive.protocol import (
    ClientCpu,
    Counts,
    ErrorCount,
    GroupInterval,
    Histogram,
    Interval,
    Snapshot,
    TransactionSnapshot,
)
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, Verdict
from plimsoll.record.partial import PartialRecording
from plimsoll.record.store import read_recording
from plimsoll.run.rows import IntervalRows
from plimsoll.run.spool import SEGMENT_INTERVALS, Spool
from plimsoll.run.trial_progress import Measured, TrialProgress
from plimsoll.run.watch import Watch
from support.recordings import a_trial

COUNTS = dict.fromkeys(Counts.model_fields, 0)


def interval(index: int, buckets: int = 900, completed: int = 1000) -> Interval:
    """One second of 64 connections: as many buckets as there were on a real server."""
    found = sorted(np.random.default_rng(index).choice(20_000, buckets, replace=False).tolist())
    histogram = Histogram(buckets=found, counts=[1] * buckets, sum_ns=10**9, max_ns=10**7)
    measures = dict.fromkeys(("response", "service", "pool_wait", "dispatch_delay"), histogram)
    snapshot = TransactionSnapshot(counts=Counts(**{**COUNTS, "completed": completed}), histograms=measures)
    errors = [ErrorCount(transaction="t", code=1213, count=2, **{"class": "retryable"})]
    group = GroupInterval(
        instance="a/0",
        backlog_count=0,
        connected_count=64,
        in_flight={},
        snapshot=Snapshot(transactions={"t": snapshot}, errors=errors),
    )
    cpu = ClientCpu(user_ns=1, system_ns=1)
    second = 10**9
    return Interval(
        type="interval", index=index, from_ns=index * second, to_ns=(index + 1) * second, client=cpu, groups=[group]
    )


def spool(study: Path) -> Spool:
    return Spool(PartialRecording.begin(study, "t1"), IntervalRows(driver="d", host="h"), Watch())


@pytest.mark.parametrize("interrupted", ["intervals.parquet", "histograms.parquet", "errors.parquet"])
def test_an_interruption_while_a_segment_is_written_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: str
) -> None:
    found = spool(tmp_path)
    add, left = found.partial.add, [interrupted]

    def break_off(name: str, rows: pl.DataFrame) -> None:
        if name in left:
            left.remove(name)
            raise KeyboardInterrupt
        add(name, rows)

    monkeypatch.setattr(found.partial, "add", break_off)
    for index in range(SEGMENT_INTERVALS - 1):
        found.add(interval(index, buckets=5), began_unix_s=0.0)
    with pytest.raises(KeyboardInterrupt):
        found.add(interval(SEGMENT_INTERVALS - 1, buckets=5), began_unix_s=0.0)
    found.flush()
    tables = ("intervals.parquet", "histograms.parquet", "errors.parquet")
    seen = {name: found.partial.rows(name)["interval"].unique().sort().to_list() for name in tables}
    assert all(indexes == list(range(SEGMENT_INTERVALS)) for indexes in seen.values())
    assert found.partial.rows("intervals.parquet").height == SEGMENT_INTERVALS


def test_everything_arrives_in_order(tmp_path: Path) -> None:
    spooled = spool(tmp_path)
    count = 2 * SEGMENT_INTERVALS + 3
    for index in range(count):
        spooled.add(interval(index, buckets=3), began_unix_s=1000.0)
    assert len(list(spooled.partial.path.glob("intervals.*.parquet"))) == 2
    spooled.flush()
    outcome = Outcome(verdict=Verdict.COMPLETE)
    recording = read_recording(spooled.partial.commit(a_trial(), Environment(), outcome))
    tables = (recording.intervals(), recording.errors(), recording.histograms(), recording.telemetry())
    intervals, errors, histograms, telemetry = tables
    assert intervals is not None
    assert errors is not None
    assert histograms is not None
    assert telemetry is not None
    assert intervals["interval"].to_list() == list(range(count))
    assert errors["count"].sum() == 2 * count
    assert histograms.height == 4 * count
    assert histograms["buckets"].list.len().unique().to_list() == [3]
    assert telemetry["unix_s"].is_sorted()
    assert telemetry["unix_s"].max() == 1000.0 + count
    assert spooled.rows.told_errors() == f"; errors: 1213 (retryable) {2 * count} times"


def grown_bytes(study: Path, warm: int, count: int) -> int:
    """How much more memory is held after so many further intervals of a trial."""
    spooled, before = spool(study), 0
    progressing = TrialProgress(spooled.rows)
    for index in range(warm + count):
        if index == warm:
            before = tracemalloc.get_traced_memory()[0]
        one = interval(index)
        spooled.add(one, began_unix_s=0.0)
        progressing.throughput_tps.append(one.throughput_tps)
        progressing.measured.add(one)
    return tracemalloc.get_traced_memory()[0] - before


def test_memory_does_not_grow_with_a_trial(tmp_path: Path) -> None:
    """300 intervals of 64 connections were 40 MB as lists; now a number for each is all that stays."""
    tracemalloc.start()
    try:
        grown = grown_bytes(tmp_path, 2 * SEGMENT_INTERVALS, 30 * SEGMENT_INTERVALS)
    finally:
        tracemalloc.stop()
    assert grown < 200_000, f"{grown:,} bytes"


def test_sums_of_the_window_are_those_of_its_intervals() -> None:
    taken, measured = [interval(index, buckets=50 + index, completed=index) for index in range(3, 9)], Measured()
    assert (measured.window, measured.throughput_tps) == (None, None)
    for one in taken:
        measured.add(one)
    assert measured.window is not None
    assert (measured.window.first, measured.window.last, measured.intervals_count) == (3, 8, 6)
    assert measured.throughput_tps == pytest.approx(sum(range(3, 9)) / 6)
