"""What is learned is as hot at its top as what was seen: the top value and the top ten, in ten planted distributions.

A log of a few hundred values shows a hottest value that was lucky. Taken at its word, it is too hot; and a Zipf
distribution that only has the right number of different values invents one that is far too hot, with waits for locks
that production does not have. Compared is what a run of the learned load would show to what the log showed, over
several logs.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from plimsoll.learn.fits import fit
from support.distributions import chances_of, drawn, hot_and_cold, zipf

Floats = NDArray[np.float64]
LOGS = 8


def special(size: int) -> Floats:
    """The `special` of sysbench: of a band of 1 % in the middle the upper three quarters have 75 %, a bell the rest."""
    rows = (np.arange(size) + 0.5) / size
    bell = np.exp(-0.5 * ((rows - 0.5) / (1 / 12)) ** 2)  # the mean of 12 uniform numbers
    is_hot = (rows > 0.5 - 0.0025) & (rows < 0.505)
    return mixed((0.25, bell), (0.75, is_hot.astype(float)))


def mixed(*parts: tuple[float, Floats]) -> Floats:
    """So much of each."""
    found: Floats = sum((share * weights / weights.sum() for share, weights in parts), start=np.zeros(parts[0][1].size))
    return found


def ranked(size: int) -> Floats:
    return np.arange(1, size + 1, dtype=float)


PLANTED = {
    "special of 10,000 rows": special(10_000),
    "special of 20,000 rows": special(20_000),
    "gaussian": np.exp(-0.5 * ((ranked(2_000) / 2_000 - 0.5) * 12) ** 2),
    "pareto, 80 % in 20 %": np.diff(np.linspace(0, 1, 2_001) ** 0.1386),
    "zipf 0.6": zipf(5_000, 0.6),
    "zipf 0.99": zipf(100_000, 0.99),
    "zipf 1.3": zipf(10_000, 1.3),
    "five hot values": hot_and_cold(10_000, 5, 0.4),
    "two steps": mixed(
        (0.3, (ranked(10_000) <= 20) * 1.0), (0.4, (ranked(10_000) <= 500) * 1.0), (0.3, ranked(10_000) ** 0)
    ),
    "exponential": np.exp(-ranked(10_000) / 60),
}


def top_share(counts: NDArray[np.int64], values: int) -> float:
    return float(np.sort(counts)[::-1][:values].sum() / counts.sum())


@pytest.mark.parametrize("count", [387, 3_000])
@pytest.mark.parametrize("name", PLANTED)
def test_the_top_value_and_the_top_ten_have_their_shares(name: str, count: int) -> None:
    truth = PLANTED[name] / PLANTED[name].sum()
    seen: list[tuple[float, float]] = []
    run: list[tuple[float, float]] = []
    for seed in range(LOGS):
        values = drawn(truth, count, seed)
        found = chances_of(fit(values, truth.size))
        again = np.random.default_rng([seed, count]).multinomial(count, found / found.sum())
        log = np.bincount(values)
        seen.append((top_share(log, 1), top_share(log, 10)))
        run.append((top_share(again, 1), top_share(again, 10)))
    one, ten = np.mean(run, axis=0) / np.mean(seen, axis=0)
    assert 0.6 < one < 1.25, "of few observations it may be flatter, as long as uniform is not clearly worse"
    assert 0.8 < ten < 1.15
