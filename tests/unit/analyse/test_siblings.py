"""Cores and their sibling threads are told apart, on a made-up host: 16 cores with two threads each."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.scaling_model import Region, ScalingVerdict
from plimsoll.analyse.model import Analysis
from plimsoll.guide.scalability import scalability_sentence
from plimsoll.record.environment import ClientFacts, Environment, HostFacts
from support.made import measured

LEVELS = (1, 2, 4, 8, 16, 32, 64)
SIGMA, GAIN = 0.01, 1.25


def tps(connections: int) -> float:
    """Amdahl's law while there are cores; siblings add a quarter, and what is beyond them nothing."""
    on_cores = min(connections, 16)
    return 1000 * on_cores / (1 + SIGMA * (on_cores - 1)) * (GAIN if connections > 16 else 1.0)


def analysed(threads: int) -> Analysis:
    host = Environment(
        host=HostFacts(name="made", cpu_cores=16, cpu_threads=threads), client=ClientFacts(on_server_host=False)
    )
    random = np.random.default_rng(2)
    return analyse(
        "made",
        [
            measured(
                tps(level) * np.exp(0.01 * random.standard_normal() + 0.01 * random.standard_normal(30)),
                environment=host,
                connections=level,
                repetition=repetition,
            )
            for repetition in range(4)
            for level in LEVELS
        ],
    )


def test_cores_are_fitted_without_their_siblings_and_what_these_add_is_told() -> None:
    (found,) = analysed(32).scalability
    assert [level.region for level in found.levels] == [Region.CORES] * 5 + [Region.SIBLINGS, Region.BEYOND]
    assert found.verdict is ScalingVerdict.DOES_NOT_FIT, "no law has such a corner"
    inner = found.fit_within_cores
    assert inner is not None
    assert inner.levels_count == 5
    assert inner.sigma == pytest.approx(SIGMA, abs=0.006)
    assert found.sibling_gain is not None
    assert found.sibling_gain.value == pytest.approx(GAIN, rel=0.03)
    assert found.sibling_gain.bounds is not None
    assert found.sibling_gain.bounds.low < GAIN < found.sibling_gain.bounds.high
    assert "Sibling threads change throughput by +" in scalability_sentence(found)


def test_without_siblings_nothing_is_said_of_them() -> None:
    (found,) = analysed(16).scalability
    assert {level.region for level in found.levels} == {Region.CORES, Region.BEYOND}
    assert found.sibling_gain is None
