"""How far a variance is drawn to that of all systems."""

from __future__ import annotations

import pytest

from plimsoll.stats.variance import MeanVariance, moderated, moderated_power_degrees

POOL = MeanVariance(4.0, 10)


def test_without_repetitions_of_its_own_it_is_that_of_all() -> None:
    assert moderated(None, POOL) == POOL


def test_a_smaller_one_is_drawn_to_that_of_all_by_a_quarter_of_the_degrees_beyond_its_own() -> None:
    assert moderated(MeanVariance(1.0, 2), POOL) == MeanVariance((2 * 4.0 + 2 * 1.0) / 4, 4)


def test_a_larger_one_is_drawn_less() -> None:
    found = moderated(MeanVariance(16.0, 2), POOL)
    assert found.degrees == pytest.approx(2 + 2 * 4 / 16)
    assert found.variance == pytest.approx((0.5 * 4 + 2 * 16) / 2.5)


def test_others_never_count_for_more_than_eight_degrees() -> None:
    assert moderated(MeanVariance(4.0, 9), MeanVariance(4.0, 100)).degrees == 17


def test_what_adds_nothing_to_its_own_leaves_it_as_it_is() -> None:
    own = MeanVariance(1.0, 4)
    assert moderated(own, MeanVariance(3.0, 4)) == own
    assert moderated(MeanVariance(0.0, 2), MeanVariance(0.0, 2)) == MeanVariance(0.0, 2)


def test_what_is_detectable_rests_on_fewer_degrees() -> None:
    assert moderated_power_degrees(4.0, 5) == pytest.approx(4.0), "the paired t test knows its own"
    assert 2.0 < moderated_power_degrees(8.0, 3) < 8.0
