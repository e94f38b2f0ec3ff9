"""How many systems of one kind would carry a load together when one does not.

Assumption: N systems carry N times what one carries at its best level, with the load spread evenly and nothing lost to
coordination. That is nearly so for reads that are spread over replicas. It is not so for writes, which every replica
has to apply as well: there it needs data that is split between systems. What the systems carry together was not
measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from plimsoll.analyse.model import Curve, SystemSummary, WorkloadSummary
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import Point, measured_points
from plimsoll.analyse.prose import at_connections
from plimsoll.analyse.size_model import Fit, LoadAsked, ScaleOut
from plimsoll.spec.oltp import reads_only
from plimsoll.units import format_number, format_rate

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
        if point.sure_tps > 0 and judge_objective(point, asked.response_p99_ms)[0] is Fit.FITS
    ]
    return max(meeting, key=lambda point: point.sure_tps, default=None)


def _of_system(
    curve: Curve, best: Point, system: SystemSummary, asked: LoadAsked, workload: WorkloadSummary
) -> ScaleOut:
    count = math.ceil(asked.needed_tps / best.sure_tps * (1 - _ROUNDING))
    cost = None if system.cost_per_month is None else count * system.cost_per_month
    carried = f"{format_rate(best.sure_tps, asked.rate_unit)} {at_connections(best.connections)}"
    in_all = _in_all(count * best.connections, asked)
    priced = "" if cost is None else f", for {format_number(cost)} per month"
    together = f"{count} of {curve.system} would carry it with {carried} on each{in_all}"
    return ScaleOut(
        system=curve.system,
        count=count,
        connections_each=best.connections,
        tps_each=best.sure_tps,
        cost_per_month=cost,
        text=_alone(curve.system, carried, asked) if count == 1 else f"{together}{priced}, {spread_words(workload)}.",
    )


def _alone(system: str, carried: str, asked: LoadAsked) -> str:
    """One alone is enough, at a level that was not asked for: otherwise it would fit."""
    return f"One {system} carries it with {carried}, which is not the {asked.connections:,} that were asked for."


def _in_all(connections: int, asked: LoadAsked) -> str:
    if asked.connections in (None, connections):
        return ""
    return f" ({connections:,} in all, {asked.connections:,} were asked for)"


def spread_words(workload: WorkloadSummary) -> str:
    """What must hold for systems to add up under this workload."""
    if is_read_only(workload):
        return "if reads spread evenly over a source and its replicas and nothing is lost to coordination"
    return "if the data can be split between them and nothing is lost to coordination (replicas repeat every write)"


def is_read_only(workload: WorkloadSummary) -> bool:
    """Whether a workload only reads, by its kind or, where none is stated, by its name."""
    if workload.kind is not None:
        told = workload.options
        return reads_only(
            workload.kind, read_only=told.get("read_only") == "on", nontrx_mode=told.get("nontrx_mode", "select")
        )
    plain = workload.name.lower().replace("-", " ").replace("_", " ")
    return "read only" in plain or "point select" in plain
