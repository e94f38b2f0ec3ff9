"""The least sum of squares with a penalty for each change: against the library that everybody uses for it."""

from __future__ import annotations

import numpy as np
import ruptures
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.stats.series import pelt


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(16, 300), penalty=st.floats(0.5, 200.0))
def test_no_worse_changes_are_found_than_by_ruptures(seed: int, size: int, penalty: float) -> None:
    chance = np.random.default_rng(seed)
    series = chance.normal(50.0, 1.0, size)
    for begin in chance.integers(0, size, int(chance.integers(0, 5))):
        series[begin:] += chance.normal(0.0, 3.0)
    search = ruptures.KernelCPD(kernel="linear", min_size=8).fit(series.reshape(-1, 1))
    theirs = [int(one) for one in search.predict(pen=penalty)[:-1]]
    ours = pelt(series, penalty, 8)
    assert cost(series, ours, penalty) <= cost(series, theirs, penalty) * (1 + 1e-9)


def test_stretches_have_their_least_length() -> None:
    series = np.array([0.0] * 10 + [100.0] * 3 + [0.0] * 10)
    assert pelt(series, 1.0, 3) == [10, 13]
    assert np.diff([0, *pelt(series, 1.0, 8), series.size]).min() >= 8


def cost(series: np.ndarray[tuple[int], np.dtype[np.float64]], changes: list[int], penalty: float) -> float:
    parts = np.split(series, changes)
    return float(sum(((part - part.mean()) ** 2).sum() for part in parts)) + penalty * len(changes)
