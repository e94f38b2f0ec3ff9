"""The first sentence of a trend: steps of every metric, and what would have been found where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plimsoll.analyse.answers.trend import PastStudy, trend
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.guide.trend import answer_sentence
from plimsoll.record.model import Outcome, ReportedResult, Verdict
from plimsoll.stats.level_shifts import ShiftKind
from support.histories import history


def with_p99(studies: list[PastStudy], p99_ms: np.ndarray) -> list[PastStudy]:
    """The same studies with a p99 response time each."""
    told = []
    for study, value in zip(studies, p99_ms, strict=True):
        reported = ReportedResult(throughput_tps=1.0, response_ms={"p99": float(value)})
        outcome = Outcome(verdict=Verdict.COMPLETE, reported=reported)
        sides = [
            replace(side, trials=[replace(trial, outcome=outcome) for trial in side.trials]) for side in study.sides
        ]
        told.append(replace(study, sides=sides))
    return told


def logs(size: int = 40) -> np.ndarray:
    return np.random.default_rng(9).normal(0, 0.015, size)


def slower_p99(size: int = 40) -> np.ndarray:
    """30 % higher in the newest fifteen."""
    random = np.random.default_rng(2)
    values: np.ndarray = 10 * np.exp(random.normal(0, 0.02, size) + np.where(np.arange(size) >= size - 15, 0.26, 0.0))
    return values


def test_a_step_of_p99_alone_is_said_first() -> None:
    answer = trend(with_p99(history(logs()), slower_p99()))
    text = answer_sentence(answer)
    assert text.startswith("Read-write, 4 connections: p99 29.8 % higher (95 % CI"), text
    assert "since nights/25" in text
    assert "; no step of throughput was found in 40 studies; a lasting step of throughput of " in text
    assert answer.grade is Grade.MEASURED


def test_steps_of_throughput_stand_before_those_of_p99() -> None:
    values = logs()
    values[-15:] -= 0.2
    text = answer_sentence(trend(with_p99(history(values), slower_p99())))
    assert text.index("throughput 1") < text.index("p99 29.8 %")
    assert "no step" not in text


def test_a_shown_step_of_p99_counts_for_the_grade() -> None:
    values = 10 * np.exp(logs()[::-1])
    values[-20:] *= np.where(np.arange(20) % 3, 2.0, 1.0)  # slow ones became frequent, and the fastest did not move
    answer = trend(with_p99(history(logs()), values))
    assert [shift.kind for shift in answer.places[1].shifts] == [ShiftKind.ONE_SIDED]
    assert answer.grade is Grade.INDICATED


def test_where_places_are_too_many_for_any_step_that_is_said() -> None:
    answer = trend(history(logs(4)))
    assert answer_sentence(answer) == "No step was found in 4 studies, too few to find one."
    many = answer_sentence(answer.model_copy(update={"places": answer.places * 900}))
    assert many.startswith("No step was found in 4 studies, and none could be in 900 places together"), many
