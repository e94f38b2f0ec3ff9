"""The search for a capacity, step by step. How near its answers are to the truth: tests/truth/test_capacity.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
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


def swept(tps: float = 2000.0, p99_ms: float | None = None) -> list[CapacityRun]:
    return [
        CapacityRun(
            role=RunRole.SWEEP, connections=count, throughput_tps=tps, over_ratio=1.0, duration_s=5.0,
            response_ms_p99=p99_ms, verdict=RunVerdict.NOT_JUDGED,
        )
        for count in SETTINGS.connections
    ]  # fmt: skip


def run(rate_tps: float, over_ratio: float, role: RunRole = RunRole.BRACKET, duration_s: float = 10.0) -> CapacityRun:
    verdict = RunVerdict.HOLDS if over_ratio <= 0.01 else RunVerdict.DOES_NOT_HOLD
    return CapacityRun(
        role=role, connections=16, rate_tps=rate_tps, throughput_tps=rate_tps, over_ratio=over_ratio,
        duration_s=duration_s, verdict=verdict,
    )  # fmt: skip


def rates_asked(runs: list[CapacityRun], over: Callable[[float], float]) -> list[float]:
    """The rates of an approach to a server of which this share is over at a rate, up to the first steady run."""
    runs = list(runs)
    rates: list[float] = []
    while isinstance(step := next_step(SETTINGS, runs), Step) and step.role is RunRole.BRACKET:
        assert step.rate_tps is not None
        rates.append(step.rate_tps)
        runs.append(run(step.rate_tps, over(step.rate_tps)))
    return rates


def test_the_rate_rises_until_the_objective_fails() -> None:
    assert rates_asked(swept(), lambda tps: 0.2 if tps > 2000 else 0.0) == [1500.0, 1800.0, 2160.0]


def test_the_rate_falls_until_the_objective_holds_and_is_tried_again_before_it_is_implausible() -> None:
    assert rates_asked(swept(), lambda tps: 0.2 if tps > 800 else 0.0) == [1500.0, 1154.0, 1154.0, 887.7, 443.9]


def test_a_fiftieth_of_the_closed_loop_is_the_lowest_rate() -> None:
    rates = rates_asked(swept(), lambda _: 0.2)
    assert 40 <= rates[-1] < 80


def test_no_run_at_a_rate_has_fewer_than_300_arrivals() -> None:
    step = next_step(SETTINGS, swept(4.0))
    assert isinstance(step, Step)
    assert (step.rate_tps, step.duration_s) == (3.0, 100.0)


def test_steady_runs_lie_in_turn_below_and_above_the_crossing_and_their_number_is_fixed() -> None:
    answer = searched(STEADY, 2)
    steady = [one.rate_tps or 0.0 for one in answer.runs if one.role is RunRole.STEADY]
    assert len(steady) == SETTINGS.steady_runs
    assert all(low < high for low, high in zip(steady[::2], steady[1::2], strict=True))
    assert answer.capacity_tps is not None
    assert answer.low is not None
    assert answer.high is not None
    assert answer.low < answer.capacity_tps < answer.high
    assert answer.deciding
    assert all((one.rate_tps or 0.0) <= answer.capacity_tps for one in answer.deciding)


def test_one_run_in_a_slow_minute_moves_the_estimate_and_the_next_ones_move_it_back() -> None:
    runs = list(searched(STEADY, 6).runs)
    first = next(place for place, one in enumerate(runs) if one.role is RunRole.STEADY)
    slow = runs[first].model_copy(update={"over_ratio": 0.9, "verdict": RunVerdict.DOES_NOT_HOLD})
    found = [*runs[:first], slow]
    chance = np.random.default_rng(6)
    while isinstance(step := next_step(SETTINGS, found), Step):
        found.append(STEADY.run(step, OBJECTIVE, chance))
    truth_tps = STEADY.capacity_tps(OBJECTIVE.response_ms_p99)
    assert step.capacity_tps == pytest.approx(truth_tps, rel=0.05)


def test_a_closed_loop_that_did_far_more_within_the_objective_contradicts_the_answer() -> None:
    runs = [*swept(2000.0, p99_ms=20.0), *(run(tps, 0.5) for tps in (1500.0, 1154.0, 1154.0, 887.7)), run(443.9, 0.0)]
    steady = [run(tps, over, RunRole.STEADY, 20.0) for tps, over in [(600.0, 0.001), (700.0, 0.3)] * 6]
    found = next_step(SETTINGS, [*runs, *steady])
    assert isinstance(found, Capacity)
    assert (found.capacity_tps, found.contradicts_sweep, found.holds_nowhere) == (None, True, False)
    slower = [one.model_copy(update={"response_ms_p99": 60.0}) for one in runs[: len(SETTINGS.connections)]]
    found = next_step(SETTINGS, [*slower, *runs[len(slower) :], *steady])
    assert isinstance(found, Capacity)
    assert found.capacity_tps == pytest.approx(640, rel=0.1)


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
        assert step.after_overload is (before.rate_tps is None or before.over_ratio > 0.01)


def test_what_is_left_falls_to_nothing() -> None:
    runs = searched(STEADY, 5).runs
    assert remaining_s(SETTINGS, ())[1] > 100
    assert remaining_s(SETTINGS, runs) == (0, 0.0)


def test_what_is_known_half_way_is_no_answer_yet() -> None:
    half = capacity_so_far(SETTINGS, [*swept(), run(1500.0, 0.0), run(1800.0, 0.001), run(2160.0, 0.4)])
    assert (half.capacity_tps, half.low, half.high) == (None, 1800.0, 2160.0)


def test_a_run_that_was_made_again_counts_for_nothing() -> None:
    runs = [*swept(), run(1500.0, 0.0), run(1800.0, 0.0), run(2160.0, 0.4)]
    slow = run(1500.0, 0.9).model_copy(update={"is_disturbed": True, "made_again": True})
    asked, again = next_step(SETTINGS, runs), next_step(SETTINGS, [*runs[:4], slow, *runs[4:]])
    assert asked == again
    assert capacity_so_far(SETTINGS, [*runs, slow]).low == 1800.0
