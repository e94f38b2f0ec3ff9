"""How many systems of one kind would sustain a load together when one does not.

Assumption: N systems sustain N times what one sustains at its best level, with the load spread evenly and nothing lost
to coordination. That is nearly so for reads that are spread over replicas. It is not so for writes, which every replica
has to apply as well: there it needs data that is split between systems. What the systems sustain together was not
measured.

Where a study measured what applying a write costs a replica, the arithmetic of its fleet (`replication.fleet`) takes
the place of that assumption: it says how many replicas carry the load, or that no number does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import SystemSummary, WorkloadSummary
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import Point, measured_points
from plimsoll.analyse.replication.model import ReplicaScaling
from plimsoll.analyse.replication.scaling import COUNTED_MAX
from plimsoll.analyse.size_model import Fit, LoadAsked, ScaleOut
from plimsoll.spec.oltp import reads_only

_ROUNDING = 1e-9
"""What a quotient may be off by since numbers have 53 bits: three times a third of a load are the load, and no more."""


def scale_out(
    curves: Sequence[Curve], systems: Mapping[str, SystemSummary], asked: LoadAsked, workload: WorkloadSummary
) -> tuple[ScaleOut, ...]:
    """For each system that meets the objective somewhere, how many it takes; cheapest or fewest first."""
    found = [
        _of_system(curve, best, systems[curve.system], asked, workload)
        for curve in curves
        if (best := _best_point(curve, asked)) is not None
    ]
    return tuple(sorted(found, key=_order))


def _order(one: ScaleOut) -> tuple[float, int, float, str]:
    cost = math.inf if one.cost_per_month is None else one.cost_per_month
    return cost, one.count, -one.tps_each, one.system


def _best_point(curve: Curve, asked: LoadAsked) -> Point | None:
    meeting = [
        point
        for point in measured_points(curve)
        if point.sure_tps > 0 and judge_objective(point, asked.response_p99_ms).fit is Fit.FITS
    ]
    return max(meeting, key=lambda point: point.sure_tps, default=None)


def _of_system(
    curve: Curve, best: Point, system: SystemSummary, asked: LoadAsked, workload: WorkloadSummary
) -> ScaleOut:
    count = math.ceil(asked.needed_tps / best.sure_tps * (1 - _ROUNDING))
    return ScaleOut(
        system=curve.system,
        count=count,
        connections_each=best.level.connections,
        tps_each=best.sure_tps,
        cost_per_month=None if system.cost_per_month is None else count * system.cost_per_month,
        currency=None if system.price is None else system.price.currency,
        is_read_only=is_read_only(workload),
    )


def with_replicas(
    scalings: Sequence[ReplicaScaling], systems: Mapping[str, SystemSummary], asked: LoadAsked
) -> tuple[ScaleOut, ...]:
    """By the arithmetic of each fleet whose costs are known: the fewest replicas that carry the load, or that none do.

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
        count = next(enough, None)
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


def is_read_only(workload: WorkloadSummary) -> bool:
    """Whether a workload only reads, by its kind or, where none is stated, by its name."""
    if workload.kind is not None:
        told = workload.options
        return reads_only(
            workload.kind, read_only=told.get("read_only") == "on", nontrx_mode=told.get("nontrx_mode", "select")
        )
    plain = workload.name.lower().replace("-", " ").replace("_", " ")
    return "read only" in plain or "point select" in plain
