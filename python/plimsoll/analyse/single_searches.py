"""How the capacities of two systems compare where each was searched once: by the limits of the two searches.

One search says nothing about how searches vary, or starts of a server. Its limits hold the truth in far more than 95
of 100 searches where starts do not differ; the upper one counts as at least as far away as the lower one, since a
slow minute may have made a rate fail. Both are moved half as far again from the capacity, on the scale of logarithms,
so that they hold the truth where the speeds of starts differ by 3 % (standard deviation) as well; where several
systems are compared, further, in the proportion of the normal quantiles for one comparison and for all (Bonferroni).
Two such intervals that do not touch show a difference, and the ratio lies between the quotients of their ends.
`tests/truth/test_single_searches.py` counts how often equal servers are told apart.

Deliberately not here: equality. It would need an interval within 5 %, and limits of single searches are never so close.
"""

from __future__ import annotations

import math

from scipy.special import ndtri

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.record.capacity import OWN_ERROR_RATIO

_ALPHA = 0.05

_STARTS_DIFFER = 1.5
"""By this factor limits are moved away because starts of a server may differ from each other."""


def ratio_of_single_searches(base: SystemCapacity, system: SystemCapacity, *, alpha: float) -> CapacityRatio | None:
    """The ratio of two capacities, one search each; None unless both searches have both limits.

    Args:
        base: What is compared with.
        system: What is compared.
        alpha: 0.05 for one comparison; with m of them side by side 0.05 / m.
    """
    of_base, of_system = _limits(base, alpha), _limits(system, alpha)
    if of_base is None or of_system is None:
        return None
    bounds = Bounds(
        low=of_system[0] / of_base[1],
        high=of_system[1] / of_base[0],
        basis=SpreadKind.WITHIN_RUN,
        degrees=None,
        method="limits of one search each",
    )
    return CapacityRatio(
        workload=base.workload,
        base=base.system,
        system=system.system,
        ratio=Estimate(value=_capacity(system) / _capacity(base), bounds=bounds, trial_count=1),
        verdict=_verdict(bounds).value,
    )


def _verdict(bounds: Bounds) -> DifferenceVerdict:
    if bounds.low > 1:
        return DifferenceVerdict.FASTER
    return DifferenceVerdict.SLOWER if bounds.high < 1 else DifferenceVerdict.UNTESTABLE


def _limits(one: SystemCapacity, alpha: float) -> tuple[float, float] | None:
    if one.capacity_tps is None or one.low is None or one.high is None:
        return None
    further = _STARTS_DIFFER * float(ndtri(1 - alpha / 2) / ndtri(1 - _ALPHA / 2))
    tps = _capacity(one)
    high = max(one.high, tps * (1 + OWN_ERROR_RATIO))
    return tps * math.exp(further * math.log(one.low / tps)), tps * math.exp(further * math.log(high / tps))


def _capacity(one: SystemCapacity) -> float:
    assert one.capacity_tps is not None, "checked by the caller"
    return one.capacity_tps.value
