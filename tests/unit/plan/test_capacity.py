"""The search for a capacity, step by step. How near its answers are to the truth: tests/truth/test_capacity.py."""

from __future__ import annotations

import math

import numpy as np
from tests.support.queue_server import QueueServer

from plimsoll.plan.capacity import SearchSettings, Step, capacity_so_far, next_step, remaining_s
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
    assert answer.low is not None
    assert answer.low <= answer.capacity_tps / 1.059
    assert answer.high is not None
    assert answer.high > answer.capacity_tps


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
    runs = searched(STEADY, 6).runs
    half = capacity_so_far(SETTINGS, runs[: len(runs) // 2])
    assert half.capacity_tps is None
    assert half.low is not None
    assert math.isfinite(half.low)
