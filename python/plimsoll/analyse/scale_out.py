"""How many systems of one kind would sustain a load together when one does not.

Assumption: N systems sustain N times what one sustains at its best level, with the load spread evenly and nothing lost
to coordination. That is nearly so for reads that are spread over replicas. It is not so for writes, which every replica
has to apply as well: there it needs data that is split between systems. What the systems sustain together was not
measured.

Whether one of them sustains its share is judged as a single system is: by the same verdict, at the share's rate.

Where a study measured what applying a write costs a replica, the arithmetic of its fleet (`replication.fleet`) takes
the place of that assumption: it says how many replicas carry the load, or that no number does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from plimsoll.analyse.grade import Grade
from plimsoll.analyse.model import SystemSummary, WorkloadSummary
from plimsoll.analyse.read_only import is_read_only
from plimsoll.analyse.replication.model import ReplicaScaling
from plimsoll.analyse.replication.scaling import COUNTED_MAX
from plimsoll.analyse.size_model import Fit, LoadAsked, ScaleOut, SystemFit

Judge = Callable[[SystemSummary, LoadAsked], SystemFit | None]
"""Gives the verdict on one system under a load."""

_ROUNDING = 1e-9
"""What a quotient may be off by since numbers have 53 bits: three times a third of a load are the load, and no more."""


def scale_out(
    judge: Judge, systems: Iterable[SystemSummary], asked: LoadAsked, workload: WorkloadSummary
) -> tuple[ScaleOut, ...]:
    """For each system that meets the objective somewhere, how many it takes; what is shown first, then the cheapest.

    Args:
        judge: Gives the verdict on one system under a load; None where nothing of it was measured.
        systems: Of the study.
        asked: The load, which no single system is shown to sustain as it was asked for.
        workload: Whose.
    """
    found = (_of_system(judge, one, asked, workload) for one in systems)
    return tuple(sorted((one for one in found if one is not None), key=_order))


def _order(one: ScaleOut) -> tuple[bool, float, int, float, str]:
    cost = math.inf if one.cost_per_month is None else one.cost_per_month
    return not one.is_shown, cost, one.count, -one.tps_each, one.system


def _of_system(judge: Judge, system: SystemSummary, asked: LoadAsked, workload: WorkloadSummary) -> ScaleOut | None:
    """None where nothing within the objective is known of it, or where one would do, which is undecided then."""
    anywhere = asked.model_copy(update={"connections": None})
    best = judge(system, anywhere)
    most_tps = None if best is None else best.sure_tps or best.sustains_tps
    if not most_tps:
        return None
    count = math.ceil(asked.needed_tps / most_tps * (1 - _ROUNDING))
    share_tps = min(asked.needed_tps / count, most_tps)
    share = judge(system, anywhere.model_copy(update={"tps": asked.tps / count, "needed_tps": share_tps}))
    if share is None or share.verdict is Fit.DOES_NOT_FIT or share.margin_ratio is None:
        return None
    if share.connections is None or (count == 1 and asked.connections is None):
        return None
    return ScaleOut(
        system=system.name,
        count=count,
        connections_each=share.connections,
        tps_each=share_tps * (1 + share.margin_ratio),
        is_shown=share.verdict is Fit.FITS and share.grade is Grade.MEASURED,
        cost_per_month=None if system.cost_per_month is None else count * system.cost_per_month,
        currency=None if system.price is None else system.price.currency,
        is_read_only=is_read_only(workload),
    )


def with_replicas(
    scalings: Sequence[ReplicaScaling], systems: Mapping[str, SystemSummary], asked: LoadAsked
) -> tuple[ScaleOut, ...]:
    """By the arithmetic of each fleet whose costs are known: the fewest replicas that carry the load, or that none do.

    A source that would do without replicas is left out: whether it does is what its own verdict says.

    Args:
        scalings: Of the study.
        systems: By name.
        asked: The load.
    """
    found = []
    for one in scalings:
        costs = one.costs
        if one.workload != asked.workload or costs is None:
            continue
        enough = (k for k in range(COUNTED_MAX + 1) if costs.expected_tps(k) >= asked.needed_tps * (1 - _ROUNDING))
        if (count := next(enough, None)) == 0:
            continue
        base = one.points[0]
        found.append(
            ScaleOut(
                system=base.system,
                count=1 if count is None else count + 1,
                connections_each=base.level.connections,
                tps_each=costs.expected_tps(COUNTED_MAX if count is None else count),
                cost_per_month=_cost_per_month(systems[base.system], count),
                currency=None if (price := systems[base.system].price) is None else price.currency,
                is_read_only=costs.write_ratio == 0,
                replicas=count,
                most_tps=costs.most_tps,
                is_shared=costs.is_shared,
            )
        )
    return tuple(found)


def _cost_per_month(system: SystemSummary, replicas: int | None) -> float | None:
    """Each replica costs what the source does."""
    if system.cost_per_month is None or replicas is None:
        return None
    return system.cost_per_month * (replicas + 1)
