"""A p value of a confidence sequence is the level at which its interval begins to exclude a limit."""

from __future__ import annotations

import math

import pytest

from plimsoll.analyse.study.sequential import AnytimeRatio

RATIO = AnytimeRatio((0.10, 0.12, 0.08, 0.11, 0.09, 0.10))


@pytest.mark.parametrize("log", [0.0, 0.05, 0.08, 0.13, 0.3])
def test_the_interval_at_that_level_ends_at_the_limit(log: float) -> None:
    below = log < RATIO.value
    chance = (RATIO.chance_at_most if below else RATIO.chance_at_least)(log)
    assert 0 < chance < 1
    assert RATIO.half_width(chance) == pytest.approx(abs(RATIO.value - log), rel=1e-6)
    assert (RATIO.chance_at_least if below else RATIO.chance_at_most)(log) == 1.0, "the other side is not rejected"


def test_what_lies_near_the_mean_is_not_rejected_at_any_level() -> None:
    assert RATIO.chance_at_most(0.0999) == 1.0


def test_too_few_repetitions_reject_nothing_at_five_percent() -> None:
    assert AnytimeRatio((0.5, 0.5001)).chance_at_most(0.0) > 0.05


def test_the_further_repetitions_are_those_after_which_the_interval_excludes_the_limit() -> None:
    few = AnytimeRatio((0.10, 0.02, 0.06, -0.01))
    further = few.further_beyond(0.0, 0.05)
    assert further is not None
    assert few.chance_at_most(0.0) > 0.05
    longer = AnytimeRatio(few.values * (1 + math.ceil(further / 4)))
    assert longer.chance_at_most(0.0) < 0.05
    assert few.further_beyond(few.value, 0.05) is None
