"""Whether a system sustains a load, by its capacity or by load at target rates; and what response times will be.

Deliberately not here: closed-loop levels, and the answer over all systems (`size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.cell_model import Cell
from plimsoll.analyse.cost import cost_figures
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import point_of
from plimsoll.analyse.prediction import REPETITIONS_NEEDED, next_at_most
from plimsoll.analyse.size_model import RANKS, Fit, LoadAsked, SizeEvidence, SystemFit


def judge_capacities(capacities: Sequence[SystemCapacity], system: SystemSummary, asked: LoadAsked) -> SystemFit | None:
    """By the capacity at an objective that is at least as strict as the one asked for; None without such a one."""
    usable = [one for one in capacities if _answers(one, asked)]
    if not usable:
        return None
    one = max(usable, key=lambda each: each.objective.response_ms_p99)
    verdict, reason = _by_capacity(one, asked)
    sure_tps = one.next_low or one.low
    return SystemFit(
        system=system.name,
        verdict=verdict,
        evidence=SizeEvidence.CAPACITY,
        connections=one.searches[0].capacity.rate_connections,
        throughput_tps=one.capacity_tps,
        margin_ratio=None if sure_tps is None else sure_tps / asked.needed_tps - 1,
        sustains_tps=None if one.capacity_tps is None else one.capacity_tps.value,
        sure_tps=one.next_low,
        **cost_figures(system, asked.tps),
        reason=reason,
    )


def _answers(one: SystemCapacity, asked: LoadAsked) -> bool:
    """Whether a capacity is of the load that is asked for."""
    strict = asked.response_p99_ms is None or one.objective.response_ms_p99 <= asked.response_p99_ms
    same = asked.connections is None or asked.connections == one.searches[0].capacity.rate_connections
    return strict and same and any(search.is_finished for search in one.searches)


def _by_capacity(one: SystemCapacity, asked: LoadAsked) -> tuple[Fit, Finding]:
    finished = [search for search in one.searches if search.is_finished]
    figures: dict[str, Any] = {
        "objective_ms_p99": one.objective.response_ms_p99,
        "low_tps": one.low,
        "high_tps": one.high,
        "sure_tps": one.next_low,
        "repetitions_count": len(finished),
    }
    if all(search.capacity.low is None for search in finished):
        return Fit.DOES_NOT_FIT, found("no-rate-holds", **figures)
    best = one.capacity_tps
    most_tps = one.high if best is None or best.bounds is None else best.bounds.high
    if most_tps is not None and most_tps < asked.needed_tps:
        return Fit.DOES_NOT_FIT, found("capacity-too-low", **figures)
    if one.next_low is not None and one.next_low >= asked.needed_tps:
        return Fit.FITS, found("capacity-fits", **figures)
    if len(finished) < REPETITIONS_NEEDED:
        return Fit.UNDECIDED, found("capacity-of-one-search", **figures)
    return Fit.UNDECIDED, found("capacity-undecided", **figures)


def judge_rates(curve: Curve, system: SystemSummary, asked: LoadAsked) -> SystemFit:
    """By load at target rates: one of at least what is needed must have been sustained in every repetition."""
    enough = [cell for cell in curve.cells if cell.level.offered >= asked.needed_tps]
    judged = [(cell, *_by_rate(curve, cell, asked, len(enough))) for cell in enough]
    if not judged:
        last = curve.cells[-1]
        is_last_sustained = bool(curve.sustained) and curve.sustained[-1] is last
        verdict = Fit.UNDECIDED if is_last_sustained else Fit.DOES_NOT_FIT
        reason = found("rates-end-below" if is_last_sustained else "lower-rate-not-sustained")
        cell = last
    else:
        cell, verdict, reason = min(judged, key=lambda one: RANKS.index(one[1]))
    point = point_of(cell)
    sustains_tps, sure_tps = _sustained_rates(curve, asked)
    return SystemFit(
        system=system.name,
        verdict=verdict,
        evidence=SizeEvidence.RATES,
        rate_tps=cell.level.rate_tps,
        connections=cell.level.connections,
        throughput_tps=cell.throughput_tps,
        margin_ratio=cell.level.offered / asked.needed_tps - 1,
        sustains_tps=sustains_tps,
        sustains_is_lower_bound=True,
        sure_tps=sure_tps,
        response_p99_ms=point.response_p99_ms,
        response_is_lower_bound=point.is_lower_bound,
        **cost_figures(system, asked.tps),
        reason=reason,
    )


def _sustained_rates(curve: Curve, asked: LoadAsked) -> tuple[float | None, float | None]:
    """The highest rate that is sustained within the objective, and the highest that the next run surely is, tps."""
    sustained = sorted(curve.sustained, key=lambda cell: -cell.level.offered)
    verdicts = [
        (cell.level.offered, judge_objective(point_of(cell), asked.response_p99_ms).fit, _is_sure(curve, cell, asked))
        for cell in sustained
    ]
    best_tps = next((rate_tps for rate_tps, fit, _ in verdicts if fit is Fit.FITS), None)
    return best_tps, next((rate_tps for rate_tps, _, is_sure in verdicts if is_sure), None)


def _is_sure(curve: Curve, cell: Cell, asked: LoadAsked) -> bool:
    """Whether a load that needs just this rate would fit."""
    above = sum(one.level.offered >= cell.level.offered for one in curve.cells)
    return _by_rate(curve, cell, asked, above)[0] is Fit.FITS


def _by_rate(curve: Curve, cell: Cell, asked: LoadAsked, levels_count: int) -> tuple[Fit, Finding]:
    if cell not in curve.sustained:
        return Fit.DOES_NOT_FIT, found("rate-not-sustained")
    point = point_of(cell)
    judgement = judge_objective(point, asked.response_p99_ms)
    if judgement.fault is not None:
        return judgement.fit, found(
            "objective-not-met",
            fault=judgement.fault.value,
            response_ms_p99=judgement.times_ms,
            is_lower_bound=point.is_lower_bound,
            failed_ratio=point.failed_ratio,
            has_unfinished=point.has_unfinished,
            is_last_level=False,
        )
    if cell.throughput_tps.trial_count < REPETITIONS_NEEDED:
        return Fit.UNDECIDED, found("no-repetitions", is_last_level=False)
    if (limit := slow_limit(cell.repetitions_ms_p99, asked, levels_count)) is not None:
        return Fit.UNDECIDED, limit
    return Fit.FITS, found("rate-sustained", response_ms_p99=judgement.times_ms)


def slow_limit(repetitions_ms: Sequence[float], asked: LoadAsked, levels_count: int) -> Finding | None:
    """Why the next run may miss the response-time objective; None where it will surely keep it, or there is none."""
    if asked.response_p99_ms is None:
        return None
    most_ms = next_at_most(repetitions_ms, levels_count=levels_count)
    if most_ms is not None and most_ms <= asked.response_p99_ms:
        return None
    return found("next-p99-may-be-over", most_ms_p99=most_ms, is_last_level=False)
