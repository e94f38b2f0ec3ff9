"""The grade of each finding of a guide's answer: by repetitions, by single or published figures, or not known."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.findings.finding_model import Grade, best, worst
from plimsoll.guide.answer import answer_sentence
from support.disturbed import DISTURBED, QUIET, SHARED, machine_table
from support.made import Made, measured, published


def runs(system: str, tps: float, repetitions: int, **more: object) -> list[Made]:
    random = np.random.default_rng(len(system) + repetitions)
    return [
        measured(tps * random.normal(1, 0.01) * random.normal(1, 0.02, 20), system=system, repetition=number, **more)
        for number in range(repetitions)
    ]


def grades(recordings: list[Made], code: str) -> list[Grade | None]:
    return [one.grade for one in analyse("s", recordings).answer if one.code == code]


@pytest.mark.parametrize(("repetitions", "grade"), [(1, Grade.INDICATED), (4, Grade.MEASURED)])
def test_repetitions_measure_and_one_run_indicates(repetitions: int, grade: Grade) -> None:
    analysis = analyse("s", runs("a", 1000.0, repetitions))
    (peak,) = [one for one in analysis.answer if one.code == "peak"]
    assert peak.grade is grade
    assert answer_sentence(peak, analysis).endswith("(indicated).") is (grade is Grade.INDICATED)


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


def test_what_is_no_answer_has_no_grade() -> None:
    answer = analyse("s", runs("a", 1000.0, 4)).answer
    assert {one.code for one in answer if one.grade is None} <= {"pool", "pool-per-core"}


def test_of_several_grades_an_answer_has_the_best_or_the_worst() -> None:
    assert (best(Grade), worst(Grade)) == (Grade.MEASURED, Grade.UNKNOWN)
    assert (best([]), worst([])) == (Grade.UNKNOWN, Grade.UNKNOWN)
