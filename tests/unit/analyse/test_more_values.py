"""How many further repetitions decide: the fewest, found by halving, for more of them only make intervals narrower."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from plimsoll.analyse.study.comparison import MOST_FURTHER_REPETITIONS
from plimsoll.analyse.study.sequential import (
    SPREAD_TO_COME,
    anytime_interval,
    half_widths,
    more_values_for_width,
)

ALPHAS = [0.05 / questions for questions in (1, 3, 18, 100, 5000)]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_no_interval_is_wider_than_one_of_fewer_values(alpha: float) -> None:
    widths = [half_widths(alpha, count) for count in range(1, 1000)]
    assert all(more <= fewer for fewer, more in pairwise(widths))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_one_fewer_would_not_do(alpha: float) -> None:
    from scipy.special import chdtri

    found = set()
    for seed in range(40):
        interval = anytime_interval(np.random.default_rng(seed).normal(0, 0.1, 3 + seed % 7).tolist(), alpha)
        assert interval.deviation is not None
        deviation = interval.deviation * np.sqrt((interval.count - 1) / chdtri(interval.count - 1, SPREAD_TO_COME))
        enough = [
            more
            for more in range(1, MOST_FURTHER_REPETITIONS + 1)
            if deviation * half_widths(alpha, interval.count + more) <= 0.15
        ]
        more = more_values_for_width(interval, alpha, 0.15)
        assert more == (enough[0] if enough else None)
        found.add(more)
    assert len(found) > 5, "few and many"
