"""Deviations from a log's figures: how far, whether there were observations enough, and what is beyond its goal."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.learn.fidelity_model import mean_figure, rare_figure, shape_figure, share_figure


def test_shares_deviate_by_points() -> None:
    found = share_figure("type-share", "type 1", 0.40, 0.405, 100_000)
    assert found.deviation == pytest.approx(0.005)
    assert found.is_met
    assert share_figure("type-share", "type 1", 0.40, 0.42, 100_000).is_met is False


def test_what_has_too_few_observations_is_not_judged() -> None:
    found = share_figure("type-share", "type 1", 0.5, 0.505, 20_000)
    assert (found.is_met, found.unjudged) == (None, "too-few")
    assert found.needed_count == 22_500
    assert share_figure("type-share", "type 1", 0.5, 0.505, 22_500).is_met


def test_what_is_far_off_is_judged_with_few_observations() -> None:
    assert share_figure("type-share", "type 1", 0.5, 0.9, 1_000).is_met is False
    assert share_figure("type-share", "type 1", 0.5, 0.9, 10).unjudged == "too-few"


def test_means_deviate_by_their_ratio_but_not_by_parts_of_a_row() -> None:
    assert mean_figure("rows-examined", "#1", 100, 104, spread=0, count=50).deviation == pytest.approx(0.04)
    assert mean_figure("rows-examined", "#1", 100, 110, spread=0, count=50).is_met is False
    assert mean_figure("rows-examined", "#1", 0.01, 0.03, spread=0, count=50).deviation == pytest.approx(0.02)
    assert mean_figure("rows-examined", "#1", 0, 1, spread=0, count=50).is_met is False
    assert mean_figure("rows-examined", "#1", 1, 1, spread=0, count=20).unjudged == "too-few"


def test_a_mean_without_deviation_is_hardly_ever_beyond_its_goal() -> None:
    generator = np.random.default_rng(7)
    verdicts = []
    for _ in range(400):
        rows = generator.geometric(1 / 20, 40_000)
        verdicts.append(mean_figure("rows-examined", "#1", 20, rows.mean(), spread=rows.std(), count=rows.size).is_met)
    assert set(verdicts) == {True}
    few = generator.geometric(1 / 20, 1_000)
    found = mean_figure("rows-examined", "#1", 20, few.mean(), spread=few.std(), count=few.size)
    assert found.unjudged == "too-few"
    assert found.needed_count == pytest.approx((3 * 0.975 / 0.05) ** 2, rel=0.3)


@pytest.mark.parametrize(
    ("log", "model", "is_met"),
    [
        ((100, 10_000), (120, 10_000), True),
        ((100, 10_000), (300, 10_000), False),
        ((300, 10_000), (100, 10_000), False),
        ((100, 10_000), (1_200, 100_000), True),
        ((0, 10_000), (500, 10_000), False),
        ((500, 10_000), (0, 10_000), False),
        ((0, 10_000), (0, 10_000), None),
        ((0, 10_000), (0, 1_000_000), None),
        ((3, 10_000), (5, 10_000), None),
        ((0, 10_000), (40, 1_000_000), None),
    ],
)
def test_rare_errors_deviate_by_a_factor(
    log: tuple[float, float], model: tuple[float, float], is_met: bool | None
) -> None:
    found = rare_figure("deadlocks", log, model)
    assert found.is_met is is_met
    assert (found.unjudged == "too-few") is (is_met is None)


def test_what_depends_on_the_machine_has_no_goal() -> None:
    found = shape_figure("response-p50", "type 1", 4, 2, 100)
    assert (found.deviation, found.is_met, found.unjudged) == (2, None, "no-goal")
    assert shape_figure("response-p50", "type 1", 0, 2, 100).deviation is None
