"""Viewers get each interval of a running trial, whatever they do, and percentiles as the recording will give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.trial.histograms import percentile_ms
from plimsoll.drive.protocol import Interval
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, State, Verdict, Window
from plimsoll.record.partial import PartialRecording
from plimsoll.run import live
from plimsoll.run.live import LIVE_FILE, LiveInterval, LiveReader, observed_by
from plimsoll.run.rows import IntervalRows, merged, response_ms_p99
from plimsoll.run.spool import Spool
from plimsoll.run.watch import Watch
from plimsoll.telemetry.sampler import Sample
from support.recordings import a_trial
from unit.run.test_spool import interval


def spool(study: Path) -> Spool:
    return Spool(PartialRecording.begin(study, "t1"), IntervalRows(driver="d", host="h"), Watch())


def p99_ms(intervals: list[LiveInterval]) -> float | None:
    return percentile_ms(merged(of.response for seen in intervals for of in seen.transactions.values()), 0.99)


def test_a_reader_elsewhere_gets_each_interval_once_with_what_the_engine_said(tmp_path: Path) -> None:
    spooled = spool(tmp_path)
    reader = LiveReader(spooled.partial.path)
    assert reader.take() == []
    spooled.watch.saw("h", "", Sample("host", "cpu_user_ratio", 0.25))
    spooled.watch.saw("h", "a/0", Sample("server", "innodb_checkpoint_age", 7.0))
    spooled.watch.saw("h", "a/0", Sample("server", "innodb_rows_read", 1.0))
    told = [interval(index, buckets=200) for index in range(4)]
    for each in told[:3]:
        spooled.add(each, began_unix_s=1000.0)
    first = reader.take()
    spooled.add(told[3], began_unix_s=1000.0, window=Window(first=3, last=3))
    taken = [*first, *reader.take()]
    assert [(seen.index, seen.state, seen.unix_s) for seen in taken] == [
        (0, State.WARM, 1001.0),
        (1, State.WARM, 1002.0),
        (2, State.WARM, 1003.0),
        (3, State.MEASURE, 1004.0),
    ]
    assert [seen.window for seen in taken] == [None, None, None, Window(first=3, last=3)]
    assert {(seen.trial_id, seen.throughput_tps, seen.connected_count) for seen in taken} == {("t1", 1000.0, 64)}
    assert [(error.code, error.count) for error in taken[0].errors] == [(1213, 2)]
    assert {(sample.instance, sample.metric, sample.value) for sample in taken[0].telemetry} == {
        ("", "cpu_user_ratio", 0.25),
        ("a/0", "innodb_checkpoint_age", 7.0),
    }
    assert p99_ms(taken) == response_ms_p99(told) is not None


def test_what_was_seen_long_ago_is_not_what_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    watch.saw("h", "a/0", Sample("server", "innodb_checkpoint_age", 7.0))
    monkeypatch.setattr("plimsoll.run.watch.LATEST_S", -1.0)
    assert watch.latest() == {}


def test_an_observer_is_told_until_it_fails_and_the_trial_goes_on(tmp_path: Path) -> None:
    spooled, told = spool(tmp_path), list[int]()

    def fail(seen: LiveInterval) -> None:
        told.append(100 + seen.index)
        raise RuntimeError("a viewer is broken")

    with observed_by(fail), observed_by(lambda seen: told.append(seen.index)):
        for index in range(2):
            spooled.add(interval(index, buckets=2), began_unix_s=0.0)
    spooled.add(interval(2, buckets=2), began_unix_s=0.0)
    assert told == [100, 0, 1]
    assert spooled.intervals_count == 3


def test_the_file_stays_small_and_a_reader_that_keeps_up_misses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "FILE_BYTES_MAX", 40_000)
    spooled = spool(tmp_path)
    reader, late = LiveReader(spooled.partial.path), LiveReader(spooled.partial.path)
    indexes, sizes = list[int](), list[int]()
    for index in range(120):
        spooled.add(interval(index, buckets=60), began_unix_s=0.0)
        sizes.append((spooled.partial.path / LIVE_FILE).stat().st_size)
        if index % live.KEPT_LINES == 0:
            indexes += [seen.index for seen in reader.take()]
    assert indexes == list(range(111))
    assert max(sizes) <= 40_000
    assert sizes != sorted(sizes), "it was cut at least once"
    assert late.take()[-1].index == 119


def test_a_file_that_cannot_be_written_hurts_nobody(tmp_path: Path) -> None:
    spooled = spool(tmp_path)
    (spooled.partial.path / LIVE_FILE).mkdir()
    spooled.add(interval(0, buckets=2), began_unix_s=0.0)
    assert LiveReader(spooled.partial.path).take() == []
    assert spooled.intervals_count == 1


def test_a_committed_recording_has_no_live_file(tmp_path: Path) -> None:
    spooled = spool(tmp_path)
    spooled.add(interval(0, buckets=2), began_unix_s=0.0)
    assert (spooled.partial.path / LIVE_FILE).exists()
    spooled.flush()
    path = spooled.partial.commit(a_trial(), Environment(), Outcome(verdict=Verdict.COMPLETE))
    assert not (path / LIVE_FILE).exists()


def test_lines_that_are_not_ours_are_passed_over(tmp_path: Path) -> None:
    spooled = spool(tmp_path)
    spooled.add(interval(0, buckets=2), began_unix_s=0.0)
    with (spooled.partial.path / LIVE_FILE).open("ab") as file:
        file.write(b'{"index": 1e400}\nnonsense\n{"trial_id": "cut sh')
    assert [seen.index for seen in LiveReader(spooled.partial.path).take()] == [0]


def test_servers_of_one_system_are_added_up(tmp_path: Path) -> None:
    spooled = spool(tmp_path)
    alone: Interval = interval(0, buckets=50)
    group = alone.groups[0]
    both = alone.model_copy(update={"groups": [group, group.model_copy(update={"instance": "a/1"})]})
    seen: list[LiveInterval] = []
    with observed_by(seen.append):
        spooled.add(both, began_unix_s=0.0)
    response = seen[0].transactions["t"].response
    assert response is not None
    assert (seen[0].throughput_tps, seen[0].connected_count, sum(response.counts)) == (2000.0, 128, 100)
    assert p99_ms(seen) == response_ms_p99([both])
