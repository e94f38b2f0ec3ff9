"""The search for the highest rate at which an objective holds: which run comes next, from the runs so far.

1. Sweep: short closed-loop runs say about how much the server can do, and with how many connections.
2. Approach: from three quarters of that, the rate rises until more is over the objective than is allowed, or falls
   until it is not. Before it falls below half of the closed loop's throughput, which is hardly plausible, the run is
   made again.
3. Steady: a fixed number of longer runs, in turn a little below and a little above the rate at which all runs so far
   say that the objective is crossed (`analyse.study.violations`). No run decides alone: one in a slow minute moves the
   estimate, and the next ones move it back.

The answer is that crossing with its interval. The number of runs does not depend on what they show, so a search takes
as long as was said before. Only runs on a disturbed machine are made again: a slow machine makes a rate fail, so a run
that counted there would lower the next rates, each of which fails again. Where most runs are disturbed, the search ends
without an answer, at the latest after twice as long.

Where capacities of several systems are compared, ramps take the place of approach and steady runs: the rate rises by
`record.level.GROWTH` in each second, from a tenth of what the slowest server did in its sweep, until most answers are
late. The systems take turns, in random order within each pair. Every ramp starts alike, whatever the ones before it
showed: those that follow their own estimate carry a slow minute on from one to the next. One steady run of each system,
at a rate clearly below its knee, ends the comparison: what is held there is a capacity at least.

Pure: the same runs give the same next step, so that a search that was killed goes on where it stopped. Deliberately not
here: when a comparison ends (`run.study_searches`), and what the knees say (`analyse.study.capacities`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.record.capacity import (
    Capacity,
    CapacityObjective,
    CapacityRun,
    RunRole,
    held_between,
    highest_held_tps,
    mostly_disturbed,
)
from plimsoll.record.level import Ramp, seconds_until
from plimsoll.spec.levels import SWEEP_CONNECTIONS

if TYPE_CHECKING:
    from plimsoll.analyse.study.violations import Crossing

_START_RATIO = 0.75
_RISE = 1.2
_FALL = 1.3
_FALL_FAST = 2.0
_PLAUSIBLE_RATIO = 0.5
_LOWEST_RATIO = 1 / 50
"""Where a fiftieth of the closed loop's throughput is too much, it is not load that the objective fails by."""
_ASIDE = 1.5
_ASIDE_LEAST, _ASIDE_MOST = 0.005, 0.05
"""Steady runs lie where the share is about a quarter of what is allowed, or four times as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The run that comes next.

    Attributes:
        rate_tps: Target rate, transactions per second; None for a closed loop.
        duration_s: Length of its measured window, seconds.
        ordinal: How many runs of this kind, at this rate and of this length, were before.
        after_overload: The run before asked for more than the server can do, and what it left must go first.
        ramp: How its rate rises; None where it does not.
    """

    role: RunRole
    connections: int
    rate_tps: float | None
    duration_s: float
    ordinal: int = 0
    after_overload: bool = False
    ramp: Ramp | None = None


def next_step(settings: SearchSettings, history: Sequence[CapacityRun]) -> Step | Capacity:
    """The run that comes next, or the answer.

    Args:
        settings: Of the search; the same from its begin to its end.
        history: All runs so far, in their order.
    """
    swept = [run for run in history if run.role is RunRole.SWEEP]
    if len(swept) < len(settings.connections):
        return _step(settings, history, RunRole.SWEEP, settings.connections[len(swept)], None)
    if mostly_disturbed(history):
        return capacity_so_far(settings, history)
    fastest = max(swept, key=lambda run: run.throughput_tps)
    next_run = _wanted(settings, _at_rates(history), fastest.throughput_tps) if fastest.throughput_tps > 0 else None
    if next_run is None:
        return capacity_so_far(settings, history)
    role, rate_tps = next_run
    return _step(settings, history, role, fastest.connections, rounded(rate_tps))


def capacity_so_far(settings: SearchSettings, history: Sequence[CapacityRun]) -> Capacity:
    """What the runs so far say; `capacity_tps` only where all steady runs were made."""
    runs = _at_rates(history)
    if mostly_disturbed(history) and _steady_count(runs) < settings.steady_runs:
        low_tps = highest_held_tps(history, settings.objective)
        return Capacity(low=low_tps, objective=settings.objective, runs=tuple(history))
    low_tps, high_tps = held_between(runs, settings.objective)
    known = Capacity(
        low=low_tps or None,
        high=high_tps if math.isfinite(high_tps) else None,
        objective=settings.objective,
        runs=tuple(history),
    )
    if _steady_count(runs) < settings.steady_runs or known.contradicts_sweep:
        return known
    crossing = _crossing(settings, runs)
    figures = {"capacity_tps": crossing.tps, "low": crossing.low, "high": crossing.high}
    return known.model_copy(update={key: None if tps is None else rounded(tps) for key, tps in figures.items()})


def bracket_of(settings: SearchSettings, history: Sequence[CapacityRun]) -> tuple[float, float]:
    """Between which rates the capacity lies so far, for whoever watches; 0 and infinity where no run says."""
    runs = _at_rates(history)
    if _steady_count(runs) < 3:
        return held_between(runs, settings.objective)
    crossing = _crossing(settings, runs)
    return crossing.low or 0.0, crossing.high or math.inf


def remaining_s(settings: SearchSettings, history: Sequence[CapacityRun]) -> tuple[int, float]:
    """About how many runs are left, and how long their measured windows take, seconds."""
    runs = _at_rates(history)
    low_tps, high_tps = held_between(runs, settings.objective)
    is_bracketed = low_tps > 0 and math.isfinite(high_tps)
    approached = len(runs) - _steady_count(runs)
    rate_tps = runs[-1].rate_tps if runs else None
    left = {
        RunRole.SWEEP: len(settings.connections) - sum(run.rate_tps is None for run in history),
        RunRole.BRACKET: 0 if is_bracketed else max(3 - approached, 1),
        RunRole.STEADY: settings.steady_runs - _steady_count(runs),
    }
    lengths = {role: settings.length_s(role, rate_tps or math.inf) for role in left} | {RunRole.SWEEP: settings.sweep_s}
    return sum(left.values()), sum(count * lengths[role] for role, count in left.items())


def _at_rates(history: Sequence[CapacityRun]) -> list[CapacityRun]:
    return [run for run in history if run.rate_tps is not None and not run.made_again]


def _steady_count(runs: Sequence[CapacityRun]) -> int:
    return sum(run.role is RunRole.STEADY for run in runs)


def _wanted(settings: SearchSettings, runs: Sequence[CapacityRun], closed_tps: float) -> tuple[RunRole, float] | None:
    """The next rate and what it is for; None when the search is over."""
    if not runs:
        return RunRole.BRACKET, _START_RATIO * closed_tps
    low_tps, high_tps = held_between(runs, settings.objective)
    if not _is_approached(settings, runs):
        if math.isinf(high_tps):
            return RunRole.BRACKET, low_tps * _RISE
        if low_tps == 0:
            return _lower(runs, high_tps, closed_tps)
    if (made := _steady_count(runs)) == settings.steady_runs:
        return None
    crossing = _crossing(settings, runs)
    aside = min(max(_ASIDE / crossing.slope, _ASIDE_LEAST), _ASIDE_MOST)
    return RunRole.STEADY, crossing.tps * math.exp(aside if made % 2 else -aside)


def _is_approached(settings: SearchSettings, runs: Sequence[CapacityRun]) -> bool:
    """Whether a rate that held and a higher one that did not are known, of the approach or of all runs.

    Steady runs may contradict that. Runs that turn out to be disturbed may take it away.
    """
    approach = [run for run in runs if run.role is RunRole.BRACKET]
    known = (held_between(some, settings.objective) for some in (approach, runs))
    return any(low_tps > 0 and math.isfinite(high_tps) for low_tps, high_tps in known)


def _crossing(settings: SearchSettings, runs: Sequence[CapacityRun]) -> Crossing:
    from plimsoll.analyse.study.violations import crossing  # a plan, which runs nothing, needs no scipy

    return crossing(runs, settings.objective)


def _lower(runs: Sequence[CapacityRun], failed_tps: float, closed_tps: float) -> tuple[RunRole, float] | None:
    """A lower rate; None where it would be next to nothing."""
    lower_tps = failed_tps / (_FALL if failed_tps > _PLAUSIBLE_RATIO * closed_tps else _FALL_FAST)
    if lower_tps < _LOWEST_RATIO * closed_tps:
        return None
    is_doubtful = lower_tps < _PLAUSIBLE_RATIO * closed_tps <= failed_tps
    if is_doubtful and sum(run.rate_tps == failed_tps for run in runs) == 1:
        return RunRole.BRACKET, failed_tps
    return RunRole.BRACKET, lower_tps


def _step(
    settings: SearchSettings,
    history: Sequence[CapacityRun],
    role: RunRole,
    connections: int,
    rate_tps: float | None,
) -> Step:
    length_s = settings.length_s(role, rate_tps)
    same = (connections, rate_tps, length_s)
    return Step(
        role=role,
        connections=connections,
        rate_tps=rate_tps,
        duration_s=length_s,
        ordinal=sum((run.connections, run.rate_tps, run.duration_s) == same for run in history),
        after_overload=bool(history) and _is_overload(settings, history[-1]),
    )


def _is_overload(settings: SearchSettings, run: CapacityRun) -> bool:
    """Whether more was asked for than the server can do: in a closed loop, and over the objective."""
    return run.rate_tps is None or not settings.objective.allows(run.counted_over_ratio, run.errors_ratio)


def rounded(rate_tps: float) -> float:
    """A rate with four significant digits: a trial's id follows from it, and people type it.

    >>> rounded(1234.567), rounded(0.00123456)
    (1235.0, 0.001235)
    """
    return float(f"{rate_tps:.4g}")


PAIRS_MOST = 40
"""After so many pairs it ends undecided; a ratio that is open by then is next to 1."""

USUAL_PAIRS = 8
"""A clear difference is decided after about so many pairs; for what a plan is expected to take."""

CONFIRMED_RATIO, LOWER_RATIO = 0.6, 0.85
"""Of the knee is the rate that is confirmed, and of that the next lower one where it does not hold. The knee is about a
seventh above what a server can do, and 99 % in time is less than that."""

CONFIRMATIONS_MOST = 4
"""So many rates are tried."""

CONFIRMED_AGAIN_MOST = 4
"""So often a steady run below the knee is made again that met a disturbed machine, while there is time."""

_RAMP_START_RATIO, _MOST_RATIO = 0.1, 10.0
"""Of the lowest and the highest throughput of the sweep: where ramps begin, and where they end at the latest, which is
far above it because the sweep may have met a slow machine."""


def ramp_after(swept_tps: Sequence[float]) -> Ramp:
    """The ramp that all systems get.

    Args:
        swept_tps: The highest throughput of each in the sweep, transactions per second; all above 0.
    """
    from_tps = rounded(_RAMP_START_RATIO * min(swept_tps))
    return Ramp(from_tps=from_tps, longest_s=round(seconds_until(_MOST_RATIO * max(swept_tps) / from_tps), 1))


def order_of(systems_count: int, pair: int, seed: int) -> list[int]:
    """In which order the systems run the ramps of a pair."""
    places = list(range(systems_count))
    random.Random(f"{seed}:{pair}").shuffle(places)  # noqa: S311 - an order, not a secret
    return places


def ramp_step(ramp: Ramp, pair: int, connections: int) -> Step:
    """A ramp as the run that comes next."""
    return Step(
        role=RunRole.RAMP,
        connections=connections,
        rate_tps=None,
        duration_s=ramp.longest_s,
        ordinal=pair,
        ramp=ramp,
    )


def confirmed_step(knee_tps: float, lowered: int, again: int, connections: int, settings: SearchSettings) -> Step:
    """The steady run of a system whose knee is there.

    Args:
        knee_tps: Of its ramps, transactions per second.
        lowered: So many higher rates did not hold.
        again: So many runs at this rate met a disturbed machine.
        connections: That serve it.
        settings: Of the search.
    """
    rate_tps = rounded(knee_tps * CONFIRMED_RATIO * LOWER_RATIO**lowered)
    duration_s = settings.length_s(RunRole.STEADY, rate_tps)
    return Step(role=RunRole.CONFIRM, connections=connections, rate_tps=rate_tps, duration_s=duration_s, ordinal=again)


def usual_ramp_s() -> float:
    """About how long a ramp takes before its answers are late, seconds: until a seventh above the sweep."""
    return seconds_until(1.15 / _RAMP_START_RATIO)


LEAST_ARRIVALS = 300
LEAST_S = 5.0
"""No run at a rate is shorter, in arrivals and in seconds: 1 % of fewer arrivals is next to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How a search goes.

    Attributes:
        objective: What must hold.
        connections: Levels of the sweep; the fastest serves all rates.
        sweep_s: Measured length of a run of the sweep, seconds.
        probe_s: Of a run of the approach.
        steady_s: Of a steady run.
        steady_runs: How many there are.
    """

    objective: CapacityObjective
    connections: tuple[int, ...] = SWEEP_CONNECTIONS
    sweep_s: float = 5.0
    probe_s: float = 10.0
    steady_s: float = 20.0
    steady_runs: int = 12

    def length_s(self, role: RunRole, rate_tps: float | None) -> float:
        """Measured length of a run of this role, seconds; at a low rate as long as enough arrivals take."""
        if rate_tps is None:
            return self.sweep_s
        wanted_s = self.steady_s if role is RunRole.STEADY else self.probe_s
        return max(wanted_s, LEAST_S, float(round(LEAST_ARRIVALS / rate_tps)))


def settings_of(objective: CapacityObjective, connections: tuple[int, ...], *, steady_s: float) -> SearchSettings:
    """A search whose steady runs are so long, seconds; those of the approach half of it, of the sweep a quarter."""
    return SearchSettings(
        objective=objective,
        connections=connections,
        sweep_s=max(float(round(steady_s / 4)), 1.0),
        probe_s=max(float(round(steady_s / 2)), LEAST_S),
        steady_s=max(steady_s, LEAST_S),
    )
