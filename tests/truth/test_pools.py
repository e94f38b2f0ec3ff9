"""Advice on connection pools from levels that were measured once: there is none, and what may be enough is a range."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.study.curve_model import Curve, PoolReason
from plimsoll.guide.answer import pool_sentence
from support.endure import draws, in_endure
from support.made import Made, measured, published

TRUTH_TPS = {1: 400.0, 4: 700.0, 8: 850.0, 16: 930.0, 32: 980.0, 64: 1000.0}
SMALLEST_ENOUGH = 32
STUDIES = draws(20, 60)
"""At 0.95 of 20 one may be wrong: where a quarter is, that is seen in 98 of 100."""


@cache
def curves(noise: float, trial: Callable[[float, int, np.random.Generator], Made]) -> list[Curve]:
    """Studies of one run of each level, whose means differ by so much from run to run."""
    chance = np.random.default_rng(23)
    return [
        analyse(
            "s", [trial(tps * np.exp(chance.normal(0, noise)), level, chance) for level, tps in TRUTH_TPS.items()]
        ).curves[0]
        for _ in range(STUDIES)
    ]


def run(tps: float, connections: int, chance: np.random.Generator) -> Made:
    return measured(tps * chance.normal(1, 0.01, 20), connections=connections)


def figure(tps: float, connections: int, _: np.random.Generator) -> Made:
    return published(tps, connections=connections)


@pytest.mark.parametrize("noise", [in_endure(0.0), 0.05, 0.10])
def test_levels_that_were_measured_once_resolve_nothing_and_leave_the_right_one_in(noise: float) -> None:
    found = [curve.pool for curve in curves(noise, run)]
    assert {pool.reason for pool in found if pool is not None} == {PoolReason.UNRESOLVED}
    ranges = [pool.between for pool in found if pool is not None and pool.between is not None]
    assert len(ranges) == STUDIES
    assert np.mean([low <= SMALLEST_ENOUGH <= high for low, high in ranges]) >= 0.95
    assert np.mean([low >= 4 for low, _ in ranges]) >= 0.95, "levels that are far too slow are left out"


@pytest.mark.parametrize("noise", [in_endure(0.05), 0.10])
def test_single_published_figures_indicate_the_level_of_the_highest(noise: float) -> None:
    found = curves(noise, figure)
    for curve in found:
        assert curve.pool is not None
        assert curve.pool.reason is PoolReason.SINGLE_FIGURES
        top = max(curve.cells, key=lambda cell: cell.throughput_tps.value)
        assert curve.pool.connections == top.level.connections
        assert "(indicated)" in pool_sentence(curve)
        assert "No other level has a higher figure, and the figures do not say how runs differ" in pool_sentence(curve)


def test_what_was_measured_once_says_so() -> None:
    sentence = pool_sentence(curves(0.05, run)[0])
    assert sentence.startswith("not resolved: between ")
    assert "measured once" in sentence
