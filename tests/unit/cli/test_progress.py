"""What the live display says now: work on data within a trial stands below the trial, not in its place."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from plimsoll.analyse.study.cell_model import Bounds
from plimsoll.analyse.study.sequential import Interim, Question, anytime_interval
from plimsoll.cli.progress import StudyDisplay
from plimsoll.record.level import Level
from plimsoll.record.model import State, Verdict
from plimsoll.run.events import (
    AnswerProgressed,
    DataProgressed,
    HostLost,
    IntervalEnded,
    StateBegan,
    StudyBegan,
    TrialBegan,
    TrialEnded,
)
from plimsoll.run.status import interval_words
from plimsoll.run.stopping_rule import interim_lines
from support.printed import printed

CELL = {"trial_id": "t", "system": "one", "workload": "orders", "connections": 4}
LOOKING = DataProgressed(system="one", phase="consistency", done_count=1, total_count=4)


def seen(display: StudyDisplay) -> str:
    return printed(display._picture(), width=100)


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


def test_a_host_that_is_waited_for_is_said_with_the_reason() -> None:
    console = Console(file=io.StringIO(), width=200)
    StudyDisplay(console, None).show(HostLost(system="one", reason="db2: the connection was lost", limit_s=600))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == (
        "one: its host was lost: db2: the connection was lost; waiting up to 10 min 00 s for it\n"
    )


def test_a_duet_counts_rounds_where_other_studies_count_repetitions() -> None:
    console = Console(file=io.StringIO(), width=100)
    display = StudyDisplay(console, None)
    display.show(TrialBegan(**CELL, is_duet=True, repetition=1, position=1, remaining_s=1))
    assert "one, orders, 4 connections, round 2" in seen(display)
    key = {"workload": "orders", "level": Level(connections=4)}
    open_question = Interim(
        Question(**key, system="b", base="a"), anytime_interval([0.01, 0.2, -0.1], 0.05), is_decided=False, more=3
    )
    known = AnswerProgressed(
        is_duet=True,
        repetitions=3,
        is_decided=False,
        more_max=3,
        text=interim_lines([open_question], 0.05, is_duet=True),
    )
    display.show(known)
    assert isinstance(console.file, io.StringIO)
    first, second = console.file.getvalue().splitlines()
    assert first == "after 3 rounds:"
    assert second.endswith(" so far, about 3 more rounds to decide")


@pytest.mark.parametrize(
    ("values", "is_shown"),
    [([0.0, 0.2, -0.1, 0.1, 0.0, 0.1], True), ([0.0, 0.1, -0.05], False), ([2.0, 2.1, 1.95], True)],
    ids=["narrow", "wide", "wide but decided"],
)
def test_an_interval_that_is_as_vague_as_those_that_guides_leave_out_is_no_figure_either(
    values: list[float], is_shown: bool
) -> None:
    interval = anytime_interval(values, 0.05)
    asked = Question(workload="orders", level=Level(connections=4), system="b", base="a")
    (line,) = interim_lines([Interim(asked, interval, is_decided=False, more=3)], 0.05)
    bounds = Bounds(low=math.exp(interval.low), high=math.exp(interval.high), method="")
    assert bounds.is_vague_ratio is not is_shown
    assert bounds.high < 9 * bounds.low
    assert (" % to +" in line) is is_shown


def test_how_many_trials_there_will_be_follows_from_the_answer_so_far() -> None:
    console = Console(file=io.StringIO(), width=100)
    display = StudyDisplay(console, None)
    display.show(StudyBegan(study="s", trial_count=40, finished_count=4, is_until_decided=True, estimated_s=3600))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith(
        "s: at most 40 trials, 4 of them already finished, at most about 1 h 00 min"
    )
    assert "4/40 trials" in seen(display)
    known = AnswerProgressed(repetitions=2, is_decided=False, more_max=3, trials_left=6, text=("x",))
    display.show(known)
    assert "4/10 trials" in seen(display)
    display.show(known.model_copy(update={"trials_left": None}))
    assert "4/10 trials" in seen(display), "events of earlier versions do not say it"


def test_a_trial_that_stalled_says_so_when_it_ends() -> None:
    console = Console(file=io.StringIO(), width=100)
    figures = {"throughput_tps": 412.0, "response_ms_p99": 1560.0}
    ended = TrialEnded(**CELL, **figures, verdict=Verdict.COMPLETE, reason=None)
    display = StudyDisplay(console, None)
    display.show(ended)
    display.show(ended.model_copy(update={"response_is_lower_bound": True, "stalled_ratio": 0.25}))
    assert isinstance(console.file, io.StringIO)
    plain, stalled = console.file.getvalue().splitlines()
    assert plain.endswith(": 412 tps, p99 1.56 s")
    assert stalled.endswith(": 412 tps, p99 >= 1.56 s; stalled for 25.0 % of the time")


def test_a_second_in_which_nothing_completed_says_for_how_long_that_lasts() -> None:
    second = {"index": 3, "state": State.MEASURE, "throughput_tps": 0.0, "response_ms_p99": None, "error_count": 0}
    assert interval_words(IntervalEnded(**second)) == "0.00 tps"
    assert (
        interval_words(IntervalEnded(**second, in_flight_ms_max=3000.0)) == "0.00 tps, the oldest in flight for 3.00 s"
    )
