"""Runs of a search that are invalid: overload where nothing completed, and else a reason to stop that search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from tests.support.queue_server import QueueServer

from plimsoll.analyse.answers.capacity import capacity_answer
from plimsoll.analyse.study.capacities import capacities
from plimsoll.errors import InvalidTrialError, NothingCompletedError, TargetError
from plimsoll.plan.build import build_plan, search_settings
from plimsoll.plan.capacity import Step
from plimsoll.plan.model import PlannedSearch, PlannedTrial
from plimsoll.prose.capacity import capacity_answer_sentence
from plimsoll.record.capacity import CapacityRun, RunRole, RunVerdict
from plimsoll.record.model import Outcome, Verdict
from plimsoll.run import study_searches
from plimsoll.run.capacity_search import expected_s, read_searches
from plimsoll.run.events import Event, EventLog
from plimsoll.run.execution import Execution
from plimsoll.run.study_searches import StudySearch, StudySearches
from unit.run.test_study_search import spec

EMPTY = Outcome(verdict=Verdict.INVALID, nothing_completed=True, reason="no transaction completed (1205: 900 times)")
INCONSISTENT = Outcome(verdict=Verdict.INVALID, reason="after the load, a/0: W_YTD is not the sum of D_YTD")
Broken = Callable[[PlannedTrial], Outcome | None]


class Server:
    """A made-up server; some of its runs are invalid."""

    def __init__(self, patch: pytest.MonkeyPatch, broken: Broken) -> None:
        self.ran: list[PlannedTrial] = []
        self.finished = set[str]()
        self._broken, self._recorded = broken, dict[str, CapacityRun]()
        patch.setattr(study_searches, "read_recording", lambda path: path.name)
        patch.setattr(study_searches, "judged_run", lambda name, *_, **__: self._recorded[name])

    def run_trial(self, trial: PlannedTrial, _after_overload: bool = False) -> Outcome:
        assert len(self.ran) < 300, "it goes on for ever"
        self.ran.append(trial)
        if (outcome := self._broken(trial)) is not None:
            return outcome
        assert trial.search_role is not None
        assert trial.duration_s is not None
        step = Step(
            role=trial.search_role,
            connections=trial.connections,
            rate_tps=trial.rate_tps,
            duration_s=trial.duration_s,
        )
        chance = np.random.default_rng(trial.seed)
        run = QueueServer(speed_tps=2000.0).run(step, search_settings(spec()).objective, chance)
        self._recorded[trial.trial_id] = run.model_copy(update={"trial_id": trial.trial_id})
        self.finished.add(trial.trial_id)
        return Outcome(verdict=Verdict.COMPLETE)


class Searching:
    """A search on such a server, with what it said."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.seen: list[Event] = []
        self._log = EventLog(folder / "events.jsonl", self.seen.append)
        self.search = StudySearch(
            spec=spec(),
            folder=folder,
            planned=build_plan(spec()).searches[0],
            finished=server.finished,
            log=self._log,
            run_trial=server.run_trial,
        )


def in_sweep(trial: PlannedTrial) -> bool:
    return trial.search_role is RunRole.SWEEP


def test_a_sweep_in_which_nothing_completes_ends_the_search_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(monkeypatch, lambda trial: EMPTY if in_sweep(trial) else None)
    searching = Searching(tmp_path, server)
    with pytest.raises(NothingCompletedError, match="1205: 900 times"):
        searching.search.run()
    assert [(trial.connections, trial.rate_tps) for trial in server.ran] == [(4, None), (16, None), (64, None)]
    (record,) = read_searches(tmp_path)
    assert (record.is_finished, record.stopped) == (False, EMPTY.reason)
    assert [run.throughput_tps for run in record.capacity.runs] == [0, 0, 0]
    assert searching.seen[-1].type == "search_stopped"


def test_a_level_of_the_sweep_at_which_nothing_completes_is_not_the_fastest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(monkeypatch, lambda trial: EMPTY if in_sweep(trial) and trial.connections > 4 else None)
    found = Searching(tmp_path, server).search.run()
    assert found.capacity_tps is not None
    assert {run.connections for run in found.runs if run.rate_tps is not None} == {4}


def test_a_rate_at_which_nothing_completes_is_overload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, lambda trial: EMPTY if (trial.rate_tps or 0) > 1000 else None)
    found = Searching(tmp_path, server).search.run()
    assert found.capacity_tps is not None
    assert found.capacity_tps == pytest.approx(1000, rel=0.03)
    empty = [run for run in found.runs if run.response_ms_p99 is None and (run.rate_tps or 0) > 1000]
    assert {run.verdict for run in empty} == {RunVerdict.DOES_NOT_HOLD}
    assert all(run.trial_id for run in empty)


@pytest.mark.parametrize("role", [RunRole.SWEEP, RunRole.STEADY])
def test_a_run_that_must_not_be_believed_ends_the_search_and_is_no_overload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: RunRole
) -> None:
    server = Server(monkeypatch, lambda trial: INCONSISTENT if trial.search_role is role else None)
    searching = Searching(tmp_path, server)
    with pytest.raises(InvalidTrialError, match="W_YTD"):
        searching.search.run()
    assert [trial.search_role for trial in server.ran].count(role) == 1
    (record,) = read_searches(tmp_path)
    assert record.stopped is not None
    assert server.ran[-1].trial_id in record.stopped
    assert RunVerdict.DOES_NOT_HOLD not in {run.verdict for run in record.capacity.runs if run.throughput_tps == 0}
    (finding,) = capacity_answer(capacities([record]), (), lambda *_: None)
    assert capacity_answer_sentence(finding, "tps").endswith("1 search stopped: " + record.stopped + ".")


def test_a_search_that_stopped_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once = iter([INCONSISTENT])
    server = Server(monkeypatch, lambda trial: next(once, None) if trial.search_role is RunRole.STEADY else None)
    searching = Searching(tmp_path, server)
    with pytest.raises(InvalidTrialError):
        searching.search.run()
    stopped_after = len(server.ran)
    assert searching.search.run().capacity_tps is not None
    assert server.ran[stopped_after].trial_id == server.ran[stopped_after - 1].trial_id
    (record,) = read_searches(tmp_path)
    assert (record.is_finished, record.stopped) == (True, None)


class FakeExecution:
    """Runs trials on a made-up server; says whose data was put back."""

    def __init__(self, server: Server) -> None:
        self.plan, self.finished, self.failed = build_plan(spec(TWO)), server.finished, set[str]()
        self.put_back: list[bool] = []
        self._server = server

    @contextmanager
    def started(self, _first: PlannedSearch) -> Iterator[None]:
        yield

    def run_trial(self, trial: PlannedTrial, _system: object, *, first: bool, remaining: int) -> Outcome:
        self.put_back.append(first)
        return self._server.run_trial(trial)


TWO = """
[study]
name = "s"
levels = { capacity = { response_p99 = "50ms", errors = "0.1%" } }
duration = "30s"
repetitions = 1

[[workload]]
name = "bad"
kind = "oltp_read_write"

[[workload]]
name = "good"
kind = "oltp_read_only"

[[system]]
name = "a"
server = { managed = "mariadb" }
"""


def test_other_searches_go_on_when_one_stops_and_the_study_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(monkeypatch, lambda trial: EMPTY if trial.workload == "bad" else None)
    execution = FakeExecution(server)
    log = EventLog(tmp_path / "events.jsonl")

    def keep(plan: Any) -> None:
        execution.plan = plan

    searches = StudySearches(spec(TWO), tmp_path, log, cast(Execution, execution), keep)
    searches.run()
    log.close()
    assert searches.left_count == 1
    assert searches.why_stopped == f"1 search stopped: a, bad, repetition 1: {EMPTY.reason}"
    assert len(execution.failed) == 3
    of_good = [trial.workload for trial in server.ran].index("good")
    assert execution.put_back[of_good], "the next search begins with data as it was loaded"
    bad, good = read_searches(tmp_path)
    assert (bad.is_finished, good.is_finished) == (False, True)
    assert good.capacity.capacity_tps is not None


@pytest.mark.parametrize(("outcome", "failed"), [(EMPTY, set()), (INCONSISTENT, {"t"})])
def test_only_a_run_in_which_nothing_completed_is_no_failure_of_a_search(outcome: Outcome, failed: set[str]) -> None:
    execution = Execution.__new__(Execution)
    execution.finished, execution.failed, execution._failures_in_a_row = set(), set(), 0
    trial = cast(PlannedTrial, SimpleNamespace(trial_id="t", search_id="s", system="a"))
    execution._count(trial, outcome)
    assert execution.failed == failed
    execution._count(trial, INCONSISTENT)
    with pytest.raises(TargetError, match="trials failed one after the other"):
        [execution._count(trial, INCONSISTENT) for _ in range(3)]


def test_what_is_left_of_a_search_counts_what_each_run_takes_besides_its_load_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searching = Searching(tmp_path, Server(monkeypatch, lambda _: None))
    found = searching.search.run()
    told = [event.remaining_s for event in searching.seen if event.type == "search_progressed"]
    warm_up_s = spec().study.warm_up_limit / 4
    settings = search_settings(spec())
    expected = [
        expected_s(settings, list(found.runs[:count]), warm_up_s=warm_up_s) for count in range(1, len(found.runs) + 1)
    ]
    assert told == expected
