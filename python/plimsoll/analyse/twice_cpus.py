"""What twice the processors would give at most: the asymptotic bound (Denning and Buzen 1978).

It is twice the saturation of the processors, or that of another resource where that is lower. It assumes that demands
stay the same and that contention does not rise.

A device is no such limit. It may be busy all the time while it serves many requests at once, and then still have
capacity (iostat(1) on %util; Gregg 2020, chapter 9). So the throughput at which it would be busy all the time is a
lower bound of what it sustains: it is given beside the upper one.

Deliberately not here: which resource limits now (`where_time`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.own_processors import SERVER_CPUS
from plimsoll.analyse.where_model import BUSIEST, CPU, ResourceDemand, WhatIf, is_device


def twice_the_cpus(first: ResourceDemand, demands: Sequence[ResourceDemand]) -> WhatIf | None:
    """The bound; None where the processors are not what limits.

    Args:
        first: The resource that saturates first.
        demands: All that are bottlenecks of their own.
    """
    if first.resource not in (CPU, SERVER_CPUS):
        return None
    doubled = _scaled(first.saturation_tps, 2.0)
    others = [one for one in demands if one.resource not in (CPU, BUSIEST, SERVER_CPUS) and not is_device(one.resource)]
    lowest = _lowest(others)
    is_other = lowest is not None and lowest.saturation_tps.value < doubled.value
    bound, limited_by = (lowest.saturation_tps, lowest.resource) if lowest and is_other else (doubled, first.resource)
    device = _lowest([one for one in demands if is_device(one.resource)])
    if device is None or device.saturation_tps.value >= bound.value:
        return WhatIf(bound_tps=bound, limited_by=limited_by)
    return WhatIf(bound_tps=bound, limited_by=limited_by, device_busy_tps=device.saturation_tps, device=device.resource)


def _lowest(demands: Sequence[ResourceDemand]) -> ResourceDemand | None:
    return min(demands, key=lambda one: one.saturation_tps.value, default=None)


def _scaled(one: Estimate, factor: float) -> Estimate:
    bounds = one.bounds
    if bounds is not None:
        bounds = bounds.model_copy(update={"low": bounds.low * factor, "high": bounds.high * factor})
    return one.model_copy(update={"value": one.value * factor, "bounds": bounds})
