"""Which systems sustain a load, with what to spare, and what it takes when none does.

Capacities at an objective decide first; where they leave it open, load at target rates does. Connections in a closed
loop are used only where there is nothing else, and the answer then says that it rests on saturation: such clients wait
for the server. A capacity that is too low at a stricter objective than the one asked for counts as nothing.

A system fits where the next run will surely sustain the load: the lower prediction limit over repetitions decides
(`prediction`), corrected for how many levels it was chosen from. Figures without repetitions decide by themselves, and
are an indication (`size_grades`). It does not fit where even the upper end of the confidence interval is too low. A
response-time objective is met where the upper prediction limit of the repetitions' own 99th percentiles is within it;
failed, dropped and unfinished transactions count as over it. Nothing is said beyond the last measured level, and
nothing by evidence of a disturbed machine (`disturbance`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from plimsoll.analyse.cost import is_comparable
from plimsoll.analyse.grade import RANKED, Grade, best, worst
from plimsoll.analyse.horizon import load_today_tps, with_horizon
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.scale_out import scale_out, with_replicas
from plimsoll.analyse.size_assumptions import assumptions
from plimsoll.analyse.size_doubts import demand_doubts
from plimsoll.analyse.size_evidence import STRICTER, judge_capacities
from plimsoll.analyse.size_grades import with_grade
from plimsoll.analyse.size_levels import judge_levels
from plimsoll.analyse.size_model import OPEN, RANKS, Fit, LoadAsked, LoadDemand, ScaleOut, SizeAnswer, SystemFit
from plimsoll.analyse.size_rates import judge_rates
from plimsoll.errors import RecordError, SpecError

HEADROOM = 0.3
"""Share of the throughput that stays free when nobody says: queues grow fast above that, and load has peaks."""


def size(
    analysis: Analysis,
    *,
    tps: float | None = None,
    demand: LoadDemand | None = None,
    connections: int | None = None,
    workload: str | None = None,
    response_p99_ms: float | None = None,
    headroom: float = HEADROOM,
    rate_unit: str | None = None,
) -> SizeAnswer:
    """Says which systems of a study sustain a load.

    Args:
        analysis: Of the study.
        tps: Transactions per second to sustain; None for that of the demand.
        demand: Of a log, whose rate has grown until today; None for `tps`. One of both is given.
        connections: At so many connections in total; None for each system's best level.
        workload: Which; may be left out when the study has only one.
        response_p99_ms: 99 % of transactions may take at most so long, milliseconds.
        headroom: Share of the throughput that must stay free, 0..1 (1 excluded).
        rate_unit: How the answer shows rates, `tps` or `tpm`; None for as the study does.

    Raises:
        SpecError: A value is out of range, or the workload is not known or not named.
        RecordError: The study holds no complete trial.
    """
    if (tps is None) == (demand is None):
        raise SpecError("tps: give a rate or a demand, one of both")
    if demand is not None:
        tps = load_today_tps(demand)
    assert tps is not None, "checked above"
    _check(tps, connections, response_p99_ms, headroom)
    chosen = _choose_workload(analysis, workload)
    asked = LoadAsked(
        workload=chosen.name,
        rate_unit=rate_unit or chosen.rate_unit,
        tps=tps,
        connections=connections,
        response_p99_ms=response_p99_ms,
        headroom=headroom,
        needed_tps=_needed_tps(tps, headroom),
        demand=demand,
    )
    return _answer(analysis, asked, chosen)


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
            raise SpecError(f"workload: the study has {len(known)} of them, name one: {', '.join(sorted(known))}")
        return next(iter(known.values()))
    if workload not in known:
        raise SpecError(f"workload: there is no {workload!r} in the study, it has {', '.join(sorted(known))}")
    return known[workload]


def _answer(analysis: Analysis, asked: LoadAsked, workload: WorkloadSummary) -> SizeAnswer:
    comparable = is_comparable(analysis.systems)
    curves = [one for one in analysis.curves if one.workload == workload.name and not one.kind.is_at_rate]
    found = [with_horizon(one, asked) for one in _judged_systems(analysis, asked)]
    judged = sorted(found, key=lambda one: _order(one, by_cost=comparable))
    fitting = [one for one in judged if one.verdict is Fit.FITS]
    surely = [one for one in fitting if one.grade is Grade.MEASURED]
    tightest = min(surely, key=lambda one: one.margin_ratio or 0.0, default=None)
    return SizeAnswer(
        study=analysis.study,
        asked=asked,
        fits=bool(fitting),
        grade=best(one.grade for one in fitting) if fitting else worst(one.grade for one in judged),
        systems=tuple(judged),
        tightest=tightest.system if tightest else None,
        scale_out=() if fitting else _more_servers(analysis, asked, workload),
        is_cost_comparable=comparable,
        assumptions=tuple(assumptions(asked, judged, curves, analysis)),
        doubts=tuple(demand_doubts(asked, judged, workload)),
    )


def _more_servers(analysis: Analysis, asked: LoadAsked, workload: WorkloadSummary) -> tuple[ScaleOut, ...]:
    """Replicas by a fleet's arithmetic where apply costs were measured; besides, systems with split data."""
    by_name = {one.name: one for one in analysis.systems}
    fleets = with_replicas(analysis.replication.scaling, by_name, asked)
    return (*fleets, *scale_out(partial(_judged, analysis), analysis.systems, asked, workload))


def _judged_systems(analysis: Analysis, asked: LoadAsked) -> Iterator[SystemFit]:
    """Each system by the best evidence that there is of it."""
    found = (_judged(analysis, system, asked) for system in analysis.systems)
    return (one for one in found if one is not None)


def _judged(analysis: Analysis, system: SystemSummary, asked: LoadAsked) -> SystemFit | None:
    """None where nothing of it was measured. A disturbed system has nothing to spare that is known."""
    fit = _by_best_evidence(analysis, system, asked)
    if fit is None or fit.verdict is not Fit.DISTURBED:
        return fit
    return fit.model_copy(update=dict.fromkeys(("margin_ratio", "sustains_tps", "sure_tps")))


def _by_best_evidence(analysis: Analysis, system: SystemSummary, asked: LoadAsked) -> SystemFit | None:
    """The first evidence that decides; single figures that speak for it do not outdo repetitions that leave it open.

    None where nothing of it was measured.
    """
    searched = [one for one in analysis.capacities if (one.system, one.workload) == (system.name, asked.workload)]
    by_capacity = judge_capacities(searched, system, asked)
    curves = [one for one in analysis.curves if (one.system, one.workload) == (system.name, asked.workload)]
    at_rates = [judge_rates(one, system, asked) for one in curves if one.kind.is_at_rate]
    open_loop = [*([] if by_capacity is None else [by_capacity]), *at_rates]
    if all(one.reason.code == STRICTER for one in open_loop):
        open_loop[:0] = [judge_levels(one, system, asked) for one in curves if not one.kind.is_at_rate]
    graded = [with_grade(one, system) for one in open_loop]
    decided = [one for one in graded if one.verdict not in OPEN]
    surely = [one for one in decided if one.verdict is not Fit.FITS or one.grade is Grade.MEASURED]
    in_doubt = [one for one in graded if one.verdict is Fit.UNDECIDED and one.grade is Grade.MEASURED]
    return next(iter((*surely, *in_doubt, *decided, *graded)), None)


def _order(one: SystemFit, *, by_cost: bool) -> tuple[int, int, float, float, str]:
    rank = RANKS.index(one.verdict)
    cost = math.inf if one.cost_per_month is None or not by_cost else one.cost_per_month
    return (
        rank,
        RANKED.index(one.grade),
        cost,
        -(one.margin_ratio if one.margin_ratio is not None else -math.inf),
        one.system,
    )
