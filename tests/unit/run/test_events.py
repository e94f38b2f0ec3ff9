"""The event log: what was said is read back, a line that was cut short is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.record.model import State
from plimsoll.run.events import Event, EventLog, IntervalEnded, StateBegan, StudyEnded, read_events


def test_events_are_read_back_in_order(tmp_path: Path) -> None:
    said: list[Event] = [
        StateBegan(state=State.WARM),
        IntervalEnded(index=0, state=State.WARM, throughput_tps=1.5, response_ms_p99=None, error_count=0),
        StudyEnded(complete_count=1, failed_count=0, missing_count=2),
    ]
    seen: list[Event] = []
    log = EventLog(tmp_path / "events.jsonl", seen.append)
    for event in said:
        log.say(event)
    log.close()
    assert seen == said
    assert [stamped.event for stamped in read_events(tmp_path / "events.jsonl")] == said


def test_a_line_that_was_cut_short_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.say(StateBegan(state=State.WARM))
    log.say(StateBegan(state=State.MEASURE))
    log.close()
    path.write_bytes(path.read_bytes()[:-20] + b"\n\xff\n")
    assert [stamped.event for stamped in read_events(path)] == [StateBegan(state=State.WARM)]


def test_what_follows_a_line_that_was_cut_short_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"unix_s": 1, "ev')
    log = EventLog(path)
    log.say(StateBegan(state=State.WARM))
    log.close()
    assert [stamped.event for stamped in read_events(path)] == [StateBegan(state=State.WARM)]


def test_a_full_disk_is_told_and_closing_adds_nothing_to_it() -> None:
    log = EventLog(Path("/dev/full"))
    for _ in range(2):
        with pytest.raises(HostError, match="/dev/full: cannot be written: No space left"):
            log.say(StateBegan(state=State.WARM))
    log.close()


def test_no_log_is_no_events(tmp_path: Path) -> None:
    assert list(read_events(tmp_path / "none")) == []
