"""A variance of few repetitions, drawn towards that of all systems that were measured alike.

Three repetitions tell little of how a system varies, so others are asked as well. But one system may be noisier than
the others. A variance that is simply pooled is then too small for it, and names a winner of equal systems in up to 15 %
of studies. A *moderated* variance is between the two (limma: Smyth 2004, section 3):

    s² = (d0 * pool + d * own) / (d0 + d),   with d0 + d degrees of freedom,

where `own` has d degrees of freedom. Smyth estimates d0 from thousands of genes; a handful of systems cannot tell it.
Here d0 is a quarter of the degrees of freedom that the pool has beyond d, and 8 at most. Where `own` exceeds the pool,
it is smaller by their ratio: a system that looks noisier is judged more by itself. Two systems that are compared within
repetitions have no pool beyond their own differences, and keep the paired t test.

The quarter and the 8 were chosen by simulation of 3 to 8 systems and 2 to 10 repetitions, where one system is as noisy
as the others or 2, 3 and 5 times noisier (`tests/truth/test_unlike_noise.py`; figures in `docs/methods.md`). Equal
systems then have a winner in at most 5.3 % of studies; with a half, in up to 7 %.

Assumption: a system varies alike from repetition to repetition. Deliberately not here: which variances these are
(`level_table`).
"""

from __future__ import annotations

from plimsoll.analyse.within_run import MeanVariance

_SHARE_OF_POOL = 1 / 4
_MOST_PRIOR_DEGREES = 8.0

_CAUTION = 0.2
"""How far the degrees of freedom of a moderated variance are drawn to R - 1, on a scale of logarithms, to find what is
detectable.

They are smaller where the variance is larger, so they promise too much: with 0, effects of the size that is called
detectable were found in 71 to 81 % of studies of 3 to 10 repetitions, with 0.2 in 78 to 84 %.
"""


def moderated(own: MeanVariance | None, pool: MeanVariance) -> MeanVariance:
    """The variance of one of several systems.

    Args:
        own: As its own repetitions say; None where there is one, so that nothing but the pool is known.
        pool: That of all systems together, its own repetitions included.
    """
    if own is None:
        return pool
    prior = min(max(pool.degrees - own.degrees, 0.0) * _SHARE_OF_POOL, _MOST_PRIOR_DEGREES)
    if own.variance > pool.variance:
        prior *= pool.variance / own.variance
    degrees = prior + own.degrees
    return MeanVariance((prior * pool.variance + own.degrees * own.variance) / degrees, degrees)


def moderated_power_degrees(degrees: float, repetitions: int) -> float:
    """The degrees of freedom by which the minimum detectable effect is found, see `_CAUTION`.

    Args:
        degrees: Of a moderated variance.
        repetitions: On how many it rests.
    """
    return float(degrees ** (1 - _CAUTION) * min(degrees, repetitions - 1) ** _CAUTION)
