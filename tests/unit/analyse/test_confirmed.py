"""A load that was offered: what it had to hold, its verdict, and the words for it."""

from __future__ import annotations

import pytest

from plimsoll.analyse.answers.size_model import Confirmed, confirmed, objective_to_confirm
from plimsoll.analyse.study.capacities import capacities
from plimsoll.prose.capacity import confirmed_sentence
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, RunVerdict, SearchRecord

OBJECTIVE = CapacityObjective(response_ms_p99=20.0, errors_ratio=0.0)


def searched(*objectives: CapacityObjective, workload: str = "w") -> list[SearchRecord]:
    return [
        SearchRecord(search_id=str(number), system="a", workload=workload, capacity=Capacity(objective=objective))
        for number, objective in enumerate(objectives)
    ]


def offered(verdict: RunVerdict, *, over: float = 0.0, errors: float = 0.0) -> CapacityRun:
    return CapacityRun(
        role=RunRole.CONFIRM,
        connections=16,
        rate_tps=1000.0,
        throughput_tps=998.0,
        response_ms_p99=12.0,
        over_ratio=over,
        errors_ratio=errors,
        duration_s=180.0,
        verdict=verdict,
    )


def judged(verdict: RunVerdict, *, objective: CapacityObjective | None = OBJECTIVE, **facts: bool) -> Confirmed:
    return confirmed(offered(verdict, over=0.009), objective, system="a", **{"is_sustained": True, **facts})


@pytest.mark.parametrize("errors_ratio", [None, 0.0, 0.001])
def test_the_limit_of_errors_is_that_of_the_studys_searches(errors_ratio: float | None) -> None:
    known = capacities(searched(CapacityObjective(response_ms_p99=20.0, errors_ratio=errors_ratio)))
    for asked_ms in (20.0, 500.0, 5.0):
        found = objective_to_confirm(known, "w", asked_ms)
        assert found == CapacityObjective(response_ms_p99=asked_ms, errors_ratio=errors_ratio)
    assert objective_to_confirm(known, "another", 20.0) == CapacityObjective(response_ms_p99=20.0)
    assert objective_to_confirm(known, "w", None) is None


def test_of_several_objectives_that_counts_which_sizing_rests_on() -> None:
    known = capacities(
        searched(
            CapacityObjective(response_ms_p99=10.0, errors_ratio=0.01),
            CapacityObjective(response_ms_p99=50.0, errors_ratio=0.02),
            CapacityObjective(response_ms_p99=90.0, errors_ratio=0.03),
        )
    )
    ratios = [found and found.errors_ratio for found in (objective_to_confirm(known, "w", ms) for ms in (10, 60, 100))]
    assert ratios == [0.01, 0.02, 0.03]


@pytest.mark.parametrize("verdict", [RunVerdict.HOLDS, RunVerdict.UNDECIDED, RunVerdict.DOES_NOT_HOLD])
def test_the_verdict_is_that_of_the_run_unless_the_rate_was_not_sustained(verdict: RunVerdict) -> None:
    assert judged(verdict).verdict is verdict
    assert judged(verdict, is_sustained=False).verdict is RunVerdict.DOES_NOT_HOLD


def test_without_an_objective_the_rate_alone_decides() -> None:
    assert judged(RunVerdict.UNDECIDED, objective=None).verdict is RunVerdict.HOLDS
    assert judged(RunVerdict.HOLDS, objective=None, is_sustained=False).verdict is RunVerdict.DOES_NOT_HOLD


def test_an_open_verdict_says_that_it_is_no_confirmation_and_what_would_decide() -> None:
    said = confirmed_sentence(judged(RunVerdict.UNDECIDED))
    assert said == (
        "a: 1,000 tps with p99 response time within 20.0 ms and errors within 0 % is undecided after 3 min 00 s, p99"
        " response time 12.0 ms, 0.9 % over the objective. That is too near the limit for a run of this length: it is"
        " not confirmed. Run it again for longer."
    )
    assert " held for 3 min" in confirmed_sentence(judged(RunVerdict.HOLDS))
    assert ": 60,000 tpm with p99" in confirmed_sentence(judged(RunVerdict.HOLDS), "tpm")
    behind = confirmed_sentence(judged(RunVerdict.HOLDS, is_sustained=False))
    assert " did not hold for 3 min" in behind
    assert behind.endswith("the server did not keep up with the rate.")


def test_what_does_not_hold_on_a_disturbed_machine_is_undecided_and_what_holds_there_holds() -> None:
    def on_disturbed(verdict: RunVerdict, *, is_sustained: bool = True) -> Confirmed:
        run = offered(verdict, over=0.3).model_copy(update={"is_disturbed": True})
        return confirmed(run, OBJECTIVE, system="a", is_sustained=is_sustained)

    for found in (on_disturbed(RunVerdict.DOES_NOT_HOLD), on_disturbed(RunVerdict.HOLDS, is_sustained=False)):
        assert found.verdict is RunVerdict.UNDECIDED
        assert "Something else slowed the machine" in confirmed_sentence(found)
    assert on_disturbed(RunVerdict.HOLDS).verdict is RunVerdict.HOLDS
    assert judged(RunVerdict.DOES_NOT_HOLD).verdict is RunVerdict.DOES_NOT_HOLD
