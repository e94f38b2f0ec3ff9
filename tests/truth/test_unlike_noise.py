"""What studies decide where one system is noisier than the others: it must be no winner, and its interval must cover.

A variance pooled over all systems named a winner of equal ones in up to 15 % of such studies, and its intervals covered
as few as 57 %. PLIMSOLL_TEST_STUDIES=4000 (`make endure`) takes more studies, and more shapes.
"""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from plimsoll.analyse.study.comparison import ALPHA
from plimsoll.analyse.study.ratios import ratio_of
from support.endure import slack
from support.made_up_studies import World, has_winner, means_of, ratios_of

STUDIES = int(os.environ.get("PLIMSOLL_TEST_STUDIES", "0"))
QUICK = [(2, 3), (4, 3), (6, 3), (8, 5)]
SHAPES = QUICK + ([(systems, count) for systems in (2, 3, 4, 6, 8) for count in (2, 3, 5, 10)] if STUDIES else [])
"""Systems and repetitions."""
TIMES = (2.0, 3.0, 5.0) if STUDIES else (2.0, 5.0)
"""How much noisier one system is."""


def studies(quick: int) -> range:
    return range(STUDIES or quick)


def noisy(times: float, systems: int, **effects: float) -> World:
    """The first of the systems is so many times noisier than the others."""
    return World(systems_noise=(times,) + (1.0,) * (systems - 1), **effects)


def share_with_winner(systems: int, repetitions: int, times: float, count: int) -> float:
    """Of studies of equal systems of which one is so many times noisier."""
    random, world = np.random.default_rng(1), noisy(times, systems, repetition=1, start=1)
    truth = np.full((systems, 1), 1000.0)
    return float(
        np.mean([has_winner(means_of(truth, world.logs(random, systems, 1, repetitions))) for _ in range(count)])
    )


def share_covered(systems: int, repetitions: int, times: float, count: int) -> float:
    """Of intervals of the noisy system's throughput."""
    random, world = np.random.default_rng(3), noisy(times, systems)
    truth = np.full((systems, 2), 1000.0)
    bounds = [
        means_of(truth, world.logs(random, systems, 2, repetitions))[0][0].estimate().bounds for _ in range(count)
    ]
    return float(np.mean([bound is not None and bound.low <= 1000 <= bound.high for bound in bounds]))


EFFECTS = {3: 0.119, 4: 0.117, 8: 0.116}
"""Logarithms, by the number of systems."""


def share_found(systems: int, count: int) -> float:
    """Of studies with three repetitions in which one system is faster by such an effect."""
    random, truth = np.random.default_rng(5), np.full((systems, 1), 1000.0)
    truth[1] *= math.exp(EFFECTS[systems])
    found = []
    for _ in range(count):
        ratios = ratios_of(means_of(truth, World().logs(random, systems, 1, 3)))
        found.append(ratios[1, 2, 0, 0].log_limits(1 - ALPHA / len(ratios))[1] < 0)
    return float(np.mean(found))


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("systems", "repetitions"), SHAPES)
def test_equal_systems_have_a_winner_in_at_most_one_of_twenty_studies(
    systems: int, repetitions: int, times: float
) -> None:
    count, promised = STUDIES or 200, 0.053 if repetitions == 2 else 0.05
    assert share_with_winner(systems, repetitions, times, count) <= promised + slack(promised, count)


def test_a_system_that_is_noisier_at_one_of_several_levels_is_no_winner() -> None:
    random, world = np.random.default_rng(2), noisy(4, 4, repetition=1, minute=1)
    truth = np.tile([1000.0, 700.0], (4, 1))
    found = [has_winner(means_of(truth, world.logs(random, 4, 2, 3))) for _ in studies(300)]
    assert np.mean(found) <= 0.05 + slack(0.05, len(found))


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("systems", "repetitions"), SHAPES)
def test_the_intervals_of_the_noisy_system_cover_its_throughput(systems: int, repetitions: int, times: float) -> None:
    count = STUDIES or 200
    assert share_covered(systems, repetitions, times, count) >= 0.91 - slack(0.91, count)


def test_the_ratio_of_two_levels_of_the_noisy_system_covers() -> None:
    random, world, inside = np.random.default_rng(4), noisy(3, 4), []
    for _ in studies(300):
        (low, high), *_ = means_of(np.tile([500.0, 1000.0], (4, 1)), world.logs(random, 4, 2, 3))
        bounds = ratio_of(high, low)
        assert bounds is not None
        assert bounds.bounds is not None
        inside.append(bounds.bounds.low <= 2.0 <= bounds.bounds.high)
    assert np.mean(inside) >= 0.91 - slack(0.91, len(inside))


@pytest.mark.parametrize(("systems", "at_least"), [(3, 0.55), (4, 0.5), (8, 0.45)])
def test_others_still_help_where_all_are_equally_noisy(systems: int, at_least: float) -> None:
    """Three repetitions: of effects that a pooled variance finds in about 76 %, paired t tests find 33, 18 and 4 %."""
    assert share_found(systems, STUDIES or 300) >= at_least
