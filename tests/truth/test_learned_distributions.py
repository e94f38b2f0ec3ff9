"""Learned distributions on worlds whose distribution is known, some of them nastier than the method assumes.

What a load feels of a distribution are how often two accesses meet (locks) and how many different keys they touch (the
cache). Both are compared with the truth: the sum of p^2, and the sum of 1 - (1 - p)^n.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from plimsoll.learn.fits import OBSERVATIONS_MIN, fit
from plimsoll.learn.profile_model import Distribution
from support.distributions import chances_of, drawn, hot_and_cold, zipf
from support.endure import draws

Floats = NDArray[np.float64]


def meetings_ratio(found: Distribution, truth: Floats) -> float:
    """How often two accesses meet, over how often they do in truth."""
    return float((chances_of(found) ** 2).sum() / (truth**2).sum())


def touched_ratio(found: Distribution, truth: Floats, accesses: int) -> float:
    """How many different values so many accesses touch, over how many they do in truth."""
    counts = [
        float(-np.expm1(accesses * np.log1p(-np.minimum(one, 1 - 1e-12))).sum()) for one in (chances_of(found), truth)
    ]
    return counts[0] / counts[1]


def test_uniform_is_rarely_called_hot() -> None:
    """Measured: 6 of 8,460 such worlds; of 200 values and 100 observations, the worst, 3 of 200."""
    found = Counter(
        fit(drawn(np.full(size, 1 / size), count, seed), size).kind
        for size in (2, 10, 64, 65, 200, 1_000, 100_000)
        for count in (OBSERVATIONS_MIN, 300, 2_000)
        for seed in range(draws(10, 30))
    )
    assert found["hot"] <= 0.01 * found.total()
    assert set(found) <= {"uniform", "hot"}


@pytest.mark.parametrize("exponent", [0.5, 0.8, 1.0, 1.2])
@pytest.mark.parametrize("size", [10, 1_000, 100_000])
def test_zipf(size: int, exponent: float) -> None:
    """Of 20,000 observations, what is learned meets as often and touches as many values within some percent."""
    truth = zipf(size, exponent)
    for seed in range(draws(2, 4)):
        found = fit(drawn(truth, 20_000, seed), size)
        assert found.kind == "hot"
        assert 0.85 < meetings_ratio(found, truth) < 1.2
        assert touched_ratio(found, truth, 20_000) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.2])
@pytest.mark.parametrize("size", [1_000, 100_000])
def test_zipf_in_a_few_hundred_observations(size: int, exponent: float) -> None:
    truth = zipf(size, exponent)
    found = [fit(drawn(truth, 300, seed), size) for seed in range(12)]
    assert {one.kind for one in found} == {"hot"}
    assert 0.7 < float(np.mean([meetings_ratio(one, truth) for one in found])) < 1.3
    assert float(np.mean([touched_ratio(one, truth, 300) for one in found])) == pytest.approx(1, abs=0.05)


def test_the_exponent_of_a_tail_that_was_seen_in_part_is_found() -> None:
    """Values that came once or never have the exponent of the hot ones: shares and tail are of one distribution."""
    for exponent in (0.6, 0.9, 1.2):
        found = fit(drawn(zipf(1_000_000, exponent), 20_000, 1), 1_000_000)
        assert found.exponent == pytest.approx(exponent, abs=0.1)


@pytest.mark.parametrize("size", [1_000, 100_000])
@pytest.mark.parametrize(("hot", "share"), [(1, 0.5), (5, 0.4), (50, 0.6)])
def test_a_hot_set_above_uniform_accesses(size: int, hot: int, share: float) -> None:
    truth = hot_and_cold(size, hot, share)
    for seed in range(4):
        found = fit(drawn(truth, 5_000, seed), size)
        assert len(found.shares) >= min(hot, 50)
        assert sum(found.shares[:hot]) == pytest.approx(share, abs=0.05)
        assert found.exponent < 0.45, "what is not hot is nearly uniform"
        assert 0.8 < meetings_ratio(found, truth) < 1.3
        assert touched_ratio(found, truth, 5_000) == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize(("size", "count"), [(1_000, 300), (1_000, 2_000), (100_000, 2_000), (100_000, 20_000)])
def test_a_wide_hot_set_is_not_made_much_hotter_than_it_is(size: int, count: int) -> None:
    """80 % of accesses go to 10 % of the keys, more than shares are told of. No Zipf tail has both figures right.

    A tail with as many different values would make accesses meet 20 times as often, so that hot keys and waits for
    locks are invented. They meet at most twice as often, and touch up to 45 % more values, as none of them is much
    hotter than the hottest that was seen.
    """
    truth = hot_and_cold(size, size // 10, 0.8)
    for seed in range(6):
        found = fit(drawn(truth, count, seed), size)
        assert meetings_ratio(found, truth) < 2.6
        assert 0.9 < touched_ratio(found, truth, count) < 1.5


def test_two_modes_that_were_seen_whole() -> None:
    """The same of 1,000 keys in 20,000 observations: accesses meet as often; a third fewer cold keys are touched."""
    truth = hot_and_cold(1_000, 100, 0.8)
    found = fit(drawn(truth, 20_000, 1), 1_000)
    assert meetings_ratio(found, truth) == pytest.approx(1, abs=0.05)
    assert 0.6 < touched_ratio(found, truth, 20_000) <= 1.02


@pytest.mark.parametrize(("hot", "each"), [(1, 50), (5, 100), (20, 500)])
def test_a_hot_set_that_drifts_is_told_as_it_is_on_average(hot: int, each: int) -> None:
    """So many values have 60 % of the accesses for a while, then the next ones. Over all of the log that is less hot.

    What is told meets as often as accesses anywhere in the log do, within a factor of two, and less often than those
    of one moment: drift is not learned.
    """
    for seed in range(4):
        random = np.random.default_rng(seed)
        moment = np.arange(4_000) // each * hot
        values = np.where(
            random.random(4_000) < 0.6, moment + random.integers(0, hot, 4_000), random.integers(0, 5_000, 4_000)
        )
        found = fit(values.tolist(), 5_000)
        counts = np.bincount(values).astype(float)
        meetings = float((counts * (counts - 1)).sum() / (4_000 * 3_999))
        told = float((chances_of(found) ** 2).sum())
        assert 0.7 < told / meetings < 2.05
        assert told < 0.6**2 / hot


def behind(values: NDArray[np.int64]) -> list[int]:
    """How far each lies behind the largest so far."""
    found: list[int] = (np.maximum.accumulate(values) - values).tolist()
    return found


@pytest.mark.parametrize("exponent", [0.5, 0.8, 1.0, 1.5])
def test_recent_keys_behind_a_newest_one_that_moves(exponent: float) -> None:
    """Two rows are inserted for each access. The newest key is known from what was accessed only, hence the 10 %."""
    size, count = 10_000, 2_000
    for seed in range(4):
        random = np.random.default_rng(seed)
        distances = random.choice(size, count, p=zipf(size, exponent))
        values = size + 2 * np.arange(count) - distances
        found = fit(values.tolist(), size, behind(values))
        assert found.kind == "recent"
        assert found.exponent == pytest.approx(exponent, rel=0.12, abs=0.1)


def test_keys_that_grow_are_not_recent_by_growing() -> None:
    """Uniform over a table that grows by a tenth: called recent at times, with an exponent of at most 0.2.

    At 0.2 the newest tenth of the keys has 16 % of the accesses.
    """
    for seed in range(20):
        random = np.random.default_rng(seed)
        values = random.integers(1, 10_000 + np.arange(2_000) // 2)
        found = fit(values.tolist(), 11_000, behind(values))
        assert found.kind != "hot"
        assert found.exponent < 0.25


def test_hot_old_keys_are_not_recent_although_the_newest_moves() -> None:
    """Half of the accesses go to three old keys while others are inserted: a hot set that does not move with them."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        newest = 10_000 + np.arange(2_000)
        values = np.where(random.random(2_000) < 0.5, random.integers(1, 4, 2_000), random.integers(1, newest + 1))
        found = fit(values.tolist(), 12_000, behind(values))
        assert found.kind == "hot"
        assert sum(found.shares[:3]) == pytest.approx(0.5, abs=0.04)


def test_of_few_observations_nothing_is_concluded() -> None:
    assert fit([], 10).kind == "uniform"
    assert fit([1, 1, 2] * 10, 10).kind == "uniform"
    assert fit([7] * 3, 10).kind == "constant"
    few = fit(drawn(zipf(10, 1.2), OBSERVATIONS_MIN - 1, 1), 10)
    assert (few.kind, few.shares, few.judged) == ("uniform", (), {})


def test_a_few_values_with_unequal_shares_are_hot_although_some_were_not_seen_at_first() -> None:
    """Ten values by Zipf: the tenth is missing in some halves, and what was not seen yet is not impossible."""
    kinds = Counter(fit(drawn(zipf(10, 1.2), 300, seed), 10).kind for seed in range(40))
    assert kinds["hot"] >= 34
    assert {fit(drawn(zipf(10, 1.2), 2_000, seed), 10).kind for seed in range(20)} == {"hot"}


def test_shares_fall_and_have_a_sum_of_at_most_one() -> None:
    for size, exponent in ((5, 2.0), (64, 1.0), (65, 1.0), (1_000, 1.5)):
        for seed in range(5):
            shares = fit(drawn(zipf(size, exponent), 3_000, seed), size).shares
            assert list(shares) == sorted(shares, reverse=True)
            assert 0.5 < sum(shares) <= 1


def test_values_are_told_by_rank_and_not_by_what_they_are() -> None:
    """Other names of the same values give the same distribution: texts, numbers, and pairs of kind and value."""
    values = drawn(zipf(500, 1.0), 2_000, 3)
    texts = [f"canary{value}" for value in values]
    assert fit(texts, 500) == fit(values, 500) == fit([("int", value) for value in values], 500)


def test_a_domain_that_is_smaller_than_what_was_seen_is_that() -> None:
    assert fit(list(range(200)), 10).domain == 200
