"""What studies decide, where the truth is known: how often intervals cover, verdicts are wrong, effects are found.

The worlds are nastier than the methods assume: repetitions, starts of servers and minutes differ by 0, 1 and 3 times
the residual. Everything is seeded. Few studies for each run of the tests; PLIMSOLL_TEST_STUDIES=4000 (`make endure`)
takes more, and the allowed ranges are then those of the promise: they widen with the standard error of the simulation.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from plimsoll.analyse.comparison import Comparison, LogRatio, judge
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.peaks import compare_peaks, near_peak, peak_throughput
from plimsoll.analyse.pools import smallest_enough
from plimsoll.analyse.ratios import log_ratio
from support.made_up_studies import NOISE, WORLDS, Means, World, means_of

STUDIES = int(os.environ.get("PLIMSOLL_TEST_STUDIES", "0"))
WINNERS = (DifferenceVerdict.FASTER, DifferenceVerdict.SLOWER)

NASTY = [name for name in WORLDS if STUDIES or name.count("1") in (0, 3)]
"""In every run those with effects of 0 and 3 only, and that in which all are 1."""


def studies(quick: int) -> range:
    return range(STUDIES or quick)


def slack(share: float, count: int) -> float:
    """Three standard errors of a simulated share."""
    return 3 * math.sqrt(share * (1 - share) / count)


def covered(log_ratios: Iterator[tuple[LogRatio | None, float]]) -> float:
    limits = [(one.log_limits(0.95), truth) for one, truth in log_ratios if one is not None]
    return float(np.mean([low <= truth <= high for (low, high), truth in limits]))


@pytest.mark.parametrize("world", NASTY)
@pytest.mark.parametrize(("systems", "repetitions"), [(1, 3), (2, 3), (4, 5)])
def test_intervals_cover_the_truth_in_every_world(world: str, systems: int, repetitions: int) -> None:
    random = np.random.default_rng(1)
    truth = np.tile([500.0, 1000.0], (systems, 1))
    made = [means_of(truth, WORLDS[world].logs(random, systems, 2, repetitions)) for _ in studies(120)]
    bounds = [(one.estimate().bounds, tps) for means in made for one, tps in zip(means[0], truth[0], strict=True)]
    shares = [
        float(np.mean([one.low <= tps <= one.high for one, tps in bounds if one is not None])),
        covered((log_ratio(means[0][1], means[0][0]), math.log(2)) for means in made),
    ]
    if systems > 1:
        shares.append(covered((log_ratio(means[1][0], means[0][0]), 0.0) for means in made))
    off = slack(0.95, len(made))
    assert 0.93 - off <= min(shares), shares
    assert max(shares) <= 0.975 + off, shares


def judged(means: Means, equal_within: float = 0.05) -> dict[tuple[int, ...], Comparison]:
    """All that a guide shows of one workload, by pair of systems and of levels."""
    tests: dict[tuple[int, ...], LogRatio] = {}
    for base, system in combinations(range(len(means)), 2):
        by_level = [{(False, float(at)): one for at, one in enumerate(means[which])} for which in (base, system)]
        peaks = compare_peaks(*by_level)
        candidates = [
            ((level, level), log_ratio(means[system][level], means[base][level])) for level in range(len(means[0]))
        ]
        candidates.append(((int(peaks.levels[0][1]), int(peaks.levels[1][1])), peaks.log_ratio))
        tests |= {(base, system, *levels): one for levels, one in candidates if one is not None}
    return dict(zip(tests, judge(list(tests.values()), equal_within=equal_within), strict=True))


@pytest.mark.parametrize(
    "world", ["repetition 0, start 0, minute 0", "repetition 3, start 3, minute 0", "repetition 1, start 1, minute 1"]
)
@pytest.mark.parametrize(("systems", "quick"), [(2, 240), (4, 80), (8, 30)])
def test_equal_systems_have_a_winner_in_at_most_one_of_twenty_studies(world: str, systems: int, quick: int) -> None:
    random = np.random.default_rng(systems)
    truth = np.tile([300.0, 900.0, 1000.0, 990.0], (systems, 1))
    count = max(quick, STUDIES * quick // 240)
    winners = 0
    for _ in range(count):
        found = judged(means_of(truth, WORLDS[world].logs(random, systems, 4, 3)))
        winners += any(one.verdict in WINNERS for one in found.values())
    assert winners / count <= 0.05 + slack(0.05, count)


@pytest.mark.parametrize("world", ["repetition 0, start 0, minute 0", "repetition 3, start 3, minute 0"])
def test_simultaneous_intervals_hold_all_ratios_together(world: str) -> None:
    """Of 14 comparisons of unlike systems some interval that stands alone misses its ratio in every third study."""
    random = np.random.default_rng(4)
    truth = np.array([[300.0, 900.0], [310.0, 900.0], [300.0, 950.0]])
    missed_alone, missed = 0, 0
    for _ in studies(200):
        found = judged(means_of(truth, WORLDS[world].logs(random, 3, 2, 5)))
        ratios = {key: truth[key[1], key[3]] / truth[key[0], key[2]] for key in found}
        alone = {key: one.ratio.bounds for key, one in found.items()}
        together = {key: one.simultaneous for key, one in found.items()}
        missed_alone += any(not one.low <= ratios[key] <= one.high for key, one in alone.items() if one)
        missed += any(not one.low <= ratios[key] <= one.high for key, one in together.items() if one)
        assert all(
            found[key].verdict in WINNERS for key, one in together.items() if one and not one.low <= 1 <= one.high
        )
    count = len(studies(200))
    assert missed / count <= 0.05 + slack(0.05, count)
    assert missed_alone / count >= 0.15


def test_levels_of_unlike_noise_have_no_winner_either() -> None:
    """A spread pooled over these levels named a winner at the last one in up to 15 % of studies."""
    random = np.random.default_rng(3)
    world = World(noise=0.01, levels_noise=(1.0, 2.0, 5.0, 10.0))
    winners = 0
    for _ in studies(250):
        found = judged(means_of(np.full((2, 4), 1000.0), world.logs(random, 2, 4, 3)))
        winners += any(one.verdict in WINNERS for one in found.values())
    assert winners / len(studies(250)) <= 0.05 + slack(0.05, len(studies(250)))


@pytest.mark.parametrize(("levels", "repetitions"), [(1, 3), (3, 5)])
def test_an_effect_of_the_size_that_is_called_detectable_is_found_in_four_of_five_studies(
    levels: int, repetitions: int
) -> None:
    random, world, key = np.random.default_rng(5), World(repetition=1, start=1), (0, 1, 0, 0)
    truth = np.full((2, levels), 1000.0)
    effects = [
        judged(means_of(truth, world.logs(random, 2, levels, repetitions)))[key].smallest_effect for _ in studies(500)
    ]
    planted = truth.copy()
    planted[1, 0] *= float(np.median([one for one in effects if one is not None]))
    found = [judged(means_of(planted, world.logs(random, 2, levels, repetitions)))[key] for _ in studies(500)]
    share = float(np.mean([one.verdict is DifferenceVerdict.FASTER for one in found]))
    off = slack(0.8, len(found))
    assert 0.78 - off <= share <= 0.85 + off


def test_systems_that_differ_by_the_margin_are_called_equal_in_at_most_one_of_twenty_studies() -> None:
    random = np.random.default_rng(7)
    for ratio, at_least, at_most in ((1.05, 0.0, 0.05), (1.0, 0.8, 1.0)):
        truth = np.array([[1000.0], [1000.0 * ratio]])
        found = [judged(means_of(truth, World(noise=0.01).logs(random, 2, 1, 5)))[0, 1, 0, 0] for _ in studies(300)]
        share = float(np.mean([one.verdict is DifferenceVerdict.EQUAL for one in found]))
        assert at_least <= share <= at_most + slack(0.05, len(found))


def test_the_further_repetitions_that_are_asked_for_decide() -> None:
    """Two systems 4 % apart at 3 % noise: the studies that stay open say how many more repetitions it takes."""
    random, truth = np.random.default_rng(9), np.array([[1000.0], [1040.0]])
    needed = [
        one.repetitions_needed
        for _ in studies(200)
        if (one := judged(means_of(truth, World().logs(random, 2, 1, 4)))[0, 1, 0, 0]).repetitions_needed
    ]
    total = 4 + int(np.median(needed))
    later = [judged(means_of(truth, World().logs(random, 2, 1, total)))[0, 1, 0, 0] for _ in studies(200)]
    assert np.mean([one.verdict is not DifferenceVerdict.UNRESOLVED for one in later]) >= 0.6


@pytest.mark.parametrize("noise", [0.03, 0.1])
def test_the_peak_of_a_flat_curve_has_no_winners_curse_and_its_interval_covers(noise: float) -> None:
    """The highest figure of such a curve overstates the truth by 1.9 to 8.6 %."""
    random, world = np.random.default_rng(11), World(noise=noise)
    truth = np.array([[600.0, 1000.0, 1000.0, 1000.0, 1000.0]])
    peaks, highest = [], []
    for _ in studies(400):
        (means,) = means_of(truth, world.logs(random, 1, 5, 3))
        peaks.append(peak_throughput([means[index] for index in near_peak(means)]))
        highest.append(max(one.value_tps for one in means))
    over = float(np.mean([one.value for one in peaks])) / 1000 - 1
    assert float(np.mean(highest)) / 1000 - 1 > 0.5 * noise, "there would be one"
    assert abs(over) < 0.2 * noise
    inside = [one.bounds is not None and one.bounds.low <= 1000 <= one.bounds.high for one in peaks]
    assert np.mean(inside) >= 0.93 - slack(0.95, len(peaks))


@pytest.mark.parametrize("shape", ["one peak", "own peaks"])
def test_the_interval_of_two_peaks_covers_the_ratio_of_two_maxima(shape: str) -> None:
    random, world = np.random.default_rng(13), World(repetition=1, start=1)
    curves = {
        "one peak": [[700.0, 1000.0, 990.0], [700.0, 1000.0, 990.0]],
        "own peaks": [[1000.0, 700, 500], [500.0, 700, 1000]],
    }
    truth = np.array(curves[shape])
    inside = []
    for _ in studies(300):
        base, system = (
            {(False, float(at)): one for at, one in enumerate(own)}
            for own in means_of(truth, world.logs(random, 2, 3, 3))
        )
        compared = compare_peaks(base, system)
        assert compared.log_ratio is not None
        low, high = compared.log_ratio.log_limits(0.95)
        inside.append(low <= 0.0 <= high)
    assert np.mean(inside) >= 0.93 - slack(0.95, len(inside))


@pytest.mark.parametrize("noise", [NOISE, 0.1])
def test_an_advised_pool_loses_more_than_it_may_in_few_studies(noise: float) -> None:
    """Soft knee, 10 % noise: the smallest level not distinguishable from the peak lost too much in 43 % of advices."""
    random, world = np.random.default_rng(17), World(noise=noise, repetition=1, start=1)
    truth = np.array([[400.0, 700.0, 850.0, 930.0, 980.0, 1000.0]])
    advised = [smallest_enough(means_of(truth, world.logs(random, 1, 6, 3))[0]) for _ in studies(150)]
    wrong = [index is not None and truth[0, index] < 0.95 * 1000 for index in advised]
    assert np.mean(wrong) <= 0.03


def test_a_pool_is_found_where_the_trials_allow_it() -> None:
    random, world = np.random.default_rng(19), World(noise=0.005, repetition=1, start=1)
    truth = np.array([[400.0, 700.0, 990.0, 1000.0]])
    advised = [smallest_enough(means_of(truth, world.logs(random, 1, 4, 5))[0]) for _ in studies(100)]
    assert np.mean([index == 2 for index in advised]) > 0.9
