"""The answer to "which systems sustain this load?", as values: what `plimsoll size --json` prints.

Also until when a growing load is sustained, and whether a server held a sized load that was offered to it.

Until when a system sustains a load that grows by the same share each year. A load of D grows to D (1 + g)^t in t
years, so it reaches C after ln(C / D) / ln(1 + g) years; a year has 365.25 days. C is what the system sustains, D what
is needed today, headroom included. With the lower prediction limit of the next run as C, the day is one at which the
next run would still sustain the load with 95 % confidence. Neither the demand nor its growth has an error of its own
here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from enum import StrEnum

from plimsoll.analyse.findings.finding_model import Finding, Grade
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunVerdict
from plimsoll.record.document import Document
from plimsoll.record.model import Price, TrialWarning


class Confirmed(Document):
    """What became of a load that was offered at a rate.

    Attributes:
        system: Of the study; of a server that was named, its address.
        connections: That served the load.
        rate_tps: Target rate, transactions per second.
        duration_s: Length of the measured window, seconds.
        objective: What had to hold besides the rate; None for the rate alone.
        throughput_tps: Transactions that completed in each second of the window.
        response_ms_p99: Over the window, milliseconds; None where nothing completed.
        over_ratio: Share of arrivals over the objective's response time, 0..1; those that failed, were dropped or had
            not ended are among them.
        errors_ratio: Share of arrivals that failed, were dropped or had not ended, 0..1.
        is_sustained: The server kept up with the rate: nothing was dropped, no overload lasted to the end, and at most
            1 % failed or did not end.
        verdict: `holds`: the rate was sustained, and the objective clearly held in this run;
            `does_not_hold`: one of them clearly did not, and the machine was not disturbed; `undecided`: a longer run,
            or a machine on which nothing else runs, may tell.
        is_disturbed: Something else slowed the machine for more than a tenth of the run. A load that holds then, holds.
        warnings: Doubts about the run.
    """

    system: str
    connections: int
    rate_tps: float
    duration_s: float
    objective: CapacityObjective | None = None
    throughput_tps: float
    response_ms_p99: float | None = None
    over_ratio: float
    errors_ratio: float
    is_sustained: bool
    verdict: RunVerdict
    is_disturbed: bool = False
    warnings: tuple[TrialWarning, ...] = ()


SIZE_FORMAT = 5
"""Version of this schema."""


class Fit(StrEnum):
    """Whether a system sustains the load."""

    FITS = "fits"
    DOES_NOT_FIT = "does_not_fit"
    UNDECIDED = "undecided"  # the next run may or may not sustain it, or what would decide was not measured
    DISTURBED = "disturbed"  # the machine was slow for so long that figures are not those of the system


OPEN = (Fit.UNDECIDED, Fit.DISTURBED)
"""Verdicts that leave it open."""

RANKS = (Fit.FITS, Fit.DISTURBED, Fit.UNDECIDED, Fit.DOES_NOT_FIT)
"""The best verdict first."""


class SizeEvidence(StrEnum):
    """What a verdict rests on, the best first."""

    CAPACITY = "capacity"  # the highest rate at which an objective held was searched for
    RATES = "rates"  # load at target rates, which comes whether or not the server keeps up
    SATURATION = (
        "saturation"  # connections in a closed loop: what a saturated server does, at response times of its own
    )


class LoadDemand(Document):
    """The demand of a log, which the load asked for is taken from.

    Attributes:
        at: At which part of the log: `mean`, `p99-minute`, `peak-minute` or `peak-second`.
        logged_tps: Transactions per second there.
        logged_on: Day of the log's last transaction, UTC. The load grows from then on.
        duration_s: Length of the log.
        today: Until this day, UTC, the load asked for has grown.
        yearly_growth: Each year the load is 1 + this times that of the year before; None where nothing is said, and
            the load of today is that of the log.
        burstiness: Asymptotic index of dispersion of its arrivals; None where it is not known.
        doubts: Codes of what its log cannot tell.
    """

    at: str
    logged_tps: float
    logged_on: date
    duration_s: int
    today: date
    yearly_growth: float | None = None
    burstiness: float | None = None
    doubts: tuple[str, ...] = ()


class LoadAsked(Document):
    """What was asked for.

    Attributes:
        workload: Under which the load is sized.
        demand: Where it is from a log; None where it was named.
        rate_unit: How the answer shows rates: `tps` or `tpm`, as they were asked for.
        tps: Transactions per second to sustain.
        connections: At so many connections in total; None for each system's best level.
        response_p99_ms: 99 % of transactions may take at most so long, milliseconds; None for no objective.
        headroom: Share of the throughput that must stay free, 0..1.
        needed_tps: What must be sustained so that the headroom stays free: tps / (1 - headroom).
    """

    workload: str
    rate_unit: str = "tps"
    tps: float
    connections: int | None = None
    response_p99_ms: float | None = None
    headroom: float = 0.0
    needed_tps: float
    demand: LoadDemand | None = None


class Horizon(Document):
    """Until when a system sustains a load that grows. Negative years are before today.

    Attributes:
        about_years: Until the load needs what the system sustains by the best estimate, in years from today.
        about_on: That day; None more than 50 years from today.
        sure_years: The same for what the next run will surely sustain (lower 95 % prediction limit); None where
            repetitions do not say.
        sure_on: That day; None as `about_on`.
        is_at_least: The system may sustain more than was measured, so `about` is the earliest day.
    """

    about_years: float
    about_on: date | None = None
    sure_years: float | None = None
    sure_on: date | None = None
    is_at_least: bool = False


class SystemFit(Document):
    """Whether one system sustains the load, and with what to spare.

    Attributes:
        system: Its name.
        verdict: Whether it does.
        connections: The level that was judged; None when none could be.
        throughput_tps: What it sustains there.
        interpolated_between: The two measured levels between which it was interpolated; None when measured.
        margin_ratio: What the next run will surely sustain (lower prediction limit, where there is one) over what is
            needed, less 1: 0.04 leaves 4 % to spare, -0.1 is 10 % short. None when throughput there is unknown.
        response_p99_ms: Response time there, milliseconds.
        response_is_lower_bound: It is that or more: some transactions had not ended.
        cost_per_month: In the user's currency.
        price: The same with currency, term and date; null when not given.
        cost_per_million: Cost of a million transactions at the demand, all month long; null without a price.
        sustains_tps: What it sustains within the objective by the best estimate, whatever was asked for; None where no
            level or rate meets the objective. It may sustain more where `sustains_is_lower_bound`: higher levels or
            rates were not measured.
        sustains_is_lower_bound: Higher levels or rates were not measured, so that it may sustain more than that.
        sure_tps: What the next run surely sustains within the objective (lower 95 % prediction limit); None where
            repetitions do not say.
        horizon: Until when it sustains a load that grows; None where the load is not known to.
        reason: Why.
        evidence: What it rests on.
        grade: How well the verdict is known: `measured` by repetitions, `indicated` by single or published figures,
            `unknown` where nothing answers, or the machine was disturbed.
        is_published: Its figures were imported, and not measured here.
        rate_tps: The target rate that was judged; None for other evidence.
    """

    system: str
    verdict: Fit
    evidence: SizeEvidence = SizeEvidence.SATURATION
    grade: Grade = Grade.UNKNOWN
    is_published: bool = False
    rate_tps: float | None = None
    connections: int | None = None
    throughput_tps: Estimate | None = None
    interpolated_between: tuple[int, int] | None = None
    margin_ratio: float | None = None
    response_p99_ms: float | None = None
    response_is_lower_bound: bool = False
    cost_per_month: float | None = None
    price: Price | None = None
    cost_per_million: float | None = None
    sustains_tps: float | None = None
    sustains_is_lower_bound: bool = False
    sure_tps: float | None = None
    horizon: Horizon | None = None
    reason: Finding


class Alternative(Document):
    """Another system that is good for some of the loads of a choice.

    Attributes:
        system: Which.
        up_to_tps: The largest of these loads that it is good for, transactions per second.
        grade: How well that is known, at worst.
    """

    system: str
    up_to_tps: float
    grade: Grade


class Choice(Document):
    """Which system to choose for the loads above those of the choice before.

    Attributes:
        system: The one to choose.
        up_to_tps: It is good for this load and for every lower one, headroom kept free, transactions per second.
        connections: At this level at that load; null where none is stated.
        response_p99_ms: Response time there, milliseconds; null where it is not known.
        response_is_lower_bound: It is that or more: some transactions had not ended.
        evidence: What it rests on.
        grade: How well it is known.
        less_durable: What it may lose and another system of the study keeps; null where that is nothing.
        alternatives: Systems as large that keep as much, the one that is good for the most first; and where the choice
            is not measured to be good, the smallest system that is.
    """

    system: str
    up_to_tps: float
    connections: int | None = None
    response_p99_ms: float | None = None
    response_is_lower_bound: bool = False
    evidence: SizeEvidence
    grade: Grade
    less_durable: str | None = None
    alternatives: tuple[Alternative, ...] = ()


class SizedBy(StrEnum):
    """What makes one system smaller than another."""

    PRICE = "price"
    CORES = "cores"
    NOTHING = "nothing"  # neither is known of all systems that are good for some load


class WorkloadChoices(Document):
    """Which system to choose for which load of a workload.

    Attributes:
        workload: Which.
        response_p99_ms: 99 % of transactions may take at most so long, milliseconds; null for no objective.
        headroom: Share of the throughput that stays free, 0..1.
        sized_by: What makes one system smaller than another.
        choices: The smallest loads first; empty where no system is known to be good for any load.
        is_gap_above: Above the last choice a system is good for some loads, but not for every load below these.
    """

    workload: str
    response_p99_ms: float | None = None
    headroom: float
    sized_by: SizedBy
    choices: tuple[Choice, ...] = ()
    is_gap_above: bool = False


class ScaleOut(Document):
    """How many systems of one kind would sustain the load together, under the stated assumption.

    Attributes:
        system: Of this kind.
        count: So many systems.
        connections_each: At this level on each.
        tps_each: What the next run surely sustains there; where it is not shown, the figure that was measured.
        is_shown: The verdict on one of them at its share of the load is that it fits; otherwise it is undecided.
        cost_per_month: Of all of them; None when not given.
        currency: Of that; null when not given.
        is_read_only: Reads may be spread over replicas; of writes the data must be split.
        replicas: By the arithmetic of a fleet whose apply cost was measured, a source with so many replicas; null where
            that is not known, and `count` systems with split data are told of instead.
        most_tps: What no number of replicas exceeds, by that arithmetic; null where it is not known.
        is_shared: The replicas were measured with processors that they shared with the source.
        text: The same as one sentence.
    """

    system: str
    count: int
    connections_each: int
    tps_each: float
    is_shown: bool = True
    cost_per_month: float | None = None
    currency: str | None = None
    is_read_only: bool
    replicas: int | None = None
    most_tps: float | None = None
    is_shared: bool = False
    text: str = ""


class SizeAnswer(Document):
    """Which systems sustain the load.

    Attributes:
        size_format: Version of this document.
        study: Name of the study.
        asked: The load, and what must hold.
        fits: At least one system does; `grade` says how well that is known.
        grade: The best of those that fit; where none does, the worst of all.
        systems: Those that fit first, measured before indicated; then cheapest first when costs are given, otherwise by
            falling margin.
        tightest: Of the systems that fit with the grade `measured`, the one with the least to spare.
        scale_out: Only when none fits; cheapest first when costs are given, otherwise fewest first.
        is_cost_comparable: All prices are in one currency; otherwise no system is called cheaper.
        assumptions: What it rests on.
        doubts: Why a demand may ask for more than was measured; empty without one.
        confirmation: What became of the load when it was offered (`--confirm`); None where it was not.
        text: The answer as whole sentences.
    """

    size_format: int = SIZE_FORMAT
    study: str
    asked: LoadAsked
    fits: bool
    grade: Grade
    systems: tuple[SystemFit, ...]
    tightest: str | None = None
    scale_out: tuple[ScaleOut, ...] = ()
    is_cost_comparable: bool = True
    assumptions: tuple[Finding, ...]
    doubts: tuple[Finding, ...] = ()
    confirmation: Confirmed | None = None
    text: tuple[str, ...] = ()


def confirmed(
    run: CapacityRun,
    objective: CapacityObjective | None,
    *,
    system: str,
    is_sustained: bool,
    warnings: Sequence[TrialWarning] = (),
) -> Confirmed:
    """Judges a load that was offered.

    Args:
        run: At a rate, judged by the objective where there is one.
        objective: What had to hold; None for the rate alone.
        system: Where it ran.
        is_sustained: As in `Confirmed`.
        warnings: Doubts about the run.
    """
    assert run.rate_tps is not None, "a load is confirmed at a rate"
    verdict = RunVerdict.HOLDS if objective is None else run.verdict
    verdict = verdict if is_sustained else RunVerdict.DOES_NOT_HOLD
    if run.is_disturbed and verdict is RunVerdict.DOES_NOT_HOLD:
        verdict = RunVerdict.UNDECIDED
    return Confirmed(
        system=system,
        connections=run.connections,
        rate_tps=run.rate_tps,
        duration_s=run.duration_s,
        objective=objective,
        throughput_tps=run.throughput_tps,
        response_ms_p99=run.response_ms_p99,
        over_ratio=run.over_ratio,
        errors_ratio=run.errors_ratio,
        is_sustained=is_sustained,
        verdict=verdict,
        is_disturbed=run.is_disturbed,
        warnings=tuple(warnings),
    )


def objective_to_confirm(
    capacities: Sequence[SystemCapacity], workload: str, limit_ms: float | None
) -> CapacityObjective | None:
    """What a load must hold: the response time that was asked for, and the limit of errors of the study's searches.

    Args:
        capacities: Of the study.
        workload: Under which the load is sized.
        limit_ms: 99 % of arrivals must be answered within so long, milliseconds; None for no objective.

    Returns:
        None where there is none. Of searches with several objectives that counts which sizing rests on: the widest one
        that is at least as strict as the limit.
    """
    if limit_ms is None:
        return None
    searched = [capacity.objective for capacity in capacities if capacity.workload == workload]
    strict = [objective for objective in searched if objective.response_ms_p99 <= limit_ms] or searched
    errors_ratio = max(strict, key=lambda objective: objective.response_ms_p99).errors_ratio if strict else None
    return CapacityObjective(response_ms_p99=limit_ms, errors_ratio=errors_ratio)


YEAR_DAYS = 365.25

HORIZON_YEARS = 50
"""No day is named that is further from today."""


def load_today_tps(demand: LoadDemand) -> float:
    """The load of a log, grown until today; that of a log whose end is yet to come is taken as it is."""
    years = max((demand.today - demand.logged_on).days, 0) / YEAR_DAYS
    return demand.logged_tps * math.exp(years * math.log1p(demand.yearly_growth or 0.0))


def years_until(limit_tps: float, *, now_tps: float, yearly_growth: float) -> float:
    """In how many years a load reaches a limit; negative where it has done so before.

    Args:
        limit_tps: Above 0.
        now_tps: Today's load, above 0.
        yearly_growth: Above 0: 0.3 for 30 % more each year.

    >>> round(years_until(200, now_tps=100, yearly_growth=1.0), 9)
    1.0
    """
    return math.log(limit_tps / now_tps) / math.log1p(yearly_growth)


def with_horizon(fit: SystemFit, asked: LoadAsked) -> SystemFit:
    """A system with its horizon, where the load grows and it is known what the system sustains."""
    demand = asked.demand
    if demand is None or not demand.yearly_growth or not fit.sustains_tps:
        return fit
    growth = demand.yearly_growth
    about = years_until(fit.sustains_tps, now_tps=asked.needed_tps, yearly_growth=growth)
    sure = years_until(fit.sure_tps, now_tps=asked.needed_tps, yearly_growth=growth) if fit.sure_tps else None
    horizon = Horizon(
        about_years=about,
        about_on=_day(demand.today, about),
        sure_years=sure,
        sure_on=None if sure is None else _day(demand.today, sure),
        is_at_least=fit.sustains_is_lower_bound,
    )
    return fit.model_copy(update={"horizon": horizon})


def _day(today: date, years: float) -> date | None:
    return today + timedelta(days=math.floor(years * YEAR_DAYS)) if abs(years) <= HORIZON_YEARS else None
