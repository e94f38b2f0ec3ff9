"""Progress that stands still is told once, and progress that goes on never."""

from __future__ import annotations

from plimsoll.drive.engine import Stall
from plimsoll.drive.protocol import Progress


def told(*seen: tuple[float, str, int]) -> list[str]:
    """What is told of progress at these times: seconds, phase, count."""
    times = iter([second for second, _, _ in seen])
    stall = Stall(clock=lambda: next(times))
    doubts = [
        stall.seen(Progress(type="progress", phase=phase, done_count=count, total_count=9)) for _, phase, count in seen
    ]
    return [doubt.evidence for doubt in doubts if doubt]


def test_going_on_is_not_told() -> None:
    assert told(*((second, "load", second) for second in range(0, 500, 50))) == []


def test_standing_still_is_told_once_a_phase() -> None:
    seen = [(float(second), "load", 4) for second in range(0, 300, 10)]
    assert told(*seen) == ["No progress for 60 s in the phase 'load', at 4 of 9."]
    later = [(float(second), "index", 0) for second in range(300, 400, 10)]
    assert len(told(*seen, *later)) == 2


def test_what_goes_on_at_last_is_forgotten() -> None:
    assert told((0, "load", 4), (59, "load", 4), (61, "load", 5), (120, "load", 5)) == []
