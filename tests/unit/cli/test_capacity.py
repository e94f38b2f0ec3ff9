"""`plimsoll capacity` as a command: what it prints of a search, also of one that was interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from plimsoll.analyse.study.capacity_model import CapacityAnswer
from plimsoll.cli.capacity import _search_and_show
from plimsoll.plan.capacity import SearchSettings
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, RunVerdict, SearchRecord
from plimsoll.run import capacity_target

OBJECTIVE = CapacityObjective(response_ms_p99=20.0)
SETTINGS = SearchSettings(objective=OBJECTIVE)


def swept(connections: int, tps: float) -> CapacityRun:
    return CapacityRun(
        role=RunRole.SWEEP,
        connections=connections,
        throughput_tps=tps,
        over_ratio=1.0,
        duration_s=5.0,
        verdict=RunVerdict.NOT_JUDGED,
    )


def at(rate_tps: float, verdict: RunVerdict) -> CapacityRun:
    return swept(64, rate_tps).model_copy(
        update={"role": RunRole.CONFIRM, "rate_tps": rate_tps, "verdict": verdict, "over_ratio": 0.002}
    )


class FakeSearch:
    """A search that found this, or was ended when it knew this."""

    expected_s = 1.0
    recordings: tuple[object, ...] = ()

    def __init__(self, found: Capacity, *, is_cut: bool) -> None:
        self.so_far, self._is_cut = found, is_cut
        self.record = SearchRecord(search_id="s", system="a", workload="w", is_finished=not is_cut, capacity=found)

    def run(self) -> Capacity:
        if self._is_cut:
            raise KeyboardInterrupt
        return self.so_far


Searches = Callable[..., None]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Searches:
    def use(*runs: CapacityRun, is_cut: bool = False, **facts: float) -> None:
        found = Capacity(objective=OBJECTIVE, runs=runs, **facts)
        monkeypatch.setattr(capacity_target, "TargetSearch", lambda *_: FakeSearch(found, is_cut=is_cut))

    return use


def ran(*, as_json: bool) -> int:
    return _search_and_show(cast(Any, None), cast(Any, None), SETTINGS, as_json=as_json, plain=False)


SWEEP = (swept(4, 500.0), swept(16, 900.0), swept(64, 2000.0))
HELD = (at(1500.0, RunVerdict.HOLDS),) * 3


def test_the_answer_names_its_connections_and_doubts_a_sweep_that_ended_too_early(
    searches: Searches, capsys: pytest.CaptureFixture[str]
) -> None:
    searches(*SWEEP, *HELD, capacity_tps=1500.0, low=1400.0, high=1600.0)
    assert ran(as_json=False) == 0
    said = capsys.readouterr().out
    assert said.startswith("Capacity: 1,500 tps at 64 connections, with p99 response time within 20.0 ms")
    assert "warning: peak-at-last-level: The sweep was fastest, 2,000 tps, with the most connections" in said
    rows = [line.split() for line in said.splitlines() if line.startswith("sweep")]
    assert [row[1] for row in rows] == ["4", "16", "64"]


def test_json_has_what_it_had_and_the_connections_and_warnings(
    searches: Searches, capsys: pytest.CaptureFixture[str]
) -> None:
    searches(*SWEEP, *HELD, capacity_tps=1500.0, low=1400.0, high=1600.0)
    assert ran(as_json=True) == 0
    said = json.loads(capsys.readouterr().out)
    found = CapacityAnswer.model_validate(said)
    assert (found.capacity_tps, found.low, found.high, found.objective) == (1500.0, 1400.0, 1600.0, OBJECTIVE)
    assert found.runs == (*SWEEP, *HELD)
    assert (found.connections, [warning.code for warning in found.warnings]) == (64, ["peak-at-last-level"])


def test_no_rate_that_holds_is_exit_code_1(searches: Searches, capsys: pytest.CaptureFixture[str]) -> None:
    searches(swept(4, 500.0), at(1.0, RunVerdict.DOES_NOT_HOLD))
    assert ran(as_json=False) == 1
    assert "Relax the objective" in capsys.readouterr().out


def test_an_interrupted_search_prints_what_is_known_and_is_exit_code_130(
    searches: Searches, capsys: pytest.CaptureFixture[str]
) -> None:
    searches(swept(4, 500.0), at(300.0, RunVerdict.HOLDS), is_cut=True, low=280.0)
    assert ran(as_json=False) == 130
    printed = capsys.readouterr()
    assert "The search did not end: p99 response time within 20.0 ms held at 280 tps." in printed.out
    assert "interrupted: what is known so far" in printed.err


def test_a_search_that_was_interrupted_before_its_first_run_prints_nothing(
    searches: Searches, capsys: pytest.CaptureFixture[str]
) -> None:
    searches(is_cut=True)
    with pytest.raises(KeyboardInterrupt):
        ran(as_json=True)
    assert capsys.readouterr().out == ""
