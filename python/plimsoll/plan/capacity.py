"""The search for the highest rate at which an objective holds: which run comes next, from the runs so far.

1. Sweep: short closed-loop runs say about how much the server can do, and with how many connections.
2. Bracket: from three quarters of that, the rate rises until the objective does not hold, or falls until it does.
3. Bisect: the bracket is narrowed from both sides of the rate at which all runs so far say that the objective is
   crossed (`analyse.crossing`). A plain halving would believe each short run alone, and one stall would mislead all
   that follow.
4. Confirm: the rate just below the crossing is measured longer, several times. Where one of these runs surely does not
   hold, or all of them together do not, the rate steps down by a notch at least and is confirmed again.
5. Above: unless a shorter run at most 6 % above the answer surely did not hold, one is made there; where it is
   undecided, another one at 15 %. Where one surely holds, the answer is too low, because the machine was slow for a
   while; the search begins again there, once.

The answer was chosen because its runs held, so `low` is lower than the answer by as much as searches are wrong.

A run that is undecided is repeated at twice its length, up to a limit; at the limit the share over the objective itself
decides the direction, but not what is sure (`high`). Confirmations outvote shorter runs.

Pure: the same runs give the same next step, so that a search that was killed goes on where it stopped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.plan.capacity_rates import (
    Bracket,
    Rate,
    bracket_between,
    count_at,
    failed_confirmation_tps,
    near_runs,
    sure_between,
)
from plimsoll.plan.search_settings import SearchSettings
from plimsoll.record.capacity import (
    OWN_ERROR_RATIO,
    P99_ALLOWED_RATIO,
    Capacity,
    CapacityRun,
    RunRole,
    RunVerdict,
)

_START_RATIO = 0.75
_RISE = 1.2
_FALL = 1.3
_LOWEST_RATIO = 1 / 1000
_LOWEST_TPS = 0.5
_ABOVE_RATIOS = (0.06, 0.15)
"""At an answer plus this share of it the objective must have failed; further up where that is undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The run that comes next.

    Attributes:
        rate_tps: Target rate, transactions per second; None for a closed loop.
        duration_s: Length of its measured window, seconds.
        ordinal: How many runs of this kind, at this rate and of this length, were before.
        after_overload: The run before asked for more than the server can do, and what it left must go first.
    """

    role: RunRole
    connections: int
    rate_tps: float | None
    duration_s: float
    ordinal: int = 0
    after_overload: bool = False


def next_step(settings: SearchSettings, history: Sequence[CapacityRun]) -> Step | Capacity:
    """The run that comes next, or the answer.

    Args:
        settings: Of the search; the same from its begin to its end.
        history: All runs so far, in their order.
    """
    swept = [run for run in history if run.role is RunRole.SWEEP]
    if len(swept) < len(settings.connections):
        return _step(settings, history, RunRole.SWEEP, settings.connections[len(swept)], None)
    fastest = max(swept, key=lambda run: run.throughput_tps)
    last = history[-1]
    if last.rate_tps is not None and not settings.is_final(last):
        return _step(settings, history, last.role, last.connections, last.rate_tps, duration_s=2 * last.duration_s)
    rates = _rates(settings, history)
    runs_count = sum(run.rate_tps is not None for run in history)
    found = (
        None if runs_count >= settings.runs_max or fastest.throughput_tps <= 0 else _wanted(settings, rates, fastest)
    )
    if found is None:
        return capacity_so_far(settings, history)
    role, rate_tps = found
    return _step(settings, history, role, fastest.connections, rate_tps)


def capacity_so_far(settings: SearchSettings, history: Sequence[CapacityRun]) -> Capacity:
    """What the runs so far say; `capacity_tps` only where it is confirmed."""
    rates = _rates(settings, history)
    capacity_tps = _confirmed_tps(settings, rates)
    held_tps = bracket_between(rates).low_tps if capacity_tps is None else capacity_tps
    return Capacity(
        capacity_tps=capacity_tps,
        low=_surely_held_tps(rates, held_tps) if capacity_tps is None else _low_tps(settings, history, capacity_tps),
        high=min((one.tps for one in rates if one.tps > held_tps and one.surely_failed), default=None),
        objective=settings.objective,
        runs=tuple(history),
    )


def _confirmed_tps(settings: SearchSettings, rates: Sequence[Rate]) -> float | None:
    failed_tps = failed_confirmation_tps(rates)
    confirmed = (one.tps for one in rates if one.tps < failed_tps and one.balance > 0)
    enough = settings.confirmations
    return max((tps for tps in confirmed if count_at(rates, tps) >= enough), default=None)


def _low_tps(settings: SearchSettings, history: Sequence[CapacityRun], capacity_tps: float) -> float:
    """Below the answer by what searches are wrong; where the search began again, below its first answer as well."""
    first_tps = _confirmed_tps(settings, _rates(settings, history[: _begin_index(history)]))
    return rounded(min(capacity_tps, first_tps or math.inf) / (1 + OWN_ERROR_RATIO))


def _surely_held_tps(rates: Sequence[Rate], upto_tps: float) -> float | None:
    return max((one.tps for one in rates if one.tps <= upto_tps and one.surely_held), default=None)


def bracket_of(settings: SearchSettings, history: Sequence[CapacityRun]) -> Bracket:
    """Where the capacity lies by the runs so far, for whoever watches."""
    rates = _rates(settings, history)
    failed_tps = failed_confirmation_tps(rates)
    held = [one.tps for one in rates if one.confirmations and one.balance > 0 and one.tps < failed_tps]
    if not held:
        return bracket_between(rates)
    above = (one.tps for one in rates if one.tps > held[-1] and one.balance < 0)
    return Bracket(held[-1], min(above, default=math.inf))


def remaining_s(settings: SearchSettings, history: Sequence[CapacityRun]) -> tuple[int, float]:
    """About how many runs are left, and how long their measured windows take, seconds, if none is extended."""
    done = {role: sum(run.role is role and settings.is_final(run) for run in history) for role in RunRole}
    rates = _rates(settings, history)
    is_bracketed = any(one.balance > 0 for one in rates) and any(one.balance < 0 for one in rates)
    failed_tps = failed_confirmation_tps(rates)
    confirmed = max((len(one.confirmations) for one in rates if one.tps < failed_tps and one.balance > 0), default=0)
    left = {
        RunRole.SWEEP: len(settings.connections) - done[RunRole.SWEEP],
        RunRole.BRACKET: 0 if is_bracketed else max(3 - done[RunRole.BRACKET], 1),
        RunRole.BISECT: max(settings.bisections - done[RunRole.BISECT], 0) if not done[RunRole.CONFIRM] else 0,
        RunRole.CONFIRM: max(settings.confirmations - confirmed, 0),
    }
    return sum(left.values()), sum(count * settings.length_s(role) for role, count in left.items())


def _rates(settings: SearchSettings, history: Sequence[CapacityRun]) -> list[Rate]:
    """By rising rate, with the runs that count."""
    runs: dict[float, list[CapacityRun]] = {}
    for run in history[_begin_index(history) :]:
        if run.rate_tps is not None and settings.is_final(run):
            runs.setdefault(run.rate_tps, []).append(run)
    return [Rate(tps, tuple(found), settings.objective) for tps, found in sorted(runs.items())]


def _begin_index(history: Sequence[CapacityRun]) -> int:
    """Where the search began, or began again, once at most: at a run above its answer that held."""
    held = (index for index, run in enumerate(history) if run.role is RunRole.ABOVE and run.verdict is RunVerdict.HOLDS)
    return next(held, 0)


def _wanted(settings: SearchSettings, rates: Sequence[Rate], fastest: CapacityRun) -> tuple[RunRole, float] | None:
    """The next rate and what it is for; None when the search is over."""
    if not rates:
        return RunRole.BRACKET, rounded(_START_RATIO * fastest.throughput_tps)
    bracket = bracket_between(rates)
    if math.isinf(bracket.high_tps):
        return RunRole.BRACKET, rounded(bracket.low_tps * _RISE)
    is_confirming = any(one.confirmations for one in rates)
    if bracket.low_tps == 0 and not is_confirming:
        return _lower(bracket.high_tps, sum(one.balance < 0 for one in rates), fastest)
    near = near_runs(rates)
    between_tps = math.sqrt((bracket.low_tps or bracket.high_tps) * bracket.high_tps)
    from plimsoll.analyse.crossing import crossing_tps

    middle_tps = crossing_tps(near, P99_ALLOWED_RATIO) or between_tps
    bisected = sum(run.role is RunRole.BISECT for one in rates for run in one.runs)
    if not is_confirming and bisected < settings.bisections:
        lowest, highest = sure_between(rates)
        side = 1 + settings.resolution if bisected % 2 else 1 / (1 + settings.resolution)
        return RunRole.BISECT, rounded(min(max(middle_tps * side, lowest), highest))
    return _confirmation(settings, rates, middle_tps, fastest)


def _lower(failed_tps: float, failures: int, fastest: CapacityRun) -> tuple[RunRole, float] | None:
    """A lower rate, by a larger step each time; None where it would be next to nothing."""
    rate_tps = rounded(failed_tps / _FALL ** (2 ** (failures - 1)))
    lowest_tps = max(_LOWEST_TPS, fastest.throughput_tps * _LOWEST_RATIO)
    if failed_tps <= lowest_tps:
        return None
    return RunRole.BRACKET, max(rate_tps, rounded(lowest_tps))


def _confirmation(
    settings: SearchSettings, rates: Sequence[Rate], middle_tps: float, fastest: CapacityRun
) -> tuple[RunRole, float] | None:
    """The rate that is to be confirmed; None when it is, or when none is left."""
    failed_tps = failed_confirmation_tps(rates)
    begun = [one for one in rates if one.confirmations and one.balance > 0 and one.tps < failed_tps]
    if begun:
        last = begun[-1]
        return (RunRole.CONFIRM, last.tps) if len(last.confirmations) < settings.confirmations else _above(rates, last)
    failures = sum(one.balance < 0 and bool(one.confirmations) for one in rates)
    notch = (1 + settings.resolution) ** (2 ** max(failures - 4, 0))
    rate_tps = rounded(min(middle_tps / math.sqrt(1 + settings.resolution), failed_tps / notch))
    if rate_tps < max(_LOWEST_TPS, fastest.throughput_tps * _LOWEST_RATIO):
        return None
    return RunRole.CONFIRM, rate_tps


def _above(rates: Sequence[Rate], answer: Rate) -> tuple[RunRole, float] | None:
    """The rate above the answer that must fail; None where one failed, or where all of them were tried."""
    for ratio in _ABOVE_RATIOS:
        above_tps = rounded(answer.tps * (1 + ratio))
        if any(answer.tps < one.tps <= above_tps and one.surely_failed and not one.confirmations for one in rates):
            return None
        if not any(one.tps == above_tps and one.tried_above for one in rates):
            return RunRole.ABOVE, above_tps
    return None


def _step(
    settings: SearchSettings,
    history: Sequence[CapacityRun],
    role: RunRole,
    connections: int,
    rate_tps: float | None,
    *,
    duration_s: float | None = None,
) -> Step:
    length_s = settings.length_s(role) if duration_s is None else duration_s
    same = (connections, rate_tps, length_s)
    return Step(
        role=role,
        connections=connections,
        rate_tps=rate_tps,
        duration_s=length_s,
        ordinal=sum((run.connections, run.rate_tps, run.duration_s) == same for run in history),
        after_overload=bool(history) and history[-1].verdict is not RunVerdict.HOLDS,
    )


def rounded(rate_tps: float) -> float:
    """A rate with four significant digits: a trial's id follows from it, and people type it.

    >>> rounded(1234.567), rounded(0.00123456)
    (1235.0, 0.001235)
    """
    return float(f"{rate_tps:.4g}")
