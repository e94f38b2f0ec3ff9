"""The answer of a search in words: what is known is said, also where its other half is not."""

from __future__ import annotations

import pytest

from plimsoll.analyse.findings.finding_model import make_finding
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.prose.capacity import capacity_answer_sentence, capacity_sentences
from plimsoll.record.capacity import (
    GIVEN_UP_FROM,
    Capacity,
    CapacityObjective,
    CapacityRun,
    RunRole,
    RunVerdict,
)
from plimsoll.record.model import TrialWarning

OBJECTIVE = CapacityObjective(response_ms_p99=20.0)


def run(rate_tps: float | None, verdict: RunVerdict, over: float = 0.0, role: RunRole = RunRole.CONFIRM) -> CapacityRun:
    return CapacityRun(
        role=role,
        connections=16,
        rate_tps=rate_tps,
        throughput_tps=100.0,
        over_ratio=over,
        duration_s=30.0,
        verdict=verdict,
    )


def said(**facts: object) -> str:
    return "\n".join(capacity_sentences(Capacity.model_validate({"objective": OBJECTIVE, **facts})))


def test_the_answer_names_the_connections_that_served_it() -> None:
    sweep = run(None, RunVerdict.NOT_JUDGED, role=RunRole.SWEEP).model_copy(update={"connections": 64})
    runs = (sweep, *[run(1000.0, RunVerdict.HOLDS)] * 3)
    assert said(capacity_tps=1000.0, low=940.0, high=1100.0, runs=runs) == (
        "Capacity: 1,000 tps at 16 connections, with p99 response time within 20.0 ms, from 3 runs.\n"
        "With 95 % confidence it lies between 940 tps and 1,100 tps."
    )


def test_an_interval_that_is_open_says_why() -> None:
    runs = (run(1000.0, RunVerdict.UNDECIDED),)
    assert "at least 940 tps. No upper limit is known" in said(capacity_tps=1000.0, low=940.0, runs=runs)
    unknown = said(capacity_tps=1000.0, high=1100.0, runs=runs)
    assert unknown.endswith("with longer runs. It is at most 1,100 tps, with 95 % confidence.")


def test_a_closed_loop_that_contradicts_is_told_with_both_figures() -> None:
    sweep = run(None, RunVerdict.NOT_JUDGED, role=RunRole.SWEEP)
    sweep = sweep.model_copy(update={"connections": 64, "throughput_tps": 646.0, "response_ms_p99": 12.0})
    told = said(runs=(sweep, run(88.0, RunVerdict.DOES_NOT_HOLD, 0.4), run(40.0, RunVerdict.HOLDS)), low=40.0)
    assert told.startswith("No capacity is known: 88.0 tps did not hold p99 response time within 20.0 ms, but 64 ")
    assert "did 646 tps within it" in told


def test_what_a_disturbed_search_found_is_no_capacity() -> None:
    met = Disturbance(
        watched_s=30, slow_ratio=0.5, slowness=1.5, wait_ms=4.0, best_wait_ms=1.0, from_unix_s=0.0, to_unix_s=86_400.0
    )
    make_finding = Capacity(capacity_tps=1000.0, low=940.0, objective=OBJECTIVE, runs=(run(1000.0, RunVerdict.HOLDS),))
    first, second, *_ = capacity_sentences(make_finding, (), met)
    assert first == (
        "Disturbed: the search ran while the machine was 1.50 times as slow as at its best: over 10 % slower in 50.0 %"
        " of the seconds, between 1970-01-01 00:00:00 and 1970-01-02 00:00:00 UTC; threads waited 4.00 ms per"
        " transaction for a processor, against 1.00 ms at best. Find what else ran on the machine then, and measure"
        " again."
    )
    assert second.startswith("It found 1,000 tps")
    assert "confirmed" not in second


def test_without_a_rate_that_holds_the_advice_is_by_what_was_seen() -> None:
    failing = (run(50.0, RunVerdict.DOES_NOT_HOLD, 0.9), run(1.0, RunVerdict.DOES_NOT_HOLD, 0.5))
    assert said(runs=failing) == (
        "No rate was found that holds p99 response time within 20.0 ms: the lowest that was measured is 1.00 tps, with"
        " 50.0 % over the objective.\n"
        "Relax the objective, or check whether the server and its data are as they should be."
    )
    mixed = said(runs=(*failing, run(1.0, RunVerdict.HOLDS)))
    assert mixed.endswith("make runs longer, or measure on a quieter machine.")


@pytest.mark.parametrize("held", [(), (run(1.0, RunVerdict.HOLDS),)])
def test_a_disturbed_machine_is_named_before_the_objective(held: tuple[CapacityRun, ...]) -> None:
    runs = (run(50.0, RunVerdict.DOES_NOT_HOLD, 0.9), run(1.0, RunVerdict.DOES_NOT_HOLD, 0.5), *held)
    make_finding = Capacity.model_validate({"objective": OBJECTIVE, "runs": runs})
    codes = ("host-busy-elsewhere", "machine-slower", "client-on-server-host", "not-durable")
    warnings = [TrialWarning(code=code, evidence="e", advice="a") for code in codes]
    *_, advice = capacity_sentences(make_finding, warnings)
    assert advice == (
        "The measurement was disturbed (host-busy-elsewhere, machine-slower; see the warnings). So this says nothing"
        " about the objective: remove the cause and search again."
    )
    *_, undisturbed = capacity_sentences(make_finding, warnings[2:])
    assert "disturbed" not in undisturbed


@pytest.mark.parametrize(
    ("high", "limit"),
    [
        (1100.0, " By the runs of one search it lies between 900 tps and 1,100 tps."),
        (None, " By its own runs it is at least 900 tps; they contradict each other above that."),
    ],
)
def test_the_interval_of_one_search_is_said(high: float | None, limit: str) -> None:
    finding = make_finding(
        "capacity",
        system="a",
        workload="w",
        capacity_tps=Estimate(value=1000.0, trial_count=1),
        low_tps=900.0,
        high_tps=high,
        objective_ms_p99=20.0,
        errors_ratio=None,
        searches_count=1,
        unfinished_count=0,
    )
    start = "w: a has a capacity of 1,000 tps with p99 response time within 20.0 ms."
    assert capacity_answer_sentence(finding, "tps") == start + limit


def test_searches_that_stopped_and_that_were_interrupted_are_told_apart() -> None:
    finding = make_finding(
        "capacity",
        system="a",
        workload="w",
        capacity_tps=None,
        low_tps=None,
        high_tps=None,
        objective_ms_p99=20.0,
        errors_ratio=None,
        searches_count=0,
        unfinished_count=3,
        stopped=("nothing completed.", "another reason"),
    )
    assert capacity_answer_sentence(finding, "tps").endswith(
        "is not known yet. 1 search not finished. 2 searches stopped: nothing completed."
    )


def test_a_search_that_was_given_up_says_what_is_known_and_no_figure_of_its_own() -> None:
    sweep = run(None, RunVerdict.NOT_JUDGED, role=RunRole.SWEEP).model_copy(update={"throughput_tps": 1868.0})
    held, failed = (
        run(tps, verdict, over, RunRole.BRACKET).model_copy(update={"is_disturbed": True, "made_again": True})
        for tps, verdict, over in [(900.0, RunVerdict.HOLDS, 0.0), (1400.0, RunVerdict.DOES_NOT_HOLD, 0.9)]
    )
    told = said(low=900.0, runs=(sweep, held, *[failed] * (GIVEN_UP_FROM - 1))).splitlines()
    assert told == [
        "No capacity is known: 12 of 12 runs at rates met a disturbed machine, so that the search ended early.",
        "The objective, p99 response time within 20.0 ms, held at 900 tps in one run.",
        "A closed loop of 16 connections completed 1,868 tps: the capacity is hardly above that if the machine was"
        " quiet then.",
        "Search again when the machine has nothing else to do; longer runs do not help.",
    ]
    slow = sweep.model_copy(update={"is_disturbed": True, "response_ms_p99": 43.5})
    told = said(runs=(slow, *[failed] * GIVEN_UP_FROM)).splitlines()
    assert told[1].endswith("held in no run.")
    assert told[2].endswith("p99 43.5 ms: that was on a disturbed machine too, so that the capacity may be above it.")


def test_an_answer_below_half_of_a_closed_loop_says_so() -> None:
    sweep = run(None, RunVerdict.NOT_JUDGED, role=RunRole.SWEEP)
    runs = (run(51.0, RunVerdict.HOLDS),)
    for swept_tps, is_far_below in ((110.0, True), (100.0, False)):
        swept = sweep.model_copy(update={"throughput_tps": swept_tps, "response_ms_p99": 90.0})
        told = said(capacity_tps=51.0, low=49.0, high=53.0, runs=(swept, *runs))
        assert ("A closed loop completed 110 tps, more than twice as much." in told) is is_far_below
