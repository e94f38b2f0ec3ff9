"""When a study that goes on until its answer is decided may stop."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.study.sequential import (
    CellKey,
    Question,
    RepetitionValues,
    decided_after,
    interim,
    judge_values,
    questions,
    values_of_cells,
)
from plimsoll.record.level import Level
from plimsoll.run.stopping_rule import interim_lines
from support.made import measured

FOUR, SIXTEEN = Level(connections=4), Level(connections=16)
ASKED = questions(["a", "b"], ["read/write"], [FOUR, SIXTEEN])


def cells(ratio: float, noise: float, repetitions: int, *, seed: int = 1) -> dict[CellKey, dict[int, float]]:
    """Two systems at two levels; what a repetition has in common is much larger than what one trial has alone."""
    random = np.random.default_rng(seed)
    shared = random.normal(0, 0.3, repetitions)
    return {
        CellKey(system, "read/write", level): {
            index: 1000 * factor * math.exp(shared[index] + random.normal(0, noise)) for index in range(repetitions)
        }
        for system, factor in (("a", 1.0), ("b", ratio))
        for level in (FOUR, SIXTEEN)
    }


def values(ratio: float, noise: float, repetitions: int, *, seed: int = 1) -> dict[Question, RepetitionValues]:
    return values_of_cells(ASKED, cells(ratio, noise, repetitions, seed=seed))


def test_each_system_is_compared_with_each_other_at_each_level_and_many_with_the_first() -> None:
    assert [(one.level, one.base, one.system) for one in ASKED] == [(FOUR, "a", "b"), (SIXTEEN, "a", "b")]
    assert len(questions(list("abc"), ["w"], [FOUR])) == 3
    assert {question.base for question in questions(list("abcdefgh"), ["w"], [FOUR])} == {"a"}
    assert [question.base for question in questions(["a"], ["w"], [FOUR])] == [None]


def test_a_clear_difference_is_decided_early_and_noise_is_not() -> None:
    assert decided_after(values(1.5, 0.01, 12), equal_within=0.05) in (3, 4)
    assert decided_after(values(1.0, 0.01, 12), equal_within=0.05) in (4, 5, 6, 7)
    assert decided_after(values(1.0, 0.3, 12), equal_within=0.05) is None


def test_what_comes_after_the_decision_does_not_change_it() -> None:
    many = values(1.5, 0.02, 20)
    stopped = decided_after(many, equal_within=0.05)
    assert stopped is not None
    fewer = {key: {index: tps for index, tps in one.items() if index < stopped} for key, one in many.items()}
    assert decided_after(fewer, equal_within=0.05) == stopped


def test_a_repetition_in_which_a_trial_failed_does_not_count() -> None:
    holed = cells(1.5, 0.001, 12)
    whole = decided_after(values_of_cells(ASKED, holed), equal_within=0.05)
    assert whole is not None
    del holed[CellKey("b", "read/write", SIXTEEN)][1]
    assert decided_after(values_of_cells(ASKED, holed), equal_within=0.05) == whole + 1


def test_interim_says_how_many_more_would_decide() -> None:
    found = interim(values(1.1, 0.1, 4), equal_within=0.05)
    assert [one.is_decided for one in found] == [False, False]
    assert all(one.more is None or one.more > 0 for one in found)
    assert any(one.more for one in found)
    nothing = interim(values_of_cells(ASKED, {}), equal_within=0.05)
    assert [(one.interval, one.is_decided, one.more) for one in nothing] == [(None, False, None)] * 2


def test_one_system_alone_is_decided_when_its_throughput_is_known_closely() -> None:
    asked = questions(["a"], ["read/write"], [FOUR])
    steady = {CellKey("a", "read/write", FOUR): {index: 1000.0 + index % 3 for index in range(10)}}
    wild = {CellKey("a", "read/write", FOUR): {index: 1000.0 * 2 ** (index % 2) for index in range(10)}}
    assert decided_after(values_of_cells(asked, steady), equal_within=0.05) == 3
    assert decided_after(values_of_cells(asked, wild), equal_within=0.05) is None


def test_a_repetition_in_which_nothing_completed_decides_nothing() -> None:
    dead = {key: {**cell, 1: 0.0} for key, cell in cells(1.5, 0.01, 3).items()}
    assert decided_after(values_of_cells(ASKED, dead), equal_within=0.05) is None


def test_one_repetition_tells_no_number_of_further_ones_and_two_do() -> None:
    few = [interim(values(1.1, 0.02, count), equal_within=0.05) for count in (1, 2)]
    assert [one.more for one in few[0]] == [None, None]
    assert all(one.more is not None and one.more >= 1 for one in few[1])
    lines = interim_lines(few[0], 0.05)
    assert all(line.endswith(" than a so far") for line in lines), lines
    assert all("to decide" in line for line in interim_lines(few[1], 0.05))


def test_equal_figures_decide_nothing() -> None:
    """They are rounded or copied: as with a fixed number of repetitions they are not testable."""
    copied = {
        CellKey(system, "read/write", level): dict.fromkeys(range(5), tps)
        for system, tps in (("a", 1000.0), ("b", 1001.0))
        for level in (FOUR, SIXTEEN)
    }
    assert decided_after(values_of_cells(ASKED, copied), equal_within=0.05) is None
    judged = judge_values([math.log(1.001)] * 3, tests_count=1, equal_within=0.05)
    assert judged is not None
    assert (judged.verdict, judged.ratio.bounds) == (RatioVerdict.UNTESTABLE, None)
    assert (judged.simultaneous, judged.repetitions_needed) == (None, None)


def test_a_guide_that_is_written_early_shares_the_chance_of_error_as_the_whole_study_does() -> None:
    planned = [
        SimpleNamespace(trial_id=f"{system}-{connections}-{index}", system=system, workload="read/write")
        for connections in (4, 16, 64)
        for system in ("a", "b")
        for index in range(4)
    ]
    for one in planned:
        one.level, one.repetition = Level(connections=int(one.trial_id.split("-")[1])), int(one.trial_id[-1])
    early = [
        measured([100.0 + 5 * (system == "b") + index % 3] * 12, system=system, connections=4, repetition=index)
        for system in ("a", "b")
        for index in range(4)
    ]
    found = {
        name: [
            difference.simultaneous.method
            for difference in analyse("s", early, planned=of, at_any_look=True).differences
        ]
        for name, of in (("without a plan", None), ("as planned", planned))
    }
    assert all("Bonferroni" not in one for one in found["without a plan"])
    assert found["as planned"]
    assert all(one.endswith("Bonferroni over 3 comparisons") for one in found["as planned"])


def test_a_guide_compares_the_systems_that_the_study_decided_on() -> None:
    """With many systems the best one is a choice from the data, which no interval of a pair allows for."""
    shifts = {name: 1.0 if name == "h" else 0.0 for name in "abcdefgh"}
    recordings = [
        measured([100.0 + 50 * shifts[name] + repetition + index / 10] * 12, system=name, repetition=repetition)
        for index, name in enumerate(shifts)
        for repetition in range(4)
    ]
    found = analyse("s", recordings, at_any_look=True).differences
    assert {one.base for one in found} == {"a"}
    assert {one.system for one in found} == set("bcdefgh")
