"""Whether a system sustains a load, by connections in a closed loop: saturation, where there is nothing else.

Deliberately not here: better evidence (`size_evidence`), and the answer over all systems (`size`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.cost import cost_figures
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.disturbance_model import slow_figures
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import Point, measured_points, point_at
from plimsoll.analyse.prediction import is_repeated, predicted_at_least
from plimsoll.analyse.size_evidence import slow_limit
from plimsoll.analyse.size_model import RANKS, Fit, LoadAsked, SystemFit


def judge_levels(curve: Curve, system: SystemSummary, asked: LoadAsked) -> SystemFit:
    """By connections in a closed loop: the best verdict over all levels, or that at the level that is asked for."""
    candidates = _candidates(curve, asked)
    judged = [(point, *_verdict(point, asked, len(candidates))) for point in candidates]
    if not judged:
        levels = (curve.cells[0].level.connections, curve.cells[-1].level.connections)
        return SystemFit(
            system=curve.system,
            verdict=Fit.UNDECIDED,
            **cost_figures(system, asked.tps),
            reason=found("not-measured", connections=asked.connections, measured=levels),
        )
    point, verdict, reason = min(judged, key=lambda one: _preference(one[0], one[1], asked))
    too_slow = point.possible_tps < asked.needed_tps
    best, sure_tps = _sustained(candidates, asked)
    last = curve.cells[-1].level.order
    is_last = asked.connections is None and too_slow and point.level.order == last
    return SystemFit(
        system=curve.system,
        verdict=verdict,
        connections=point.level.connections,
        throughput_tps=point.throughput_tps,
        interpolated_between=point.between,
        margin_ratio=_sure_tps(point, len(candidates)) / asked.needed_tps - 1,
        sustains_tps=None if best is None else best.throughput_tps.value,
        sustains_is_lower_bound=asked.connections is None and best is not None and best.level.order == last,
        sure_tps=sure_tps,
        response_p99_ms=point.response_p99_ms,
        response_is_lower_bound=point.is_lower_bound,
        **cost_figures(system, asked.tps),
        reason=reason.model_copy(update={"figures": {**reason.figures, "is_last_level": is_last}}),
    )


def _sure_tps(point: Point, levels_count: int) -> float:
    """What the next run will sustain at least; where that is unknown the figure itself, which makes nothing fit."""
    found = predicted_at_least(point.throughput_tps, levels_count=levels_count)
    return point.throughput_tps.value if found is None else found


def _sustained(candidates: Sequence[Point], asked: LoadAsked) -> tuple[Point | None, float | None]:
    """Where most is sustained within the objective, and what the next run surely sustains within it, tps."""
    undisturbed = [one for one in candidates if one.disturbance is None]
    keeping = [one for one in undisturbed if judge_objective(one, asked.response_p99_ms).fit is Fit.FITS]
    count = len(candidates)
    sure = (
        predicted_at_least(one.throughput_tps, levels_count=count)
        for one in keeping
        if slow_limit(one.repetitions_ms, asked, count) is None
    )
    best = max(keeping, key=lambda one: one.throughput_tps.value, default=None)
    return best, max((one for one in sure if one is not None), default=None)


def _candidates(curve: Curve, asked: LoadAsked) -> list[Point]:
    if asked.connections is None:
        return measured_points(curve)
    point = point_at(curve, asked.connections)
    return [] if point is None else [point]


def _preference(point: Point, verdict: Fit, asked: LoadAsked) -> tuple[int, bool, bool, float]:
    """The best verdict first, by repetitions before single figures, then levels that keep the objective, then the most.

    What is most is what is surely sustained.
    """
    keeps = judge_objective(point, asked.response_p99_ms).fit is Fit.FITS
    is_single = verdict is Fit.FITS and not is_repeated(point.throughput_tps)
    return RANKS.index(verdict), is_single, not keeps, -point.sure_tps


def _verdict(point: Point, asked: LoadAsked, levels_count: int) -> tuple[Fit, Finding]:
    if point.disturbance is not None:
        return Fit.DISTURBED, found("disturbed", **slow_figures(point.disturbance))
    return _undisturbed(point, asked, levels_count)


def _undisturbed(point: Point, asked: LoadAsked, levels_count: int) -> tuple[Fit, Finding]:
    if point.possible_tps < asked.needed_tps:
        return Fit.DOES_NOT_FIT, found("too-slow")
    judgement = judge_objective(point, asked.response_p99_ms)
    times = judgement.times_ms
    if judgement.fault is not None:
        return judgement.fit, found(
            "objective-not-met",
            fault=judgement.fault.value,
            response_ms_p99=times,
            is_lower_bound=point.is_lower_bound,
            failed_ratio=point.failed_ratio,
            has_unfinished=point.has_unfinished,
        )
    sure_tps = predicted_at_least(point.throughput_tps, levels_count=levels_count)
    if sure_tps is None:
        is_enough = point.throughput_tps.value >= asked.needed_tps
        return Fit.FITS if is_enough else Fit.UNDECIDED, found(
            "single-figures" if is_enough else "no-repetitions", response_ms_p99=times
        )
    if sure_tps < asked.needed_tps:
        return Fit.UNDECIDED, found("within-interval", sure_tps=sure_tps)
    if (limit := slow_limit(point.repetitions_ms, asked, levels_count)) is not None:
        return Fit.UNDECIDED, limit
    return Fit.FITS, found("fits", response_ms_p99=times)
