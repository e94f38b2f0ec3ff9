"""What costs say in the answer: one finding for each workload whose prices are in one currency."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from plimsoll.analyse.answer import TOLD_ONE_BY_ONE
from plimsoll.analyse.cost_model import SystemCost, WorkloadCost
from plimsoll.analyse.finding_model import Finding, found


def cost_answer(costs: Iterable[WorkloadCost]) -> Iterator[Finding]:
    """The cheapest first; of many systems the cheapest alone. In several currencies the section on costs says so."""
    for one in costs:
        if len(one.currencies) > 1:
            continue
        if len(one.systems) > TOLD_ONE_BY_ONE:
            told = one.systems[:1]
            yield found("cheapest", system=told[0].system, workload=one.workload, **_figures(one, told))
        else:
            yield found("costs", workload=one.workload, **_figures(one, one.systems))


def _figures(one: WorkloadCost, told: Sequence[SystemCost]) -> dict[str, Any]:
    return {
        "systems": tuple(system.system for system in told),
        "costs_per_million": tuple(system.per_million.value for system in told),
        "currency": one.currencies[0] or None,
        "basis": one.basis.value,
        "utilisation": one.utilisation,
        "is_decided": one.currencies[0] not in one.undecided,
        "without_price": one.without_price,
        "without_capacity": one.without_capacity,
    }
