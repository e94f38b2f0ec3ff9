"""A search within a study: its steps become trials, and what was recorded is not run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.support.queue_server import QueueServer, machine_at

from plimsoll.plan.build import build_plan, search_settings, searched_trial
from plimsoll.plan.capacity import Step
from plimsoll.plan.model import PlannedTrial
from plimsoll.record.capacity import GIVEN_UP_FROM, Capacity, CapacityRun, RunRole, RunVerdict
from plimsoll.record.model import Outcome, Verdict
from plimsoll.run import study_searches
from plimsoll.run.capacity_search import Search, read_searches
from plimsoll.run.events import Event, EventLog
from plimsoll.run.study_searches import StudySearch
from plimsoll.spec.study import StudySpec, parse_study

TEXT = """
[study]
name = "s"
levels = { capacity = { response_p99 = "50ms", errors = "0.1%" } }
duration = "30s"
repetitions = 2

[[workload]]
name = "w"
kind = "oltp_read_only"

[[system]]
name = "a"
server = { managed = "mariadb" }
[[system]]
name = "b"
server = { managed = "mariadb", options = { sync_binlog = 1 } }
"""


def spec(text: str = TEXT) -> StudySpec:
    return parse_study(text)


def test_each_system_is_searched_in_each_repetition_in_balanced_order() -> None:
    plan = build_plan(spec())
    assert [search.repetition for search in plan.searches] == [0, 0, 1, 1]
    first, second = [[search.system for search in plan.searches if search.repetition == number] for number in (0, 1)]
    assert first == second[::-1]
    assert len({search.search_id for search in plan.searches}) == 4
    assert plan.trials == ()
    assert plan.estimates.total_s > 4 * 60


def test_another_objective_finds_the_same_recordings_and_another_duration_none() -> None:
    ids = [search.search_id for search in build_plan(spec()).searches]
    assert [search.search_id for search in build_plan(spec(TEXT.replace('"50ms"', '"20ms"'))).searches] == ids
    assert not {search.search_id for search in build_plan(spec(TEXT.replace('"30s"', '"60s"'))).searches} & set(ids)


def test_a_trials_id_follows_from_its_rate_and_its_place_among_equal_runs() -> None:
    search = build_plan(spec()).searches[0]
    step = Step(role=RunRole.CONFIRM, connections=16, rate_tps=1234.0, duration_s=30.0)
    again = Step(role=RunRole.CONFIRM, connections=16, rate_tps=1234.0, duration_s=30.0, ordinal=1)
    ids = {searched_trial(search, one, instances=1).trial_id for one in (step, step, again)}
    assert len(ids) == 2
    assert all("1234tps" in one for one in ids)


def test_a_search_that_was_killed_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, settings = spec(), search_settings(spec())
    server, recorded = QueueServer(speed_tps=2000.0), dict[str, CapacityRun]()
    finished, ran, seen = set[str](), list[str](), list[Event]()

    overloaded: list[tuple[bool, bool]] = []

    def run_trial(trial: PlannedTrial, after_overload: bool) -> Outcome:
        if len(ran) == 7 and len(finished) == 7:
            ran.append("killed")
            raise KeyboardInterrupt
        assert trial.search_role is not None
        assert trial.duration_s is not None
        step = Step(
            role=trial.search_role,
            connections=trial.connections,
            rate_tps=trial.rate_tps,
            duration_s=trial.duration_s,
        )
        chance = np.random.default_rng(trial.seed)
        recorded[trial.trial_id] = server.run(step, settings.objective, chance).model_copy(
            update={"trial_id": trial.trial_id}
        )
        before = recorded.get(ran[-1]) if ran and ran[-1] != "killed" else None
        if before is not None:
            overloaded.append((after_overload, before.rate_tps is None or before.over_ratio > 0.01))
        ran.append(trial.trial_id)
        finished.add(trial.trial_id)
        return Outcome(verdict=Verdict.COMPLETE)

    monkeypatch.setattr(study_searches, "read_recording", lambda path: path.name)
    monkeypatch.setattr(study_searches, "judged_run", lambda name, *_, **__: recorded[name])
    log = EventLog(tmp_path / "events.jsonl", seen.append)
    search = StudySearch(
        spec=made,
        folder=tmp_path,
        planned=build_plan(made).searches[0],
        finished=finished,
        log=log,
        run_trial=run_trial,
    )
    with pytest.raises(KeyboardInterrupt):
        search.run()
    (half,) = read_searches(tmp_path)
    assert (half.is_finished, len(half.capacity.runs)) == (False, 7)
    found = search.run()
    log.close()
    assert len(set(ran)) == len(ran), "nothing ran twice"
    assert found.capacity_tps is not None
    (whole,) = read_searches(tmp_path)
    assert whole.is_finished
    assert whole.capacity == found
    assert seen[-1].type == "search_ended"
    assert {(True, True), (False, False)} == set(overloaded), "data is put back after an overload and only then"


@pytest.mark.parametrize(
    ("levels", "fault"),
    [
        ('{ capacity = { response_p99 = "20ms" }, rate_tps = [1.0] }', "cannot stand beside capacity"),
        ('{ capacity = { response_p99 = "20ms", errors = 0.1 } }', "must be text with a unit"),
        ('{ capacity = { response_p99 = "20ms", errors = "101%" } }', "must be a share"),
        ("{ capacity = { } }", "study.levels.capacity.response_p99: is missing"),
    ],
)
def test_faults_of_capacity_levels_are_told(levels: str, fault: str) -> None:
    line = next(line for line in TEXT.splitlines() if line.startswith("levels"))
    with pytest.raises(Exception, match=fault):
        spec(TEXT.replace(line, f"levels = {levels}"))


def searched(is_disturbed: Callable[[int], bool]) -> Capacity:
    """A search whose runs are disturbed by their numbers; such a run is far over the objective at any rate."""
    settings = search_settings(spec())
    server, chance = QueueServer(speed_tps=2000.0), np.random.default_rng(1)
    search = Search(settings, lambda _: None, warm_up_s=0.0)

    def execute(step: Step) -> CapacityRun:
        run = server.run(step, settings.objective, chance)
        slow = {"is_disturbed": True, "over_ratio": 0.9, "verdict": RunVerdict.DOES_NOT_HOLD}
        return run.model_copy(update=slow if is_disturbed(len(search.runs)) else {})

    return search.run(execute)


def test_disturbed_runs_at_a_rate_are_made_again_and_move_nothing() -> None:
    quiet, found = searched(lambda _: False), searched(lambda number: number % 2 == 0)
    again = [run for run in found.runs if run.made_again]
    assert len(again) > GIVEN_UP_FROM
    assert all(run.rate_tps is not None for run in again), "the sweep only says where to begin"
    counted = [run for run in found.runs if not run.made_again]
    assert [run.role for run in counted] == [run.role for run in quiet.runs]
    assert found.capacity_tps == pytest.approx(quiet.capacity_tps, rel=0.03)


def test_a_search_on_a_machine_that_stays_disturbed_ends_early_without_an_answer() -> None:
    found = searched(lambda number: number > 4)
    at_rates = [run for run in found.runs if run.rate_tps is not None]
    assert sum(run.made_again for run in at_rates) == GIVEN_UP_FROM
    assert len({run.rate_tps for run in at_rates if run.made_again}) == 1, "the rate does not fall"
    assert (found.capacity_tps, found.high, found.is_given_up, found.holds_nowhere) == (None, None, True, False)
    assert found.low == max(run.rate_tps or 0.0 for run in at_rates if not run.made_again), "what held is known"


def test_a_quiet_run_at_last_keeps_a_search_alive() -> None:
    found = searched(lambda number: 3 <= number < 2 + GIVEN_UP_FROM)
    assert not found.is_given_up
    assert found.capacity_tps is not None


def test_a_run_is_disturbed_by_what_later_runs_show() -> None:
    """The machine was equally slow in all runs so far; then it is quiet, and shows how slow it was."""
    settings = search_settings(spec())
    server, chance = QueueServer(speed_tps=2000.0), np.random.default_rng(1)
    search = Search(settings, lambda _: None, warm_up_s=0.0)
    slow_count = 5

    def execute(step: Step) -> CapacityRun:
        number = len(search.runs)
        run = server.run(step, settings.objective, chance).model_copy(update={"trial_id": f"t{number}"})
        speeds = np.full(round(step.duration_s), 0.5 if number < slow_count else 1.0)
        search.machines[run.trial_id] = machine_at(speeds)
        return run

    found = search.run(execute)
    assert [run.made_again for run in found.runs[:slow_count]] == [run.rate_tps is not None for run in found.runs[:5]]
    assert not any(run.is_disturbed for run in found.runs[slow_count:])
    assert found.capacity_tps is not None
