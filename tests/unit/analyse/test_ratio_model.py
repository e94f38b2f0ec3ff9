"""A ratio seen from the other side, and one of which nothing can be said."""

from __future__ import annotations

import pytest

from plimsoll.analyse.model import Difference
from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.condition_model import Disturbance, UnlikeConditions
from plimsoll.record.level import Level


def bounds(low: float, high: float) -> Bounds:
    return Bounds(low=low, high=high, method="t")


ONE = Difference(
    workload="w",
    base="a",
    system="b",
    base_level=Level(connections=4),
    system_level=Level(connections=8),
    ratio=Estimate(value=0.8, bounds=bounds(0.5, 1.0), trial_count=3),
    simultaneous=bounds(0.4, 1.25),
    verdict=RatioVerdict.SLOWER,
    smallest_effect=1.1,
    repetitions_needed=0,
    other_factors=(("threads", "of a", "of b"),),
    one_sided_factors=(("sql_mode", None, "of b"),),
)


def test_all_of_a_difference_is_turned_round() -> None:
    turned = ONE.against("b")
    assert (turned.base, turned.system, turned.verdict) == ("b", "a", RatioVerdict.FASTER)
    assert (turned.base_level, turned.system_level) == (ONE.system_level, ONE.base_level)
    assert (turned.ratio.value, turned.ratio.trial_count) == (1.25, 3)
    assert (turned.ratio.bounds, turned.simultaneous) == (bounds(1.0, 2.0), bounds(0.8, 2.5))
    assert turned.other_factors == (("threads", "of b", "of a"),)
    assert turned.one_sided_factors == (("sql_mode", "of b", None),)
    assert (turned.smallest_effect, turned.repetitions_needed) == (1.1, 0)
    assert ONE.against("a") is ONE
    assert turned.inverted == ONE


def test_of_sides_that_met_unlike_conditions_only_the_ratio_is_left() -> None:
    met = Disturbance(watched_s=60.0, slow_ratio=0.0, slowness=1.0)
    unlike = UnlikeConditions(base=met, system=met.model_copy(update={"slowness": 1.3}))
    found = ONE.unless(unlike)
    assert (found.verdict, found.unlike, found.ratio) == (
        RatioVerdict.DISTURBED,
        unlike,
        Estimate(value=0.8, trial_count=3),
    )
    assert (found.simultaneous, found.smallest_effect, found.repetitions_needed) == (None, None, None)
    assert ONE.unless(None) is ONE


@pytest.mark.parametrize(
    ("verdict", "is_difference", "is_decided", "is_open"),
    [
        (RatioVerdict.FASTER, True, True, False),
        (RatioVerdict.SLOWER, True, True, False),
        (RatioVerdict.EQUAL, False, True, False),
        (RatioVerdict.UNRESOLVED, False, False, True),
        (RatioVerdict.UNTESTABLE, False, False, True),
        (RatioVerdict.DISTURBED, False, False, False),
    ],
)
def test_a_disturbed_ratio_is_neither_decided_nor_open(
    verdict: RatioVerdict, is_difference: bool, is_decided: bool, is_open: bool
) -> None:
    assert (verdict.is_difference, verdict.is_decided, verdict.is_open) == (is_difference, is_decided, is_open)
