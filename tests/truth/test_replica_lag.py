"""How often a lag is called growing in worlds nastier than the method assumes; docs/evidence.md has figures."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.explain.replication_model import LagState
from plimsoll.analyse.trial.replicas import growth_of
from support.lag_worlds import BOUNDED, GROWING, World, sawtooth

STUDIES = 300


def share_growing(world: World, seconds: int) -> float:
    random = np.random.default_rng(20)
    states = [growth_of(world(seconds, random), 1.0).state for _ in range(STUDIES)]
    return states.count(LagState.GROWING) / STUDIES


@pytest.mark.parametrize("seconds", [30, 60, 300])
@pytest.mark.parametrize("name", BOUNDED)
def test_a_bounded_lag_is_rarely_called_growing(name: str, seconds: int) -> None:
    assert share_growing(BOUNDED[name], seconds) <= 0.05


@pytest.mark.parametrize("seconds", [60, 300])
@pytest.mark.parametrize("name", GROWING)
def test_a_growing_lag_is_found(name: str, seconds: int) -> None:
    least = {"2 % too slow, autocorrelated": 0.6, "10 % too slow, one stall": 0.45}.get(name, 0.9)
    assert share_growing(GROWING[name], seconds) >= least


def test_a_sawtooth_as_long_as_the_window_cannot_be_told_from_growth() -> None:
    """The documentation says so; if this ever fails, it may say more."""
    assert share_growing(sawtooth(1.0), 60) > 0.05


def test_few_intervals_say_nothing() -> None:
    assert growth_of(np.arange(9.0), 1.0).state is LagState.UNKNOWN
