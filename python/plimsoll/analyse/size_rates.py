"""Whether a system sustains a load, by load at target rates.

A system fits where a rate of at least what is needed was sustained in every repetition, and where the next one will
surely complete it: the upper prediction limit of the share that repetitions left over (`left_over`) is at most 1 %. A
system 2 % too small leaves 2 % over, whatever the length of its runs; short runs only show it less exactly, which the
limit allows for. Where repetitions differ, a system that is too small may keep up in some of them and leave nothing
over, by luck. So three repetitions are needed, where other evidence needs two; fewer indicate that it fits.

In simulations of systems 2 % too small, with runs of 10 and 30 s, at most 4 % of studies of three repetitions said
"fits" where the speed of runs differed by up to 6 %, and 5 to 8 % where it differed by 10 %; there four repetitions are
needed (2 to 3 %), and two would be wrong in up to 13 %.

It does not fit where no repetition sustained the rate. Where some did, more repetitions decide.
"""

from __future__ import annotations

from plimsoll.analyse.cell_model import Cell
from plimsoll.analyse.cost import cost_figures
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.disturbance_model import slow_figures
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import point_of
from plimsoll.analyse.prediction import next_share_at_most
from plimsoll.analyse.size_evidence import slow_limit
from plimsoll.analyse.size_grades import RATE_REPETITIONS_NEEDED
from plimsoll.analyse.size_model import RANKS, Fit, LoadAsked, SizeEvidence, SystemFit

LEFT_RATIO_ALLOWED = 0.01
"""A rate that leaves more of its arrivals over within a run is not kept: half of what a system 2 % too small leaves."""


def judge_rates(curve: Curve, system: SystemSummary, asked: LoadAsked) -> SystemFit:
    """By the rates of a curve that are at least what is needed; by the highest one where there is none."""
    enough = [cell for cell in curve.cells if cell.level.offered >= asked.needed_tps]
    judged = [(cell, *_by_rate(curve, cell, asked, len(enough))) for cell in enough]
    if not judged:
        judged = [(curve.cells[-1], *_below(curve))]
    cell, verdict, reason = min(judged, key=lambda one: (RANKS.index(one[1]), one[2].code == "few-repetitions-at-rate"))
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
    sustained = sorted((one for one in curve.sustained if not one.is_disturbed), key=lambda cell: -cell.level.offered)
    verdicts = [
        (cell.level.offered, judge_objective(point_of(cell), asked.response_p99_ms).fit, _is_sure(curve, cell, asked))
        for cell in sustained
    ]
    best_tps = next((rate_tps for rate_tps, fit, _ in verdicts if fit is Fit.FITS), None)
    return best_tps, next((rate_tps for rate_tps, _, is_sure in verdicts if is_sure), None)


def _is_sure(curve: Curve, cell: Cell, asked: LoadAsked) -> bool:
    """Whether a load that needs just this rate would fit."""
    above = sum(one.level.offered >= cell.level.offered for one in curve.cells)
    return _by_rate(curve, cell, asked, above)[1].code == "rate-sustained"


def _below(curve: Curve) -> tuple[Fit, Finding]:
    """Where all rates are below what is needed: the verdict by the highest."""
    last = curve.cells[-1]
    if last.is_disturbed:
        return _disturbed(last)
    if last in curve.sustained:
        return Fit.UNDECIDED, found("rates-end-below")
    return _not_sustained(curve, last)


def _by_rate(curve: Curve, cell: Cell, asked: LoadAsked, levels_count: int) -> tuple[Fit, Finding]:
    if cell.is_disturbed:
        return _disturbed(cell)
    if cell not in curve.sustained:
        return _not_sustained(curve, cell)
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
    repetitions = cell.throughput_tps.trial_count
    if repetitions < RATE_REPETITIONS_NEEDED:
        return Fit.FITS, found(
            "few-repetitions-at-rate", repetitions_count=repetitions, needed_count=RATE_REPETITIONS_NEEDED
        )
    limit = _left_limit(cell, levels_count) or slow_limit(cell.repetitions_ms_p99, asked, levels_count)
    if limit is not None:
        return Fit.UNDECIDED, limit
    return Fit.FITS, found("rate-sustained", response_ms_p99=judgement.times_ms)


def _disturbed(cell: Cell) -> tuple[Fit, Finding]:
    assert cell.disturbance is not None, "it is known"
    return Fit.DISTURBED, found("disturbed", **slow_figures(cell.disturbance))


def _not_sustained(curve: Curve, cell: Cell) -> tuple[Fit, Finding]:
    """Of a rate that does not count as sustained: itself in none or some of its repetitions, or a lower one."""
    assert cell.rate is not None, "it is of a curve at rates"
    repetitions, sustained = cell.throughput_tps.trial_count, cell.rate.sustained_count
    if sustained == 0:
        return Fit.DOES_NOT_FIT, found("rate-not-sustained")
    if sustained < repetitions:
        return Fit.UNDECIDED, found("rate-sustained-in-some", sustained_count=sustained, repetitions_count=repetitions)
    lower_tps = next(one.level.offered for one in curve.cells if one not in curve.sustained)
    return Fit.UNDECIDED, found("lower-rate-not-sustained", lower_tps=lower_tps)


def _left_limit(cell: Cell, levels_count: int) -> Finding | None:
    """Why the next run may fall behind; None where it will surely keep up."""
    assert cell.rate is not None, "it is of a curve at rates"
    most_ratio = next_share_at_most(cell.rate.left_ratios, levels_count=levels_count)
    if most_ratio is not None and most_ratio <= LEFT_RATIO_ALLOWED:
        return None
    return found("next-run-may-fall-behind", most_left_ratio=most_ratio)
