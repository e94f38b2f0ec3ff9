"""Which of the ways to compare two means applies, and what it gives, checked against scipy.stats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from plimsoll.analyse.study.cell_model import SpreadKind
from plimsoll.analyse.study.ratios import log_ratio, ratio_of
from plimsoll.analyse.study.throughput import MeanThroughput, Repeated, mean_throughputs
from plimsoll.stats.variance import MeanVariance, level_table, moderated
from support.made_up_studies import World, means_of

RANDOM = np.random.default_rng(5)
TPS = 1000.0 * np.exp(World(repetition=3, start=1).logs(RANDOM, 3, 2, 4))


def means(**changes: object) -> list[list[MeanThroughput]]:
    """By system and level; `changes` replace fields of the cells of the last system."""
    cells = [
        Repeated(
            tuple(TPS[system, level]),
            (None,) * 4,
            **{
                "setting": "alike",
                "system": f"s{system}",
                "level": level,
                "repetitions": (0, 1, 2, 3),
                **(changes if system == 2 else {}),
            },
        )
        for system in range(3)
        for level in range(2)
    ]
    found = mean_throughputs(cells)
    return [found[:2], found[2:4], found[4:]]


def test_two_systems_are_compared_within_repetitions() -> None:
    made = means_of(np.full((2, 1), 1000.0), np.log(TPS[:2, :1] / 1000))
    found = log_ratio(made[1][0], made[0][0])
    expected = stats.ttest_rel(np.log(TPS[1, 0]), np.log(TPS[0, 0])).confidence_interval()
    assert found is not None
    assert found.log_limits(0.95) == pytest.approx(tuple(expected))


def test_the_residuals_are_those_of_both_systems_moderated_by_all_of_the_level_and_of_no_other_level() -> None:
    made = means()
    found = log_ratio(made[1][0], made[0][0])
    logs = np.log(TPS[:, 0])
    pool = MeanVariance(float(np.square(residuals(logs)).sum()) / 6, 6)
    own = [unbiased_above(float(np.square(left).sum()) / 3 * 3 / 2, pool.variance) for left in residuals(logs)[:2]]
    parts = [moderated(MeanVariance(one, 3), pool) for one in own]
    assert found is not None
    assert found.variance.variance == pytest.approx(sum(part.variance for part in parts) / 4)
    assert max(part.degrees for part in parts) <= found.variance.degrees <= 6


def residuals(logs: np.ndarray) -> np.ndarray:
    """What neither system nor repetition explains."""
    left: np.ndarray = logs - logs.mean(1, keepdims=True) - logs.mean(0) + logs.mean()
    return left


def unbiased_above(variance: float, pool: float) -> float:
    """Of one of three systems, from its differences to the mean of all three."""
    return max(variance, 2 * variance - pool)


def test_the_residual_of_a_system_that_is_noisier_has_no_bias() -> None:
    """Of 4 systems, one 10 times noisier than the others: far more repetitions than the pool has a say in."""
    logs = World(noise=0.001, systems_noise=(10.0, 1.0, 1.0, 1.0)).logs(np.random.default_rng(2), 4, 1, 4000)[:, 0]
    cells = [(f"s{index}", tuple(range(4000)), np.exp(log)) for index, log in enumerate(logs)]
    found = level_table(cells, in_blocks=True).residual_of
    assert found["s0"].variance == pytest.approx(1e-4, rel=0.1)


def test_repetitions_that_only_one_system_has_say_nothing_of_residuals() -> None:
    cells = [("a", (0, 1, 2, 3), TPS[0, 0]), ("b", (0, 1, 2, 3), TPS[1, 0]), ("c", (0,), TPS[2, 0][:1])]
    found = level_table(cells, in_blocks=True)
    assert found.residual is not None
    assert found.residual_of["c"] == found.residual, "nothing of its own, so that of all"
    alone = level_table([("a", (0, 1, 2, 3, 4), (*TPS[0, 0], 9.0)), *cells[1:2]], in_blocks=True)
    both = level_table(cells[:2], in_blocks=True)
    assert alone.residual_of["a"].variance == pytest.approx(both.residual_of["a"].variance)


def test_a_system_on_another_host_is_compared_by_welch() -> None:
    made = means(setting="another host")
    found = log_ratio(made[2][0], made[0][0])
    assert found is not None
    assert found.method.startswith("Welch's t")
    between = log_ratio(made[1][0], made[0][0])
    assert between is not None
    assert between.variance.degrees == 3, "the two on one host have a table of their own"


def test_a_cell_that_stands_alone_is_compared_by_its_own_repetitions() -> None:
    made = means(stands_alone=True)
    found = log_ratio(made[2][0], made[0][0])
    expected = stats.ttest_rel(np.log(TPS[2, 0]), np.log(TPS[0, 0])).confidence_interval()
    assert found is not None
    assert found.log_limits(0.95) == pytest.approx(tuple(expected))


def test_levels_of_one_system_are_compared_within_repetitions() -> None:
    made = means_of(np.full((1, 2), 1000.0), np.log(TPS[:1] / 1000))
    found = log_ratio(made[0][1], made[0][0])
    expected = stats.ttest_rel(np.log(TPS[0, 1]), np.log(TPS[0, 0])).confidence_interval()
    assert found is not None
    assert found.log_limits(0.95) == pytest.approx(tuple(expected))


def test_only_repetitions_that_both_have_are_compared() -> None:
    cells = [
        Repeated(tuple(TPS[0, 0]), (None,) * 4, "alike", system="a", level=0, repetitions=(0, 1, 2, 3)),
        Repeated(tuple(TPS[1, 0][1:]), (None,) * 3, "alike", system="b", level=0, repetitions=(1, 2, 3)),
    ]
    a, b = mean_throughputs(cells)
    found = log_ratio(b, a)
    expected = stats.ttest_rel(np.log(TPS[1, 0][1:]), np.log(TPS[0, 0][1:])).confidence_interval()
    assert found is not None
    assert (found.repetitions, found.variance.degrees) == (3, 2)
    assert found.log_limits(0.95) == pytest.approx(tuple(expected))


def test_repetitions_that_are_no_blocks_are_independent() -> None:
    cells = [Repeated(tuple(TPS[system, 0]), (None,) * 4, "alike", system=f"s{system}", level=0) for system in range(2)]
    a, b = mean_throughputs(cells)
    found = log_ratio(b, a)
    expected = stats.ttest_ind(np.log(TPS[1, 0]), np.log(TPS[0, 0]))
    assert found is not None
    assert 3 < found.variance.degrees <= 6
    assert found.variance.variance == pytest.approx(
        (np.log(TPS[1, 0]).mean() - np.log(TPS[0, 0]).mean()) ** 2 / expected.statistic**2, rel=0.02
    )


def test_bounds_within_the_run_name_no_winner() -> None:
    within = (MeanVariance(1e-6, 50.0),)
    fast, slow = mean_throughputs([Repeated((tps,), within, system=name) for name, tps in (("a", 3000.0), ("b", 1e3))])
    found = log_ratio(fast, slow)
    assert found is not None
    assert (found.basis, found.is_testable) == (SpreadKind.WITHIN_RUN, False)
    assert found.value == pytest.approx(math.log(3))


def test_without_a_spread_there_is_a_ratio_without_bounds_and_of_nothing_there_is_none() -> None:
    two, one, none = mean_throughputs([Repeated((tps,), (None,)) for tps in (2.0, 1.0, 0.0)])
    ratio = ratio_of(two, one)
    assert ratio is not None
    assert (ratio.value, ratio.bounds) == (2.0, None)
    assert ratio_of(none, one) is None


def test_a_ratio_and_its_inverse_are_as_sure() -> None:
    made = means()
    one, other = ratio_of(made[0][0], made[1][0]), ratio_of(made[1][0], made[0][0])
    assert one is not None
    assert other is not None
    assert one.bounds is not None
    assert other.bounds is not None
    assert (1 / other.bounds.high, 1 / other.bounds.low) == pytest.approx((one.bounds.low, one.bounds.high))
