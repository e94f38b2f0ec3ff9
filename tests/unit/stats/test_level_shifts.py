"""Level shifts of a history: planted ones, their kinds, and what short or constant histories say."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.stats.level_shifts import (
    LEAST_CHANCE,
    SHORTEST_HISTORY,
    ShiftKind,
    chance_of_any,
    detectable_shift,
    level_shifts,
    with_begin,
)


def noise(size: int = 60, seed: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.01, size)


def test_a_planted_shift_has_its_place_and_its_set() -> None:
    values = noise()
    values[40:] -= 0.05
    (shift,) = level_shifts(values, 0.05).shifts
    assert shift.kind is ShiftKind.LASTING
    assert shift.earliest <= 40 <= shift.latest
    assert shift.latest - shift.earliest <= 4, "a shift of five deviations"
    assert shift.chance < 0.01


def test_constant_short_and_quantised_histories_have_none() -> None:
    assert level_shifts(np.ones(30), 0.05).shifts == ()
    assert chance_of_any(noise(SHORTEST_HISTORY - 1), 0.05) == 1.0
    assert chance_of_any(np.repeat([1.0, 2.0], 3), 0.05) > 0.05, "three and three are one of ten"
    assert level_shifts(np.round(noise(), 2), 0.05).shifts == ()


def test_a_spell_ends_and_what_ends_it_is_a_return() -> None:
    values = noise()
    values[20:40] -= 0.08
    kinds = [shift.kind for shift in level_shifts(values, 0.05).shifts]
    assert kinds == [ShiftKind.ENDED, ShiftKind.RETURN]


def test_steps_the_same_way_are_steps_and_a_line_is_gradual() -> None:
    stairs, line = noise(), noise() - 0.1 * np.arange(60) / 60
    stairs[20:] -= 0.06
    stairs[40:] -= 0.06
    assert [shift.kind for shift in level_shifts(stairs, 0.05).shifts] == [ShiftKind.LASTING] * 2
    assert {shift.kind for shift in level_shifts(line, 0.05).shifts} == {ShiftKind.GRADUAL}


def test_slow_values_that_become_frequent_are_one_sided() -> None:
    values = noise()
    values[30::2] -= 0.15
    (shift,) = level_shifts(values, 0.05).shifts
    assert shift.kind is ShiftKind.ONE_SIDED


def test_the_spread_is_that_around_the_levels() -> None:
    values = noise()
    values[40:] -= 0.5
    levels = level_shifts(values, 0.05)
    assert np.sqrt(levels.variance) == pytest.approx(0.01, rel=0.25)
    assert levels.degrees == 58
    split = with_begin(values, levels, 58)
    assert (split.degrees, split.shifts) == (57, levels.shifts)
    assert split.variance_of_mean(1) == pytest.approx(split.variance)
    assert split.variance_of_mean(4) < split.variance


def test_memory_makes_the_same_step_less_clear() -> None:
    """Values whose neighbours resemble each other wander; only what is beyond that is a step."""
    random = np.random.default_rng(3)
    wandering = random.normal(0, 0.01, 60)
    for at in range(1, 60):
        wandering[at] += 0.8 * wandering[at - 1]
    step = np.where(np.arange(60) >= 40, 0.03, 0.0)
    assert chance_of_any(wandering - step, 0.05) > chance_of_any(noise() - step, 0.05)


def test_what_is_detectable_shrinks_with_a_longer_history_and_grows_with_memory() -> None:
    short, long = (detectable_shift(size, size // 3, 0.0, 0.05, 0.9) for size in (24, 60))
    assert short.shift is not None
    assert long.shift is not None
    assert long.shift < short.shift
    remembering = detectable_shift(60, 20, 0.5, 0.05, 0.9)
    assert remembering.shift is None or remembering.shift > long.shift
    few = detectable_shift(SHORTEST_HISTORY, 3, 0.0, 0.05, 0.9)
    assert (few.shift, few.power) == (None, 0.0)


def test_equal_values_hide_no_step() -> None:
    """Whole milliseconds: fifteen equal values, then five that are 10 % lower."""
    values = np.repeat([0.0, np.log(0.9)], [15, 5])
    (shift,) = level_shifts(values, 0.05).shifts
    assert (shift.begin, shift.earliest, shift.latest) == (15, 15, 15)
    assert shift.chance < 0.01


def test_where_many_places_share_the_level_chances_are_finer() -> None:
    values = noise(30)
    values[15:] -= 0.2
    assert chance_of_any(values, 0.05) > 0.05 / 100
    assert LEAST_CHANCE <= chance_of_any(values, 0.05 / 100) < 0.05 / 100
    assert len(level_shifts(values, 0.05 / 100).shifts) == 1
    assert detectable_shift(30, 15, 0.0, 0.05 / 100, 0.9).shift is not None


def test_an_empty_history_has_no_level() -> None:
    levels = level_shifts(np.array([]), 0.05)
    assert (levels.shifts, levels.deviations.size, levels.variance) == ((), 0, 0.0)
