"""A repetition far below its siblings is told; ordinary differences are not."""

from __future__ import annotations

import numpy as np

from plimsoll.analyse.analysis import analyse, read_trials
from plimsoll.analyse.study.cells import check_repetitions
from support.made import Made, measured
from support.told import evidence_of


def trial(tps: float, repetition: int, **changes: object) -> Made:
    return measured([tps] * 12, repetition=repetition, **changes)  # type: ignore[arg-type]


def cell(*tps: float, **changes: object) -> list[Made]:
    return [trial(one, repetition, **changes) for repetition, one in enumerate(tps)]


def evidence(recordings: list[Made]) -> list[str]:
    warnings = analyse("made", recordings).warnings
    return [evidence_of(warning) for warning in warnings if warning.code == "repetition-lags"]


def test_one_that_is_far_below_is_told_with_its_number() -> None:
    assert evidence(cell(68, 18, 70)) == [
        "repetition 2 completed 18.0 tps; the median of the others is 69.0 tps",
    ]


def test_of_two_the_lower_one_is_told() -> None:
    assert evidence(cell(100, 40)) == ["repetition 2 completed 40.0 tps; the median of the others is 100 tps"]


def test_ordinary_differences_are_not_told() -> None:
    assert evidence(cell(100, 80, 110)) == []
    assert evidence(cell(100)) == []


def test_where_a_few_completed_chance_explains_it() -> None:
    """12 and 6 in all: as likely as not to happen somewhere in a study."""
    rare = [measured([1.0, repetition != 1] * 6, repetition=repetition) for repetition in range(3)]
    assert evidence(rare) == []
    assert len(evidence([measured([100.0, 100.0 * (number != 1)] * 6, repetition=number) for number in range(3)])) == 1


def test_where_repetitions_differ_as_much_everywhere_it_is_nothing_special() -> None:
    noisy = [made for level in (1, 4, 16) for made in cell(100, 160, 250, 130, connections=level)]
    assert evidence([*noisy, *cell(100, 60, 150, connections=64)]) == []
    calm = [made for level in (1, 4, 16) for made in cell(100, 101, 99, 100, connections=level)]
    assert len(evidence([*calm, *cell(100, 60, 101, connections=64)])) == 1


def test_cells_and_workloads_are_apart() -> None:
    systems = [*cell(100, 102, system="a"), *cell(10, 11, system="b"), *cell(5, 5.1, connections=1)]
    assert evidence([*systems, *cell(1, 1.1, workload="other")]) == []


def noise_warned_of(count: int) -> int:
    """Of so many studies with three repetitions at six levels that differ by 10 %."""
    random, warned = np.random.default_rng(13), 0
    for _ in range(count):
        study = [
            made for level in range(1, 7) for made in cell(*(500 * random.lognormal(0, 0.1, 3)), connections=level)
        ]
        trials, _, _ = read_trials(study, (), ())
        warned += any(True for _ in check_repetitions(trials))
    return warned


def test_noise_is_told_in_hardly_any_study() -> None:
    assert noise_warned_of(200) <= 1
