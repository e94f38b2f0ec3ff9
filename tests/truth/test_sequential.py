"""The sequence of intervals by what it decides: how often it is ever wrong, and how soon it finds a planted effect."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from plimsoll.analyse.sequential import anytime_interval, half_widths, more_values

STUDIES = 4_000
LOOKS = 20
EQUAL_WITHIN = math.log(1.05)


def sequences(values: npt.NDArray[np.float64], alpha: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Lower and upper ends after each value, shape (studies, looks)."""
    counts = np.arange(1, values.shape[1] + 1)
    means = np.cumsum(values, axis=1) / counts
    squares = np.cumsum(values**2, axis=1) / counts - means**2
    deviations = np.sqrt(np.maximum(squares, 0) * counts / np.maximum(counts - 1, 1))
    widths = np.array([half_widths(alpha, int(count)) for count in counts])
    with np.errstate(invalid="ignore"):
        half = np.where(np.isfinite(widths), widths * deviations, np.inf)
    return means - half, means + half


def noise(world: str, random: np.random.Generator) -> npt.NDArray[np.float64]:
    """Log ratios of two equal systems: each a difference of two trials that shared their repetition."""
    shape = (STUDIES, LOOKS)
    sigma = 0.02
    trials = {
        "normal": lambda: random.normal(0, sigma, (2, *shape)),
        "heavy tails": lambda: sigma * random.standard_t(3, (2, *shape)),
        "outliers": lambda: random.normal(0, sigma, (2, *shape)) * np.where(random.random((2, *shape)) < 0.05, 5, 1),
        "restarts": lambda: random.normal(0, sigma, (2, *shape)) + random.normal(0, 3 * sigma, (2, *shape)),
    }[world]()
    return np.asarray(trials[1] - trials[0])


@pytest.mark.parametrize("world", ["normal", "heavy tails", "outliers", "restarts"])
def test_equal_systems_are_called_different_at_any_look_in_at_most_5_of_100_studies(world: str) -> None:
    low, high = sequences(noise(world, np.random.default_rng(11)), 0.05)
    assert np.mean(np.any((low > 0) | (high < 0), axis=1)) <= 0.05
    assert np.all(np.isinf(high[:, :2])), "two values decide nothing"


@pytest.mark.parametrize("systems", [2, 4, 8])
@pytest.mark.parametrize("start_effect", [0, 1, 3])
def test_of_all_pairs_and_levels_together_a_winner_is_named_in_at_most_5_of_100_studies_of_equal_systems(
    systems: int, start_effect: int
) -> None:
    random, levels, studies = np.random.default_rng(15), 3, 1_000
    pairs = list(combinations(range(systems), 2)) if systems <= 6 else [(0, other) for other in range(1, systems)]
    starts = random.normal(0, 0.02 * start_effect, (studies, systems, 1, LOOKS))
    minutes = random.normal(0, 0.06, (studies, 1, 1, LOOKS))
    logs = starts + minutes + random.normal(0, 0.02, (studies, systems, levels, LOOKS))
    is_wrong = np.zeros(studies, dtype=bool)
    for base, system in pairs:
        for level in range(levels):
            low, high = sequences(logs[:, system, level] - logs[:, base, level], 0.05 / (levels * len(pairs)))
            is_wrong |= np.any((low > 0) | (high < 0), axis=1)
    assert is_wrong.mean() <= 0.05


def test_a_t_test_after_each_repetition_would_not_do() -> None:
    values = noise("normal", np.random.default_rng(12))
    counts = np.arange(1, LOOKS + 1)
    means = np.cumsum(values, axis=1) / counts
    deviations = np.array([values[:, :count].std(axis=1, ddof=1) for count in counts[1:]]).T
    t = np.abs(means[:, 1:]) / (deviations / np.sqrt(counts[1:]))
    limits = stats.t.ppf(0.975, counts[1:] - 1)
    assert np.mean(np.any(t > limits, axis=1)) > 0.2


def test_planted_effects_are_found_and_equal_systems_are_called_equal() -> None:
    values = noise("normal", np.random.default_rng(13))
    decided_at = {}
    for effect in (0.0, math.log(1.05), math.log(1.10)):
        low, high = sequences(values + effect, 0.05)
        differs, equal = (low > 0) | (high < 0), (low >= -EQUAL_WITHIN) & (high <= EQUAL_WITHIN)
        first = np.argmax(differs | equal, axis=1)
        is_decided = np.any(differs | equal, axis=1)
        says_differs = differs[np.arange(STUDIES), first] & is_decided
        decided_at[effect] = (np.mean(is_decided), np.mean(says_differs), np.mean(first[is_decided] + 1))
    assert decided_at[0.0][0] > 0.9
    assert decided_at[0.0][1] <= 0.05
    assert decided_at[math.log(1.05)][1] > 0.9
    assert decided_at[math.log(1.10)][1] > 0.99
    assert decided_at[math.log(1.10)][2] < 6


def test_the_interval_of_one_study_is_that_of_the_sequence() -> None:
    values = noise("normal", np.random.default_rng(14))[:1]
    low, high = sequences(values, 0.05)
    for count in (1, 2, 3, 10):
        interval = anytime_interval(list(values[0, :count]), 0.05)
        assert interval.low == pytest.approx(low[0, count - 1])
        assert interval.high == pytest.approx(high[0, count - 1])


def test_it_says_how_many_more_would_decide() -> None:
    undecided = anytime_interval([0.02, 0.06, -0.02, 0.05], 0.05)
    assert not undecided.is_decided(EQUAL_WITHIN)
    more = more_values(undecided, 0.05, EQUAL_WITHIN)
    assert more is not None
    assert more > 1
    assert more_values(anytime_interval([0.02], 0.05), 0.05, EQUAL_WITHIN) == 2
    assert more_values(anytime_interval([0.30, 0.31, 0.29], 0.05), 0.05, EQUAL_WITHIN) == 0
    # A difference as small as the margin is neither: no number of repetitions that anybody waits for decides it.
    assert more_values(anytime_interval([0.5, -0.5, 0.5, -0.5], 0.05), 0.05, EQUAL_WITHIN) is None
