"""Whether a trial was in a steady state while it was measured: steady, cyclic, drifting or unsteady.

Three shapes are tried on throughput: a straight line (`drift`), a sinusoid (`cycles`), steps (`change_points`). Each
has its own test, and must move throughput by 5 % of its mean or more. Where several pass, the one with the lowest
Schwarz criterion is named, since a step also passes for a slope, and a cycle for many steps. InnoDB's state (checkpoint
age, dirty pages, history list length, misses of the buffer pool) is tested for lines and sinusoids only, and must move
by 25 %: it is a store that fills and empties, whose mean has no reason to be constant for seconds.

The measured window stays the planned one whatever is found: to cut a trial after looking at it would bias its mean.
Sources: those of the three; Schwarz 1978. Simulated error rates: docs/methods.md.
Deliberately not here: which of it is a doubt (`steady_checks`), and when a running trial has been measured for long
enough (`length`).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from plimsoll.analyse.autoregression import information, lagged, residual_squares
from plimsoll.analyse.change_points import change_points, changes_squares
from plimsoll.analyse.cycles import Cycle, cycle_of
from plimsoll.analyse.drift import Drift, drift_of
from plimsoll.analyse.steady_model import Segment, SeriesState, StateKind, SteadyState
from plimsoll.analyse.within_run import Series

DRIFT_CHANCE = 0.003
DRIFT_RATIO = 0.05
INNODB_RATIO = 0.25
_ONE_WAY = 0.6
"""Kendall's tau with time from which InnoDB's state moves in one direction: it has no noise to test."""

_PLAIN_CYCLES, _PLAIN_LIKENESS = 3.0, 0.5
"""What came back so often and so much alike is a cycle, whatever its shape."""

_EARLY_RATIO = 1 / 3
"""A single change so early in the window is the end of the warm-up."""

_ORDER = tuple(StateKind)


def steady_state(
    rates_tps: Series, innodb: Mapping[str, Series] | None = None, *, from_s: float = 0.0, interval_s: float = 1.0
) -> SteadyState:
    """The state of a trial.

    Args:
        rates_tps: Throughput of each interval of the window, in order; at least one.
        innodb: By name, state of InnoDB in each interval of the window; series with gaps are left out.
        from_s: Begin of the window, seconds since the load began.
        interval_s: Length of an interval, seconds.
    """
    throughput, changes = _throughput(rates_tps, interval_s)
    series = (throughput, *(_stock(name, one, interval_s) for name, one in (innodb or {}).items()))
    edges = [0, *changes, rates_tps.size]
    early = len(changes) == 1 and changes[0] <= _EARLY_RATIO * rates_tps.size
    return SteadyState(
        state=max((one.state for one in series), key=_ORDER.index),
        from_s=from_s,
        to_s=from_s + rates_tps.size * interval_s,
        segments=tuple(
            Segment(
                from_s=from_s + first * interval_s,
                to_s=from_s + end * interval_s,
                mean_tps=float(rates_tps[first:end].mean()),
            )
            for first, end in itertools.pairwise(edges)
        ),
        series=series,
        period_s=max((one.period_s for one in series if one.period_s is not None), default=None),
        warm_up_s=changes[0] * interval_s if early else None,
    )


def _throughput(rates: Series, interval_s: float) -> tuple[SeriesState, tuple[int, ...]]:
    """The state of throughput, and where its mean changed if steps describe it best."""
    drift, cycle, changes = _relevant(drift_of(rates)), cycle_of(rates), change_points(rates)
    described: dict[StateKind, float] = {}
    if drift is not None:
        line = lagged(rates, np.arange(rates.size, dtype=float))
        described[StateKind.DRIFTING] = information(rates, residual_squares(rates, line), 1)
    if cycle is not None:
        described[StateKind.CYCLIC] = information(rates, cycle.squares, cycle.parameters_count)
    if changes:
        described[StateKind.UNSTEADY] = information(rates, changes_squares(rates, changes), 2 * len(changes))
    best = min(described, key=lambda kind: described[kind]) if described else StateKind.STEADY
    if cycle is not None and cycle.cycles_count >= _PLAIN_CYCLES and cycle.likeness >= _PLAIN_LIKENESS:
        best = StateKind.CYCLIC
    return _state("throughput", best, drift, cycle, interval_s), changes if best is StateKind.UNSTEADY else ()


def _stock(name: str, series: Series, interval_s: float) -> SeriesState:
    found, cycle = drift_of(series), cycle_of(series)
    is_one_way = found is not None and abs(found.agreement) >= _ONE_WAY
    drift = found if found is not None and is_one_way and abs(found.change_ratio) >= INNODB_RATIO else None
    if cycle is not None and cycle.swing_ratio >= INNODB_RATIO:
        return _state(name, StateKind.CYCLIC, drift, cycle, interval_s)
    return _state(name, StateKind.STEADY if drift is None else StateKind.DRIFTING, drift, cycle, interval_s)


def _relevant(drift: Drift | None) -> Drift | None:
    return None if drift is None or drift.chance > DRIFT_CHANCE or abs(drift.change_ratio) < DRIFT_RATIO else drift


def _state(name: str, kind: StateKind, drift: Drift | None, cycle: Cycle | None, interval_s: float) -> SeriesState:
    is_cyclic, is_drifting = kind is StateKind.CYCLIC, kind is StateKind.DRIFTING
    return SeriesState(
        name=name,
        state=kind,
        change_ratio=drift.change_ratio if is_drifting and drift is not None else None,
        period_s=cycle.period * interval_s if is_cyclic and cycle is not None else None,
        swing_ratio=cycle.swing_ratio if is_cyclic and cycle is not None else None,
    )
