"""What each system carries while the study's response-time objective holds: the best measured level that keeps it.

Only measured levels count; where between two of them the objective begins to fail is not known. A curve whose last
level still keeps the objective may carry more beyond it, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.analyse.model import Curve
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import Point, measured_points
from plimsoll.analyse.prose import at_connections, rate_with_bounds
from plimsoll.analyse.size_model import Fit
from plimsoll.units import format_ms


def within_objective(
    curves: Iterable[Curve], objective_ms_p99: float | None, unit: str, *, only_best: bool = False
) -> Iterator[str]:
    """One sentence for each curve; none without an objective.

    Args:
        curves: Of one workload.
        objective_ms_p99: 99 % of transactions may take at most so long, milliseconds.
        unit: How throughput is shown.
        only_best: Only for the system that carries most within it, if any does.
    """
    if objective_ms_p99 is None:
        return
    told = list(curves)
    if only_best:
        within = {curve.system: best_within(curve, objective_ms_p99) for curve in told}
        told = [curve for curve in told if within[curve.system] is not None]
        told = sorted(told, key=lambda curve: -_tps(within[curve.system]))[:1]
    for curve in told:
        condition = f"with 99 % of transactions within {format_ms(objective_ms_p99)}"
        yield f"{curve.workload}: {condition}, {_carried(curve, objective_ms_p99, unit)}."


def best_within(curve: Curve, objective_ms_p99: float) -> Point | None:
    """The level with the highest throughput of those that keep an objective; None when no level is known to."""
    keeping = [point for point in measured_points(curve) if judge_objective(point, objective_ms_p99)[0] is Fit.FITS]
    return max(keeping, key=_tps, default=None)


def _tps(point: Point | None) -> float:
    return 0.0 if point is None else point.throughput_tps.value


def _carried(curve: Curve, objective_ms_p99: float, unit: str) -> str:
    points = measured_points(curve)
    best = best_within(curve, objective_ms_p99)
    if best is not None:
        return f"{curve.system} carries {_shown(best, unit)}{_beyond(best, points)}"
    judged = [judge_objective(point, objective_ms_p99)[0] for point in points]
    if all(fit is Fit.UNDECIDED for fit in judged):
        why = "some transactions had not ended" if points[0].is_lower_bound else "so are its response times"
        return f"what {curve.system} carries is unknown: {why}"
    return f"{curve.system} carries nothing: no level that was measured keeps it"


def _shown(point: Point, unit: str) -> str:
    return f"{rate_with_bounds(point.throughput_tps, unit)} {at_connections(point.connections)}"


def _beyond(best: Point, points: list[Point]) -> str:
    return ", perhaps more at levels that were not measured" if best.connections == points[-1].connections else ""
