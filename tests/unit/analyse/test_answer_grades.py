"""The grade of each finding of a guide's answer: by repetitions, by single or published figures, or not known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.findings.finding_model import Grade, best, worst
from plimsoll.guide.answer import answer_sentence, pool_sentence
from support.disturbed import DISTURBED, QUIET, SHARED, machine_table
from support.made import Made, measured, published


def runs(system: str, tps: float, repetitions: int, **more: object) -> list[Made]:
    random = np.random.default_rng(len(system) + repetitions)
    return [
        measured(tps * random.normal(1, 0.01) * random.normal(1, 0.02, 20), system=system, repetition=number, **more)
        for number in range(repetitions)
    ]


def steady(tps: float, **more: object) -> Made:
    return measured([tps] * 20, **more)


def grades(recordings: list[Made], code: str) -> list[Grade | None]:
    return [one.grade for one in analyse("s", recordings).answer if one.code == code]


@pytest.mark.parametrize(("repetitions", "grade"), [(1, Grade.INDICATED), (4, Grade.MEASURED)])
def test_repetitions_measure_and_one_run_indicates(repetitions: int, grade: Grade) -> None:
    analysis = analyse("s", runs("a", 1000.0, repetitions))
    (peak,) = [one for one in analysis.answer if one.code == "peak"]
    assert peak.grade is grade
    is_said = "connections (indicated); response times are unknown." in answer_sentence(peak, analysis)
    assert is_said is (grade is Grade.INDICATED)


def test_published_figures_indicate_however_often_they_are_repeated() -> None:
    tables = [published(tps, repetition=number) for number, tps in enumerate((1000.0, 1010.0, 990.0))]
    assert grades(tables, "peak") == [Grade.INDICATED]


def test_a_comparison_has_the_grade_of_its_verdict() -> None:
    both = [*runs("a", 1000.0, 4), *runs("bb", 1200.0, 4)]
    assert grades(both, "comparison") == [Grade.MEASURED]
    assert grades([*runs("a", 1000.0, 1), *runs("bb", 1200.0, 1)], "comparison") == [Grade.INDICATED]


def test_of_a_disturbed_machine_nothing_is_known() -> None:
    quiet = runs("a", 1000.0, 4, environment=SHARED, telemetry=machine_table([QUIET] * 20))
    slow = runs("bb", 500.0, 4, environment=SHARED, telemetry=machine_table([DISTURBED] * 20))
    assert grades([*quiet, *slow], "comparison") == [Grade.UNKNOWN]
    assert sorted(str(grade) for grade in grades([*quiet, *slow], "peak")) == ["measured", "unknown"]


@pytest.mark.parametrize("make", [steady, published])
def test_a_pool_by_repetitions_is_measured_here_and_indicated_by_a_source(make: Callable[..., Made]) -> None:
    tables = [
        make(tps * factor, connections=level, repetition=number)
        for level, tps in ((1, 500.0), (4, 1000.0), (8, 700.0))
        for number, factor in enumerate((0.99, 1.0, 1.01, 1.0))
    ]
    expected = Grade.INDICATED if make is published else Grade.MEASURED
    assert grades(tables, "pool") == [expected]
    assert ("(indicated)" in pool_sentence(analyse("s", tables).curves[0])) is (make is published)


def test_a_pool_that_is_not_resolved_is_unknown() -> None:
    assert grades([steady(tps, connections=level) for level, tps in ((1, 900.0), (2, 1000.0))], "pool") == [
        Grade.UNKNOWN
    ]


def test_of_several_grades_an_answer_has_the_best_or_the_worst() -> None:
    assert (best(Grade), worst(Grade)) == (Grade.MEASURED, Grade.UNKNOWN)
    assert (best([]), worst([])) == (Grade.UNKNOWN, Grade.UNKNOWN)
