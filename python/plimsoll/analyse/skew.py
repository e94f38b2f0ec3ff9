"""How unevenly the instances of a system completed their load: the fastest over the slowest.

An instance with one connection more may complete more, so each is divided by its part of the load (`instances.parts`).
The skew is doubted above `SKEW_FACTOR_MAX`, and only where chance does not explain it: the logarithm of the ratio must
exceed that of the limit by `_ERRORS` standard errors, sqrt(1/a + 1/b) for a and b completed transactions (Poisson; with
a fixed number of connections counts vary less). Four standard errors leave the fastest and slowest of 64 instances
beyond the limit by chance in fewer than one of 1,000 trials (Bonferroni over all pairs of 64: 6e-5 each, two-sided, is
4.0).

Deliberately not here: a single instance that is behind (`instances`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.analyse.instances import parts
from plimsoll.record.level import Level

SKEW_FACTOR_MAX = 1.25
_ERRORS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """The fastest and the slowest instance.

    Attributes:
        fastest: Its name.
        slowest: Its name.
        fastest_tps: Transactions per second, as are the next.
        slowest_tps: Of the slowest.
        factor: The one over the other, each over its part of the load.
    """

    fastest: str
    slowest: str
    fastest_tps: float
    slowest_tps: float
    factor: float


def skew_of(found: Mapping[str, float], level: Level, duration_s: float) -> Skew | None:
    """The skew between instances, where it is too large to be chance; None otherwise.

    Args:
        found: Transactions per second by instance.
        level: What was offered.
        duration_s: Length of the window, seconds.
    """
    if len(found) < 2 or min(found.values()) <= 0:
        return None
    rates = {name: tps / part for (name, tps), part in zip(found.items(), parts(level, len(found)), strict=True)}
    fastest, slowest = max(rates, key=rates.__getitem__), min(rates, key=rates.__getitem__)
    error = math.sqrt(sum(1 / (found[name] * duration_s) for name in (fastest, slowest)))
    factor = rates[fastest] / rates[slowest]
    if math.log(factor) - _ERRORS * error <= math.log(SKEW_FACTOR_MAX):
        return None
    return Skew(
        fastest=fastest,
        slowest=slowest,
        fastest_tps=found[fastest],
        slowest_tps=found[slowest],
        factor=factor,
    )
