"""Level shifts in a short history of noisy values: whether there is one, where it began, what could have been found.

A history has one value for each session of a machine. Sessions are noisy, some are slowed by something else (never
sped up), and neighbours resemble each other because machines drift. The test is made for that:

* Values are replaced by the normal scores of their ranks (van der Waerden 1952), so an outlier counts no more than the
  rank that it has, however far out it lies. Equal values share the mean of their scores, in simulated series too.
* The statistic is the largest standardised difference between what is before and after a place, over all places with
  `SHORTEST` values on each side (Pettitt 1979 for ranks; Sen and Srivastava 1975 for the maximum).
* Its distribution is that of simulated autocorrelated normal series of the same length (AR(1), seeded), because a
  permutation would take memory for a shift. The correlation is estimated beside the shift itself: the larger of that
  of residuals, whose bias is removed (Marriott and Pope 1954), and that of differences (their variances at lags 1 and
  2 are as 1 to 1 + phi), raised by half a standard error. It is the least of those at the place and
  the two on either side of it, since a value on the wrong side of a shift looks like memory.
* A level that ends again is looked for in the same way, by the sum of a stretch (circular binary segmentation, Olshen
  and others 2004), with a fifth of the level of the test: a single split hardly sees what lies in the middle.
* Series are split again and again (binary segmentation, Vostrikova 1981). Their parts share the level of the test by
  their lengths. At the end each shift has to stand the test between its neighbours.
* A line that describes a stretch as well as its shifts by Schwarz's criterion makes them a gradual change: nothing
  began at one place.

The confidence set of the place where a shift began is that of the likelihood ratio (Siegmund 1988). The minimum
detectable shift is that which this same test finds in so many of simulated histories.

The shift was chosen over PELT with a test of autocorrelation (`series`) and over E-divisive with permutations
(Matteson and James 2014) by simulation: decision 91. Deliberately not here: the size of a shift with its interval, and
all words (`plimsoll.analyse.answers.trend`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plimsoll.stats.variance import Series

SHORTEST = 3
"""Values of a level at least: one or two may be a spell."""

SHORTEST_HISTORY = 2 * SHORTEST

_SIMULATED, _PARTS = 1999, 10
"""Series of each length and correlation: the least chance that can be stated is 1 in 2,000. Where many places share the
level of a test, so many times as many are simulated for what is clear: 1 in 19,991."""

_SIMULATED_ONCE_FROM = 0.004
"""Levels from here on are decided by the first of them alone."""

_CLEAR = 0.01
"""Chances up to here are looked at again in all of them."""

_MARGIN = 0.5
"""Standard errors by which the correlation is raised."""

_NEAR = 2
"""Places on either side of a shift at which memory is looked for as well: a value on the wrong side looks like it."""

_ROUNDING = 1e-9
"""Statistics that differ by less are equal: with equal values, many are."""

_GRID = 20
"""Correlations are rounded up to one in so many."""

_LARGEST_CORRELATION = 0.9

_SPELLS_PART = 0.2
"""Of the level of a test, for levels that end again."""

LEAST_CHANCE = 1 / (_SIMULATED * _PARTS + 1) / (1 - _SPELLS_PART)
"""No shift is called clearer than this."""

_LOCATION_LIMIT = 2 * math.log(2 / 0.05)
"""Twice the log likelihood by which a place may be worse than the best one and still be in the 95 % set: the loss on
either side exceeds c with a chance of about exp(-c / 2) (Siegmund 1988)."""

_FAST_SHARE = 0.5
"""How far the fastest quarter must move at least, as a share of how far the slowest quarter does."""

Rows = NDArray[np.float64]
Places = NDArray[np.int64]


class ShiftKind(StrEnum):
    """What a shift is, by what surrounds it."""

    LASTING = "lasting"
    ENDED = "ended"  # a later shift took it back
    RETURN = "return"  # it took back an earlier one
    ONE_SIDED = "one-sided"  # slow values became more or fewer; the fastest ones did not move
    GRADUAL = "gradual"  # a line describes the change as well: it began at no one place


@dataclass(frozen=True, slots=True)
class LevelShift:
    """A change of the level of a history.

    Attributes:
        begin: Index of the first value of the new level.
        earliest: First index of the 95 % confidence set of `begin`.
        latest: Last index.
        chance: Probability of a shift as clear as this in a history without any, corrected as `level_shifts` was asked.
        kind: What it is.
    """

    begin: int
    earliest: int
    latest: int
    chance: float
    kind: ShiftKind


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """A history as stretches of one level each.

    Attributes:
        shifts: In order; each begins a stretch.
        deviations: Of the values from the means of their stretches.
        stretches_count: How many of those there are.
        correlation: Of neighbouring deviations, 0..0.9, not raised by any margin.
    """

    shifts: tuple[LevelShift, ...]
    deviations: Series
    stretches_count: int
    correlation: float

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the spread within stretches."""
        return self.deviations.size - self.stretches_count

    @property
    def variance(self) -> float:
        """Of one value around its level; 0 where too few values tell."""
        return float(self.deviations @ self.deviations) / self.degrees if self.degrees > 0 else 0.0

    def variance_of_mean(self, count: int) -> float:
        """Of the mean of so many neighbouring values (Bayley and Hammersley 1946)."""
        lags = np.arange(1, count)
        memory = float(((1 - lags / count) * self.correlation**lags).sum())
        return self.variance / count * (1 + 2 * memory)

    @property
    def widening(self) -> float:
        """By which factor the variance of a mean of many values is larger than that of independent ones."""
        return (1 + self.correlation) / (1 - self.correlation)


def chance_of_any(values: Series, alpha: float) -> float:
    """The chance of a shift as clear as the clearest one in a history without any, 0..1; 1 for too short a history.

    Args:
        values: As `level_shifts` takes them.
        alpha: The smallest level that the chance is compared with.
    """
    if values.size < SHORTEST_HISTORY or np.ptp(values) == 0.0:
        return 1.0
    chances, _, _ = _chances(_scores_of(values)[None, :], alpha)
    return float(chances[0])


def level_shifts(values: Series, alpha: float) -> Levels:
    """Finds the shifts of a history.

    Args:
        values: One for each session, in order; the larger the faster, such as logarithms of throughput.
        alpha: Chance that a history without any shift has one.
    """
    begins = _pruned(values, _split(values, 0, alpha), alpha)
    shifts = _with_kinds(values, [_shift(values, begins, index, alpha) for index in range(len(begins))])
    return _levels(values, begins, shifts)


def with_begin(values: Series, levels: Levels, begin: int) -> Levels:
    """The spread of a history whose last level is that of two stretches, of which the second begins at `begin`."""
    return _levels(values, [*(shift.begin for shift in levels.shifts), begin], levels.shifts)


def _levels(values: Series, begins: Sequence[int], shifts: Sequence[LevelShift]) -> Levels:
    deviations = _deviations(values, begins)
    return Levels(tuple(shifts), deviations, len(begins) + 1, _correlation(deviations, begins))


def _split(values: Series, offset: int, alpha: float) -> list[int]:
    size = values.size
    if size < SHORTEST_HISTORY or np.ptp(values) == 0.0:
        return []
    chances, firsts, lasts = _chances(_scores_of(values)[None, :], alpha)
    if chances[0] > alpha:
        return []
    edges = sorted({0, int(firsts[0]), int(lasts[0]), size})
    begins = [offset + edge for edge in edges[1:-1]]
    for first, last in pairwise(edges):
        begins += _split(values[first:last], offset + first, alpha * (last - first) / size)
    return sorted(begins)


def _pruned(values: Series, begins: list[int], alpha: float) -> list[int]:
    """Without what is no shift between its neighbours; the least clear one goes first."""
    while len(begins) > 1:
        chances = [_between(values, begins, index, alpha)[0] for index in range(len(begins))]
        worst = int(np.argmax(chances))
        if chances[worst] <= alpha:
            break
        begins = begins[:worst] + begins[worst + 1 :]
    return begins


def _between(values: Series, begins: Sequence[int], index: int, alpha: float) -> tuple[float, int, int]:
    """The chance of the clearest shift between two neighbours of a shift, and both ends."""
    edges = [0, *begins, values.size]
    first, last = edges[index], edges[index + 2]
    chances, _ = _chances_of_shift(_scores_of(values[first:last])[None, :], alpha)
    return float(chances[0]), first, last


def _shift(values: Series, begins: Sequence[int], index: int, alpha: float) -> LevelShift:
    chance, first, last = _between(values, begins, index, alpha)
    begin, at = begins[index], begins[index] - first
    bounded = _without_outliers(values[first:last], [at])
    gains = _gains(bounded[None, :] - bounded.mean(), shortest=1)[0]
    deviations = _deviations(bounded, [at])
    within = _correlation(deviations, [at])
    unit = float(deviations @ deviations) / (deviations.size - 2) * (1 + within) / (1 - within)
    likely = np.flatnonzero(gains >= gains[at - 1] - _LOCATION_LIMIT * unit) + first + 1
    return LevelShift(begin, int(likely[0]), int(likely[-1]), chance, ShiftKind.LASTING)


def _without_outliers(values: Series, begins: Sequence[int]) -> Series:
    """Values that lie further out than three deviations beyond all levels are drawn in to there."""
    parts = np.split(values, begins)
    medians = np.array([np.median(part) for part in parts])
    deviation = 1.4826 * float(np.median(np.abs(values - np.repeat(medians, [part.size for part in parts]))))
    return np.clip(values, medians.min() - 3 * deviation, medians.max() + 3 * deviation)


def _with_kinds(values: Series, shifts: Sequence[LevelShift]) -> list[LevelShift]:
    if not shifts:
        return []
    begins = [shift.begin for shift in shifts]
    parts = np.split(values, begins)
    means = [float(part.mean()) for part in parts]
    kinds = [ShiftKind.LASTING] * len(shifts)
    for index, (before, after) in enumerate(pairwise(parts)):
        if _is_one_sided(before, after):
            kinds[index] = ShiftKind.ONE_SIDED
    for index in range(len(shifts)):
        step = means[index + 1] - means[index]
        later = [other for other in range(index + 1, len(shifts)) if _is_back(means, index, other, step)]
        if later and kinds[index] is ShiftKind.LASTING:
            kinds[index] = ShiftKind.ENDED
            kinds[later[0]] = ShiftKind.RETURN
    for first, last in _same_way(means):
        if _is_gradual(values, begins, first, last):
            kinds[first:last] = [
                kind if kind is ShiftKind.ONE_SIDED else ShiftKind.GRADUAL for kind in kinds[first:last]
            ]
    return [replace(shift, kind=kind) for shift, kind in zip(shifts, kinds, strict=True)]


def _is_one_sided(before: Series, after: Series) -> bool:
    """Whether the slowest quarter moved much further than the fastest, which nothing but a shift of all can move."""
    sign = float(np.sign(after.mean() - before.mean()))
    fast, slow = (sign * (_quarter(sense * after) - _quarter(sense * before)) * sense for sense in (1.0, -1.0))
    return slow < 0 or fast < _FAST_SHARE * slow


def _quarter(values: Series) -> float:
    """The mean of the highest quarter of some values, of two at least."""
    return float(np.sort(values)[-max(values.size - int(values.size * 0.75), 2) :].mean())


def _is_back(means: Sequence[float], index: int, other: int, step: float) -> bool:
    """Whether the level after another shift is nearer to the one before this shift than to the one after it."""
    return abs(means[other + 1] - means[index]) < abs(step) / 2


def _same_way(means: Sequence[float]) -> list[tuple[int, int]]:
    """Runs of shifts that all go up, or all go down, as ranges of their indexes."""
    signs = np.sign(np.diff(means))
    edges = [0, *(np.flatnonzero(np.diff(signs)) + 1), signs.size]
    return [(int(first), int(last)) for first, last in pairwise(edges) if last > first]


def _is_gradual(values: Series, begins: Sequence[int], first: int, last: int) -> bool:
    """Whether a line describes shifts `first` to `last` and the levels around them as well (Schwarz 1978)."""
    edges = [0, *begins, values.size]
    offset, end = edges[first], edges[last + 1]
    within = [begin - offset for begin in begins[first:last]]
    stretch = _without_outliers(values[offset:end], within)
    stretch = stretch - stretch.mean()
    steps = float((_deviations(stretch, within) ** 2).sum())
    time = np.arange(stretch.size) - (stretch.size - 1) / 2
    line = max(float(stretch @ stretch - (time @ stretch) ** 2 / (time @ time)), 1e-300)
    further = 2 * len(within) - 1
    gain: float = stretch.size * math.log(line / max(steps, 1e-300))
    return gain < further * math.log(stretch.size)


def _deviations(values: Series, begins: Sequence[int]) -> Series:
    return np.concatenate([part - part.mean() if part.size else part for part in np.split(values, begins)])


def _correlation(deviations: Series, begins: Sequence[int]) -> float:
    crosses = np.zeros((1, max(deviations.size - 1, 0)), dtype=bool)
    crosses[0, [begin - 1 for begin in begins]] = True
    if deviations.size < SHORTEST_HISTORY or np.ptp(deviations) == 0.0:
        return 0.0
    return float(_memory(deviations[None, :], crosses, len(begins) + 1, margin=0.0)[0])


def _memory(deviations: Rows, crosses: NDArray[np.bool_], means_count: int, *, margin: float) -> Rows:
    """The correlation of neighbours in each row; pairs that cross a shift say nothing of it."""
    size = deviations.shape[1]
    inside = ~crosses
    inside_two = inside[:, 1:] & inside[:, :-1]
    products = np.where(inside, deviations[:, 1:] * deviations[:, :-1], 0.0).sum(axis=1)
    raw = products / np.maximum((deviations**2).sum(axis=1), 1e-300)
    of_residuals = raw + means_count * (1 + 3 * raw) / size
    neighbours, next_ones = (
        (np.where(mask, difference**2, 0.0).sum(axis=1) / np.maximum(mask.sum(axis=1), 1))
        for mask, difference in (
            (inside, np.diff(deviations)),
            (inside_two, deviations[:, 2:] - deviations[:, :-2]),
        )
    )
    of_differences = next_ones / np.maximum(neighbours, 1e-300) - 1
    correlation = np.maximum(of_residuals, of_differences) + margin / math.sqrt(size)
    bounded: Rows = np.clip(correlation, 0.0, _LARGEST_CORRELATION)
    return bounded


def _scores_of(values: Series) -> Series:
    """Normal scores of a series; equal values have the mean of theirs."""
    _, groups, counts = np.unique(values, return_inverse=True, return_counts=True)
    scores: Series = _scores_of_counts(counts)[np.cumsum(counts) - 1][groups]
    return scores


def _scores_of_counts(counts: NDArray[np.int64]) -> Series:
    """The scores of all ranks, rising, where so many values each are equal."""
    from plimsoll.stats.special import ndtri

    size = int(counts.sum())
    scores = ndtri((np.arange(1, size + 1) - 0.375) / (size + 0.25))
    means: Series = np.repeat(np.add.reduceat(scores, np.cumsum(counts) - counts) / counts, counts)
    return means


def _scores_of_rows(values: Rows, counts: NDArray[np.int64] | None = None) -> Rows:
    """The same of rows of which none has equal values; with the scores of a series of which so many each are equal."""
    counts = np.ones(values.shape[1], dtype=np.int64) if counts is None else counts
    scores: Rows = _scores_of_counts(counts)[values.argsort(axis=1).argsort(axis=1)]
    return scores


def _gains(scores: Rows, shortest: int) -> Rows:
    """What a shift at each place takes from the sum of squares of each row."""
    size = scores.shape[1]
    places = np.arange(shortest, size - shortest + 1)
    sums = np.cumsum(scores, axis=1)[:, places - 1]
    gains: Rows = sums**2 * size / (places * (size - places))
    return gains


def _best(scores: Rows) -> tuple[Rows, Places]:
    """The gain of the best place of each row over its mean square, and that place."""
    gains = _gains(scores, SHORTEST)
    best = gains.argmax(axis=1)
    squares = np.maximum((scores**2).mean(axis=1), 1e-300)
    return gains[np.arange(len(gains)), best] / squares, best + SHORTEST


def _best_spell(scores: Rows) -> tuple[Rows, Places, Places]:
    """The same of spells, which end before the row does, with their begins and ends; of some lengths only."""
    rows, size = scores.shape
    sums = np.concatenate([np.zeros((rows, 1)), np.cumsum(scores, axis=1)], axis=1)
    best, begins, ends = np.zeros(rows), np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    for length in _lengths(size):
        inside = sums[:, SHORTEST + length : size - SHORTEST + 1] - sums[:, SHORTEST : size - SHORTEST - length + 1]
        at = np.abs(inside).argmax(axis=1)
        gains = inside[np.arange(rows), at] ** 2 * size / (length * (size - length))
        is_better = gains > best
        best = np.where(is_better, gains, best)
        begins, ends = np.where(is_better, at + SHORTEST, begins), np.where(is_better, at + SHORTEST + length, ends)
    return best / np.maximum((scores**2).mean(axis=1), 1e-300), begins, ends


def _lengths(size: int) -> list[int]:
    """Of spells: each a quarter longer than the one before it, up to half of a history."""
    lengths, length = [], SHORTEST
    while length <= min(size // 2, size - 2 * SHORTEST):
        lengths.append(length)
        length = max(length + 1, round(length * 1.25))
    return lengths


def _chances(scores: Rows, alpha: float) -> tuple[Rows, Places, Places]:
    """The chance of the clearest shift or spell of each row, where it begins, and where it ends.

    All rows have the same scores, in some order; chances are fine enough to be compared with a level.
    """
    size = scores.shape[1]
    chances, begins = _chances_of_shift(scores, alpha)
    chances, ends = chances / (1 - _SPELLS_PART), np.full(len(begins), size)
    if _lengths(size):
        statistics, spells, spell_ends = _best_spell(scores)
        of_spells = _tail(scores, statistics, (spells, spell_ends), alpha, of_spells=True) / _SPELLS_PART
        is_spell = of_spells < chances
        chances = np.where(is_spell, of_spells, chances)
        begins, ends = np.where(is_spell, spells, begins), np.where(is_spell, spell_ends, ends)
    return np.minimum(chances, 1.0), begins, ends


def _chances_of_shift(scores: Rows, alpha: float) -> tuple[Rows, Places]:
    """The same of a level that lasts to the end of the row."""
    statistics, begins = _best(scores)
    stretches = begins, np.full(len(begins), scores.shape[1])
    return _tail(scores, statistics, stretches, alpha, of_spells=False), begins


def _tail(scores: Rows, statistics: Rows, stretches: tuple[Places, Places], alpha: float, *, of_spells: bool) -> Rows:
    """How often a row without any shift has such a statistic, whose neighbours are correlated as beside its stretch."""
    correlations = np.min([_memory_beside(scores, stretches, moved) for moved in range(-_NEAR, _NEAR + 1)], axis=0)
    on_grid = np.minimum(np.ceil(correlations * _GRID), _LARGEST_CORRELATION * _GRID).astype(int)
    ties = tuple(np.unique(scores[0], return_counts=True)[1].tolist())
    chances = np.ones(len(scores))
    for parts in (1,) if alpha >= _SIMULATED_ONCE_FROM else (1, _PARTS):
        is_open = chances <= _CLEAR if parts > 1 else np.ones(len(scores), dtype=bool)
        for step_of_grid in np.unique(on_grid[is_open]):
            null, which = _nulls(ties, int(step_of_grid), parts)[of_spells], is_open & (on_grid == step_of_grid)
            above = null.size - np.searchsorted(null, statistics[which] * (1 - _ROUNDING), side="left")
            chances[which] = (1 + above) / (null.size + 1)
    return chances


def _memory_beside(scores: Rows, stretches: tuple[Places, Places], moved: int) -> Rows:
    """The correlation of neighbours in each row beside its stretch, which is moved by some places."""
    size = scores.shape[1]
    firsts = np.clip(stretches[0] + moved, 1, size - 1)
    begins = firsts[:, None]
    ends = np.where(stretches[1] < size, np.maximum(stretches[1], firsts + 1), size)[:, None]
    time = np.arange(size)
    is_inside = (time >= begins) & (time < ends)
    counts = is_inside.sum(axis=1)
    sums = np.where(is_inside, scores, 0.0).sum(axis=1)
    level = np.where(is_inside, (sums / counts)[:, None], (-sums / (size - counts))[:, None])
    return _memory(scores - level, (time[1:] == begins) | (time[1:] == ends), 2, margin=_MARGIN)


@lru_cache(maxsize=512)
def _nulls(ties: tuple[int, ...], step_of_grid: int, parts: int) -> tuple[Series, Series]:
    """The statistics of shifts and of spells in simulated histories without any, rising.

    Args:
        ties: How many values each are equal, from the lowest on.
        step_of_grid: The correlation of neighbours.
        parts: How many times `_SIMULATED` of them.
    """
    counts, size = np.array(ties, dtype=np.int64), sum(ties)
    random = np.random.default_rng([size, step_of_grid])
    shifts, spells = [], []
    for _ in range(parts):
        scores = _scores_of_rows(_autocorrelated(random, (_SIMULATED, size), step_of_grid / _GRID), counts)
        shifts.append(_best(scores)[0])
        spells.append(_best_spell(scores)[0])
    return np.sort(np.concatenate(shifts)), np.sort(np.concatenate(spells))


def _autocorrelated(random: np.random.Generator, shape: tuple[int, int], correlation: float) -> Rows:
    """Rows of standard normal values whose neighbours are correlated."""
    values = random.normal(size=shape)
    fresh = math.sqrt(1 - correlation**2)
    for at in range(1, shape[1] if correlation else 0):
        values[:, at] = correlation * values[:, at - 1] + fresh * values[:, at]
    return values


_DRAWS = 200
_LARGEST_SHIFT = 40.0
"""In standard deviations: what is not found of it is not found of any."""


@dataclass(frozen=True, slots=True)
class Detectable:
    """What the test would find.

    Attributes:
        shift: The smallest shift that is found with the power asked for, in standard deviations; None for none.
        power: Share of histories in which that one is found; where there is none, in which the largest is.
    """

    shift: float | None
    power: float


@lru_cache(maxsize=256)
def detectable_shift(size: int, newest: int, correlation: float, alpha: float, power: float) -> Detectable:
    """The smallest shift that the test finds with a power where the last values have it.

    Args:
        size: Values of the history.
        newest: How many of them are of the new level; an older shift is found more easily, up to the middle.
        correlation: Of neighbours.
        alpha: Level of the test.
        power: Share of histories in which it is found, such as 0.9.
    """
    if size < SHORTEST_HISTORY or not SHORTEST <= newest <= size - SHORTEST:
        return Detectable(None, 0.0)
    noise = _autocorrelated(np.random.default_rng([size, newest]), (_DRAWS, size), correlation)
    after = (np.arange(size) >= size - newest).astype(float)

    def share_found(shift: float) -> float:
        chances, _, _ = _chances(_scores_of_rows(noise + shift * after), alpha)
        return float((chances <= alpha).mean())

    highest = share_found(_LARGEST_SHIFT)
    if highest < power:
        return Detectable(None, highest)
    low, high = 0.0, _LARGEST_SHIFT
    while high - low > 0.04 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if share_found(middle) >= power else (middle, high)
    return Detectable(high, share_found(high))
