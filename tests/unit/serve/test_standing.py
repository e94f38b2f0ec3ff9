"""Cells fill with figures as trials end, the answer is that of the events, and each look reads only what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.plan.model import Estimates, Plan, PlannedTrial
from plimsoll.record.model import State, Verdict
from plimsoll.run.events import (
    AnswerProgressed,
    EventLog,
    IntervalEnded,
    StateBegan,
    StudyBegan,
    StudyEnded,
    TrialBegan,
    TrialEnded,
)
from plimsoll.run.folder import HeldFolder
from plimsoll.serve.standing import Standing

LEVELS, SYSTEMS, REPETITIONS = (4, 16), ("a", "b"), 3


def planned(system: str, connections: int, repetition: int) -> PlannedTrial:
    return PlannedTrial(
        trial_id=f"{system}-{connections}-{repetition}",
        system=system,
        workload="w",
        connections=connections,
        repetition=repetition,
        block=0,
        seed=1,
    )


def a_plan() -> Plan:
    trials = [
        planned(system, level, number) for number in range(REPETITIONS) for level in LEVELS[::-1] for system in SYSTEMS
    ]
    return Plan(study="s", trials=tuple(trials), estimates=Estimates(trial_s=1.0, total_s=12.0, disk_bytes=0))


def ended(system: str, connections: int, repetition: int, tps: float | None) -> TrialEnded:
    return TrialEnded(
        trial_id=f"{system}-{connections}-{repetition}",
        system=system,
        workload="w",
        connections=connections,
        verdict=Verdict.FAILED if tps is None else Verdict.COMPLETE,
        reason=None,
        throughput_tps=tps,
        response_ms_p99=5.0,
    )


def began(system: str, connections: int, repetition: int) -> TrialBegan:
    trial_id = f"{system}-{connections}-{repetition}"
    place = {"workload": "w", "repetition": repetition, "position": 1, "remaining_s": 60.0}
    return TrialBegan(trial_id=trial_id, system=system, connections=connections, **place)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.json").write_text(a_plan().model_dump_json())
    return tmp_path


def test_cells_fill_as_trials_end(folder: Path) -> None:
    standing, log = Standing(folder), EventLog(folder / "events.jsonl")
    assert standing.document()["progress"] == {"done": 0, "planned": 12, "left": 12, "remaining": None}
    log.say(StudyBegan(study="s", trial_count=12, finished_count=0, estimated_s=12.0))
    for repetition, tps in enumerate((100.0, 102.0, 101.0)):
        log.say(ended("a", 4, repetition, tps))
    log.say(ended("b", 4, 0, 90.0))
    log.say(ended("b", 4, 1, None))
    with HeldFolder(folder):
        log.say(began("b", 16, 0))
        log.say(StateBegan(state=State.WARM))
        for index in range(50):
            log.say(
                IntervalEnded(
                    index=index, state=State.WARM, throughput_tps=float(index), response_ms_p99=1.0, error_count=0
                )
            )
        document = standing.document()
    assert json.loads(json.dumps(document)) == document
    (table,) = document["tables"]
    assert (table["workload"], table["systems"]) == ("w", ["a", "b"])
    assert [row["level"] for row in table["rows"]] == ["4 connections", "16 connections"]
    full, partly = table["rows"][0]["cells"]
    assert full["tps"] == pytest.approx(101.0, rel=1e-3)
    assert full["interval"].startswith("95 % CI ")
    assert (full["done"], full["planned"], full["failed"], full["running"]) == (3, 3, 0, False)
    assert (partly["tps"], partly["done"], partly["failed"], partly["running"]) == (pytest.approx(90.0), 1, 1, False)
    assert [cell["running"] for cell in table["rows"][1]["cells"]] == [False, True]
    assert document["progress"]["done"] == 4
    assert document["now"]["throughput_tps"] == 49.0, "the last interval"
    assert document["now"]["level"] == "16 connections"
    assert document["latest"][0]["trial_id"] == "b-4-1"


def test_a_look_reads_only_what_is_new(folder: Path) -> None:
    standing, log = Standing(folder), EventLog(folder / "events.jsonl")
    log.say(ended("a", 4, 0, 100.0))
    assert standing.document()["progress"]["done"] == 1
    events = folder / "events.jsonl"
    events.write_bytes(b" " * (events.stat().st_size - 1) + b"\n")
    log.say(ended("a", 4, 1, 100.0))
    assert standing.document()["progress"]["done"] == 2


def test_the_answer_so_far_and_the_end_are_those_of_the_events(folder: Path) -> None:
    standing, log = Standing(folder), EventLog(folder / "events.jsonl")
    text = ("a against b: not resolved yet",)
    log.say(StudyBegan(study="s", trial_count=12, finished_count=0, is_until_decided=True, estimated_s=12.0))
    log.say(AnswerProgressed(repetitions=2, is_decided=False, more_max=1, trials_left=2, text=text))
    with HeldFolder(folder):
        assert standing.document()["state"] == "running"
    assert standing.document()["answer"] == ["after 2 repetitions:", *text]
    assert standing.document()["state"] == "stopped", "killed: no event says that it ended"
    log.say(StudyEnded(complete_count=12, failed_count=0, missing_count=0))
    assert standing.document()["state"] == "finished"
