"""What `plimsoll ab` says: who is faster, how sure that is, and what would decide it where it is open."""

from __future__ import annotations

import math
from typing import Any

import pytest

from plimsoll.analyse.answers.answer import AbAnswer, AbComparison, AbSide
from plimsoll.analyse.findings.finding_model import of_verdict
from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.cli.ab_study import ab_lines, plan_words

FLUSH = "innodb_flush_log_at_trx_commit"
ONE, TWO = f"{FLUSH}=1", f"{FLUSH}=2"


def compared(
    ratio: float, half: float | None, verdict: RatioVerdict, *, needed: int | None = 0, rounds: int = 5
) -> AbComparison:
    """The second value against the first; `half` is half the width of the interval, of the logarithm."""
    bounds = None
    if half is not None:
        bounds = Bounds(low=ratio * math.exp(-half), high=ratio * math.exp(half), method="m")
    return AbComparison(
        system=TWO, base=ONE, ratio=Estimate(value=ratio, bounds=bounds, trial_count=rounds), verdict=verdict,
        equal_within=0.05, smallest_decided=None if half is None else math.exp(half), rounds=rounds,
        rounds_needed=needed, grade=of_verdict(verdict, is_measured=half is not None),
    )  # fmt: skip


def said(*comparisons: AbComparison, **facts: Any) -> list[str]:
    known = {"workload": "w", "connections": 8, "took_turns": True, "duration_s": 41.0, "limit_s": 120.0, "sides": ()}
    return list(ab_lines(AbAnswer(comparisons=comparisons, **{**known, **facts})))


def test_the_faster_side_comes_first_and_the_other_by_its_value() -> None:
    faster = compared(1.52, math.log(1.09), RatioVerdict.FASTER)
    assert said(faster) == [f"{TWO} is 1.52 times as fast as =1 (95 % confidence 1.39 to 1.66), 41 s"]
    slower = compared(1 / 1.52, math.log(1.09), RatioVerdict.SLOWER)
    assert said(slower) == [f"{ONE} is 1.52 times as fast as =2 (95 % confidence 1.39 to 1.66), 41 s"]


def test_a_small_difference_has_three_decimals() -> None:
    assert said(compared(1.012, 0.004, RatioVerdict.FASTER)) == [
        f"{TWO} is 1.012 times as fast as =1 (95 % confidence 1.008 to 1.016), 41 s"
    ]


def test_a_disturbed_difference_is_no_answer() -> None:
    (first, *_) = said(compared(1.52, None, RatioVerdict.DISTURBED))
    assert first.startswith(f"disturbed: {TWO} is 1.52 times as fast")


def test_equal_sides_are_equal_within_a_share() -> None:
    assert said(compared(1.01, 0.02, RatioVerdict.EQUAL)) == [
        f"{TWO} and =1 are equally fast within 5 % (ratio 1.010, 95 % confidence 0.990 to 1.030), 41 s"
    ]


def test_an_open_question_says_what_could_have_been_seen_and_what_would_decide() -> None:
    lines = said(compared(1.08, 0.12, RatioVerdict.UNRESOLVED, needed=9), duration_s=109.0)
    assert lines == [
        f"undecided: {TWO} is 1.080 times as fast as =1 (95 % confidence 0.958 to 1.218), 1 min 49 s",
        "Either may be the faster one. With this spread, 5 rounds decide a measured difference of 12.7 % or more.",
        "If the ratio stays, about --for 6m would decide it.",
    ]


@pytest.mark.parametrize("needed", [None, 0])
def test_where_it_is_unknown_what_would_decide_a_longer_run_is_advised(needed: int | None) -> None:
    lines = said(compared(1.0, 0.12, RatioVerdict.UNRESOLVED, needed=needed))
    assert lines[-1] == "A longer run is surer: --for 4m."


def test_an_interrupted_run_says_what_is_known_and_advises_nothing() -> None:
    one = compared(1.2, None, RatioVerdict.UNTESTABLE, needed=None, rounds=1)
    assert said(one, is_interrupted=True) == [
        f"indicated: {TWO} is 1.20 times as fast as =1, 41 s",
        "1 round cannot tell it from chance; three are the fewest.",
    ]


def test_servers_that_were_not_frozen_are_told_of_and_sides_follow() -> None:
    durable = AbSide(name="old", throughput_tps=Estimate(value=1763.0), response_ms_p99=8.09)
    relaxed = AbSide(
        name="newer", throughput_tps=Estimate(value=2679.0), durability="may lose the last second at power loss",
        settings_causing_loss=(("sync_binlog", "0"),),
    )  # fmt: skip
    lines = said(compared(1.52, 0.1, RatioVerdict.FASTER), took_turns=False, sides=(durable, relaxed))
    assert "not frozen" in lines[1]
    assert lines[2:] == [
        "  old     1,763 tps  p99 8.09 ms",
        "  newer   2,679 tps  may lose the last second at power loss (sync_binlog = 0)",
    ]


def test_the_plan_is_told_before_anything_starts() -> None:
    told = {"load": "w, 8 connections", "limit_s": 120.0, "took_turns": True}
    assert plan_words(["a", "b", "c"], **told, climbs=False) == (
        "b and c against a: w, 8 connections, on throwaway servers that take turns; ends when decided, at the latest"
        " after about 2 min 00 s"
    )
    assert "on throwaway servers, by pairs of ramps;" in plan_words(["a", "b"], **told, climbs=True)
