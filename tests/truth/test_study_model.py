"""What studies decide, where the truth is known: how often intervals cover, verdicts are wrong, effects are found.

The worlds are nastier than the methods assume: repetitions, starts of servers and minutes differ by 0, 1 and 3 times
the residual. Everything is seeded. The allowed ranges are those of the promise, wider by three standard errors of the
simulation. PLIMSOLL_TEST_STUDIES=4000 (`make endure`) takes more studies than each run of the tests, and all worlds.
Systems that are noisier than others: `test_unlike_noise`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np
import pytest

from plimsoll.analyse.study.comparison import ALPHA, MOST_FURTHER_REPETITIONS, LogRatio
from plimsoll.analyse.study.curves import compare_peaks, near_peak, peak_throughput, smallest_enough
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.study.ratios import log_ratio
from support.endure import slack
from support.made_up_studies import NOISE, WORLDS, World, has_winner, judged, means_of, ratios_of

STUDIES = int(os.environ.get("PLIMSOLL_TEST_STUDIES", "0"))
WINNERS = (RatioVerdict.FASTER, RatioVerdict.SLOWER)

NASTY = [name for name in WORLDS if STUDIES or name.count("1") in (0, 3)]
"""In every run those with effects of 0 and 3 only, and that in which all are 1."""


def studies(quick: int) -> range:
    return range(STUDIES or quick)


def covered(log_ratios: Iterator[tuple[LogRatio | None, float]]) -> float:
    limits = [(one.log_limits(0.95), truth) for one, truth in log_ratios if one is not None]
    return float(np.mean([low <= truth <= high for (low, high), truth in limits]))


SHAPES = ((1, 3), (2, 3), (4, 5))
"""Systems and repetitions."""


def shares_covered(world: str, systems: int, repetitions: int, count: int) -> list[float]:
    """Of intervals of a throughput, of the ratio of two levels, and of that of two systems: those with the truth."""
    random = np.random.default_rng(1)
    truth = np.tile([500.0, 1000.0], (systems, 1))
    made = [means_of(truth, WORLDS[world].logs(random, systems, 2, repetitions)) for _ in range(count)]
    bounds = [(one.estimate().bounds, tps) for means in made for one, tps in zip(means[0], truth[0], strict=True)]
    shares = [
        float(np.mean([one.low <= tps <= one.high for one, tps in bounds if one is not None])),
        covered((log_ratio(means[0][1], means[0][0]), math.log(2)) for means in made),
    ]
    if systems > 1:
        shares.append(covered((log_ratio(means[1][0], means[0][0]), 0.0) for means in made))
    return shares


@pytest.mark.parametrize("world", NASTY)
@pytest.mark.parametrize(("systems", "repetitions"), SHAPES)
def test_intervals_cover_the_truth_in_every_world(world: str, systems: int, repetitions: int) -> None:
    count = STUDIES or 200
    shares = shares_covered(world, systems, repetitions, count)
    assert 0.93 - slack(0.93, count) <= min(shares), shares
    assert max(shares) <= 0.97 + slack(0.97, count), shares


EQUAL_SYSTEMS = {
    "repetition 0, start 0, minute 0": (8, 1),
    "repetition 3, start 3, minute 0": (2, 4),
    "repetition 1, start 1, minute 1": (4, 2),
}
"""Systems and levels of studies of each world in every run; with more studies each world has them all."""


def share_with_winner(world: str, systems: int, levels: int, count: int) -> float:
    """Of studies of equal systems, three repetitions."""
    random = np.random.default_rng(systems)
    truth = np.tile([990.0, 1000.0, 900.0, 300.0][:levels], (systems, 1))
    return float(
        np.mean([has_winner(means_of(truth, WORLDS[world].logs(random, systems, levels, 3))) for _ in range(count)])
    )


@pytest.mark.parametrize(
    ("world", "systems", "levels"),
    [
        (world, *shape)
        for world, quick in EQUAL_SYSTEMS.items()
        for shape in (EQUAL_SYSTEMS.values() if STUDIES else [quick])
    ],
)
def test_equal_systems_have_a_winner_in_at_most_one_of_twenty_studies(world: str, systems: int, levels: int) -> None:
    count = STUDIES or 200
    assert share_with_winner(world, systems, levels, count) <= 0.05 + slack(0.05, count)


def test_a_winner_is_what_is_judged_faster_or_slower() -> None:
    random, truth = np.random.default_rng(2), np.array([[1000.0, 900.0], [1040.0, 930.0], [1000.0, 900.0]])
    made = [means_of(truth, World().logs(random, 3, 2, 4)) for _ in range(100)]
    winners = [any(one.verdict in WINNERS for one in judged(means).values()) for means in made]
    assert winners == [has_winner(means) for means in made]
    assert 10 < sum(winners) < 90


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
    found = [has_winner(means_of(np.full((2, 4), 1000.0), world.logs(random, 2, 4, 3))) for _ in studies(400)]
    assert np.mean(found) <= 0.05 + slack(0.05, len(found))


DETECTED = ((2, 2, 5), (4, 1, 3), (2, 1, 3), (6, 1, 3))
"""Systems, levels and repetitions."""


def share_of_detectable_found(systems: int, levels: int, repetitions: int, count: int) -> float:
    """By the intervals that hold together: a system that differs from several others is found by Holm more often."""
    random, world, key = np.random.default_rng(5), World(repetition=1, start=1), (0, 1, 0, 0)
    truth = np.full((systems, levels), 1000.0)
    effects = [
        one.smallest_effect(ALPHA / len(ratios))
        for _ in range(count)
        if (one := (ratios := ratios_of(means_of(truth, world.logs(random, systems, levels, repetitions))))[key])
    ]
    planted = truth.copy()
    planted[1, 0] *= float(np.median(effects))
    found = []
    for _ in range(count):
        ratios = ratios_of(means_of(planted, world.logs(random, systems, levels, repetitions)))
        found.append(ratios[key].log_limits(1 - ALPHA / len(ratios))[0] > 0)
    return float(np.mean(found))


@pytest.mark.parametrize(("systems", "levels", "repetitions"), DETECTED if STUDIES else DETECTED[:2])
def test_an_effect_of_the_size_that_is_called_detectable_is_found_in_four_of_five_studies(
    systems: int, levels: int, repetitions: int
) -> None:
    count = STUDIES or 400
    share = share_of_detectable_found(systems, levels, repetitions, count)
    assert 0.78 - slack(0.78, count) <= share <= 0.85 + slack(0.85, count)


def test_systems_that_differ_by_the_margin_are_called_equal_in_at_most_one_of_twenty_studies() -> None:
    random = np.random.default_rng(7)
    for ratio, at_least, at_most in ((1.05, 0.0, 0.05), (1.0, 0.8, 1.0)):
        truth = np.array([[1000.0], [1000.0 * ratio]])
        found = [judged(means_of(truth, World(noise=0.01).logs(random, 2, 1, 5)))[0, 1, 0, 0] for _ in studies(200)]
        share = float(np.mean([one.verdict is RatioVerdict.EQUAL for one in found]))
        assert at_least <= share <= at_most + slack(0.05, len(found))


def test_the_further_repetitions_that_are_asked_for_decide() -> None:
    """Two systems 4 % apart at 3 % noise: each study that stays open goes on for as many as it asks for."""
    random, truth = np.random.default_rng(9), np.array([[1000.0], [1040.0]])
    decided = []
    for _ in studies(300):
        logs = World().logs(random, 2, 1, 4 + MOST_FURTHER_REPETITIONS)
        if needed := judged(means_of(truth, logs[:, :, :4]))[0, 1, 0, 0].repetitions_needed:
            later = judged(means_of(truth, logs[:, :, : 4 + needed]))[0, 1, 0, 0]
            decided.append(later.verdict is not RatioVerdict.UNRESOLVED)
    assert len(decided) > len(studies(300)) / 2
    assert np.mean(decided) >= 0.8 - slack(0.8, len(decided))


@pytest.mark.parametrize("noise", [0.03, 0.1])
def test_the_interval_at_the_peak_of_a_flat_curve_covers_though_its_figure_is_the_highest(noise: float) -> None:
    """The highest figure of such a curve overstates the truth by 1.9 to 8.6 %; tables and charts show the same one."""
    random, world = np.random.default_rng(11), World(noise=noise)
    truth = np.array([[600.0, 1000.0, 1000.0, 1000.0, 1000.0]])
    peaks, highest = [], []
    for _ in studies(200):
        (means,) = means_of(truth, world.logs(random, 1, 5, 3))
        peaks.append(peak_throughput([means[index] for index in near_peak(means)]))
        highest.append(max(one.value_tps for one in means))
    assert [peak.value for peak in peaks] == highest
    assert float(np.mean(highest)) / 1000 - 1 > 0.5 * noise, "there would be one"
    inside = [peak.bounds is not None and peak.bounds.low <= 1000 <= peak.bounds.high for peak in peaks]
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
    for _ in studies(200):
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
