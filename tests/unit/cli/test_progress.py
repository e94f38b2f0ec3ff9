"""What the live display says now: work on data within a trial stands below the trial, not in its place."""

from __future__ import annotations

import io

from rich.console import Console

from plimsoll.cli.progress import StudyDisplay
from plimsoll.record.model import State, Verdict
from plimsoll.run.events import DataProgressed, StateBegan, TrialBegan, TrialEnded

CELL = {"trial_id": "t", "system": "one", "workload": "orders", "connections": 4}
LOOKING = DataProgressed(system="one", phase="consistency", done_count=1, total_count=4)


def seen(display: StudyDisplay) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(display._picture())
    text = console.file
    assert isinstance(text, io.StringIO)
    return text.getvalue()


def test_data_that_is_looked_at_within_a_trial_keeps_the_trial_in_sight() -> None:
    display = StudyDisplay(Console(file=io.StringIO()), None)
    display.show(TrialBegan(**CELL, repetition=0, position=1, remaining_s=1))
    display.show(StateBegan(state=State.VERIFY))
    display.show(LOOKING)
    assert "one, orders, 4 connections, repetition 1" in seen(display)
    assert "verify: checking consistency 25%" in seen(display)
    display.show(TrialEnded(**CELL, verdict=Verdict.COMPLETE, reason=None, throughput_tps=1, response_ms_p99=1))
    display.show(LOOKING)
    assert "one: checking consistency 25%" in seen(display)
