"""What makes the answer of a search doubtful: the runs that it rests on, and a sweep that may have ended too early."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analyse.findings.curves import check_searches, deciding_trials
from plimsoll.analyse.study.capacities import capacities
from plimsoll.guide.warnings import load_warnings, search_doubts
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, RunVerdict, SearchRecord
from plimsoll.record.environment import ClientFacts
from plimsoll.record.level import Level
from support.made import Made, measured

OBJECTIVE = CapacityObjective(response_ms_p99=20.0)


def run_at(rate_tps: float | None, number: int, **facts: Any) -> CapacityRun:
    usual = {
        "role": RunRole.CONFIRM,
        "connections": 8,
        "throughput_tps": rate_tps,
        "over_ratio": 0.0,
        "duration_s": 30.0,
        "verdict": RunVerdict.HOLDS,
    }
    return CapacityRun(trial_id=f"{rate_tps}-{number}", rate_tps=rate_tps, **{**usual, **facts})


def record(runs: list[CapacityRun], capacity_tps: float | None) -> SearchRecord:
    capacity = Capacity(capacity_tps=capacity_tps, objective=OBJECTIVE, runs=tuple(runs))
    return SearchRecord(search_id="s", system="a", workload="read-write", is_finished=True, capacity=capacity)


def recorded(run: CapacityRun, *, on_server_host: bool = False) -> Made:
    made = measured([run.throughput_tps] * 30, search_id="s")
    level = Level(connections=run.connections, rate_tps=run.rate_tps)
    trial = made.trial.model_copy(update={"trial_id": run.trial_id, "level": level})
    environment = made.environment.model_copy(update={"client": ClientFacts(on_server_host=on_server_host)})
    return replace(made, trial=trial, environment=environment)


def sweep(**tps: float) -> list[CapacityRun]:
    return [
        run_at(None, int(count[1:]), role=RunRole.SWEEP, connections=int(count[1:]), throughput_tps=each)
        for count, each in tps.items()
    ]


@pytest.mark.parametrize(
    ("swept", "is_doubted"),
    [
        (sweep(c4=500.0, c16=900.0, c64=1000.0), True),
        (sweep(c64=1000.0, c4=500.0, c16=900.0), True),
        (sweep(c4=500.0, c16=970.0, c64=1000.0), False),
        (sweep(c4=500.0, c16=1000.0, c64=900.0), False),
        (sweep(c16=1000.0), False),
    ],
)
def test_a_sweep_that_was_fastest_at_its_end_by_far_is_doubted(swept: list[CapacityRun], is_doubted: bool) -> None:
    doubts = list(check_searches(capacities([record(swept, None)]), ()))
    assert [doubt.kind.code for doubt in doubts] == ["peak-at-last-level"] * is_doubted
    assert all(doubt.evidence.figures["connections_count"] == 64 for doubt in doubts)


def test_an_answer_rests_on_its_longer_runs_and_without_one_on_the_lowest_rate() -> None:
    runs = [*sweep(c8=900.0), run_at(500.0, 1), run_at(600.0, 1), run_at(500.0, 2)]
    assert deciding_trials(capacities([record(runs, 550.0)])) == {"500.0-1", "500.0-2"}
    assert deciding_trials(capacities([record(runs, None)])) == {"500.0-1", "500.0-2"}
    assert deciding_trials(capacities([record(sweep(c8=900.0), None)])) == frozenset()


def test_only_the_runs_that_an_answer_rests_on_are_doubted() -> None:
    runs = [run_at(700.0, 1), run_at(600.0, 1), run_at(600.0, 2)]
    for bad, expected in ((700.0, False), (600.0, True)):
        recordings = [recorded(run, on_server_host=run.rate_tps == bad) for run in runs]
        codes = [warning.code for warning in search_doubts(recordings, record(runs, 600.0)).warnings]
        assert ("client-on-server-host" in codes) is expected
        assert "single-repetition" not in codes


def test_a_single_load_is_doubted_but_not_for_being_single() -> None:
    load = recorded(run_at(600.0, 1), on_server_host=True)
    found = load_warnings(replace(load, trial=load.trial.model_copy(update={"search_id": None})))
    assert "client-on-server-host" in {one.code for one in found}
    assert "single-repetition" not in {one.code for one in found}
    assert all(one.evidence and one.advice for one in found)
