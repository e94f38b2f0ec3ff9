"""What `plimsoll ab` shows while it runs: what is known so far, and nothing about a study that nobody keeps."""

from __future__ import annotations

import io

from rich.console import Console

from plimsoll.cli.ab_study import AbDisplay
from plimsoll.cli.panel import panel_on
from plimsoll.record.model import TrialWarning, Verdict
from plimsoll.run.events import AnswerProgressed, Event, ReadinessJudged, StudyBegan, TrialBegan, TrialEnded
from support.printed import printed

CELL = {"trial_id": "t", "workload": "orders", "connections": 4}
BEGAN = StudyBegan(study="ab", trial_count=6, finished_count=0, estimated_s=90.0, is_until_decided=True)
ROUND = TrialBegan(**CELL, system="a and b", repetition=1, is_duet=True, position=3, remaining_s=60.0)
ENDED = TrialEnded(**CELL, system="a", verdict=Verdict.COMPLETE, reason=None, throughput_tps=1, response_ms_p99=1)
KNOWN = AnswerProgressed(
    is_duet=True, repetitions=3, is_decided=False, is_over_budget=True, more_max=4,
    text=("orders, 4 connections: b is 20.0 % faster than a", "the budget leaves no time; raise it in the study file"),
)  # fmt: skip


def shown(*events: Event) -> str:
    """What stands on standard error where that is no terminal."""
    file = io.StringIO()
    display = AbDisplay(Console(file=file, width=100), None)
    for event in events:
        display.show(event)
    return file.getvalue()


def test_each_round_tells_what_is_known_by_then() -> None:
    assert shown(BEGAN, ROUND, ENDED, KNOWN) == "after 3 rounds: b is 20.0 % faster than a\n"


def test_findings_of_pre_flight_checks_wait_for_the_answer() -> None:
    busy = TrialWarning(code="host-busy-elsewhere", evidence="e", advice="a")
    display = AbDisplay(Console(file=(file := io.StringIO())), None)
    display.show(ReadinessJudged(findings=(busy,)))
    assert (display.findings, file.getvalue()) == ((busy,), "")


def test_a_trial_that_failed_is_told_with_its_reason() -> None:
    failed = ENDED.model_copy(update={"verdict": Verdict.FAILED, "reason": "the server is gone"})
    assert shown(BEGAN, ROUND, failed) == "a: failed: the server is gone\n"


def test_a_terminal_shows_what_is_known_and_the_time_that_is_left_once_it_has_begun() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True, color_system=None)
    with panel_on(console) as live:
        display = AbDisplay(console, live)
        assert "left" not in picture(display)
        for event in (BEGAN, ROUND, KNOWN):
            display.show(event)
        first, second, *_ = picture(display).splitlines()
    assert first == "b is 20.0 % faster than a"
    assert second.startswith("  round 2; at most ")
    assert second.endswith(" left, Ctrl-C shows what is known")


def picture(display: AbDisplay) -> str:
    return printed(display._picture(), width=100)
