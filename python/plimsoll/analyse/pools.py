"""How many connections a pool should keep open: the fewest that are shown to lose no more than 5 % of throughput.

A level is *shown to be enough* when, against every other level, the lower limit of the ratio of their throughputs is at
least 0.95: an intersection-union test of non-inferiority, in which each comparison has a one-sided alpha of 0.05 and so
has all of it (Berger and Hsu 1996). The smallest such level is advised. Noise makes limits lower, so noisy trials lead
to more connections or to no advice, and never to fewer. Where no level is shown to be enough, the advice lies between
the smallest level that may be enough (no upper limit is below 0.95) and the largest one.

Repetitions must say how runs differ. Where they do not, since a level was measured once, nothing is shown to be enough;
which levels may be follows from an assumed spread of 10 % between runs. Published figures without a spread are told as
they are, the highest of them, and not as advice.

The practice of sizing the pool by the fewest connections that sustain what the peak sustains is that of HP's guide for
ProLiant blades (2008). Deliberately not here: any guess beyond the measured levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.curve_model import PoolAdvice, PoolReason
from plimsoll.analyse.log_ratio import ALPHA
from plimsoll.analyse.own_processors import servers_host, shares_processors
from plimsoll.analyse.peaks import highest
from plimsoll.analyse.ratios import log_ratio
from plimsoll.analyse.throughput import MeanThroughput

ENOUGH_RATIO = 0.95
"""A pool loses at most 5 % of the best throughput."""

ASSUMED_SPREAD = 0.10
"""Standard deviation of the logarithm of one run, where nothing says how runs differ: that of a noisy machine."""


def pool_advice(rising: Sequence[MeasuredCell], *, is_limited: bool = False) -> PoolAdvice:
    """The advice for one curve in a closed loop.

    Args:
        rising: Its cells by rising level, those that keep the study's objective.
        is_limited: Higher levels were left out, since they do not keep it.
    """
    means = [cell.throughput for cell in rising]
    best = highest(means)
    limits = [_limits(means, index) for index in range(len(means))]
    enough = smallest_enough(means)
    possible = [index for index, (_, high) in enumerate(limits) if high >= ENOUGH_RATIO] or [best]
    chosen = possible[-1] if enough is None else enough
    edges = (possible[0], possible[-1])
    reason = _reason(rising, best, chosen, is_limited, is_resolved=_is_resolved(means, enough, edges))
    if reason is PoolReason.SINGLE_FIGURES:
        chosen = best
    connections = rising[chosen].level.connections
    cores = servers_host(rising[0].trials[0].environment).cpu_cores
    is_open = reason is PoolReason.UNRESOLVED
    return PoolAdvice(
        connections=connections,
        per_core=connections / cores if cores else None,
        reason=reason,
        between=(rising[edges[0]].level.connections, rising[edges[1]].level.connections) if is_open else None,
        client_shared_processors=any(shares_processors(one.environment) for cell in rising for one in cell.trials),
    )


def _is_resolved(means: Sequence[MeanThroughput], enough: int | None, edges: tuple[int, int]) -> bool:
    is_spread_known = all(mean.spread is not None and mean.spread.seen_between_runs for mean in means)
    return enough is not None or (edges[0] == edges[1] and is_spread_known)


def smallest_enough(means: Sequence[MeanThroughput]) -> int | None:
    """The first level that is shown to be enough; None where none is."""
    indexes = range(len(means))
    return next((index for index in indexes if _limits(means, index)[0] >= ENOUGH_RATIO), None)


def _limits(means: Sequence[MeanThroughput], index: int) -> tuple[float, float]:
    """The lowest lower and the lowest upper one-sided 95 % limit of the ratios of one level to all others."""
    pairs = [_one_sided(means[index], other) for at, other in enumerate(means) if at != index]
    return min((low for low, _ in pairs), default=1.0), min((high for _, high in pairs), default=1.0)


def _one_sided(mean: MeanThroughput, other: MeanThroughput) -> tuple[float, float]:
    """Of the ratio of two levels."""
    from scipy.special import ndtri

    if mean.value_tps <= 0 or other.value_tps <= 0:
        ratio = 0.0 if mean.value_tps < other.value_tps else math.inf
        return ratio, ratio
    found = log_ratio(mean, other)
    if found is None or found.basis is SpreadKind.WITHIN_RUN:
        width = float(ndtri(1 - ALPHA)) * ASSUMED_SPREAD * math.sqrt(2)
        return 0.0, mean.value_tps / other.value_tps * math.exp(width)
    low, high = found.log_limits(1 - 2 * ALPHA)
    return math.exp(max(low, -100.0)), math.exp(min(high, 100.0))


def _reason(
    rising: Sequence[MeasuredCell], best: int, chosen: int, is_limited: bool, *, is_resolved: bool
) -> PoolReason:
    level, last = rising[chosen].level, rising[-1].level
    reasons = (
        (rising[best].throughput.value_tps <= 0, PoolReason.UNKNOWN),
        (len(rising) == 1 and not is_limited, PoolReason.ONLY_LEVEL),
        (_are_single_figures(rising), PoolReason.SINGLE_FIGURES),
        (not is_resolved, PoolReason.UNRESOLVED),
        (level == last and is_limited, PoolReason.OBJECTIVE),
        (level == last, PoolReason.STILL_RISING),
        (chosen == 0 and level.connections > 1, PoolReason.LOWEST_LEVEL),
        (chosen != best, PoolReason.NO_GAIN),
    )
    return next((reason for applies, reason in reasons if applies), PoolReason.PEAK)


def _are_single_figures(rising: Sequence[MeasuredCell]) -> bool:
    """Whether the levels are figures of somebody else, of which some say nothing of how they vary."""
    is_published = all(one.is_published for cell in rising for one in cell.trials)
    return is_published and any(cell.throughput.spread is None for cell in rising)
