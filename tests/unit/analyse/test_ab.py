"""The answer of `plimsoll ab`: each side against the first one, whichever way round the analysis compared them."""

from __future__ import annotations

import math

import pytest

from plimsoll.analyse.answers.answer import AbAnswer, comparisons_of
from plimsoll.analyse.model import Difference
from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.record.level import Level

LEVEL = Level(connections=8)


def bounds(low: float, high: float) -> Bounds:
    return Bounds(low=low, high=high, method="m")


def difference(base: str, system: str, *, level: Level | None = LEVEL, needed: int | None = 0) -> Difference:
    return Difference(
        workload="w",
        base=base,
        system=system,
        level=level,
        ratio=Estimate(value=1.2, bounds=bounds(1.1, 1.3), trial_count=4),
        simultaneous=bounds(1.0, 1.44),
        verdict=RatioVerdict.FASTER,
        repetitions_needed=needed,
    )


def test_each_side_is_compared_with_the_first_by_intervals_that_hold_together() -> None:
    found = comparisons_of([difference("a", "b"), difference("c", "a"), difference("b", "c")], "a")
    assert [(one.base, one.system, one.verdict) for one in found] == [
        ("a", "b", RatioVerdict.FASTER),
        ("a", "c", RatioVerdict.SLOWER),
    ]
    first, turned = found
    assert (first.ratio.value, first.ratio.bounds, first.rounds) == (1.2, bounds(1.0, 1.44), 4)
    assert first.smallest_decided == pytest.approx(1.2)
    assert turned.ratio.value == pytest.approx(1 / 1.2)
    assert turned.ratio.bounds is not None
    assert (turned.ratio.bounds.low, turned.ratio.bounds.high) == (pytest.approx(1 / 1.44), 1.0)
    assert turned.smallest_decided == pytest.approx(1.2)


def test_peaks_are_no_second_comparison() -> None:
    assert len(comparisons_of([difference("a", "b", level=None), difference("a", "b")], "a")) == 1


@pytest.mark.parametrize(
    ("needed", "limit_s"), [((4,), 240.0), ((1, 4), 240.0), ((0,), None), ((4, None), None), ((), None)]
)
def test_the_time_that_would_decide_all_follows_from_the_rounds_so_far(
    needed: tuple[int | None, ...], limit_s: float | None
) -> None:
    found = comparisons_of([difference("a", f"b{index}", needed=one) for index, one in enumerate(needed)], "a")
    answer = AbAnswer(
        workload="w", connections=8, took_turns=True, duration_s=119.0, limit_s=120.0, comparisons=found, sides=()
    )
    assert answer.limit_s_needed == limit_s
    assert limit_s is None or math.isclose(limit_s % 60, 0)
