"""Which systems carry a load, with what to spare, and what it takes when none does.

The lower bound decides where there are bounds; a load within the bounds is undecided. A response-time objective is met
only by response times that were measured; failed, dropped and unfinished transactions count as over it. Nothing is said
beyond the last measured level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from plimsoll.analyse.model import Analysis, Curve, SystemSummary, WorkloadSummary
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import Point, measured_points, point_at
from plimsoll.analyse.prose import at_connections, listed, ms_span, rate_with_bounds
from plimsoll.analyse.scale_out import scale_out
from plimsoll.analyse.size_model import Fit, LoadAsked, SizeAnswer, SystemFit
from plimsoll.analyse.size_text import assumptions, size_text
from plimsoll.errors import RecordError, SpecError
from plimsoll.units import format_ms, format_rate

_RANKS = (Fit.FITS, Fit.UNDECIDED, Fit.DOES_NOT_FIT)


def size(
    analysis: Analysis,
    *,
    tps: float,
    connections: int | None = None,
    workload: str | None = None,
    response_p99_ms: float | None = None,
    headroom: float = 0.0,
) -> SizeAnswer:
    """Says which systems of a study carry a load.

    Args:
        analysis: Of the study.
        tps: Transactions per second to carry.
        connections: At so many connections in total; None for each system's best level.
        workload: Which; may be left out when the study has only one.
        response_p99_ms: 99 % of transactions may take at most so long, milliseconds.
        headroom: Share of the throughput that must stay free, 0..1 (1 excluded).

    Raises:
        SpecError: A value is out of range, or the workload is not known or not named.
        RecordError: The study holds no complete trial.
    """
    _check(tps, connections, response_p99_ms, headroom)
    chosen = _choose_workload(analysis, workload)
    asked = LoadAsked(
        workload=chosen.name,
        rate_unit=chosen.rate_unit,
        tps=tps,
        connections=connections,
        response_p99_ms=response_p99_ms,
        headroom=headroom,
        needed_tps=_needed_tps(tps, headroom),
    )
    if any(curve.workload == chosen.name for curve in analysis.rate_curves):
        raise SpecError(
            f"workload: {chosen.name} was driven at rates, and a rate is carried or not: plimsoll guide says which each"
            " system carries; to size by connections, run a study with levels = { connections = [...] }"
        )
    curves = [curve for curve in analysis.curves if curve.workload == chosen.name]
    return _answer(analysis, asked, curves, chosen)


def _check(tps: float, connections: int | None, response_p99_ms: float | None, headroom: float) -> None:
    rules = (
        (math.isfinite(tps) and tps > 0, f"tps: must be a number above 0, is {tps}"),
        (connections is None or connections >= 1, f"connections: must be at least 1, is {connections}"),
        (
            response_p99_ms is None or (math.isfinite(response_p99_ms) and response_p99_ms > 0),
            f"response p99: must be a time above 0, is {response_p99_ms} ms",
        ),
        (0 <= headroom < 1, f"headroom: must be a share from 0 to below 1, such as 0.3, is {headroom}"),
    )
    faults = [text for is_kept, text in rules if not is_kept]
    if faults:
        raise SpecError(*faults)


def _needed_tps(tps: float, headroom: float) -> float:
    """`tps` over the share that may be used, as people calculate it: 100 over 1 - 0.8 is 500, not 500.0000000000001."""
    return float(Fraction(str(tps)) / (1 - Fraction(str(headroom))))


def _choose_workload(analysis: Analysis, workload: str | None) -> WorkloadSummary:
    known = {one.name: one for one in analysis.workloads}
    if not known:
        raise RecordError(f"study {analysis.study!r} holds no complete trial: run it, or import results into it")
    if workload is None:
        if len(known) > 1:
            raise SpecError(f"workload: the study has {len(known)} of them, name one: {listed(sorted(known))}")
        return next(iter(known.values()))
    if workload not in known:
        raise SpecError(f"workload: there is no {workload!r} in the study, it has {listed(sorted(known))}")
    return known[workload]


def _answer(analysis: Analysis, asked: LoadAsked, curves: Sequence[Curve], workload: WorkloadSummary) -> SizeAnswer:
    by_name = {one.name: one for one in analysis.systems}
    found = sorted((_judge(curve, by_name[curve.system], asked) for curve in curves), key=_order)
    fitting = [one for one in found if one.verdict is Fit.FITS]
    tightest = min(fitting, key=lambda one: one.margin_ratio or 0.0, default=None)
    scaled = () if fitting else scale_out(curves, by_name, asked, workload)
    return SizeAnswer(
        study=analysis.study,
        asked=asked,
        fits=bool(fitting),
        systems=tuple(found),
        tightest=tightest.system if tightest else None,
        scale_out=scaled,
        text=size_text(asked, found, tightest, scaled),
        assumptions=assumptions(asked, found, curves, analysis),
    )


def _order(one: SystemFit) -> tuple[int, float, float, str]:
    rank = _RANKS.index(one.verdict)
    cost = math.inf if one.cost_per_month is None else one.cost_per_month
    return rank, cost, -(one.margin_ratio if one.margin_ratio is not None else -math.inf), one.system


def _judge(curve: Curve, system: SystemSummary, asked: LoadAsked) -> SystemFit:
    judged = [(point, *_verdict(point, asked)) for point in _candidates(curve, asked)]
    if not judged:
        return SystemFit(
            system=curve.system,
            verdict=Fit.UNDECIDED,
            cost_per_month=system.cost_per_month,
            reason=_not_measured(curve, asked.connections or 0),
        )
    point, verdict, reason = min(judged, key=lambda one: _preference(one[0], one[1], asked))
    too_slow = point.possible_tps < asked.needed_tps
    if asked.connections is None and too_slow and point.connections == curve.cells[-1].connections:
        reason += " Higher levels were not measured."
    return SystemFit(
        system=curve.system,
        verdict=verdict,
        connections=point.connections,
        throughput_tps=point.throughput_tps,
        interpolated_between=point.between,
        margin_ratio=point.sure_tps / asked.needed_tps - 1,
        response_p99_ms=point.response_p99_ms,
        response_is_lower_bound=point.is_lower_bound,
        cost_per_month=system.cost_per_month,
        reason=reason,
    )


def _candidates(curve: Curve, asked: LoadAsked) -> list[Point]:
    if asked.connections is None:
        return measured_points(curve)
    point = point_at(curve, asked.connections)
    return [] if point is None else [point]


def _preference(point: Point, verdict: Fit, asked: LoadAsked) -> tuple[int, bool, float]:
    """The best verdict first, then levels that keep the objective, then what is surely carried."""
    keeps = judge_objective(point, asked.response_p99_ms)[0] is Fit.FITS
    return _RANKS.index(verdict), not keeps, -point.sure_tps


def _not_measured(curve: Curve, connections: int) -> str:
    first, last = curve.cells[0].connections, curve.cells[-1].connections
    so = "many" if connections > last else "few"
    levels = f"measured from {first} to {last}" if first != last else f"measured {at_connections(first)} only"
    return f"Not measured at so {so} connections: asked for {connections}, {levels}."


def _verdict(point: Point, asked: LoadAsked) -> tuple[Fit, str]:
    carried = f"{rate_with_bounds(point.throughput_tps, asked.rate_unit)} {_where(point)}"
    needed = format_rate(asked.needed_tps, asked.rate_unit)
    if point.possible_tps < asked.needed_tps:
        return Fit.DOES_NOT_FIT, f"Too slow: it carries {carried}, and {needed} is needed."
    fit, fault = judge_objective(point, asked.response_p99_ms)
    if fit is not Fit.FITS:
        return fit, f"It carries {carried}, but {fault}."
    if point.sure_tps < asked.needed_tps:
        return Fit.UNDECIDED, f"It carries {carried}: {needed} lies within the bounds. More repetitions would decide."
    return Fit.FITS, f"It carries {carried}{_met(point, asked)}."


def _where(point: Point) -> str:
    if point.between is None:
        return at_connections(point.connections)
    low, high = point.between
    return f"{at_connections(point.connections)} (interpolated between {low} and {high})"


def _met(point: Point, asked: LoadAsked) -> str:
    if asked.response_p99_ms is None:
        return ""
    if point.response_p99_ms is not None:
        return f", where 99 % of transactions take at most {format_ms(point.response_p99_ms)}"
    return f", where 99 % of transactions take at most {ms_span(point.single_runs_ms)} in single runs"
