"""Planted distributions: chances by rank, values drawn by them, and the chances of what was learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plimsoll.learn.profile_model import Distribution

Floats = NDArray[np.float64]


def zipf(size: int, exponent: float) -> Floats:
    """Chances of the ranks 1 to `size`."""
    weights = np.arange(1, size + 1, dtype=float) ** -exponent
    found: Floats = weights / weights.sum()
    return found


def hot_and_cold(size: int, hot: int, share: float) -> Floats:
    """So many values have that share of the accesses together, all alike; the others the rest."""
    found: Floats = np.concatenate([np.full(hot, share / hot), np.full(size - hot, (1 - share) / (size - hot))])
    return found


def drawn(chances: Floats, count: int, seed: int) -> list[int]:
    """Values whose numbers say nothing of their rank."""
    random = np.random.default_rng([seed, count, chances.size])
    found: list[int] = random.permutation(chances.size)[random.choice(chances.size, count, p=chances)].tolist()
    return found


def chances_of(found: Distribution) -> Floats:
    """What the load engine would draw by rank."""
    if found.kind == "uniform":
        return np.full(found.domain, 1 / found.domain, dtype=np.float64)
    assert found.kind == "hot", found
    shares = np.asarray(found.shares, dtype=np.float64)
    rest, left = 1 - float(shares.sum()), found.domain - shares.size
    if left == 0 or rest <= 0:
        all_shares: Floats = shares / shares.sum()
        return all_shares
    tail = np.arange(shares.size + 1, found.domain + 1, dtype=float) ** -found.exponent
    chances: Floats = np.concatenate([shares, rest * tail / tail.sum()])
    return chances
