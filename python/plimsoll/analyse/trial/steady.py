"""Whether a trial was in a steady state while it was measured: steady, cyclic, drifting or unsteady.

Also when a running trial has been measured for long enough, and what InnoDB has put off or does again and again,
second by second (`innodb_series`).

Three shapes are tried on throughput: a straight line (`stats.series`), a sinusoid (`stats.cycles`), steps
(`stats.series`). Each has its own test, and must move throughput by 5 % of its mean or more. Where several pass, the
one with the lowest Schwarz criterion is named, since a step also passes for a slope, and a cycle for many steps.
InnoDB's state (checkpoint age, dirty pages, history list length, misses of the buffer pool) is tested for lines and
sinusoids only, and must move by 25 %: it is a store that fills and empties, whose mean has no reason to be constant
for seconds.

The measured window stays the planned one whatever is found: to cut a trial after looking at it would bias its mean.
Sources: those of the three; Schwarz 1978. Simulated error rates: docs/evidence.md.

When a running trial has been measured for long enough: its mean is known well, and no cycle is cut. The half width of
the 95 % confidence interval of the mean (`stats.variance`) has to be at most the target, after a minute or more.
Throughput has to hold two whole cycles or more and end with a whole one. What InnoDB puts off (checkpoint age, dirty
pages, history list length) shows cycles before throughput does: a minute without a checkpoint looks calm. So the mean
of each of them has to be known as well, to `INNODB_RATIO`, which it is not while it rises or falls, or the window
holds two whole cycles of it. The window then ends with a whole one of the longest of them: throughput follows it, and
its period is seen more sharply.

To look again and again and to stop at the first narrow interval makes intervals of the run alone a little too narrow;
what repetitions differ by, which the guide's intervals rest on, is not touched by it.

Sources: fixed-width sequential intervals (Chow and Robbins 1965; Glynn and Whitt 1992).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.trial.condition_model import Segment, SeriesState, StateKind, SteadyState
from plimsoll.analyse.trial.samples import LATE_S, Telemetry
from plimsoll.record.model import EngineAccount
from plimsoll.stats.cycles import CYCLES_NEEDED, Cycle, cycle_of, period_of_likeness
from plimsoll.stats.series import Drift, change_points, changes_squares, drift_of, information, lagged, residual_squares
from plimsoll.stats.variance import Series, variance_of_mean

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
    series = (throughput, *(_stock(name, values, interval_s) for name, values in (innodb or {}).items()))
    edges = [0, *changes, rates_tps.size]
    early = len(changes) == 1 and changes[0] <= _EARLY_RATIO * rates_tps.size
    return SteadyState(
        state=max((series_state.state for series_state in series), key=_ORDER.index),
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
        period_s=max(
            (series_state.period_s for series_state in series if series_state.period_s is not None), default=None
        ),
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
    trend, cycle = drift_of(series), cycle_of(series)
    is_one_way = trend is not None and abs(trend.agreement) >= _ONE_WAY
    drift = trend if trend is not None and is_one_way and abs(trend.change_ratio) >= INNODB_RATIO else None
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


INTERVALS_LEAST = 60
"""An interval that is narrow after less than this may be so by luck, and a cycle has not shown yet."""


def half_width_ratio(rates: Series) -> float | None:
    """Half the width of the 95 % interval of the mean, over the mean; None while there are too few intervals."""
    variance, mean = variance_of_mean(rates), float(rates.mean()) if rates.size else 0.0
    return None if variance is None or mean == 0.0 else variance.half_width() / mean


def is_long_enough(rates: Series, target_ratio: float, innodb: Mapping[str, Series] | None = None) -> bool:
    """Whether measuring may end after these intervals.

    Args:
        rates: Throughput of each interval measured so far.
        target_ratio: Half width of the 95 % confidence interval over the mean that is wanted.
        innodb: By status variable, InnoDB's state in these intervals, or in the last of them; None where it is unknown.
    """
    if rates.size < INTERVALS_LEAST or not _is_known(rates, target_ratio):
        return False
    periods = []
    for name, series in (innodb or {}).items():
        if not matters(name, series):
            continue
        period = _innodb_period(series)
        if period is None and not _is_known(series, INNODB_RATIO):
            return False
        periods += [] if period is None else [period]
    if (cycle := cycle_of(rates)) is not None and rates.size < CYCLES_NEEDED * cycle.period:
        return False
    longest = max(periods, default=None if cycle is None else cycle.period)
    return longest is None or _is_whole(rates.size, longest)


def _is_known(series: Series, target_ratio: float) -> bool:
    width = half_width_ratio(series)
    return width is not None and width <= target_ratio


def _innodb_period(series: Series) -> float | None:
    cycle = cycle_of(series)
    return None if cycle is None or cycle.swing_ratio < INNODB_RATIO else period_of_likeness(series, cycle.period)


def _is_whole(size: int, period: float) -> bool:
    """Whether a window is some whole cycles, and enough of them."""
    whole = int(size / period)
    return whole >= CYCLES_NEEDED and size - whole * period < 1


_LEAST = {
    "innodb_checkpoint_age": 1_000_000.0,
    "innodb_buffer_pool_pages_dirty": 100.0,
    "innodb_history_list_length": 1_000.0,
    "innodb_buffer_pool_reads": 10.0,
}
"""Status variables, and the mean (bytes, pages, transactions, reads per second) below which they matter to nobody."""

_COUNTERS = ("innodb_buffer_pool_reads",)
_SEEN_RATIO = 0.9
"""Of the window's seconds; the others take the value before them."""


def matters(name: str, series: Series) -> bool:
    """Whether there is enough of it to matter to anybody."""
    return series.size > 0 and float(series.mean()) >= _LEAST.get(name, 0.0)


def innodb_series(
    telemetry: Telemetry, account: EngineAccount | None, *, from_s: float, seconds: int
) -> dict[str, Series]:
    """State of InnoDB in each second of the window, all instances together; only what matters and was seen throughout.

    Args:
        telemetry: Of the trial.
        account: Says when interval 0 began on the wall clock.
        from_s: Begin of the window, seconds since then.
        seconds: Its length.
    """
    if account is None or seconds < 2:
        return {}
    instances: dict[tuple[str, str], list[NDArray[np.float64]]] = defaultdict(list)
    for samples in telemetry.of("server", _LEAST):
        second = np.floor(samples.unix_s - account.started_unix_s - from_s - LATE_S)
        inside = (second >= -1) & (second < seconds)
        if inside.any():
            instances[samples.metric, samples.instance].append(
                np.stack((second[inside], samples.values[inside]), axis=1)
            )
    by_name = {}
    for name, least in _LEAST.items():
        series = [
            _filled(np.concatenate(chunks), seconds) for (metric, _), chunks in instances.items() if metric == name
        ]
        known = [values for values in series if values is not None]
        if known and len(known) == len(series):
            total = np.sum([np.diff(values) if name in _COUNTERS else values[1:] for values in known], axis=0)
            if total.mean() >= least:
                by_name[name] = total
    return dict(sorted(by_name.items()))


def _filled(samples: NDArray[np.float64], seconds: int) -> Series | None:
    """One value for each second, and one for that before the window; None where too much is missing.

    Args:
        samples: In which second of the window, and what, shape (samples, 2).
        seconds: Length of the window.
    """
    at, values = samples[np.argsort(samples[:, 0], kind="stable")].T  # the last one of a second counts
    if np.unique(at).size < _SEEN_RATIO * seconds:
        return None
    filled: Series = values[np.maximum(np.searchsorted(at, np.arange(-1, seconds), side="right") - 1, 0)]
    return filled
