"""A trial looks the same while it runs and afterwards: from its live file, its segments and its recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.drive.protocol import Histogram, Interval, ReplicationInterval
from plimsoll.errors import RecordError
from plimsoll.record.model import Window
from plimsoll.record.store import read_recording
from plimsoll.run.live import LiveReader
from plimsoll.run.spool import Spool
from plimsoll.serve.app import course_of
from plimsoll.serve.course import Course, Moment
from plimsoll.serve.moments import gauges_of, of_live, tables_of_partial, tables_of_recording
from plimsoll.serve.standing import FollowedFolder, FollowedTrial
from support.recordings import a_trial
from support.spools import begun, committed
from unit.run.test_spool import interval

BEGAN = 1_700_000_000.0
COUNT, MEASURED_FROM = 25, 4


def told(index: int) -> Interval:
    """With what is in flight, who waits, and a replica that lags."""
    plain = interval(index, buckets=60)
    lasting = Histogram(buckets=[5000], counts=[index], sum_ns=1, max_ns=10**9)
    group = plain.groups[0].model_copy(update={"backlog_count": index % 4, "in_flight": {"service": lasting}})
    counts = dict.fromkeys(("reads_count", "stale_count", "waits_count", "wait_ns", "wait_timeouts_count"), 0)
    replication = ReplicationInterval(lag_ns=10**9, lag_end_ns=index * 10**8, **counts)
    replica = plain.groups[0].model_copy(
        update={"instance": "a/1", "role": "replica", "connected_count": 8, "replication": replication}
    )
    return plain.model_copy(update={"groups": [group, replica]})


def window_until(last: int) -> Window | None:
    """The measured window when that interval is its last."""
    return Window(first=MEASURED_FROM, last=last) if last >= MEASURED_FROM else None


@pytest.fixture
def spooled(tmp_path: Path) -> Spool:
    spool = begun(tmp_path, a_trial())
    for index in range(COUNT):
        spool.add(told(index), began_unix_s=BEGAN, window=window_until(index))
    return spool


def ended(spool: Spool, count: int = COUNT) -> Path:
    return committed(spool, a_trial(), began_unix_s=BEGAN, window=window_until(count - 1))


def shown(moment: Moment) -> tuple[object, ...]:
    """What a page can show of it."""
    response = moment.response
    return (
        (moment.index, round(moment.unix_s, 6), round(moment.length_s, 6), moment.state, moment.counts),
        (moment.completed, moment.failed, dict(moment.errors)),
        (response.buckets.tolist(), response.counts.tolist(), response.max_ns),
        dict(moment.gauges),
    )


def test_the_recording_says_of_each_second_what_the_live_file_said(spooled: Spool) -> None:
    live = [shown(of_live(seen)) for seen in LiveReader(spooled.partial.path).take()]
    recorded = [shown(moment) for moment in tables_of_recording(read_recording(ended(spooled))).moments()]
    assert len(live) == COUNT
    assert recorded == live


def test_what_completes_after_the_window_is_shown_and_does_not_count(spooled: Spool) -> None:
    spooled.add(told(COUNT), began_unix_s=BEGAN, window=window_until(COUNT - 1))
    trial = FollowedTrial(spooled.partial.path)
    trial.read_on()
    document = trial.course.document()
    assert document["intervals"] == COUNT + 1
    assert document["state"] == "measure"
    assert document["measured"]["completed"] == sum(told(index).completed for index in range(MEASURED_FROM, COUNT))
    assert document["measured"] == course_of(ended(spooled))["course"]["measured"]


def test_segments_of_a_running_trial_say_the_same(spooled: Spool) -> None:
    live = [shown(of_live(seen)) for seen in LiveReader(spooled.partial.path).take()]
    moments = list(tables_of_partial(spooled.partial.path, window_until(COUNT - 1)).moments())
    assert [shown(moment) for moment in moments] == live[:20], "two segments of ten"


def test_who_comes_late_sees_the_trial_from_its_begin(spooled: Spool) -> None:
    path = spooled.partial.path / "live.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[18:]))
    trial = FollowedTrial(spooled.partial.path)
    trial.read_on()
    late, early = trial.course.document(), Course()
    for moment in tables_of_recording(read_recording(ended(spooled))).moments():
        early.add(moment)
    assert trial.trial is not None
    assert late["measured"] == early.document()["measured"]
    assert late["columns"] == early.document()["columns"]


def test_what_ended_between_two_looks_comes_from_the_recording(spooled: Spool, tmp_path: Path) -> None:
    folder = FollowedFolder(tmp_path)
    (trial,) = folder.read_on()
    assert trial.course.last_index == COUNT - 1
    spooled.add(told(COUNT), began_unix_s=BEGAN, window=window_until(COUNT))
    path = ended(spooled, COUNT + 1)
    assert folder.read_on() == [trial]
    assert trial.course.last_index == COUNT
    assert trial.course.document()["measured"] == course_of(path)["course"]["measured"]


def test_a_damaged_recording_is_refused(spooled: Spool) -> None:
    path = ended(spooled, COUNT + 1)
    table = path / "histograms.parquet"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    with pytest.raises(RecordError, match="bytes changed"):
        course_of(path)


def test_the_machine_is_that_of_the_server() -> None:
    seen = {
        ("client", "", "cpu_idle_ratio"): 0.1,
        ("database", "", "cpu_idle_ratio"): 0.7,
        ("database", "", "cpu_iowait_ratio"): 0.1,
        ("database", "a/0", "server_cpu_ratio"): 0.15,
        ("client", "", "client_cpu_ratio"): 0.6,
        ("database", "a/0", "innodb_buffer_pool_pages_dirty"): 25.0,
        ("database", "a/0", "innodb_buffer_pool_pages_total"): 100.0,
    }
    gauges = gauges_of(seen)
    assert gauges["machine"] == pytest.approx(0.2)
    assert (gauges["server"], gauges["client"], gauges["dirty"]) == (0.15, 0.6, 0.25)
    assert gauges_of({}) == {}
