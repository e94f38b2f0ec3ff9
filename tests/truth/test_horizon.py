"""Dates of a horizon: how often the truth is earlier than the day that is stated with 95 % confidence.

Capacities vary lognormally from search to search. The true day is that on which the load reaches the capacity that the
next search would find; for the mean of all searches it is later still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import Horizon, years_until
from support.endure import in_endure
from support.searched import demand, searched

STUDIES = 1500
TRUE_TPS, LOAD_TPS, GROWTH = 2000.0, 1000.0, 0.3


def horizon_of(found_tps: Sequence[float]) -> Horizon:
    """What is said after searches that found these capacities."""
    asked = demand(LOAD_TPS, yearly_growth=GROWTH)
    horizon = size(searched(a=tuple(map(float, found_tps))), demand=asked, headroom=0.0).systems[0].horizon
    assert horizon is not None
    return horizon


@pytest.mark.parametrize("searches_count", [2, in_endure(3), 5])
@pytest.mark.parametrize("noise", [0.02, 0.10])
def test_the_true_day_is_after_the_stated_one_in_95_of_100(searches_count: int, noise: float) -> None:
    chance = np.random.default_rng(searches_count)
    after_next, after_mean, off = 0, 0, []
    for _ in range(STUDIES):
        *found, following = TRUE_TPS * np.exp(chance.normal(0, noise, searches_count + 1))
        horizon = horizon_of(found)
        assert horizon.sure_years is not None
        true_years = years_until(TRUE_TPS, now_tps=LOAD_TPS, yearly_growth=GROWTH)
        next_years = years_until(following, now_tps=LOAD_TPS, yearly_growth=GROWTH)
        after_next += next_years >= horizon.sure_years
        after_mean += true_years >= horizon.sure_years
        off.append(horizon.about_years - true_years)
    assert 0.935 <= after_next / STUDIES <= 0.995, "above 0.95 where searches hardly differ"
    assert after_mean / STUDIES >= 0.95
    assert abs(np.mean(off)) < 3 * noise / math.log1p(GROWTH) / math.sqrt(searches_count * STUDIES)
