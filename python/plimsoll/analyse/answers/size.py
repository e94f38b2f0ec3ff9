"""Which systems sustain a load, with what to spare, and what it takes when none does.

Capacities at an objective decide first; where they leave it open, load at target rates does. Connections in a closed
loop are used only where there is nothing else, and the answer then says that it rests on saturation: such clients wait
for the server. A capacity that is too low at a stricter objective than the one asked for counts as nothing.

A system fits where the next run will surely sustain the load: the lower prediction limit over repetitions decides
(`throughput`), corrected for how many levels it was chosen from. Figures without repetitions decide by themselves, and
are an indication (`size_evidence`). It does not fit where even the upper end of the confidence interval is too low. A
response-time objective is met where the upper prediction limit of the repetitions' own 99th percentiles is within it;
failed, dropped and unfinished transactions count as over it. Nothing is said beyond the last measured level, and
nothing by evidence of a disturbed machine (`conditions`).

How many systems of one kind would sustain a load together when one does not. Assumption: N systems sustain N times
what one sustains at its best level, with the load spread evenly and nothing lost to coordination. That is nearly so
for reads that are spread over replicas. It is not so for writes, which every replica has to apply as well: there it
needs data that is split between systems. What the systems sustain together was not measured.

Whether one of them sustains its share is judged as a single system is: by the same verdict, at the share's rate.

Where a study measured what applying a write costs a replica, the arithmetic of its fleet (`replication`) takes the
place of that assumption: it says how many replicas carry the load, or that no number does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from plimsoll.analyse.answers.cost import is_comparable
from plimsoll.analyse.answers.size_evidence import (
    STRICTER,
    evidence_limits,
    judge_capacities,
    judge_levels,
    judge_rates,
    with_grade,
)
from plimsoll.analyse.answers.size_model import (
    OPEN,
    RANKS,
    Fit,
    LoadAsked,
    LoadDemand,
    ScaleOut,
    SizeAnswer,
    SizeEvidence,
    SystemFit,
    load_today_tps,
    with_horizon,
)
from plimsoll.analyse.explain.replication import COUNTED_MAX
from plimsoll.analyse.explain.replication_model import ReplicaScaling
from plimsoll.analyse.findings.finding_model import RANKED, Finding, Grade, best, make_finding, worst
from plimsoll.analyse.findings.missing import unmeasured_systems
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import SpreadKind
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.workloads import is_read_only
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
        needed_tps=needed_tps(tps, headroom),
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


def needed_tps(tps: float, headroom: float) -> float:
    """`tps` over the share that may be used, as people calculate it: 100 over 1 - 0.8 is 500, not 500.0000000000001."""
    return float(Fraction(str(tps)) / (1 - Fraction(str(headroom))))


def _choose_workload(analysis: Analysis, workload: str | None) -> WorkloadSummary:
    known = {workload.name: workload for workload in analysis.workloads}
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
    curves = [curve for curve in analysis.curves if curve.workload == workload.name and not curve.kind.is_at_rate]
    system_fits = [with_horizon(system_fit, asked) for system_fit in _judged_systems(analysis, asked)]
    judged = sorted(system_fits, key=lambda fit: _order(fit, by_cost=comparable))
    fitting = [fit for fit in judged if fit.verdict is Fit.FITS]
    surely = [fit for fit in fitting if fit.grade is Grade.MEASURED]
    tightest = min(surely, key=lambda fit: fit.margin_ratio or 0.0, default=None)
    return SizeAnswer(
        study=analysis.study,
        asked=asked,
        fits=bool(fitting),
        grade=best(fit.grade for fit in fitting) if fitting else worst(fit.grade for fit in judged),
        systems=tuple(judged),
        tightest=tightest.system if tightest else None,
        scale_out=() if fitting else _more_servers(analysis, asked, workload),
        is_cost_comparable=comparable,
        assumptions=tuple(assumptions(asked, judged, curves, analysis)),
        doubts=tuple(demand_doubts(asked, judged, workload)),
    )


def _more_servers(analysis: Analysis, asked: LoadAsked, workload: WorkloadSummary) -> tuple[ScaleOut, ...]:
    """Replicas by a fleet's arithmetic where apply costs were measured; besides, systems with split data."""
    by_name = {system.name: system for system in analysis.systems}
    fleets = with_replicas(analysis.replication.scaling, by_name, asked)
    return (*fleets, *scale_out(partial(judged_system, analysis), analysis.systems, asked, workload))


def _judged_systems(analysis: Analysis, asked: LoadAsked) -> Iterator[SystemFit]:
    """Each system by the best evidence that there is of it."""
    system_fits = (judged_system(analysis, system, asked) for system in analysis.systems)
    return (fit for fit in system_fits if fit is not None)


def objective_of(analysis: Analysis) -> float | None:
    """The study's objective, or that of its searches where they have one, milliseconds; None where there is none."""
    searched = {capacity.objective.response_ms_p99 for capacity in analysis.capacities}
    return analysis.objective_ms_p99 or (searched.pop() if len(searched) == 1 else None)


def judged_system(analysis: Analysis, system: SystemSummary, asked: LoadAsked) -> SystemFit | None:
    """The verdict on one system; None where nothing of it was measured.

    A disturbed system has nothing to spare that is known.
    """
    fit = _by_best_evidence(analysis, system, asked)
    if fit is None or fit.verdict is not Fit.DISTURBED:
        return fit
    return fit.model_copy(update=dict.fromkeys(("margin_ratio", "sustains_tps", "sure_tps")))


def _by_best_evidence(analysis: Analysis, system: SystemSummary, asked: LoadAsked) -> SystemFit | None:
    """The first evidence that decides; single figures that speak for it do not outdo repetitions that leave it open.

    None where nothing of it was measured.
    """
    searched, curves = _evidence(analysis, system.name, asked.workload)
    by_capacity = judge_capacities(searched, system, asked)
    at_rates = [judge_rates(curve, system, asked) for curve in curves if curve.kind.is_at_rate]
    open_loop = [*([] if by_capacity is None else [by_capacity]), *at_rates]
    if all(fit.reason.code == STRICTER for fit in open_loop):
        open_loop[:0] = [judge_levels(curve, system, asked) for curve in curves if not curve.kind.is_at_rate]
    graded = [with_grade(fit, system) for fit in open_loop]
    decided = [fit for fit in graded if fit.verdict not in OPEN]
    surely = [fit for fit in decided if fit.verdict is not Fit.FITS or fit.grade is Grade.MEASURED]
    in_doubt = [fit for fit in graded if fit.verdict is Fit.UNDECIDED and fit.grade is Grade.MEASURED]
    return next(iter((*surely, *in_doubt, *decided, *graded)), None)


def verdict_limits(analysis: Analysis, system: str, workload: str) -> list[float]:
    """What is needed where the verdict on a system at its best level may be another one for any more; rising.

    From one of them to the next, itself included, the verdict is the same.
    """
    limits = set(evidence_limits(*_evidence(analysis, system, workload)))
    return sorted(limit_tps for limit_tps in limits if math.isfinite(limit_tps) and limit_tps > 0)


def _evidence(analysis: Analysis, system: str, workload: str) -> tuple[list[SystemCapacity], list[Curve]]:
    of = (system, workload)
    searched = [capacity for capacity in analysis.capacities if (capacity.system, capacity.workload) == of]
    return searched, [curve for curve in analysis.curves if (curve.system, curve.workload) == of]


def _order(system_fit: SystemFit, *, by_cost: bool) -> tuple[int, int, float, float, str]:
    rank = RANKS.index(system_fit.verdict)
    cost = math.inf if system_fit.cost_per_month is None or not by_cost else system_fit.cost_per_month
    return (
        rank,
        RANKED.index(system_fit.grade),
        cost,
        -(system_fit.margin_ratio if system_fit.margin_ratio is not None else -math.inf),
        system_fit.system,
    )


Judge = Callable[[SystemSummary, LoadAsked], SystemFit | None]
"""Gives the verdict on one system under a load."""

_ROUNDING = 1e-9
"""What a quotient may be off by since numbers have 53 bits: three times a third of a load are the load, and no more."""


def scale_out(
    judge: Judge, systems: Iterable[SystemSummary], asked: LoadAsked, workload: WorkloadSummary
) -> tuple[ScaleOut, ...]:
    """For each system that meets the objective somewhere, how many it takes; what is shown first, then the cheapest.

    Args:
        judge: Gives the verdict on one system under a load; None where nothing of it was measured.
        systems: Of the study.
        asked: The load, which no single system is shown to sustain as it was asked for.
        workload: Whose.
    """
    groups = (_of_system(judge, system, asked, workload) for system in systems)
    return tuple(sorted((group for group in groups if group is not None), key=_scale_out_order))


def _scale_out_order(group: ScaleOut) -> tuple[bool, float, int, float, str]:
    cost = math.inf if group.cost_per_month is None else group.cost_per_month
    return not group.is_shown, cost, group.count, -group.tps_each, group.system


def _of_system(judge: Judge, system: SystemSummary, asked: LoadAsked, workload: WorkloadSummary) -> ScaleOut | None:
    """None where nothing within the objective is known of it, or where one would do, which is undecided then."""
    anywhere = asked.model_copy(update={"connections": None})
    best = judge(system, anywhere)
    most_tps = None if best is None else best.sure_tps or best.sustains_tps
    if not most_tps:
        return None
    count = math.ceil(asked.needed_tps / most_tps * (1 - _ROUNDING))
    share_tps = min(asked.needed_tps / count, most_tps)
    share = judge(system, anywhere.model_copy(update={"tps": asked.tps / count, "needed_tps": share_tps}))
    if share is None or share.verdict is Fit.DOES_NOT_FIT or share.margin_ratio is None:
        return None
    if share.connections is None or (count == 1 and asked.connections is None):
        return None
    return ScaleOut(
        system=system.name,
        count=count,
        connections_each=share.connections,
        tps_each=share_tps * (1 + share.margin_ratio),
        is_shown=share.verdict is Fit.FITS and share.grade is Grade.MEASURED,
        cost_per_month=None if system.cost_per_month is None else count * system.cost_per_month,
        currency=None if system.price is None else system.price.currency,
        is_read_only=is_read_only(workload),
    )


def with_replicas(
    scalings: Sequence[ReplicaScaling], systems: Mapping[str, SystemSummary], asked: LoadAsked
) -> tuple[ScaleOut, ...]:
    """By the arithmetic of each fleet whose costs are known: the fewest replicas that carry the load, or that none do.

    A source that would do without replicas is left out: whether it does is what its own verdict says.

    Args:
        scalings: Of the study.
        systems: By name.
        asked: The load.
    """
    fleets = []
    for scaling in scalings:
        costs = scaling.costs
        if scaling.workload != asked.workload or costs is None:
            continue
        enough = (k for k in range(COUNTED_MAX + 1) if costs.expected_tps(k) >= asked.needed_tps * (1 - _ROUNDING))
        if (count := next(enough, None)) == 0:
            continue
        base = scaling.points[0]
        fleets.append(
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
    return tuple(fleets)


def _cost_per_month(system: SystemSummary, replicas: int | None) -> float | None:
    """Each replica costs what the source does."""
    if system.cost_per_month is None or replicas is None:
        return None
    return system.cost_per_month * (replicas + 1)


def assumptions(
    asked: LoadAsked, judged: Sequence[SystemFit], curves: Sequence[Curve], analysis: Analysis
) -> Iterator[Finding]:
    """What the answer rests on."""
    with_objective = asked.response_p99_ms is not None
    undisturbed = [fit for fit in judged if fit.verdict is not Fit.DISTURBED]
    bounds = [fit.throughput_tps.bounds for fit in undisturbed if fit.throughput_tps is not None]
    known = [bound for bound in bounds if bound is not None]
    open_ended = any(curve.peak is not None and not curve.peak.is_inside_range for curve in curves)
    demand = asked.demand
    reasons = (
        (True, "same-workload"),
        (demand is not None, "transactions-alike"),
        (demand is not None and demand.yearly_growth is not None, "even-growth"),
        (any(fit.horizon is not None and fit.horizon.sure_years is not None for fit in judged), "date-of-capacity"),
        (any(fit.evidence is SizeEvidence.SATURATION for fit in judged), "saturation-and-no-capacity"),
        (bool(known), "lower-end-decides"),
        (len(known) < len(bounds), "figures-as-they-stand"),
        (any(bound.basis is SpreadKind.WITHIN_RUN for bound in known), "some-intervals-within-run"),
        (any(fit.interpolated_between for fit in judged), "straight-line"),
        (asked.connections is None and bool(curves), "best-level"),
        (with_objective, "failed-count-as-over"),
        (with_objective and any(fit.response_p99_ms is not None for fit in judged), "p99-as-measured"),
        (open_ended and asked.connections is None, "peak-may-lie-beyond"),
    )
    yield from (make_finding(code) for applies, code in reasons if applies)
    names = {fit.system for fit in judged}
    if rest := tuple(system.name for system in analysis.systems if system.name not in names):
        yield make_finding("left-out", workload=asked.workload, systems=rest)
    if any(system.origin != "measured" for system in analysis.systems if system.name in names):
        yield make_finding("published")
    if unmeasured := unmeasured_systems(analysis.missing, {system.name for system in analysis.systems}):
        yield make_finding("not-measured-yet", systems=tuple(unmeasured))


BURSTIER_RATIO = 1.25
"""An index of dispersion that is learned from an hour is exact to about 10 %: less above the measured one is none."""

_DAY_S = 86_400

ABOUT_RATES = (
    "sampled",
    "no-times",
    "no-begin",
    "transactions-open",
    "files-damaged",
    "entries-damaged",
    "files-overlap",
)
"""Doubts of a log that bear on how many transactions it shows."""


def demand_doubts(asked: LoadAsked, judged: Sequence[SystemFit], workload: WorkloadSummary) -> Iterator[Finding]:
    """What casts doubt on an answer about the demand of a log."""
    demand = asked.demand
    if demand is None:
        return
    if demand.burstiness is None:
        yield make_finding("burstiness-unknown")
    else:
        at_rate = [fit for fit in judged if fit.evidence is not SizeEvidence.SATURATION]
        measured = _burstiness(workload)
        if demand.burstiness > BURSTIER_RATIO * measured and at_rate:
            yield make_finding("burstier-than-measured", index=demand.burstiness, measured_index=measured)
        if demand.burstiness > BURSTIER_RATIO and len(at_rate) < len(judged):
            yield make_finding("bursts-not-measured", index=demand.burstiness)
    if "long-bursts" in demand.doubts:
        yield make_finding("long-bursts")
    if demand.duration_s < _DAY_S:
        yield make_finding("log-shorter-than-a-day", duration_s=demand.duration_s)
    if codes := tuple(code for code in demand.doubts if code in ABOUT_RATES):
        yield make_finding("log-doubts", codes=codes)


def _burstiness(workload: WorkloadSummary) -> float:
    """Of the load that was measured, as recordings state it; a Poisson process where they state nothing."""
    try:
        stated = float(workload.options.get("burstiness", "1"))
    except ValueError:
        return 1.0
    return stated if math.isfinite(stated) and stated >= 1 else 1.0
