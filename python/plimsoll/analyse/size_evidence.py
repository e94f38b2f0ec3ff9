"""Whether a system sustains a load, by its capacity at an objective; and what response times will be.

What a system sustains within a strict objective it sustains within a looser one, too. The other way round nothing
follows: what is too much within 20 ms may be sustained within 200 ms. Ramps show no capacity, but a rate that was held
in a steady run after them, and one from which on most answers were late.

Deliberately not here: load at target rates (`size_rates`), closed-loop levels (`size_levels`), and the answer over all
systems (`size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.cost import cost_figures
from plimsoll.analyse.disturbance_model import slow_figures
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.prediction import REPETITIONS_NEEDED, next_at_most
from plimsoll.analyse.size_model import Fit, LoadAsked, SizeEvidence, SystemFit
from plimsoll.record.capacity import Capacity, CapacityRun, knee_of

STRICTER = "capacity-of-stricter-objective"
"""Reason of an answer that says nothing: the capacity is too low, but at a stricter objective than is asked for."""


def judge_capacities(capacities: Sequence[SystemCapacity], system: SystemSummary, asked: LoadAsked) -> SystemFit | None:
    """By the capacity at an objective that is at least as strict as the one asked for; None without such a one."""
    usable = [one for one in capacities if _answers(one, asked)]
    if not usable:
        return None
    one = max(usable, key=lambda each: each.objective.response_ms_p99)
    verdict, reason = _by_capacity(one, asked)
    sure_tps = one.next_low or one.low
    best = _held(one) if one.capacity_tps is None else one.capacity_tps
    return SystemFit(
        system=system.name,
        verdict=verdict,
        evidence=SizeEvidence.CAPACITY,
        connections=one.searches[0].capacity.rate_connections,
        throughput_tps=best,
        margin_ratio=None if sure_tps is None else sure_tps / asked.needed_tps - 1,
        sustains_tps=None if best is None else best.value,
        sustains_is_lower_bound=best is not None and one.capacity_tps is None,
        sure_tps=one.next_low,
        **cost_figures(system, asked.tps),
        reason=reason,
    )


def _held(one: SystemCapacity) -> Estimate | None:
    """The rate that was held in a steady run after ramps; None where there were none, or it was disturbed."""
    if one.low is None or one.is_disturbed or not _ramps(one):
        return None
    return Estimate(value=one.low, trial_count=1)


def _ramps(one: SystemCapacity) -> list[CapacityRun]:
    return [run for search in one.searches if search.is_finished for run in search.capacity.ramps]


def _answers(one: SystemCapacity, asked: LoadAsked) -> bool:
    """Whether a capacity, or a rate that was held after ramps, is of the load that is asked for."""
    strict = asked.response_p99_ms is None or one.objective.response_ms_p99 <= asked.response_p99_ms
    same = asked.connections is None or asked.connections == one.searches[0].capacity.rate_connections
    return strict and same and any(search.is_finished for search in one.searches)


def _by_capacity(one: SystemCapacity, asked: LoadAsked) -> tuple[Fit, Finding]:
    finished = [search.capacity for search in one.searches if search.is_finished]
    figures: dict[str, Any] = {
        "objective_ms_p99": one.objective.response_ms_p99,
        "low_tps": one.low,
        "high_tps": one.high,
        "sure_tps": one.next_low,
        "repetitions_count": len(finished),
    }
    if one.is_disturbed and one.disturbance is not None:
        return Fit.DISTURBED, found("disturbed", **figures, **slow_figures(one.disturbance))
    if ramps := _ramps(one):
        return _after_ramps(one, asked, {**figures, "knee_tps": knee_of(ramps)})
    return _undisturbed(one, finished, asked, figures)


def _after_ramps(one: SystemCapacity, asked: LoadAsked, figures: dict[str, Any]) -> tuple[Fit, Finding]:
    knee_tps = figures["knee_tps"]
    if one.low is not None and one.low >= asked.needed_tps:
        return Fit.FITS, found("held-after-ramps", **figures)
    if knee_tps is not None and knee_tps <= asked.needed_tps:
        if _is_stricter(one, asked):
            return Fit.UNDECIDED, found(STRICTER, **figures)
        return Fit.DOES_NOT_FIT, found("late-in-ramps", **figures)
    return Fit.UNDECIDED, found("held-after-ramps", **figures)


def _undisturbed(
    one: SystemCapacity, finished: Sequence[Capacity], asked: LoadAsked, figures: dict[str, Any]
) -> tuple[Fit, Finding]:
    unsure = sum(capacity.low is None for capacity in finished)
    if one.next_low is not None and one.next_low >= asked.needed_tps:
        return Fit.FITS, found("capacity-fits", **figures)
    if (short := _short(one, finished, asked)) is not None:
        if _is_stricter(one, asked):
            return Fit.UNDECIDED, found(STRICTER, **figures)
        return Fit.DOES_NOT_FIT, found(short, **figures)
    if len(finished) < REPETITIONS_NEEDED:
        is_enough = one.low is not None and one.low >= asked.needed_tps
        return Fit.FITS if is_enough else Fit.UNDECIDED, found("capacity-of-one-search", **figures)
    if unsure and one.capacity_tps is not None:
        return Fit.UNDECIDED, found("capacity-not-sure", **figures, unsure_count=unsure)
    return Fit.UNDECIDED, found("capacity-undecided", **figures)


def _short(one: SystemCapacity, finished: Sequence[Capacity], asked: LoadAsked) -> str | None:
    """Why a capacity is too low at its own objective; None where it may be enough."""
    if all(capacity.holds_nowhere for capacity in finished):
        return "no-rate-holds"
    best = one.capacity_tps
    most_tps = one.high if best is None or best.bounds is None else best.bounds.high
    return "capacity-too-low" if most_tps is not None and most_tps < asked.needed_tps else None


def _is_stricter(one: SystemCapacity, asked: LoadAsked) -> bool:
    """Whether more may be sustained within the objective that is asked for than within the one that was searched at."""
    return asked.response_p99_ms is None or one.objective.response_ms_p99 < asked.response_p99_ms


def slow_limit(repetitions_ms: Sequence[float], asked: LoadAsked, levels_count: int) -> Finding | None:
    """Why the next run may miss the response-time objective; None where it will surely keep it, or there is none."""
    if asked.response_p99_ms is None:
        return None
    most_ms = next_at_most(repetitions_ms, levels_count=levels_count)
    if most_ms is not None and most_ms <= asked.response_p99_ms:
        return None
    return found("next-p99-may-be-over", most_ms_p99=most_ms, is_last_level=False)
