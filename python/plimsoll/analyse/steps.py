"""Whether throughput and the 99th percentile of response time drifted over a long window, for one trial alone.

Steps are minutes: the percentile of each comes from the merged histograms of its intervals. The slope is that of
`drift` (Theil-Sen, Mann-Kendall). Throughput has the state that `steady` found second by second, so the two never
contradict each other. The percentile drifts where a slope as steep has a probability below `DRIFT_CHANCE` without any
trend, and moves it by `P99_RATIO` of its mean: percentiles of minutes vary more than means.

Deliberately not here: cycles and steps within minutes (`steady`), and which trials are shown (`long_trials`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.drift import drift_of
from plimsoll.analyse.duration_rows import DurationRows
from plimsoll.analyse.long_model import Trend
from plimsoll.analyse.series import p99_ms_of_points, rounded
from plimsoll.analyse.steady import DRIFT_CHANCE
from plimsoll.analyse.steady_model import StateKind, SteadyState
from plimsoll.analyse.window import WindowCounts
from plimsoll.analyse.within_run import Series

LONG_S = 600.0
"""From this length of the window on; a slope needs ten steps."""

STEP_S = 60.0
STEPS_MAX = 240
P99_RATIO = 0.10


@dataclass(frozen=True, slots=True)
class Steps:
    """A long window in steps; fields as in `LongTrial`."""

    step_s: float
    throughput_tps: tuple[float, ...]
    response_ms_p99: tuple[float | None, ...]
    throughput: Trend
    response: Trend | None


def steps_of(
    counts: WindowCounts, durations: DurationRows | None, steady: SteadyState | None, *, interval_s: float
) -> Steps | None:
    """The steps of a window; None for a short one.

    Args:
        counts: Of the window.
        durations: All histograms of the trial.
        steady: Its state.
        interval_s: Length of an interval, seconds.
    """
    rates = counts.rates_tps
    if steady is None or rates.size * interval_s < LONG_S:
        return None
    minute = max(round(STEP_S / interval_s), 1)
    each = minute * -(-rates.size // (STEPS_MAX * minute))
    size = rates.size // each
    means: Series = rates[: size * each].reshape(size, each).mean(axis=1)
    p99_ms = p99_ms_of_points(durations, each=each, count=size * each, first=counts.first)
    return Steps(
        step_s=each * interval_s,
        throughput_tps=tuple(rounded(means).tolist()),
        response_ms_p99=p99_ms,
        throughput=_throughput(rates, steady),
        response=_response(p99_ms),
    )


def _throughput(rates_tps: Series, steady: SteadyState) -> Trend:
    drift = drift_of(rates_tps)
    return Trend(state=steady.series[0].state, change_ratio=0.0 if drift is None else drift.change_ratio)


def _response(p99_ms: Sequence[float | None]) -> Trend | None:
    known = [value for value in p99_ms if value is not None]
    drift = drift_of(np.asarray(known)) if len(known) == len(p99_ms) else None
    if drift is None:
        return None
    drifts = drift.chance <= DRIFT_CHANCE and abs(drift.change_ratio) >= P99_RATIO
    return Trend(state=StateKind.DRIFTING if drifts else StateKind.STEADY, change_ratio=drift.change_ratio)
