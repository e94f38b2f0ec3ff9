"""When a study that goes on until its answer is decided ends, what it keeps, and which trials are measured again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.plan.model import PlannedTrial
from plimsoll.record.store import read_study
from plimsoll.run.events import (
    AnswerProgressed,
    Event,
    ReadinessJudged,
    Stamped,
    StudyBegan,
    StudyEnded,
    SystemBegan,
)
from plimsoll.run.planning import Budget, ran_s
from plimsoll.run.stopping_rule import Answering
from plimsoll.spec.study import parse_study
from support.courses import DUET, NOISY, STUDY, TRIAL_S, Study, rates, repetitions, without
from support.made import Made
from unit.analyse import test_duet
from unit.analyse.test_weather import with_weather


def last_answer(events: list[Event]) -> AnswerProgressed:
    return [event for event in events if isinstance(event, AnswerProgressed)][-1]


def test_it_ends_with_the_repetition_that_decides_and_its_plan_with_it(tmp_path: Path) -> None:
    study = Study(tmp_path, parse_study(STUDY), rates(1.5, 0.01))
    execution, events = study.run()
    answer = last_answer(events)
    assert (answer.is_decided, answer.is_over_budget, answer.trials_left) == (True, False, 0)
    assert repetitions(execution) == list(range(answer.repetitions))
    assert answer.repetitions in (3, 4)
    again, _ = study.run()
    assert (again.ran, repetitions(again)) == ([], repetitions(execution))


def test_what_is_left_is_told_by_what_the_answer_needs(tmp_path: Path) -> None:
    """Before any spread is known, by the limit; then by the look."""
    execution, events = Study(tmp_path, parse_study(STUDY), rates(1.2, 0.03)).run()
    looks = [event for event in events if isinstance(event, AnswerProgressed)]
    assert [one.more_max for one in looks[:1]] == [None]
    assert all(one.more_max is not None for one in looks[1:])
    expected = [24, *(look.trials_left for look in looks[:-1])]
    assert execution.remaining[::2] == expected
    assert looks[1].trials_left == 2 * (looks[1].more_max or 0) < 20


def test_the_end_by_budget_keeps_each_complete_repetition(tmp_path: Path) -> None:
    """Repetition 0 lacks a trial; complete are 1, 2, … and the last of them counts as well."""
    spec = parse_study(STUDY.replace('budget = "10m"', f'budget = "5m"\n{NOISY}'))
    study = Study(tmp_path, spec, without(rates(1.0, 0.1), 0))
    execution, events = study.run()
    answer = last_answer(events)
    assert (answer.is_decided, answer.is_over_budget) == (False, True)
    assert answer.text[-1].startswith("the budget of 5 min 00 s leaves no time for more; to go on, raise it")
    complete = {trial.repetition for trial in execution.plan.trials if trial.trial_id in execution.finished} - {0}
    assert repetitions(execution) == [0, *sorted(complete)]
    assert max(complete) == answer.repetitions >= 3
    recorded = {recording.trial.trial_id for recording in read_study(tmp_path).recordings}
    assert recorded <= {trial.trial_id for trial in execution.plan.trials}, "the guide hides none"


def test_a_study_that_its_budget_ended_stays_ended_until_it_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = parse_study(STUDY.replace('budget = "10m"', f'budget = "5m"\n{NOISY}'))
    study = Study(tmp_path, spec, without(rates(1.0, 0.1), 0))
    first, _ = study.run()
    monkeypatch.setattr("plimsoll.run.planning.ran_s", lambda _: study.used_s)
    for _ in range(3):
        again, events = study.run()
        assert again.ran == []
        assert repetitions(again) == repetitions(first)
        assert "raise it" in last_answer(events).text[-1]
    study.spec = spec.model_copy(update={"study": spec.study.model_copy(update={"budget": 500.0})})
    raised, _ = study.run()
    assert raised.ran[0] in {trial.trial_id for trial in first.plan.trials if trial.repetition == 0}, (
        "what failed, first"
    )
    assert max(repetitions(raised)) > max(repetitions(first))


def test_a_repetition_that_failed_is_made_up_for_without_hiding_a_complete_one(tmp_path: Path) -> None:
    study = Study(tmp_path, parse_study(STUDY), without(rates(1.5, 0.01), 0))
    first, _ = study.run()
    study.measure = rates(1.5, 0.01)
    again, _ = study.run()
    assert len(again.ran) == 1
    assert repetitions(again) == repetitions(first)


def test_each_second_of_all_runs_counts_and_no_break_between_them(tmp_path: Path) -> None:
    began = StudyBegan(study="s", trial_count=1, finished_count=0, estimated_s=1)
    events = [
        (100.0, began), (160.0, SystemBegan(system="a", block=0)),  # and killed
        (5000.0, ReadinessJudged(findings=(), host=None)), (5010.0, began),
        (5050.0, StudyEnded(complete_count=0, failed_count=0, missing_count=1, reason=None)),
    ]  # fmt: skip
    lines = (Stamped(unix_s=at, event=event).model_dump_json() for at, event in events)
    (tmp_path / "events.jsonl").write_text("\n".join(lines) + "\n")
    assert ran_s(tmp_path) == 60 + 40
    (tmp_path / "empty").mkdir()
    assert ran_s(tmp_path / "empty") == 0
    budget = Budget.of(300.0, ran_s(tmp_path), lambda: 7.0)
    assert (budget.used_s, budget.left_s) == (100.0, 200.0)
    assert (budget.has_room_for(200), budget.has_room_for(201), Budget.of(None).has_room_for(1e9)) == (
        True, False, True,
    )  # fmt: skip


def slow_once(trial: PlannedTrial) -> Made:
    """Noise, and one trial whose machine was slow."""
    made = rates(1.0, 0.1)(trial)
    assert made is not None
    is_slow = (trial.repetition, trial.system, trial.repeats) == (3, "a", None)
    return with_weather(made, 200.0 if is_slow else 100.0 + trial.repetition / 10)


@pytest.mark.parametrize(
    ("asked", "budget_s", "again_count"),
    [("6", 1000, 1), ('"auto"', 1000, 0), ("6", 12 * TRIAL_S + 1, 0)],
    ids=["time is left", "looks decide", "no time is left"],
)
def test_a_trial_on_a_slow_machine_is_measured_again_while_there_is_time(
    asked: str, budget_s: float, again_count: int, tmp_path: Path
) -> None:
    """Not where looks decide: which trials were slow changes from look to look."""
    text = STUDY.replace('"auto"', asked).replace("limit = 12", f"limit = 6\n{NOISY}")
    spec = parse_study(text)
    spec = spec.model_copy(update={"study": spec.study.model_copy(update={"budget": budget_s})})
    execution, _ = Study(tmp_path, spec, slow_once).run()
    assert len(execution.ran) == 12 + again_count
    repeats = [one.removesuffix("-again") for one in execution.ran[12:]]
    slow = [trial.trial_id for trial in execution.plan.trials if (trial.repetition, trial.system) == (3, "a")]
    assert repeats == slow * again_count
    assert execution.started_count == 12 + again_count, "nothing is started that is not measured"


def turns_of(ratio: float, noise: float) -> Callable[[PlannedTrial], Made]:
    """Rounds whose pairs say `ratio`, with bursts in single turns that means of whole rounds do not survive."""

    def measure(trial: PlannedTrial) -> Made:
        shared = np.random.default_rng(trial.repetition)
        weather = 400 * np.exp(shared.normal(0, 0.5, 25))
        own = np.random.default_rng([trial.repetition, trial.system == "b"])
        factor = (ratio if trial.system == "b" else 1.0) * np.exp(own.normal(0, noise, 25))
        bursts = np.where(own.random(25) < 0.1, own.uniform(0.05, 0.9), 1.0)
        completed = [int(value) for value in weather * factor * bursts]
        other = "b" if trial.system == "a" else "a"
        made = test_duet.made(trial.system, trial.repetition, completed, other)
        return replace(
            made, trial=made.trial.model_copy(update={"workload": made.trial.workload.model_copy(update={"name": "w"})})
        )

    return measure


def test_a_duet_stops_by_its_pairs_of_turns_and_its_guide_judges_the_same_values(tmp_path: Path) -> None:
    spec = parse_study(DUET.replace('budget = "10m"', 'budget = "4h"'))
    study = Study(tmp_path, spec, turns_of(1.1, 0.02))
    execution, events = study.run()
    answer = last_answer(events)
    assert answer.is_decided, answer.text
    found = analyse("s", read_study(tmp_path).recordings, at_any_look=True).differences
    (level,) = [one for one in found if one.level is not None]
    assert level.verdict is RatioVerdict.FASTER
    assert level.duet is not None
    rounds = [one.ratio for one in level.duet.rounds]
    assert len(rounds) == answer.repetitions
    assert level.ratio.value == pytest.approx(math.exp(np.mean(np.log(rounds)))), "not of whole rounds"
    assert level.duet.basis.value == "rounds"
    answering = Answering(spec, tmp_path, execution.plan)
    answering.read(execution.finished)
    (known,) = answering.interim
    assert known.interval is not None
    assert math.exp(known.interval.mean) == pytest.approx(level.ratio.value)
    assert level.simultaneous is not None
    assert math.exp(known.interval.low) == pytest.approx(level.simultaneous.low)
