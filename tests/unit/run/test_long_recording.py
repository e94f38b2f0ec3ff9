"""A trial of many thousand intervals, fed quickly: resident memory stays, and a crash loses less than a minute."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import polars as pl

from plimsoll.drive.protocol import Interval
from plimsoll.hosts.host import Collecting, WatchRequest
from plimsoll.hosts.local import LocalHost, telemetry_frame
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, Verdict, Window
from plimsoll.record.partial import PartialRecording, recover
from plimsoll.record.store import read_recording
from plimsoll.run.rows import IntervalRows
from plimsoll.run.spool import SEGMENT_INTERVALS, Spool
from plimsoll.run.trial_progress import TrialProgress
from plimsoll.run.watch import REDO_LSN, STOCKS, STOCKS_KEPT, Watch
from plimsoll.telemetry.sampler import Collector, Placed, Sample, Sampler, _Rows
from support.memory import resident_bytes
from support.recordings import a_trial
from unit.run.test_spool import interval

WARM, MORE = 500, 2_500
GROWS_BYTES_MAX = 16 * 2**20
"""The rows of 2,500 such intervals with their telemetry are some 250 MB as lists."""


class ManyMetrics(Sampler):
    """As many status variables as a server has."""

    source: ClassVar[str] = "server"
    metrics: ClassVar[Mapping[str, str]] = {}
    cost: ClassVar[str] = ""
    waits: ClassVar[bool] = False

    def sample(self, at_unix_s: float) -> list[Sample]:
        names = (*STOCKS, *sorted(REDO_LSN), *(f"innodb_{number}" for number in range(150)))
        return [Sample("server", name, at_unix_s) for name in names]


class FedByHand(Collector):
    """A collector whose samples are taken when a test says so."""

    def __init__(self, placed: Placed, wanted: WatchRequest) -> None:
        super().__init__([])
        self._placed, self._fed, self._wanted = placed, _Rows(), wanted
        self._loops = [([placed], self._fed)]

    def feed(self, at_unix_s: float) -> None:
        samples = self._placed.sampler.sample(at_unix_s)
        for sample in samples:
            self._wanted.saw(self._placed.host, self._placed.instance, sample)
        self._fed.add(self._placed, at_unix_s, samples)


class Host(LocalHost):
    """A host whose telemetry is fed by hand."""

    def collect(self, wanted: WatchRequest) -> Collecting:
        self.collector = FedByHand(Placed(sampler=ManyMetrics(), host="h", instance="a/0"), wanted)
        return Taken(self.collector)


class Taken:
    """What a host gives to whoever collects."""

    faults: tuple[str, ...] = ()

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def take(self) -> pl.DataFrame:
        return telemetry_frame(self._collector.take(), driver="d")

    def stop(self) -> None:
        pass


def many_intervals() -> Iterator[Interval]:
    """Ten of 64 connections, again and again with rising numbers."""
    made = [interval(index) for index in range(10)]
    second = 10**9
    for index in itertools.count():
        place = {"index": index, "from_ns": index * second, "to_ns": (index + 1) * second}
        yield made[index % 10].model_copy(update=place)


def test_memory_stays_and_a_crash_loses_less_than_a_minute(tmp_path: Path) -> None:
    watch = Watch()
    host = Host()
    watch.collect(host, WatchRequest(instances=[], driver="d", saw=watch.saw))
    collector = host.collector
    partial = PartialRecording.begin(tmp_path, "t1")
    spool = Spool(partial, IntervalRows(driver="d", host="h"), watch)
    progressing = TrialProgress(spool.rows)
    draft = Outcome(verdict=Verdict.INTERRUPTED, window=Window(first=0, last=0))
    partial.draft(a_trial(duration_s=1e6), Environment(), draft)
    before = 0
    count = WARM + MORE + SEGMENT_INTERVALS - 1
    for one in itertools.islice(many_intervals(), count):
        if one.index == WARM:
            before = resident_bytes()
        collector.feed(float(one.index))
        spool.add(one, began_unix_s=0.0)
        progressing.throughput_tps.append(one.throughput_tps)
        progressing.measured.add(one)
    grown = resident_bytes() - before
    assert grown < GROWS_BYTES_MAX, f"{grown:,} bytes"
    assert all(len(values) <= STOCKS_KEPT for values in watch.stocks["a/0"].values())
    assert watch.redo_bytes() == count - 1

    del spool  # the process was killed: what it had not written is lost
    (kept,) = recover(tmp_path)
    recording = read_recording(kept.path)
    assert kept.outcome.window == Window(first=0, last=WARM + MORE - 1)
    intervals, telemetry = recording.intervals(), recording.telemetry()
    assert intervals is not None
    assert telemetry is not None
    assert count - intervals["interval"].n_unique() < SEGMENT_INTERVALS
    assert telemetry.filter(source="server")["unix_s"].n_unique() == WARM + MORE
