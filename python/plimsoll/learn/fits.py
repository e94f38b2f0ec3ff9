"""How a parameter chooses among the values that it can have: uniformly, a hot set with a Zipf tail, or recent ones.

Values are never looked at, only their ranks: how often the most frequent value came, the second, and so on; and of
keys, how far they lie behind the newest one.

Method. Half of the observations fit each candidate, the others judge it: the candidate with the greatest likelihood of
what it has not seen is taken, and a richer one only if it is better by more than its parameters cost (BIC, Schwarz,
Annals of Statistics 6, 1978). The exponent of the tail is the one at which as many different values are expected as
were seen; ranking values by their own noisy counts would make any distribution look skewed. That expectation is the sum
over ranks of 1 - (1 - p)^n. The exponent is smaller where two draws would be equal far more often than two observations
were. Where nearly all values were seen, their number says nothing, and the exponent is the one at which two
observations are equal as often as they were (an unbiased estimate of sum of p^2 is sum of c (c - 1) / n (n - 1)).

What is written is judged by its top as well. The shares of the top values are those that explain all counts best, since
the most frequent of a sample were also lucky; and no value of the tail is much hotter than the last of them.

Method of these rates. Each value comes at a rate of its own, so its count is a Poisson number. The rates of all values,
those that never came included, are estimated together: the mixture of rates under which the counts are most likely
(nonparametric maximum likelihood; Kiefer and Wolfowitz, Annals of Mathematical Statistics 27, 1956; Laird, JASA 73,
1978, by EM). A count says which rates are probable, and the distribution of rates says how many values have them: a
hundred values that are equally hot have one rate, although their counts differ by chance. Assumption: the number of
values is known, and their rates do not change while they are observed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from plimsoll.learn.profile_model import Distribution

SHARES_MAX = 64
"""Hot values that are told one by one; fewer values than that are all told."""

SEEN_MIN = 20
"""A value must be seen so often for its share to be judged by itself."""

COUNTED_MIN = 100
"""The share of a value that was seen so often is what was counted; others are estimated together."""

_WORTH_RATIO = 2.0
"""A share is told by itself if it is so many times the mean of all values behind it."""

_STEP_RATIO = 1.5
"""Rates are estimated in steps, so the tail may begin so much hotter than the last share that is told."""

_SHARE_MIN = 1e-5

OBSERVATIONS_MIN = 100
"""Of fewer nothing is concluded: uniform."""

CONSTANT_SHARE = 0.995
EXPONENT_MAX = 3.0
RECENT_EXPONENT_MAX = 10.0
_SATURATED = 2.0
"""Draws for each value, from which on nearly all were seen."""

_COLLISION_RATIO_MAX = 2.0
"""Two draws of the tail are at most so many times as often equal as two observations were. Where many values are
equally hot, a Zipf tail with as few different values has some that are far too hot: it invents waits for locks."""

_EXACT_RANKS = 1_000
_BINS = 400

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks 1..n in bins: how many ranks each has, and its middle."""

    widths: Floats
    middles: Floats

    @classmethod
    def between(cls, first: int, last: int) -> Ranks:
        """The ranks `first` to `last`: the first thousand one by one, the others in bins of equal ratio."""
        exact = np.arange(first, min(last, first + _EXACT_RANKS - 1) + 1, dtype=float)
        if exact.size == 0 or exact[-1] >= last:
            return cls(np.ones(exact.size), exact)
        edges = np.unique(np.geomspace(exact[-1] + 1, last + 1, _BINS).round())
        widths = np.diff(edges)
        return cls(
            np.concatenate([np.ones(exact.size), widths]), np.concatenate([exact, edges[:-1] + (widths - 1) / 2])
        )

    def chances(self, exponent: float) -> Floats:
        """Of each single rank of a bin, in proportion to 1 / rank^exponent, all ranks together 1."""
        weights = self.middles**-exponent
        probabilities: Floats = weights / (weights * self.widths).sum()
        return probabilities

    def distinct(self, exponent: float, draws: float) -> float:
        """How many different ranks are expected among so many draws."""
        chances = np.minimum(self.chances(exponent), 1 - 1e-12)
        return float((self.widths * -np.expm1(draws * np.log1p(-chances))).sum())

    def collision(self, exponent: float) -> float:
        """How probable it is that two draws are equal."""
        return float((self.widths * self.chances(exponent) ** 2).sum())


def fit(values: Sequence[object], domain: int, behind: Sequence[int] | None = None) -> Distribution:
    """The distribution of a parameter.

    Args:
        values: As they came, in order of time.
        domain: How many values there are to choose from.
        behind: Of keys, how far each value lies behind the newest key of its time; None where that does not move.
    """
    _, first, counts = np.unique(np.asarray([hash(value) for value in values]), return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    counts = counts[order]
    observed, distinct = int(counts.sum()), int(counts.size)
    domain = max(domain, distinct)
    sizes = {"observed_count": observed, "distinct_count": distinct, "domain": domain}
    if observed and counts[0] >= CONSTANT_SHARE * observed:
        return Distribution(kind="constant", **sizes)
    if observed < OBSERVATIONS_MIN:
        return Distribution(kind="uniform", **sizes)
    scores = _scores(values, domain, behind)
    best = max(scores, key=lambda kind: scores[kind])
    judged = {name: round(score, 4) for name, score in scores.items()}
    if best == "recent" and behind is not None:
        return Distribution(kind="recent", exponent=_recent_exponent(behind, domain), judged=judged, **sizes)
    if best == "hot":
        shares, exponent = smoothed_hot_set(counts, domain)
        return Distribution(kind="hot", shares=_cut(shares), exponent=round(exponent, 4), judged=judged, **sizes)
    return Distribution(kind="uniform", judged=judged, **sizes)


def smoothed_hot_set(counts: NDArray[np.int64], domain: int) -> tuple[Floats, float]:
    """As `hot_set`, with the shares that the top values are likely to have, and not those that they had by chance.

    The exponent is that of a tail that brings the number of different values to what was seen. It is smaller where a
    value of the tail would be hotter than those before it, or two draws equal far more often than those of the
    estimated rates.
    """
    counted = int(np.count_nonzero(counts >= COUNTED_MIN))
    if domain <= SHARES_MAX or counted >= SHARES_MAX or counted == counts.size:
        return hot_set(counts, domain)
    total, others = float(counts.sum()), Rates.of(counts[counted:], domain - counted)
    shares = np.concatenate([counts[:counted], others.top(SHARES_MAX - counted)]) / total
    hot = _worth_telling(shares, domain, counted)
    rest, ranks = others.behind(hot - counted), Ranks.between(hot + 1, domain)
    shares = shares[:hot] / max(1.0, float(shares[:hot].sum()) + rest.draws() / total)
    hottest = _STEP_RATIO * float(shares[-1]) / (1 - float(shares.sum())) if hot else 1.0
    if rest.draws() >= _SATURATED * (domain - hot):
        return shares, _solved(
            lambda exponent: ranks.chances(exponent)[0] < hottest and ranks.collision(exponent) < rest.collision()
        )
    distinct = counts.size + float(np.expm1(-shares * total).sum())
    return shares, _solved(
        lambda exponent: (
            ranks.chances(exponent)[0] < hottest
            and ranks.distinct(exponent, rest.draws()) > distinct
            and ranks.collision(exponent) < _COLLISION_RATIO_MAX * rest.collision()
        )
    )


def _worth_telling(shares: Floats, domain: int, counted: int) -> int:
    """How many of the shares are well above the mean of all values behind them."""
    behind = (1 - np.cumsum(shares)) / (domain - np.arange(1, shares.size + 1))
    is_worth = (shares > _WORTH_RATIO * behind) & (shares >= _SHARE_MIN)
    return max(counted, int(is_worth.nonzero()[0][-1]) + 1 if is_worth.any() else 0)


def _cut(shares: Floats) -> tuple[float, ...]:
    """With six digits, cut and not rounded, so that their sum does not grow."""
    truncated: list[float] = (np.floor(shares * 1e6) / 1e6).tolist()
    return tuple(truncated)


def hot_set(counts: NDArray[np.int64], domain: int) -> tuple[Floats, float]:
    """Shares of the hottest values, and the exponent of the Zipf tail of all others.

    Args:
        counts: How often each value came, in falling order.
        domain: How many values there are, those that never came included.
    """
    total = float(counts.sum())
    hot = min(int(np.count_nonzero(counts >= SEEN_MIN)), SHARES_MAX)
    if domain <= SHARES_MAX:
        hot = int(counts.size)
    shares, tail = counts[:hot] / total, counts[hot:]
    if tail.size == 0 or domain <= hot:
        return shares / shares.sum() if domain <= hot else shares, 0.0
    ranks, draws = Ranks.between(hot + 1, domain), float(tail.sum())
    equal = float((tail * (tail - 1.0)).sum()) / max(draws * (draws - 1), 1.0)
    if draws >= _SATURATED * (domain - hot):
        return shares, _solved(lambda exponent: ranks.collision(exponent) < equal)
    return shares, _solved(
        lambda exponent: (
            ranks.distinct(exponent, draws) > tail.size and ranks.collision(exponent) < _COLLISION_RATIO_MAX * equal
        )
    )


def _solved(is_too_flat: Callable[[float], bool]) -> float:
    """The exponent at which a distribution is as skewed as what was seen."""
    low, high = 0.0, EXPONENT_MAX
    if not is_too_flat(low):
        return low
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if is_too_flat(middle) else (low, middle)
    return (low + high) / 2


def _scores(values: Sequence[object], domain: int, behind: Sequence[int] | None) -> dict[str, float]:
    """By candidate: mean logarithm of the likelihood of the later half, less what its parameters cost."""
    keys = [hash(value) for value in values]
    if behind is None:  # nothing moves: every other observation, so that slow changes are in both halves
        fitted, judged = keys[::2], keys[1::2]
    else:
        half = len(keys) // 2
        fitted, judged = keys[:half], keys[half:]
    per_parameter = 0.5 * float(np.log(len(keys))) / len(judged)
    scores = {"uniform": -float(np.log(domain))}
    score, parameters = _hot_score(fitted, judged, domain)
    scores["hot"] = score - parameters * per_parameter
    if behind is not None:
        half = len(behind) // 2
        exponent = _recent_exponent(behind[:half], domain)
        ranks = Ranks.between(1, domain)
        distances = np.clip(np.asarray(behind[half:], dtype=float), 0, domain - 1) + 1
        normal = float(np.log((ranks.widths * ranks.middles**-exponent).sum()))
        scores["recent"] = float((-exponent * np.log(distances)).mean()) - normal - per_parameter
    return scores


def _hot_score(fitted: Sequence[int], judged: Sequence[int], domain: int) -> tuple[float, int]:
    """Mean log-likelihood of a hot set with a tail, and its number of parameters."""
    names, counts = np.unique(np.asarray(fitted), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    names, counts = names[order], counts[order]
    shares, exponent = hot_set(counts, domain)
    rest = 1 - float(shares.sum())
    if rest < 1e-9 and domain > shares.size:  # not seen yet is not impossible: the next one may be (Laplace)
        rest = 1 / (len(fitted) + 1)
        shares = shares * (1 - rest)
    place = {name: rank for rank, name in enumerate(names.tolist())}
    ranks = np.asarray([place.get(key, names.size) for key in judged])
    is_hot = ranks < shares.size
    chance = np.full(ranks.size, 1e-12)
    chance[is_hot] = shares[ranks[is_hot]]
    if rest > 1e-9 and domain > shares.size:
        chance[~is_hot] = rest * _tail_chances(counts, shares.size, domain, exponent)[ranks[~is_hot] - shares.size]
    return float(np.log(np.maximum(chance, 1e-12)).mean()), shares.size + 1


def _tail_chances(counts: NDArray[np.int64], hot: int, domain: int, exponent: float) -> Floats:
    """Of each value of the tail by rank, and at the end of one that was not seen: values with one count share ranks."""
    tail = counts[hot:]
    weights = np.arange(hot + 1, hot + tail.size + 1, dtype=float) ** -exponent
    for count in np.unique(tail):
        alike = tail == count
        weights[alike] = weights[alike].mean()
    unseen = domain - hot - tail.size
    ranks = Ranks.between(hot + tail.size + 1, domain) if unseen > 0 else None
    unseen_sum = float((ranks.widths * ranks.middles**-exponent).sum()) if ranks is not None else 0.0
    total = float(weights.sum()) + unseen_sum
    each = unseen_sum / unseen / total if unseen > 0 else 1e-12
    return np.append(weights / total, each)


def _recent_exponent(behind: Sequence[int], domain: int) -> float:
    """Of the Zipf distribution over distances from the newest key, 1 for the newest itself: maximum likelihood."""
    ranks = Ranks.between(1, domain)
    logs = np.log(ranks.middles)
    target = float(np.log(np.clip(np.asarray(behind, dtype=float), 0, domain - 1) + 1).mean())
    low, high = 0.0, RECENT_EXPONENT_MAX
    for _ in range(40):
        middle = (low + high) / 2
        expected = float((ranks.chances(middle) * ranks.widths * logs).sum())
        low, high = (middle, high) if expected > target else (low, middle)
    return round((low + high) / 2, 4)


_GRID = 160
_ROUNDS_MAX = 2_000
_SETTLED = 1e-9


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates by how many values have them.

    Attributes:
        rates: Expected occurrences in as many draws as were seen, the greatest first.
        values: How many values have each; a part of a value counts as a chance.
    """

    rates: Floats
    values: Floats

    @classmethod
    def of(cls, counts: NDArray[np.int64], values_count: int) -> Self:
        """The rates under which counts are most likely.

        Args:
            counts: How often each value came that came at all.
            values_count: How many values there are, those that never came included.
        """
        seen, times = np.unique(counts, return_counts=True)
        seen, times = np.append(0, seen).astype(float), np.append(values_count - counts.size, times).astype(float)
        lowest = min(float(counts.sum()) / values_count, 1.0) / 20
        grid = np.geomspace(float(seen[-1]) + 1, lowest, _GRID)
        factorials = np.asarray([math.lgamma(count + 1) for count in seen])
        chances = np.exp(seen[:, None] * np.log(grid) - grid - factorials[:, None])
        weights = np.full(_GRID, 1 / _GRID)
        for _ in range(_ROUNDS_MAX):
            joint = chances * weights
            before, weights = weights, times @ (joint / joint.sum(axis=1, keepdims=True)) / values_count
            if float(np.abs(weights - before).max()) < _SETTLED:
                break
        return cls(grid, weights * values_count)

    def top(self, ranks: int) -> Floats:
        """Of the values with the greatest rates, one by one."""
        places = np.searchsorted(np.cumsum(self.values), np.arange(ranks) + 0.5)
        rates: Floats = self.rates[np.minimum(places, self.rates.size - 1)]
        return rates

    def behind(self, ranks: int) -> Self:
        """All values but those with the greatest rates."""
        left = np.maximum(np.cumsum(self.values) - ranks, 0)
        return type(self)(self.rates, np.minimum(self.values, left))

    def draws(self) -> float:
        """Expected draws of all values together."""
        return float(self.rates @ self.values)

    def collision(self) -> float:
        """How probable it is that two draws of these values are equal."""
        return float(self.rates**2 @ self.values) / self.draws() ** 2
