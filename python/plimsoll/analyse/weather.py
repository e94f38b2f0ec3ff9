"""Trials whose machine was slower than around the study's other trials: the weather of machines.

Each figure of a trial is turned into a slowness, the logarithm of a time or of the inverse of a speed: times of the
reference load before and after the trial, clock frequency, and the share of processor time that was left beside the
hypervisor (steal) and beside other processes. For each figure, trials on one machine are compared with their median;
figures after a trial only with those of the same system, because what a server still writes and purges then is its own
work. A trial is slower when one of its figures lies above the median by more than `_ALONE` times the spread, or two of
its figures by more than `_TOGETHER` times theirs, and in each case by 5 % or more. The spread is the median of the
absolute deviations, or that of the deviations above the median where it is larger (both made consistent with normal
noise), so that noise with a long tail of slow values is measured by that tail.

A single value says little: the largest of 20 with Student's t of 3 degrees of freedom is often 10 spreads away. A slow
machine is slow in several figures. Both limits were simulated so that each marks any trial in at most 1 of 40 studies
with nine independent figures, and both together in at most 1 of 20, whether their logarithms are normal, of Student's t
with 3 degrees of freedom, or log-normal with sigma 0.5. Fewer than six trials cannot be judged; where a quarter of
them are slow, that is their spread. Sources: Rousseeuw and Croux 1993; Iglewicz and Hoaglin 1993; Hubert and Van der
Veeken 2008 for the side's own spread.
Deliberately not here: whether the trial's own throughput was low. Who marked trials by that would choose results.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.weather_model import SlowFigure

TRIALS_NEEDED = 6
SLOWER_RATIO = 1.05
"""Below this a trial is not marked, however calm the other trials were."""

_SIZES = (6, 20, 30, 50, 100, 200, 500)
_ALONE = (17.6, 17.6, 20.5, 22.5, 30.5, 37.5, 45.6)
_TOGETHER = (4.8, 4.8, 5.2, 5.5, 6.2, 6.9, 8.1)
_CONSISTENT = 1.4826

_Figures = dict[tuple[str, str], float]


def slow_figures(trials: Iterable[TrialSummary]) -> dict[str, tuple[SlowFigure, ...]]:
    """What was slow around each trial, the slowest first, by its id; trials without anything are left out."""
    groups: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for one in trials:
        host = one.environment.host.name or ""
        for (figure, group), slowness in slownesses(one).items():
            groups[figure, host, group][one.trial.trial_id] = slowness
    return marked((figure, of_trials) for (figure, _, _), of_trials in groups.items())


def marked(figures: Iterable[tuple[str, Mapping[str, float]]]) -> dict[str, tuple[SlowFigure, ...]]:
    """The same, from pairs of a figure and the slowness of each trial that is compared by it; groups come apart."""
    high: dict[str, list[tuple[str, _High]]] = defaultdict(list)
    for figure, of_trials in figures:
        for trial_id, one in _high_ones(of_trials).items():
            high[trial_id].append((figure, one))
    found = {}
    for trial_id, ones in high.items():
        counted = [
            SlowFigure(
                figure=figure,
                ratio=math.exp(one.slowness),
                limit_ratio=math.exp(one.limit if len(ones) > 1 else one.limit_alone),
            )
            for figure, one in ones
            if len(ones) > 1 or one.slowness > one.limit_alone
        ]
        if counted:
            found[trial_id] = tuple(sorted(counted, key=lambda one: -one.ratio))
    return found


def slownesses(one: TrialSummary) -> _Figures:
    """Logarithms of what a trial's weather was, by (figure, group of trials that it is compared in)."""
    found: dict[tuple[str, str], float | None] = {}
    weather, system = one.outcome.weather, one.trial.system.name
    for when, group in (("before", ""), ("after", system)):
        times = None if weather is None else getattr(weather, when)
        for name in ("processor", "memory", "flush"):
            time_ms = None if times is None else getattr(times, f"{name}_ms")
            found[f"{name}-{when}", group] = None if not time_ms else math.log(time_ms)
    found["steal", ""] = _left(one.cpu.steal)
    found["other-processes", ""] = _left(one.other_cpu_ratio)
    found["frequency", ""] = None if not one.frequency_hz else -math.log(one.frequency_hz)
    return {place: value for place, value in found.items() if value is not None}


def _left(taken_ratio: float | None) -> float | None:
    """Slowness of a machine of which others take a share."""
    return None if taken_ratio is None else -math.log(max(1 - taken_ratio, 0.01))


@dataclass(frozen=True, slots=True)
class _High:
    """A figure of a trial that counts if another one of that trial is high as well.

    Attributes:
        slowness: Above the median, a logarithm.
        limit: It is above this.
        limit_alone: Above this it counts by itself.
    """

    slowness: float
    limit: float
    limit_alone: float


def _high_ones(of_trials: Mapping[str, float]) -> dict[str, _High]:
    if len(of_trials) < TRIALS_NEEDED:
        return {}
    values = np.fromiter(of_trials.values(), dtype=float)
    above = values - np.median(values)
    spread = _CONSISTENT * float(max(np.median(np.abs(above)), np.median(above[above >= 0])))
    limit, limit_alone = (
        max(float(np.interp(math.log(values.size), np.log(_SIZES), times)) * spread, math.log(SLOWER_RATIO))
        for times in (_TOGETHER, _ALONE)
    )
    return {
        trial_id: _High(float(slowness), limit, limit_alone)
        for trial_id, slowness in zip(of_trials, above, strict=True)
        if slowness > limit
    }
