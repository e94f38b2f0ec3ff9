"""What each system sustains while the study's response-time objective holds: the best measured level that keeps it.

Only measured levels count; where between two of them the objective begins to fail is not known. A curve whose last
level still keeps the objective may sustain more beyond it, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import Point, measured_points
from plimsoll.analyse.size_model import Fit


def within_objective(
    curves: Iterable[Curve],
    objective_ms_p99: float | None,
    *,
    only_best: bool = False,
    lost_by: Callable[[str], str | None] = lambda _: None,
) -> Iterator[Finding]:
    """One finding for each curve, or one for all where none keeps it; none without an objective.

    Args:
        curves: Of one workload and kind of load.
        objective_ms_p99: 99 % of transactions may take at most so long, milliseconds.
        lost_by: What a system may lose and another one does not.
        only_best: Only for the system that sustains most within it, if any does.
    """
    if objective_ms_p99 is None:
        return
    told = [(curve, best_within(curve, objective_ms_p99)) for curve in curves]
    if len(told) > 1 and all(best is None and _unknown(curve, objective_ms_p99) is None for curve, best in told):
        yield _missed_by_all([curve for curve, _ in told], objective_ms_p99)
        return
    if only_best:
        told = [(curve, best) for curve, best in told if best is not None]
        told = sorted(told, key=lambda one: -one[1].throughput_tps.value if one[1] else 0.0)[:1]
    for curve, best in told:
        yield found(
            "within-objective",
            system=curve.system,
            workload=curve.workload,
            level=None if best is None else best.level,
            objective_ms_p99=objective_ms_p99,
            throughput_tps=None if best is None else best.throughput_tps,
            is_last_level=best is not None and best.level.order == curve.cells[-1].level.order,
            unknown=None if best is not None else _unknown(curve, objective_ms_p99),
            less_durable=None if best is None else lost_by(curve.system),
        )


def _missed_by_all(curves: Sequence[Curve], objective_ms_p99: float) -> Finding:
    """No system keeps it at any level; `system` and `level` are those that come nearest."""
    points = [(curve.system, point) for curve in curves for point in measured_points(curve)]
    known = [
        (point.response_p99_ms, system, point.level)
        for system, point in points
        if point.response_p99_ms is not None and point.response_p99_ms > objective_ms_p99
    ]
    lowest_ms, system, level = min(known, key=lambda one: one[0], default=(None, None, None))
    return found(
        "objective-missed",
        system=system,
        workload=curves[0].workload,
        level=level,
        objective_ms_p99=objective_ms_p99,
        response_ms_p99=lowest_ms,
        systems_count=len(curves),
    )


def best_within(curve: Curve, objective_ms_p99: float) -> Point | None:
    """The best level of those that keep an objective; None when no level is known to."""
    keeping = [one for one in measured_points(curve) if judge_objective(one, objective_ms_p99).fit is Fit.FITS]
    if curve.kind.is_at_rate:
        return keeping[-1] if keeping else None
    return max(keeping, key=lambda point: point.throughput_tps.value, default=None)


def _unknown(curve: Curve, objective_ms_p99: float) -> str | None:
    """Why it is not known; None where it is known that no level keeps it."""
    points = measured_points(curve)
    if not points or any(judge_objective(one, objective_ms_p99).fit is not Fit.UNDECIDED for one in points):
        return None
    return "unfinished" if points[0].is_lower_bound else "response-times"
