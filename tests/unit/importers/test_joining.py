"""Trials that no plan foresaw get their place in a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plimsoll.importers.systems import Joiner
from plimsoll.record.environment import Environment
from plimsoll.record.level import Level
from plimsoll.record.model import Outcome, SystemRecord, TrialRecord, Verdict, WorkloadRecord
from plimsoll.record.store import Recording


def trial(options: dict[str, Any], *, connections: int = 4, target: str = "a:1") -> TrialRecord:
    return TrialRecord(
        trial_id="x",
        study="s",
        system=SystemRecord(name="db", factors={"target": target}),
        workload=WorkloadRecord(name="mine", options=options),
        level=Level(connections=connections),
        repetition=0,
    )


def joiner(*present: TrialRecord) -> Joiner:
    outcome = Outcome(verdict=Verdict.COMPLETE)
    return Joiner(tuple(Recording(Path(), one, Environment(), outcome) for one in present))


def test_the_same_cell_is_a_repetition() -> None:
    first = trial({"scale": "1"})
    joined = joiner(first)
    again, other = joined.place(first), joined.place(trial({"scale": "1"}, connections=8))
    assert (again.repetition, again.position, other.repetition, other.position) == (1, 1, 0, 2)
    assert joined.place(first).repetition == 2
    assert (joined.report, len(joined.repeated)) == ([], 1)


def test_other_options_are_another_workload() -> None:
    joined = joiner(trial({"scale": "1", "draw": {"kind": "zipfian", "exponent": 0.8}}))
    placed = joined.place(trial({"scale": "2", "draw": {"kind": "zipfian", "exponent": 0.8}}))
    assert (placed.workload.name, placed.repetition) == ("mine, scale=2", 0)
    assert joined.report == ["workload mine, scale=2: the study has another workload called mine"]
    assert joined.place(trial({"scale": "2", "draw": {"kind": "zipfian", "exponent": 0.8}})).repetition == 1
    drawn = joined.place(trial({"scale": "1", "draw": {"kind": "zipfian", "exponent": 0.9}}))
    assert drawn.workload.name == "mine, zipfian 0.9"


def test_an_option_that_is_not_given_has_its_default() -> None:
    joined = joiner(trial({"scale": "1"}))
    given = ({"wait": "2"}, {"scale": "1", "wait": "2"}, {"scale": "1"}, {"wait": "2"})
    names = [joined.place(trial(options)).workload.name for options in given]
    assert names == ["mine, wait=2", "mine, wait=2 (2)", "mine", "mine, wait=2"]


def test_a_source_without_options_speaks_against_nothing() -> None:
    assert joiner(trial({})).place(trial({"scale": "2"})).workload.name == "mine"
    assert joiner(trial({"scale": "2"})).place(trial({})).workload.name == "mine"


def test_another_server_of_the_same_name_is_another_system() -> None:
    joined = joiner(trial({}))
    assert joined.place(trial({}, target="b:2")).system.name == "db, b:2"
