"""The search for a capacity, step by step. How near its answers are to the truth: tests/truth/test_capacity.py."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.queue_server import QueueServer

from plimsoll.plan.capacity import Step, capacity_so_far, next_step, remaining_s
from plimsoll.plan.search_settings import SearchSettings
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, RunVerdict

OBJECTIVE = CapacityObjective(response_ms_p99=50.0)
SETTINGS = SearchSettings(objective=OBJECTIVE)
STEADY = QueueServer(speed_tps=2000.0)


def searched(server: QueueServer, seed: int, settings: SearchSettings = SETTINGS) -> Capacity:
    """The answer of a whole search."""
    chance = np.random.default_rng(seed)
    runs: list[CapacityRun] = []
    while isinstance(found := next_step(settings, runs), Step):
        runs.append(server.run(found, settings.objective, chance))
    return found


def test_low_is_further_below_the_answer_than_a_search_may_be_wrong() -> None:
    answer = searched(STEADY, 2)
    assert answer.capacity_tps is not None
    assert answer.low == pytest.approx(answer.capacity_tps / 1.06, rel=1e-3)
    assert answer.high is not None
    assert answer.high > answer.capacity_tps


def answered_low(above: RunVerdict) -> list[CapacityRun]:
    """A search of a server whose confirmations failed again and again, and the run above its answer."""

    def run(role: RunRole, rate_tps: float, verdict: RunVerdict, duration_s: float = 30.0) -> CapacityRun:
        over_ratio = {RunVerdict.HOLDS: 0.0, RunVerdict.UNDECIDED: 0.011}.get(verdict, 0.3)
        return CapacityRun(
            role=role, connections=16, rate_tps=rate_tps, throughput_tps=rate_tps, over_ratio=over_ratio,
            duration_s=duration_s, verdict=verdict,
        )  # fmt: skip

    swept = [
        CapacityRun(
            role=RunRole.SWEEP, connections=count, throughput_tps=2000.0, over_ratio=1.0, duration_s=5.0,
            verdict=RunVerdict.NOT_JUDGED,
        )
        for count in SETTINGS.connections
    ]  # fmt: skip
    probes = [
        *(run(RunRole.BISECT, tps, RunVerdict.HOLDS, 10.0) for tps in (1500, 1800, 1900)),
        *(run(RunRole.BISECT, tps, RunVerdict.DOES_NOT_HOLD, 10.0) for tps in (2100, 2150, 2200)),
    ]
    failed = [run(RunRole.CONFIRM, tps, RunVerdict.DOES_NOT_HOLD) for tps in (1900.0, 1872.0, 1844.0)]
    held = [run(RunRole.CONFIRM, 1800.0, RunVerdict.HOLDS)] * 3
    return [*swept, *probes, *failed, *held, run(RunRole.ABOVE, 1908.0, above)]


def test_above_an_answer_whose_rates_above_failed_only_late_a_run_must_fail() -> None:
    runs = answered_low(RunVerdict.DOES_NOT_HOLD)
    asked = next_step(SETTINGS, runs[:-1])
    assert isinstance(asked, Step)
    assert (asked.role, asked.rate_tps, asked.duration_s) == (RunRole.ABOVE, 1908.0, 30.0)
    answer = next_step(SETTINGS, runs)
    assert isinstance(answer, Capacity)
    assert (answer.capacity_tps, answer.low, answer.high) == (1800.0, 1698.0, 1844.0)


def test_a_search_whose_confirmations_failed_without_a_crossing_tries_lower() -> None:
    *swept, failed = [*answered_low(RunVerdict.HOLDS)[: len(SETTINGS.connections)], answered_low(RunVerdict.HOLDS)[-5]]
    asked = next_step(SETTINGS, [*swept, failed])
    assert isinstance(asked, Step)
    assert (asked.role, asked.rate_tps) == (RunRole.CONFIRM, 1817.0)


def test_where_the_run_above_holds_the_search_begins_again_there() -> None:
    again = next_step(SETTINGS, answered_low(RunVerdict.HOLDS))
    assert isinstance(again, Step)
    assert (again.role, again.rate_tps) == (RunRole.BRACKET, 2290.0)
    found = searched(STEADY, 3)
    assert found.capacity_tps is not None
    runs = [*answered_low(RunVerdict.HOLDS), *found.runs[len(SETTINGS.connections) :]]
    assert capacity_so_far(SETTINGS, runs).low == 1698.0  # below the first answer too


def test_where_the_run_above_is_undecided_it_is_extended_and_one_further_above_follows() -> None:
    runs = answered_low(RunVerdict.UNDECIDED)
    longer = next_step(SETTINGS, runs)
    assert isinstance(longer, Step)
    assert (longer.role, longer.rate_tps, longer.duration_s) == (RunRole.ABOVE, 1908.0, 60.0)
    further = next_step(SETTINGS, [*runs, runs[-1].model_copy(update={"duration_s": 60.0})])
    assert isinstance(further, Step)
    assert (further.role, further.rate_tps) == (RunRole.ABOVE, 2070.0)


def test_the_answer_was_confirmed_and_says_by_which_runs() -> None:
    answer = searched(STEADY, 1)
    confirmed = [one for one in answer.runs if one.role is RunRole.CONFIRM and one.rate_tps == answer.capacity_tps]
    assert len(confirmed) == SETTINGS.confirmations
    assert [one.role for one in answer.runs[:3]] == [RunRole.SWEEP] * 3


def test_an_objective_below_the_servers_own_time_is_never_met() -> None:
    answer = searched(STEADY, 1, SearchSettings(objective=CapacityObjective(response_ms_p99=3.0)))
    assert (answer.capacity_tps, answer.low) == (None, None)
    assert answer.high is not None
    assert len(answer.runs) < 20


def test_a_server_that_does_nothing_in_the_sweep_ends_the_search() -> None:
    runs = [
        CapacityRun(
            role=RunRole.SWEEP, connections=n, throughput_tps=0, over_ratio=1, duration_s=5, verdict="not_judged"
        )
        for n in SETTINGS.connections
    ]
    found = next_step(SETTINGS, runs)
    assert isinstance(found, Capacity)
    assert found.capacity_tps is None


def test_the_same_runs_give_the_same_next_step() -> None:
    runs = searched(STEADY, 3).runs
    for count in range(len(runs)):
        step = next_step(SETTINGS, runs[:count])
        assert isinstance(step, Step)
        assert (step.role, step.rate_tps, step.duration_s) == (
            runs[count].role,
            runs[count].rate_tps,
            runs[count].duration_s,
        )


def test_a_run_after_overload_says_so() -> None:
    runs = searched(STEADY, 4).runs
    steps = [next_step(SETTINGS, runs[:count]) for count in range(1, len(runs))]
    for before, step in zip(runs, steps, strict=False):
        assert isinstance(step, Step)
        assert step.after_overload is (before.verdict is not RunVerdict.HOLDS)


def test_what_is_left_falls_to_nothing() -> None:
    runs = searched(STEADY, 5).runs
    assert remaining_s(SETTINGS, ())[1] > 100
    assert remaining_s(SETTINGS, runs) == (0, 0.0)


def test_what_is_known_half_way_is_no_answer_yet() -> None:
    swept_and_probed = answered_low(RunVerdict.HOLDS)[: len(SETTINGS.connections) + 6]
    half = capacity_so_far(SETTINGS, swept_and_probed)
    assert (half.capacity_tps, half.low, half.high) == (None, 1900.0, 2100.0)
