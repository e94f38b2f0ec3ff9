"""Skew between instances: found where it is there, and hardly ever where chance alone makes instances differ."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.trial.instances import skew_of
from plimsoll.record.level import Level
from support.told import evidence_of

from .test_instances import on_instances

WINDOW_S = 12.0


def test_the_fastest_and_the_slowest_are_named() -> None:
    found = skew_of({"a": 100.0, "b": 140.0, "c": 110.0}, Level(connections=6), 60.0)
    assert found is not None
    assert (found.fastest, found.slowest, found.factor) == ("b", "a", pytest.approx(1.4))


def test_an_instance_with_more_connections_may_complete_more() -> None:
    """7 connections on 3 instances: the first has 3, the others 2."""
    assert skew_of({"a": 300.0, "b": 200.0, "c": 200.0}, Level(connections=7), 60.0) is None
    assert skew_of({"a": 300.0, "b": 200.0, "c": 200.0}, Level(connections=6), 60.0) is not None


@pytest.mark.parametrize("found", [{}, {"a": 1.0}, {"a": 100.0, "b": 0.0}])
def test_nothing_to_be_compared(found: dict[str, float]) -> None:
    assert skew_of(found, Level(connections=6), 60.0) is None


@pytest.mark.parametrize("count", [2, 8, 64])
def test_chance_is_no_skew_and_a_real_one_is_found(count: int) -> None:
    """Poisson counts of equal instances exactly at the limit, 60 transactions each: doubted in at most 1 of 500 trials.

    An instance that is 1.6 times as fast is found in at least 95 of 100 trials of 1,000 transactions each.
    """
    rng = np.random.default_rng(count)
    level, names = Level(connections=4 * count), [str(number) for number in range(count)]

    def doubted(mean_counts: np.ndarray, trials: int) -> float:
        tps = rng.poisson(mean_counts, size=(trials, count)) / WINDOW_S
        return float(np.mean([skew_of(dict(zip(names, row, strict=True)), level, WINDOW_S) is not None for row in tps]))

    at_limit = np.full(count, 60.0)
    at_limit[0] *= 1.25
    assert doubted(np.full(count, 60.0), 1000) <= 0.002
    assert doubted(at_limit, 1000) <= 0.01
    skewed = np.full(count, 1000.0)
    skewed[0] *= 1.6
    assert doubted(skewed, 200) >= 0.95


def test_a_lagging_instance_is_told_once() -> None:
    lags = analyse("made", [on_instances(100, 50, 150)])
    assert [warning.code for warning in lags.warnings if warning.code.startswith("instance")] == ["instance-lags"]
    skewed = analyse("made", [on_instances(1200, 880, 920, connections=6)])
    (warning,) = [warning for warning in skewed.warnings if warning.code.startswith("instance")]
    assert warning.code == "instances-skewed"
    assert evidence_of(warning) == "s/0 completed 1,200 tps, s/1 880 tps"
