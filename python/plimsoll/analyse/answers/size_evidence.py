"""Whether a system sustains a load, by each kind of evidence, and how well that is known.

Capacities at an objective, load at target rates, connections in a closed loop.

What a system sustains within a strict objective it sustains within a looser one, too. The other way round nothing
follows: what is too much within 20 ms may be sustained within 200 ms. Ramps show no capacity, but a rate that was held
in a steady run after them, and one from which on most answers were late.

A system fits where a rate of at least what is needed was sustained in every repetition, and where the next one will
surely complete it: the upper prediction limit of the share that repetitions left over (`trial_summary`) is at most
1 %. A system 2 % too small leaves 2 % over, whatever the length of its runs; short runs only show it less exactly,
which the limit allows for. Where repetitions differ, a system that is too small may keep up in some of them and leave
nothing over, by luck. So three repetitions are needed, where other evidence needs two; fewer indicate that it fits.

In simulations of systems 2 % too small, with runs of 10 and 30 s, at most 4 % of studies of three repetitions said
"fits" where the speed of runs differed by up to 6 %, and 5 to 8 % where it differed by 10 %; there four repetitions
are needed (2 to 3 %), and two would be wrong in up to 13 %.

It does not fit where no repetition sustained the rate. Where some did, more repetitions decide.

How well it is known that a system sustains a load: by repetitions, by single or published figures, or not. A verdict
by repetitions is measured. One by figures that nobody repeated, or by a published table, is indicated: it says on
which side of the load the figures lie, and nothing of how much the next run may differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from plimsoll.analyse.answers.cost import cost_figures
from plimsoll.analyse.answers.size_model import RANKS, Fit, LoadAsked, SizeEvidence, SystemFit
from plimsoll.analyse.findings.finding_model import Finding, Grade, make_finding
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import Cell, Estimate
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.points import Point, judge_objective, measured_points, point_at, point_of
from plimsoll.analyse.study.throughput import (
    PREDICTION_REPETITIONS_NEEDED,
    is_repeated,
    next_at_most,
    next_share_at_most,
    predicted_at_least,
)
from plimsoll.analyse.trial.condition_model import slow_figures
from plimsoll.record.capacity import Capacity, CapacityRun, knee_of

STRICTER = "capacity-of-stricter-objective"
"""Reason of an answer that says nothing: the capacity is too low, but at a stricter objective than is asked for."""


def judge_capacities(capacities: Sequence[SystemCapacity], system: SystemSummary, asked: LoadAsked) -> SystemFit | None:
    """By the capacity at an objective that is at least as strict as the one asked for; None without such a one."""
    usable = [capacity for capacity in capacities if _answers(capacity, asked)]
    if not usable:
        return None
    system_capacity = max(usable, key=lambda each: each.objective.response_ms_p99)
    verdict, reason = _by_capacity(system_capacity, asked)
    sure_tps = system_capacity.next_low or system_capacity.low
    best = _held(system_capacity) if system_capacity.capacity_tps is None else system_capacity.capacity_tps
    return SystemFit(
        system=system.name,
        verdict=verdict,
        evidence=SizeEvidence.CAPACITY,
        connections=system_capacity.searches[0].capacity.rate_connections,
        throughput_tps=best,
        margin_ratio=None if sure_tps is None else sure_tps / asked.needed_tps - 1,
        sustains_tps=None if best is None else best.value,
        sustains_is_lower_bound=best is not None and system_capacity.capacity_tps is None,
        sure_tps=system_capacity.next_low,
        **cost_figures(system, asked.tps),
        reason=reason,
    )


def _held(system_capacity: SystemCapacity) -> Estimate | None:
    """The rate that was held in a steady run after ramps; None where there were none, or it was disturbed."""
    if system_capacity.low is None or system_capacity.is_disturbed or not _ramps(system_capacity):
        return None
    return Estimate(value=system_capacity.low, trial_count=1)


def _ramps(system_capacity: SystemCapacity) -> list[CapacityRun]:
    return [run for search in system_capacity.searches if search.is_finished for run in search.capacity.ramps]


def _answers(system_capacity: SystemCapacity, asked: LoadAsked) -> bool:
    """Whether a capacity, or a rate that was held after ramps, is of the load that is asked for."""
    strict = asked.response_p99_ms is None or system_capacity.objective.response_ms_p99 <= asked.response_p99_ms
    same = asked.connections is None or asked.connections == system_capacity.searches[0].capacity.rate_connections
    return strict and same and any(search.is_finished for search in system_capacity.searches)


def _by_capacity(system_capacity: SystemCapacity, asked: LoadAsked) -> tuple[Fit, Finding]:
    finished = [search.capacity for search in system_capacity.searches if search.is_finished]
    figures: dict[str, Any] = {
        "objective_ms_p99": system_capacity.objective.response_ms_p99,
        "low_tps": system_capacity.low,
        "high_tps": system_capacity.high,
        "sure_tps": system_capacity.next_low,
        "repetitions_count": len(finished),
    }
    if system_capacity.is_disturbed and system_capacity.disturbance is not None:
        return Fit.DISTURBED, make_finding("disturbed", **figures, **slow_figures(system_capacity.disturbance))
    if ramps := _ramps(system_capacity):
        return _after_ramps(system_capacity, asked, {**figures, "knee_tps": knee_of(ramps)})
    return _undisturbed_capacity(system_capacity, finished, asked, figures)


def _after_ramps(system_capacity: SystemCapacity, asked: LoadAsked, figures: dict[str, Any]) -> tuple[Fit, Finding]:
    knee_tps = figures["knee_tps"]
    if system_capacity.low is not None and system_capacity.low >= asked.needed_tps:
        return Fit.FITS, make_finding("held-after-ramps", **figures)
    if knee_tps is not None and knee_tps <= asked.needed_tps:
        if _is_stricter(system_capacity, asked):
            return Fit.UNDECIDED, make_finding(STRICTER, **figures)
        return Fit.DOES_NOT_FIT, make_finding("late-in-ramps", **figures)
    return Fit.UNDECIDED, make_finding("held-after-ramps", **figures)


def _undisturbed_capacity(
    system_capacity: SystemCapacity, finished: Sequence[Capacity], asked: LoadAsked, figures: dict[str, Any]
) -> tuple[Fit, Finding]:
    unsure = sum(capacity.low is None for capacity in finished)
    if system_capacity.next_low is not None and system_capacity.next_low >= asked.needed_tps:
        return Fit.FITS, make_finding("capacity-fits", **figures)
    if (short := _short(system_capacity, finished, asked)) is not None:
        if _is_stricter(system_capacity, asked):
            return Fit.UNDECIDED, make_finding(STRICTER, **figures)
        return Fit.DOES_NOT_FIT, make_finding(short, **figures)
    if len(finished) < PREDICTION_REPETITIONS_NEEDED:
        is_enough = system_capacity.low is not None and system_capacity.low >= asked.needed_tps
        return Fit.FITS if is_enough else Fit.UNDECIDED, make_finding("capacity-of-one-search", **figures)
    if unsure and system_capacity.capacity_tps is not None:
        return Fit.UNDECIDED, make_finding("capacity-not-sure", **figures, unsure_count=unsure)
    return Fit.UNDECIDED, make_finding("capacity-undecided", **figures)


def _short(system_capacity: SystemCapacity, finished: Sequence[Capacity], asked: LoadAsked) -> str | None:
    """Why a capacity is too low at its own objective; None where it may be enough."""
    if all(capacity.holds_nowhere for capacity in finished):
        return "no-rate-holds"
    best = system_capacity.capacity_tps
    most_tps = system_capacity.high if best is None or best.bounds is None else best.bounds.high
    return "capacity-too-low" if most_tps is not None and most_tps < asked.needed_tps else None


def _is_stricter(system_capacity: SystemCapacity, asked: LoadAsked) -> bool:
    """Whether more may be sustained within the objective that is asked for than within the one that was searched at."""
    return asked.response_p99_ms is None or system_capacity.objective.response_ms_p99 < asked.response_p99_ms


def slow_limit(repetitions_ms: Sequence[float], asked: LoadAsked, levels_count: int) -> Finding | None:
    """Why the next run may miss the response-time objective; None where it will surely keep it, or there is none."""
    if asked.response_p99_ms is None:
        return None
    most_ms = next_at_most(repetitions_ms, levels_count=levels_count)
    if most_ms is not None and most_ms <= asked.response_p99_ms:
        return None
    return make_finding("next-p99-may-be-over", most_ms_p99=most_ms, is_last_level=False)


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
            reason=make_finding("not-measured", connections=asked.connections, measured=levels),
        )
    point, verdict, reason = min(judged, key=lambda judgement: _preference(judgement[0], judgement[1], asked))
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
    predicted_tps = predicted_at_least(point.throughput_tps, levels_count=levels_count)
    return point.throughput_tps.value if predicted_tps is None else predicted_tps


def _sustained(candidates: Sequence[Point], asked: LoadAsked) -> tuple[Point | None, float | None]:
    """Where most is sustained within the objective, and what the next run surely sustains within it, tps."""
    undisturbed = [candidate for candidate in candidates if candidate.disturbance is None]
    keeping = [point for point in undisturbed if judge_objective(point, asked.response_p99_ms).fit is Fit.FITS]
    count = len(candidates)
    sure = (
        predicted_at_least(point.throughput_tps, levels_count=count)
        for point in keeping
        if slow_limit(point.repetitions_ms, asked, count) is None
    )
    best = max(keeping, key=lambda point: point.throughput_tps.value, default=None)
    return best, max((tps for tps in sure if tps is not None), default=None)


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
        return Fit.DISTURBED, make_finding("disturbed", **slow_figures(point.disturbance))
    return _undisturbed_level(point, asked, levels_count)


def _undisturbed_level(point: Point, asked: LoadAsked, levels_count: int) -> tuple[Fit, Finding]:
    if point.possible_tps < asked.needed_tps:
        return Fit.DOES_NOT_FIT, make_finding("too-slow")
    judgement = judge_objective(point, asked.response_p99_ms)
    times = judgement.times_ms
    if judgement.fault is not None:
        return judgement.fit, make_finding(
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
        return Fit.FITS if is_enough else Fit.UNDECIDED, make_finding(
            "single-figures" if is_enough else "no-repetitions", response_ms_p99=times
        )
    if sure_tps < asked.needed_tps:
        return Fit.UNDECIDED, make_finding("within-interval", sure_tps=sure_tps)
    if (limit := slow_limit(point.repetitions_ms, asked, levels_count)) is not None:
        return Fit.UNDECIDED, limit
    return Fit.FITS, make_finding("fits", response_ms_p99=times)


LEFT_RATIO_ALLOWED = 0.01
"""A rate that leaves more of its arrivals over within a run is not kept: half of what a system 2 % too small leaves."""


def judge_rates(curve: Curve, system: SystemSummary, asked: LoadAsked) -> SystemFit:
    """By the rates of a curve that are at least what is needed; by the highest one where there is none."""
    enough = [cell for cell in curve.cells if cell.level.offered >= asked.needed_tps]
    judged = [(cell, *_by_rate(curve, cell, asked, len(enough))) for cell in enough]
    if not judged:
        judged = [(curve.cells[-1], *_below(curve))]
    cell, verdict, reason = min(
        judged, key=lambda judgement: (RANKS.index(judgement[1]), judgement[2].code == "few-repetitions-at-rate")
    )
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
    sustained = sorted(
        (cell for cell in curve.sustained if not cell.is_disturbed), key=lambda cell: -cell.level.offered
    )
    verdicts = [
        (cell.level.offered, judge_objective(point_of(cell), asked.response_p99_ms).fit, _is_sure(curve, cell, asked))
        for cell in sustained
    ]
    best_tps = next((rate_tps for rate_tps, fit, _ in verdicts if fit is Fit.FITS), None)
    return best_tps, next((rate_tps for rate_tps, _, is_sure in verdicts if is_sure), None)


def _is_sure(curve: Curve, cell: Cell, asked: LoadAsked) -> bool:
    """Whether a load that needs just this rate would fit."""
    above = sum(other.level.offered >= cell.level.offered for other in curve.cells)
    return _by_rate(curve, cell, asked, above)[1].code == "rate-sustained"


def _below(curve: Curve) -> tuple[Fit, Finding]:
    """Where all rates are below what is needed: the verdict by the highest."""
    last = curve.cells[-1]
    if last.is_disturbed:
        return _disturbed(last)
    if last in curve.sustained:
        return Fit.UNDECIDED, make_finding("rates-end-below")
    return _not_sustained(curve, last)


def _by_rate(curve: Curve, cell: Cell, asked: LoadAsked, levels_count: int) -> tuple[Fit, Finding]:
    if cell.is_disturbed:
        return _disturbed(cell)
    if cell not in curve.sustained:
        return _not_sustained(curve, cell)
    point = point_of(cell)
    judgement = judge_objective(point, asked.response_p99_ms)
    if judgement.fault is not None:
        return judgement.fit, make_finding(
            "objective-not-met",
            fault=judgement.fault.value,
            response_ms_p99=judgement.times_ms,
            is_lower_bound=point.is_lower_bound,
            failed_ratio=point.failed_ratio,
            has_unfinished=point.has_unfinished,
            is_last_level=False,
        )
    repetitions = cell.throughput_tps.trial_count
    if repetitions < RATE_REPETITIONS_NEEDED:
        return Fit.FITS, make_finding(
            "few-repetitions-at-rate", repetitions_count=repetitions, needed_count=RATE_REPETITIONS_NEEDED
        )
    limit = _left_limit(cell, levels_count) or slow_limit(cell.repetitions_ms_p99, asked, levels_count)
    if limit is not None:
        return Fit.UNDECIDED, limit
    return Fit.FITS, make_finding("rate-sustained", response_ms_p99=judgement.times_ms)


def _disturbed(cell: Cell) -> tuple[Fit, Finding]:
    assert cell.disturbance is not None, "it is known"
    return Fit.DISTURBED, make_finding("disturbed", **slow_figures(cell.disturbance))


def _not_sustained(curve: Curve, cell: Cell) -> tuple[Fit, Finding]:
    """Of a rate that does not count as sustained: itself in none or some of its repetitions, or a lower one."""
    assert cell.rate is not None, "it is of a curve at rates"
    repetitions, sustained = cell.throughput_tps.trial_count, cell.rate.sustained_count
    if sustained == 0:
        return Fit.DOES_NOT_FIT, make_finding("rate-not-sustained")
    if sustained < repetitions:
        return Fit.UNDECIDED, make_finding(
            "rate-sustained-in-some", sustained_count=sustained, repetitions_count=repetitions
        )
    lower_tps = next(cell.level.offered for cell in curve.cells if cell not in curve.sustained)
    return Fit.UNDECIDED, make_finding("lower-rate-not-sustained", lower_tps=lower_tps)


def _left_limit(cell: Cell, levels_count: int) -> Finding | None:
    """Why the next run may fall behind; None where it will surely keep up."""
    assert cell.rate is not None, "it is of a curve at rates"
    most_ratio = next_share_at_most(cell.rate.left_ratios, levels_count=levels_count)
    if most_ratio is not None and most_ratio <= LEFT_RATIO_ALLOWED:
        return None
    return make_finding("next-run-may-fall-behind", most_left_ratio=most_ratio)


def evidence_limits(capacities: Iterable[SystemCapacity], curves: Iterable[Curve]) -> Iterator[float]:
    """Each load beyond which a verdict may be another one where no connections are asked for, transactions per second.

    From one of them to the next, itself included, every verdict is the same.
    """
    for system_capacity in capacities:
        yield from _capacity_limits(system_capacity)
    for curve in curves:
        if curve.kind.is_at_rate:
            yield from (cell.level.offered for cell in curve.cells)
            continue
        points = measured_points(curve)
        for point in points:
            yield from (_sure_tps(point, len(points)), point.possible_tps)


def _capacity_limits(system_capacity: SystemCapacity) -> Iterator[float]:
    best = system_capacity.capacity_tps
    most_tps = None if best is None or best.bounds is None else best.bounds.high
    known = (system_capacity.low, system_capacity.high, system_capacity.next_low, most_tps)
    yield from (limit_tps for limit_tps in known if limit_tps is not None)
    if (knee_tps := knee_of(_ramps(system_capacity))) is not None:
        yield math.nextafter(knee_tps, 0.0)  # a load of a knee is too much already


RATE_REPETITIONS_NEEDED = 3
"""Of load at a rate: a system that is a little too small keeps up in some repetitions."""

MEASURED_ORIGIN = "measured"

_ANSWERS_NOTHING = frozenset(
    {
        "not-measured",
        "objective-not-met",
        "capacity-of-stricter-objective",
        "capacity-not-sure",
        "lower-rate-not-sustained",
        "rates-end-below",
    }
)
"""Reasons for which a load stays undecided whatever figures say."""


def with_grade(system_fit: SystemFit, system: SystemSummary) -> SystemFit:
    """The verdict with its grade."""
    return system_fit.model_copy(
        update={"grade": _grade(system_fit, system), "is_published": system.origin != MEASURED_ORIGIN}
    )


def _grade(system_fit: SystemFit, system: SystemSummary) -> Grade:
    is_open = system_fit.verdict is Fit.UNDECIDED and system_fit.reason.code in _ANSWERS_NOTHING
    if system_fit.verdict is Fit.DISTURBED or is_open:
        return Grade.UNKNOWN
    is_measured = system.origin == MEASURED_ORIGIN and _rests_on_repetitions(system_fit)
    return Grade.MEASURED if is_measured else Grade.INDICATED


def _rests_on_repetitions(system_fit: SystemFit) -> bool:
    estimate = system_fit.throughput_tps
    match system_fit.evidence:
        case SizeEvidence.CAPACITY:  # of searches in which no rate holds there is no figure
            return bool(system_fit.reason.known["repetitions_count"] > 1)
        case SizeEvidence.RATES:
            return estimate is not None and estimate.trial_count >= RATE_REPETITIONS_NEEDED
    return estimate is not None and is_repeated(estimate)
