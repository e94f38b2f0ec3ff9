"""What costs say in the answer: one finding for each workload whose prices are in one currency."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.analyse.answer import TOLD_ONE_BY_ONE
from plimsoll.analyse.cost_model import WorkloadCost
from plimsoll.analyse.finding_model import Finding, found


def cost_answer(costs: Iterable[WorkloadCost]) -> Iterator[Finding]:
    """The cheapest first; of many systems the cheapest alone. In several currencies the section on costs says so."""
    for one in costs:
        if len(one.currencies) > 1:
            continue
        told = one.systems[:1] if len(one.systems) > TOLD_ONE_BY_ONE else one.systems
        yield found(
            "cheapest" if told != one.systems else "costs",
            system=told[0].system if told != one.systems else None,
            workload=one.workload,
            systems=tuple(system.system for system in told),
            costs_per_million=tuple(system.per_million.value for system in told),
            currency=one.currencies[0] or None,
            basis=one.basis.value,
            utilisation=one.utilisation,
            is_decided=one.currencies[0] not in one.undecided,
            without_price=one.without_price,
            without_capacity=one.without_capacity,
        )
