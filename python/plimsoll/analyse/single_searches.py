"""How the capacities of two systems compare where each was searched once: by the intervals of the two searches.

One search says nothing about how starts of a server differ. So their speeds are taken to differ by `STARTS_DIFFER`
(standard deviation), and that is added to the error of the search, as its interval shows it: the wider side of it over
the quantile of Student's t that belongs to it. The logarithm of the ratio is then normal. Where several systems are
compared, its interval is that of all comparisons (Bonferroni). `tests/truth/test_single_searches.py` counts how often
equal servers are told apart.

Deliberately not here: equality. It would need an interval within 5 %, and those of single searches are wider.
"""

from __future__ import annotations

import math

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.crossing import LEVEL, SEARCH_FREEDOM
from plimsoll.analyse.model import DifferenceVerdict

STARTS_DIFFER = 0.03
"""Standard deviation of the logarithm of a server's speed between its starts, as it is taken to be."""


def ratio_of_single_searches(base: SystemCapacity, system: SystemCapacity, *, alpha: float) -> CapacityRatio | None:
    """The ratio of two capacities, one search each; None unless both searches have both limits.

    Args:
        base: What is compared with.
        system: What is compared.
        alpha: 0.05 for one comparison; with m of them side by side 0.05 / m.
    """
    from scipy.special import ndtri

    of_base, of_system = _variance(base), _variance(system)
    if of_base is None or of_system is None:
        return None
    value = _capacity(system) / _capacity(base)
    half = float(ndtri(1 - alpha / 2)) * math.sqrt(of_base + of_system)
    bounds = Bounds(
        low=value * math.exp(-half),
        high=value * math.exp(half),
        basis=SpreadKind.WITHIN_RUN,
        degrees=None,
        method="intervals of one search each, and what starts of a server are taken to differ by",
    )
    return CapacityRatio(
        workload=base.workload,
        base=base.system,
        system=system.system,
        ratio=Estimate(value=value, bounds=bounds, trial_count=1),
        verdict=_verdict(bounds).value,
    )


def _verdict(bounds: Bounds) -> DifferenceVerdict:
    if bounds.low > 1:
        return DifferenceVerdict.FASTER
    return DifferenceVerdict.SLOWER if bounds.high < 1 else DifferenceVerdict.UNTESTABLE


def _variance(one: SystemCapacity) -> float | None:
    """Of the logarithm of a capacity; None where a limit of its search is not known."""
    if one.capacity_tps is None or one.low is None or one.high is None:
        return None
    from scipy.special import stdtrit

    quantile = float(stdtrit(SEARCH_FREEDOM, (1 + LEVEL) / 2))
    widest = max(math.log(_capacity(one) / one.low), math.log(one.high / _capacity(one)))
    return (widest / quantile) ** 2 + STARTS_DIFFER**2


def _capacity(one: SystemCapacity) -> float:
    assert one.capacity_tps is not None, "checked by the caller"
    return one.capacity_tps.value
